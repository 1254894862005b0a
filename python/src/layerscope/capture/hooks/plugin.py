"""The entry points that put hooks into a process of an engine, if the environment asks for them.

`install` is vLLM's: vLLM calls it in the API server, in the engine core and in each worker,
sometimes more than once. `install_all` is that of the bootstrap folder, for all engines. Both also
apply the patches of `config-patch` (LAYERSCOPE_PATCH), before there are ranges.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence

from layerscope.capture.errors import CaptureError
from layerscope.capture.hooks.import_watch import WATCH
from layerscope.capture.hooks.model_loading import LOADING_POINTS, watch_loading
from layerscope.capture.hooks.process_hooks import ProcessHooks
from layerscope.capture.hooks.settings import settings_of
from layerscope.capture.patches import install as patches

_LOG = logging.getLogger("layerscope.hooks")
_INSTALLED: dict[str, ProcessHooks] = {}  # by engine; once a process


def _install(engines: Sequence[str]) -> None:
    patches.install(engines, WATCH)  # LAYERSCOPE_PATCH, with or without hooks
    try:
        settings = settings_of()
    except CaptureError as error:
        _LOG.error("layerscope hooks: %s", error)
        return
    if settings is None:
        return
    for point in LOADING_POINTS:
        if point.engine not in engines or point.engine in _INSTALLED:
            continue
        hooks = ProcessHooks(settings, point.engine)
        _INSTALLED[point.engine] = hooks
        watch_loading(point, hooks.model_loaded, WATCH)
        if settings.steps is not None:
            from layerscope.capture.drive.step_points import watch_steps

            watch_steps(point.engine, settings, WATCH)


def install() -> None:
    """vLLM's `vllm.general_plugins`: does nothing unless LAYERSCOPE_HOOKS names a backend."""
    _install(["vllm"])


def install_all() -> None:
    """The same for every engine that this process may turn out to be."""
    _install([point.engine for point in LOADING_POINTS])
