"""What no model's config can say: layers below one, more experts a token than there are.

For configs that were written by hand or changed: an engine fails on them late, with a message of
its own, or runs something else.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from layerscope.capture import errors, layer_lists, model_files, model_sizes
from layerscope.capture.json_values import is_number, is_whole
from layerscope.capture.model_files import dotted

_MOST_LAYERS = 10_000  # public models: under 200
_MOST = 2**31 - 1  # engines hold sizes in 32 bits

# At least 1 in a language model that has the key.
_POSITIVE = (
    *model_files.LAYER_COUNT_KEYS,
    *("num_attention_heads", "n_head", "num_key_value_heads", "hidden_size", "n_embd"),
    *("vocab_size", "max_position_embeddings", "n_positions"),
)
# Never negative, in towers neither; 0 means that there is none.
_COUNT = re.compile(
    r"^(num|n)_(\w+_)?(layers?|heads?|experts?|groups?|embd|positions|predict_layers)$"
    r"|^(num_experts_per_tok(en)?|top_k_experts|experts_per_token|moe_top_?k|top_?k_groups?)$"
    r"|(^|_)((hidden|intermediate|vocab)_size|lora_rank|head_dim)$"
    r"|^(sliding_window|attention_chunk_size)$"
)
# More than 0, and finite: squares and logarithms are taken of them.
_SCALE = re.compile(r"^((rms|layer)_norm_(eps|epsilon)|norm_eps|rope_theta|rotary_emb_base)$")
_NAMES = ("model_type", "architectures", "layer_types")
_NAME = re.compile(r"\w[\w.-]*")
_OBJECTS = ("rope_scaling", "rope_parameters", "quantization_config")


def impossible_values(
    config: Mapping[str, Any], made_of: Mapping[str, Any] | None = None
) -> list[str]:
    """What a config says that cannot be, one line each; empty for a possible one.

    Which of its lists have an entry for each layer shows best in the config that it was made of.
    """
    text = model_files.text_config(config)
    at = ".".join(model_files.text_path(config))
    wrong = [line for where, holder in _objects(config) for line in _counts(where, holder)]
    wrong += [*_positive(text, at), *_names(config, ""), *_names(text, at)]
    if not wrong:  # the relations take the single values for granted
        wrong = [*_relations(text, at), *_lists(text, at, model_files.text_config(made_of or {}))]
    return [errors.printable(line, in_one_line=True) for line in dict.fromkeys(wrong)]


def _positive(text: Mapping[str, Any], at: str) -> Iterator[str]:
    own = () if text.get("kv_lora_rank") else ("head_dim",)  # MLA has others
    for key in (*_POSITIVE, *own):
        for value in _each(text.get(key)):
            if value == 0 or not _is_count(value):
                yield f"{dotted(at, key)} is {_shown(value)}, not 1 or more"


def _names(holder: Mapping[str, Any], at: str) -> Iterator[str]:
    for key in _NAMES:
        for value in _each(holder.get(key)):
            if not isinstance(value, str) or not _NAME.fullmatch(value):
                yield f"{dotted(at, key)} is {_shown(value)}, no name"


def _counts(at: str, holder: Mapping[str, Any]) -> Iterator[str]:
    for key, given in holder.items():
        for value in _each(given):
            if _COUNT.search(key) and not _is_count(value):
                yield f"{dotted(at, key)} is {_shown(value)}, no number of things"
            if _SCALE.search(key) and not _is_scale(value):
                yield f"{dotted(at, key)} is {_shown(value)}, not more than 0"
        if key in _OBJECTS and not isinstance(given, (dict, type(None))):
            yield f"{dotted(at, key)} is {_shown(given)}, no object"


def _relations(text: Mapping[str, Any], at: str) -> list[str]:
    wrong = []
    count = model_files.layer_count(text)
    if count is not None and count > _MOST_LAYERS:
        wrong.append(f"{count} layers, more than {_MOST_LAYERS}")
    heads, kv = text.get("num_attention_heads"), text.get("num_key_value_heads")
    if isinstance(heads, int) and isinstance(kv, int) and heads % kv:
        wrong.append(f"{heads} attention heads are not divisible by {kv} KV heads")
    moe = model_sizes.moe_sizes(text)
    if moe:
        experts = text[moe.count_key]
        if moe.top_k > experts:
            wrong.append(f"a token takes {moe.top_k} of {experts} experts")
        if moe.top_groups > moe.groups:
            wrong.append(f"a token may use {moe.top_groups} of {moe.groups} groups of experts")
    return wrong


def _lists(text: Mapping[str, Any], at: str, made_of: Mapping[str, Any]) -> Iterator[str]:
    count = model_files.layer_count(text)
    if count is None:
        return
    lengths = {count, *(count + layer_lists.draft_layers(of) for of in (text, made_of))}
    for name in dict.fromkeys((*layer_lists.NAMED, *layer_lists.by_layer(made_of))):
        value = text.get(name)
        if isinstance(value, (list, str)) and len(value) not in lengths:
            yield f"{dotted(at, name)} has {len(value)} entries for {count} layers"


def _objects(node: Mapping[str, Any], at: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    yield at, node
    for key, value in node.items():
        if isinstance(value, dict):
            yield from _objects(value, dotted(at, key))


def _each(value: Any) -> list[Any]:
    """The value, or those of a list of one a layer; nothing for null and for one by tower."""
    values = value if isinstance(value, list) else [value]
    return [one for one in values if one is not None and not isinstance(one, dict)]


def _is_count(value: Any) -> bool:
    return is_whole(value) and 0 <= value <= _MOST


def _is_scale(value: Any) -> bool:
    return is_number(value) and 0 < value < math.inf


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
