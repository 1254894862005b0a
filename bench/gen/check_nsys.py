#!/usr/bin/env python3
"""Checks what the generator says is true of its Nsight Systems databases against their own rows.

usage: check_nsys.py --gen PROGRAM [--only WORD]

Everything is computed again from the tables as formats/nsys_schema.md describes them: ranges by
containment, launches by process and correlation, graph nodes by their chain, and the lines of a step
by asking of every stretch between two events what holds in it.
"""
from __future__ import annotations

import bisect
import json
import pathlib
import re
import sqlite3
from collections import Counter, defaultdict
from typing import Any, Callable

from check_grid import run_grid

Json = dict[str, Any]
Sums = dict[str, list[int]]

GRID = {
    'eager': '--launch eager',
    'nodes': '',
    'whole': '--launch whole',
    'equal_ids': '--ranks 2 --clones 2 --instantiations 3 --shuffle',
    'clones': '--clones 4 --destructions --capture-thread',
    'no_clones': '--clones 0',
    'lost': '--lost-nodes 4 --launch-scope',
    'other_names': '--no-creation-names --clones 2',
    'comm': '--all-reduce --comm-stream --launch eager --ranks 2 --domains',
    'branches': '--branches 3 --pdl --graph-copies --all-reduce',
    'threads': '--second-thread --launch eager --run-ahead --layers 4 --steps 6',
    'dropped': '--drop-calls 900 --orphans 5 --launch eager --layers 4',
    'open': '--open-ranges --launch eager',
    'open_graph': '--open-ranges --launch-scope',
    'texts': '--quotes double --outputs --registered --start-end --ops',
    'colon': '--quotes colon --no-further-keys --markers bench --schema 2025.5',
    'old': '--schema 2022.2 --clones 2 --graph-copies --no-gpu-info',
    'tensorrt': '--markers trtllm --launch eager',
    'sweep': '--schema 2024.5 --batches 1,8 --pasts 128,4096 --markers vllm',
    'sglang': '--schema 2023.3 --markers sglang --all-reduce --no-prefill',
    'ranks': '--ranks 8 --layers 1 --steps 2 --all-reduce',
}
MODULE = re.compile(r"""(?:\{['"]Module['"]: ['"]|Module:)([^'"]*)""")
STEP = re.compile(r'execute_|step\[|bench_step::|\[Executor\] _forward_step')
LINES = ('compute', 'exposed_comm', 'memcpy', 'queued_gap', 'host_wait', 'launch_gap', 'between_steps')


class Database:
    """The rows of a database, each table by name; absent tables and columns are empty."""

    def __init__(self, path: pathlib.Path) -> None:
        self.connection = sqlite3.connect(path)
        self.connection.row_factory = sqlite3.Row
        self.names = {r['id']: r['value'] for r in self.rows('StringIds')}

    def rows(self, table: str) -> list[Json]:
        if not self.connection.execute('SELECT 1 FROM sqlite_master WHERE name = ?', (table,)).fetchone():
            return []
        return [dict(row) for row in self.connection.execute(f'SELECT * FROM "{table}"')]

    def text(self, row: Json) -> str:
        return row['text'] if row['text'] is not None else self.names[row['textId']]


def process_of(row: Json) -> int:
    """The pid in a globalTid or globalPid."""
    return (row.get('globalTid') or row.get('globalPid') or 0) >> 24 & 0xFFFFFF


