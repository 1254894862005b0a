#!/usr/bin/env python3
"""`make bench`: layerscope against the floor program on the same generated traces.

usage: run.py --build DIR [--runs N] [--quick] [--replay | --nsys] [--data DIR]

Makes the traces once (cached), checks every answer against the generator's truth, and only then
prints times: wall and CPU seconds of both programs run alternately, their ratios, peak memory, the
growth over file sizes, what one stray control character costs, and what replays of graphs cost
(replay_point.py). --nsys measures databases of Nsight Systems instead (nsys_point.py). Exit 1 when an answer is wrong, never because of a time; 2 when a program is
missing.
"""
from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from pathlib import Path

from measure import Json, Run, Series, WrongAnswer, digest, expect, run_once, warm
from nsys_point import NsysPoint
from replay_point import ReplayPoint

# The mix of a real trace recorded with stacks: half Python frames, 15 % flows, 14 % ops with
# shapes, 12 % runtime calls, 3 % kernels; the counts are hundredths a kernel.
MIX = ['--stacks', '--memory', '--frames-per-kernel', '1667', '--ops-per-kernel', '467',
       '--calls-per-kernel', '400', '--prefill-every', '8']
BIG_EVENTS = 1_900_000
QUICK_EVENTS = 190_000
MEMORY_PER_ROW = 100
MEMORY_FIXED = 100 * 1000 * 1000
RAW_LIMIT, CPU_LIMIT, DIRTY_LIMIT, LAYERS_LIMIT = 0.8, 1.3, 1.05, 1.15
# The generator's default model has 36 layers.
LAYERS = 36


# ---- traces

def make_trace(gen: Path, data: Path, name: str, events: int) -> Path:
    """A trace and NAME.truth beside it, made anew only when generator or options changed."""
    options = MIX + ['--events', str(events)]
    key = digest(gen) + ' ' + ' '.join(options)
    trace, stamp = data / (name + '.json'), data / (name + '.key')
    if stamp.exists() and stamp.read_text() == key and trace.exists():
        return trace
    print(f'making {trace.name} ({events} events)', flush=True)
    stamp.unlink(missing_ok=True)
    subprocess.run([str(gen), '-o', str(trace), '--truth', str(data / (name + '.truth'))] + options,
                   check=True)
    (data / (name + '.json.gz')).unlink(missing_ok=True)
    (data / (name + '_dirty.json')).unlink(missing_ok=True)
    stamp.write_text(key)
    return trace


def make_gzip(trace: Path) -> Path:
    packed = trace.with_suffix('.json.gz')
    if not packed.exists():
        print(f'packing {packed.name}', flush=True)
        partial = packed.with_suffix('.part')
        with partial.open('wb') as out:
            subprocess.run(['gzip', '-6', '-n', '-c', str(trace)], stdout=out, check=True)
        partial.rename(packed)
    return packed


def make_dirty(trace: Path) -> Path:
    """A copy with one raw control character in the name of a Python frame halfway through."""
    dirty = trace.with_name(trace.stem + '_dirty.json')
    if dirty.exists():
        return dirty
    print(f'making {dirty.name}', flush=True)
    partial = dirty.with_suffix('.part')
    shutil.copyfile(trace, partial)
    with partial.open('r+b') as file:
        middle = trace.stat().st_size // 2
        file.seek(middle)
        marker = b'"name": "torch/nn/modules'
        file.seek(middle + file.read(1 << 20).index(marker) + len(marker) - 1)
        file.write(b'\x01')
    partial.rename(dirty)
    return dirty


# ---- answers

def check_floor(truth: Json, run: Run) -> None:
    found = json.loads(run.output)
    expect('events', truth['n_events'], found['events'])
    for key in ('sum_ts_ns', 'sum_dur_ns', 'sum_correlation'):
        expect(key, truth[key], found[key])


def gpu_sum(truth: Json) -> int:
    return int(truth['kernel_sum_ns'] + truth['memcpy_sum_ns'] + truth['memset_sum_ns'])


