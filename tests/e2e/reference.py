"""A slow second implementation of the attribution, written from docs/design.md and docs/trace_model.md
alone: plain loops, no shared code with the program. It reads well-formed traces only.
"""

import gzip
import json
from collections import Counter, defaultdict
from decimal import ROUND_HALF_EVEN, Decimal

KINDS = {"kernel": "kernel", "gpu_memcpy": "memcpy", "memcpy": "memcpy", "gpu_memset": "memset",
         "memset": "memset"}
CALLS = {"cuda_runtime", "cuda_driver", "hip_runtime", "hip_driver", "runtime", "driver"}
OPS = {"cpu_op", "operator"}
SCOPE = "nn.Module: "
ZERO_PH = set("XBiICbn")
HOUR_NS = 3600 * 10**9
DAY_NS = 24 * HOUR_NS


class Event:
    """One X event: bounds in ns, where it ran, and its arguments."""

    def __init__(self, raw, index, start, end):
        self.index, self.start, self.end = index, start, end
        self.name, self.args = raw["name"], raw.get("args") or {}
        self.thread = (number(raw.get("pid")), number(raw.get("tid")))
        self.external_id = number(self.args.get("External id", self.args.get("external id")))
        correlation = number(self.args.get("correlation"))
        self.correlation = correlation if isinstance(correlation, int) and correlation > 0 else None
        self.device = number(self.args.get("device", raw.get("pid")))
        self.stream = number(self.args.get("stream", raw.get("tid")))

    @property
    def duration(self):
        return self.end - self.start


def number(value):
    """Text that is a number is a number."""
    try:
        return int(value)
    except (TypeError, ValueError):
        return value


def nanoseconds(value):
    return int((Decimal(str(value)) * 1000).to_integral_value(rounding=ROUND_HALF_EVEN))


class Reference:
    """All columns of one trace."""

    def __init__(self, path):
        raw = path.read_bytes()
        raw = gzip.decompress(raw) if raw[:2] == b"\x1f\x8b" else raw
        document = parse(raw.decode("utf-8", "replace"))
        events = document if isinstance(document, list) else document["traceEvents"]
        self.zero = zero_of(events)
        self.calls, self.ops, self.scopes = [], [], []
        self.activities = []
        for index, event in enumerate(events):
            self._keep(index, event)
        self._link()
        self.cpu_only = not self.activities and bool(self.ops)
        self.rows = cpu_rows(self) if self.cpu_only else self.activities

    def _keep(self, index, raw):
        if raw.get("ph") != "X" or raw.get("ts") is None:
            return
        start = nanoseconds(raw["ts"]) - self.zero
        length = nanoseconds(raw.get("dur", 0))
        if length > DAY_NS:
            return
        event = Event(raw, index, start, start + length)
        category = str(raw.get("cat", "")).lower()
        if category in KINDS:
            event.kind = KINDS[category]
            self.activities.append(event)
        elif category in CALLS:
            self.calls.append(event)
        elif category in OPS:
            if not event.name.startswith("ProfilerStep#"):  # in files of 2021 a step, never an op
                self.ops.append(event)
        elif category == "python_function" and event.name.startswith(SCOPE):
            event.name = event.name[len(SCOPE):]
            self.scopes.append(event)

    def _link(self):
        calls = defaultdict(list)
        for call in self.calls:
            if call.correlation is not None:
                calls[call.correlation].append(call)
        op_of_id = {op.external_id: op for op in self.ops if op.external_id is not None}
        ops, scopes = by_thread(self.ops), by_thread(self.scopes)
        for scope in self.scopes:
            scope.around = containing(scopes[scope.thread], scope.start, scope)
        for row in self.activities:
            row.launch = choose_launch(calls.get(row.correlation, []), row.start)
            row.scope = row.op = None
            if row.launch:
                row.scope = innermost(scopes[row.launch.thread], row.launch.start)
                row.op = (op_of_id.get(row.external_id) or op_of_id.get(row.launch.external_id) or
                          innermost(ops[row.launch.thread], row.launch.start))
            elif row.external_id is not None:
                row.op = op_of_id.get(row.external_id)


def parse(text):
    decoder = json.JSONDecoder(parse_float=Decimal, strict=False)
    try:
        return decoder.decode(text)
    except ValueError:
        return decoder.decode(text.rstrip().rstrip(",") + "]")


def zero_of(events):
    times = sorted(nanoseconds(e["ts"]) for e in events
                   if e.get("ph") in ZERO_PH and e.get("ts") is not None)
    later = [t for t in times if t != 0]
    if times and times[0] == 0 and later and later[0] > HOUR_NS:
        return later[0]
    return times[0] if times else 0


