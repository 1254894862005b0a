"""What it costs to give a million replayed kernels their modules from a capture of 600 launches.

The run replays one graph of 46 layers; the capture lies beside it. Answers are checked before a time
is told, against the generator's truth for one launch and the text of the trace: every kernel's place
in its launch is its place in the capture. Where kernels of a launch are lost, the places that fit
lie between the first and the last way to lay the launch into the capture; a module may have no more
than the kernels that may be its own.
"""
from __future__ import annotations

import json
import re
import statistics
import subprocess
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

from measure import Json, Run, WrongAnswer, digest, expect, run_once, warm

LAYERS, LAUNCHES = 46, 601  # 13 kernels a layer, three around them
PASSES = 1664               # of 601 kernels: one million
LOST = 6                    # of each launch, other ones in each
LIMIT_S, FLOOR_LIMIT, LINEAR_LIMIT = 1.0, 2.0, 1.15
EVENT = re.compile(rb'"cat": "kernel", "name": "(.*?)", .*"dur": ([0-9.]+),.*"correlation": (\d+)')
STAGE = re.compile(r'^  (\w+) +([0-9.]+) (us|ms|s)$', re.MULTILINE)
SECONDS = {'us': 1e-6, 'ms': 1e-3, 's': 1.0}
Verdict = Callable[[str, float, float, str], None]
Modules = dict[str, list[int]]  # by innermost module: nanoseconds, kernels


def stages(run: Run) -> dict[str, float]:
    """Seconds by stage, of --stats."""
    return {name: float(number) * SECONDS[unit]
            for name, number, unit in STAGE.findall(run.errors.decode())}


def replays(trace: Path) -> Iterator[list[tuple[bytes, int]]]:
    """The kernels of each graph launch as (name, nanoseconds), in the trace's order."""
    launch: list[tuple[bytes, int]] = []
    last = b''
    with trace.open('rb') as file:
        for line in file:
            found = EVENT.search(line)
            if not found:
                continue
            if found[3] != last and launch:
                yield launch
                launch = []
            last = found[3]
            launch.append((found[1], round(float(found[2]) * 1000)))
    yield launch


def embed(names: list[bytes], captured: list[bytes]) -> list[int]:
    """The first places in `captured` that hold `names` in order."""
    places, at = [], 0
    for name in names:
        at = captured.index(name, at)
        places.append(at)
        at += 1
    return places


