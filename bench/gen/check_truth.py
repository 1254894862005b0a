#!/usr/bin/env python3
"""Compares the generator's truth with figures computed from the generated text alone.

usage: check_truth.py --gen PROGRAM --facts KINETO_FACTS.py [--only WORD] [--keep DIR]

The truth comes from what the generator decided; the figures come from an independent script (any
module with a function facts(path)) and from the brute-force functions below. Every number must be
equal to the nanosecond. `compare` is also used by tests that have a truth file and a trace.
"""
from __future__ import annotations

import argparse
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import check_structure

Json = dict[str, Any]
Facts = Callable[[str], Json]

SMALL = ['--layers', '3', '--passes', '4', '--requests', '4', '--prompt', '64']

# Option lists that together reach every switch of the generator.
GRID: dict[str, list[str]] = {
    'eager': [],
    'stacks': ['--stacks', '--memory', '--annotations'],
    'padded': ['--stacks', '--memory', '--frames-per-kernel', '1667', '--ops-per-kernel', '467',
               '--calls-per-kernel', '400'],
    'no_modules': ['--no-modules', '--no-shapes', '--no-flows'],
    'graph': ['--launch', 'graph'],
    'graph_in_scope': ['--launch', 'graph', '--graph-in-scope', '--stacks'],
    'graph_after_eager': ['--launch', 'graph', '--eager-decodes', '1', '--side-streams', '2'],
    'piecewise': ['--launch', 'piecewise', '--stacks', '--side-streams', '1'],
    'piecewise_in_scope': ['--launch', 'piecewise', '--graph-in-scope', '--pdl'],
    'vllm_old': ['--steps', 'vllm-old'],
    'vllm_squares': ['--steps', 'vllm-sq', '--mixed'],
    'vllm_mixed': ['--steps', 'vllm', '--mixed', '--prefill-every', '2'],
    'sglang': ['--steps', 'sglang', '--mixed', '--threads', '2'],
    'profiler': ['--steps', 'profiler', '--no-sampler-outside'],
    'no_steps': ['--steps', 'none'],
    'side_streams': ['--side-streams', '3'],
    'dependent': ['--pdl', '--prompt', '512'],
    'dependent_graph': ['--pdl', '--launch', 'graph', '--side-streams', '1'],
    'partial_first': ['--partial-first', '25', '--pdl'],
    'captures': ['--captures', '3', '--launch', 'graph'],
    'threads': ['--threads', '4', '--stacks'],
    'dropped_activities': ['--drop-activities', '500'],
    'dropped_launches': ['--drop-launches', '500'],
    'dropped_both': ['--drop-launches', '700', '--drop-activities', '700', '--launch', 'piecewise'],
    'external_id': ['--external-id-is-correlation'],
    'tensor_parallel': ['--tp', '2', '--prompt', '600'],
    'old': ['--old'],
    'old_profiler': ['--old', '--steps', 'profiler'],
    'bare_array': ['--bare-array', '--layout', 'compact'],
    'trailing_comma': ['--bare-array', '--trailing-comma'],
    'string_tids': ['--string-tids'],
    'indent': ['--layout', 'indent', '--times', 'trimmed', '--field-order', 'sorted'],
    'torch_lines': ['--layout', 'torch-lines', '--order', 'file'],
    'shuffled': ['--order', 'shuffle', '--field-order', 'random', '--stacks', '--threads', '2'],
    'args_first': ['--field-order', 'args-first', '--layout', 'compact', '--times', 'string'],
    'odd_names': ['--odd-names', '--stacks'],
    'cpu_only': ['--cpu-only', '--stacks', '--memory'],
    'cpu_only_threads': ['--cpu-only', '--threads', '3', '--no-modules'],
    'repeat': ['--repeat', '3', '--launch', 'graph'],
    'another_seed': ['--seed', '7', '--launch', 'piecewise', '--threads', '2'],
    'everything': ['--stacks', '--memory', '--annotations', '--threads', '3', '--side-streams', '2',
                   '--pdl', '--partial-first', '40', '--launch', 'piecewise', '--eager-decodes',
                   '1', '--mixed', '--tp', '2', '--order', 'shuffle', '--odd-names',
                   '--steps', 'sglang'],
}


class Comparison:
    """How many figures were compared, and one line for each that differs."""

    def __init__(self) -> None:
        self.compared = 0
        self.differences: list[str] = []

    def equal(self, what: str, truth: object, found: object) -> None:
        self.compared += 1
        if truth != found:
            self.differences.append(f'{what}: truth {truth!r}, found {found!r}')


