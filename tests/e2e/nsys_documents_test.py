#!/usr/bin/env python3
"""Nsight Systems databases as documents: `annotate` and `cut` write traces that read back, as PyTorch
profiler traces, to the figures that the database gives.
"""

import contextlib
import json
import pathlib
import sqlite3
import tempfile
from collections import Counter

from e2e import Parts, program
from nsys_runs import generate
from schema_test import problems_of

REAL = ("traces/nsys/nsys-ai_mfu_2gpu_after.sqlite", "traces/nsys/nsys-ai_mfu_2gpu_before.sqlite",
        "traces/nsys/nsys-ai_mock.sqlite", "traces/nsys/pipit_saxpy_mpi_perlmutter.sqlite")
GENERATED = {"one rank": "--seed 3 --launch eager --steps 6 --layers 4",
             "four ranks": "--seed 4 --launch eager --ranks 4 --steps 3 --layers 2",
             "graph nodes": "--seed 5 --launch nodes --steps 4 --layers 3 --ops",
             "clones of two ranks": "--seed 6 --launch nodes --ranks 2 --batches 1,8 --steps 2 --layers 2 "
                                    "--clones 2 --instantiations 2 --capture-thread"}
GRAPHS = {"graph nodes": "--seed 5 --launch nodes --steps 4 --layers 3",
          "two ranks": "--seed 7 --launch nodes --ranks 2 --batches 1,8 --steps 2 --layers 2 --prefill"}
# Of `info`; by_cat, by_ph and n_events count other things in the other format.
INFO = ("n_kernels", "n_memcpy", "n_memset", "kernel_sum_ns", "memcpy_sum_ns", "memset_sum_ns",
        "launches", "kernels_without_launch", "activities_without_call", "n_ops", "n_steps", "ranks")
PROCESS = ("pid", "rank", "name", "devices")
PROCESS_OF_ROW = ("rank", "pid")
SUMMED = ("n", "sum_ns", "avg_ns", "min_ns", "max_ns", "evidence")
DEVICE = ("device", "n", "sum_ns", "busy_ns", "first_ns", "last_ns")


def data_of(verb, file, *options):
    return program.run_json(verb, [file], *options)["data"]


def written(verb, file, out, *options):
    done = program.run([verb, file, "-o", out, "--format", "json", *options])
    if done.exit != 0:
        raise RuntimeError(f"{verb}: exit {done.exit}: {done.stderr.strip()[:300]}")
    document = program.parse_json(done.stdout)
    if found := problems_of(document):
        raise RuntimeError(f"{verb}: not as docs/schema says: {found[:3]}")
    return document["data"]


def kernels_of(file, by, *options):
    """Rows of `kernels` without their process: a trace cannot say whose a kernel is that nothing
    launched. Rows that only that sets apart are one."""
    merged = {}
    for row in data_of("kernels", file, "--by", by, *options)["rows"]:
        named = {key: value for key, value in row.items() if key not in PROCESS_OF_ROW + SUMMED}
        into = merged.setdefault(json.dumps(named), {"n": 0, "sum_ns": 0, "min_ns": [], "max_ns": []})
        into["n"] += row["n"]
        into["sum_ns"] += row["sum_ns"]
        into["min_ns"] = min(into["min_ns"] or row["min_ns"], row["min_ns"])
        into["max_ns"] = max(into["max_ns"] or row["max_ns"], row["max_ns"])
    return merged


def info_of(file):
    data = data_of("info", file)
    figures = {key: data[key] for key in INFO}
    figures["processes"] = [[row[key] for key in PROCESS] for row in data["processes"]]
    figures["devices"] = [[row[key] for key in DEVICE] for row in data["devices"]]
    figures["modules"] = data["modules"]
    return figures


def compare_copy(tally, file, folder):
    """Figures of the whole database and of its annotated trace."""
    out = folder / f"{file.stem}.json.gz"
    data = written("annotate", file, out)
    events = data["events"]
    tally.equal("kept", events["kept"], events["input"])
    tally.equal("written", events["written"], events["kept"] + events["added"])
    before, after = info_of(file), info_of(out)
    for key, value in before.items():
        tally.equal(f"info {key}", after[key], value)
    for by in ("name", "op", "op-dims", "module", "category", "stream"):
        tally.equal(f"kernels by {by}", kernels_of(out, by), kernels_of(file, by))
    for verb in ("modules", "steps", "overhead"):
        before, after = data_of(verb, file), data_of(verb, out)
        for key in ("nodes", "unattributed", "total", "steps", "outside", "median", "left_out"):
            tally.equal(f"{verb} {key}", after.get(key), before.get(key))


