"""Models that no engine could load: refused before one is started, by what is wrong with them."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import RunCapture

from layerscope.capture import engines, errors
from layerscope.capture.errors import CaptureError
from layerscope.capture.loadable import require_loadable

# As git-lfs writes it where a file was not fetched.
_POINTER = (
    "version https://git-lfs.github.com/spec/v1\n"
    "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
    "size 12345\n"
)
Spoil = Callable[[Path], object]


def _truncate(name: str, size: int) -> Spoil:
    return lambda folder: (folder / name).write_bytes((folder / name).read_bytes()[:size])


def _write(name: str, text: str) -> Spoil:
    return lambda folder: (folder / name).write_text(text)


_WEIGHTS = "model.safetensors"
# Files that cannot be read, whatever is wrong with them: INVALID_INPUT of errors.py.
_SPOILT = [
    (_truncate(_WEIGHTS, -1), f"{_WEIGHTS}: cut off"),
    (_write(_WEIGHTS, _POINTER), "git-lfs"),
    (_write(_WEIGHTS, "not weights, but a page that says 404"), "no safetensors file"),
    (_write("config.json", "{"), "not JSON"),
    (_write("config.json", "[]"), "not an object"),
    (_write("config.json", '{"weight_map": {}}'), "index of safetensors"),
    (_write("config.json", '{"model_type": "gpt2", "n_layer": -1}'), "n_layer is -1"),
    (lambda folder: (folder / "config.json").unlink(), "has no config.json"),
    (lambda folder: shutil.rmtree(folder), "is neither a folder nor a file"),
]


@pytest.fixture
def model(tiny_gpt2: Path, tmp_path: Path) -> Path:
    """A whole model of the test's own, as safetensors' writer left it."""
    return Path(shutil.copytree(tiny_gpt2, tmp_path / "modèle 中"))


@pytest.mark.torch
@pytest.mark.parametrize(("spoil", "said"), _SPOILT)
@pytest.mark.parametrize("command", ["walk", "profile"])
def test_a_model_that_is_not_whole_is_refused_by_its_file(
    command: str, spoil: Spoil, said: str, model: Path, run_capture: RunCapture, tmp_path: Path
) -> None:
    spoil(model)
    done = run_capture(command, model, "--engine", "transformers", "-o", tmp_path / "out.json")
    assert done.code == errors.INVALID_INPUT
    assert said in done.err and str(model) in done.err
    assert not (tmp_path / "out.json").exists()


@pytest.mark.torch
def test_whole_models_pass_and_what_is_not_read_does_not_matter(model: Path) -> None:
    require_loadable(str(model), {})
    (model / _WEIGHTS).write_bytes(b"")
    require_loadable(str(model), {}, dummy_weights=True)
    require_loadable(str(model), {"load_format": "dummy"})
    with pytest.raises(CaptureError, match="empty"):
        require_loadable(str(model), {})


_INDEX = '{"weight_map": {"a": "model.safetensors", "b": "model-2.safetensors"}}'


@pytest.mark.torch
@pytest.mark.parametrize("index", ["model.safetensors.index.json", "pytorch_model.bin.index.json"])
def test_an_index_without_a_single_file_of_its_weights_is_refused(index: str, model: Path) -> None:
    (model / _WEIGHTS).unlink()
    (model / index).write_text(_INDEX)
    require_loadable(str(model), {}, dummy_weights=True)
    with pytest.raises(CaptureError, match="has no weights") as refused:
        require_loadable(str(model), {})
    assert refused.value.code == errors.INVALID_INPUT and "--dummy-weights" in refused.value.hint


@pytest.mark.torch
@pytest.mark.parametrize(
    ("is_there", "said"),
    [(True, "model-2.safetensors of the 2 files"), (False, "has no weights")],
)
def test_weights_that_the_cache_of_the_hub_lacks_are_fetched_by_the_engine(
    is_there: bool, said: str, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`hf download --include '*.json'` takes the index, and no weights."""
    if not is_there:
        (model / _WEIGHTS).unlink()
    (model / "model.safetensors.index.json").write_text(_INDEX)
    shutil.copytree(model, tmp_path / "models--org--model" / "snapshots" / "1")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(CaptureError, match=said):
        require_loadable("org/model", {})
    monkeypatch.delenv("HF_HUB_OFFLINE")
    require_loadable("org/model", {})


@pytest.mark.torch
@pytest.mark.parametrize(
    ("text", "said"), [("{", "not JSON"), ("[1]", "no tokenizer"), (_POINTER, "git-lfs")]
)
def test_a_tokenizer_that_an_engine_reads_is_looked_at(text: str, said: str, model: Path) -> None:
    (model / "tokenizer.json").write_text(text)
    require_loadable(str(model), {}, reads_tokenizer=False)
    require_loadable(str(model), {"tokenizer": "another"})
    with pytest.raises(CaptureError, match=said):
        require_loadable(str(model), {})


@pytest.mark.torch
def test_a_config_in_place_of_its_folder_says_so(model: Path) -> None:
    with pytest.raises(CaptureError) as refused:
        require_loadable(str(model / "config.json"), {}, dummy_weights=True)
    assert (refused.value.code, refused.value.hint) == (errors.USAGE, f"give {model}")


@pytest.mark.parametrize("name", ["gpt2", "org/model", "org/model-7B_v1.5"])
def test_names_of_the_hub_are_left_to_the_engine(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path))
    monkeypatch.delenv("HF_HUB_OFFLINE")
    require_loadable(name, {})


@pytest.mark.parametrize("name", ["nope", "org/nope"])
@pytest.mark.parametrize(
    "verb", ["walk", "profile", "drive", "serve-bench", "check", "config-patch"]
)
def test_a_misspelt_model_is_said_at_once_where_nothing_can_be_fetched(
    verb: str, name: str, run_capture: RunCapture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(engines, "require", lambda engine: None)
    words = {"config-patch": ["-o", "out"], "check": []}.get(verb, ["--engine", "vllm"])
    done = run_capture(verb, name, *words)
    assert done.code == (errors.FAILED if verb == "check" else errors.INVALID_INPUT)
    said = done.out + done.err
    assert f"{name} is neither a folder nor in the local cache ({tmp_path / 'home'}" in said
    assert f"hf download {name}" in said and list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["./m", "../m", "/m", "~/m", "a/b/c", "org/", "", "ä/b", "m\0"])
def test_other_names_are_missing_folders(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CaptureError):
        require_loadable(name, {})


def test_formats_of_other_kinds_are_left_to_the_engine(tmp_path: Path) -> None:
    (tmp_path / "params.json").write_text(json.dumps({"dim": 8}))
    require_loadable(str(tmp_path), {})
    (tmp_path / "model.gguf").write_bytes(b"GGUF")
    require_loadable(str(tmp_path / "model.gguf"), {})
