"""Balanced routing in TensorRT-LLM (PyTorch backend): routing methods give balanced experts.

Signatures (`tensorrt_llm._torch.modules.fused_moe.routing`, TensorRT-LLM 1.0 to 1.3, later below
`tensorrt_llm._torch.moe`):
  BaseMoeRoutingMethod.apply(self, router_logits[, input_ids]) -> (experts int32, scales), shapes
    (tokens, experts_per_token)
Kernels of the TRTLLM backend route by logits and never call it: for them the engine's own
ENABLE_PERFECT_ROUTER=1 is set (by `install`), which has to be done before the model is built.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

from layerscope.capture.patches.balanced_routing import MARK, BalancedTables

MODULES: tuple[str, ...] = (
    "tensorrt_llm._torch.modules.fused_moe.routing",
    "tensorrt_llm._torch.moe.fused_moe.routing",
)
PERFECT_ROUTER = "ENABLE_PERFECT_ROUTER"


def patch_module(routing: Any, tables: BalancedTables) -> list[str]:
    """Patches the routing methods of the module of MODULES, just imported; returns which."""
    base = getattr(routing, "BaseMoeRoutingMethod", None)
    if base is None:
        return []
    return [f"{owner.__name__}.apply" for owner in _owners(base) if _wrap(owner, tables)]


def install_on_model(model: Any, tables: BalancedTables) -> list[str]:
    """Patches the routing methods that came with the model's own code."""
    patched = []
    for _, module in model.named_modules():
        method = getattr(module, "routing_method", None)
        for owner in type(method).__mro__ if method is not None else ():
            if "apply" in vars(owner) and _is_routing(owner) and _wrap(owner, tables):
                patched.append(f"{owner.__name__}.apply")
    return patched


def _owners(base: Any) -> Iterator[Any]:
    for subclass in base.__subclasses__():
        if "apply" in vars(subclass):
            yield subclass
        yield from _owners(subclass)


def _is_routing(owner: Any) -> bool:
    """A routing method, not torch.nn.Module (whose `apply` is something else)."""
    return any(base.__name__ == "BaseMoeRoutingMethod" for base in owner.__mro__[1:])


def _wrap(owner: Any, tables: BalancedTables) -> bool:
    original = vars(owner)["apply"]
    if getattr(original, MARK, False):
        return False

    @functools.wraps(original)
    def apply(self: Any, router_logits: Any, *args: Any, **kwargs: Any) -> Any:
        experts, scales = original(self, router_logits, *args, **kwargs)
        tables.write_ids(experts, router_logits.shape[-1])
        return experts, scales

    setattr(apply, MARK, True)
    owner.apply = apply
    return True
