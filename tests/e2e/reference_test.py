#!/usr/bin/env python3
"""The program against the slow second implementation in reference.py: what kineto_facts.py does not
cover (copies and sets in modules, busy unions, rows by op, dims and stream, CPU-only self times).
"""

import pathlib
import tempfile
from collections import Counter, defaultdict

import reference as oracle
from e2e import Parts, program
from facts import recorded_name
from generated import GRID, generate

FILES = ("kineto/tracelens_hf_qwen1.5_h100.json.gz", "kineto/tracelens_vllm_gptoss_b200_tp8_eager.json.gz",
         "kineto/tracelens_sglang_qwen3-8b_mi300_decode_graph.json.gz",
         "kineto/tracelens_sglang_qwen3-8b_mi300_extend.json.gz",
         "kineto/tracelens_vllm_gptoss_mi300_decode_fullgraph.json.gz",
         "kineto/tracelens_torch_compile_triton_mi300.json.gz", "kineto/hta_sampled_rank0.json.gz",
         "cpu/hf_qwen3_tiny_generate_stack.json.gz", "cpu/hf_qwen3_tiny_compiled.json.gz",
         "cpu/vllm_qwen3_tiny_serve_nostack.json.gz")


def compare(tally, file):
    wanted = oracle.Reference(file)
    info = program.run_json("info", [file])
    tally.equal("zero", int(info["inputs"][0]["t0_ns"]), wanted.zero)
    compare_modules(tally, file, wanted)
    compare_kernels(tally, file, wanted)
    if not wanted.cpu_only:
        compare_steps(tally, file, wanted)


def compare_modules(tally, file, wanted):
    data = program.run_json("modules", [file], "-n", "0")["data"]
    nodes = {n["id"]: n for n in data["nodes"]}
    ours = defaultdict(list)
    for node in nodes.values():
        ours[path_of(node, nodes)].append(node)
    theirs = defaultdict(list)
    for path, figures in oracle.modules(wanted).items():
        theirs[path[1:]].append(figures)
    tally.equal("module paths", sorted(ours.keys() ^ theirs.keys()), [])
    for path in ours.keys() & theirs.keys():
        tally.equal("/".join(path), sorted(map(our_figures, ours[path])),
                    sorted(map(their_figures, theirs[path])))
    total = sum(r.duration for r in wanted.rows)
    inside = sum(r.duration for r in wanted.rows if r.scope)
    if not wanted.cpu_only:
        tally.equal("total", data["total"]["gpu_ns"], total)
        tally.equal("unattributed", data["unattributed"]["gpu_ns"], total - inside)


def path_of(node, nodes):
    names = []
    while node is not None:
        names.append(recorded_name(node))
        node = nodes.get(node["parent"])
    return tuple(reversed(names))


def our_figures(node):
    """calls, cpu, exclusive, inclusive, busy; a CPU-only node has its self time as exclusive."""
    return tuple(node[key] for key in ("calls", "cpu_ns", "gpu_excl_ns", "gpu_incl_ns", "gpu_busy_ns",
                                       "kernels_excl"))


def their_figures(figures):
    exclusive, inclusive = figures["exclusive"], figures["inclusive"]
    return (figures["calls"], figures["cpu_ns"], sum(r.duration for r in exclusive),
            sum(r.duration for r in inclusive), oracle.busy(inclusive),
            sum(r.kind == "kernel" for r in exclusive))


def is_copy(row):
    """By op, copies and sets are rows of their own."""
    return row.kind in ("memcpy", "memset")


KEYS = {"name": lambda r: r.name,
        "op": lambda r: (r.op.name if r.op else None, is_copy(r)),
        "op-dims": lambda r: (r.op.name, oracle.dims_of(r), is_copy(r)) if r.op else is_copy(r),
        "stream": lambda r: (str(r.device), str(r.stream))}


def compare_kernels(tally, file, wanted):
    for by, key in KEYS.items():
        if by == "stream" and wanted.cpu_only:
            continue
        theirs = sorted(map(tuple, oracle.kernels_by(wanted, key).values()))
        rows = program.run_json("kernels", [file], "--by", by, "-n", "0")["data"]["rows"]
        ours = sorted((r["n"], r["sum_ns"]) for r in rows)
        tally.equal(f"kernels by {by}: (n, sum) that differ",
                    list((Counter(ours) - Counter(theirs)).items())[:3] +
                    list((Counter(theirs) - Counter(ours)).items())[:3], [])


def compare_steps(tally, file, wanted):
    steps = program.run_json("steps", [file], "-n", "0")["data"]["steps"]
    processes = {c.thread[0] for c in wanted.calls}
    for step in steps:
        start, end = step["start_ns"], step["start_ns"] + step["cpu_ns"]
        alone = not any(o is not step and o["start_ns"] < end and
                        start < o["start_ns"] + o["cpu_ns"] for o in steps)
        if alone and len(processes) == 1:
            figures = oracle.step_figures(wanted, start, end, next(iter(processes)))
            for key, value in figures.items():
                if value is not None:
                    tally.equal(f"step {step['name']} {key}", step[key], value)


if __name__ == "__main__":
    PARTS = Parts("reference")
    for NAME in FILES:
        PARTS.run_shared(f"traces/{NAME}", compare)
    with tempfile.TemporaryDirectory(prefix="layerscope-reference-") as FOLDER:
        for TITLE, OPTIONS in GRID.items() if program.generator().is_file() else ():
            FILE = pathlib.Path(FOLDER) / f"{TITLE}.json"
            generate(FILE, OPTIONS)
            PARTS.run(f"generated {TITLE}", compare, FILE)
    PARTS.close()
