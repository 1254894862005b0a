"""Where a config keeps its sizes: the widths of MLPs and experts, and of attention's projections.

The names are those of public configs (docs/profiles.md lists the families); nothing here changes a
config.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from layerscope.capture.json_values import is_whole

EXPERT_COUNT_KEYS = ("n_routed_experts", "num_experts", "num_local_experts", "moe_num_experts")
TOP_K_KEYS = (
    "num_experts_per_tok",
    "num_experts_per_token",
    "top_k_experts",
    "experts_per_token",
    "moe_top_k",
)
KV_HEADS_KEYS = (
    "num_key_value_heads",
    "num_kv_heads",  # Falcon
    "n_head_kv",  # Falcon, before
    "multi_query_group_num",  # ChatGLM
    "num_attention_groups",  # Step-3.5
    "n_kv_heads",  # Mistral's params.json
    "kv_n_heads",  # DBRX
)
_SHARED_WIDTH_KEYS = (
    "shared_expert_intermediate_size",
    "moe_shared_expert_intermediate_size",
    "share_expert_dim",
    "shared_intermediate_size",
)
_SHARED_COUNT_KEYS = ("n_shared_experts", "num_shared_experts", "moe_num_shared_experts")
# Llama-4 has one shared expert of the experts' width in each MoE layer, and no key that says so.
_UNSIZED_SHARED = ("llama4_text", "llama4")


@dataclass(frozen=True)
class MoeSizes:
    """The experts of a config: which keys hold them, and what their router may choose.

    `shared_count_key` is set only where the width of shared experts is count x expert width;
    `shared_width_key` where they have a width of their own.
    """

    count_key: str
    width_key: str
    top_k: int
    groups: int
    top_groups: int
    shared_width_key: str | None
    shared_count_key: str | None
    has_unsized_shared: bool


def moe_sizes(text: Mapping[str, Any]) -> MoeSizes | None:
    """The experts of a text model's config, or None for a dense model."""
    count_key = _first(text, EXPERT_COUNT_KEYS, more_than=1)
    if count_key is None:
        return None
    has_own = _is_size(text.get("moe_intermediate_size"))
    width_key = "moe_intermediate_size" if has_own else "intermediate_size"
    if not _is_size(text.get(width_key)):
        return None
    top_k_key = _first(text, TOP_K_KEYS)
    shared_width_key = _first(text, _SHARED_WIDTH_KEYS)
    shared_count_key = None if shared_width_key else _first(text, _SHARED_COUNT_KEYS)
    return MoeSizes(
        count_key=count_key,
        width_key=width_key,
        top_k=text[top_k_key] if top_k_key else 1,
        groups=_number(text, "n_group") or _number(text, "num_expert_group") or 1,
        top_groups=_number(text, "topk_group") or 1,
        shared_width_key=shared_width_key,
        shared_count_key=shared_count_key,
        has_unsized_shared=text.get("model_type") in _UNSIZED_SHARED,
    )


def dense_width_key(text: Mapping[str, Any], moe: MoeSizes | None) -> str | None:
    """The key of the width of dense MLPs, or None where every MLP is made of experts."""
    for key in ("intermediate_size_mlp", "intermediate_size", "ffn_hidden_size"):
        if _is_size(text.get(key)) and not (moe and key == moe.width_key):
            return key
    return None


def attention_widths(text: Mapping[str, Any]) -> Sequence[tuple[str, int, bool]]:
    """The divided sides of attention's projections: (name, width, whether it is an input).

    Widths are of the config as it stands; of a divided config, those of a rank.
    """
    heads = text["num_attention_heads"]
    nope, rope, value = (_number(text, f"{k}_head_dim") for k in ("qk_nope", "qk_rope", "v"))
    if nope and rope and value:
        return (
            ("q_b_proj", heads * (nope + rope), False),
            ("kv_b_proj", heads * (nope + value), False),
            ("o_proj", heads * value, True),
        )
    head_dim = text.get("head_dim")
    if not isinstance(head_dim, int):
        head_dim = _number(text, "hidden_size") // heads
    groups, rank = text.get("o_groups"), text.get("o_lora_rank")
    if isinstance(groups, int) and isinstance(rank, int):
        return (("wq_b", heads * head_dim, False), ("wo_b", groups * rank, True))
    kv_key = _first(text, KV_HEADS_KEYS)
    kv = text[kv_key] if kv_key else heads
    return (
        ("q_proj", heads * head_dim, False),
        ("k_proj", kv * head_dim, False),
        ("o_proj", heads * (value or head_dim), True),
    )


def sliding_attention(text: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The sizes of layers with a sliding window, where such a config has keys of their own."""
    keys = ("num_attention_heads", "num_key_value_heads", "head_dim", "v_head_dim")
    own = {key: text[f"swa_{key}"] for key in keys if _number(text, f"swa_{key}")}
    return {**text, **own} if own else None


def _number(text: Mapping[str, Any], key: str) -> int:
    value = text.get(key)
    return value if is_whole(value) else 0


def _first(text: Mapping[str, Any], keys: Sequence[str], more_than: int = 0) -> str | None:
    return next((key for key in keys if _number(text, key) > more_than), None)


def _is_size(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_is_size(v) for v in value)
    return is_whole(value) and value > 0
