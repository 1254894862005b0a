"""Fewer layers: which ones are kept, and what a cut config still means to `layerscope`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import real_configs
from conftest import Program, RunCapture

from layerscope.capture import model_files, model_values
from layerscope.capture.config_patch import fewer_layers
from layerscope.capture.config_patch.changes import Changes
from layerscope.capture.errors import USAGE, CaptureError

_KEPT = 6  # reaches a full layer of every family that has one in four or six


@pytest.mark.parametrize(
    ("text", "layers"),
    [("0", [0]), ("0,2,5-8", [0, 2, 5, 6, 7, 8]), ("3-3, 0", [0, 3]), ("9,0-1,1", [0, 1, 9])],
)
def test_a_list_of_layers_is_read(text: str, layers: list[int]) -> None:
    assert fewer_layers.parse_layers(text, 10) == layers


@pytest.mark.parametrize("text", ["", "x", "1-", "-1", "4-2", "10", "0,,1", "0-10"])
def test_a_list_that_is_none_or_leaves_the_model_is_refused(text: str) -> None:
    with pytest.raises(CaptureError) as refused:
        fewer_layers.parse_layers(text, 10)
    assert refused.value.code == USAGE


def test_layer_0_must_be_kept_and_the_count_must_fit() -> None:
    config = {"num_hidden_layers": 10}
    assert fewer_layers.kept_layers(config, 3, None) == [0, 1, 2]
    with pytest.raises(CaptureError, match="layer 0 is not kept"):
        fewer_layers.kept_layers(config, None, "1-3")
    for wrong in (0, -1, 11):
        with pytest.raises(CaptureError, match="the model has 10 layers"):
            fewer_layers.kept_layers(config, wrong, None)
    with pytest.raises(CaptureError, match="no layer count"):
        fewer_layers.kept_layers({"model_type": "x"}, 3, None)


def test_lists_are_cut_with_the_layers_and_draft_entries_stay() -> None:
    config: dict[str, Any] = {
        "num_hidden_layers": 4,
        "num_nextn_predict_layers": 1,
        "compress_ratios": [0, 4, 128, 4, 0],
        "layer_types": ["a", "b", "a", "b"],
        "hybrid_override_pattern": "M*M-",
        "hidden_act": "silu",  # four letters, no pattern
        "mlp_only_layers": [0, 3],
        "first_k_dense_replace": 3,
        "eos_token_id": [1, 2, 3, 4],
        "linear_attn_config": {"kda_layers": [1, 2, 3], "full_attn_layers": [4]},
    }
    changes = Changes()
    fewer_layers.cut_layers(config, 2, changes)
    assert config == {
        "num_hidden_layers": 2,
        "num_nextn_predict_layers": 1,
        "compress_ratios": [0, 4, 0],
        "layer_types": ["a", "b"],
        "hybrid_override_pattern": "M*",
        "hidden_act": "silu",
        "mlp_only_layers": [0],
        "first_k_dense_replace": 2,
        "eos_token_id": [1, 2, 3, 4],
        "linear_attn_config": {"kda_layers": [1, 2], "full_attn_layers": []},
    }


def test_layers_that_share_keys_and_values_are_not_cut() -> None:
    config = {"num_hidden_layers": 4, "num_kv_shared_layers": 2}
    with pytest.raises(CaptureError, match="num_kv_shared_layers 2"):
        fewer_layers.cut_layers(config, 2, Changes())
    assert config == {"num_hidden_layers": 4, "num_kv_shared_layers": 2}


def test_a_model_that_ends_with_full_attention_is_cut_behind_such_a_layer() -> None:
    """Gemma 4's config class in transformers makes the last layer full, whatever the list says."""
    types = ["sliding_attention", "full_attention"] * 2
    config = {"model_type": "gemma4_text", "num_hidden_layers": 4, "layer_types": types}
    with pytest.raises(CaptureError, match="layer 2 is sliding_attention") as refused:
        fewer_layers.cut_layers(dict(config), 3, Changes())
    assert "--layers 2 or 4," in refused.value.hint
    fewer_layers.cut_layers(config, 2, Changes())
    assert config["layer_types"] == types[:2]
    other = {"model_type": "gemma3_text", "num_hidden_layers": 4, "layer_types": types}
    fewer_layers.cut_layers(other, 3, Changes())
    assert other["layer_types"] == types[:3]


def _types(program: Program, config: Path) -> list[str]:
    document = program.json("profiles", "infer", "--config", config)
    return [layer["type"] for layer in document["data"]["layers"]]


@pytest.mark.usefixtures("real_configs_here")
def test_layerscope_reads_the_cut_of_every_real_config_as_its_first_layers(
    layerscope_bin: Program, tmp_path: Path
) -> None:
    cut_path = tmp_path / "config.json"
    for name in real_configs.names():
        config = real_configs.read(name)
        fewer_layers.cut_layers(config, _KEPT, Changes())
        assert model_files.layer_count(config) == _KEPT
        cut_path.write_text(json.dumps(config))
        whole = _types(layerscope_bin, real_configs.path_of(name))
        assert _types(layerscope_bin, cut_path) == whole[:_KEPT], name