def compare(truth: Json, facts: Json, old: bool = False) -> Comparison:
    """Truth of the generator against facts of the independent script: a Comparison."""
    c = Comparison()
    c.equal('t0', truth['t0_ns'], facts['t0_ns'])
    c.equal('events', truth['n_events'], facts['n_events_total'])
    c.equal('by_ph', truth['by_ph'], facts['n_by_ph'])
    c.equal('by_cat', truth['by_cat'], facts['n_by_cat'])
    _compare_gpu(c, truth, facts['gpu'])
    _compare_launches(c, truth, facts['launch'])
    _compare_modules(c, truth['modules'], facts['modules'])
    n_profiler = sum(s['name'].startswith('ProfilerStep') for s in truth['steps']) if old else 0
    c.equal('ops', truth['ops']['n'] + n_profiler, facts['ops']['n_cpu_op'])
    if not n_profiler:
        c.equal('kernels in ops', truth['n_kernels'] - truth['ops']['kernels_outside'],
                facts['ops']['kernels_reaching_a_cpu_op']['by_containment'])
        _compare_steps(c, truth['steps'], facts['steps'])
    c.equal('kernel names', len(truth['kernels']), facts['n_distinct_kernel_names'])
    for kernel in facts['top_kernels']:
        found = truth['kernels'].get(kernel['name'], {})
        c.equal(kernel['name'], (found.get('n'), found.get('sum_ns')), (kernel['n'], kernel['ns']))
    return c


def _compare_gpu(c: Comparison, truth: Json, gpu: Json) -> None:
    for kind in ('kernel', 'memcpy', 'memset'):
        n = truth['n_kernels'] if kind == 'kernel' else truth['n_' + kind]
        c.equal('n_' + kind, n, gpu['n_' + kind])
        c.equal(kind + '_sum_ns', truth[kind + '_sum_ns'], gpu[kind + '_ns_sum'])
    c.equal('devices', [str(d['device']) for d in truth['devices']], gpu['devices'])
    for device in truth['devices']:
        found = gpu['per_device'][str(device['device'])]
        c.equal('busy', device['busy_ns'], found['busy_union_ns'])
        c.equal('first', device['first_ns'], found['first_ts_ns'])
        c.equal('last', device['last_ns'], found['last_end_ns'])
        for stream in device['streams']:
            f = gpu['streams'][f"{device['device']},{stream['stream']}"]
            c.equal('stream', [stream[k] for k in ('n', 'sum_ns', 'busy_ns', 'n_overlap')],
                    [f[k] for k in ('n', 'sum_ns', 'union_ns', 'n_overlap')])
    c.equal('streams', sum(len(d['streams']) for d in truth['devices']), len(gpu['streams']))


def _compare_launches(c: Comparison, truth: Json, found: Json) -> None:
    launches = truth['launches']
    c.equal('runtime calls', truth['n_runtime_calls'], found['n_runtime_events'])
    c.equal('driver calls', truth['n_driver_calls'], found['n_driver_events'])
    c.equal('launches by name', {k: v for k, v in truth['calls'].items() if 'Launch' in k},
            found['launch_like_by_name'])
    c.equal('launches', launches['n'], found['n_launch_like'])
    c.equal('kernels without launch', truth['kernels_without_launch'],
            found['kernels_without_launch'])
    c.equal('launches without kernel', launches['without_kernel'],
            found['launches_without_kernel'])
    c.equal('launches without activity', launches['without_activity'],
            found['launches_without_gpu_event'])
    if not truth['kernels_without_launch']:
        c.equal('max kernels', launches['max_kernels'], found['max_kernels_per_correlation'])
    c.equal('graph launches', launches['graph'], found['n_graph_launches'])
    c.equal('graph kernels', launches['graph_kernels'], found['kernels_under_graph_launch'])
    c.equal('graph ns', launches['graph_kernel_sum_ns'], found['kernel_ns_under_graph_launch'])


