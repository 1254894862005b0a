"""What an Nsight Systems database of 2 GB costs, against stepping once through its rows.

The run is a decode sweep whose graphs are recorded node by node: 15 M kernels, 2.8 M NVTX ranges. Sums
are checked against SQL over the same file before a time is told. Both programs run in turn, so that a
busy machine slows both.
"""
from __future__ import annotations

import json
import sqlite3
import subprocess
from pathlib import Path

from measure import Json, Run, Series, digest, expect, run_once, warm
from replay_point import Verdict

OPTIONS = ['--layers', '36', '--steps', '4', '--all-reduce']
KERNELS, QUICK_KERNELS = 15_000_000, 400_000  # 2 GB and 54 MB
VERBS = ('modules', 'steps')
FLOOR_LIMIT, LINEAR_LIMIT = 1.5, 1.15
ACTIVITIES = ('CUPTI_ACTIVITY_KIND_KERNEL', 'CUPTI_ACTIVITY_KIND_MEMCPY', 'CUPTI_ACTIVITY_KIND_MEMSET')


class NsysPoint:
    def __init__(self, build: Path, data: Path, runs: int) -> None:
        self.layerscope, self.gen = build / 'layerscope', build / 'layerscope-gen'
        self.floor = build / 'layerscope-floor-nsys'
        self.data, self.runs = data, runs

    def make(self, kernels: int) -> Path:
        """A database, made anew only when generator or options changed."""
        options = [*OPTIONS, '--kernels', str(kernels)]
        key = digest(self.gen) + ' ' + ' '.join(options)
        file, stamp = self.data / f'nsys_{kernels}.sqlite', self.data / f'nsys_{kernels}.key'
        if not (stamp.exists() and stamp.read_text() == key and file.exists()):
            print(f'making {file.name}', flush=True)
            stamp.unlink(missing_ok=True)
            file.unlink(missing_ok=True)
            subprocess.run([str(self.gen), 'nsys', '-o', str(file), *options], check=True)
            stamp.write_text(key)
        return file

    def command(self, verb: str, file: Path) -> list[str]:
        return [str(self.layerscope), verb, str(file), '--format', 'json', '--threads', '2', '--stats']

    def tell(self, file: Path, verdict: Verdict) -> None:
        """Times of the verbs and of the floor program, in turn."""
        warm(file)
        truth = sums_of(file)
        series = {name: Series() for name in ('floor', *VERBS)}
        for _ in range(self.runs):
            for name, runs in series.items():
                run = run_once([str(self.floor), str(file)] if name == 'floor'
                               else self.command(name, file))
                check_floor(truth, run) if name == 'floor' else check_verb(truth, run)
                runs.runs.append(run)
        floor = series['floor']
        print(f'\n{file.stat().st_size / 1e6:.0f} MB, {truth["kernels"]} kernels, {truth["ranges"]} '
              f'ranges, sums equal those of SQL')
        print(f'  {"":12} {"wall min":>9} {"median":>9} {"CPU min":>9} {"median":>9} {"peak MB":>9}')
        for name, runs in series.items():
            print(f'  {name:12} {runs.min_wall():9.3f} {runs.wall():9.3f} {runs.min_cpu():9.3f} '
                  f'{runs.cpu():9.3f} {runs.peak() / 1e6:9.1f}')
        for verb in VERBS:
            verdict(f'nsys {verb}, 2 threads', series[verb].wall() / floor.wall(), FLOOR_LIMIT,
                    'x the floor')
        slowest = max((runs.runs[-1] for runs in series.values()), key=lambda run: run.wall_s)
        print(slowest.errors.decode(errors='replace').rstrip())

    def growth(self, files: dict[int, Path], verdict: Verdict, quick: bool) -> None:
        """Peak memory and time at a quarter, a half and the whole."""
        print('\ngrowth (modules, 2 threads)')
        peaks = []
        for kernels, file in files.items():
            warm(file)
            run = run_once(self.command('modules', file))
            peaks.append(run.peak_bytes)
            print(f'  {kernels:10} kernels {file.stat().st_size / 1e6:8.0f} MB {run.wall_s:8.3f} s '
                  f'{run.cpu_s:8.3f} s CPU  peak {run.peak_bytes / 1e6:8.1f} MB')
        if quick:
            return  # what a process shows before it keeps a row is too large a part
        quarter, half, whole = peaks
        print(f'  {(whole - quarter) / (0.75 * max(files)):.0f} bytes a kernel, ranges and calls included')
        verdict('nsys memory, second half', (whole - half) / (2 * max(half - quarter, 1)),
                LINEAR_LIMIT, 'x the first (1 = linear)')

    def run(self, verdict: Verdict, quick: bool) -> None:
        whole = QUICK_KERNELS if quick else KERNELS
        files = {kernels: self.make(kernels) for kernels in (whole // 4, whole // 2, whole)}
        self.tell(files[whole], verdict)
        self.growth(files, verdict, quick)


def sums_of(file: Path) -> Json:
    """Rows and nanoseconds of the GPU, by SQL."""
    connection = sqlite3.connect(f'file:{file}?mode=ro&immutable=1', uri=True)
    tables = {name for (name,) in connection.execute('SELECT name FROM sqlite_master')}
    gpu = [connection.execute(f'SELECT count(*), coalesce(sum("end" - start), 0) FROM {table}').fetchone()
           for table in ACTIVITIES if table in tables]
    ranges = connection.execute('SELECT count(*) FROM NVTX_EVENTS').fetchone()[0]
    connection.close()
    return {'kernels': gpu[0][0], 'gpu_ns': sum(ns for _, ns in gpu), 'ranges': ranges}


def check_floor(truth: Json, run: Run) -> None:
    rows = json.loads(run.output)['rows']
    expect('kernels of the floor', truth['kernels'], rows[ACTIVITIES[0]])
    expect('ranges of the floor', truth['ranges'], rows['NVTX_EVENTS'])


def check_verb(truth: Json, run: Run) -> None:
    """All time of the GPU is in the answer, and nearly all of it has a module or a step."""
    answer = json.loads(run.output)
    expect('total', truth['gpu_ns'], answer['coverage']['total_ns'])
    data = answer['data']
    if 'nodes' in data:
        own = sum(node['gpu_excl_ns'] for node in data['nodes'])
        expect('modules and unattributed', truth['gpu_ns'], own + data['unattributed']['gpu_ns'])
    else:
        inside = sum(step['sum_ns'] for step in data['steps'])
        expect('steps and outside', truth['gpu_ns'], inside + data['outside']['gpu_ns'])