def by_thread(events):
    found = defaultdict(list)
    for event in events:
        found[event.thread].append(event)
    return found


def containing(events, time, but=None):
    """The events around `time`, innermost first: latest start, then smallest end, then last in file.
    `but`, an event that starts at `time`, and what would lie inside of it are left out."""
    def rank(event):
        return (event.start, -event.end, event.index)
    return sorted((e for e in events if e.start <= time < e.end and
                   (but is None or rank(e) < rank(but))), key=rank, reverse=True)


def innermost(events, time):
    return next(iter(containing(events, time)), None)


def choose_launch(calls, start):
    named = [c for c in calls if "Launch" in c.name] or calls
    named = sorted(named, key=lambda c: (c.start, c.index))
    before = [c for c in named if c.start <= start]
    return before[-1] if before else (named[0] if named else None)


def cpu_rows(reference):
    """One row for each stretch in which an op is innermost and no module scope opens or closes."""
    rows = []
    scopes = by_thread(reference.scopes)
    for thread, ops in by_thread(reference.ops).items():
        edges = sorted({t for e in ops + scopes[thread] for t in (e.start, e.end)})
        owned = Counter()
        active, todo = [], sorted(ops, key=lambda e: e.start)
        around, scopes_todo = [], sorted(scopes[thread], key=lambda e: e.start)
        for left, right in zip(edges, edges[1:]):
            while todo and todo[0].start <= left:
                active.append(todo.pop(0))
            while scopes_todo and scopes_todo[0].start <= left:
                around.append(scopes_todo.pop(0))
            active = [e for e in active if e.end > left]
            around = [e for e in around if e.end > left]
            op = innermost(active, left)
            if op:
                owned[op.index] += 1
                rows.append(cpu_row(op, innermost(around, left), left, right))
        rows += [cpu_row(op, innermost(scopes[thread], op.start), op.start, op.start)
                 for op in ops if not owned[op.index]]
    return rows


def cpu_row(op, scope, start, end):
    row = Event({"name": op.name}, op.index, start, end)
    row.thread, row.kind, row.device, row.stream = op.thread, "cpu", "cpu", None
    row.op, row.scope, row.launch = op, scope, None
    return row


def busy(rows):
    """The union of the rows' intervals, device by device."""
    total = 0
    for device in {r.device for r in rows}:
        end = None
        for row in sorted((r for r in rows if r.device == device), key=lambda r: r.start):
            if end is None or row.start > end:
                total += max(row.duration, 0)
                end = row.end
            elif row.end > end:
                total += row.end - end
                end = row.end
    return total


def module_path(scope):
    """Names from the root down."""
    return tuple(s.name for s in reversed(scope.around)) + (scope.name,)


def modules(reference):
    """path of names -> figures of that module, all calls and threads together."""
    found = {}
    for scope in reference.scopes:
        node = found.setdefault((scope.thread[0], *module_path(scope)), {
            "calls": 0, "cpu_ns": 0, "exclusive": [], "inclusive": []})
        node["calls"] += 1
        node["cpu_ns"] += scope.duration
    for row in reference.rows:
        if row.scope:
            path = (row.scope.thread[0], *module_path(row.scope))
            found[path]["exclusive"].append(row)
            for length in range(2, len(path) + 1):
                found[path[:length]]["inclusive"].append(row)
    return found


def step_figures(reference, start, end, process):
    """Figures of a step that no other step of the process overlaps: what was launched in its time."""
    members = [r for r in reference.activities if r.launch and start <= r.launch.start < end and
               r.launch.thread[0] == process]
    devices = {r.device for r in members}
    wall = (max(r.end for r in members) - min(r.start for r in members)) if members else None
    return {"sum_ns": sum(r.duration for r in members),
            "n_kernels": sum(r.kind == "kernel" for r in members),
            "busy_ns": busy(members), "wall_ns": wall if len(devices) == 1 else None,
            "n_launches": sum("Launch" in c.name and start <= c.start < end and
                              c.thread[0] == process for c in reference.calls)}


def kernels_by(reference, key):
    """key -> [n, sum]; on CPU-only traces n counts ops, not stretches of them."""
    groups = defaultdict(list)
    for row in reference.rows:
        groups[key(row)].append(row)
    return {k: [len({r.index for r in rows}), sum(r.duration for r in rows)]
            for k, rows in groups.items()}


def dims_of(row):
    """Input dims as compact JSON text, or None."""
    if row.op is None or "Input Dims" not in row.op.args:
        return None
    return json.dumps(row.op.args["Input Dims"], separators=(",", ":"), default=str)
