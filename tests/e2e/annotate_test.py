#!/usr/bin/env python3
"""`annotate`: every event of the input again, byte for byte and in order; then tracks that nest
strictly, hold what `layers` says, and are counted right. Cut, damaged and oddly laid out traces give
whole documents; what cannot be written is refused and leaves nothing behind.
"""

import collections
import gzip
import json
import pathlib
import signal
import subprocess
import tempfile
import time

from cut_test import SMALL
from e2e import Parts, check_refused, program
from generated import GRID, generate
from schema_test import problems_of
from trace_text import nanoseconds, raw_events, read_text

REAL = ("traces/kineto/tracelens_vllm_gptoss_b200_tp8_eager.json.gz",
        "traces/kineto/tracelens_sglang_qwen3-8b_mi300_extend.json.gz",
        "traces/kineto/tracelens_sglang_qwen3-8b_mi300_decode_graph.json.gz",
        "traces/kineto/tracelens_hf_qwen1.5_h100.json.gz",
        "traces/kineto/tracelens_mi210_gpu_only.json.gz",
        "traces/kineto/kineto_tb_resnet50_workers0.pt.trace.json.gz")
SELECT_PID = {"parallel"}
LAYERED = {
    "micro_batches": "--seed 41 --family mla_dsa --layers 6 --passes 4 --launch eager --micro-batches",
    "draft": "--seed 42 --family generic_addnorm --layers 6 --passes 4 --launch graph --draft",
    "four_blocks": "--seed 43 --family longcat_flash --layers 4 --passes 4 --side-streams 1",
    "side_streams": "--seed 44 --family dsv4_csa_hca --layers 6 --passes 4 --side-streams 2 --pdl",
}
KERNEL = ('{{"ph":"X","cat":"kernel","name":"{}","ts":{},"dur":1,"pid":0,"tid":7,'
          '"args":{{"device":0,"stream":7}}}}')
LAYOUTS = {
    "trailing comma": "[" + KERNEL.format("a", 1) + "," + KERNEL.format("b", 2) + ",]",
    "no closing bracket": "[" + KERNEL.format("a", 1) + ",\n" + KERNEL.format("b", 2),
    "white space": "\ufeff \n{ \"a\" :1 , \"traceEvents\" :\n[\n\n " + KERNEL.format("a", 1) +
                   " \t,\r\n\r\n" + KERNEL.format("b", 2) + "\n ] , \"z\" : { } } \n",
    "events first": '{"traceEvents":[' + KERNEL.format("a", 1) + '],"schemaVersion":1}',
    "events last": '{"schemaVersion":1,"traceEvents":[' + KERNEL.format("a", 1) + "]}",
    "no events": '{"traceEvents":[]}',
    "control characters": "[" + KERNEL.format("a\tb\x01c", 1) + "]",
    "escapes": "[" + KERNEL.format(r"\u0041\"]}\\", 1) + "]",
    "elements that are no events": "[" + KERNEL.format("a", 1) + ', 17, "x", null, ' +
                                   KERNEL.format("b", 2) + "]",
    "members that are no JSON": '{"a": nope, "traceEvents": [' + KERNEL.format("a", 1) + '], "z": ]}',
}


def annotate(file, out, *options):
    done = program.run(["annotate", file, "-o", out, "--format", "json", *options])
    if done.exit != 0:
        raise RuntimeError(f"annotate: exit {done.exit}: {done.stderr.strip()[:300]}")
    document = program.parse_json(done.stdout)
    if found := problems_of(document):
        raise RuntimeError(f"annotate: not as docs/schema says: {found[:3]}")
    return document["data"]


def compare_copy(tally, before, after, data):
    """Every input event again, in order and byte for byte, then only ours."""
    n = len(before)
    tally.equal("events of the input, by the envelope", data["events"]["input"], n)
    tally.equal("events written", data["events"]["written"], len(after))
    tally.equal("events added", data["events"]["added"], len(after) - n)
    differing = [i for i in range(min(n, len(after))) if before[i][0] != after[i][0]]
    tally.equal("input events that were changed", differing[:5], [])
    ours = [event for _, event in after[n:]]
    tally.equal("added events that are not ours",
                [e for e in ours if e.get("cat") != "layerscope" and e["ph"] != "M"][:3], [])
    used = {(str(e.get("pid")), str(e.get("tid"))) for _, e in before}
    tally.equal("tracks on threads of the input",
                sorted({(str(e["pid"]), str(e["tid"])) for e in ours} & used), [])
    return ours


