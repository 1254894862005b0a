"""Ranges around the decode steps that were asked for, and a line for each."""

from __future__ import annotations

import itertools
import logging
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from layerscope.capture.in_engine.marked_steps import MarkedStep, note_step
from layerscope.capture.in_engine.process_rank import process_rank
from layerscope.capture.in_engine.range_backends import RangeBackend
from layerscope.capture.in_engine.settings import Point, Round, StepSettings

_LOG = logging.getLogger("layerscope.drive")


class StepMarker:
    """Opens the ranges, and notes the marked steps in the folder."""

    def __init__(self, steps: StepSettings, backend: RangeBackend, folder: Path) -> None:
        self._steps = steps
        self._backend = backend
        self._folder = folder
        self._numbers = itertools.count()
        self._thread = threading.local()  # `inside`: a step of this thread is marked

    def run(self, point: Point | None, step: Callable[[], Any]) -> Any:
        """Runs the step; in a range where its point is wanted and the warm-up is over."""
        if point is None or point not in self._steps.points:
            return step()
        # Inside: a derived class calls the method of its base.
        if getattr(self._thread, "inside", False):
            return step()
        armed = Round.armed(self._folder)
        if armed is None or armed.batch != point[0]:  # or a part of a batch that does not fit
            return step()
        self._thread.inside = True
        try:
            return self._run_wanted(armed, point, step)
        finally:
            self._thread.inside = False

    def _run_wanted(self, armed: Round, point: Point, step: Callable[[], Any]) -> Any:
        number = next(self._numbers)
        token = self._backend.open(step_text(number, point), "")
        begin = time.monotonic_ns()
        try:
            result = step()
        except BaseException as error:
            self._backend.close(token, error)
            raise
        took_ns = time.monotonic_ns() - begin
        self._backend.close(token, None)
        self._note(MarkedStep(number, armed.input_len, *point, took_ns))
        return result

    def _note(self, step: MarkedStep) -> None:
        try:
            note_step(self._folder, process_rank(), step)
        except OSError as error:
            _LOG.error("layerscope: a marked step could not be noted: %s", error)


def step_text(number: int, point: Point) -> str:
    """The name of a step's range."""
    return f"bench_step::{number}::bs::{point[0]}::past::{point[1]}::phase::decode"
