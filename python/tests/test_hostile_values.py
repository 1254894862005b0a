"""Values of files that nobody writes by hand: numbers of thousands of digits, pipes, escapes."""

from __future__ import annotations

import json
import os
import struct
import sys
from pathlib import Path

import pytest
from conftest import RunCapture

from layerscope.capture import errors, file_checks, model_files
from layerscope.capture.errors import CaptureError
from layerscope.capture.matrix.declaration import load_declaration

_DIGITS = "9" * 5000  # Python reads and writes no such number: ValueError


@pytest.mark.skipif(sys.version_info < (3, 11), reason="TOML needs Python 3.11")
@pytest.mark.parametrize(
    "key", ["batch", "precision", "parallelism", "engine", "profiler", "eager", "output"]
)
def test_a_number_of_thousands_of_digits_in_a_declaration_is_refused(
    key: str, tmp_path: Path
) -> None:
    """TOML's hexadecimal numbers have no such limit."""
    values = {"batch": "1", "past": "1", "engine": "'vllm'", key: "0x" + "f" * 5000}
    lines = [f"{name} = {value}" for name, value in values.items()]
    file = tmp_path / "m.toml"
    file.write_text("\n".join([*lines, "[[family]]", "model = 'm'"]))
    said = f"m.toml: {key}: a number of thousands of digits is no number of 64 bits"
    with pytest.raises(CaptureError, match=said) as refused:
        load_declaration(file)
    assert refused.value.code == errors.INVALID_INPUT


@pytest.mark.parametrize("place", ["pipe.toml", "/dev/zero"])
def test_a_declaration_that_is_no_file_is_refused_at_once(place: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.toml")
    with pytest.raises(CaptureError, match="is no regular file") as refused:
        load_declaration(tmp_path / place)
    assert refused.value.code == errors.INVALID_INPUT


def test_an_index_of_thousands_of_digits_is_none_of_a_list(
    run_capture: RunCapture, tmp_path: Path
) -> None:
    config = {
        "model_type": "qwen3",
        "architectures": ["Qwen3ForCausalLM"],
        "num_hidden_layers": 4,
        "per_layer_config": {_DIGITS: {}, "3": {}, "0": {}},
    }
    (tmp_path / "config.json").write_text(json.dumps(config))
    words = ("config-patch", tmp_path, "-o", tmp_path / "out")
    refused = run_capture(*words, "--set", f"architectures.{_DIGITS}=x")
    assert refused.code == errors.USAGE, refused.err
    done = run_capture(*words, "--layers", 2, "--cut")
    assert done.code == errors.OK, done.err
    cut = json.loads((tmp_path / "out" / "config.json").read_text())
    assert cut["per_layer_config"] == {"0": {}}  # layers 0 and 1 are left


def test_tensors_that_end_at_infinity_are_no_weights(tmp_path: Path) -> None:
    header = b'{"a": {"data_offsets": [1e999, 2e999]}}'
    (tmp_path / "config.json").write_text('{"model_type": "x"}')
    (tmp_path / "model.safetensors").write_bytes(struct.pack("<Q", len(header)) + header)
    (said,) = file_checks.broken_weights(model_files.locate(str(tmp_path)))
    assert "its header does not say where tensors lie" in said


@pytest.mark.parametrize("reference", [b"\xff\xfe", b"x" * 300, b"a\0b"])
def test_a_reference_of_the_hubs_cache_that_is_none_is_passed_over(
    reference: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    folder = tmp_path / "models--a--b"
    (folder / "snapshots" / "1").mkdir(parents=True)
    (folder / "snapshots" / "1" / "config.json").write_text("{}")
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_bytes(reference)
    assert model_files.cached_snapshot("a/b") == folder / "snapshots" / "1"


def test_what_a_terminal_takes_for_a_command_is_written_as_an_escape(
    run_capture: RunCapture, tmp_path: Path
) -> None:
    config = {"model_type": "gpt2", "architectures": ["\x1b[2J"], "n_layer": 1, "n_head": 1}
    (tmp_path / "config.json").write_text(json.dumps(config))
    done = run_capture("check", tmp_path, "--engine", "transformers")
    assert "\\x1b[2J" in done.out
    assert "\x1b" not in done.out + done.err
    notes = ["\x1b[31m", "a\nok   class"]
    plan = {"schema": "layerscope_patch/1", "num_layers": 1, "model_type": "gpt2", "notes": notes}
    (tmp_path / "layerscope_patch.json").write_text(json.dumps(plan))
    done = run_capture("config-patch", tmp_path, "--set", "n_layer=1", "--dry-run")
    assert done.code == errors.OK, done.err
    assert "note: \\x1b[31m" in done.out and "note: a\\nok" in done.out
    named = run_capture("drive", "--engine", "vllm", "a\x1bb", "--dry-run")
    assert "a\\x1bb" in named.out and "\x1b" not in named.out
    assert errors.printable("é\n\tÿ\x07") == "é\n\tÿ\\x07"