def check_summary(truth: Json, run: Run) -> Json:
    answer: Json = json.loads(run.output)
    gpu = answer['data']['gpu']
    expect('summary busy_ns', truth['devices'][0]['busy_ns'], gpu['busy_ns'])
    expect('summary sum_ns', gpu_sum(truth), gpu['sum_ns'])
    expect('coverage total_ns', gpu_sum(truth), answer['coverage']['total_ns'])
    expect('coverage sums to total', gpu_sum(truth),
           sum(answer['coverage']['module'].values()))
    return answer


def check_info(truth: Json, info: Json) -> None:
    for key in ('n_events', 'by_ph', 'by_cat', 'n_kernels', 'n_memcpy', 'n_memset',
                'kernel_sum_ns', 'memcpy_sum_ns', 'memset_sum_ns', 'kernels_without_launch',
                'activities_without_call'):
        expect('info ' + key, truth[key], info[key])
    for key in ('n', 'graph', 'without_activity', 'max_kernels', 'graph_kernel_sum_ns'):
        expect('info launches ' + key, truth['launches'][key], info['launches'][key])
    for key in ('n_scopes', 'n_classes', 'n_instances', 'max_depth'):
        expect('info modules ' + key, truth['modules'][key], info['modules'][key])
    expect('info n_ops', truth['ops']['n'], info['n_ops'])
    expect('info n_steps', len(truth['steps']), info['n_steps'])
    device, found = truth['devices'][0], info['devices'][0]
    for key in ('busy_ns', 'first_ns', 'last_ns'):
        expect('info ' + key, device[key], found[key])


def check_modules(truth: Json, modules: Json) -> None:
    exclusive: dict[str, list[int]] = {}
    for node in modules['nodes']:
        sums = exclusive.setdefault(node['instance'], [0, 0])
        sums[0] += node['kernel_excl_ns']
        sums[1] += node['calls']
    for name, module in truth['modules']['by_name'].items():
        expect('module ' + name, [module['kernel_excl_ns'], module['calls']], exclusive.get(name))
    expect('unattributed', truth['unattributed']['gpu_ns'], modules['unattributed']['gpu_ns'])


def check_steps(truth: Json, steps: Json) -> None:
    keys = ('name', 'phase', 'start_ns', 'cpu_ns', 'n_kernels', 'sum_ns', 'busy_ns', 'wall_ns')
    expect('number of steps', len(truth['steps']), len(steps['steps']))
    for step, found in zip(truth['steps'], steps['steps']):
        expect('step', [step[k] for k in keys], [found[k] for k in keys])


def check_kernels(truth: Json, run: Run) -> None:
    expect('kernels sum_ns', gpu_sum(truth), json.loads(run.output)['data']['total']['sum_ns'])


def check_layers(truth: Json, run: Run) -> None:
    data = json.loads(run.output)['data']
    expect('one row a layer', list(range(LAYERS)), [row['layer'] for row in data['rows']])
    decodes = sum(step['phase'] == 'decode' for step in truth['steps'])
    expect('every decode step is a whole pass', {decodes},
           {len(row['by_pass']) for row in data['rows']})


def check_answers(layerscope: Path, trace: Path, truth: Json) -> int:
    """Everything that the truth knows, before anything is timed. Returns the kept rows."""
    def data(verb: str) -> Json:
        answer = json.loads(run_once([str(layerscope), verb, str(trace), '--format',
                                      'json']).output)
        found: Json = answer['data']
        return found
    info = data('info')
    check_info(truth, info)
    check_modules(truth, data('modules'))
    check_steps(truth, data('steps'))
    cats = ('cuda_runtime', 'cuda_driver', 'user_annotation', 'gpu_user_annotation')
    rows = sum(info['by_cat'].get('X|' + cat, 0) for cat in cats)
    rows += info['n_kernels'] + info['n_memcpy'] + info['n_memset'] + info['n_ops']
    rows += info['modules']['n_scopes']
    expect('kept rows', truth['kept_rows'], rows)
    return int(rows)


# ---- measuring

