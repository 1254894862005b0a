#!/usr/bin/env python3
"""Figures of an Nsight Systems database by the shortest way: plain SQL rows and lists.

  nsys_facts.py FILE.sqlite      prints them as JSON

Written from the format (the tables of an export) and the definitions of docs/trace_model.md, apart from the
program's source, so that the two can be compared. Meant for files of up to some 100 000 rows.
"""

import ast
import json
import re
import sqlite3
import sys
from collections import Counter, defaultdict
from dataclasses import dataclass, field

GPU_TABLES = {"kernel": "CUPTI_ACTIVITY_KIND_KERNEL", "memcpy": "CUPTI_ACTIVITY_KIND_MEMCPY",
              "memset": "CUPTI_ACTIVITY_KIND_MEMSET", "graph": "CUPTI_ACTIVITY_KIND_GRAPH_TRACE"}
BACKTRACES = (67, 68, 69)  # event classes: the call stack of a call, under the call's correlation
RANGES = (59, 60, 70, 71)  # push/pop and start/end, of NVTX and of its text form
LOW_24 = 0xFFFFFF
OP = re.compile(r"(.+?), (?:op_id = \d+|seq = \d+(?:, op_id = \d+)?)(?:, sizes = .*)?", re.DOTALL)
STEP = re.compile(r"(execute_(?:context|new|\d)|step\[|ProfilerStep#|bench_step|\[Executor\] _forward_step)")
CREATION = "Graph Node Creation"


@dataclass(eq=False)
class Range:
    """One NVTX range; `parent` is set among the ranges that count as module scopes."""
    start: int
    end: int
    thread: int
    name: str
    domain: int
    parent: object = None

    def chain(self):
        """Itself and what encloses it, innermost first."""
        scope = self
        while scope is not None:
            yield scope
            scope = scope.parent


@dataclass(eq=False)
class Call:
    start: int
    end: int
    thread: int
    correlation: int
    name: str

    @property
    def launches(self):
        return "Launch" in self.name


@dataclass(eq=False)
class Activity:
    kind: str
    start: int
    end: int
    process: int
    device: int
    stream: tuple
    correlation: int
    node: object
    name: str
    call: object = None
    scope: object = None
    op: object = None
    reason: object = None

    @property
    def ns(self):
        return self.end - self.start


@dataclass
class Capture:
    """All rows of a database that the figures need."""
    activities: list = field(default_factory=list)
    calls: list = field(default_factory=list)
    ranges: list = field(default_factory=list)
    nodes: list = field(default_factory=list)  # (process, node, original, thread, start)
    epoch: object = None


