"""Fewer layers, two ways.

`identity`: the config keeps its layer count, so weights and per-layer lists stay valid, and the
plan lists the layers that compute; hooks make the forward of the others the identity. All weights
are still loaded. `cut`: the layer count and every per-layer list are shortened to the first layers;
the memory of the others is saved, but weights of the original no longer fit: for dummy weights.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from layerscope.capture import errors, layer_lists, model_files
from layerscope.capture.config_patch.changes import Changes
from layerscope.capture.errors import CaptureError
from layerscope.capture.json_values import index_of

# Their configs in transformers turn the last entry of layer_types into this one.
_ENDS_FULL = re.compile("gemma4|diffusion_gemma|embedding_gemma2|beam")
_FULL = "full_attention"
_BY_LAYER = "shortened with the layers"
_KIMI_LISTS = ("kda_layers", "full_attn_layers")  # numbers of layers, counted from 1
_COUNTS_UP_TO_LAYERS = ("first_k_dense_replace", "num_hash_layers", "max_window_layers")


def parse_layers(text: str, count: int) -> list[int]:
    """Layer numbers from `0,2,5-8`, sorted, each once; below `count`. Raises code 2."""
    chosen: set[int] = set()
    for part in text.split(","):
        first, dash, last = part.strip().partition("-")
        if not first.isdecimal() or (dash and not last.isdecimal()):
            raise CaptureError(
                f"--keep-layers {text}: '{part}' is no layer number or range",
                "for example --keep-layers 0,2,5-8",
                errors.USAGE,
            )
        # Python reads no number of thousands of digits; all of ten are outside.
        low, high = int(first[:10]), int((last or first)[:10])
        if low > high or high >= count:
            raise CaptureError(
                f"--keep-layers {text}: {part} is outside of layers 0 to {count - 1}",
                "layers are counted from 0",
                errors.USAGE,
            )
        chosen.update(range(low, high + 1))
    return sorted(chosen)


def kept_layers(config: dict[str, Any], layers: int | None, keep: str | None) -> list[int]:
    """The layers that compute, from `--layers N` (the first N) or `--keep-layers LIST`."""
    count = model_files.layer_count(config)
    if count is None:
        raise CaptureError(
            "the config has no layer count (num_hidden_layers)",
            "give the config.json of a language model",
            errors.INVALID_INPUT,
        )
    if keep is not None:
        kept = parse_layers(keep, count)
    else:
        wanted = layers or 0
        if not 0 < wanted <= count:
            raise CaptureError(
                f"--layers {layers}: the model has {count} layers",
                f"give 1 to {count}",
                errors.USAGE,
            )
        kept = list(range(wanted))
    if kept[0] != 0:
        raise CaptureError(
            f"--keep-layers {keep}: layer 0 is not kept",
            "the first layer makes the residual that the others take: keep 0 too",
            errors.USAGE,
        )
    return kept


def cut_layers(config: dict[str, Any], count: int, changes: Changes) -> None:
    """Shortens the config to its first `count` layers, with every per-layer list.

    Raises CaptureError where the config ties its last layers to earlier ones.
    """
    text = model_files.text_config(config)
    at = ".".join(model_files.text_path(config))
    key = model_files.layer_count_key(config)
    assert key is not None  # kept_layers has seen it
    before = int(text[key])
    if text.get("num_kv_shared_layers"):
        raise CaptureError(
            f"num_kv_shared_layers {text['num_kv_shared_layers']}: the last layers take K and V of"
            " earlier ones",
            "leave out --cut: the other layers get an identity forward instead",
        )
    if count == before:
        return
    _require_last_type(text, count)
    lists = layer_lists.by_layer(text)
    changes.set(text, key, count, "--layers, --cut", at)
    for name, value in lists.items():  # entries of draft layers stay at the end
        changes.set(text, name, value[:count] + value[before:], _BY_LAYER, at)
    for name in layer_lists.NUMBER_LISTS:
        if _are_numbers(text.get(name)):
            changes.set(text, name, [n for n in text[name] if n < count], _BY_LAYER, at)
    _cut_kimi(text, at, count, changes)
    _cut_settings(text, at, count, changes)
    for name in _COUNTS_UP_TO_LAYERS:
        if isinstance(text.get(name), int) and text[name] > count:
            changes.set(text, name, count, _BY_LAYER, at)


def _require_last_type(text: dict[str, Any], count: int) -> None:
    """Raises CaptureError where the model's class would make another layer of the last one."""
    types, model_type = text.get("layer_types"), str(text.get("model_type"))
    if not _ENDS_FULL.match(model_type) or not isinstance(types, list) or count > len(types):
        return
    if types[count - 1] != _FULL:
        fitting = [str(i + 1) for i, name in enumerate(types) if name == _FULL]
        said = (
            f"--layers {count} --cut: layer {count - 1} is {types[count - 1]}, and the last layer "
            f"of {model_type} is always made {_FULL}"
        )
        raise CaptureError(
            errors.printable(said, in_one_line=True),
            f"give --layers {' or '.join(fitting)}, or leave out --cut",
            errors.USAGE,
        )


def _cut_kimi(text: dict[str, Any], at: str, count: int, changes: Changes) -> None:
    inner = text.get("linear_attn_config")
    if not isinstance(inner, dict):
        return
    where = model_files.dotted(at, "linear_attn_config")
    for name in _KIMI_LISTS:
        if _are_numbers(inner.get(name)):
            changes.set(inner, name, [n for n in inner[name] if n <= count], _BY_LAYER, where)


def _cut_settings(text: dict[str, Any], at: str, count: int, changes: Changes) -> None:
    """transformers' settings of single layers, by their numbers, stand for layers that are left."""
    settings = text.get("per_layer_config")
    if isinstance(settings, dict):
        left = {n: one for n, one in settings.items() if not n.isdecimal() or _is_below(n, count)}
        changes.set(text, "per_layer_config", left, _BY_LAYER, at)


def _is_below(number: str, count: int) -> bool:
    index = index_of(number)
    return index is not None and index < count


def _are_numbers(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(n, int) for n in value)


def as_ranges(numbers: Sequence[int]) -> str:
    """`0-3, 10` for [0, 1, 2, 3, 10]: layer numbers for people."""
    parts: list[list[int]] = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1][1] = number
        else:
            parts.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in parts)
