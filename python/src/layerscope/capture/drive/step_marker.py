"""Ranges around the decode steps that were asked for, and a line for each."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from layerscope.capture.drive.engine_steps import Point
from layerscope.capture.hooks.process_rank import process_rank
from layerscope.capture.hooks.range_backends import RangeBackend
from layerscope.capture.hooks.settings import ARMED, StepSettings

_LOG = logging.getLogger("layerscope.drive")


class StepMarker:
    """Opens the ranges, and writes a line a marked step: {"n", "batch", "past", "host_ns"}.

    `host_ns` is what the step took the calling thread; GPU time is in the trace.
    """

    def __init__(self, steps: StepSettings, backend: RangeBackend, folder: Path) -> None:
        self._steps = steps
        self._backend = backend
        self._folder = folder
        self._armed = folder / ARMED
        self._number = 0
        self._inside = False

    def run(self, point: Point | None, step: Callable[[], Any]) -> Any:
        """Runs the step; in a range where its point is wanted and the warm-up is over."""
        if self._inside or point is None or point not in self._steps.points:
            return step()  # inside: a derived class calls the method of its base
        if not self._armed.exists():
            return step()
        self._inside = True
        try:
            return self._run_wanted(point, step)
        finally:
            self._inside = False

    def _run_wanted(self, point: Point, step: Callable[[], Any]) -> Any:
        number, self._number = self._number, self._number + 1
        token = self._backend.open(step_text(number, point), "")
        begin = time.monotonic_ns()
        try:
            result = step()
        except BaseException as error:
            self._backend.close(token, error)
            raise
        took_ns = time.monotonic_ns() - begin
        self._backend.close(token, None)
        self._note(number, point, took_ns)
        return result

    def _note(self, number: int, point: Point, took_ns: int) -> None:
        entry = {"n": number, "batch": point[0], "past": point[1], "host_ns": took_ns}
        try:
            with (self._folder / steps_name(process_rank())).open("a") as file:
                file.write(json.dumps(entry) + "\n")
        except OSError as error:
            _LOG.error("layerscope: a marked step could not be noted: %s", error)


def step_text(number: int, point: Point) -> str:
    """The name of a step's range."""
    return f"bench_step::{number}::bs::{point[0]}::past::{point[1]}::phase::decode"


def steps_name(rank: int) -> str:
    """The file of a rank's marked steps; a line of JSON each."""
    return f"bench_steps_rank{rank}.jsonl"