class ReplayPoint:
    def __init__(self, layerscope: Path, floor: Path, gen: Path, data: Path, runs: int) -> None:
        self.layerscope, self.floor, self.gen = layerscope, floor, gen
        self.data, self.runs = data, runs
        self.names: list[bytes] = []    # of the captured kernels
        self.modules: list[str] = []    # innermost, of the same

    def make(self, name: str, options: list[str]) -> Path:
        """The folder of a serving run, made anew only when generator or options changed."""
        options = ['--layers', str(LAYERS), *options]
        key = digest(self.gen) + ' ' + ' '.join(options)
        folder, stamp = self.data / name, self.data / (name + '.key')
        if not (stamp.exists() and stamp.read_text() == key and folder.exists()):
            print(f'making {name}', flush=True)
            stamp.unlink(missing_ok=True)
            subprocess.run([str(self.gen), 'serve', '-o', str(folder), *options], check=True)
            stamp.write_text(key)
        return folder

    def learn_capture(self) -> None:
        truth: Json = json.loads(
            (self.make('replay_one', ['--passes', '1']) / 'truth/run_rank0.json').read_text())
        rows = [row for row in truth['activities'] if row['graph'] == 0]
        expect('launches of the capture', LAUNCHES, len(rows))
        self.names = [row['name'].encode() for row in rows]
        self.modules = [row['modules'][-1] for row in rows]

    def command(self, folder: Path) -> list[str]:
        return [str(self.layerscope), 'modules', str(trace_of(folder)), '--capture-trace',
                str(folder / 'capture_traces'), '--format', 'json', '--threads', '2', '--stats']

    def bounds(self, folder: Path) -> tuple[Modules, Modules]:
        """By module: what is certainly its own, and what may be."""
        least: Modules = defaultdict(lambda: [0, 0])
        most: Modules = defaultdict(lambda: [0, 0])
        known = set(self.names)
        for launch in replays(trace_of(folder)):
            names = [name for name, _ in launch]
            if len(names) < LAUNCHES // 2 or not known.issuperset(names):
                continue  # launched by itself
            first = embed(names, self.names)
            last = [LAUNCHES - 1 - place for place in embed(names[::-1], self.names[::-1])][::-1]
            for (_, dur_ns), low, high in zip(launch, first, last):
                owners = set(self.modules[low:high + 1])
                for module in owners:
                    add(most[module], dur_ns)
                if len(owners) == 1:
                    add(least[self.modules[low]], dur_ns)
        return least, most

    def check(self, folder: Path, run: Run, lossy: bool) -> float:
        """Checks every module that the capture names. Returns the share that found its module."""
        data: Json = json.loads(run.output)['data']
        least, most = self.bounds(folder)
        found: Modules = defaultdict(lambda: [0, 0])
        for node in data['nodes']:
            if 'capture_alignment' in node['evidence']:
                found[node['instance']][0] += node['kernel_excl_ns']
                found[node['instance']][1] += node['kernels_excl']
        if not lossy:
            expect('modules of the replayed kernels', dict(least), dict(found))
        for module, (ns, kernels) in found.items():
            if ns > most[module][0] or kernels > most[module][1]:
                raise WrongAnswer(f'{module} has {kernels} kernels, {most[module][1]} may be its own')
        graph = data['alignment'][0]
        expect('matched kernels', graph['matched'], sum(n for _, n in found.values()))
        total = graph['matched'] + graph['mismatched']
        certain = sum(n for _, n in least.values())
        if graph['matched'] < 0.99 * certain:
            raise WrongAnswer(f"{graph['matched']} of {certain} certain kernels have a module")
        return float(graph['matched'] / total)

    def measure(self, folder: Path, lossy: bool) -> tuple[list[Run], float]:
        trace = trace_of(folder)
        warm(trace)
        runs = [run_once(self.command(folder))]
        share = self.check(folder, runs[0], lossy)
        for _ in range(self.runs - 1):
            runs.append(run_once(self.command(folder)))
            expect('the same answer', json.loads(runs[0].output)['data'],
                   json.loads(runs[-1].output)['data'])
        return runs, share

    def tell(self, title: str, folder: Path, lossy: bool, verdict: Verdict) -> None:
        runs, share = self.measure(folder, lossy)
        floor = statistics.median(
            run_once([str(self.floor), str(trace_of(folder))]).wall_s for _ in runs)
        seconds = [stages(run) for run in runs]
        replay = statistics.median(s['replay'] for s in seconds)
        read = statistics.median(s['read'] for s in seconds)
        print(f'\n{title}: {trace_of(folder).stat().st_size / 1e6:.0f} MB, {share:.2%} of the '
              f'replayed kernels have a module, all that may be theirs')
        print(f'  read {read:.3f} s, replay {replay:.3f} s (fastest '
              f'{min(s["replay"] for s in seconds):.3f}), whole run '
              f'{statistics.median(r.wall_s for r in runs):.3f} s, floor {floor:.3f} s')
        verdict(title + ', stage', replay, LIMIT_S, 's')
        verdict(title + ', against floor', replay / floor, FLOOR_LIMIT, 'x the floor')
        print(f'  {"against reading":28} {replay / read:8.2f} x stage read')

    def run(self, verdict: Verdict, quick: bool) -> None:
        passes = PASSES // 10 if quick else PASSES
        lossy = ['--lose', str(LOST), '--lose-apart']
        self.learn_capture()
        sizes = {n: self.make(f'replay_{n}', ['--passes', str(n), '--no-truth'])
                 for n in (passes // 2, passes, 2 * passes)}
        self.tell(f'{passes * LAUNCHES} replayed kernels', sizes[passes], False, verdict)
        self.tell('with other kernels lost in each', self.make(
            f'replay_lossy_{passes}', ['--passes', str(passes), '--no-truth', *lossy]), True,
            verdict)
        peaks = {}
        print('\nmemory of resolution (peak of the process)')
        for n, folder in sizes.items():
            run = run_once(self.command(folder))
            self.check(folder, run, False)
            peaks[n] = run.peak_bytes
            print(f'  {n * LAUNCHES:10} kernels {run.peak_bytes / 1e6:9.1f} MB')
        half, whole, double = (peaks[n] for n in sizes)
        if quick:
            return  # the least that a process shows is more than what they keep
        print(f'  {(double - half) / (1.5 * passes * LAUNCHES):.0f} bytes a kernel')
        verdict('memory, second half', (double - whole) / (2 * max(whole - half, 1)), LINEAR_LIMIT,
                'x the first (1 = linear)')


def trace_of(folder: Path) -> Path:
    return folder / 'run/rank0.pt.trace.json'


def add(sums: list[int], dur_ns: int) -> None:
    sums[0] += dur_ns
    sums[1] += 1
