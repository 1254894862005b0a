"""config-patch of a folder that it wrote: what was patched before is carried on, or it refuses."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import RunCapture, read_json

from layerscope.capture import errors
from layerscope.capture.errors import CaptureError
from layerscope.capture.patches.model_of_plan import plan_lines

_MOE = {
    "model_type": "qwen3_moe",
    "architectures": ["Qwen3MoeForCausalLM"],
    "num_hidden_layers": 6,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "num_experts": 8,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 32,
    "vocab_size": 256,
    "max_position_embeddings": 512,
}


@pytest.fixture
def moe(tmp_path: Path) -> Path:
    folder = tmp_path / "moe"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(_MOE))
    return folder


@pytest.fixture
def rank0(moe: Path, run_capture: RunCapture, tmp_path: Path) -> Path:
    """Two of six layers, a half of the sizes; the router is the model's own."""
    out = tmp_path / "rank0"
    done = run_capture("config-patch", moe, "--layers", 2, "--mock-tp", 2, "-o", out)
    assert done.code == 0, done.err
    return out


def _plan(folder: Path) -> dict[str, Any]:
    return read_json(folder / "layerscope_patch.json")


def test_layers_and_sizes_of_before_are_carried_on(
    rank0: Path, moe: Path, run_capture: RunCapture, tmp_path: Path
) -> None:
    """As if all options had been given at once."""
    done = run_capture("config-patch", rank0, "--balanced-routing", "-o", tmp_path / "again")
    assert done.code == 0, done.err
    assert "note: layers 0-1 of 6 compute" in done.out
    whole = ["--layers", 2, "--mock-tp", 2, "--balanced-routing"]
    assert run_capture("config-patch", moe, *whole, "-o", tmp_path / "once").code == 0
    assert _plan(tmp_path / "again") == _plan(tmp_path / "once")
    assert _plan(tmp_path / "once")["keep_layers"] == [0, 1]


def test_balanced_routing_stays_and_is_of_the_experts_that_are_left(
    moe: Path, run_capture: RunCapture, tmp_path: Path
) -> None:
    """Half of eight experts on each of two ranks: four."""
    first, second = tmp_path / "first", tmp_path / "second"
    words = ["--balanced-routing", "--ep-ranks", 4]
    assert run_capture("config-patch", moe, *words, "-o", first).code == 0
    done = run_capture("config-patch", first, "--mock-tp", 2, "--moe", "ep", "-o", second)
    assert done.code == 0, done.err
    routing = _plan(second)["routing"]
    assert (routing["experts"], routing["top_k"], routing["ep_ranks"]) == (4, 2, 4)
    said = [note for note in _plan(second)["notes"] if "balanced routing" in note]
    assert len(said) == 1 and "2 of 4 experts" in said[0]
    assert _plan(second)["source"] == str(moe)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--layers", 1], "which of its 6 layers compute is chosen already (0-1)"),
        (["--keep-layers", "0,3"], "which of its 6 layers compute is chosen already (0-1)"),
        (["--layers", 1, "--cut"], "which of its 6 layers compute is chosen already (0-1)"),
        (["--set", "num_hidden_layers=8"], "which of its 6 layers compute is chosen already"),
        (["--mock-tp", 2], "it is rank 0 of TP=2 already"),
    ],
)
def test_what_was_chosen_before_is_not_chosen_again(
    words: list[str | int], said: str, rank0: Path, moe: Path, run_capture: RunCapture
) -> None:
    out = rank0.parent / "again"
    done = run_capture("config-patch", rank0, *map(str, words), "-o", out)
    assert done.code == errors.USAGE
    assert said in done.err
    assert f"give {moe}, of which it was made" in done.err
    assert not out.exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--layers", "1"], "note: layer 0 of 6 computes, the rest pass their input on;"),
        (["--keep-layers", "0,3"], "note: layers 0, 3 of 6 compute, the rest pass their input on;"),
    ],
)
def test_layers_that_compute_are_told_from_their_number(
    words: list[str], said: str, moe: Path, run_capture: RunCapture, tmp_path: Path
) -> None:
    done = run_capture("config-patch", moe, *words, "-o", tmp_path / "out")
    assert said in done.out
    assert said.removeprefix("note: ") in _plan(tmp_path / "out")["notes"][0]


def test_a_plan_of_one_rank_is_not_for_the_whole_model(
    rank0: Path, moe: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Type, class and layers are the same; of its four heads the rank has two."""
    monkeypatch.setenv("LAYERSCOPE_PATCH", str(rank0))
    assert plan_lines([str(rank0)])
    with pytest.raises(CaptureError) as refused:
        plan_lines([str(moe)])
    assert refused.value.code == errors.USAGE
    assert f"it is for num_attention_heads 2, {moe} has 4" in refused.value.message


def test_keys_that_the_plan_does_not_need_may_differ(
    moe: Path, run_capture: RunCapture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its layers are those of the model, whose weights fit."""
    out = tmp_path / "out"
    words = ["--layers", 2, "--set", "max_position_embeddings=64"]
    assert run_capture("config-patch", moe, *words, "-o", out).code == 0
    monkeypatch.setenv("LAYERSCOPE_PATCH", str(out))
    assert plan_lines([str(moe)])
