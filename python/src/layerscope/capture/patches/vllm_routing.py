"""Balanced routing in vLLM: the router still runs, its choice of experts is replaced.

Signatures (vLLM 0.10 to 0.32):
  BaseRouter.select_experts(self, hidden_states, router_logits, ...) -> (weights, ids[, ...])
  FusedMoE.select_experts(hidden_states, router_logits, ...) -> (weights, ids[, ...]), static,
    before there were routers
  FusedMoEMethodBase.apply_monolithic(self, layer, x, router_logits, ...): kernels that route
    themselves; they get balanced logits
vLLM's own VLLM_MOE_ROUTING_SIMULATION_STRATEGY draws experts at random and replaces the router.
"""

from __future__ import annotations

import functools
from typing import Any

from layerscope.capture.patches.balanced_routing import MARK, BalancedTables

MODULES: tuple[str, ...] = (
    "vllm.model_executor.layers.fused_moe.router.base_router",
    "vllm.model_executor.layers.fused_moe.base_router",
    "vllm.model_executor.layers.fused_moe.layer",
)


def patch_module(module: Any, tables: BalancedTables) -> list[str]:
    """Patches one of MODULES, just imported; returns what was patched."""
    router = getattr(module, "BaseRouter", None)
    if router is not None and router.__module__ == module.__name__:
        _wrap_router(router, tables)
        return ["BaseRouter.select_experts"]
    layer = getattr(module, "FusedMoE", None)
    if layer is not None and hasattr(layer, "select_experts"):
        _wrap_static(layer, tables)
        return ["FusedMoE.select_experts"]
    return []


def install_on_model(model: Any, tables: BalancedTables) -> list[str]:
    """Patches the kernels of a loaded model that route themselves; returns their classes."""
    patched = []
    for _, module in model.named_modules():
        method = type(getattr(module, "quant_method", None))
        for owner in method.__mro__:
            if "apply_monolithic" in vars(owner) and not _is_wrapped(owner, "apply_monolithic"):
                _wrap_monolithic(owner, tables)
                patched.append(f"{owner.__name__}.apply_monolithic")
    return patched


def _wrap_router(router: Any, tables: BalancedTables) -> None:
    if _is_wrapped(router, "select_experts"):
        return
    original = router.select_experts

    @functools.wraps(original)
    def select_experts(
        self: Any, hidden_states: Any, router_logits: Any, *args: Any, **kwargs: Any
    ) -> Any:
        result = original(self, hidden_states, router_logits, *args, **kwargs)
        tables.write_ids(result[1][:, : self.top_k], self.global_num_experts)
        return result

    setattr(select_experts, MARK, True)
    router.select_experts = select_experts


def _wrap_static(layer: Any, tables: BalancedTables) -> None:
    if _is_wrapped(layer, "select_experts"):
        return
    original = layer.select_experts

    @functools.wraps(original)
    def select_experts(hidden_states: Any, router_logits: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(hidden_states, router_logits, *args, **kwargs)
        tables.write_ids(result[1], router_logits.shape[-1])
        return result

    setattr(select_experts, MARK, True)
    layer.select_experts = staticmethod(select_experts)


def _wrap_monolithic(owner: Any, tables: BalancedTables) -> None:
    original = owner.apply_monolithic

    @functools.wraps(original)
    def apply_monolithic(
        self: Any, layer: Any, x: Any, router_logits: Any, *args: Any, **kwargs: Any
    ) -> Any:
        tables.write_logits(router_logits)
        return original(self, layer, x, router_logits, *args, **kwargs)

    setattr(apply_monolithic, MARK, True)
    owner.apply_monolithic = apply_monolithic


def _is_wrapped(owner: Any, name: str) -> bool:
    return bool(getattr(getattr(owner, name, None), MARK, False))
