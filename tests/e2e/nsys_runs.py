"""Generated Nsight Systems databases (`layerscope-gen nsys`) and what is true of them."""

import dataclasses
import json
import pathlib
import subprocess
from collections import defaultdict

from e2e import program

STEP = ("name", "phase", "requests", "past", "start_ns", "cpu_ns", "wall_ns", "busy_ns", "sum_ns",
        "n_kernels", "n_launches")
LINES = ("compute", "exposed_comm", "comm_wait", "memcpy", "queued_gap", "launch_gap", "host_wait",
         "between_steps", "unexplained")
UNATTRIBUTED = "[unattributed]"


@dataclasses.dataclass
class Run:
    folder: pathlib.Path
    truth: dict

    @property
    def database(self):
        return self.folder / "run.sqlite"

    @property
    def ranks(self):
        return self.truth["ranks"]

    @property
    def kineto(self):
        """The same run as Kineto traces, in order of rank."""
        return sorted((self.folder / "kineto").iterdir())


def generate(folder, options, kineto=False):
    folder.mkdir(parents=True, exist_ok=True)
    more = ["--kineto", str(folder / "kineto"), "--annotations", str(folder / "annotations")] if kineto else []
    done = subprocess.run([str(program.generator()), "nsys", "-o", str(folder / "run.sqlite"),
                           "--truth", str(folder / "truth.json"), *more, *options.split()],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"layerscope-gen nsys {options}: {done.stderr.strip()}")
    return Run(folder, json.loads((folder / "truth.json").read_text(encoding="utf-8")))


def sums_of(node):
    """(ns, activities, kernels) of a figure of the truth."""
    return (node["gpu_ns"], node["activities"], node["kernels"])


def added(figures):
    return tuple(map(sum, zip(*figures))) or (0, 0, 0)


def module_truth(ranks):
    """{path: figures of `modules`} over these ranks."""
    paths = {path for rank in ranks for path in rank["modules"]}
    truth = {}
    for path in paths:
        rows = [rank["modules"][path] for rank in ranks if path in rank["modules"]]
        truth[path] = {
            "calls": sum(row["ranges"] + row["replayed"] for row in rows),
            "excl": added(sums_of(row["excl"]) for row in rows),
            "incl": added(sums_of(row["incl"]) for row in rows),
            "kernel_excl_ns": sum(row["excl"]["kernel_ns"] for row in rows),
            "kernel_incl_ns": sum(row["incl"]["kernel_ns"] for row in rows),
        }
    return truth


def module_rows(data):
    """The same of the program's `modules`; a path called in several places is one."""
    rows = {}
    for node in data["nodes"]:
        row = rows.setdefault(node["path"], {"calls": 0, "excl": (0, 0, 0), "incl": (0, 0, 0),
                                             "kernel_excl_ns": 0, "kernel_incl_ns": 0})
        # The truth counts all ranges; those that recorded a graph are apart.
        row["calls"] += node["calls"] + node["captured_calls"]
        row["excl"] = added([row["excl"], (node["gpu_excl_ns"], node["activities_excl"],
                                           node["kernels_excl"])])
        row["incl"] = added([row["incl"], (node["gpu_incl_ns"], node["activities_incl"],
                                           node["kernels_incl"])])
        for key in ("kernel_excl_ns", "kernel_incl_ns"):
            row[key] += node[key]
    return rows


def step_truth(step):
    wanted = {key: step.get(key) for key in STEP}
    wanted |= {"sum_ns": step["gpu_ns"], "n_kernels": step["kernels"], "n_launches": step["launches"]}
    return wanted


def steps_in_order(ranks):
    """[(rank, its step)] as the program lists them: by start."""
    pairs = [(rank, step) for rank in ranks for step in rank["steps"]]
    return sorted(pairs, key=lambda pair: pair[1]["start_ns"])


def step_modules_truth(ranks):
    """{(rank, start of the step, module): (ns, kernels)}: what `steps --by module` is asked for."""
    wanted = {}
    for rank, step in steps_in_order(ranks):
        for path, figures in step["modules"].items():
            wanted[rank["rank"], step["number"], step["name"], step["past"], path] = (
                figures["gpu_ns"], figures["kernels"])
    return wanted


def rounded_mean(values):
    """Half to even, in integers."""
    total, n = sum(values), len(values)
    whole, rest = divmod(total, n)
    return whole + (1 if 2 * rest > n or (2 * rest == n and whole % 2) else 0)


REDUCE = {"sum": sum, "max": max, "mean": rounded_mean}


def reduced_truth(ranks, how):
    """{step: figures} of `steps --rank-reduce`."""
    by_number = defaultdict(list)
    for rank in ranks:
        for step in rank["steps"]:
            by_number[step["number"]].append(step_truth(step))
    keys = ("cpu_ns", "wall_ns", "busy_ns", "sum_ns", "n_kernels")
    return {number: {"n_ranks": len(steps), **{key: REDUCE[how]([s[key] for s in steps])
                                               for key in keys}}
            for number, steps in by_number.items()}


def reduced_overhead_truth(ranks, how):
    """{step: figures} of `overhead --rank-reduce`."""
    by_number = defaultdict(list)
    for rank in ranks:
        for step in rank["steps"]:
            by_number[step["number"]].append(overhead_truth(step))
    reduced = {}
    for number, steps in by_number.items():
        figures = {key: REDUCE[how]([s[key] for s in steps]) for key in ("wall_ns", "host_wall_ns", "gap_ns")}
        figures["lines"] = {line: REDUCE[how]([s["lines"][line] for s in steps]) for line in LINES}
        reduced[number] = {"n_ranks": len(steps), **figures}
    return reduced


def overhead_truth(step):
    return {"wall_ns": step["window_ns"], "host_wall_ns": step["cpu_ns"],
            "gap_ns": step["cpu_ns"] - step["busy_ns"],
            "lines": {line: step["lines"].get(line, 0) for line in LINES}}
