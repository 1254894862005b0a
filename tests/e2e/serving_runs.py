"""Generated serving runs (`layerscope-gen serve`) and what is true of them.

A run is a folder: the trace whose steps replay graphs, the traces of the graphs' capture, an eager run
of the same model, graph annotations, a model tree, and the truth. How a case is to be read:

exact       every activity of a graph gets its own module and op; only `uncertain` ones (a neighbour of
            the same name is missing) and copies may stay without
never_wrong activities may stay without a module, but none gets another's
withheld    nothing is taken from what was given, and that is said
"""

import dataclasses
import gzip
import itertools
import json
import shutil
import subprocess
from collections import Counter, defaultdict

from e2e import program

MAX_ROWS_TO_CHOOSE_FROM = 14  # of one module; beyond it only bounds are checked


def generate(folder, options, verb="serve"):
    done = subprocess.run([str(program.generator()), verb, "-o", str(folder), *options.split()],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"layerscope-gen {verb} {options}: {done.stderr.strip()}")
    return folder


def trace_of(run, rank=0):
    return run / f"run/rank{rank}.pt.trace.json"


def truth_of(run, kind="run", rank=0):
    return json.loads((run / f"truth/{kind}_rank{rank}.json").read_text(encoding="utf-8"))


def compress(folder):
    """As engines write captures: each file gzipped."""
    for file in list(folder.iterdir()):
        with gzip.open(f"{file}.gz", "wb") as out:
            out.write(file.read_bytes())
        file.unlink()


def put_beside(run, folder):
    """Moves a folder of the run next to its trace, where engines leave it."""
    target = run / "run" / folder
    shutil.move(run / folder, target)
    return target


def is_copy(activity):
    return activity["kind"] == "memcpy" or activity["name"] == "memcpy128"


@dataclasses.dataclass
class Expected:
    """What each chain of modules may hold: rows that must be there, and rows that may."""
    certain: dict
    possible: dict
    ops: Counter
    ops_possible: Counter

    @property
    def nothing_open(self):
        return not self.possible


def chain_by_instance(activity):
    return ".".join(activity["modules"])


def chain_by_path(activity):
    return activity["path"] if activity["path"] is not None else ""


def expected(truth, reading, key=chain_by_instance, loose_passes=()):
    """Sums by chain ("" is unattributed) under a reading of the graphs' activities."""
    certain, possible = defaultdict(list), defaultdict(list)
    ops, ops_possible = Counter(), Counter()
    for activity in truth["activities"]:
        ns = activity["duration_ns"]
        around = ".".join(activity["around"])
        if activity["graph"] < 0:
            certain[key(activity) if activity["modules"] else ""].append(ns)
            ops[activity["op"]] += ns
        elif reading == "withheld" or activity["unplaced"]:
            certain[around].append(ns)
        elif reading == "never_wrong" or activity["uncertain"] or is_copy(activity) or \
                activity["pass"] in loose_passes:
            possible[key(activity), around].append(ns)
            ops_possible[activity["op"]] += ns
        else:
            certain[key(activity)].append(ns)
            ops[activity["op"]] += ns
    return Expected(certain, possible, ops, ops_possible)


def may_be_sum(rest_ns, rest_n, rows):
    """Whether `rest_n` of `rows` can have the sum `rest_ns`."""
    if not 0 <= rest_n <= len(rows):
        return False
    if len(rows) > MAX_ROWS_TO_CHOOSE_FROM:
        return sum(sorted(rows)[:rest_n]) <= rest_ns <= sum(sorted(rows, reverse=True)[:rest_n])
    return any(sum(chosen) == rest_ns for chosen in itertools.combinations(rows, rest_n))


def module_rows(data, by_path=False):
    """{chain or path: (exclusive ns, activities)} of `modules`, unattributed under ""."""
    nodes = {node["id"]: node for node in data["nodes"]}
    rows = defaultdict(lambda: [0, 0])
    for node in nodes.values():
        if by_path:
            name = node["path"]
        else:
            chain = [node["instance"]]
            parent = node["parent"]
            while parent is not None:
                chain.insert(0, nodes[parent]["instance"])
                parent = nodes[parent]["parent"]
            name = ".".join(chain)
        rows[name][0] += node["gpu_excl_ns"]
        rows[name][1] += node["activities_excl"]
    rows[""][0] += data["unattributed"]["gpu_ns"]
    rows[""][1] += data["unattributed"]["activities"]
    return {name: tuple(figures) for name, figures in rows.items() if figures[1]}