def tracks_of(ours):
    """{(pid, tid): (name, [slice])}."""
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in ours if e.get("name") == "thread_name"}
    slices = collections.defaultdict(list)
    for event in ours:
        if event["ph"] == "X":
            start = nanoseconds(event["ts"])
            slices[(event["pid"], event["tid"])].append(
                (start, start + nanoseconds(event["dur"]), event))
    return {key: (name, slices[key]) for key, name in names.items()}


def improper(slices):
    """Slices of one track that overlap without one holding the other; in order as written."""
    found, stack = [], []
    for start, end, event in slices:
        while stack and stack[-1][1] <= start:
            stack.pop()
        if stack and end > stack[-1][1]:
            found.append((event["name"], stack[-1][2]["name"]))
        stack.append((start, end, event))
    return found


def outside(inner, outer):
    """Slices of `inner` that no slice of `outer` holds; both in order and each without overlaps."""
    found, at = [], 0
    for start, end, event in inner:
        while at < len(outer) and (outer[at][1] < start or
                                   (outer[at][1] == start and start < end)):
            at += 1
        if at == len(outer) or not (outer[at][0] <= start and end <= outer[at][1]):
            found.append(event["name"])
    return found


def compare_tracks(tally, ours):
    tracks = tracks_of(ours)
    tally.equal("slices on unnamed tracks",
                [e["name"] for e in ours if e["ph"] == "X" and (e["pid"], e["tid"]) not in tracks], [])
    by_name = {(key[0], name): slices for key, (name, slices) in tracks.items()}
    for (pid, name), slices in by_name.items():
        tally.equal(f"{name}: starts are in order", [s[0] for s in slices],
                    sorted(s[0] for s in slices))
        tally.equal(f"{name}: slices that cross", improper(slices)[:3], [])
        for kind, around in (("layers", "passes"), ("blocks", "layers")):
            if name.endswith(f": {kind}"):
                outer = by_name.get((pid, name.replace(kind, around)), [])
                tally.equal(f"{name}: outside of {around}", outside(slices, outer)[:3], [])
    return by_name


def compare_layers(tally, file, ours, options):
    """Each layer's arguments are what `layers` says of it, and its slices sum up to them."""
    passes = {e["args"]["index"] for e in ours if e["ph"] == "X" and "complete" in e["args"]}
    for index in sorted(passes):
        data = program.run_json("layers", [file], "--pass", str(index), *options)["data"]
        expected = {row["index"]: (row["sum_ns"], row["n_kernels"]) for row in data["layers"]}
        said, summed = {}, collections.defaultdict(lambda: [0, 0])
        for event in ours:
            args = event["args"]
            if event["ph"] != "X" or "type" not in args or args["pass"] != index:
                continue
            said[args["index"]] = (args["sum_ns"], args["n_kernels"])
            summed[args["index"]][0] += args["slice_sum_ns"]
            summed[args["index"]][1] += args["slice_n_kernels"]
        expected = {k: v for k, v in expected.items() if v[1] > 0}
        tally.equal(f"pass {index}: layers", said, expected)
        tally.equal(f"pass {index}: slices sum up",
                    {k: tuple(v) for k, v in summed.items()}, said)


def compare_kernels(tally, before, by_name):
    """A kernel that starts inside a block of a stream's track is one of that stream, counted."""
    starts = collections.defaultdict(list)
    for _, event in before:
        if str(event.get("cat")).lower() == "kernel" and event.get("ph") == "X":
            args = event.get("args") or {}
            stream = args.get("stream", event.get("tid"))
            starts[(event.get("pid"), str(stream))].append(nanoseconds(event["ts"]))
    for (pid, name), slices in by_name.items():
        kind = name.rsplit(": ", 1)[1]
        if kind not in ("layers", "blocks"):
            continue
        times = sorted(starts[(pid, name[len("stream "):].rsplit(": ", 1)[0])])
        counted = sum(e["args"].get("slice_n_kernels", e["args"].get("n_kernels"))
                      for _, _, e in slices)
        covered = sum(1 for t in times if any_holds(slices, t))
        tally.holds(f"{name}: {counted} kernels counted, {covered} start under a slice",
                    counted <= covered)


def any_holds(slices, t):
    low, high = 0, len(slices)
    while low < high:
        middle = (low + high) // 2
        if slices[middle][0] <= t:
            low = middle + 1
        else:
            high = middle
    return low > 0 and t <= slices[low - 1][1]