# name, layers that are left, what is cut besides layer_types: counted in the config.
_CUTS: tuple[tuple[str, int, dict[str, Any]], ...] = (
    # The first 3 layers choose experts by a table; 44 ratios are of 43 layers and a draft layer.
    (
        "deepseek-ai--DeepSeek-V4-Flash",
        2,
        {"num_hash_layers": 2, "compress_ratios": [0, 0, 0]},
    ),
    ("XiaomiMiMo--MiMo-7B-Base", 4, {"max_window_layers": 4}),  # 32 of 36
    ("deepseek-ai--DeepSeek-R1", 2, {"first_k_dense_replace": 2}),  # 3 of 61
    ("nvidia--NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", 3, {"hybrid_override_pattern": "MEM"}),
    ("moonshotai--Kimi-K3", 4, {"linear_attn_config.kda_layers": [1, 2, 3]}),
    ("moonshotai--Kimi-K3", 4, {"linear_attn_config.full_attn_layers": [4]}),
)


@pytest.mark.usefixtures("real_configs_here")
@pytest.mark.parametrize(("name", "layers", "keys"), _CUTS)
def test_what_counts_layers_is_cut_with_them(name: str, layers: int, keys: dict[str, Any]) -> None:
    config = real_configs.read(name)
    fewer_layers.cut_layers(config, layers, Changes())
    for path, value in keys.items():
        node: Any = model_files.text_config(config)
        for key in path.split("."):
            node = node[key]
        assert node == value


# An assignment, and what it leaves behind: lengths counted in the config.
_TORN = (
    (
        "deepseek-ai--DeepSeek-V4-Flash",
        "num_hidden_layers=40",
        "compress_ratios has 44 entries for 40 layers",
    ),
    (
        "nvidia--NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
        "num_hidden_layers=5",
        "hybrid_override_pattern has 52 entries for 5 layers",
    ),
    (
        "nvidia--NVIDIA-Nemotron-3-Nano-30B-A3B-BF16",
        "hybrid_override_pattern=MEM",
        "hybrid_override_pattern has 3 entries for 52 layers",
    ),
    (
        "Qwen--Qwen3.5-35B-A3B",
        "text_config.num_hidden_layers=4",
        "text_config.layer_types has 40 entries for 4 layers",
    ),
)


@pytest.mark.usefixtures("real_configs_here")
@pytest.mark.parametrize(("name", "assignment", "says"), _TORN)
def test_layers_that_their_lists_do_not_have_are_refused(
    name: str, assignment: str, says: str, run_capture: RunCapture
) -> None:
    path = real_configs.path_of(name)
    done = run_capture("config-patch", path, "--set", assignment, "--dry-run")
    assert done.code == USAGE
    assert says in done.err


@pytest.mark.usefixtures("real_configs_here")
@pytest.mark.parametrize(
    "assignments",
    [
        ("num_nextn_predict_layers=0",),  # the entry of the draft layer is nobody's then
        ("num_hidden_layers=2", "compress_ratios=[0, 0, 0]", "num_hash_layers=2"),
    ],
)
def test_layers_that_their_lists_have_are_set(
    assignments: tuple[str, ...], run_capture: RunCapture, tmp_path: Path
) -> None:
    words = [word for one in assignments for word in ("--set", one)]
    path, out = real_configs.path_of("deepseek-ai--DeepSeek-V4-Flash"), tmp_path / "out"
    done = run_capture("config-patch", path, *words, "--no-aux", "-o", out)
    assert done.code == 0, done.err
    assert model_values.impossible_values(model_files.load_config(out / "config.json")) == []


@pytest.mark.parametrize("name", ["layer_types", "mlp_layer_types", "hybrid_override_pattern"])
def test_a_list_that_is_of_layers_by_its_name_has_one_for_each(name: str) -> None:
    value = "MEM" if name.endswith("pattern") else ["full_attention"] * 3
    assert model_values.impossible_values({"num_hidden_layers": 3, name: value}) == []
    wrong = model_values.impossible_values({"num_hidden_layers": 4, name: value})
    assert wrong == [f"{name} has 3 entries for 4 layers"]


def test_text_of_a_config_begins_no_line_of_a_refusal() -> None:
    types = ["sliding\n\x1b[2Kall is well", "full_attention"]
    config = {"model_type": "gemma4_text", "num_hidden_layers": 2, "layer_types": types}
    with pytest.raises(CaptureError) as refused:
        fewer_layers.cut_layers(config, 1, Changes())
    assert r"layer 0 is sliding\n\x1b[2Kall is well, and" in str(refused.value)
    wrong = model_values.impossible_values({"a\nall is well": {"num_heads": -1}})
    assert wrong == [r"a\nall is well.num_heads is -1, no number of things"]


@pytest.mark.parametrize(
    ("numbers", "text"), [([0], "0"), ([0, 1, 2, 3, 10], "0-3, 10"), ([0, 2, 4], "0, 2, 4")]
)
def test_layers_are_written_as_ranges(numbers: list[int], text: str) -> None:
    assert fewer_layers.as_ranges(numbers) == text
