"""Reads a recording with the layerscope engine: times of each marked batch and past length."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from layerscope.capture.drive.recordings import recordings
from layerscope.capture.errors import CaptureError
from layerscope.capture.in_engine.marked_steps import marked_steps
from layerscope.capture.in_engine.settings import Point
from layerscope.capture.matrix.result_table import TIMES

Measured = dict[Point, list[dict[str, Any]]]


def _sweep(program: str, files: list[Path], options: list[str]) -> list[dict[str, Any]]:
    words = [program, "steps", *map(str, files), "--format", "json", *options]
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise CaptureError(f"layerscope cannot read the recording: {done.stderr.strip()}")
        document = json.loads(done.stdout)
    except (OSError, ValueError) as error:
        raise CaptureError(f"{program} gave no answer: {error}", f"{program} --version") from error
    several = document.get("ranks") or [{"rank": None, "data": document["data"]}]
    return [
        {**row, "rank": rank["rank"] if row.get("rank") is None else row["rank"]}
        for rank in several
        for row in rank["data"].get("sweep") or []
    ]


def _rows_of(sweep: list[dict[str, Any]]) -> Measured:
    found: Measured = {}
    for row in sweep:
        if row.get("past") is None or row.get("phase") not in ("decode", None):
            continue
        kept = {name: row.get(name) for name in TIMES}
        place = {"rank": row["rank"] or 0, "device": str(row.get("device", ""))}
        found.setdefault((int(row["batch"]), int(row["past"])), []).append(
            {**kept, **place, "module": row.get("key") or ""}
        )
    return found


def measured_points(program: str, folder: Path, *, modules: bool) -> Measured:
    """What `layerscope steps` says of each point: the whole step and, if asked, its modules.

    Raises CaptureError where there is no recording, or none can be read; where some cannot, as a
    trace of a recording that broke off, that is printed.
    """
    groups = recordings(folder)
    if not groups:
        raise CaptureError(f"{folder} holds no recording")
    found: Measured = {}
    unread: list[CaptureError] = []
    for files in groups:
        try:
            rows = _measured(program, files, modules=modules)
        except CaptureError as error:
            unread.append(error)
            continue
        for point, more in rows.items():
            found.setdefault(point, []).extend(more)
    if len(unread) == len(groups):
        raise unread[0]
    for problem in unread:
        print(f"{folder.name}: {problem}", file=sys.stderr)
    return found


def _measured(program: str, files: list[Path], *, modules: bool) -> Measured:
    found = _rows_of(_sweep(program, files, []))
    if modules:
        for point, rows in _rows_of(_sweep(program, files, ["--by", "module"])).items():
            found.setdefault(point, []).extend(row for row in rows if row["module"])
    return found


def host_times(folder: Path) -> dict[Point, int]:
    """The median time that a marked step took the thread of rank 0, in ns."""
    times: dict[Point, list[int]] = {}
    for step in marked_steps(folder):
        times.setdefault(step.point, []).append(step.host_ns)
    return {point: int(statistics.median(found)) for point, found in times.items()}
