"""The table of a matrix beside other programs, and what is done where it cannot be used."""

from __future__ import annotations

import json
import os
import sqlite3
from pathlib import Path

import pytest
from fake_drive import Drive, WholeDrive, declared_run, run_all, runs_of

from layerscope.capture.drive.drive_plan import SUMMARY_FILE
from layerscope.capture.errors import CaptureError
from layerscope.capture.matrix import result_table
from layerscope.capture.matrix.command import run_file
from layerscope.capture.matrix.declaration import Declaration
from layerscope.capture.matrix.result_table import ResultTable
from layerscope.capture.output import lock_folder


def _states(declaration: Declaration) -> set[tuple[str, str]]:
    with ResultTable(declaration.output / "results.sqlite") as table:
        return {(row["status"], row["folder"]) for row in table.rows()}


def test_a_second_matrix_into_one_folder_is_refused(
    stubs: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declared_run(tmp_path, profiler="none")
    (tmp_path / "matrix_runs").mkdir()
    lock = lock_folder(tmp_path / "matrix_runs")
    file = tmp_path / "matrix.json"
    with pytest.raises(CaptureError, match=f"another matrix runs into {tmp_path / 'matrix_runs'}"):
        run_file(file, drive=Drive())
    assert list((tmp_path / "matrix_runs").iterdir()) == []
    os.close(lock)
    assert run_file(file, drive=Drive()) == 0
    assert "4 points recorded" in capsys.readouterr().out


def test_a_failure_replaces_no_recording_of_the_same_settings(tmp_path: Path) -> None:
    declaration = declared_run(tmp_path)
    (run,) = runs_of(declaration)
    (other,) = runs_of(declared_run(tmp_path, repeat=9))
    with ResultTable(declaration.output / "results.sqlite") as table:
        (declaration.output / "a").mkdir()
        table.put(run, [(1, 16)], "recorded", folder="a")
        table.put(run, [(1, 16), (8, 16)], "failed", folder="", error="no")
        states = {(row["batch"], row["past"]): row["status"] for row in table.rows()}
        assert states == {(1, 16): "recorded", (8, 16): "failed"}
        table.put(other, [(1, 16)], "failed", folder="", error="no")
        assert table.points(run, ("recorded",)) == {}


def test_a_table_that_another_program_holds_loses_no_recording(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(result_table, "_BUSY_S", 0.05)
    declaration = declared_run(tmp_path)
    holders: list[sqlite3.Connection] = []

    def hold() -> None:
        file = declaration.output / "results.sqlite"
        holders.append(sqlite3.connect(file, isolation_level=None))
        holders[0].execute("BEGIN EXCLUSIVE")

    drive = WholeDrive(hold)
    with pytest.raises(CaptureError, match="results.sqlite: database is locked") as caught:
        run_all(declaration, drive)
    assert "no recording is lost" in caught.value.hint
    holders[0].close()
    again = WholeDrive()
    assert run_all(declaration, again) == (0, 4, 0)
    assert again.plans == []
    assert _states(declaration) == {("recorded", "small__vllm__bf16__tp1__1")}
    assert "4 points of a recording that was not noted" in capsys.readouterr().out


def test_recordings_of_other_settings_or_patches_are_not_taken_for_those_of_a_run(
    tmp_path: Path,
) -> None:
    declaration = declared_run(tmp_path)
    run_all(declaration, WholeDrive())
    folder = declaration.output / "small__vllm__bf16__tp1__1"
    (declaration.output / "results.sqlite").unlink()
    assert run_all(declared_run(tmp_path, repeat=9), WholeDrive())[0] == 4
    (declaration.output / "results.sqlite").unlink()
    summary = json.loads((folder / SUMMARY_FILE).read_text())
    (folder / SUMMARY_FILE).write_text(json.dumps({**summary, "patches": {"num_layers": 4}}))
    assert run_all(declaration, WholeDrive())[0] == 4
    (declaration.output / "results.sqlite").unlink()
    (folder / SUMMARY_FILE).write_text("{")
    assert run_all(declaration, WholeDrive())[1] == 4  # of the third recording


def test_a_table_that_is_damaged_is_an_error(tmp_path: Path) -> None:
    declaration = declared_run(tmp_path)
    run_all(declaration, Drive())
    file = declaration.output / "results.sqlite"
    content = file.read_bytes()
    file.write_bytes(content[:4096] + b"\xaa" * (len(content) - 4096))
    with pytest.raises(CaptureError, match=r"results.sqlite: "):
        run_all(declaration, Drive())
