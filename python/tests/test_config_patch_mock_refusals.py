"""What does not divide: why, and what is offered instead; the blocks of quantised weights."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import real_configs

from layerscope.capture import model_files
from layerscope.capture.config_patch.changes import Changes
from layerscope.capture.config_patch.mock_options import MockOptions
from layerscope.capture.config_patch.tensor_parallel import mock_rank_zero
from layerscope.capture.errors import CaptureError

_NEEDS_CONFIGS = pytest.mark.usefixtures("real_configs_here")


# name, options, what the refusal says, what it offers.
_REFUSALS = (
    # 1536 / 8 = 192 = 1.5 blocks: vLLM and SGLang refuse it with the same figure.
    (
        "Qwen--Qwen3-235B-A22B-FP8",
        MockOptions(8),
        "moe_intermediate_size 1536 / 8 = 192",
        "2, 4 with --moe tp; 2, 4, 8 with --moe ep",
    ),
    (
        "MiniMaxAI--MiniMax-M2.5",
        MockOptions(8),
        "intermediate_size 1536 / 8 = 192",
        "2, 4 with --moe tp",
    ),
    (
        "stepfun-ai--Step-3.7-Flash-FP8",
        MockOptions(8),
        "share_expert_dim 1280 / 8 = 160",
        "2 with --moe tp; 2, 4, 8 with --moe ep --shared-experts whole",
    ),
    (
        "deepseek-ai--DeepSeek-R1",
        MockOptions(32),
        "moe_intermediate_size 2048 / 32 = 64",
        "2, 4, 8, 16 with --moe tp",
    ),
    (
        "meta-llama--Llama-4-Scout-17B-16E-Instruct",
        MockOptions(16),
        "num_attention_heads 40 is not divisible by 16",
        "2, 4, 8",
    ),
    (
        "Qwen--Qwen3.5-122B-A10B",
        MockOptions(32),
        "linear_num_key_heads 16 is not divisible by 32",
        "2, 4, 8, 16",
    ),
    (
        "deepseek-ai--DeepSeek-V4-Flash",
        MockOptions(16),
        "o_groups 8 is not divisible by 16",
        "2, 4, 8",
    ),
    (
        "nvidia--Nemotron-H-56B-Base-8K",
        MockOptions(16),
        "n_groups 8 is not divisible by 16",
        "2, 4, 8",
    ),
    (
        "Qwen--Qwen3-30B-A3B",
        MockOptions(6),
        "num_key_value_heads 4 neither divides nor is divided by 6",
        "2, 4, 8",
    ),
    ("Qwen--Qwen3-8B", MockOptions(3), "num_attention_heads 32 is not divisible by 3", "2, 4, 8"),
    (
        "moonshotai--Kimi-K3",
        MockOptions(5),
        "linear_attn_config.num_heads 96 is not divisible by 5",
        "2, 4",
    ),
    # 256 / 64 = 4 experts, of which no token can take 8.
    (
        "deepseek-ai--DeepSeek-R1",
        MockOptions(64, moe="ep"),
        "4 experts a rank are fewer than the 8 of a token",
        "--moe ep",
    ),
    # 256 / 32 = 8 experts in 8 groups: a token may use 4 groups, so 4 experts, and takes 8.
    (
        "deepseek-ai--DeepSeek-R1",
        MockOptions(32, moe="ep"),
        "8 experts a rank in 8 groups leave no 8 experts in 4 groups",
        "--moe ep",
    ),
    (
        "mistralai--Mixtral-8x7B-v0.1",
        MockOptions(16, moe="ep"),
        "num_local_experts 8 is not divisible by 16",
        "2, 4 with --moe ep",
    ),
    (
        "meta-llama--Llama-4-Scout-17B-16E-Instruct",
        MockOptions(8, shared="whole"),
        "shared experts have the width of intermediate_size",
        "2, 4, 8 with --moe ep --shared-experts whole",
    ),
)


@_NEEDS_CONFIGS
@pytest.mark.parametrize(("name", "options", "says", "offers"), _REFUSALS)
def test_what_does_not_divide_is_refused_with_what_would(
    name: str, options: MockOptions, says: str, offers: str
) -> None:
    config = real_configs.read(name)
    before = copy.deepcopy(config)
    with pytest.raises(CaptureError) as refused:
        mock_rank_zero(config, options, Changes())
    assert says in refused.value.message
    assert offers in refused.value.hint
    assert config == before  # nothing half-divided


@_NEEDS_CONFIGS
def test_nvfp4_blocks_come_from_the_hf_quant_config_beside() -> None:
    name = "nvidia--DeepSeek-V3.1-NVFP4"
    quant = model_files.load_json(real_configs.FOLDER / f"{name}_hf_quant_config.json")
    config = real_configs.read(name)
    config["moe_intermediate_size"] = 2048 + 16 * 64  # 192 groups of 16: 128 ranks get 1.5 each
    with pytest.raises(CaptureError) as refused:
        mock_rank_zero(config, MockOptions(128), Changes(), quant)
    assert "3072 / 128 = 24 is not whole blocks of 16 (NVFP4 group 16)" in refused.value.message
    mock_rank_zero(config, MockOptions(64), Changes(), quant)  # 3 groups each
    assert config["moe_intermediate_size"] == 48


def test_options_are_offered_only_where_they_help() -> None:
    """1000 tokens are 1024 padded, which 3 and 6 do not divide; 12 heads they do."""
    config = {"hidden_size": 96, "num_attention_heads": 12, "vocab_size": 1000}
    with pytest.raises(CaptureError) as refused:
        mock_rank_zero(config, MockOptions(6), Changes())
    assert refused.value.hint == "these divide: 2, 4; 2, 3, 4, 6 with --keep-vocab"
    with pytest.raises(CaptureError) as refused:
        mock_rank_zero(
            {**config, "num_attention_heads": 11, "head_dim": 8}, MockOptions(6), Changes()
        )
    assert refused.value.hint == "no number up to 8 divides"


@pytest.mark.parametrize(
    ("ranks", "offers"), [(3, "2, 4, 8"), (12, "2, 4, 8, 16"), (24, "2, 4, 8, 16, 32")]
)
def test_numbers_of_ranks_are_offered_up_to_the_next_power_of_two(ranks: int, offers: str) -> None:
    """Of 64 heads; a node has 8 GPUs, and of more the machines that are rented have 16, 32, …"""
    config = {"hidden_size": 4096, "num_attention_heads": 64}
    with pytest.raises(CaptureError) as refused:
        mock_rank_zero(config, MockOptions(ranks), Changes())
    assert refused.value.hint == f"these divide: {offers}"


def _quantised(quant: dict[str, Any], **sizes: Any) -> dict[str, Any]:
    """Two heads of 128 a rank of two, and no width but those of `sizes`."""
    heads = {"hidden_size": 512, "num_attention_heads": 4, "head_dim": 128}
    return {**heads, **sizes, "quantization_config": {"quant_method": "fp8", **quant}}


def test_a_block_that_is_not_square_is_whole_in_both_directions() -> None:
    """The width is an output of gate_proj, 96 a block, and an input of down_proj, 64 a block.

    384 / 2 = 192 are 2 blocks and 3; 384 / 4 = 96 are 1 and 1.5. Both are whole at 192, and no
    number below is.
    """
    quant = {"weight_block_size": [96, 64], "modules_to_not_convert": ["self_attn"]}
    config = _quantised(quant, intermediate_size=384)
    with pytest.raises(CaptureError, match="384 / 4 = 96 is not whole blocks of 192 .fp8 96x64"):
        mock_rank_zero(config, MockOptions(4), Changes())
    mock_rank_zero(config, MockOptions(2), Changes())
    assert config["intermediate_size"] == 192


def test_experts_of_nvfp4_have_blocks_of_their_own() -> None:
    """Experts of 96 are 6 groups of 16: 3 on each of 2 ranks, 1.5 on 4. 128 never divided them."""
    quant = {"weight_block_size": [128, 128], "moe_quant_algo": "NVFP4"}
    experts = {"num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 96}
    config = _quantised(quant, **experts)
    with pytest.raises(CaptureError, match="96 / 4 = 24 is not whole blocks of 16 .NVFP4 group 16"):
        mock_rank_zero(config, MockOptions(4), Changes())
    mock_rank_zero(config, MockOptions(2), Changes())
    assert config["moe_intermediate_size"] == 48
    wider = _quantised({**quant, "group_size": 32}, **experts)  # 3 groups
    with pytest.raises(CaptureError, match="96 / 2 = 48 is not whole blocks of 32 .NVFP4 group 32"):
        mock_rank_zero(wider, MockOptions(2), Changes())


def test_text_of_a_config_begins_no_line_of_a_refusal() -> None:
    config = _quantised(
        {"quant_method": "fp8\nall is well", "weight_block_size": [128, 128]}, intermediate_size=384
    )
    with pytest.raises(CaptureError) as refused:
        mock_rank_zero(config, MockOptions(2), Changes())
    assert r"(fp8\nall is well 128x128)" in str(refused.value)


@_NEEDS_CONFIGS
@pytest.mark.parametrize(
    "given", [MockOptions(48), MockOptions(48, "ep"), MockOptions(48, "ep", "whole")], ids=str
)
def test_what_a_refusal_offers_is_not_refused(given: MockOptions) -> None:
    """The options of each hint are given as the command line would give them."""
    offers = 0
    for name in (
        "stepfun-ai--Step-3.7-Flash-FP8",
        "zai-org--GLM-5-FP8",
        "Qwen--Qwen3-235B-A22B-FP8",
    ):
        with pytest.raises(CaptureError) as refused:
            mock_rank_zero(real_configs.read(name), given, Changes())
        for way in refused.value.hint.removeprefix("these divide: ").split("; "):
            numbers, _, words = way.partition(" with ")
            options = dict(zip(words.split()[::2], words.split()[1::2], strict=False))
            for number in map(int, numbers.split(", ")):
                moe = options.get("--moe", "tp")
                mock_rank_zero(
                    real_configs.read(name),
                    MockOptions(number, moe, options.get("--shared-experts", "divided")),
                    Changes(),
                )
                offers += 1
    assert offers >= 9


def test_tensorrt_llm_leaves_whole_what_has_too_few_blocks() -> None:
    config = {
        "hidden_size": 512,
        "num_attention_heads": 4,
        "head_dim": 128,
        "intermediate_size": 384,  # 3 blocks on 2 ranks
        "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]},
    }
    with pytest.raises(CaptureError, match="384 / 2 = 192 is not whole blocks"):
        mock_rank_zero(config, MockOptions(2), Changes())
    mock_rank_zero(config, MockOptions(2, engine="trtllm"), Changes())
    assert (config["intermediate_size"], config["num_attention_heads"]) == (384, 2)
