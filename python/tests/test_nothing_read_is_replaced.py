"""--force replaces what a command wrote before, never what it reads: the model, its plan."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import RunCapture

from layerscope.capture import errors

_COMMANDS = (
    ("drive", "--engine", "vllm", "--input-len", "8"),
    ("profile", "--engine", "transformers", "--input-len", "8"),
    ("serve-bench", "--engine", "vllm"),
    ("config-patch",),
    ("walk", "--engine", "transformers", "-o", "model_tree.json", "--profile-dir"),
)


@pytest.fixture
def model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """models/m, and a plan of it that is empty."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "models" / "m"
    folder.mkdir(parents=True)
    (folder / "config.json").write_text('{"model_type": "x", "num_hidden_layers": 2}')
    (folder / "model.safetensors").write_text("weights")
    plan = tmp_path / "plan" / "layerscope_patch.json"
    plan.parent.mkdir()
    plan.write_text('{"schema": "layerscope_patch/1", "num_layers": 2}')
    return folder


@pytest.mark.parametrize("dry_run", [[], ["--dry-run"]])
@pytest.mark.parametrize("words", _COMMANDS, ids=lambda words: words[0])
def test_a_folder_that_holds_what_is_read_is_never_replaced(
    words: tuple[str, ...],
    dry_run: list[str],
    model: Path,
    run_capture: RunCapture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LAYERSCOPE_PATCH", "plan")
    output = [] if words[-1] == "--profile-dir" else ["-o"]
    places = [model, model.parent, Path("models/../models/m")]
    if words[0] != "config-patch":  # which applies no plan
        places.append(Path("plan"))
    for place in places:
        command = (words[0], model, *words[1:], *output, place, "--force", *dry_run)
        done = run_capture(*command)
        assert done.code == errors.FAILED, (place, done)
        assert f"{place} holds " in done.err
    assert (model / "model.safetensors").read_text() == "weights"
    assert Path("plan/layerscope_patch.json").is_file()


def test_a_walk_replaces_no_file_of_the_model_but_an_earlier_tree(
    model: Path, run_capture: RunCapture
) -> None:
    words = ("walk", model, "--engine", "transformers", "--force", "--dry-run", "-o")
    refused = run_capture(*words, model / "config.json")
    assert refused.code == errors.FAILED
    assert "config.json is a file of " in refused.err
    (model / "model_tree.json").write_text("{}")
    assert run_capture(*words, model / "model_tree.json").code == errors.OK
