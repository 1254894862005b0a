"""`check`: files of a model that are there and are not whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from layerscope.capture import model_files
from layerscope.capture.check import model_checks

_CONFIG: dict[str, Any] = {"model_type": "qwen3", "num_hidden_layers": 6}


@pytest.fixture
def whole_model(tmp_path: Path) -> Path:
    """Weights of one tensor, put together after the description of the format."""
    header = b'{"w": {"dtype": "U8", "shape": [4], "data_offsets": [0, 4]}}'
    (tmp_path / "config.json").write_text(json.dumps(_CONFIG))
    (tmp_path / "tokenizer.json").write_text('{"model": {}}')
    content = len(header).to_bytes(8, "little") + header + b"1234"
    (tmp_path / "model.safetensors").write_bytes(content)
    return tmp_path


_POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 7\n"
_HEADER = b'{"w": {"data_offsets": [0, 4]}}'
_LENGTH = len(_HEADER).to_bytes(8, "little")


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (_POINTER, "a pointer of git-lfs"),
        (b"", "empty"),
        (b"0" * 1000, "no safetensors file: no length"),  # 0x3030303030303030 bytes
        (b"1234", "no safetensors file: no length"),
        (_LENGTH + _HEADER[:9], "cut off: 17 bytes, its header alone ends at 39"),
        (_LENGTH + _HEADER + b"12", "cut off: 41 of 43 bytes"),
        (_LENGTH + _HEADER + b"12345", "44 bytes, its tensors end at 43"),
        (_LENGTH + b"x" * len(_HEADER), "no safetensors file: its header does not say"),
        ((2).to_bytes(8, "little") + b"[]", "no safetensors file: its header does not say"),
        ((8).to_bytes(8, "little") + b'{"w": 1}', "no safetensors file: its header does not say"),
    ],
)
def test_weights_that_are_not_whole_block(content: bytes, says: str, whole_model: Path) -> None:
    (whole_model / "model.safetensors").write_bytes(content)
    (found,) = model_checks.check_weights(model_files.locate(str(whole_model)), _CONFIG)
    assert found.state == "MISSING"
    assert f"model.safetensors: {says}" in found.text


@pytest.mark.torch
def test_weights_of_the_safetensors_library_are_whole(tiny_qwen3: Path) -> None:
    (found,) = model_checks.check_weights(model_files.locate(str(tiny_qwen3)), _CONFIG)
    assert found.state == "ok", found


def test_weights_that_an_index_names_must_be_there(whole_model: Path) -> None:
    index = whole_model / "model.safetensors.index.json"
    files = model_files.locate(str(whole_model))
    index.write_text('{"weight_map": {"w": "model.safetensors"}}')
    assert model_checks.check_weights(files, _CONFIG)[0].state == "ok"
    index.write_text('{"weight_map": {"w": "model.safetensors", "a": "b", "c": "d", "e": "d"}}')
    (found,) = model_checks.check_weights(files, _CONFIG)
    assert "b and 1 more of the 3 files that model.safetensors.index.json names" in found.text
    index.write_text("[]")
    assert "no index of weights" in model_checks.check_weights(files, _CONFIG)[0].text
    # That of weights that are not here says nothing of those that are.
    index.rename(whole_model / "pytorch_model.bin.index.json")
    assert model_checks.check_weights(files, _CONFIG)[0].state == "ok"


def test_a_link_to_weights_that_were_never_fetched_blocks(whole_model: Path) -> None:
    (whole_model / "other.safetensors").symlink_to(whole_model / "gone")
    (found,) = model_checks.check_weights(model_files.locate(str(whole_model)), _CONFIG)
    assert "other.safetensors: cannot be read: No such file" in found.text


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("tokenizer.json", b'{"model": {"vocab": ', "not JSON"),
        ("tokenizer.json", b'{"version": "1.0"}', "it has no model"),
        ("tokenizer.json", b"[]", "it has no model"),
        ("tokenizer.json", _POINTER, "a pointer of git-lfs"),
        ("tokenizer.model", _POINTER, "a pointer of git-lfs"),
        ("vocab.json", b"", "empty"),
    ],
)
def test_a_broken_tokenizer_blocks(name: str, content: bytes, says: str, whole_model: Path) -> None:
    (whole_model / name).write_bytes(content)
    found = model_checks.check_tokenizer(model_files.locate(str(whole_model)))
    assert found.state == "MISSING"
    assert name in found.text and says in found.text
    assert "--aux-from" in found.mend


def test_a_dense_model_without_weights_has_no_exceptions(whole_model: Path) -> None:
    (whole_model / "model.safetensors").unlink()
    files = model_files.locate(str(whole_model))
    (found,) = model_checks.check_weights(files, _CONFIG)
    assert found.text == "none: layer times need no trained weights"
    moe = {**_CONFIG, "num_experts": 8, "moe_intermediate_size": 8}
    first, *exceptions = model_checks.check_weights(files, moe)
    assert first.text.endswith(", with these exceptions") and len(exceptions) == 1