def check(tally, file, folder, options=()):
    out = folder / "annotated.json"
    data = annotate(file, out, *options)
    text = read_text(out)
    json.loads(text)
    before = raw_events(read_text(file))
    ours = compare_copy(tally, before, raw_events(text), data)
    by_name = compare_tracks(tally, ours)
    tally.equal("slices by the envelope", sum(t["n_slices"] for t in data["tracks"]),
                sum(e["ph"] == "X" for e in ours))
    compare_kernels(tally, before, by_name)
    if "abstained" not in data:
        compare_layers(tally, file, ours, options)
    tally.equal("other verbs see no difference",
                kernels_of(out, options), kernels_of(file, options))


def kernels_of(file, options):
    data = program.run_json("kernels", [file], *options)["data"]
    return [(row["key"], row["n"], row["sum_ns"]) for row in data["rows"]]


def check_layouts(tally, folder):
    for name, text in LAYOUTS.items():
        file, out = folder / "layout.json", folder / "out.json"
        file.write_text(text, encoding="utf-8")
        n_events = program.run_json("info", [file])["data"]["n_events"]
        data = annotate(file, out)
        after = raw_events(read_text(out))
        json.loads(read_text(out))
        tally.equal(f"{name}: events", data["events"]["input"], n_events)
        tally.equal(f"{name}: written", data["events"]["written"], len(after))
        for raw, event in after[:n_events]:
            tally.equal(f"{name}: {event['name']!r} stands in the input", raw in text,
                        name != "control characters")


# Damage to the second of three events, and what its name and args are afterwards.
DAMAGE = {
    "a raw control character": (b'"n\t\x01m"', b"{}", "n\t\x01m", {}),
    "bytes that are no UTF-8": (b'"n\xff\xc0\xafm"', b"{}", "n\ufffd\ufffd\ufffdm", {}),
    "an escape that is none": (rb'"n\qm\u12"', b"{}", r"n\qm\u12", {}),
    "one in a value that no verb reads": (b'"nm"', rb'{"a": "\x41", "\e": 1}', "nm",
                                          {"a": r"\x41", r"\e": 1}),
    "values that are none": (b'"nm"', b'{"a": nope, "b": [01, +1]}', "nm",
                             {"a": "nope", "b": ["01", "+1"]}),
}


def check_repairs(tally, folder):
    """What is no JSON is mended, so that a strict reader takes the whole; the rest stays."""
    file, out = folder / "damaged.json", folder / "out.json"
    for name, (event_name, args, wanted, wanted_args) in DAMAGE.items():
        first, last = KERNEL.format("a", 1).encode(), KERNEL.format(r"b\u0041", 9).encode()
        bad = b'{"ph":"X","cat":"cpu_op","name":%s,"ts":5,"dur":1,"pid":1,"tid":1,"args":%s}' % (
            event_name, args)
        file.write_bytes(b'{"traceEvents": [' + b",\n".join((first, bad, last)) + b"]}")
        for verb, options in (("annotate", ()), ("cut", ("--from", "0ns"))):
            what = f"{name}, {verb}"
            done = program.run([verb, file, *options, "-o", out, "--format", "json"])
            tally.equal(f"{what}: exit ({done.stderr.strip()[:100]})", done.exit, 0)
            raw = out.read_bytes()
            events = json.loads(raw.decode("utf-8"), strict=True)["traceEvents"]
            tally.equal(f"{what}: name and args", [(e["name"], e["args"]) for e in events[1:2]],
                        [(wanted, wanted_args)])
            tally.holds(f"{what}: the others stay", first in raw and last in raw)


