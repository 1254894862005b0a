#!/usr/bin/env python3
"""CPU captures: self times by op and input dims against the profiler's own table, and module trees
against the live model's named_modules. Both were written by PyTorch, not by this project.
"""

import gzip
import json
import re
from collections import Counter
from decimal import Decimal

from e2e import Parts, program, shared
from facts import recorded_name

TRACE = "traces/cpu/vllm_qwen3_tiny_offline_stack.json.gz"
TABLE = "traces/cpu/vllm_qwen3_tiny_offline_stack.key_averages.txt"
N_OP_ROWS = 16  # of its 50 rows, counted by hand: the others are Python frames and annotations
UNIT_NS = {"s": 10**9, "ms": 10**6, "us": 10**3}
SHAPE_WIDTH = 80  # the table cuts input shapes there


def op_names(trace):
    with gzip.open(trace, "rt", encoding="utf-8") as stream:
        events = json.load(stream)["traceEvents"]
    return {e["name"] for e in events if e.get("cat") == "cpu_op"}


def table_rows(path, names):
    """(name, self ns, half a unit of its last digit, calls, shapes) of each op row."""
    lines = path.read_text(encoding="utf-8").splitlines()
    widths = [len(dashes) for dashes in lines[0].split()]
    rows = []
    for line in lines[3:]:
        if line.startswith("---"):
            break
        cells, at = [], 0
        for width in widths:
            cells.append(line[at:at + width].strip())
            at += width + 2
        if cells[0] in names:
            number, unit = re.fullmatch(r"([\d.]+)(s|ms|us)", cells[2]).groups()
            half = Decimal(UNIT_NS[unit]) / (2 * 10 ** len(number.partition(".")[2]))
            rows.append((cells[0], Decimal(number) * UNIT_NS[unit], half, int(cells[6]), cells[7]))
    return rows


def our_rows(data):
    """(name, dims as text) -> self ns."""
    found = Counter()
    for row in data["rows"]:
        found[row["name"], dims_text(row.get("dims"))] += row["sum_ns"]
    return found


def dims_text(dims):
    if dims is None:
        return "[]"
    return dims if isinstance(dims, str) else json.dumps(dims)


def squeeze(text):
    return text.replace(" ", "")


def compare_table(tally, trace, table):
    names = op_names(trace)
    wanted = table_rows(table, names)
    tally.equal("op rows of the table", len(wanted), N_OP_ROWS)
    ours = our_rows(program.run_json("kernels", [trace], "--by", "op-dims", "-n", "0")["data"])
    for name, self_ns, half, _, shapes in wanted:
        same = {dims: ns for (op, dims), ns in ours.items() if op == name and
                squeeze(dims)[:SHAPE_WIDTH // 2] == squeeze(shapes)[:SHAPE_WIDTH // 2] and
                squeeze(dims).startswith(squeeze(shapes).rstrip("."))}
        near = [dims for dims, ns in same.items() if abs(ns - self_ns) <= half]
        tally.holds(f"{name} {shapes}: self {self_ns} ns +- {half}; we have {same}", bool(near))
        if near:
            del ours[name, near[0]]


def scope_counts(trace):
    with gzip.open(trace, "rt", encoding="utf-8") as stream:
        events = json.load(stream)["traceEvents"]
    prefix = "nn.Module: "
    return Counter(e["name"][len(prefix):] for e in events
                   if e.get("ph") == "X" and e["name"].startswith(prefix))


def compare_scopes(tally, trace):
    """Every recorded scope is a call of a node of its name, and nothing else is."""
    nodes = program.run_json("modules", [trace], "-n", "0")["data"]["nodes"]
    calls = Counter()
    for node in nodes:
        calls[recorded_name(node)] += node["calls"]
    wanted = scope_counts(trace)
    for name in wanted.keys() | calls.keys():
        tally.equal(f"calls of {name}", calls[name], wanted[name])


# Modules of the live model that are never called through nn.Module.__call__.
NEVER_CALLED = {"hf_qwen3_tiny": {"ModuleList"},
                "vllm_qwen3_tiny": {"ModuleList", "Qwen3Model", "ApplyRotaryEmb", "ParallelLMHead"}}


def compare_tree(tally, trace, tree, never_called):
    """As many instances of each class as the live model has; where no module is shared, the same
    (parent class, class) pairs as well."""
    listed = json.loads(tree.read_text(encoding="utf-8"))
    if listed and isinstance(listed[0][0], list):
        listed = listed[0]
    class_of = {entry[0]: entry[1].rpartition(".")[2] for entry in listed}
    wanted = Counter(c for c in class_of.values() if c not in never_called)
    nodes = {n["id"]: n for n in program.run_json("modules", [trace], "-n", "0")["data"]["nodes"]}
    ours = Counter(c for c, _ in {(n["class"], recorded_name(n)) for n in nodes.values()})
    for name in wanted:
        tally.equal(f"instances of {name}", ours[name], wanted[name])
    if len(nodes) == sum(wanted.values()):
        pairs = Counter((parent_class(path, class_of, never_called), name)
                        for path, name in class_of.items() if name not in never_called)
        mine = Counter((nodes[n["parent"]]["class"] if n["parent"] is not None else None, n["class"])
                       for n in nodes.values())
        tally.equal("pairs of parent and child classes", mine, pairs)


def parent_class(path, class_of, never_called):
    while path:
        path = path.rpartition(".")[0]
        if class_of[path] not in never_called:
            return class_of[path]
    return None


if __name__ == "__main__":
    PARTS = Parts("key averages and module trees")
    FOLDER = shared("traces/cpu")
    if FOLDER is None:
        PARTS.skip("CPU captures", "../shared/traces/cpu is absent")
    else:
        PARTS.run("self times", compare_table, shared(TRACE), shared(TABLE))
        for TRACE_FILE in sorted(FOLDER.glob("*_stack.json.gz")):
            PARTS.run(f"scopes of {TRACE_FILE.name}", compare_scopes, TRACE_FILE)
        for MODEL, UNCALLED in NEVER_CALLED.items():
            for TRACE_FILE in sorted(FOLDER.glob(f"{MODEL}_*_stack.json.gz")):
                PARTS.run(f"tree of {TRACE_FILE.name}", compare_tree, TRACE_FILE,
                          FOLDER / f"{MODEL}_named_modules.json", UNCALLED)
    PARTS.close()
