"""Rank 0 of TP=N for every real config, against sizes derived by hand (`rank_zero_by_hand`).

Everything that is not named there must be unchanged: the whole config is compared.
"""

from __future__ import annotations

from typing import Any

import pytest
import real_configs
from rank_zero_by_hand import DEEPSEEK, EXPECTED, LLAMA4, ROOT_IDS

from layerscope.capture import model_files
from layerscope.capture.config_patch.changes import Changes
from layerscope.capture.config_patch.mock_options import MockOptions
from layerscope.capture.config_patch.tensor_parallel import mock_rank_zero
from layerscope.capture.errors import INVALID_INPUT, CaptureError

_NEEDS_CONFIGS = pytest.mark.usefixtures("real_configs_here")


def _mocked(name: str, options: MockOptions) -> tuple[dict[str, Any], Changes]:
    config, changes = real_configs.read(name), Changes()
    mock_rank_zero(config, options, changes)
    return config, changes


def _expected(name: str, keys: dict[str, Any]) -> dict[str, Any]:
    config = real_configs.read(name)
    for path, value in keys.items():
        holder = model_files.text_config(config)
        *parents, key = path.split(".")
        for parent in parents:
            holder = holder[parent]
        holder[key] = value
    return config | ROOT_IDS.get(name, {})


@_NEEDS_CONFIGS
def test_the_table_has_every_real_config() -> None:
    assert sorted(EXPECTED) == real_configs.names()


@_NEEDS_CONFIGS
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_rank_zero_has_the_sizes_derived_by_hand(name: str) -> None:
    ranks, keys = EXPECTED[name]
    config, _ = _mocked(name, MockOptions(ranks))
    assert config == _expected(name, keys)


@_NEEDS_CONFIGS
@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_every_changed_key_is_listed_with_what_it_was(name: str) -> None:
    ranks, keys = EXPECTED[name]
    _, changes = _mocked(name, MockOptions(ranks))
    prefix = ".".join(model_files.text_path(real_configs.read(name)))
    expected = {f"{prefix}.{key}" if prefix else key for key in keys} | {*ROOT_IDS.get(name, {})}
    assert {change.key for change in changes.changes} == expected
    assert all(change.before != change.after and change.why for change in changes.changes)


# name, options, keys of the text model; derived as above.
_OTHER_WAYS = (
    # 256 experts / 8; they and their shared expert keep their width.
    (
        "deepseek-ai--DeepSeek-R1",
        MockOptions(8, moe="ep"),
        {**DEEPSEEK, "moe_intermediate_size": 2048, "n_routed_experts": 32},
    ),
    # Whole shared experts beside divided ones: 8 of an eighth of the width are one whole.
    (
        "deepseek-ai--DeepSeek-R1",
        MockOptions(8, shared="whole"),
        {**DEEPSEEK, "n_shared_experts": 8},
    ),
    # TP=16: the fp8 blocks of 128 x 128 are just whole: 2048 / 16 = 128, 18432 / 16 = 9 x 128.
    (
        "deepseek-ai--DeepSeek-V3",
        MockOptions(16),
        {
            "num_attention_heads": 8,
            "num_key_value_heads": 8,
            "intermediate_size": 1152,
            "moe_intermediate_size": 128,
            "vocab_size": 8080,
        },
    ),
    (
        "deepseek-ai--DeepSeek-V3",
        MockOptions(8, keep_vocab=True),
        {**DEEPSEEK, "vocab_size": 129280},
    ),
    # 16 experts / 8; the shared expert has the experts' width and stays whole with it.
    (
        "meta-llama--Llama-4-Scout-17B-16E-Instruct",
        MockOptions(8, moe="ep"),
        {**LLAMA4, "intermediate_size": 8192, "num_local_experts": 2},
    ),
    # 288 experts / 8, a shared expert left whole; 11264 / 8 = 1408 = 11 x 128.
    (
        "stepfun-ai--Step-3.7-Flash-FP8",
        MockOptions(8, moe="ep", shared="whole"),
        {
            "num_attention_heads": 8,
            "num_key_value_heads": 1,
            "intermediate_size": 1408,
            "num_experts": 36,
            "vocab_size": 16112,
        },
    ),
    # TensorRT-LLM: 1280 = 10 blocks of 128, of which 8 ranks can take 2 parts (gcd of 10 and 8).
    (
        "stepfun-ai--Step-3.7-Flash-FP8",
        MockOptions(8, moe="ep", engine="trtllm"),
        {
            "num_attention_heads": 8,
            "num_key_value_heads": 1,
            "intermediate_size": 1408,
            "num_experts": 36,
            "share_expert_dim": 640,
            "vocab_size": 16112,
        },
    ),
    # gpt-oss, 16 ranks: 90 blocks / 16, rounded up: 6 blocks = 192; 8 KV heads on 16 ranks.
    (
        "openai--gpt-oss-120b",
        MockOptions(16, keep_vocab=True),
        {"num_attention_heads": 4, "num_key_value_heads": 1, "intermediate_size": 192},
    ),
)