def _compare_modules(c: Comparison, truth: Json, found: Json) -> None:
    names = truth['by_name']
    c.equal('scopes', truth['n_scopes'], found['n_nn_module_events'])
    c.equal('instances', truth['n_instances'], found['n_distinct_module_names'])
    c.equal('depth', truth['max_depth'], found['max_depth'])
    c.equal('kernels inside', sum(m['kernels_excl'] for m in names.values()),
            found['kernels_inside_a_module'])
    c.equal('ns inside', sum(m['kernel_excl_ns'] for m in names.values()),
            found['kernel_ns_inside_a_module'])
    c.equal('modules with kernels', {n for n, m in names.items() if m['kernels_incl']},
            set(found['all_modules']))
    for name, (inclusive, exclusive, calls) in found['all_modules'].items():
        m = names[name]
        c.equal(name, (m['kernel_incl_ns'], m['kernel_excl_ns'], m['calls']),
                (inclusive, exclusive, calls))
    for name, f in found['by_module_name'].items():
        c.equal(name + ' kernels', (names[name]['kernels_incl'], names[name]['kernels_excl']),
                (f['inclusive_kernels'], f['exclusive_kernels']))


def _compare_steps(c: Comparison, truth: list[Json], found: list[Json]) -> None:
    # Captures are no steps; of two nested annotations the inner one is the step.
    cpu = [s for s in found if s['kind'] == 'cpu' and not s['name'].startswith('capture_')]
    inner = [s for s in cpu if not any(
        o is not s and s['ts_rel_ns'] <= o['ts_rel_ns'] and
        o['ts_rel_ns'] + o['dur_ns'] <= s['ts_rel_ns'] + s['dur_ns'] for o in cpu)]
    c.equal('steps', len(truth), len(inner))
    for t, f in zip(truth, inner):
        c.equal(t['name'],
                (t['name'], t['start_ns'], t['cpu_ns'], t['n_kernels_same_thread'], t['n_kernels']),
                (f['name'], f['ts_rel_ns'], f['dur_ns'], f['n_kernels_same_thread'],
                 f['n_kernels_any_thread']))


# ---- figures that the independent script does not have, by brute force over the events

def ns(text: Any) -> int:
    return int(Decimal(text) * 1000)


def read_events(path: str) -> list[Json]:
    with open(path, encoding='utf-8') as file:
        text = file.read()
    if text.rstrip().endswith(','):
        text = text.rstrip()[:-1] + ']'
    document = json.loads(text, parse_float=Decimal)
    events: list[Json] = document if isinstance(document, list) else document['traceEvents']
    for i, e in enumerate(events):
        e['i'] = i
        e['start'] = ns(e['ts'])
        e['end'] = e['start'] + ns(e.get('dur', 0))
        e.setdefault('cat', '')
    return events


def union_ns(intervals: list[tuple[int, int]]) -> int:
    total = 0
    last: int | None = None
    for start, end in sorted(intervals):
        if last is None or start > last:
            total, last = total + end - start, end
        elif end > last:
            total, last = total + end - last, end
    return total


def compare_step_times(c: Comparison, truth: Json, events: list[Json]) -> None:
    """Sum, wall, busy and launches of steps, by launch."""
    runtime = [e for e in events if e['cat'].lower() in ('cuda_runtime', 'cuda_driver', 'runtime')]
    gpu = [e for e in events if e['cat'].lower() in
           ('kernel', 'gpu_memcpy', 'gpu_memset', 'memcpy', 'memset')]
    by_correlation = {e['args']['correlation']: e for e in runtime}
    for step in truth['steps']:
        start = truth['t0_ns'] + step['start_ns']
        end = start + step['cpu_ns']
        members = [g for g in gpu if g['args']['correlation'] in by_correlation and
                   start <= by_correlation[g['args']['correlation']]['start'] < end]
        launches = sum('Launch' in r['name'] and start <= r['start'] < end for r in runtime)
        sums = sum(g['end'] - g['start'] for g in members)
        busy = union_ns([(g['start'], g['end']) for g in members])
        wall = max((g['end'] for g in members), default=0) - min(
            (g['start'] for g in members), default=0)
        c.equal('times of ' + step['name'],
                [step[k] for k in ('sum_ns', 'busy_ns', 'wall_ns', 'idle_ns', 'n_launches')],
                [sums, busy, wall, wall - busy, launches])