def check_cuts(tally, folder):
    raw = SMALL.encode()
    packed = gzip.compress(raw, mtime=0)
    cases = [(raw[:n], ".json") for n in range(raw.index(b"[\n{"), len(raw), 11)]
    cases += [(packed[:n], ".json.gz") for n in range(len(packed) * 2 // 3, len(packed), 9)]
    for content, suffix in cases:
        file, out = folder / f"cut{suffix}", folder / "out.json.gz"
        file.write_bytes(content)
        info = program.run(["info", file, "--format", "json"])
        if info.exit != 0:
            continue
        what = f"{suffix} cut at {len(content)}"
        done = program.run(["annotate", file, "-o", out])
        tally.equal(f"{what}: exit ({done.stderr.strip()[:100]})", done.exit, 0)
        events = raw_events(read_text(out))
        json.loads(read_text(out))
        tally.equal(f"{what}: events", len([e for _, e in events if not is_ours(e)]),
                    program.parse_json(info.stdout)["data"]["n_events"])


def is_ours(event):
    return event.get("cat") == "layerscope" or (event["ph"] == "M" and event["tid"] >= 10**9)


def check_refusals(tally, folder):
    file, out = folder / "small.json", folder / "out.json"
    file.write_text(SMALL, encoding="utf-8")
    ranks = [folder / "rank0.json", folder / "rank1.json"]
    for i, rank in enumerate(ranks):
        rank.write_text(SMALL.replace('"rank": 1', f'"rank": {i}'), encoding="utf-8")
    cases = ((["annotate", "-", "-o", out], 2, "standard input can be read once"),
             (["annotate", file, "-o", file], 2, "would overwrite the input"),
             (["annotate", file, "-o", folder / "x.sqlite"], 2, "not written as a database"),
             (["annotate", file, "-o", folder / "x.json.zst"], 2, "not written as zstd"),
             (["annotate", file, "--format", "csv"], 2, "goes with -o"),
             (["annotate", *ranks, "-o", out], 2, "writes one trace, and 2 are given"),
             (["annotate", *ranks, "--rank", "7", "-o", out], 1, "no rank '7'"),
             (["annotate", folder / "absent.json", "-o", out], 3, "no such file"),
             (["annotate", file, "-o", folder / "no/such/folder.json"], 1, "no/such"),
             (["annotate", file, "-o", folder], 1, "it is a directory"))
    check_refused(tally, folder, cases)
    done = program.run(["annotate", *ranks, "--rank", "1", "-o", out])
    tally.equal(f"one rank of two: exit ({done.stderr.strip()[:200]})", done.exit, 0)


def check_streams(tally, folder):
    """Standard output, --gzip, -o NAME.gz: the same document."""
    file = folder / "small.json"
    file.write_text(SMALL, encoding="utf-8")
    plain, packed = folder / "out.json", folder / "out.json.gz"
    annotate(file, plain)
    data = annotate(file, packed)
    tally.equal("compression by the name", data["compression"], "gzip")
    tally.equal("bytes in the envelope", data["bytes"], packed.stat().st_size)
    tally.equal("-o NAME.gz", gzip.decompress(packed.read_bytes()), plain.read_bytes())
    for options, unpack in (([], bytes), (["--gzip"], gzip.decompress)):
        done = subprocess.run([program.binary(), "annotate", file, *options], capture_output=True,
                              check=True)
        tally.equal(f"standard output {options}", unpack(done.stdout), plain.read_bytes())
    annotate(file, packed)
    first = packed.read_bytes()
    annotate(file, packed)
    tally.equal("twice the same bytes", packed.read_bytes(), first)


def check_interrupt(tally, folder):
    """Ctrl-C while it writes: exit 130 and no file."""
    file, out = folder / "long.json", folder / "out.json"
    generate(file, "--layers 24 --passes 120 --seed 4 --stacks")
    before = sorted(folder.iterdir())
    for delay in (0.05, 0.3, 0.8):
        process = subprocess.Popen([program.binary(), "annotate", file, "-o", out],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=60)
        if process.returncode == 0:
            out.unlink()
            tally.holds("it was done before it was interrupted", True)
            continue
        tally.equal(f"exit after {delay} s", process.returncode, 130)
        tally.holds(f"it says so: {stderr.decode()[:80]}", b"interrupted" in stderr)
        tally.equal(f"files left after {delay} s", sorted(folder.iterdir()), before)


if __name__ == "__main__":
    PARTS = Parts("annotate")
    with tempfile.TemporaryDirectory(prefix="layerscope-annotate-") as FOLDER:
        HERE = pathlib.Path(FOLDER)
        for PATH in REAL:
            PARTS.run_shared(PATH, check, HERE)
        for NAME, OPTIONS in {**GRID, **LAYERED}.items():
            if NAME in ("cpu_only",) or NAME in SELECT_PID:
                continue
            FILE = HERE / f"{NAME}.json"
            generate(FILE, OPTIONS)
            PARTS.run(f"generated {NAME}", check, FILE, HERE)
            FILE.unlink()
        for NAME, CHECK in (("layouts", check_layouts), ("repairs", check_repairs),
                            ("cut traces", check_cuts), ("refusals", check_refusals), ("streams", check_streams),
                            ("interrupt", check_interrupt)):
            with tempfile.TemporaryDirectory(prefix="layerscope-annotate-") as OWN:
                PARTS.run(NAME, CHECK, pathlib.Path(OWN))
    PARTS.close()
