"""Under which keys configs hold attention heads, KV heads, and settings of some layers alone.

The names are those that vLLM 0.32 (`model_arch_config_convertor.py` and its models) and
transformers 5 read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from layerscope.capture import model_sizes

HEADS = (
    "num_attention_heads",
    "swa_num_attention_heads",  # MiMo-V2, Inkling: layers with a sliding window
    "num_sliding_attention_heads",  # Step-3.7 of transformers
    "num_attention_heads_per_layer",  # Laguna
)
KV_HEADS = (
    *model_sizes.KV_HEADS_KEYS,
    "num_global_key_value_heads",  # Gemma-4
    "swa_num_key_value_heads",
    "num_key_value_heads_per_layer",
)
# Objects of what differs in some layers: one for all of these, or one a layer.
_OF_LAYERS = ("attention_other_setting", "per_layer_config", "mtp_per_layer_config")
# Objects whose numbers have rules of their own.
_ELSEWHERE = ("linear_attn_config", "quantization_config", "compression_config")
# A tower, a draft model, a talker: an object with one of these is no setting of the text's layers.
_OF_A_MODEL = ("model_type", "hidden_size", "embed_dim", "d_model", "width", "num_hidden_layers")
# Sizes of layers that are divided, but not where they differ from layer to layer (Nemotron-NAS).
_OTHER_SIZES = (
    *("n_heads_in_group", "ffn_mult"),
    *model_sizes.EXPERT_COUNT_KEYS,
    *("intermediate_size", "moe_intermediate_size", "shared_expert_intermediate_size"),
)

Path = tuple[str | int, ...]  # of an object in the text model's config


def layer_settings(text: Mapping[str, Any]) -> Iterator[Path]:
    """The objects whose heads belong to some layers, by vLLM's and transformers' rules."""
    for path, holder in _inner(text, ()):
        if path[0] in _OF_LAYERS and any(key in holder for key in (*HEADS, *KV_HEADS)):
            yield path


def not_understood(text: Mapping[str, Any]) -> Iterator[str]:
    """Sizes of layers in objects of which nothing here knows how engines read them: `a.b 8`."""
    for path, holder in _inner(text, ()):
        known = (*HEADS, *KV_HEADS) if path[0] in _OF_LAYERS else ()
        for key in (*HEADS, *KV_HEADS, *_OTHER_SIZES):
            if key in holder and key not in known:
                yield f"{dotted((*path, key))} {holder[key]}"


def dotted(path: Path) -> str:
    """`block_configs.0.attention`"""
    return ".".join(map(str, path))


def _inner(node: Any, path: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The objects below, but for models of their own and those with rules of their own."""
    inner = node.items() if isinstance(node, Mapping) else enumerate(node)
    for key, value in inner:
        if not isinstance(value, (Mapping, list)) or key in _ELSEWHERE:
            continue
        if isinstance(value, Mapping):
            of_layers = (*path, key)[0] in _OF_LAYERS
            if not of_layers and any(one in value for one in _OF_A_MODEL):
                continue
            yield (*path, key), value
        yield from _inner(value, (*path, key))
