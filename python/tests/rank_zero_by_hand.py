"""Rank 0 of TP=N for every real config: the sizes, derived by hand.

How they were derived: the sizes of the published configs divided with pencil and paper by the rules
of docs/new-model.md. Heads / N; KV heads / N, or 1 where there are fewer than N; with
kv_lora_rank, num_key_value_heads goes with the heads; widths of MLPs and experts / N; Mamba and
linear-attention heads and groups / N; the vocabulary rounded up to 64 (all of these are multiples
already) / N. Token ids beyond it, smallest first, go to 1, 2, 3, … but for ids that the config has
there; where the text model's config is an inner one, ROOT_IDS has those of the wrapper.
"""

from __future__ import annotations

from typing import Any

_QWEN_IDS = {"bos_token_id": 1, "eos_token_id": 2}  # 151643, 151645
_LLAMA_IDS = {"bos_token_id": 1, "eos_token_id": 2}  # 128000, 128001
_KIMI_IDS = {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 4}  # 163584, …586, 163839
_GLM_IDS = {"eos_token_id": [1, 2, 3], "pad_token_id": 1}  # 154820, …827, …829; pad is the first

_KIMI_ROOT = {**_KIMI_IDS, "media_placeholder_token_id": 3}  # 163605, before pad
_QWEN35_ROOT = {  # after eos 248044: 248053, 248054, 248056, 248057
    "vision_start_token_id": 2,
    "vision_end_token_id": 3,
    "image_token_id": 4,
    "video_token_id": 5,
}
# Token ids of wrappers, by name of the config.
ROOT_IDS: dict[str, dict[str, Any]] = {
    "Qwen--Qwen3-VL-30B-A3B-Instruct": {"image_token_id": 3, "video_token_id": 4},  # 151655, …656
    "Qwen--Qwen3.5-122B-A10B": _QWEN35_ROOT,
    "Qwen--Qwen3.5-35B-A3B": _QWEN35_ROOT,
    "google--gemma-4-26B-A4B": {  # 0, 1, 2 are pad, eos, bos
        "boi_token_id": 3,  # 255999
        "boa_token_id": 4,  # 256000
        "image_token_id": 5,  # 258880
        "audio_token_id": 6,  # 258881
        "eoi_token_id": 7,  # 258882
        "eoa_token_id": 8,  # 258883, under two names
        "eoa_token_index": 8,
        "video_token_id": 9,  # 258884
    },
    "moonshotai--Kimi-K3": _KIMI_ROOT,
    "nvidia--Kimi-K2.6-NVFP4": _KIMI_ROOT,
}

DEEPSEEK = {  # 128 heads, dense 18432, experts 2048, vocabulary 129280
    "num_attention_heads": 16,
    "num_key_value_heads": 16,
    "intermediate_size": 2304,
    "moe_intermediate_size": 256,
    "vocab_size": 16160,
}
_KIMI = {  # 64 heads, else as DeepSeek-V3; vocabulary 163840
    "num_attention_heads": 8,
    "num_key_value_heads": 8,
    "intermediate_size": 2304,
    "moe_intermediate_size": 256,
    "vocab_size": 20480,
}
_V4 = {  # 64 heads of one latent KV head, 8 output groups, experts 2048
    "num_attention_heads": 8,
    "o_groups": 1,
    "moe_intermediate_size": 256,
    "vocab_size": 16160,
}
_GLM = {  # 64 heads, dense 12288, experts 2048, vocabulary 154880
    "num_attention_heads": 8,
    "num_key_value_heads": 8,
    "intermediate_size": 1536,
    "moe_intermediate_size": 256,
    "vocab_size": 19360,
    **_GLM_IDS,
}
LLAMA4 = {  # 40 heads, 8 KV heads, experts and shared expert 8192, dense layers 16384
    "num_attention_heads": 5,
    "num_key_value_heads": 1,
    "intermediate_size": 1024,
    "intermediate_size_mlp": 2048,
    "vocab_size": 25256,
}
_MIXTRAL = {  # no head_dim: 4096 / 32 = 128; the experts are 14336 wide
    "head_dim": 128,
    "num_attention_heads": 4,
    "num_key_value_heads": 1,
    "intermediate_size": 1792,
    "vocab_size": 4000,
}

