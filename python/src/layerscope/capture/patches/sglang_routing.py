"""Balanced routing in SGLang: the gate and its top-k still run, the choice is replaced.

Signatures (`sglang.srt.layers.moe.topk`, SGLang 0.5):
  select_experts(hidden_states, router_logits, topk_config, *, layer_id, num_token_non_padded,
    expert_location_dispatch_info) -> StandardTopKOutput(topk_weights, topk_ids, router_logits)
  TopK.forward_cuda(self, hidden_states, router_logits, *, ...) -> StandardTopKOutput, or a
    BypassedTopKOutput or TritonKernelTopKOutput, whose kernels route by logits
SGLang's own SGLANG_SIMULATE_UNIFORM_EXPERTS draws experts at random for the first form only.
"""

from __future__ import annotations

import functools
import sys
from typing import Any

from layerscope.capture.patches.balanced_routing import MARK, BalancedTables

MODULES: tuple[str, ...] = ("sglang.srt.layers.moe.topk",)
_LOGITS_FIRST = "_layerscope_logits_first"


def patch_module(topk: Any, tables: BalancedTables) -> list[str]:
    """Patches the module of MODULES, just imported; returns what was patched."""
    if not hasattr(topk, "select_experts") or not hasattr(topk, "TopK"):
        return []
    patched = ["select_experts"]
    _wrap_select(topk, tables)
    for name in ("forward_cuda", "forward_native"):
        if name in vars(topk.TopK):
            _wrap_forward(topk.TopK, name, tables)
            patched.append(f"TopK.{name}")
    return patched


def install_on_model(model: Any, tables: BalancedTables) -> list[str]:
    """Patches top-k modules of a loaded model that choose by a table of token ids (DeepSeek-V4)."""
    patched = []
    for path, module in model.named_modules():
        if type(module).__name__ == "HashTopK" and not hasattr(module, MARK):
            _wrap_instance(module, tables)
            patched.append(f"{path}.forward")
    return patched


def _wrap_select(topk: Any, tables: BalancedTables) -> None:
    original = topk.select_experts
    if getattr(original, MARK, False):
        return

    @functools.wraps(original)
    def select_experts(
        hidden_states: Any, router_logits: Any, topk_config: Any, **kwargs: Any
    ) -> Any:
        output = original(hidden_states, router_logits, topk_config, **kwargs)
        shared = topk_config.num_fused_shared_experts
        # Fused shared experts are the last columns: every token takes them.
        routed = output.topk_ids.shape[1] - shared
        tables.write_ids(
            output.topk_ids[:, :routed],
            router_logits.shape[1],
            keep_negative=kwargs.get("num_token_non_padded") is not None,
        )
        return output

    setattr(select_experts, MARK, True)
    for module in list(sys.modules.values()):  # those that took it by name hold the original
        if (
            getattr(module, "__name__", "").startswith("sglang")
            and vars(module).get("select_experts") is original
        ):
            module.select_experts = select_experts  # type: ignore[attr-defined]
    topk.select_experts = select_experts


def _wrap_forward(owner: Any, name: str, tables: BalancedTables) -> None:
    original = getattr(owner, name)
    if getattr(original, MARK, False):
        return

    @functools.wraps(original)
    def forward(self: Any, hidden_states: Any, router_logits: Any, **kwargs: Any) -> Any:
        if getattr(self, _LOGITS_FIRST, False):
            tables.write_logits(router_logits)
        output = original(self, hidden_states, router_logits, **kwargs)
        if hasattr(output, "topk_ids") or getattr(self, _LOGITS_FIRST, False):
            return output  # balanced by select_experts, or by its logits
        # The form of the output is a matter of the backend, known with the first call (warm-up).
        setattr(self, _LOGITS_FIRST, True)
        tables.write_logits(router_logits)
        return original(self, hidden_states, router_logits, **kwargs)

    setattr(forward, MARK, True)
    setattr(owner, name, forward)


def _wrap_instance(module: Any, tables: BalancedTables) -> None:
    original = module.forward

    @functools.wraps(original)
    def forward(*args: Any, **kwargs: Any) -> Any:
        output = original(*args, **kwargs)
        shared = getattr(module, "num_fused_shared_experts", 0)
        routed = output.topk_ids.shape[1] - shared
        tables.write_ids(output.topk_ids[:, :routed], tables.plan.experts, keep_negative=True)
        return output

    module.forward = forward
    setattr(module, MARK, True)