class Bench:
    def __init__(self, build: Path, runs: int) -> None:
        self.layerscope = build / 'layerscope'
        self.floor = build / 'layerscope-floor'
        self.gen = build / 'layerscope-gen'
        self.runs = runs
        self.results: Json = {}

    def summary_command(self, trace: Path, threads: int) -> list[str]:
        return [str(self.layerscope), 'summary', str(trace), '--format', 'json', '--threads',
                str(threads)]

    def alternate(self, truth: Json, commands: dict[str, list[str]],
                  runs: int) -> dict[str, Series]:
        """Runs the commands in turn, `runs` times; each answer is checked."""
        series = {name: Series() for name in commands}
        answers: set[str] = set()
        for _ in range(runs):
            for name, command in commands.items():
                run = run_once(command)
                if name == 'floor':
                    check_floor(truth, run)
                else:
                    answer = check_summary(truth, run)
                    # `next` names the file, all else is the same for a file and its damaged copy.
                    data = {key: value for key, value in answer['data'].items() if key != 'next'}
                    answers.add(json.dumps([data, answer['coverage']], sort_keys=True))
                series[name].runs.append(run)
        if len(answers) > 1:
            raise WrongAnswer('summary differs between runs or numbers of threads')
        return series

    def against_floor(self, title: str, trace: Path, truth: Json, rows: int) -> None:
        warm(trace)
        series = self.alternate(truth, {
            'floor': [str(self.floor), str(trace)],
            '2 threads': self.summary_command(trace, 2),
            '1 thread': self.summary_command(trace, 1)}, self.runs)
        floor, two, one = series['floor'], series['2 threads'], series['1 thread']
        print(f'\n{title}: {trace.stat().st_size / 1e6:.0f} MB, {truth["n_events"]} events, '
              'answers equal the truth')
        print(f'  {"":22} {"wall min":>9} {"median":>9} {"CPU min":>9} {"median":>9} {"peak MB":>9}')
        for name, s in series.items():
            label = 'floor' if name == 'floor' else 'summary, ' + name
            print(f'  {label:22} {s.min_wall():9.3f} {s.wall():9.3f} {s.min_cpu():9.3f} '
                  f'{s.cpu():9.3f} {s.peak() / 1e6:9.1f}')
        allowed = MEMORY_PER_ROW * rows + MEMORY_FIXED
        peak = max(two.peak(), one.peak())
        self.verdict(title + ' wall', two.wall() / floor.wall(), RAW_LIMIT, 'x the floor')
        self.verdict(title + ' CPU, 1 thread', one.cpu() / floor.cpu(), CPU_LIMIT, 'x the floor')
        self.verdict(title + ' peak memory', peak / 1e6, allowed / 1e6,
                     f'MB (100 bytes x {rows} kept rows + 100 MB)')

    def growth(self, traces: list[tuple[Path, Json]]) -> None:
        print('\ngrowth (summary, 2 threads)')
        for trace, truth in traces:
            warm(trace)
            runs = 1 if trace.stat().st_size > 1e9 else self.runs
            series = self.alternate(truth, {'2 threads': self.summary_command(trace, 2)}, runs)
            s = series['2 threads']
            size = trace.stat().st_size
            print(f'  {size / 1e6:8.0f} MB  {s.min_wall():8.3f} s  {s.min_cpu():8.3f} s CPU  '
                  f'{s.min_wall() / size * 1e9:7.2f} s/GB  peak {s.peak() / 1e6:.1f} MB')
            self.results[f'growth {trace.stem}'] = {
                'bytes': size, 'wall_s': s.min_wall(), 'cpu_s': s.min_cpu(), 'peak': s.peak()}

    def dirty(self, trace: Path, truth: Json) -> None:
        dirty = make_dirty(trace)
        warm(trace)
        warm(dirty)
        series = self.alternate(truth, {'clean': self.summary_command(trace, 2),
                                        'dirty': self.summary_command(dirty, 2)}, self.runs)
        health = json.loads(series['dirty'].runs[0].output)['health']
        repairs = [entry['count'] for entry in health if entry['code'] == 'repaired_text']
        expect('repairs', [1], repairs)
        print('\none stray control character: one repair')
        ratio = series['dirty'].wall() / series['clean'].wall()
        self.verdict('dirty wall', ratio, DIRTY_LIMIT, 'x the clean file')

    def layers(self, trace: Path, truth: Json) -> None:
        """What passes and layers cost on top of reading and attributing the same file."""
        warm(trace)
        print('\npasses and layers (layers --all-passes against kernels)')
        for threads in (2, 1):
            common = [str(trace), '--format', 'json', '--threads', str(threads)]
            commands = {'kernels': [str(self.layerscope), 'kernels', *common],
                        'layers': [str(self.layerscope), 'layers', '--all-passes', '--phase',
                                   'decode', *common]}
            checks = {'kernels': check_kernels, 'layers': check_layers}
            series = {name: Series() for name in commands}
            for _ in range(self.runs):
                for name, command in commands.items():
                    run = run_once(command)
                    checks[name](truth, run)
                    series[name].runs.append(run)
            kernels, layers = series['kernels'], series['layers']
            self.verdict(f'layers wall, {threads} threads', layers.wall() / kernels.wall(),
                         LAYERS_LIMIT, 'x kernels')
            self.verdict(f'layers CPU, {threads} threads', layers.cpu() / kernels.cpu(),
                         LAYERS_LIMIT, 'x kernels')

    def verdict(self, what: str, value: float, limit: float, unit: str) -> None:
        word = 'within' if value <= limit else 'OVER'
        print(f'  {what:28} {value:8.2f} {unit}, {word} {limit:.2f}')
        self.results[what] = {'value': value, 'limit': limit}


