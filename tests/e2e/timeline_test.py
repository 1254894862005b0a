#!/usr/bin/env python3
"""`timeline` against the text of the trace: what each lane holds in a range, counted and united by a slow
second implementation (reference.py, nsys_facts.py), and passes and layers against `ranges`.
"""

import pathlib
import tempfile
from collections import defaultdict

import nsys_facts
import nsys_runs
from e2e import Parts, program, shared
from generated import GRID, generate
from reference import Reference

NSYS = {
    "nsys_two_processes": "--ranks 2 --all-reduce --comm-stream --graph-copies --steps 3",
    "nsys_orphans": "--orphans 6 --steps 3 --launch eager",
    "nsys_whole_graphs": "--launch whole --ranks 2 --steps 3",
}
MORE = {
    "side_streams": "--layers 3 --passes 6 --seed 40 --tp 4 --side-streams 3 --steps vllm --launch graph",
    "foreign": "--family dense --layers 3 --passes 4 --seed 43 --foreign 3 --steps vllm",
}
REAL = ("traces/kineto/tracelens_hf_qwen1.5_h100.json.gz",
        "traces/kineto/tracelens_vllm_gptoss_b200_tp8_eager.json.gz",
        "traces/kineto/hta_v100_cudagraph_train_rank1.json.gz",
        "traces/cpu/vllm_qwen3_tiny_offline_stack.json.gz",
        "traces/cpu/hf_qwen3_tiny_generate_stack.json.gz")


def union(intervals):
    total, reached = 0, None
    for start, end in sorted(intervals):
        if reached is None or start > reached:
            reached = start
        total += max(end - reached, 0)
        reached = max(reached, end)
    return total


def shown(intervals, begin, stop):
    """What of the intervals lies in [begin, stop), cut to it; an instant counts where it lies."""
    return [(max(start, begin), min(end, stop)) for start, end in intervals
            if start < stop and (end > begin or start >= begin)]


