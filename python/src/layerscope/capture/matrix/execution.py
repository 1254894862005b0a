"""Runs what a matrix lacks, and keeps the results run by run."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from layerscope.capture.counted import counted
from layerscope.capture.drive.drive_plan import DrivePlan
from layerscope.capture.drive.drive_run import LOG, DriveSummary, run_drive
from layerscope.capture.errors import CaptureError, say
from layerscope.capture.in_engine.settings import Point
from layerscope.capture.kept_logs import kept_place
from layerscope.capture.matrix.declaration import Declaration
from layerscope.capture.matrix.found_recordings import note_found, status_of
from layerscope.capture.matrix.measurement import host_times, measured_points
from layerscope.capture.matrix.planned_runs import PlannedRun
from layerscope.capture.matrix.result_table import DONE, FAILED, RECORDED, ResultTable

# Points that may fail by themselves, after all of them failed together, before a run is given up.
_TRIES_ALONE = 2

Drive = Callable[[DrivePlan, Path], DriveSummary]


def run_partly(plan: DrivePlan, folder: Path) -> DriveSummary:
    """Keeps a recording that has some of the points."""
    return run_drive(plan, folder, all_points=False)


@dataclass
class Tally:
    """Points by what became of them in this call."""

    kept: int = 0  # had a result before
    recorded: int = 0
    failed: int = 0


def missing_runs(declaration: Declaration, run: PlannedRun, table: ResultTable) -> list[PlannedRun]:
    """What is left of a run: nothing, one run of the points without a recording, or one each.

    Points that failed before are tried again, each by itself, so that one that does not fit takes
    no other along; but together where nothing of the run was ever recorded, for then it may not
    have been for a single point.
    """
    there = table.points(run, (DONE, RECORDED))
    missing = sorted(run.plan.points - there.keys())
    alone = table.points(run, (FAILED,)) if there else {}
    if declaration.flags["isolate"]:
        alone = dict.fromkeys(missing, "")
    together = [point for point in missing if point not in alone]
    parts = _products(together)
    parts += [[point] for point in _smallest_first(missing) if point in alone]
    return [run.of_points(points) for points in parts]


def _products(points: Iterable[Point]) -> list[list[Point]]:
    """The points in groups of batches x past lengths, which are what a run can be asked for."""
    pasts: dict[int, list[int]] = {}
    for batch, past in sorted(points):
        pasts.setdefault(batch, []).append(past)
    groups: dict[tuple[int, ...], list[Point]] = {}
    for batch, found in pasts.items():
        groups.setdefault(tuple(found), []).extend((batch, past) for past in found)
    return list(groups.values())


def _smallest_first(points: Iterable[Point]) -> list[Point]:
    return sorted(points, key=lambda point: (point[0] * point[1], point))


def _folder_name(run: PlannedRun, output: Path) -> str:
    """A folder that is not there yet, nor the log of one: recordings of earlier calls stay."""
    for number in range(1, 10_000):
        name = f"{run.name}__{number}"
        if not (output / name).exists() and not kept_place(output / name, LOG).exists():
            return name
    raise CaptureError(f"{output} holds 9999 recordings of {run.name}", "move old ones away")


class _Recorder:
    """Runs what is left of one run, and notes it in the table."""

    def __init__(
        self, run: PlannedRun, declaration: Declaration, table: ResultTable, drive: Drive
    ) -> None:
        self._run = run
        self._output = declaration.output
        self._table = table
        self._drive = drive
        self._is_isolated = declaration.flags["isolate"]
        self._failed_alone: list[CaptureError] = []

    def record(self, part: PlannedRun) -> int:
        """Returns the number of points that failed.

        Where some of several points left no recording, each is run again by itself.
        """
        points = sorted(part.plan.points)
        failed = self._try(part, points)
        if len(points) == 1 or not failed:
            return len(failed)
        say(f"{part.name}: {counted(len(failed), 'point')} again, each by itself")
        alone = [self._run.of_points([point]) for point in _smallest_first(failed)]
        return sum(len(self._try(one, sorted(one.plan.points))) for one in alone)

    def _try(self, part: PlannedRun, points: Sequence[Point]) -> list[Point]:
        """Runs and notes it; returns the points that have no recording now."""
        if len(points) == 1 and not self._is_isolated and self._is_hopeless():
            self._skip(points[0])
            return list(points)
        name = _folder_name(part, self._output)
        folder = self._output / name
        try:
            summary = self._drive(part.plan, folder)
        except CaptureError as error:
            say(f"{part.name}: {error}", to=sys.stderr, in_one_line=False)
            log = kept_place(folder, LOG)
            where = log.name if log.exists() else ""
            self._table.put(part, points, FAILED, folder=where, error=error.message)
            self._remove_old_logs()
            if len(points) == 1:
                self._failed_alone.append(error)
            return list(points)
        status = status_of(part.plan)
        there = [point for point in points if point in summary.steps]
        version, times = summary.version, host_times(folder)
        self._table.put(part, there, status, folder=name, version=version, host_ns=times)
        self._remove_old_logs()
        return [point for point in points if point not in summary.steps]

    def _remove_old_logs(self) -> None:
        """Those of earlier tries of this run, which no row names any more."""
        named = self._table.folders()
        for log in self._output.glob(f"{self._run.name}__*.{LOG}"):
            if log.name not in named:
                log.unlink(missing_ok=True)

    def _is_hopeless(self) -> bool:
        """Whether every point would fail: the model is not there, the engine does not start."""
        tried = len(self._failed_alone) >= _TRIES_ALONE
        return tried and not self._table.points(self._run, (DONE, RECORDED))

    def _skip(self, point: Point) -> None:
        said = "not tried, as those before failed, too (isolate = true tries each): "
        error = said + self._failed_alone[-1].message
        self._table.put(self._run, [point], FAILED, folder="", error=error)


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
        say(f"{run.name}: {error}", to=sys.stderr, in_one_line=False)
        return len(points)
    times = host_times(folder)
    there = [point for point in points if point in found]
    table.put(run, there, DONE, folder=name, version=version, measured=found, host_ns=times)
    lost = [point for point in points if point not in found]
    if lost:
        said = "the recording shows no step of this batch and past length"
        say(f"{run.name}: {counted(len(lost), 'point')}: {said}", to=sys.stderr)
    return len(lost)


def run_matrix(
    declaration: Declaration,
    runs: Sequence[PlannedRun],
    table: ResultTable,
    *,
    drive: Drive,
) -> Tally:
    """Records every point that has no recording of the same settings. A run that fails is noted."""
    tally = Tally()
    for run in runs:
        note_found(run, declaration.output, table)
        left = missing_runs(declaration, run, table)
        points = len(run.plan.points)
        tally.kept += points - sum(len(part.plan.points) for part in left)
        recorder = _Recorder(run, declaration, table, drive)
        for part in left:
            say(f"{part.name}: {counted(len(part.plan.points), 'point')}")
            failed = recorder.record(part)
            tally.failed += failed
            tally.recorded += len(part.plan.points) - failed
    return tally
