"""Recordings beside a table that does not name them: those that are damaged stop nothing."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from fake_drive import WholeDrive, declared_run, run_all, runs_of

from layerscope.capture.drive.drive_plan import PLAN_FILE, SUMMARY_FILE
from layerscope.capture.matrix.declaration import Declaration
from layerscope.capture.matrix.execution import read_recordings
from layerscope.capture.matrix.result_table import ResultTable

_STEPS = "bench_steps_rank0.jsonl"
_NAME = "small__vllm__bf16__tp1"


def _as_fifo(file: Path) -> None:
    file.unlink()
    os.mkfifo(file)


def _with(**changes: object) -> Callable[[Path], None]:
    """Changes all steps, or the summary."""

    def change(file: Path) -> None:
        lines = file.read_text().splitlines() if file.name == _STEPS else [file.read_text()]
        file.write_text("\n".join(json.dumps({**json.loads(line), **changes}) for line in lines))

    return change


def _written(data: bytes) -> Callable[[Path], None]:
    def write(file: Path) -> None:
        file.write_bytes(data)

    return write


@pytest.mark.parametrize(
    ("name", "damage", "said"),
    [
        (PLAN_FILE, _written(b"[]"), "holds no JSON object"),
        (PLAN_FILE, _written(b"[" * 100_000), "recursion"),
        (PLAN_FILE, _as_fifo, "is no regular file"),
        (PLAN_FILE, Path.unlink, "cannot read"),
        (PLAN_FILE, _with(model="\ud800"), "is no drive plan"),
        (SUMMARY_FILE, _written(b"[" * 100_000), "recursion"),
        (SUMMARY_FILE, _with(steps=[{"batch": [1], "past": 1, "steps": 1}]), "no drive summary"),
        (SUMMARY_FILE, _with(version={}), "version is {}"),
        (_STEPS, _written(b"\xff\xfe"), "says nothing that can be read of 4 points"),
        (_STEPS, _written(b"[" * 100_000), "says nothing that can be read of 4 points"),
        (_STEPS, _as_fifo, "says nothing that can be read of 4 points"),
        (_STEPS, _with(host_ns="x"), "says nothing that can be read of 4 points"),
        (_STEPS, _with(host_ns=float("nan")), "says nothing that can be read of 4 points"),
        (_STEPS, _with(host_ns=None), "says nothing that can be read of 4 points"),
        (_STEPS, _with(host_ns=10**26), "says nothing that can be read of 4 points"),
        (_STEPS, _with(batch=[1]), "says nothing that can be read of 4 points"),
        (_STEPS, _with(batch=1), "says nothing that can be read of 2 points"),
    ],
)
def test_a_damaged_recording_is_named_and_left_out(
    name: str,
    damage: Callable[[Path], None],
    said: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Of two the newer one; the older one, of the first batch alone, is taken up."""
    run_all(declared_run(tmp_path, batch=[1]), WholeDrive())
    declaration = declared_run(tmp_path)
    _forget(declaration)
    first, second = (declaration.output / f"{_NAME}__{n}" for n in (1, 2))
    shutil.move(first, tmp_path / "first")
    run_all(declaration, WholeDrive())
    _forget(declaration)
    shutil.move(first, second)
    shutil.move(tmp_path / "first", first)
    damage(second / name)
    capsys.readouterr()
    assert run_all(declaration, WholeDrive()) == (2, 2, 0)
    told = capsys.readouterr()
    assert f"{second.name} is left out: " in told.err and said in told.err
    assert str(second / name) in told.err
    assert f"{first.name}: 2 points of a recording that was not noted" in told.out


def _forget(declaration: Declaration) -> None:
    (declaration.output / "results.sqlite").unlink()


@pytest.mark.parametrize("name", ["gone", "../../../../etc", "..", "", "a/b", "x" * 300])
def test_a_recording_that_is_not_beside_the_table_is_made_again(name: str, tmp_path: Path) -> None:
    """One that was never read: the table has no times of it."""
    declaration = declared_run(tmp_path)
    (run,) = runs_of(declaration)
    with ResultTable(declaration.output / "results.sqlite") as table:
        table.put(run, [(1, 16)], "recorded", folder=name)
        table.put(run, [(8, 16)], "done", folder=name)
        assert read_recordings(declaration, [run], table, "no program is asked") == 0
    drive = WholeDrive()
    assert run_all(declaration, drive) == (3, 1, 0)
    assert {point for plan in drive.plans for point in plan.points} == {
        (1, 16),
        (1, 1024),
        (8, 1024),
    }