class Capture:
    """What one database tells, joined."""

    def __init__(self, path: pathlib.Path) -> None:
        db = Database(path)
        self.ranges: dict[int, list[Json]] = defaultdict(list)  # by globalTid
        self.calls = db.rows('CUPTI_ACTIVITY_KIND_RUNTIME')
        self.activities: list[Json] = []
        for kind, table in (('kernel', 'KERNEL'), ('memcpy', 'MEMCPY'), ('memset', 'MEMSET'),
                            ('graph', 'GRAPH_TRACE')):
            for row in db.rows(f'CUPTI_ACTIVITY_KIND_{table}'):
                row['kind'] = kind
                row['name'] = db.names[row['demangledName']] if kind == 'kernel' else kind
                self.activities.append(row)
        nodes = db.rows('CUDA_GRAPH_NODE_EVENTS') or db.rows('CUDA_GRAPH_EVENTS')
        created = [n for n in nodes if db.names[n['nameId']] == 'Graph Node Creation'] or nodes
        self.nodes = {(process_of(n), n['graphNodeId']): n for n in created}
        for call in self.calls:
            call['name'] = db.names[call['nameId']]
        self.launch = {(process_of(c), c['correlationId']): c for c in self.calls}
        rows = [r for r in db.rows('NVTX_EVENTS') if r['eventType'] in (59, 60)]
        ends = [r['end'] for r in rows + self.calls + self.activities if r['end'] is not None]
        self.end = max(ends)
        for row in rows:
            text = db.text(row)
            row['text'] = text
            row['end'] = self.end if row['end'] is None else row['end']
            module = MODULE.match(text)
            row['module'] = module.group(1) if module and "'Outputs'" not in text.replace('"', "'") else None
            row['is_step'] = bool(STEP.match(text))
            self.ranges[row['globalTid']].append(row)
        for ranges in self.ranges.values():
            ranges.sort(key=lambda r: r['start'])
        self.steps: dict[int, list[Json]] = defaultdict(list)
        self.find_steps()

    def find_steps(self) -> None:
        for ranges in self.ranges.values():
            for row in (r for r in ranges if r['is_step']):
                inner = any(o['is_step'] and o is not row and o['start'] >= row['start'] and
                            o['end'] <= row['end'] for o in ranges)
                if not inner:
                    self.steps[process_of(row)].append(row)

    def innermost(self, tid: int, t: int) -> str | None:
        ranges = self.ranges[tid]
        for row in reversed(ranges[:bisect.bisect_right([r['start'] for r in ranges], t)]):
            if row['module'] is not None and t < row['end']:
                return str(row['module'])
        return None

    def step_at(self, process: int, t: int) -> Json | None:
        return next((s for s in self.steps[process] if s['start'] <= t < s['end']), None)

    def place(self, activity: Json) -> None:
        """Gives an activity its launch, step and module."""
        process = process_of(activity)
        call = self.launch.get((process, activity['correlationId']))
        activity['launch'] = call
        activity['step'] = self.step_at(process, call['start']) if call else None
        if activity.get('graphNodeId'):
            node = self.nodes.get((process, activity['graphNodeId']))
            while node and node['originalGraphNodeId'] is not None:
                node = self.nodes.get((process, node['originalGraphNodeId']))
            activity['module'] = self.innermost(node['globalTid'], node['start']) if node else None
        elif call is None or 'GraphLaunch' in call['name']:
            activity['module'] = None
        else:
            activity['module'] = self.innermost(call['globalTid'], call['start'])


def add(sums: Sums, key: str, activity: Json) -> None:
    figures = sums.setdefault(key, [0, 0, 0])
    figures[0] += activity['end'] - activity['start']
    figures[1] += 1
    figures[2] += activity['kind'] == 'kernel'


def lines_of(capture: Capture, process: int, start: int, end: int, activities: list[Json]) -> Counter[str]:
    """The lines of the window [start, end): what holds in each stretch between two events."""
    steps = capture.steps[process]
    waits = [c for c in capture.calls if process_of(c) == process and 'Synchronize' in c['name']]
    near = [a for a in activities if a['end'] > start and a['start'] < end + 1_000_000]
    bounds = {start, end}
    for row in near + waits + steps:
        bounds.update(t for t in (row['start'], row['end']) if start < t < end)
    marks = sorted(bounds)
    lines: Counter[str] = Counter()
    for at, until in zip(marks, marks[1:]):
        running = [a for a in near if a['start'] <= at < a['end']]
        if running:
            kinds = {line_of(a) for a in running}
            line = next(k for k in LINES if k in kinds)
        else:
            line = idle_line(at, max(a['end'] for a in activities if a['end'] <= at) if any(
                a['end'] <= at for a in activities) else start,
                min((a for a in near if a['start'] > at), key=lambda a: a['start']), activities, waits, steps)
        lines[line] += until - at
    return lines


