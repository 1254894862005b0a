#!/usr/bin/env python3
"""`map` of Nsight Systems databases: the document is valid and adds up, and its modules have what `modules`
gives them, per process; generated databases and the real ones.
"""

import collections
import pathlib
import tempfile

import nsys_runs as runs
from e2e import Parts, program, shared
from map_test import compare_sums, document, modules_of
from schema_test import problems, validator

CASES = {
    "eager": "--launch eager",
    "eager_ops": "--launch eager --ops --outputs --domains --all-reduce --comm-stream",
    "graphs": "--clones 2 --layers 3",
    "graphs_ops": "--ops --graph-copies --registered",
    "capture_thread": "--capture-thread --launch-scope --branches 2",
    "two_processes": "--ranks 2 --all-reduce",
    "two_processes_one_device": "--ranks 2 --one-device --launch eager",
    "whole_graphs": "--launch whole --steps 4",
    "lost_nodes": "--lost-nodes 4 --launch-scope",
    "plain_ranges": "--quotes plain --launch eager",
    "colons": "--quotes colon --no-further-keys --start-end",
    "helper_thread": "--second-thread --launch eager --layers 4",
    "orphans": "--orphans 6 --drop-calls 500 --launch eager",
    "schema_2022": "--schema 2022.2 --clones 2 --graph-copies",
    "no_ranges": "--markers none --launch eager --seed 9",
}


def by_path(nodes, figure):
    found = collections.Counter()
    for node in nodes:
        found[node["path"]] += node[figure]
    return {path: ns for path, ns in found.items() if ns}


def compare_modules(tally, data, modules):
    """`module_tree` has a root of its own, without a path, around the modules."""
    ours = by_path(modules_of(data["module_tree"]), "gpu_ns")
    ours.pop("", None)
    wanted = by_path(modules["nodes"], "gpu_incl_ns")
    whole = wanted.pop("", None)  # a module without a path is the model itself
    tally.equal("gpu_ns by path", ours, wanted)
    kernels = by_path(modules_of(data["module_tree"]), "kernels")
    kernels.pop("", None)
    wanted = by_path(modules["nodes"], "kernels_incl")
    wanted.pop("", None)
    tally.equal("kernels by path", kernels, wanted)
    tally.equal("total", data["stats"]["total_gpu_ns"], modules["total"]["gpu_ns"])
    if whole is None:
        tally.equal("in modules", data["module_tree"]["gpu_ns"],
                    sum(node["gpu_excl_ns"] for node in modules["nodes"]))


def compare(tally, file):
    pids = [row["pid"] for row in program.run_json("info", [file])["data"]["processes"]]
    for pid in pids or [None]:
        chosen = [] if pid is None else ["--pid", str(pid)]
        for options in ([], ["--no-collapse"]):
            data, _ = document(file, *chosen, *options)
            tally.equal(f"{pid} {options}: schema", problems(validator("model_execution"), data)[:5], [])
            compare_sums(tally, data)
        compare_modules(tally, data, program.run_json("modules", [file], *chosen)["data"])


def compare_generated(tally, folder, options):
    compare(tally, runs.generate(folder, options).database)


def main():
    parts = Parts("nsys map")
    with tempfile.TemporaryDirectory(prefix="layerscope-nsys-map-") as folder:
        for name, options in CASES.items():
            parts.run(name, compare_generated, pathlib.Path(folder) / name, options)
    databases = shared("traces/nsys")
    if databases is None:
        parts.skip("real databases", "../shared/traces is absent")
    for file in sorted(databases.glob("*.sqlite")) if databases else []:
        parts.run(file.name, compare, file)
    parts.close()


if __name__ == "__main__":
    main()
