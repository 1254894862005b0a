#!/usr/bin/env python3
"""The program's figures of Nsight Systems databases against those of nsys_facts.py, an independent script:
on the real databases of ../shared and on generated ones.

  nsys_facts_test.py [WORD...]     only the parts whose name holds a word
"""

import pathlib
import sqlite3
import sys
import tempfile
from collections import Counter, defaultdict

import nsys_facts
import nsys_runs
from e2e import Parts, program

REAL = ("nsys-ai_mfu_2gpu_after", "nsys-ai_mfu_2gpu_before", "nsys-ai_mock", "pipit_saxpy_mpi_perlmutter")

GENERATED = {
    "eager": "--launch eager --ops --orphans 3 --markers both",
    "eager_ranks": "--launch eager --ranks 2 --second-thread --markers both",
    "nodes": "--clones 2 --branches 2 --markers both",
    "nodes_ranks": "--ranks 2 --clones 3 --instantiations 2 --lost-nodes 2 --capture-thread",
    "whole": "--launch whole --markers both",
    "messy": "--outputs --domains --start-end --open-ranges --destructions --no-creation-names --launch-scope",
    "messy_ranks": "--ranks 3 --outputs --domains --open-ranges --destructions --second-thread --run-ahead "
                   "--branches 2 --graph-copies --no-further-keys",
    "plain": "--quotes plain --launch eager --ops --domains --second-thread",
    "lost_nodes": "--clones 2 --ops --lost-nodes 3 --orphans 2 --launch-scope",
    "oldest": "--schema 2022.2 --clones 2 --quotes double --registered --shuffle",
}
NO_OP = "[no op]"
# How rows that are no kernels begin; the script has the kinds of copies as numbers.
OTHERS = ("Memcpy", "Memset", "[graph]")


def compare(tally, file):
    facts = nsys_facts.figures_of(file)
    compare_info(tally, program.run_json("info", [file]), facts)
    compare_kernels(tally, file, facts)
    compare_modules(tally, program.run_json("modules", [file], "-n", "0")["data"],
                    merged(facts["processes"].values()))
    if len(facts["processes"]) > 1:
        for pid, wanted in facts["processes"].items():
            data = program.run_json("modules", [file], "-n", "0", "--pid", pid)["data"]
            compare_modules(tally, data, wanted)
    compare_steps(tally, program.run_json("steps", [file], "-n", "0")["data"], facts)


def compare_info(tally, envelope, facts):
    data = envelope["data"]
    for kind, key in (("kernel", "n_kernels"), ("memcpy", "n_memcpy"), ("memset", "n_memset")):
        tally.equal(f"info.{key}", data[key], facts["counts"][kind]["n"])
        tally.equal(f"info.{kind}_sum_ns", data[f"{kind}_sum_ns"], facts["counts"][kind]["sum_ns"])
    for key, wanted in facts["launches"].items():
        tally.equal(f"info.launches.{key}", data["launches"][key], wanted)
    for key in ("kernels_without_launch", "activities_without_call", "n_ops"):
        tally.equal(f"info.{key}", data[key], facts[key])
    tally.equal("info.modules.n_scopes", data["modules"]["n_scopes"], facts["n_scopes"])
    ours = {str(device["device"]): device for device in data["devices"]}
    tally.equal("devices", sorted(ours), sorted(facts["devices"]))
    for name, wanted in facts["devices"].items():
        streams = ours[name]["streams"] if name in ours else []
        tally.equal(f"device {name}", {
            "busy_ns": ours.get(name, {}).get("busy_ns"), "n": sum(s["n"] for s in streams),
            "sum_ns": sum(s["sum_ns"] for s in streams)}, wanted)


def by_key(rows, key):
    """{row's key: {n, sum_ns, min_ns, max_ns}}, the rows of several devices and processes put together."""
    found = defaultdict(list)
    for row in rows:
        found[row[key]].append(row)
    return {name: {"n": sum(r["n"] for r in same), "sum_ns": sum(r["sum_ns"] for r in same),
                   "min_ns": min(r["min_ns"] for r in same), "max_ns": max(r["max_ns"] for r in same)}
            for name, same in found.items()}


def compare_rows(tally, what, ours, wanted):
    """Both ways: a row that should not be there is as wrong as one that is missing."""
    tally.equal(f"{what}: rows that should not be there", sorted(ours.keys() - wanted.keys()), [])
    for name, figures in wanted.items():
        tally.equal(f"{what} {name[:60]}", ours.get(name), figures)


def compare_kernels(tally, file, facts):
    rows = program.run_json("kernels", [file], "-n", "0")["data"]["rows"]
    others = [row for row in rows if row["name"].startswith(OTHERS)]
    compare_rows(tally, "kernel", by_key([row for row in rows if row not in others], "name"), facts["kernels"])
    counts = [facts["counts"][kind] for kind in ("memcpy", "memset", "graph")]
    tally.equal("copies, sets and whole graphs", [sum(row[key] for row in others) for key in ("n", "sum_ns")],
                [sum(count[key] for count in counts) for key in ("n", "sum_ns")])
    rows = program.run_json("kernels", [file], "--by", "op", "-n", "0")["data"]["rows"]
    wanted = {NO_OP if name is None else name: figures for name, figures in facts["ops"].items()}
    of_kernels = [row for row in rows if not row["key"].endswith("(copies)")]
    compare_rows(tally, "op", by_key(of_kernels, "key"), wanted)