def compare_nesting(tally, file, folder):
    """The written trace is strict JSON whose host events stand in order of time."""
    out = folder / f"{file.stem}.json"
    written("annotate", file, out)
    document = program.parse_json(out.read_text(encoding="utf-8"))
    rows = [event for event in document["traceEvents"]
            if event["ph"] == "X" and event["cat"] not in ("layerscope", "cuda_graph_node")]
    tally.holds("it has events", rows)
    starts = [event["ts"] for event in rows]
    tally.equal("in order of time", starts, sorted(starts))
    streams = {(event["pid"], event["tid"]) for event in rows if event["cat"] == "kernel"}
    hosts = {(event["pid"], event["tid"]) for event in rows if event["cat"] == "cuda_runtime"}
    tally.equal("streams are no host threads", streams & hosts, set())
    names = {(event["pid"], event["tid"]) for event in document["traceEvents"]
             if event["name"] == "thread_name"}
    tally.equal("streams without a name", streams - names, set())


def compare_cut(tally, run, folder):
    """A cut of some steps has the figures that the database gives for them."""
    selection = ("--step", "1..2")
    out = folder / "cut.json"
    data = written("cut", run.database, out, *selection)
    tally.holds("less than all is kept", 0 < data["events"]["kept"] < data["events"]["input"])
    for by in ("name", "op-dims"):
        tally.equal(f"kernels by {by}", data_of("kernels", out, "--by", by)["rows"],
                    data_of("kernels", run.database, "--by", by, *selection)["rows"])
    keys = ("name", "phase", "requests", "cpu_ns", "wall_ns", "busy_ns", "sum_ns", "n_kernels")
    tally.equal("steps", [[step[key] for key in keys] for step in data_of("steps", out)["steps"]],
                [[step[key] for key in keys]
                 for step in data_of("steps", run.database, *selection)["steps"]])
    compare_modules(tally, out, run.database, selection)
    again = folder / "again.json"
    written("cut", out, again, "--step", str(data_of("steps", out)["steps"][0]["index"]))
    compare_modules(tally, again, run.database, ("--step", "1"))


def compare_modules(tally, out, database, selection):
    """Time, calls and evidence of the modules that ran something, as the database gives them."""
    keys = ("path", "rank", "gpu_incl_ns", "gpu_excl_ns", "kernels_incl", "calls", "evidence")

    def rows(data):
        return sorted([[node[key] for key in keys] for node in data["nodes"] if node["activities_incl"]],
                      key=json.dumps)

    before, after = data_of("modules", database, *selection), data_of("modules", out)
    tally.equal("modules", rows(after), rows(before))
    tally.equal("unattributed", after["unattributed"], before["unattributed"])


def compare_rank(tally, run, folder):
    """`annotate --rank` of a file of several processes writes that process alone."""
    out = folder / "rank.json"
    data = written("annotate", run.database, out, "--rank", "1")
    tally.equal("ranks of the tracks", {track["rank"] for track in data["tracks"]}, {1})
    for by in ("name", "module"):
        tally.equal(f"kernels by {by}", kernels_of(out, by), kernels_of(run.database, by, "--rank", "1"))
    pids = {event["pid"] for event in json.loads(out.read_text())["traceEvents"]}
    tally.equal("processes", len(pids), 1)
    done = program.run(["annotate", run.database, "-o", out, "--rank", "7"])
    tally.equal("a rank that is not there", done.exit, 1)


