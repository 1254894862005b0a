"""The entry points that put hooks into a process of an engine, if the environment asks for them.

`install` is vLLM's: vLLM calls it in the API server, in the engine core and in each worker,
sometimes more than once. `install_all` is that of the bootstrap folder, for all engines. Both also
apply the patches of `config-patch` (LAYERSCOPE_PATCH), before there are ranges.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from layerscope.capture import engines
from layerscope.capture.errors import CaptureError
from layerscope.capture.hooks.process_hooks import ProcessHooks
from layerscope.capture.in_engine.import_watch import WATCH
from layerscope.capture.in_engine.model_loading import LOADING_POINTS, watch_loading
from layerscope.capture.in_engine.settings import settings_of
from layerscope.capture.in_engine.step_points import watch_steps
from layerscope.capture.patches import install as patches

_LOG = logging.getLogger("layerscope.hooks")
_INSTALLED: dict[str, ProcessHooks] = {}  # by engine; once a process


def _install(possible: Sequence[str]) -> None:
    patches.install(possible, WATCH)  # LAYERSCOPE_PATCH, with or without hooks
    try:
        settings = settings_of()
    except CaptureError as error:
        _LOG.error("layerscope hooks: %s", error)
        return
    if settings is None:
        return
    for point in LOADING_POINTS:
        if point.engine not in possible or point.engine in _INSTALLED:
            continue
        hooks = ProcessHooks(settings, point.engine)
        _INSTALLED[point.engine] = hooks
        watch_loading(point, hooks.model_loaded, WATCH)
        if settings.steps is not None:
            watch_steps(point.engine, settings, WATCH)


def install() -> None:
    """vLLM's `vllm.general_plugins`: does nothing unless LAYERSCOPE_HOOKS names a backend."""
    _install([engines.VLLM])


def install_all() -> None:
    """The same for every engine that this process may turn out to be."""
    _install(engines.SERVING)
