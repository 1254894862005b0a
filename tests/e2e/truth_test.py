#!/usr/bin/env python3
"""Generated traces against the truth that the generator wrote beside them: it knows which module, step
and launch each kernel belongs to because it made them, not because it read them.
"""

import json
import pathlib
import tempfile
from collections import Counter

from e2e import Parts, program
from facts import ancestors, recorded_name
from generated import GRID, generate

INFO = ("n_events", "by_ph", "by_cat", "n_kernels", "n_memcpy", "n_memset", "kernel_sum_ns",
        "memcpy_sum_ns", "memset_sum_ns", "kernels_without_launch", "activities_without_call")
LAUNCHES = ("n", "graph", "without_activity", "max_kernels", "graph_kernel_sum_ns")
MODULES = ("n_scopes", "n_classes", "n_instances", "max_depth")
STEP = ("name", "phase", "requests", "query_tokens", "context_tokens", "generation_tokens", "start_ns",
        "cpu_ns", "n_kernels", "sum_ns", "n_launches", "wall_ns", "busy_ns", "idle_ns")
MODULE_INCLUSIVE = ("kernel_incl_ns", "kernels_incl", "gpu_incl_ns")
MODULE_EXCLUSIVE = ("calls", "kernel_excl_ns", "kernels_excl", "gpu_excl_ns")


def compare(tally, file, options):
    generate(file, f"{options} --truth {file}.truth")
    truth = json.loads(pathlib.Path(f"{file}.truth").read_text(encoding="utf-8"))
    info = program.run_json("info", [file])
    data = info["data"]
    tally.equal("zero", int(info["inputs"][0]["t0_ns"]), truth["t0_ns"])
    for key in INFO:
        tally.equal(f"info.{key}", data[key], truth[key])
    for key in LAUNCHES:
        tally.equal(f"info.launches.{key}", data["launches"][key], truth["launches"][key])
    for key in MODULES:
        tally.equal(f"info.modules.{key}", data["modules"][key], truth["modules"][key])
    # Files of 2021 write ProfilerStep as an Operator: counted among the events of that category.
    steps_as_ops = len(truth["steps"]) if "--old" in options else 0
    tally.equal("info.n_ops", data["n_ops"], truth["ops"]["n"] + steps_as_ops)
    tally.equal("info.n_steps", data["n_steps"], len(truth["steps"]))
    if data["n_kernels"]:
        compare_modules(tally, program.run_json("modules", [file], "-n", "0")["data"], truth)
        compare_steps(tally, program.run_json("steps", [file], "-n", "0")["data"], truth)
        compare_kernels(tally, program.run_json("kernels", [file], "-n", "0")["data"], truth)


def compare_modules(tally, data, truth):
    nodes = {n["id"]: n for n in data["nodes"]}
    ours = {name: Counter() for name in map(recorded_name, nodes.values())}
    for node in nodes.values():
        name = recorded_name(node)
        keys = MODULE_EXCLUSIVE + (() if name in ancestors(node, nodes) else MODULE_INCLUSIVE)
        ours[name].update({key: node[key] for key in keys})
    wanted = truth["modules"]["by_name"]
    tally.equal("module names", sorted(ours), sorted(wanted))
    for name, figures in wanted.items():
        tally.equal(f"module {name}", {key: ours[name][key] for key in figures}, figures)
    for key in ("gpu_ns", "kernels"):
        tally.equal(f"unattributed.{key}", data["unattributed"][key], truth["unattributed"][key])
    reasons = {k: v for k, v in data["unattributed"]["by_reason"].items() if v}
    tally.equal("unattributed.by_reason", reasons,
                {k: v for k, v in truth["unattributed"]["by_reason"].items() if v})


def compare_steps(tally, data, truth):
    tally.equal("steps", len(data["steps"]), len(truth["steps"]))
    for ours, wanted in zip(data["steps"], truth["steps"]):
        tally.equal(f"step {wanted['name']}", {key: ours[key] for key in STEP},
                    {key: wanted[key] for key in STEP})
    tally.equal("outside", {key: data["outside"][key] for key in ("gpu_ns", "kernels")},
                {key: truth["outside"][key] for key in ("gpu_ns", "kernels")})


def compare_kernels(tally, data, truth):
    ours = {r["name"]: {key: r[key] for key in ("n", "sum_ns", "min_ns", "max_ns")}
            for r in data["rows"]}
    for name, figures in truth["kernels"].items():
        tally.equal(f"kernel {name[:60]}", ours.get(name), figures)


if __name__ == "__main__":
    PARTS = Parts("truth")
    with tempfile.TemporaryDirectory(prefix="layerscope-truth-") as FOLDER:
        if program.generator().is_file():
            for TITLE, OPTIONS in GRID.items():
                PARTS.run(TITLE, compare, pathlib.Path(FOLDER) / f"{TITLE}.json", OPTIONS)
        else:
            PARTS.skip("all", f"no trace generator at {program.generator()}")
    PARTS.close()