def compare_modules(tally, data, wanted, by_path=False):
    found = module_rows(data, by_path)
    open_rows = defaultdict(list)
    for (name, _), rows in wanted.possible.items():
        open_rows[name] += rows
    for name in sorted(set(found) | set(wanted.certain) | set(open_rows)):
        ns, n = found.get(name, (0, 0))
        certain = wanted.certain.get(name, [])
        # What is not placed stays where the launch lies.
        stay = [row for (_, around), rows in wanted.possible.items() if around == name for row in rows]
        rest = (ns - sum(certain), n - len(certain))
        if not open_rows.get(name) and not stay:
            tally.equal(f"module {name or '[unattributed]'}: (ns, activities)", (ns, n),
                        (sum(certain), len(certain)))
        else:
            tally.holds(f"module {name or '[unattributed]'}: {ns} ns in {n} activities is not what "
                        f"its own {len(certain)} and some of {len(open_rows[name])} others have",
                        may_be_sum(*rest, open_rows.get(name, []) + stay))


def compare_ops(tally, data, wanted):
    found = Counter()  # an op has one row for kernels and one for copies
    for row in data["rows"]:
        if row["op"] and row["op"] != "[no op]":
            found[row["op"]] += row["sum_ns"]
    for name in sorted(set(found) | set(wanted.ops) - {""}):
        least = wanted.ops.get(name, 0)
        most = least + wanted.ops_possible.get(name, 0)
        tally.holds(f"op {name}: {found[name]} ns, truth {least} to {most}",
                    least <= found[name] <= most)


def compare_calls(tally, data, truth):
    """One call a graph launch and captured scope call; launched modules are called as recorded."""
    launches = defaultdict(set)
    own = set()
    for activity in truth["activities"]:
        chain = activity["modules"]
        for depth in range(1, len(chain) + 1):
            name = ".".join(chain[:depth])
            if activity["graph"] < 0 or depth <= len(activity["around"]):
                own.add(name)
            else:
                launches[name].add(activity["launch"])
    nodes = {node["id"]: node for node in data["nodes"]}
    for node in nodes.values():
        chain, parent = [node["instance"]], node["parent"]
        while parent is not None:
            chain.insert(0, nodes[parent]["instance"])
            parent = nodes[parent]["parent"]
        name = ".".join(chain)
        if name in launches and name not in own:
            tally.equal(f"module {name}: calls", node["calls"], len(launches[name]))


def compare_alignment(tally, rows, truth, reading, evidence):
    """The rows say what was laid over which graph."""
    tally.holds("no alignment is shown", bool(rows))
    for row in rows:
        share = f"graph {row['graph']}: matched {row['matched']} + mismatched {row['mismatched']}"
        tally.holds(f"{share}; confidence {row['confidence']}", 0 <= row["confidence"] <= 1)
        if row["withheld"]:
            tally.holds(f"graph {row['graph']} is withheld without a reason", bool(row["reason"]))
    if reading == "withheld":
        tally.holds("a row is not withheld", all(row["withheld"] for row in rows))
        return
    if reading == "never_wrong":
        return
    graph_rows = [a for a in truth["activities"] if a["graph"] >= 0]
    tally.equal("launches", sum(row["launches"] for row in rows),
                len({a["launch"] for a in graph_rows}))
    tally.holds(f"withheld: {[row['reason'] for row in rows if row['withheld']]}",
                not any(row["withheld"] for row in rows))
    tally.equal("evidence", {row["evidence"] for row in rows}, {evidence})
    placed = [a for a in graph_rows if not a["unplaced"]]
    certain = sum(not is_copy(a) and not a["uncertain"] for a in placed)
    matched = sum(row["matched"] for row in rows)
    tally.holds(f"matched {matched}, truth {certain} to {len(placed)}",
                certain <= matched <= len(placed))
    mismatched = sum(row["mismatched"] for row in rows)
    extra = len(graph_rows) - len(placed)
    tally.holds(f"mismatched {mismatched}, truth {extra} and at most "
                f"{len(graph_rows) - certain}", extra <= mismatched <= len(graph_rows) - certain)


def health_codes(envelope):
    entries = list(envelope["health"])
    for rank in envelope.get("ranks") or []:
        entries += rank.get("health") or []
    return Counter(entry["code"] for entry in entries)