class Reader:
    def __init__(self, path):
        self.connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        self.tables = {name for (name,) in self.connection.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')")}
        self.strings = dict(self.rows("StringIds", "id", "value"))
        self.gpu_of = self.gpus()

    def columns(self, table):
        return {row[1] for row in self.connection.execute(f"PRAGMA table_info({table})")}

    def rows(self, table, *columns):
        """Rows in time order; a column that this version lacks is None, an absent table is empty."""
        if table not in self.tables:
            return []
        there = self.columns(table)
        picked = ", ".join(f'"{c}"' if c in there else "NULL" for c in columns)
        order = "ORDER BY start, rowid" if "start" in there else ""
        return self.connection.execute(f"SELECT {picked} FROM {table} {order}").fetchall()

    def read(self):
        capture = Capture()
        for start, end, thread, correlation, name, event_class in self.rows(
                "CUPTI_ACTIVITY_KIND_RUNTIME", "start", "end", "globalTid", "correlationId", "nameId", "eventClass"):
            if event_class in BACKTRACES:
                continue
            capture.calls.append(Call(start, end, thread, correlation, self.strings.get(name, "")))
        for kind in GPU_TABLES:
            capture.activities += self.activities(kind)
        capture.activities.sort(key=lambda a: a.start)
        capture.nodes = self.nodes()
        last = max((row.end for row in capture.activities + capture.calls), default=0)
        capture.ranges = self.ranges(last)
        epochs = self.rows("TARGET_INFO_SESSION_START_TIME", "utcEpochNs")
        capture.epoch = epochs[0][0] if epochs else None
        return capture

    def gpus(self):
        """(pid, device) -> GPU, where processes number the GPUs differently; else empty."""
        told = {(pid, device): gpu for pid, device, gpu in
                self.rows("TARGET_INFO_CUDA_DEVICE", "pid", "cudaId", "gpuId")}
        pairs = {(device, gpu) for (_, device), gpu in told.items()}
        one_to_one = len(pairs) == len({d for d, _ in pairs}) == len({g for _, g in pairs})
        return {} if one_to_one else told

    def activities(self, kind):
        label = {"kernel": "demangledName", "graph": "graphExecId"}.get(kind, "copyKind")
        for start, end, device, context, stream, correlation, process, node, name, short in self.rows(
                GPU_TABLES[kind], "start", "end", "deviceId", "contextId", "streamId", "correlationId",
                "globalPid", "graphNodeId", label, "shortName"):
            if kind == "kernel":
                name = self.strings.get(name) or self.strings.get(short, "")
            gpu = self.gpu_of.get(((process or 0) >> 24 & LOW_24, device), device)
            yield Activity(kind, start, end, process or 0, gpu, (process, device, context, stream),
                           correlation or 0, node, name)

    def ranges(self, last):
        found = []
        for start, end, kind, text, text_id, thread, domain in self.rows(
                "NVTX_EVENTS", "start", "end", "eventType", "text", "textId", "globalTid", "domainId"):
            name = text if text is not None else self.strings.get(text_id)
            if kind in RANGES and name is not None:
                found.append(Range(start, end, thread, name, domain or 0))
        last = max([last] + [r.end for r in found if r.end is not None])
        for one in found:
            one.end = last if one.end is None else one.end
        return found

    def nodes(self):
        table = "CUDA_GRAPH_NODE_EVENTS"
        if table not in self.tables:
            table = "CUDA_GRAPH_EVENTS"  # what 2022's exports called it; later another table's name
            if table not in self.tables or "graphNodeId" not in self.columns(table):
                return []
        rows = self.rows(table, "start", "globalTid", "nameId", "graphNodeId", "originalGraphNodeId")
        created = [row for row in rows if self.strings.get(row[2]) == CREATION]
        return [(thread & ~LOW_24, node, original, thread, start)
                for start, thread, _, node, original in created or rows]


def module_of(text):
    """(path or None, whether the text is a module marker at all)."""
    if text.startswith("Module:"):
        return text[len("Module:"):].strip(), True
    if text.startswith("{"):
        for parse in (ast.literal_eval, json.loads):
            try:
                value = parse(text)
            except (ValueError, SyntaxError, MemoryError, RecursionError):
                continue
            if isinstance(value, dict) and isinstance(value.get("Module"), str):
                return (None if "Outputs" in value else value["Module"]), True
    return None, False


class Lookup:
    """The ranges that are open on a thread at a time; questions may come in any order."""

    def __init__(self, ranges):
        self.ranges = defaultdict(list)
        for one in ranges:
            self.ranges[one.thread].append(one)
        for thread in self.ranges.values():
            thread.sort(key=lambda r: (r.start, -r.end))

    def innermost_of(self, questions):
        """{key: range or None} for (key, thread, time)."""
        by_thread = defaultdict(list)
        for key, thread, time in questions:
            by_thread[thread].append((time, key))
        found = {}
        for thread, asked in by_thread.items():
            waiting = iter(self.ranges.get(thread, []))
            coming, opened = next(waiting, None), []
            for time, key in sorted(asked, key=lambda q: q[0]):
                while coming is not None and coming.start <= time:
                    opened.append(coming)
                    coming = next(waiting, None)
                opened = [r for r in opened if r.end > time]
                found[key] = opened[-1] if opened else None
        return found

    def link_parents(self):
        for ranges in self.ranges.values():
            opened = []
            for one in ranges:
                opened = [r for r in opened if r.end > one.start]
                one.parent = opened[-1] if opened else None
                opened.append(one)


def captured_places(capture):
    """{(process, node): (thread, start) of the node as it was captured, or None where that is unsure}."""
    parents, places = defaultdict(set), {}
    for process, node, original, thread, start in capture.nodes:
        if original is None:
            places.setdefault((process, node), (thread, start))
        else:
            parents[process, node].add((process, original))
    found = {}
    for key in set(parents) | set(places):
        node, seen = key, set()
        while parents.get(node) and node not in seen:
            seen.add(node)
            if len(parents[node]) > 1:
                break
            (node,) = parents[node]
        found[key] = None if parents.get(node) else places.get(node)
    return found


def link_calls(capture):
    calls = defaultdict(list)
    for call in capture.calls:
        if call.correlation:
            calls[call.thread & ~LOW_24, call.correlation].append(call)
    for activity in capture.activities:
        fitting = calls.get((activity.process, activity.correlation), [])
        fitting = [c for c in fitting if c.launches] or fitting
        before = [c for c in fitting if c.start <= activity.start]
        activity.call = before[-1] if before else (fitting[0] if fitting else None)


def attribute(capture, scopes, ops):
    """Sets scope, op and reason of every activity."""
    places = captured_places(capture)
    questions = []
    for i, a in enumerate(capture.activities):
        if a.kind == "graph" or a.node is not None or (a.call and "GraphLaunch" in a.call.name):
            place = places.get((a.process, a.node)) if a.node is not None else None
            a.reason = "graph_launch" if place is None else "outside_scopes"
        else:
            place = (a.call.thread, a.call.start) if a.call else None
            a.reason = "outside_scopes" if place else "no_launch"
        if place:
            questions.append((i, *place))
    for ranges, name in ((scopes, "scope"), (ops, "op")):
        for i, one in Lookup(ranges).innermost_of(questions).items():
            setattr(capture.activities[i], name, one)


def sorted_out(ranges):
    """(scopes, ops, steps): what each range is."""
    scopes, ops, steps, plain = [], [], [], []
    for one in ranges:
        path, is_module = module_of(one.name)
        op = OP.fullmatch(one.name)
        if is_module:
            if path is not None:
                one.name = path
                scopes.append(one)
        elif op:
            one.name = op.group(1)
            ops.append(one)
        elif STEP.match(one.name):
            steps.append(one)
        elif one.domain == 0:
            plain.append(one)
    return scopes or plain, ops, steps


def module_figures(activities, scopes):
    """{name: {calls, excl/incl: (ns, kernel ns, kernels)}}; a name counts once in its own subtree."""
    figures = defaultdict(lambda: {"calls": 0, "excl": [0, 0, 0], "incl": [0, 0, 0]})
    for scope in scopes:
        figures[scope.name]["calls"] += 1
    for activity in activities:
        if activity.scope is None:
            continue
        kernel = activity.kind == "kernel"
        more = (activity.ns, activity.ns * kernel, int(kernel))
        for key, names in (("excl", {activity.scope.name}),
                           ("incl", {s.name for s in activity.scope.chain()})):
            for name in names:
                figures[name][key] = [a + b for a, b in zip(figures[name][key], more)]
    return dict(figures)


def grouped(activities, key):
    """{key: {n, sum_ns, min_ns, max_ns}}."""
    times = defaultdict(list)
    for activity in activities:
        times[key(activity)].append(activity.ns)
    return {name: {"n": len(ns), "sum_ns": sum(ns), "min_ns": min(ns), "max_ns": max(ns)}
            for name, ns in times.items()}


def union(intervals):
    """The length of what the intervals cover."""
    total, reached = 0, None
    for start, end in sorted(intervals):
        if reached is None or start > reached:
            total += end - start
            reached = end
        elif end > reached:
            total += end - reached
            reached = end
    return total


def step_figures(capture, steps):
    """Figures of each step; `alone` where no other step of the process overlaps it."""
    found = []
    for step in steps:
        process = step.thread & ~LOW_24
        members = [a for a in capture.activities if a.process == process and a.call and
                   step.start <= a.call.start < step.end]
        launches = [c for c in capture.calls if c.launches and c.thread & ~LOW_24 == process and
                    step.start <= c.start < step.end]
        others = [s for s in steps if s is not step and s.thread & ~LOW_24 == process and
                  s.start < step.end and step.start < s.end]
        found.append({
            "name": step.name, "thread": step.thread, "start": step.start,
            "cpu_ns": step.end - step.start, "alone": not others,
            "n_kernels": sum(a.kind == "kernel" for a in members), "sum_ns": sum(a.ns for a in members),
            "n_launches": len(launches)})
    return found


def process_figures(capture, process, scopes):
    mine = [a for a in capture.activities if a.process == process]
    reasons = Counter()
    for a in mine:
        if a.scope is None:
            reasons[a.reason] += a.ns
    return {"gpu_ns": sum(a.ns for a in mine), "kernels": sum(a.kind == "kernel" for a in mine),
            "by_reason": {r: reasons[r] for r in ("graph_launch", "no_launch", "outside_scopes")},
            "modules": module_figures(mine, [s for s in scopes if s.thread & ~LOW_24 == process])}


def figures_of(path):
    capture = Reader(path).read()
    link_calls(capture)
    scopes, ops, steps = sorted_out(capture.ranges)
    Lookup(scopes).link_parents()
    attribute(capture, scopes, ops)
    activities = capture.activities
    kernels = [a for a in activities if a.kind == "kernel"]
    launches = [c for c in capture.calls if c.launches]
    used = {(a.process, a.correlation) for a in activities if a.correlation}
    kinds = {kind: [a.ns for a in activities if a.kind == kind] for kind in GPU_TABLES}
    replayed = [a for a in kernels if a.call and "GraphLaunch" in a.call.name]
    devices = {}
    for device in sorted({a.device for a in activities}):
        mine = [a for a in activities if a.device == device]
        devices[str(device)] = {"busy_ns": union((a.start, a.end) for a in mine), "n": len(mine),
                                "sum_ns": sum(a.ns for a in mine)}
    return {
        "epoch": capture.epoch,
        "counts": {kind: {"n": len(ns), "sum_ns": sum(ns)} for kind, ns in kinds.items()},
        "devices": devices, "n_ops": len(ops), "n_scopes": len(scopes),
        "launches": {
            "n": len(launches), "graph": sum("GraphLaunch" in c.name for c in launches),
            "without_activity": sum((c.thread & ~LOW_24, c.correlation) not in used for c in launches),
            "graph_kernel_sum_ns": sum(a.ns for a in replayed)},
        "kernels_without_launch": sum(a.call is None or not a.call.launches for a in kernels),
        "activities_without_call": sum(a.call is None for a in activities),
        "kernels": grouped(kernels, lambda a: a.name),
        "ops": grouped([a for a in activities if a.kind in ("kernel", "graph")],
                       lambda a: a.op.name if a.op else None),
        "processes": {str(p >> 24 & LOW_24): process_figures(capture, p, scopes)
                      for p in sorted({a.process for a in activities})},
        "steps": step_figures(capture, steps),
    }


if __name__ == "__main__":
    json.dump(figures_of(sys.argv[1]), sys.stdout, indent=1)
    print()
