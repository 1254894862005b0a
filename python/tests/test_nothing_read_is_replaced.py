"""--force replaces what a command wrote before, never what it reads: the model, its plan."""

from __future__ import annotations

from collections.abc import Callable
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


def _links_out(model: Path, out: Path) -> None:
    """Weights that are a link into the folder, as config-patch --link-weights makes them."""
    (model / "model.safetensors").rename(out / "weights")
    (model / "model.safetensors").symlink_to(out / "weights")


def _links_through(model: Path, out: Path) -> None:
    """A chain of links of which the middle one lies in the folder."""
    (model / "model.safetensors").rename(model.parent / "weights")
    (out / "link").symlink_to(model.parent / "weights")
    (model / "model.safetensors").symlink_to(out / "link")


def _links_below(model: Path, out: Path) -> None:
    (out / "code").mkdir()
    (model / "code").symlink_to(out / "code")


@pytest.mark.parametrize("link", [_links_out, _links_through, _links_below])
def test_a_folder_that_a_link_of_the_model_leads_through_is_never_replaced(
    link: Callable[[Path, Path], None], model: Path, tmp_path: Path, run_capture: RunCapture
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "of an earlier run").touch()
    words = ("profile", model, "--engine", "transformers", "--force", "--dry-run", "-o", "out")
    assert run_capture(*words).code == errors.OK
    link(model, out)
    refused = run_capture(*words)
    assert refused.code == errors.FAILED
    assert "out holds " in refused.err


def test_a_model_that_is_named_by_a_link_in_the_folder_keeps_it(
    model: Path, tmp_path: Path, run_capture: RunCapture
) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "link").symlink_to(model)
    words = ("profile", "out/link", "--engine", "transformers", "--force", "-o", "out")
    assert "out holds out/link" in run_capture(*words).err
    assert (tmp_path / "out" / "link").is_dir()


def test_a_walk_replaces_no_file_of_the_model_but_an_earlier_tree(
    model: Path, run_capture: RunCapture
) -> None:
    words = ("walk", model, "--engine", "transformers", "--force", "--dry-run", "-o")
    refused = run_capture(*words, model / "config.json")
    assert refused.code == errors.FAILED
    assert "config.json is a file of " in refused.err
    (model / "sub").mkdir()
    (model / "sub" / "config.json").write_text("{}")
    Path("link.json").symlink_to(model / "config.json")
    (model / "model_tree_link.json").symlink_to("config.json")
    for place in (model / "sub" / "config.json", Path("link.json"), model / "model_tree_link.json"):
        assert f"{place} is a file of {model}, which is read" in run_capture(*words, place).err
    (model / "model_tree.json").write_text("{}")
    assert run_capture(*words, model / "model_tree.json").code == errors.OK


def test_a_walk_does_not_replace_the_plan_that_it_reads(
    model: Path, run_capture: RunCapture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever the plan is called, and where the way to it is a link."""
    words = ("walk", model, "--engine", "transformers", "--force", "--dry-run", "-o")
    plan = Path("plan/layerscope_patch.json").rename("model_tree.json")
    monkeypatch.setenv("LAYERSCOPE_PATCH", str(plan))
    done = run_capture(*words, plan)
    assert done.code == errors.FAILED and f"{plan} is read" in done.err
    assert run_capture(*words, "other.json").code == errors.OK


@pytest.mark.parametrize("words", _COMMANDS, ids=lambda words: words[0])
def test_links_in_a_loop_in_the_models_folder_lead_nowhere(
    words: tuple[str, ...], model: Path, run_capture: RunCapture
) -> None:
    (model / "model.safetensors").unlink()
    (model / "l1").symlink_to(model / "l1")
    (model / "x").symlink_to("l1/y")
    Path("out").mkdir()
    Path("out/of an earlier run").touch()
    output = [] if words[-1] == "--profile-dir" else ["-o"]
    dummy = [] if words[0] == "config-patch" else ["--dummy-weights"]
    done = run_capture(words[0], model, *dummy, *words[1:], *output, "out", "--force", "--dry-run")
    assert done.code == errors.OK, done.err