def compare_graph_rows(tally, run, folder):
    """Every CUDA graph is one row of its rank: the recorded graphId says which it is."""
    out = folder / "rows.json"
    written("annotate", run.database, out)
    with contextlib.closing(sqlite3.connect(run.database)) as database:
        launches = database.execute(
            "SELECT globalPid, graphId, COUNT(DISTINCT correlationId) FROM CUPTI_ACTIVITY_KIND_KERNEL "
            "WHERE graphId IS NOT NULL GROUP BY 1, 2").fetchall()
    wanted = sorted((pid >> 24 & 0xFFFFFF, n) for pid, _, n in launches)
    for file in (run.database, out):
        rows = data_of("modules", file)["alignment"]
        tally.equal(f"{file.name}: graphs and their launches",
                    sorted((row["pid"], row["launches"]) for row in rows), wanted)
        for rank in (rank["rank"] for rank in run.ranks):
            rows = data_of("modules", file, "--rank", str(rank))["alignment"] if len(run.ranks) > 1 else rows
            tally.equal(f"{file.name}: rank {rank} alone", len(rows), len(wanted) // len(run.ranks))
        steps = data_of("steps", run.database)["steps"]
        step = next(step for step in steps if step["phase"] != "prefill")
        rows = data_of("modules", file, "--step", str(step["index"]))["alignment"]
        tally.equal(f"{file.name}: of one step", [(row["batch"], row["launches"]) for row in rows],
                    [(step["requests"], 1)] * len(run.ranks))


def compare_graphs(tally, run, folder):
    """What graphs replayed keeps its steps and modules, which are also tracks of `annotate`."""
    out = folder / "graphs.json"
    data = written("annotate", run.database, out)
    tally.equal("kernels", kernels_of(out, "module"), kernels_of(run.database, "module"))
    sums = [[step[key] for key in ("name", "sum_ns", "wall_ns", "n_kernels", "n_launches")]
            for step in data_of("steps", run.database)["steps"]]
    tally.equal("steps", [[step[key] for key in ("name", "sum_ns", "wall_ns", "n_kernels",
                                                 "n_launches")]
                          for step in data_of("steps", out)["steps"]], sums)
    tally.holds("modules have tracks", any(track["kind"] == "module" for track in data["tracks"]))
    nodes = data_of("modules", run.database)["nodes"]
    by_path = Counter()
    for node in nodes:
        by_path[node["path"]] += node["gpu_incl_ns"]
    slices = [event for event in json.loads(out.read_text())["traceEvents"]
              if event.get("cat") == "layerscope" and "path" in event["args"]]
    deep = max(nodes, key=lambda node: (node["depth"], node["gpu_incl_ns"]))["path"]
    kernels = sum(event["args"]["sum_ns"] for event in slices if event["args"]["path"] == deep)
    tally.holds("a module below a launch is drawn", 0 < kernels <= by_path[deep])


def compare_whole(tally, run, folder):
    """A pass holds the graphs of its step that have no kernels; a copy says that it loses them."""
    steps = {step["index"]: step for step in data_of("steps", run.database)["steps"]}
    data = data_of("passes", run.database)
    decodes = [row for row in data["passes"] if row["kind"] == "decode"]
    tally.holds("there are decode passes", decodes)
    for row in decodes:
        step = steps[row["step"]]
        # A step has copies besides, which began before the pass.
        tally.holds(f"pass {row['index']} lies in its step", 0 < row["graph_ns"] <= row["wall_ns"] <= step["wall_ns"]
                    and step["start_ns"] <= row["start_ns"])
        tally.equal("graphs and kernels", (row["n_graphs"], row["n_kernels"]), (1, step["n_kernels"]))
    tally.equal("graphs of all passes", sum(row["graph_ns"] for row in decodes),
                data_of("info", run.database)["graph_sum_ns"])
    calls = data_of("info", run.database)["launches"]
    tally.equal("outside", data["outside"]["gpu_ns"] + sum(
        row["sum_ns"] + row["copy_ns"] + row["graph_ns"] for row in data["passes"]),
        data_of("modules", run.database)["total"]["gpu_ns"])
    text = program.run(["info", run.database]).stdout
    tally.holds("info says what the graph launches ran", f"{calls['graph']} graph launches (" in text and
                "recorded whole" in text and "0 ns in all" not in text)
    envelope = program.run_json("passes", [run.database])
    why = [entry["message"] for entry in envelope["health"] if entry["code"] == "passes_without_layers"]
    tally.holds(f"why no layers: {why}", why and f"recorded without kernels, --cuda-graph-trace=node records "
                                                 f"them ({len(decodes)})" in why[0])
    done = program.run(["annotate", run.database, "-o", folder / "whole.json", "--format", "json"])
    codes = [entry["code"] for entry in program.parse_json(done.stdout)["health"]]
    tally.holds("annotate says that graphs are lost", "copy_whole_graphs" in codes)


def compare_map(tally, run, folder):
    """The document says whose figures it holds, and forwards are those that ran."""
    out = folder / "map.json"
    done = program.run(["map", run.database, "-o", out])
    document = program.parse_json(out.read_text(encoding="utf-8"))
    first = document["ranks"][0]
    tally.equal("stats", [document["stats"][key] for key in ("rank", "pid", "total_gpu_ns", "total_kernels")],
                [first[key] for key in ("rank", "pid", "gpu_ns", "kernels")])
    tally.holds("people see each rank",
                all(f"{rank['kernels']:,}" in done.stdout for rank in document["ranks"]))
    root = data_of("modules", run.database, "--rank", "0")["nodes"][0]
    tally.equal("forwards", len(document["passes"]), root["calls"])
    alone = folder / "alone.json"
    program.run(["map", run.database, "--rank", "0", "-o", alone])
    tally.equal("the same of that rank alone", json.loads(alone.read_text())["module_tree"]["calls"],
                document["module_tree"]["calls"])


def main():
    parts = Parts("nsys documents")
    with tempfile.TemporaryDirectory(prefix="layerscope-nsys-") as name:
        root = pathlib.Path(name)
        for path in REAL:
            parts.run_shared(path, compare_copy, root)
        for what, options in GENERATED.items():
            run = generate(root / what.replace(" ", "_"), options)
            parts.run(f"annotate, {what}", compare_copy, run.database, root)
            parts.run(f"order, {what}", compare_nesting, run.database, root)
            parts.run(f"cut, {what}", compare_cut, run, root)
            if len(run.ranks) > 1:
                parts.run(f"annotate --rank, {what}", compare_rank, run, root)
        run = generate(root / "lost", "--seed 8 --launch eager --ranks 2 --steps 4 --orphans 5 --drop-calls 200")
        parts.run("annotate, lost launches", compare_copy, run.database, root)
        for what, options in GRAPHS.items():
            run = generate(root / what.replace(" ", "_"), options)
            parts.run(f"annotate, {what}", compare_graphs, run, root)
            parts.run(f"graphs, {what}", compare_graph_rows, run, root)
        parts.run("map of two ranks", compare_map, run, root)
        whole = generate(root / "whole", "--seed 8 --launch whole --steps 3 --layers 3 --prefill")
        parts.run("whole graphs", compare_whole, whole, root)
    parts.close()


if __name__ == "__main__":
    main()
