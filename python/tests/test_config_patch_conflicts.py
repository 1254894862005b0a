"""config-patch with options that contradict each other, or of which one changes another's value."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import RunCapture

_CONFIG = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "num_hidden_layers": 4,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 4,
    "intermediate_size": 128,
    "vocab_size": 64,
    "rope_scaling": {"factor": 2.0},
    "auto_map": {"AutoConfig": "code.Config"},
}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "m"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(_CONFIG))
    return folder


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("--model-type gpt2", "--set model_type=llama"),
        ("--architectures A", '--set architectures=["B"]'),
        ("--architectures A", "--set architectures.0=B"),
        ("--model-type gpt2", '--set auto_map={"AutoConfig":"new.Config"}'),
        ("--set hidden_size=32", "--unset hidden_size"),
        ("--set hidden_size=32", "--set hidden_size=16"),
        ("--set rope_scaling.factor=4", "--unset rope_scaling"),
        ("--set rope_scaling.factor=4", "--set rope_scaling={}"),
    ],
)
def test_options_that_contradict_each_other_are_both_named(
    one: str, other: str, model: Path, run_capture: RunCapture, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = run_capture("config-patch", model, *one.split(), *other.split(), "-o", out)
    assert done.code == 2
    assert one in done.err and other in done.err and "contradict" in done.err
    assert not out.exists()


@pytest.mark.parametrize(
    "options",
    [
        "--unset rope_scaling --add rope_scaling={}",
        "--unset rope_scaling --add rope_scaling={} --add rope_scaling.factor=4",
        "--set rope_scaling={} --add rope_scaling.factor=4",
        "--model-type gpt2 --unset auto_map --set hidden_size=32",
    ],
)
def test_what_is_made_anew_contradicts_nothing(
    options: str, model: Path, run_capture: RunCapture, tmp_path: Path
) -> None:
    done = run_capture("config-patch", model, *options.split(), "-o", tmp_path / "out")
    assert done.code == 0, done.err


def test_a_set_value_that_ranks_divide_is_said(
    model: Path, run_capture: RunCapture, tmp_path: Path
) -> None:
    """8 of the whole model are 4 of each of two ranks; 5 layers are cut to 2."""
    words = ("--set", "num_attention_heads=8", "--set", "num_hidden_layers=5")
    cut = ("--mock-tp", 2, "--layers", 2, "--cut")
    done = run_capture("config-patch", model, *words, *cut, "-o", tmp_path / "out")
    assert done.code == 0, done.err
    whole = "of --set is that of the whole model"
    assert f"note: num_attention_heads: the 8 {whole}; 4 is written\n" in done.out
    assert f"note: num_hidden_layers: the 5 {whole}; 2 is written\n" in done.out


def test_a_config_without_its_layer_count_is_not_written(
    model: Path, run_capture: RunCapture, tmp_path: Path
) -> None:
    words = ("config-patch", model, "--unset", "num_hidden_layers", "-o", tmp_path / "out")
    refused = run_capture(*words)
    assert refused.code == 2 and "no layer count" in refused.err
    assert run_capture(*words, "--add", "n_layer=4").code == 0