# name: (N, keys of the text model that change). N = 8 unless that does not divide.
EXPECTED: dict[str, tuple[int, dict[str, Any]]] = {
    "MiniMaxAI--MiniMax-M2.5": (
        4,  # 48 heads; experts 1536 / 4 = 384 = 3 x 128; vocabulary 200064
        {
            "num_attention_heads": 12,
            "num_key_value_heads": 2,
            "intermediate_size": 384,
            "vocab_size": 50016,
        },
    ),
    "Qwen--Qwen3-0.6B": (
        8,
        {
            "num_attention_heads": 2,
            "num_key_value_heads": 1,
            "intermediate_size": 384,
            "vocab_size": 18992,
            **_QWEN_IDS,
        },
    ),
    "Qwen--Qwen3-235B-A22B-FP8": (
        4,  # 1536 / 4 = 384 = 3 x 128; 151936 / 4 = 37984
        {
            "num_attention_heads": 16,
            "num_key_value_heads": 1,
            "intermediate_size": 3072,
            "moe_intermediate_size": 384,
            "vocab_size": 37984,
            **_QWEN_IDS,
        },
    ),
    "Qwen--Qwen3-235B-A22B": (
        8,  # 4 KV heads on 8 ranks: one each; no blocks in bf16
        {
            "num_attention_heads": 8,
            "num_key_value_heads": 1,
            "intermediate_size": 1536,
            "moe_intermediate_size": 192,
            "vocab_size": 18992,
            **_QWEN_IDS,
        },
    ),
    "Qwen--Qwen3-30B-A3B": (
        8,
        {
            "num_attention_heads": 4,
            "num_key_value_heads": 1,
            "intermediate_size": 768,
            "moe_intermediate_size": 96,
            "vocab_size": 18992,
            **_QWEN_IDS,
        },
    ),
    "Qwen--Qwen3-32B": (
        8,
        {
            "num_attention_heads": 8,
            "num_key_value_heads": 1,
            "intermediate_size": 3200,
            "vocab_size": 18992,
            **_QWEN_IDS,
        },
    ),
    "Qwen--Qwen3-8B": (
        8,
        {
            "num_attention_heads": 4,
            "num_key_value_heads": 1,
            "intermediate_size": 1536,
            "vocab_size": 18992,
            **_QWEN_IDS,
        },
    ),
    "Qwen--Qwen3-VL-30B-A3B-Instruct": (
        8,  # the vision tower stays whole
        {
            "num_attention_heads": 4,
            "num_key_value_heads": 1,
            "intermediate_size": 768,
            "moe_intermediate_size": 96,
            "vocab_size": 18992,
            **_QWEN_IDS,
        },
    ),
    "Qwen--Qwen3.5-122B-A10B": (
        8,  # gated delta net: 16 key heads, 64 value heads; eos 248044
        {
            "num_attention_heads": 4,
            "num_key_value_heads": 1,
            "linear_num_key_heads": 2,
            "linear_num_value_heads": 8,
            "moe_intermediate_size": 128,
            "shared_expert_intermediate_size": 128,
            "vocab_size": 31040,
            "eos_token_id": 1,
        },
    ),
    "Qwen--Qwen3.5-35B-A3B": (
        8,
        {
            "num_attention_heads": 2,
            "num_key_value_heads": 1,
            "linear_num_key_heads": 2,
            "linear_num_value_heads": 4,
            "moe_intermediate_size": 64,
            "shared_expert_intermediate_size": 64,
            "vocab_size": 31040,
            "eos_token_id": 1,
        },
    ),
    "XiaomiMiMo--MiMo-7B-Base": (
        8,
        {
            "num_attention_heads": 4,
            "num_key_value_heads": 1,
            "intermediate_size": 1376,
            "vocab_size": 18960,
        },
    ),
    "blis_mixtral-8x7b-v0.1": (8, _MIXTRAL),
    "deepseek-ai--DeepSeek-R1": (8, DEEPSEEK),
    "deepseek-ai--DeepSeek-V3.2": (8, DEEPSEEK),  # index_n_heads 64 stays: replicated
    "deepseek-ai--DeepSeek-V3": (8, DEEPSEEK),
    "deepseek-ai--DeepSeek-V4-Flash": (8, _V4),
    "google--gemma-4-26B-A4B": (
        8,  # full layers have 2 KV heads of their own
        {
            "num_attention_heads": 2,
            "num_key_value_heads": 1,
            "num_global_key_value_heads": 1,
            "intermediate_size": 264,
            "moe_intermediate_size": 88,
            "vocab_size": 32768,
            "vocab_size_per_layer_input": 32768,
        },
    ),
    "meta-llama--Llama-4-Maverick-17B-128E-Instruct": (8, LLAMA4),
    "meta-llama--Llama-4-Scout-17B-16E-Instruct": (8, LLAMA4),
    "meta-llama--Meta-Llama-3.1-70B": (
        8,  # no head_dim: 8192 / 64 = 128
        {
            "head_dim": 128,
            "num_attention_heads": 8,
            "num_key_value_heads": 1,
            "intermediate_size": 3584,
            "vocab_size": 16032,
            **_LLAMA_IDS,
        },
    ),
    "meta-llama--Meta-Llama-3.1-8B": (
        8,  # no head_dim: 4096 / 32 = 128
        {
            "head_dim": 128,
            "num_attention_heads": 4,
            "num_key_value_heads": 1,
            "intermediate_size": 1792,
            "vocab_size": 16032,
            **_LLAMA_IDS,
        },
    ),
    "mistralai--Mixtral-8x7B-v0.1": (8, _MIXTRAL),
    "moonshotai--Kimi-K2-Instruct": (
        8,  # 163584, 163585
        {**_KIMI, "bos_token_id": 1, "eos_token_id": 2},
    ),
    "moonshotai--Kimi-K3": (
        8,  # 96 heads, 96 KDA heads, first layer 33792, experts 3072; latent width 3584 stays
        {
            "num_attention_heads": 12,
            "num_key_value_heads": 12,
            "linear_attn_config.num_heads": 12,
            "intermediate_size": 4224,
            "moe_intermediate_size": 384,
            "vocab_size": 20480,
            **_KIMI_IDS,
        },
    ),
    "nvidia--DeepSeek-V3.1-NVFP4": (8, DEEPSEEK),
    "nvidia--DeepSeek-V4-Flash-NVFP4": (8, _V4),
    "nvidia--Kimi-K2.6-NVFP4": (8, {**_KIMI, **_KIMI_IDS}),
    "nvidia--NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": (
        8,  # 64 Mamba heads in 8 groups; a shared expert of 3712
        {
            "num_attention_heads": 4,
            "num_key_value_heads": 1,
            "mamba_num_heads": 8,
            "n_groups": 1,
            "intermediate_size": 232,
            "moe_intermediate_size": 232,
            "moe_shared_expert_intermediate_size": 464,
            "vocab_size": 16384,
        },
    ),
    "nvidia--Nemotron-H-56B-Base-8K": (
        8,  # attention_head_dim 128 is made the head_dim
        {
            "head_dim": 128,
            "num_attention_heads": 8,
            "num_key_value_heads": 1,
            "mamba_num_heads": 32,
            "n_groups": 1,
            "intermediate_size": 4096,
            "vocab_size": 16384,
        },
    ),
    "openai--gpt-oss-120b": (
        8,  # 2880 = 90 blocks of 32; a rank takes 12 of them = 384; ids 200002, 199999
        {
            "num_attention_heads": 8,
            "num_key_value_heads": 1,
            "intermediate_size": 384,
            "vocab_size": 25136,
            "eos_token_id": 2,
            "pad_token_id": 1,
        },
    ),
    "sgl-project--DeepSeek-V4-Flash-FP8": (8, _V4),
    "stepfun-ai--Step-3.7-Flash-FP8": (
        2,  # experts and shared expert 1280 / 2 = 640 = 5 x 128; dense 11264 / 2 = 44 x 128
        {
            "num_attention_heads": 32,
            "num_key_value_heads": 4,
            "intermediate_size": 5632,
            "moe_intermediate_size": 640,
            "share_expert_dim": 640,
            "vocab_size": 64448,
        },
    ),
    "zai-org--GLM-5-FP8": (8, _GLM),
    "zai-org--GLM-5": (8, _GLM),
}