def line_of(activity: Json) -> str:
    if activity['kind'] in ('memcpy', 'memset'):
        return 'memcpy'
    return 'exposed_comm' if 'nccl' in activity['name'] else 'compute'


def idle_line(at: int, began: int, after: Json, activities: list[Json], waits: list[Json],
              steps: list[Json]) -> str:
    call = after['launch']
    if call is None:
        return 'unexplained'
    of_graph = 'GraphLaunch' in call['name'] and any(
        a['launch'] is call and a['start'] < at for a in activities)
    if call['end'] < began or of_graph:
        return 'queued_gap'
    if any(w['globalTid'] == call['globalTid'] and w['start'] <= at < w['end'] for w in waits):
        return 'host_wait'
    return 'launch_gap' if any(s['start'] <= at < s['end'] for s in steps) else 'between_steps'


def check_rank(capture: Capture, rank: Json, compare: Any) -> None:
    activities = [a for a in capture.activities if process_of(a) == rank['pid']]
    modules: Sums = {}
    by_step: dict[int, Sums] = defaultdict(dict)
    outside: Sums = {'outside': [0, 0, 0]}
    for activity in activities:
        capture.place(activity)
        add(modules, activity['module'] or '[unattributed]', activity)
        if activity['step'] is None:
            add(outside, 'outside', activity)
        else:
            add(by_step[activity['step']['start']], activity['module'] or '[unattributed]', activity)
    truth = {name: figures(m['excl']) for name, m in rank['modules'].items() if m['excl']['activities']}
    compare('modules', {k: v for k, v in modules.items() if k != '[unattributed]'}, truth)
    compare('outside', outside['outside'], figures(rank['outside']))
    compare('unattributed', sum(modules.get('[unattributed]', [0])[:1]),
            sum(u['gpu_ns'] for u in rank['unattributed'].values()))
    steps = capture.steps[rank['pid']]
    compare('steps', [s['text'] for s in steps], [s['name'] for s in rank['steps']])
    last = None
    for step, wanted in zip(steps, rank['steps']):
        own = [a for a in activities if a['step'] is step]
        compare(f"step {wanted['name']} modules", by_step[step['start']],
                {k: figures(v) for k, v in wanted['modules'].items()})
        ends = max(a['end'] for a in own)
        compare(f"step {wanted['name']} wall", ends - min(a['start'] for a in own), wanted['wall_ns'])
        compare(f"step {wanted['name']} host", step['end'] - step['start'], wanted['cpu_ns'])
        compare(f"step {wanted['name']} lines", dict(lines_of(
            capture, rank['pid'], step['start'] if last is None else last, ends, activities)),
            {k: v for k, v in wanted['lines'].items() if v})
        last = ends


def figures(sums: Json) -> list[int]:
    return [sums['gpu_ns'], sums['activities'], sums['kernels']]


def check(path: pathlib.Path, truth: Json, errors: list[str]) -> int:
    capture = Capture(path)
    compared = 0

    def compare(what: str, ours: Any, wanted: Any) -> None:
        nonlocal compared
        compared += 1
        if ours != wanted:
            errors.append(f'{what}: {ours} in the rows, {wanted} in the truth')

    starts = [r['start'] for rs in capture.ranges.values() for r in rs]
    starts += [r['start'] for r in capture.calls + capture.activities]
    compare('zero', min(starts), truth['zero_ns'])
    for rank in truth['ranks']:
        check_rank(capture, rank, compare)
    return compared


def check_case(folder: pathlib.Path, options: str, generate: Callable[..., None],
               errors: list[str]) -> int:
    database, truth = folder / 'run.sqlite', folder / 'truth.json'
    generate('nsys', '-o', str(database), '--truth', str(truth), *options.split())
    return check(database, json.loads(truth.read_text(encoding='utf-8')), errors)


if __name__ == '__main__':
    run_grid(__doc__, GRID, check_case)
