"""Tiny random models for tests: 2 layers, hidden size 32, a few thousand weights.

Folders are what `from_pretrained` and engines load offline: config.json, model.safetensors and a
tokenizer whose every token is one word, so that token counts are known by construction.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

VOCABULARY = 128  # <unk> <s> </s> <pad>, then w4 … w127
LAYERS = 2
HIDDEN = 32
EXPERTS = 4

_QWEN3 = {
    "vocab_size": VOCABULARY,
    "hidden_size": HIDDEN,
    "intermediate_size": 64,
    "num_hidden_layers": LAYERS,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 32,  # the least that vLLM has CPU attention for
    "max_position_embeddings": 512,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "pad_token_id": 3,
    "tie_word_embeddings": False,
}
_QWEN3_MOE = {
    **_QWEN3,
    "moe_intermediate_size": 16,
    "num_experts": EXPERTS,
    "num_experts_per_tok": 2,
    "decoder_sparse_step": 1,
}
_GPT2 = {  # tied embeddings, Conv1D instead of Linear
    "vocab_size": VOCABULARY,
    "n_embd": HIDDEN,
    "n_layer": LAYERS,
    "n_head": 4,
    "n_positions": 512,
    "bos_token_id": 1,
    "eos_token_id": 2,
}


def write_tokenizer(folder: Path) -> None:
    """A word-level tokenizer: `w7 w9` is two tokens, 7 and 9."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.pre_tokenizers import WhitespaceSplit

    words = ["<unk>", "<s>", "</s>", "<pad>", *(f"w{i}" for i in range(4, VOCABULARY))]
    tokenizer = Tokenizer(WordLevel({word: i for i, word in enumerate(words)}, unk_token="<unk>"))
    tokenizer.pre_tokenizer = WhitespaceSplit()
    tokenizer.save(str(folder / "tokenizer.json"))
    settings = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "unk_token": "<unk>",
        "bos_token": "<s>",
        "eos_token": "</s>",
        "pad_token": "<pad>",
        "model_max_length": 512,
        "clean_up_tokenization_spaces": False,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))


def _write(folder: Path, config: Any, **changes: Any) -> Path:
    import torch
    from transformers import AutoModelForCausalLM

    for key, value in changes.items():
        setattr(config, key, value)
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    model.save_pretrained(folder)
    write_tokenizer(folder)
    return folder


def write_qwen3(folder: Path) -> Path:
    """A Qwen3ForCausalLM: GQA, q_norm and k_norm, untied head."""
    from transformers import Qwen3Config

    return _write(folder, Qwen3Config(**_QWEN3))


def write_qwen3_moe(folder: Path) -> Path:
    """A Qwen3MoeForCausalLM: 4 experts, 2 a token, in every layer."""
    from transformers import Qwen3MoeConfig

    return _write(folder, Qwen3MoeConfig(**_QWEN3_MOE))


def write_gpt2(folder: Path) -> Path:
    """A GPT2LMHeadModel: the head shares its weight with the embedding."""
    from transformers import GPT2Config

    return _write(folder, GPT2Config(**_GPT2))
