"""Recordings that no row names: matrix was killed, or its table locked, before it noted them."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from layerscope.capture.counted import counted
from layerscope.capture.drive.drive_plan import PLAN_FILE, DrivePlan
from layerscope.capture.drive.drive_run import DriveSummary
from layerscope.capture.errors import CaptureError, say
from layerscope.capture.in_engine.marked_steps import steps_name
from layerscope.capture.in_engine.settings import Point
from layerscope.capture.matrix.measurement import host_times
from layerscope.capture.matrix.planned_runs import PlannedRun, fingerprint_of
from layerscope.capture.matrix.result_table import DONE, RECORDED, ResultTable


def status_of(plan: DrivePlan) -> str:
    """Of points that were recorded: without a profiler there is nothing to read later."""
    return DONE if plan.profiler == "none" else RECORDED


def note_found(run: PlannedRun, output: Path, table: ResultTable) -> None:
    """Notes those of a run that have points which it lacks, the newest first."""
    named = table.folders()
    for folder in _folders_of(run, output):
        if folder.name in named:
            continue
        try:
            plan, summary, times = _read(folder)
        except CaptureError as error:
            say(f"{folder.name} is left out: {error.message}", to=sys.stderr)
            continue
        if fingerprint_of(plan, summary.patches) != run.fingerprint:
            continue
        there = table.points(run, (DONE, RECORDED))
        points = sorted((run.plan.points & summary.steps.keys()) - there.keys())
        if not points:
            continue
        status, name, version = status_of(plan), folder.name, summary.version
        table.put(run, points, status, folder=name, version=version, host_ns=times)
        of_it = counted(len(points), "point")
        say(f"{name}: {of_it} of a recording that was not noted")


def _read(folder: Path) -> tuple[DrivePlan, DriveSummary, dict[Point, int]]:
    """What a drive left of itself. Raises CaptureError where that is damaged."""
    plan, summary = DrivePlan.load(folder / PLAN_FILE), DriveSummary.load(folder)
    times = host_times(folder)
    if lacking := summary.steps.keys() - times.keys():
        raise CaptureError(
            f"{folder / steps_name(0)} says nothing that can be read of "
            f"{counted(len(lacking), 'point')} that drive.summary names"
        )
    return plan, summary, times


def _folders_of(run: PlannedRun, output: Path) -> Iterator[Path]:
    pattern = re.compile(rf"{re.escape(run.name)}__(\d{{1,4}})")
    numbers = {int(m.group(1)): f for f in output.iterdir() if (m := pattern.fullmatch(f.name))}
    yield from (numbers[number] for number in sorted(numbers, reverse=True))
