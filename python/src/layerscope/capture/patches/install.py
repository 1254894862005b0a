"""What the entry points of the hooks call: applies the plan that LAYERSCOPE_PATCH names.

Unlike hooks, which never disturb an engine, a plan that cannot be applied stops it: figures of a
run without the patches would be taken for those with them.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Sequence
from types import ModuleType
from typing import Any, Protocol

from layerscope.capture import engines, errors
from layerscope.capture.errors import CaptureError, of_foreign_code
from layerscope.capture.in_engine.import_watch import ImportWatch
from layerscope.capture.in_engine.model_loading import LOADING_POINTS, watch_loading
from layerscope.capture.patches import (
    identity_layers,
    sglang_routing,
    trtllm_routing,
    vllm_routing,
)
from layerscope.capture.patches.balanced_routing import BalancedTables
from layerscope.capture.patches.plan import VARIABLE, PatchPlan, plan_from_environment

_LOG = logging.getLogger("layerscope.patches")


class _Routing(Protocol):
    """What each engine's module of balanced routing offers."""

    MODULES: tuple[str, ...]

    def patch_module(self, module: Any, tables: BalancedTables, /) -> list[str]: ...

    def install_on_model(self, model: Any, tables: BalancedTables, /) -> list[str]: ...


_ROUTING: dict[str, _Routing] = {
    engines.VLLM: vllm_routing,
    engines.SGLANG: sglang_routing,
    engines.TENSORRT_LLM: trtllm_routing,
}


class Patches:
    """A plan in one process of one engine; `applied` says what was patched, for the log."""

    def __init__(self, plan: PatchPlan, engine: str) -> None:
        self.plan = plan
        self.applied: list[str] = []
        self._engine = engine
        self._tables: BalancedTables | None = None
        self._routing: _Routing | None = None
        if plan.routing is not None:
            self._tables = BalancedTables(plan.routing)
            self._routing = _ROUTING[engine]

    def watch(self, watch: ImportWatch) -> None:
        """Patches the engine's routing as soon as the engine imports it."""
        if self._routing is None:
            return
        if self._engine == engines.TENSORRT_LLM:
            os.environ[trtllm_routing.PERFECT_ROUTER] = "1"
        for name in self._routing.MODULES:
            watch.on_import(name, self._patch_module)

    def model_loaded(self, model: Any) -> None:
        """Patches a loaded model, a torch.nn.Module. Raises CaptureError when it cannot."""
        if model is None or not hasattr(model, "named_modules"):
            return
        if self._routing is not None and self._tables is not None:
            self._note(self._routing.install_on_model(model, self._tables))
            if not self.applied:
                raise CaptureError(
                    "balanced routing: nothing of this engine's routing is known here",
                    "report its version, and run without --balanced-routing",
                )
        identities = identity_layers.install_identity_layers(model, self.plan)
        self._note([f"{path}: identity" for path in identities])

    def _patch_module(self, module: ModuleType) -> None:
        if self._routing is not None and self._tables is not None:
            self._note(self._routing.patch_module(module, self._tables))

    def _note(self, patched: Sequence[str]) -> None:
        self.applied += patched
        if patched:
            more = f" and {len(patched) - 1} more" if len(patched) > 1 else ""
            _LOG.warning("layerscope patch: %s%s", patched[0], more)


_INSTALLED: dict[str, Patches] = {}  # by engine; once a process


def install(possible: Sequence[str], watch: ImportWatch) -> None:
    """Applies the plan of the environment, if there is one, to what these engines load."""
    plan = plan_from_environment()
    if plan is None or plan.is_empty():
        return
    for point in LOADING_POINTS:
        if point.engine not in possible or point.engine in _INSTALLED:
            continue
        patches = Patches(plan, point.engine)
        _INSTALLED[point.engine] = patches
        patches.watch(watch)
        watch_loading(point, patches.model_loaded, watch)


def applied(engine: str) -> list[str]:
    """What was patched in this process, in words."""
    patches = _INSTALLED.get(engine)
    return [] if patches is None else list(patches.applied)


def apply_to_model(model: Any) -> None:
    """Applies the plan of the environment to a model that transformers loaded in this process."""
    plan = plan_from_environment()
    if plan is None or plan.is_empty():
        return
    if plan.routing is not None:
        raise CaptureError(
            "balanced routing is not known for transformers",
            f"it is for {', '.join(_ROUTING)}; write the plan without --balanced-routing",
            errors.USAGE,
        )
    with of_foreign_code(
        f"{VARIABLE}: {type(model).__name__} cannot run with identity layers",
        "shorten the config instead: layerscope-capture config-patch --cut; or unset the variable",
    ):
        patched = identity_layers.install_identity_layers(model, plan)
        for path in patched:
            _LOG.info("layerscope patch: %s: identity", path)
        if patched:
            _learn_forms(model)


def _learn_forms(model: Any) -> None:
    """The call in which an identity layer still runs, before anything is recorded.

    Engines have a warm-up, transformers has none: the module tree would hold what no later forward
    calls.
    """
    import torch

    device = next((parameter.device for parameter in model.parameters()), None)
    with torch.no_grad():
        model(torch.zeros((1, 2), dtype=torch.long, device=device))