def merged(processes):
    """The figures of several processes as one."""
    modules = defaultdict(lambda: {"calls": 0, "excl": [0, 0, 0], "incl": [0, 0, 0]})
    reasons = Counter()
    for process in processes:
        reasons.update(process["by_reason"])
        for name, figures in process["modules"].items():
            modules[name]["calls"] += figures["calls"]
            for key in ("excl", "incl"):
                modules[name][key] = [a + b for a, b in zip(modules[name][key], figures[key])]
    return {"gpu_ns": sum(p["gpu_ns"] for p in processes),
            "kernels": sum(p["kernels"] for p in processes),
            "by_reason": dict(reasons), "modules": modules}


def recorded_name(node, names):
    """The text of the range: what is no module's name hangs below others, with a path made of all."""
    return node["path"] if node["path"] in names else node["instance"]


def ancestors(node, nodes, names):
    while node["parent"] is not None:
        node = nodes[node["parent"]]
        yield recorded_name(node, names)


def compare_modules(tally, data, wanted):
    nodes, names = {n["id"]: n for n in data["nodes"]}, wanted["modules"].keys()
    ours = defaultdict(lambda: {"excl": [0, 0, 0], "incl": [0, 0, 0]})
    for node in nodes.values():
        name = recorded_name(node, names)
        for key in ("excl", "incl"):
            if key == "incl" and name in ancestors(node, nodes, names):
                continue
            more = (node[f"gpu_{key}_ns"], node[f"kernel_{key}_ns"], node[f"kernels_{key}"])
            ours[name][key] = [a + b for a, b in zip(ours[name][key], more)]
    for name, figures in wanted["modules"].items():
        for key in ("excl", "incl"):
            tally.equal(f"module {name} {key}: ns, kernel ns, kernels", ours[name][key], figures[key])
    for name in ours.keys() - names:
        tally.equal(f"module {name} is of no range", ours[name]["excl"], [0, 0, 0])
    tally.equal("total", [data["total"]["gpu_ns"], data["total"]["kernels"]],
                [wanted["gpu_ns"], wanted["kernels"]])
    tally.equal("unattributed.gpu_ns", data["unattributed"]["gpu_ns"], sum(wanted["by_reason"].values()))
    for reason, ns in wanted["by_reason"].items():
        tally.equal(f"unattributed.{reason}", data["unattributed"]["by_reason"].get(reason, 0), ns)


def compare_without_launches(tally, folder):
    """Every second graph launch is not in the file: what it ran is of a graph all the same."""
    file = nsys_runs.generate(folder, GENERATED["lost_nodes"]).database
    with sqlite3.connect(file) as connection:
        lost = connection.execute(
            "DELETE FROM CUPTI_ACTIVITY_KIND_RUNTIME WHERE correlationId % 2 = 0 AND nameId IN "
            "(SELECT id FROM StringIds WHERE value LIKE '%GraphLaunch%')").rowcount
    connection.close()
    tally.holds("graph launches are lost", lost > 0)
    compare(tally, file)


def kept_steps(steps):
    """Without the annotations that hold one of another family: the inner one is the step."""
    def family(step):
        return nsys_facts.STEP.match(step["name"]).group(1)[:7]

    def holds(outer, inner):
        return (outer is not inner and outer["thread"] == inner["thread"]
                and outer["start"] <= inner["start"]
                and inner["start"] + inner["cpu_ns"] <= outer["start"] + outer["cpu_ns"])

    return [s for s in steps
            if not any(holds(s, other) and family(s) != family(other) for other in steps)]


def compare_steps(tally, data, facts):
    wanted = kept_steps(facts["steps"])
    tally.equal("number of steps", len(data["steps"]), len(wanted))
    found = defaultdict(list)
    for step in data["steps"]:
        found[step["name"], step["cpu_ns"]].append(step)
    for step in wanted:
        same = found[step["name"], step["cpu_ns"]]
        keys = ("n_kernels", "n_launches", "sum_ns")
        ours = [{key: other[key] for key in keys} for other in same]
        theirs = {key: step[key] for key in keys}
        tally.holds(f"step {step['name']}: {ours} has no {theirs}", theirs in ours)


def main():
    parts = Parts("facts of Nsight Systems databases")
    words = sys.argv[1:]

    def wanted(name):
        return not words or any(word in name for word in words)

    for name in filter(wanted, REAL):
        parts.run_shared(f"traces/nsys/{name}.sqlite", compare)
    with tempfile.TemporaryDirectory(prefix="layerscope-nsys-facts-") as folder:
        for name, options in GENERATED.items():
            if wanted(name):
                run = nsys_runs.generate(pathlib.Path(folder) / name, options)
                parts.run(name, compare, run.database)
        if wanted("lost_launches"):
            parts.run("lost_launches", compare_without_launches, pathlib.Path(folder) / "lost_launches")
    parts.close()


if __name__ == "__main__":
    main()
