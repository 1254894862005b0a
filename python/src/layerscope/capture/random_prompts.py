"""Prompts of random tokens, for models whose answers do not matter."""

from __future__ import annotations

import random
from collections.abc import Sequence

from layerscope.capture.errors import CaptureError
from layerscope.capture.model_files import load_config, locate, text_config

Prompts = Sequence[list[int]]  # token ids

# Below lie special tokens of most tokenizers; above, vocabularies end.
_FIRST_TOKEN, _LAST_TOKEN = 100, 20_000


def token_range(model: str) -> tuple[int, int]:
    """The ids that prompts are made of: as many as the model's config has, where it is found."""
    try:
        size = int(text_config(load_config(locate(model).config))["vocab_size"])
    except (CaptureError, KeyError, TypeError, ValueError):
        return _FIRST_TOKEN, _LAST_TOKEN
    return tokens_within(size)


def tokens_within(vocab_size: int) -> tuple[int, int]:
    """The ids that prompts are made of in a vocabulary of this size."""
    return min(_FIRST_TOKEN, vocab_size // 2), min(_LAST_TOKEN, vocab_size - 1)


def prompts_of(batch: int, length: int, tokens: tuple[int, int], seed: int = 0) -> Prompts:
    """Random prompts, the same at every call: the second round finds them in the prefix cache.

    They differ from their first tokens on. Shared prefixes would share the KV cache, and decode
    would read less memory than requests of real users make it read.
    """
    source = random.Random(f"{batch} {length} {seed}")
    return [[source.randint(*tokens) for _ in range(length)] for _ in range(batch)]
