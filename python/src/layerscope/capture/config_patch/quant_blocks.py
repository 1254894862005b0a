"""The block sizes of a quantised model, and which of its layers they hold for.

A weight is quantised in blocks of n outputs by k inputs; a part of it on one rank must be whole
blocks. Sources of the shapes: `weight_block_size` (DeepSeek's fp8, 128 x 128); MXFP4 has 32 inputs
a scale (OCP Microscaling Formats specification 1.0, section 5.2); NVFP4 has 16 (`group_size` of
ModelOpt's configs); GPTQ, AWQ and compressed-tensors state `group_size`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeGuard

from layerscope.capture.json_values import is_whole

_MXFP4_GROUP = 32
_NVFP4_GROUP = 16

# How modules of a role are called, for the lists of modules that stay unquantised. One spelling
# that matches is enough: the families differ.
_MODULES = {
    "attention": ("model.layers.{i}.self_attn.q_proj", "layers.{i}.attn.wq_b"),
    "dense": ("model.layers.{i}.mlp.gate_proj", "layers.{i}.mlp.gate_proj"),
    "experts": ("model.layers.{i}.mlp.experts.0.gate_proj", "layers.{i}.ffn.experts.0.w1"),
    "shared": (
        "model.layers.{i}.mlp.shared_experts.gate_proj",
        "layers.{i}.ffn.shared_experts.w1",
        "model.layers.{i}.mlp.shared_expert.gate_proj",
    ),
}
_WRAPPERS = ("", "language_model.")


@dataclass(frozen=True)
class Block:
    """Outputs and inputs of one quantised block; 1 where that side is not blocked."""

    outputs: int
    inputs: int
    name: str  # for messages: "fp8 128x128"
    rounds_up: bool = False  # engines give a rank whole blocks, rounded up, not an equal part


@dataclass(frozen=True)
class QuantBlocks:
    """The block of each role that is quantised in blocks; roles that are not are absent."""

    by_role: Mapping[str, Block]

    def of(self, role: str) -> Block | None:
        """The block of `attention`, `dense`, `experts` or `shared`, or None."""
        return self.by_role.get(role)


def read_blocks(
    quant: Mapping[str, Any] | None, hf_quant: Mapping[str, Any] | None, text: Mapping[str, Any]
) -> QuantBlocks:
    """The blocks that `quantization_config`, or else ModelOpt's hf_quant_config.json, states.

    `text` is the text model's config: it says the layer count and the type of DeepSeek-V4's
    experts (`expert_dtype`).
    """
    if not quant:
        inner = (hf_quant or {}).get("quantization")
        quant = inner if isinstance(inner, dict) else {}
    general = _general_block(quant)
    experts = _experts_block(quant, text) or general
    layers = text.get("num_hidden_layers")
    last = layers - 1 if isinstance(layers, int) and layers > 0 else 0
    # With two kinds of blocks the list of exceptions belongs to the experts' kind alone.
    unquantised = [] if experts is not general and general else _exceptions(quant)
    found = {}
    for role, block in (
        ("attention", general),
        ("dense", general),
        ("experts", experts),
        ("shared", general),
    ):
        layer = 0 if role == "dense" else last
        if block and not _is_excepted(role, layer, unquantised):
            found[role] = block
    return QuantBlocks(found)


def _general_block(quant: Mapping[str, Any]) -> Block | None:
    size = quant.get("weight_block_size")
    if isinstance(size, list) and len(size) == 2 and all(_is_positive(s) for s in size):
        return Block(size[0], size[1], f"{quant.get('quant_method', 'fp8')} {size[0]}x{size[1]}")
    if quant.get("quant_method") == "mxfp4":
        return Block(1, _MXFP4_GROUP, "mxfp4 group 32", rounds_up=True)
    group = _group_size(quant)
    if group is None:
        return None
    return Block(1, group, f"{quant.get('quant_algo') or quant.get('quant_method')} group {group}")


def _group_size(quant: Mapping[str, Any]) -> int | None:
    groups = quant.get("config_groups")
    if isinstance(groups, dict):
        for group in groups.values():
            weights = group.get("weights") if isinstance(group, dict) else None
            size = weights.get("group_size") if isinstance(weights, dict) else None
            if _is_positive(size):
                return size
    size = quant.get("group_size")
    return size if _is_positive(size) else None


def _is_positive(size: Any) -> TypeGuard[int]:
    return is_whole(size) and size > 0


def _experts_block(quant: Mapping[str, Any], text: Mapping[str, Any]) -> Block | None:
    if quant.get("moe_quant_algo") == "NVFP4":
        group = _group_size(quant) or _NVFP4_GROUP
        return Block(1, group, f"NVFP4 group {group}")
    if quant and text.get("expert_dtype") == "fp4":
        return Block(1, _MXFP4_GROUP, "fp4 group 32")
    return None


def _exceptions(quant: Mapping[str, Any]) -> list[re.Pattern[str]]:
    """The patterns of modules that are not quantised: names, globs, or `re:` expressions."""
    patterns = []
    for key in ("modules_to_not_convert", "ignore", "ignored_layers", "exclude_modules"):
        names = quant.get(key)
        for name in names if isinstance(names, list) else ():
            if isinstance(name, str):
                patterns.append(_pattern(name))
    return patterns


def _pattern(name: str) -> re.Pattern[str]:
    if name.startswith("re:"):
        try:
            return re.compile(name[3:])
        except re.error:
            return re.compile(re.escape(name))
    glob = re.escape(name).replace(r"\*", ".*")
    return re.compile(rf"(^|\.){glob}(\.|$)")


def _is_excepted(role: str, layer: int, patterns: list[re.Pattern[str]]) -> bool:
    names = [w + m.format(i=layer) for w in _WRAPPERS for m in _MODULES[role]]
    return any(pattern.search(name) for pattern in patterns for name in names)
