"""Marks decode steps in the process that launches their kernels.

An engine's step is a method of its worker. It is wrapped, and where the step about to run decodes
one of the batches and past lengths that were asked for, a range
`bench_step::N::bs::B::past::P::phase::decode` is around it (docs/nsys.md). N counts the marked
steps of the process.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from types import ModuleType
from typing import Any

from layerscope.capture.errors import CaptureError
from layerscope.capture.in_engine.engine_steps import STEP_POINTS, StepPoint
from layerscope.capture.in_engine.import_watch import ImportWatch
from layerscope.capture.in_engine.method_wrapping import wrap_method
from layerscope.capture.in_engine.range_backends import make_backend
from layerscope.capture.in_engine.settings import ANNOTATIONS, NVTX, HookSettings, Point
from layerscope.capture.in_engine.step_marker import StepMarker

_LOG = logging.getLogger("layerscope.drive")


def _marking(
    original: Callable[..., Any], point: Callable[..., Point | None], marker: StepMarker
) -> Callable[..., Any]:
    is_said = False

    @functools.wraps(original)
    def replaced(self: Any, *args: Any, **kwargs: Any) -> Any:
        nonlocal is_said
        try:
            here = point(self, *args, **kwargs)
        except Exception as error:
            # Another version of the engine: the run goes on, and `drive` says what was not marked.
            if not is_said:
                _LOG.error("layerscope: the step's batch cannot be read: %s", error)
            is_said, here = True, None
        return marker.run(here, lambda: original(self, *args, **kwargs))

    return replaced


def _change(step: StepPoint, settings: HookSettings, module: ModuleType) -> None:
    if settings.steps is None:
        return
    # Annotations name kernels of graphs, not steps: without another backend NVTX stands for them.
    names = [name for name in settings.backends if name != ANNOTATIONS]
    try:
        backend = make_backend(names or [NVTX])
    except CaptureError as error:
        _LOG.error("layerscope: steps are not marked: %s", error)
        return
    marker = StepMarker(settings.steps, backend, settings.folder)
    wrap_method(
        module,
        step.class_name,
        step.method,
        lambda method: _marking(method, step.point, marker),
    )


def watch_steps(engine: str, settings: HookSettings, watch: ImportWatch) -> None:
    """Marks the steps of an engine in this process, as `settings.steps` asks."""
    for step in STEP_POINTS:
        if step.engine == engine:
            watch.on_import(step.module, functools.partial(_change, step, settings))
