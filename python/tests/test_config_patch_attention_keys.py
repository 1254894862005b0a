"""Heads and KV heads under every key that engines read, and in settings of some layers alone.

Sizes are derived by hand: heads / ranks; KV heads / ranks, or one a rank where there are fewer.
"""

from __future__ import annotations

import copy
from typing import Any

import pytest

from layerscope.capture.config_patch.changes import Changes
from layerscope.capture.config_patch.fewer_layers import cut_layers
from layerscope.capture.config_patch.mock_options import MockOptions
from layerscope.capture.config_patch.tensor_parallel import mock_rank_zero
from layerscope.capture.errors import CaptureError

_FP8 = {"quant_method": "fp8", "weight_block_size": [128, 128]}


def _model(**keys: Any) -> dict[str, Any]:
    return {"hidden_size": 4096, "num_attention_heads": 32, "head_dim": 128, **keys}


def _rank(config: dict[str, Any], ranks: int) -> dict[str, Any]:
    mocked = copy.deepcopy(config)
    mock_rank_zero(mocked, MockOptions(ranks), Changes())
    return mocked


@pytest.mark.parametrize(
    "key",
    [
        "num_key_value_heads",
        "num_global_key_value_heads",
        "swa_num_key_value_heads",
        "num_kv_heads",
        "n_head_kv",
        "n_kv_heads",
        "kv_n_heads",
        "multi_query_group_num",
        "num_attention_groups",
    ],
)
def test_kv_heads_are_divided_under_every_name(key: str) -> None:
    assert _rank(_model(**{key: 8}), 4) == _model(**{key: 2}, num_attention_heads=8)
    assert _rank(_model(**{key: 2}), 8) == _model(**{key: 1}, num_attention_heads=4)
    with pytest.raises(CaptureError, match=f"{key} 6 neither divides nor is divided by 8"):
        _rank(_model(**{key: 6}), 8)
    with pytest.raises(CaptureError, match=f"{key} 12 is not divisible by 8"):
        _rank(_model(**{key: 12}), 8)


def test_heads_of_layers_with_a_sliding_window_are_divided() -> None:
    """MiMo-V2-Flash: 64 heads and 4 KV heads, with a window 64 and 8; 8 ranks."""
    config = _model(
        num_attention_heads=64,
        num_key_value_heads=4,
        swa_num_attention_heads=64,
        swa_num_key_value_heads=8,
        swa_head_dim=192,
    )
    expected = config | {"num_attention_heads": 8, "num_key_value_heads": 1}
    assert _rank(config, 8) == expected | {
        "swa_num_attention_heads": 8,
        "swa_num_key_value_heads": 1,
    }
    step = _model(num_attention_heads=64, num_key_value_heads=8, num_sliding_attention_heads=96)
    assert _rank(step, 8) == _model(
        num_attention_heads=8, num_key_value_heads=1, num_sliding_attention_heads=12
    )


def test_heads_of_linear_attention_are_divided() -> None:
    """Those of transformers' Kimi-Linear stand beside the heads of full attention."""
    config = _model(num_key_value_heads=32, linear_num_heads=32, linear_head_dim=128)
    divided = {"num_attention_heads": 8, "num_key_value_heads": 8, "linear_num_heads": 8}
    assert _rank(config, 4) == config | divided


def test_lists_of_heads_are_divided_entry_by_entry() -> None:
    """0 and null: layers without attention."""
    config = _model(
        num_attention_heads_per_layer=[32, 64, 0],
        num_key_value_heads_per_layer=[8, 2, 0, None],
        num_key_value_heads=[16, 4],
    )
    assert _rank(config, 4) == _model(
        num_attention_heads=8,
        num_attention_heads_per_layer=[8, 16, 0],
        num_key_value_heads_per_layer=[2, 1, 0, None],
        num_key_value_heads=[4, 1],
    )
    with pytest.raises(CaptureError, match="neither divides"):
        _rank(_model(num_key_value_heads=[8, 3]), 4)


def test_the_other_attention_of_step_3_5_is_divided() -> None:
    """vLLM's step3p5.py: of layers with a sliding window; 96 heads in 8 groups, 8 ranks."""
    setting = {
        "attention_type": "sliding_attention",
        "num_attention_heads": 96,
        "num_attention_groups": 8,
        "head_dim": 128,
    }
    config = _model(num_attention_heads=64, num_attention_groups=8, attention_other_setting=setting)
    divided = setting | {"num_attention_heads": 12, "num_attention_groups": 1}
    assert _rank(config, 8) == _model(
        num_attention_heads=8, num_attention_groups=1, attention_other_setting=divided
    )
    changes = Changes()
    mock_rank_zero(config, MockOptions(8), changes)
    assert [change.key for change in changes.changes] == [
        "num_attention_heads",
        "num_attention_groups",
        "attention_other_setting.num_attention_heads",
        "attention_other_setting.num_attention_groups",
    ]
    with pytest.raises(CaptureError, match="attention_other_setting.num_attention_heads 12 is not"):
        _rank(config | {"num_attention_heads": 64, "num_attention_groups": 8}, 8)