def read_truth(trace: Path) -> Json:
    truth: Json = json.loads(trace.with_suffix('.truth').read_text())
    return truth


def run_bench(bench: Bench, args: argparse.Namespace) -> None:
    data, quick = args.data, args.quick
    if args.nsys:
        NsysPoint(args.build, data, bench.runs).run(bench.verdict, quick)
        return
    if not args.replay:
        run_reading(bench, data, quick)
    point = ReplayPoint(bench.layerscope, bench.floor, bench.gen, data, bench.runs)
    point.run(bench.verdict, quick)


def run_reading(bench: Bench, data: Path, quick: bool) -> None:
    events = QUICK_EVENTS if quick else BIG_EVENTS
    big = make_trace(bench.gen, data, 'quick' if quick else 'big', events)
    small = make_trace(bench.gen, data, 'quick_small' if quick else 'small', events // 10)
    packed = make_gzip(big)
    truth = read_truth(big)
    rows = check_answers(bench.layerscope, big, truth)
    print(f'counts, modules and steps of {big.name} equal the truth')
    bench.against_floor('raw', big, truth, rows)
    bench.against_floor('gzip', packed, truth, rows)
    bench.layers(big, truth)
    bench.dirty(big, truth)
    sizes = [(small, read_truth(small)), (big, truth)]
    if not quick:
        huge = make_trace(bench.gen, data, 'huge', events * 4)
        sizes.append((huge, read_truth(huge)))
    bench.growth(sizes)

def main() -> int:
    parser = argparse.ArgumentParser(description='layerscope against the floor program')
    parser.add_argument('--build', type=Path, required=True, help='folder of the built programs')
    parser.add_argument('--data', type=Path, default=Path('build/bench'), help='generated traces')
    parser.add_argument('--runs', type=int, default=5, help='alternating runs of each program')
    parser.add_argument('--replay', action='store_true', help='the replays of graphs alone')
    parser.add_argument('--nsys', action='store_true', help='Nsight Systems databases alone')
    parser.add_argument('--quick', action='store_true', help='50 MB instead of 500 MB and 2 GB')
    args = parser.parse_args()
    bench = Bench(args.build, args.runs)
    for program in (bench.layerscope, bench.floor, bench.gen):
        if not program.exists():
            print(f'{program} is missing: cmake --build {args.build}', file=sys.stderr)
            return 2
    args.data.mkdir(parents=True, exist_ok=True)
    try:
        run_bench(bench, args)
    except WrongAnswer as wrong:
        print(f'WRONG ANSWER: {wrong}', file=sys.stderr)
        return 1
    (args.data / 'results.json').write_text(json.dumps(bench.results, indent=1) + '\n')
    return 0


if __name__ == '__main__':
    sys.exit(main())
