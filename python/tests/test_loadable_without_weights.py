"""A folder without weights is refused before an engine is started, unless dummy ones are asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import RunCapture

from layerscope.capture import engines, errors
from layerscope.capture.errors import CaptureError
from layerscope.capture.loadable import require_loadable

_CONFIG = {
    "model_type": "qwen3",
    "architectures": ["Qwen3ForCausalLM"],
    "num_hidden_layers": 2,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 128,
    "vocab_size": 128,
}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(_CONFIG))
    return folder


@pytest.mark.parametrize(
    "words",
    [
        ("drive", "--engine", "vllm", "--input-len", "8"),
        ("serve-bench", "--engine", "vllm"),
        ("walk", "--engine", "vllm"),
        ("profile", "--engine", "vllm"),
    ],
)
def test_each_command_refuses_a_model_without_weights_at_once(
    words: tuple[str, ...],
    model: Path,
    tmp_path: Path,
    run_capture: RunCapture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(engines, "require", lambda engine: None)
    out = tmp_path / "model_tree.json"
    done = run_capture(words[0], model, *words[1:], "-o", out)
    assert done.code == errors.INVALID_INPUT
    assert f"{model} has no weights\n  add --dummy-weights" in done.err
    assert "hf download" in done.err
    assert not out.exists()


def test_a_plan_that_needs_dummy_weights_is_named(
    model: Path, tmp_path: Path, run_capture: RunCapture
) -> None:
    rank0 = tmp_path / "rank0"
    assert run_capture("config-patch", model, "--mock-tp", 2, "-o", rank0).code == 0
    with pytest.raises(CaptureError) as refused:
        require_loadable(str(rank0), {})
    assert refused.value.message == (
        f"{rank0} has no weights, and by its layerscope_patch.json none fit"
    )
    assert "download" not in refused.value.hint
    require_loadable(str(rank0), {}, dummy_weights=True)


@pytest.mark.parametrize("name", ["a.gguf", "consolidated.00.pth", "weights.pt", "m.bin"])
def test_weights_of_any_kind_are_left_to_the_engine(name: str, model: Path) -> None:
    (model / name).write_bytes(b"x")
    require_loadable(str(model), {})


def test_words_that_name_other_weights_are_heeded(model: Path) -> None:
    """A configuration file of the engine may ask for dummy weights."""
    for keyword in ("load_format", "config", "extra_llm_api_options"):
        require_loadable(str(model), {keyword: "x"})