def test_settings_of_single_layers_are_divided() -> None:
    config = _model(
        num_key_value_heads=8,
        per_layer_config={"3": {"num_attention_heads": 64}, "5": {"num_key_value_heads": 2}},
    )
    assert _rank(config, 4) == _model(
        num_attention_heads=8,
        num_key_value_heads=2,
        per_layer_config={"3": {"num_attention_heads": 16}, "5": {"num_key_value_heads": 1}},
    )


@pytest.mark.parametrize(
    ("inner", "said"),
    [
        ({"attention_of_odd_layers": {"num_attention_heads": 16}}, "num_attention_heads 16"),
        ({"attn_config": {"kv_n_heads": 8}}, "attn_config.kv_n_heads 8"),
        (
            {"block_configs": [{"attention": {"n_heads_in_group": 8}}]},
            "block_configs.0.attention.n_heads_in_group 8",
        ),
        ({"block_configs": [{"n_routed_experts": 64}]}, "block_configs.0.n_routed_experts 64"),
        ({"per_layer_config": {"1": {"intermediate_size": 512}}}, "1.intermediate_size 512"),
    ],
)
def test_sizes_in_objects_without_a_rule_are_refused(inner: dict[str, Any], said: str) -> None:
    with pytest.raises(CaptureError, match=f"{said}: no rule"):
        _rank(_model(**inner), 2)


def test_towers_in_a_flat_config_are_models_of_their_own() -> None:
    config = _model(
        vision_config={"hidden_size": 1024, "num_attention_heads": 15, "intermediate_size": 7},
        towers=[{"model_type": "siglip", "num_attention_heads": 15}],
    )
    assert _rank(config, 2) == config | {"num_attention_heads": 16}


def test_blocks_of_quantised_weights_are_checked_in_every_attention() -> None:
    """Heads of 64: 16 of them are 1024, eight blocks of 128; of 16 ranks each has half a block."""
    config = _model(head_dim=64, quantization_config=_FP8)
    with pytest.raises(CaptureError, match="k_proj 256 / 4 = 64 is not whole blocks"):
        _rank(config | {"num_kv_heads": 4}, 4)
    assert _rank(config | {"num_kv_heads": 8}, 4)["num_kv_heads"] == 2
    setting = {"attention_other_setting": {"num_attention_heads": 4, "num_kv_heads": 4}}
    with pytest.raises(CaptureError, match="attention_other_setting.q_proj 256 / 4 = 64 is not"):
        _rank(config | {"num_kv_heads": 8} | setting, 4)
    sliding = {"swa_num_attention_heads": 16, "swa_num_key_value_heads": 8, "swa_head_dim": 32}
    with pytest.raises(CaptureError) as refused:  # 8 x 32 / 4
        _rank(config | {"num_kv_heads": 8} | sliding, 4)
    assert "sliding.k_proj 256 / 4 = 64 is not whole blocks" in refused.value.message


def test_values_may_have_heads_of_another_width() -> None:
    """MiMo-V2: 32 x 128 go into o_proj, of 4 ranks 1024; 32 x 192 would be 1536."""
    wide = _model(head_dim=192, v_head_dim=128, num_key_value_heads=8, quantization_config=_FP8)
    assert _rank(wide, 4)["num_attention_heads"] == 8
    narrow = wide | {"v_head_dim": 16}  # 512 / 8
    with pytest.raises(CaptureError, match="o_proj 512 / 8 = 64 is not whole blocks"):
        _rank(narrow | {"head_dim": 1024}, 8)


def test_a_head_dim_that_is_written_out_is_said() -> None:
    """4096 / 32 = 128. Some classes compute it anew, from the heads of a rank."""
    config, changes = _model(), Changes()
    del config["head_dim"]
    mock_rank_zero(config, MockOptions(4), changes)
    assert config["head_dim"] == 128
    assert any("head_dim 128 is written out" in note for note in changes.notes)
    mock_rank_zero(_model(), MockOptions(4), given := Changes())
    assert not any("head_dim" in note for note in given.notes)


def test_a_cut_drops_the_settings_of_layers_that_are_gone() -> None:
    config = {"num_hidden_layers": 6, "per_layer_config": {"1": {"x": 1}, "4": {"x": 2}}}
    cut_layers(config, 4, Changes())
    assert config == {"num_hidden_layers": 4, "per_layer_config": {"1": {"x": 1}}}