@_NEEDS_CONFIGS
@pytest.mark.parametrize(("name", "options", "keys"), _OTHER_WAYS)
def test_other_ways_to_spread_a_model(
    name: str, options: MockOptions, keys: dict[str, Any]
) -> None:
    config, _ = _mocked(name, options)
    assert config == _expected(name, keys)


@_NEEDS_CONFIGS
@pytest.mark.parametrize("path", real_configs.hf_quant_files(), ids=lambda path: path.name)
def test_an_hf_quant_config_is_no_model_config(path: Any) -> None:
    with pytest.raises(CaptureError, match="this is an hf_quant_config") as refused:
        model_files.load_config(path)
    assert refused.value.code == INVALID_INPUT
    assert "config.json that lies beside it" in refused.value.hint


@_NEEDS_CONFIGS
def test_notes_say_what_stays_whole() -> None:
    _, changes = _mocked("deepseek-ai--DeepSeek-V3.2", MockOptions(8, moe="ep"))
    notes = "\n".join(changes.notes)
    assert "shared experts are not divided" in notes
    assert "whole on every rank: q_lora_rank, kv_lora_rank, index_n_heads" in notes
    assert "token ids end at 16159" in notes


def test_a_list_of_one_size_a_layer_is_divided_or_refused() -> None:
    """Two ranks: 8 and 4 heads become 4 and 2; the layer without attention has null."""
    config: dict[str, Any] = {
        "model_type": "x",
        "hidden_size": 64,
        "num_attention_heads": 8,
        "num_attention_heads_per_layer": [8, None, 4],
    }
    odd = {**config, "num_attention_heads_per_layer": [8, "4"]}
    mock_rank_zero(config, MockOptions(2), Changes())
    assert config["num_attention_heads_per_layer"] == [4, None, 2]
    with pytest.raises(CaptureError, match="per_layer .* is no whole number"):
        mock_rank_zero(odd, MockOptions(2), Changes())


def test_one_mamba_group_is_copied_to_every_rank() -> None:
    config = {
        "model_type": "bamba",
        "hidden_size": 64,
        "num_attention_heads": 4,
        "mamba_n_heads": 8,
        "mamba_n_groups": 1,
        "mamba_d_ssm": 128,
    }
    mock_rank_zero(config, MockOptions(4), Changes())
    assert (config["mamba_n_heads"], config["mamba_n_groups"]) == (2, 1)
    assert config["mamba_d_ssm"] == 32


def test_a_mamba_width_that_follows_from_the_hidden_size_is_divided_by_its_factor() -> None:
    """Bamba: mamba_expand * hidden_size = mamba_n_heads * mamba_d_head; transformers checks it."""

    def config() -> dict[str, Any]:
        return {
            "model_type": "bamba",
            "hidden_size": 64,
            "num_attention_heads": 4,
            "mamba_n_heads": 8,
            "mamba_d_head": 16,
            "mamba_expand": 2,
        }

    halved = config()
    mock_rank_zero(halved, MockOptions(2), Changes())
    assert (halved["mamba_n_heads"], halved["mamba_expand"]) == (4, 1)  # 1 * 64 = 4 * 16
    with pytest.raises(CaptureError, match="mamba_expand 2 is not divisible by 4"):
        mock_rank_zero(config(), MockOptions(4), Changes())


def test_a_vocabulary_is_rounded_up_before_it_is_divided() -> None:
    config = {"hidden_size": 64, "num_attention_heads": 4, "head_dim": 16, "vocab_size": 1000}
    mock_rank_zero(config, MockOptions(4), Changes())
    assert config["vocab_size"] == 256  # 1000 -> 1024 = 16 x 64, / 4


def test_a_config_without_attention_heads_is_refused() -> None:
    with pytest.raises(CaptureError, match="no num_attention_heads"):
        mock_rank_zero({"n_head": 4, "n_embd": 32}, MockOptions(2), Changes())