def compare_op_self(c: Comparison, truth: Json, events: list[Json]) -> None:
    """CPU-only traces: self time of ops by name and dims, and by innermost module."""
    threads: defaultdict[tuple[Any, Any], list[Json]] = defaultdict(list)
    for e in events:
        scope = e['name'].startswith('nn.Module: ')
        if e['ph'] == 'X' and (e['cat'] == 'cpu_op' or scope):
            threads[(e['pid'], e['tid'])].append(e)
    self_ns: Counter[tuple[str, str]] = Counter()
    modules: Counter[str] = Counter()
    outside = 0
    for thread in threads.values():
        stack: list[Json] = []
        for e in sorted(thread, key=lambda e: (e['start'], -e['end'], e['i'])):
            while stack and stack[-1]['end'] <= e['start']:
                stack.pop()
            if e['cat'] == 'cpu_op':
                e['self'] = e['end'] - e['start']
                ops = [s for s in stack if s['cat'] == 'cpu_op']
                if ops:
                    ops[-1]['self'] -= e['self']
                names = [s['name'] for s in stack if s['cat'] != 'cpu_op']
                e['module'] = names[-1][len('nn.Module: '):] if names else None
            stack.append(e)
        for e in thread:
            if e['cat'] != 'cpu_op':
                continue
            self_ns[(e['name'], str(e['args'].get('Input Dims')))] += e['self']
            if e['module'] is None:
                outside += e['self']
            else:
                modules[e['module']] += e['self']
    expected: Counter[tuple[str, str]] = Counter()
    for row in truth['ops']['self']:
        expected[(row['name'], str(row['args'].get('Input Dims')))] += row['sum_ns']
    c.equal('op self', dict(expected), dict(self_ns))
    c.equal('op self outside modules', truth['ops']['self_outside_modules_ns'], outside)
    c.equal('op self by module',
            {n: m['op_self_ns'] for n, m in truth['modules']['by_name'].items() if m['op_self_ns']},
            dict(modules))


def load_facts(path: str) -> Facts:
    spec = importlib.util.spec_from_file_location('independent_facts', path)
    if spec is None or spec.loader is None:
        raise SystemExit(f'cannot load {path}')
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    facts: Facts = module.facts
    return facts


def check_file(trace: str, truth_path: str, facts: Facts, old: bool = False) -> Comparison:
    with open(truth_path, encoding='utf-8') as file:
        truth = json.load(file)
    comparison = compare(truth, facts(trace), old)
    events = read_events(trace)
    compare_step_times(comparison, truth, events)
    if 'self' in truth['ops']:
        compare_op_self(comparison, truth, events)
    if 'structure' in truth:
        check_structure.check(comparison, truth, events)
    comparison.equal('bytes', truth['bytes'], os.path.getsize(trace))
    return comparison


def run_case(gen: str, facts: Facts, options: list[str], folder: str, name: str) -> Comparison:
    trace = os.path.join(folder, name + '.json')
    truth = os.path.join(folder, name + '.truth')
    family = '--family' in options or '--ambiguous' in options
    small = check_structure.SMALL if family else SMALL
    subprocess.run([gen, '-o', trace, '--truth', truth] + small + options, check=True)
    return check_file(trace, truth, facts, '--old' in options)


def run_ranks(gen: str, facts: Facts, folder: str) -> Comparison:
    target = os.path.join(folder, 'ranks')
    subprocess.run([gen, '-o', target, '--truth', 'yes', '--ranks', '4', '--missing-rank', '2',
                    '--tp', '4'] + SMALL, check=True)
    total = Comparison()
    for name in sorted(os.listdir(target)):
        if not name.endswith('.json'):
            continue
        c = check_file(os.path.join(target, name),
                       os.path.join(target, name.split('.')[0] + '.truth'), facts)
        total.compared += c.compared
        total.differences += c.differences
    total.equal('rank files', 3, sum(n.endswith('.json') for n in os.listdir(target)))
    return total


def main() -> int:
    parser = argparse.ArgumentParser(description='compare generated truth with the text')
    parser.add_argument('--gen', required=True)
    parser.add_argument('--facts', required=True)
    parser.add_argument('--only', default='')
    parser.add_argument('--keep')
    args = parser.parse_args()
    facts = load_facts(args.facts)
    bad = compared = 0
    with tempfile.TemporaryDirectory() as scratch:
        folder = args.keep or scratch
        os.makedirs(folder, exist_ok=True)
        grid = {**GRID, **check_structure.GRID}
        cases = {n: o for n, o in grid.items() if args.only in n}
        results = [(n, run_case(args.gen, facts, o, folder, n)) for n, o in cases.items()]
        if args.only in 'ranks':
            results.append(('ranks', run_ranks(args.gen, facts, folder)))
    for name, result in results:
        compared += result.compared
        for difference in result.differences[:5]:
            print(f'{name}: {difference}')
        bad += bool(result.differences)
    print(f'{len(results)} cases, {compared} figures compared, {bad} cases differ')
    return 1 if bad or not compared else 0


if __name__ == '__main__':
    sys.exit(main())
