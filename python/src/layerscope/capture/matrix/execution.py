"""Runs what a matrix lacks, and keeps the results run by run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from layerscope.capture.drive.drive_plan import DrivePlan
from layerscope.capture.drive.drive_run import DriveSummary, run_drive
from layerscope.capture.errors import CaptureError
from layerscope.capture.matrix.declaration import Declaration
from layerscope.capture.matrix.measurement import host_times, measured_points
from layerscope.capture.matrix.planned_runs import PlannedRun, Point
from layerscope.capture.matrix.result_table import DONE, FAILED, RECORDED, ResultTable

Drive = Callable[[DrivePlan, Path], DriveSummary]


@dataclass
class Tally:
    """Points by what became of them in this call."""

    kept: int = 0  # had a result before
    recorded: int = 0
    failed: int = 0


def missing_runs(declaration: Declaration, run: PlannedRun, table: ResultTable) -> list[PlannedRun]:
    """What is left of a run: nothing, one run of the points without a recording, or one each.

    A point that failed before is tried again.
    """
    there = table.points(run, (DONE, RECORDED))
    missing = sorted(run.plan.points - there.keys())
    if not missing:
        return []
    if declaration.flags["isolate"]:
        return [run.of_points([point]) for point in missing]
    return [run.of_points(missing)]


def _folder_name(run: PlannedRun, output: Path) -> str:
    """A folder that is not there yet: recordings of earlier calls stay."""
    for number in range(1, 10_000):
        name = f"{run.name}__{number}"
        if not (output / name).exists():
            return name
    raise CaptureError(f"{output} holds 9999 recordings of {run.name}", "move old ones away")


def _record(run: PlannedRun, declaration: Declaration, table: ResultTable, drive: Drive) -> int:
    """Runs and notes it; returns the number of points that failed."""
    points = sorted(run.plan.points)
    name = _folder_name(run, declaration.output)
    try:
        summary = drive(run.plan, declaration.output / name)
    except CaptureError as error:
        print(f"{run.name}: {error}", file=sys.stderr)
        table.put(run, points, FAILED, folder=name, error=error.message)
        return len(points)
    folder = declaration.output / name
    # Without a recording there is nothing to read later.
    status = DONE if run.plan.profiler == "none" else RECORDED
    times = host_times(folder)
    table.put(run, points, status, folder=name, version=summary.version, host_ns=times)
    return 0


def read_recordings(
    declaration: Declaration, runs: Sequence[PlannedRun], table: ResultTable, program: str
) -> int:
    """Fills in the times of all that was recorded and not read yet; returns failures."""
    failed = 0
    for run in runs:
        waiting = table.points(run, (RECORDED,))
        for name in sorted(set(waiting.values())):
            points = sorted(point for point, folder in waiting.items() if folder == name)
            failed += _read(declaration, run, points, name, table, program)
    return failed


def _read(
    declaration: Declaration,
    run: PlannedRun,
    points: Sequence[Point],
    name: str,
    table: ResultTable,
    program: str,
) -> int:
    folder = declaration.output / name
    version = table.version_of(run, points[0])
    try:
        found = measured_points(program, folder, modules=declaration.flags["modules"])
    except CaptureError as error:
        print(f"{run.name}: {error}", file=sys.stderr)
        return len(points)
    times = host_times(folder)
    there = [point for point in points if point in found]
    table.put(run, there, DONE, folder=name, version=version, measured=found, host_ns=times)
    lost = [point for point in points if point not in found]
    if lost:
        said = "the recording shows no step of this batch and past length"
        print(f"{run.name}: {len(lost)} points: {said}", file=sys.stderr)
    return len(lost)


def run_matrix(
    declaration: Declaration,
    runs: Sequence[PlannedRun],
    table: ResultTable,
    *,
    drive: Drive = run_drive,
) -> Tally:
    """Records every point that has no recording of the same settings. A run that fails is noted."""
    tally = Tally()
    for run in runs:
        left = missing_runs(declaration, run, table)
        points = len(run.plan.points)
        tally.kept += points - sum(len(part.plan.points) for part in left)
        for part in left:
            print(f"{part.name}: {len(part.plan.points)} points", flush=True)
            failed = _record(part, declaration, table, drive)
            tally.failed += failed
            tally.recorded += len(part.plan.points) - failed
    return tally
