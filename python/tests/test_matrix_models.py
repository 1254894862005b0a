"""`matrix` before anything runs, of models that are not there, and what it says at its end."""

from __future__ import annotations

import shlex
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from conftest import Program, RunCapture
from fake_drive import Drive, declared, declared_run

from layerscope.capture import engines
from layerscope.capture.errors import FAILED, INVALID_INPUT, OK, CaptureError
from layerscope.capture.matrix.command import run_file


def _declared(folder: Path, **changes: Any) -> Path:
    declared_run(folder, batch=[1], past=[16], **changes)
    return folder / "matrix.json"


def _family(model: str) -> list[dict[str, str]]:
    return [{"name": "small", "model": model}]


@pytest.mark.parametrize(
    ("model", "said"),
    [
        ("./no/such", "family 'small': ./no/such is neither a folder nor a file"),
        ("MODEL", "family 'small': MODEL has no weights"),
    ],
)
def test_a_model_that_cannot_be_loaded_is_refused_before_anything_runs(
    model: str, said: str, stubs: None, tmp_path: Path, run_capture: RunCapture
) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text('{"model_type": "gpt2", "n_layer": 2}')
    name = model.replace("MODEL", str(folder))
    file = _declared(tmp_path, family=_family(name), profiler="none")
    done = run_capture("matrix", file)
    assert done.code == INVALID_INPUT
    assert done.err.count(said.replace("MODEL", str(folder))) == 1
    assert not (tmp_path / "matrix_runs").exists()
    dry = run_capture("matrix", file, "--dry-run")
    made_later = model != "MODEL"
    assert (dry.code, dry.err) == ((OK, "") if made_later else (done.code, done.err))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"engine": "sglang"}, "no_such_module is not installed in this Python environment"),
        ({"profiler": "nsys"}, "nsys is not on PATH"),
        ({"engine": "trtllm", "profiler": "auto"}, "nsys is not on PATH"),
    ],
)
def test_what_no_point_could_run_without_is_refused_before_anything_runs(
    changes: dict[str, str],
    said: str,
    stubs: None,
    tmp_path: Path,
    run_capture: RunCapture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(engines._MODULES, engines.SGLANG, "no_such_module")
    file = _declared(tmp_path, **changes)
    done = run_capture("matrix", file)
    assert (done.code, done.out) == (FAILED, "")
    assert f"family 'small': {said}" in done.err
    assert [path.name for path in tmp_path.iterdir()] == [file.name]


def test_recordings_are_counted_where_their_model_is_no_more(
    stubs: None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """On the machine that has the program, and neither the model nor the engine."""
    monkeypatch.delenv("LAYERSCOPE_BIN", raising=False)
    file = _declared(tmp_path)
    assert run_file(file, drive=Drive()) == 0
    _declared(tmp_path, profiler="nsys")  # which is not here
    with monkeypatch.context() as elsewhere:
        elsewhere.setitem(engines._MODULES, engines.VLLM, "no_such_module")
        assert run_file(file, drive=Drive()) == 0
        assert "0 points recorded, 1 kept" in capsys.readouterr().out
    _declared(tmp_path)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "cache"))
    assert run_file(file, drive=Drive()) == 0
    assert "0 points recorded, 1 kept" in capsys.readouterr().out
    _declared(tmp_path, repeat=9)
    with pytest.raises(CaptureError, match="family 'small': org/small is neither a folder nor in"):
        run_file(file, drive=Drive())


def test_its_end_says_how_a_recording_and_the_table_are_read(
    stubs: None,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    layerscope_bin: Program,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LAYERSCOPE_BIN", layerscope_bin.program)
    assert run_file(_declared(tmp_path), drive=Drive()) == 0
    steps, table = capsys.readouterr().out.splitlines()[-2:]
    words = shlex.split(steps.removeprefix("next: "))
    assert words[:2] == ["layerscope", "steps"]
    assert "decode" in layerscope_bin.run(words[1:])
    program, file, query = shlex.split(table.removeprefix("the table: "))
    assert (program, Path(file).name) == ("sqlite3", "results.sqlite")
    (row,) = sqlite3.connect(file).execute(query).fetchall()
    assert row[:6] == ("small", "bf16", "tp1", 1, 16, "done")


@pytest.mark.parametrize(
    ("changes", "key", "meant"),
    [
        ({"batchs": [1]}, "batchs", "batch"),
        ({"enginge_args": {}}, "enginge_args", "engine_args"),
        ({"family": [{"modle": "m", "model": "m"}]}, "modle", "model"),
    ],
)
def test_a_misspelt_key_names_the_nearest(
    changes: dict[str, Any], key: str, meant: str, tmp_path: Path
) -> None:
    with pytest.raises(CaptureError) as refused:
        declared(tmp_path, **changes)
    assert f"knows no '{key}'" in refused.value.message
    assert refused.value.hint == f"did you mean '{meant}'?"


def test_a_key_that_is_like_none_leads_to_the_help(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="matrix --help shows a file"):
        declared(tmp_path, zzz=1)
