"""Reads a recording with the layerscope engine: times of each marked batch and past length."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from layerscope.capture.drive.recordings import recordings
from layerscope.capture.errors import CaptureError, say
from layerscope.capture.in_engine.marked_steps import marked_steps
from layerscope.capture.in_engine.settings import Point
from layerscope.capture.layerscope_program import ask
from layerscope.capture.matrix.result_table import TIMES

Measured = dict[Point, list[dict[str, Any]]]

# As layerscope's tables show the model itself, whose path is empty; "" is the whole step.
ROOT = "[model]"


def _step_rows(document: Any) -> Measured:
    return _rows_of(document, lambda row: "")


def _module_rows(document: Any) -> Measured:
    return _rows_of(document, lambda row: str(row["key"] or ROOT))


def _rows_of(document: Any, module: Callable[[dict[str, Any]], str]) -> Measured:
    """The sweep of a document, whose rows get the name that `module` gives."""
    found: Measured = {}
    for part in document.get("ranks") or [{"rank": None, "data": document["data"]}]:
        for row in part["data"].get("sweep") or []:
            if row.get("past") is None or row.get("phase") not in ("decode", None):
                continue
            rank = part["rank"] if row.get("rank") is None else row["rank"]
            kept = {name: row.get(name) for name in TIMES}
            place = {"rank": rank or 0, "device": str(row.get("device", ""))}
            found.setdefault((int(row["batch"]), int(row["past"])), []).append(
                {**kept, **place, "module": module(row)}
            )
    return found


def measured_points(program: str, folder: Path, *, modules: bool) -> Measured:
    """What `layerscope steps` says of each point: the whole step and, if asked, its modules.

    Raises CaptureError where there is no recording, or none can be read; where some cannot, as a
    trace of a recording that broke off, that is printed.
    """
    try:
        groups = recordings(folder)
    except OSError as error:
        raise CaptureError(f"cannot read {folder}: {error.strerror}") from None
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
        say(f"{folder.name}: {problem}", to=sys.stderr, in_one_line=False)
    return found


def _measured(program: str, files: list[Path], *, modules: bool) -> Measured:
    words = ["steps", *map(str, files)]
    found = ask(program, words, _step_rows)
    if modules:
        for point, rows in ask(program, [*words, "--by", "module"], _module_rows).items():
            found.setdefault(point, []).extend(rows)
    return found


def host_times(folder: Path) -> dict[Point, int]:
    """The median time that a marked step took the thread of rank 0, in ns; of two the lower."""
    times: dict[Point, list[int]] = {}
    for step in marked_steps(folder):
        times.setdefault(step.point, []).append(step.host_ns)
    return {point: statistics.median_low(found) for point, found in times.items()}
