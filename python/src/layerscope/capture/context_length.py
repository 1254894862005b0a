"""How many tokens a model takes, asked of its config before an engine is started.

Loading takes minutes, and engines refuse a request that is too long only after it, or cut it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from layerscope.capture.errors import USAGE, CaptureError
from layerscope.capture.json_values import is_whole
from layerscope.capture.model_files import load_config, locate, text_config

# Where configs hold their number of positions; engines take the smallest of those that are there.
# Source: vLLM 0.32's model_arch_config_convertor, derived_max_model_len_and_key.
_KEYS = (
    "max_position_embeddings",
    "n_positions",
    "max_seq_len",
    "seq_length",
    "max_target_positions",
    "max_sequence_length",
    "max_seq_length",
    "seq_len",
)
_STRONGEST = "model_max_length"  # of Cohere's configs: the others hold less than it serves
# Keywords with which an engine is told the limit: of vLLM, SGLang, TensorRT-LLM.
_LIMITS = ("max_model_len", "context_length", "max_seq_len")
# Keywords that replace parts of the config: what is said there then may not hold.
_OVERRIDES = ("hf_overrides", "rope_scaling", "json_model_override_args", "model_kwargs")
# Variables with which vLLM and SGLang take more than the config says.
_ALLOWED_LONGER = ("VLLM_ALLOW_LONG_MAX_MODEL_LEN", "SGLANG_ALLOW_OVERWRITE_LONGER_CONTEXT_LEN")
_DIGITS = 12  # of a number of tokens that is meant
_ALREADY_SCALED = ("su", "longrope", "llama3")  # rope types whose positions count the scaling


def check_context_length(
    model: str,
    needed_tokens: int,
    engine_args: Mapping[str, Any] | None = None,
    *,
    hint: str = "give a smaller --input-len or --output-len",
) -> None:
    """Raises CaptureError (USAGE) where a request of so many tokens, prompt and output, cannot run.

    `engine_args` are keywords of the engine's constructor; those that set the limit are heeded.
    Nothing is refused where the config is not at hand or does not say.
    """
    given = engine_args or {}
    for keyword in _LIMITS:
        limit = _positive(given.get(keyword))
        if limit is not None and needed_tokens > limit:
            raise CaptureError(
                f"prompt and output need {needed_tokens} tokens, and {keyword} is {limit}",
                f"{hint}, or a larger {keyword}",
                USAGE,
            )
    if any(key in given for key in _OVERRIDES) or any(map(_is_set, _ALLOWED_LONGER)):
        return
    try:
        config = load_config(locate(model).config)
    except CaptureError:  # of the hub and not here, or what the engine will say better
        return
    limit = context_length(config)
    if limit is not None and needed_tokens > limit:
        raise CaptureError(
            f"prompt and output need {needed_tokens} tokens, and {model} takes {limit} by its"
            " config.json",
            hint,
            USAGE,
        )


def context_length(config: Mapping[str, Any]) -> int | None:
    """The most tokens that an engine lets a request of the model have; None: it does not say.

    Versions of engines differ on scaled positions; this is the largest that any of them takes.
    """
    text = text_config(config)
    strongest = _positive(text.get(_STRONGEST))
    if strongest is not None:
        return strongest
    found = [n for n in (_positive(text.get(key)) for key in _KEYS) if n is not None]
    if not found:
        return None
    positions = min(found)
    return max([positions, *(_scaled(rope, positions) for rope in _scalings(text))])


def fitting_input(config: Mapping[str, Any], wanted: int, output: int) -> int:
    """The prompt tokens that leave room for `output` more: `wanted`, or what the model takes."""
    limit = context_length(config)
    return wanted if limit is None else max(1, min(wanted, limit - output))


def _scalings(text: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """What a config says of its rotary embedding, for all layers or for each kind of them."""
    for key in ("rope_scaling", "rope_parameters"):
        rope = text.get(key)
        if isinstance(rope, dict):
            yield rope
            yield from (part for part in rope.values() if isinstance(part, dict))


def _scaled(rope: Mapping[str, Any], positions: int) -> int:
    kind, factor = rope.get("rope_type", rope.get("type")), rope.get("factor")
    if kind in _ALREADY_SCALED or not isinstance(factor, (int, float)) or not 1 < factor < 1e6:
        return positions
    if "yarn" in str(kind):  # of the positions before; some versions take them as scaled already
        before = _positive(rope.get("original_max_position_embeddings"))
        return positions if before is None else int(before * factor)
    return int(positions * factor)


def _positive(value: object) -> int | None:
    """A number of tokens, also as text; None for "auto", -1 and all else that is none."""
    if isinstance(value, str) and value.isdecimal() and len(value) < _DIGITS:
        value = int(value)
    if not is_whole(value):
        return None
    return value if 0 < value < 10**_DIGITS else None


def _is_set(variable: str) -> bool:
    return os.environ.get(variable, "").lower() in ("1", "true")