def check_drawing(tally, data, bins):
    """What holds of every timeline by itself."""
    begin, stop, width = data["from_ns"], data["to_ns"], data["bin_ns"]
    tally.equal("bin", width, -(-(stop - begin) // bins))
    tally.equal("ids of lanes", [lane["id"] for lane in data["lanes"]], list(range(len(data["lanes"]))))
    slices = defaultdict(list)
    for item in data["slices"]:
        slices[item["lane"]].append(item)
    for lane in data["lanes"]:
        own = slices.pop(lane["id"], [])
        where = f"{lane['kind']} {lane['name']} of {lane['device']}"
        tally.equal(f"{where}: n", sum(s["n"] for s in own), lane["n"])
        tally.holds(f"{where}: inside of the range",
                    all(begin <= s["start_ns"] <= s["end_ns"] <= stop for s in own))
        tally.holds(f"{where}: busy fits",
                    all(0 <= s["busy_ns"] <= s["end_ns"] - s["start_ns"] for s in own))
        tally.holds(f"{where}: one interval is busy from end to end",
                    all(s["busy_ns"] == s["end_ns"] - s["start_ns"] for s in own if s["n"] == 1))
        tally.at_most(f"{where}: busy", lane["busy_ns"], sum(s["busy_ns"] for s in own))
        tally.equal(f"{where}: by start", own, sorted(own, key=lambda s: s["start_ns"]))
        per_bin = defaultdict(int)
        for item in own:
            per_bin[(item["start_ns"] - begin) // width] += 1
        tally.at_most(f"{where}: slices of a bin", max(per_bin.values(), default=0), 2)
    tally.equal("slices of no lane", list(slices), [])


def compare_streams(tally, data, wanted):
    """wanted: (device, stream) -> intervals, over the whole run."""
    begin, stop = data["from_ns"], data["to_ns"]
    ours = {(str(lane["device"]), str(lane["stream"])): (lane["n"], lane["busy_ns"])
            for lane in data["lanes"] if lane["kind"] == "stream"}
    theirs = {}
    for place, intervals in wanted.items():
        cut = shown(intervals, begin, stop)
        theirs[place] = (len(cut), union(cut))
    tally.equal(f"(n, busy) by stream in [{begin}, {stop})", ours, theirs)


def ranges_of(file):
    """What `ranges` lists; None where it cannot."""
    done = program.run(["ranges", file, "--format", "json", "-n", "0"])
    return program.parse_json(done.stdout)["data"].get("ranges", []) if done.exit == 0 else None


def compare_ranges(tally, rows, data):
    """Passes and layers are those of `ranges`."""
    begin, stop = data["from_ns"], data["to_ns"]
    for kind, noun in (("passes", "pass"), ("layers", "layer")):
        wanted = shown([(r["start_ns"], r["end_ns"]) for r in rows if r["kind"] == noun], begin, stop)
        lanes = [lane for lane in data["lanes"] if lane["kind"] == kind]
        tally.equal(f"{kind} in [{begin}, {stop})", sum(lane["n"] for lane in lanes), len(wanted))
        if len(lanes) == 1:
            tally.equal(f"{kind}: busy in [{begin}, {stop})", lanes[0]["busy_ns"], union(wanted))


def timelines(file):
    """The whole run, and stretches of it that cut through whatever is there, in bins coarse and fine."""
    data = program.run_json("timeline", [file])["data"]
    yield data, 1000
    begin, stop = data["from_ns"], data["to_ns"]
    span = stop - begin
    for first, last, bins in ((0, 1, 7), (1 / 3, 2 / 3, 100), (0.5, 0.5001, 10), (0.9, 2, 50)):
        bounds = [begin + int(span * first), begin + max(int(span * last), int(span * first) + 1)]
        options = ["--from", f"{bounds[0]}ns", "--to", f"{bounds[1]}ns", "--bins", str(bins)]
        cut = program.run_json("timeline", [file], *options)["data"]
        yield cut, bins


def compare(tally, file):
    reference = Reference(file)
    streams = defaultdict(list)
    for row in reference.rows:
        stream = row.thread[1] if reference.cpu_only else row.stream
        streams[str(row.device), str(stream)].append((row.start, row.end))
    steps = program.run_json("steps", [file], "-n", "0")["data"].get("steps", [])
    steps = {(s["pid"], s["start_ns"], s["cpu_ns"], s["index"]) for s in steps}
    ranges = ranges_of(file)
    for data, bins in timelines(file):
        check_drawing(tally, data, bins)
        compare_streams(tally, data, streams)
        if ranges is not None:
            compare_ranges(tally, ranges, data)
        cut = shown([(start, start + length) for _, start, length, _ in steps], data["from_ns"],
                    data["to_ns"])
        tally.equal("steps in the range", sum(lane["n"] for lane in data["lanes"]
                                              if lane["kind"] == "steps"), len(cut))


def compare_generated(tally, name, options):
    with tempfile.TemporaryDirectory(prefix="layerscope-timeline-") as folder:
        file = pathlib.Path(folder) / f"{name}.json"
        generate(file, options)
        compare(tally, file)


def compare_database(tally, file):
    """Of a database a lane is a stream of a context of a process."""
    capture = nsys_facts.Reader(file).read()
    envelope = program.run_json("timeline", [file])
    zero = int(envelope["inputs"][0]["t0_ns"]) - (capture.epoch or 0)
    streams = defaultdict(list)
    for activity in capture.activities:
        pid = activity.process >> 24 & nsys_facts.LOW_24
        streams[pid, activity.stream].append((activity.start - zero, activity.end - zero))
    for data, bins in timelines(file):
        check_drawing(tally, data, bins)
        begin, stop = data["from_ns"], data["to_ns"]
        ours = sorted((lane["pid"], lane["device"], lane["stream"], lane["n"], lane["busy_ns"])
                      for lane in data["lanes"] if lane["kind"] == "stream")
        theirs = []
        for (pid, (*_, device, _, stream)), intervals in streams.items():
            cut = shown(intervals, begin, stop)
            theirs.append((pid, device, stream, len(cut), union(cut)))
        tally.equal(f"streams (pid, device, stream, n, busy) in [{begin}, {stop})", ours, sorted(theirs))


def compare_nsys(tally, folder, options):
    compare_database(tally, nsys_runs.generate(folder, options).database)


def check_ranks(tally):
    """Files of several ranks share one range, and show what each alone shows in it."""
    with tempfile.TemporaryDirectory(prefix="layerscope-timeline-") as folder:
        files = []
        for rank in range(2):
            files.append(pathlib.Path(folder) / f"rank{rank}.json")
            generate(files[-1], f"--layers 2 --passes {2 + rank} --seed {50 + rank} --steps vllm")
        ranks = program.run_json("timeline", files)["ranks"]
        bounds = {(r["data"]["from_ns"], r["data"]["to_ns"], r["data"]["bin_ns"]) for r in ranks}
        tally.equal("ranges of the ranks", len(bounds), 1)
        for entry in ranks:
            check_drawing(tally, entry["data"], 1000)
        tally.holds("each rank has slices", all(entry["data"]["slices"] for entry in ranks))


def main():
    parts = Parts("timeline")
    for path in REAL:
        parts.run_shared(path, compare)
    for name, options in {**GRID, **MORE}.items():
        parts.run(f"generated {name}", compare_generated, name, options)
    with tempfile.TemporaryDirectory(prefix="layerscope-timeline-") as folder:
        for name, options in NSYS.items():
            parts.run(f"generated {name}", compare_nsys, pathlib.Path(folder) / name, options)
    databases = shared("traces/nsys")
    for file in sorted(databases.glob("*.sqlite")) if databases else []:
        parts.run(file.name, compare_database, file)
    parts.run("ranks", check_ranks)
    parts.close()


if __name__ == "__main__":
    main()
