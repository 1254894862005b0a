"""`matrix`: what a declaration expands to, what is run again, and what the table holds."""

from __future__ import annotations

import json
import os
import shutil
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import Engine, RunCapture

from layerscope.capture.drive.drive_plan import DrivePlan
from layerscope.capture.drive.drive_run import DriveSummary
from layerscope.capture.errors import INVALID_INPUT, CaptureError
from layerscope.capture.matrix.declaration import Declaration, load_declaration
from layerscope.capture.matrix.execution import read_recordings, run_matrix
from layerscope.capture.matrix.measurement import measured_points
from layerscope.capture.matrix.planned_runs import PlannedRun, planned_runs
from layerscope.capture.matrix.result_table import ResultTable

_MATRIX: dict[str, Any] = {
    "engine": ["vllm", "sglang"],
    "batch": [8, 1],
    "past": [1024, 16],
    "precision": ["bf16", {"name": "fp8kv", "quantization": "fp8", "kv_cache_dtype": "fp8"}],
    "parallelism": ["tp1", "tp4-ep4"],
    "repeat": 3,
    "profiler": "torch",
    "family": [
        {"name": "small", "model": "org/small", "parallelism": ["tp1"]},
        {"name": "moe", "model": "org/moe", "engine": "vllm", "batch": 4},
    ],
    "exclude": [{"engine": "sglang", "precision": "fp8kv"}],
}


def _declared(folder: Path, **changes: Any) -> Declaration:
    file = folder / "matrix.json"
    file.write_text(json.dumps({**_MATRIX, **changes}))
    return load_declaration(file)


def _one(folder: Path, **changes: Any) -> Declaration:
    """One family, engine, precision and parallelism: one run of 2 x 2 points."""
    family = [{"name": "small", "model": "org/small"}]
    lists: dict[str, Any] = {"engine": "vllm", "precision": "bf16", "parallelism": "tp1"}
    return _declared(folder, **{"family": family, "exclude": [], **lists, **changes})


def test_a_matrix_expands_to_one_run_a_model_precision_and_parallelism(tmp_path: Path) -> None:
    runs = list(planned_runs(_declared(tmp_path), dry_run=True))
    # By hand: small: vllm x 2 precisions, sglang x 1 (fp8kv is excluded); moe: 2 x 2.
    assert [run.name for run in runs] == [
        "small__vllm__bf16__tp1",
        "small__vllm__fp8kv__tp1",
        "small__sglang__bf16__tp1",
        "moe__vllm__bf16__tp1",
        "moe__vllm__bf16__tp4-ep4",
        "moe__vllm__fp8kv__tp1",
        "moe__vllm__fp8kv__tp4-ep4",
    ]
    first, last = runs[0].plan, runs[-1].plan
    assert first.points == {(1, 16), (8, 16), (1, 1024), (8, 1024)}
    assert (first.dtype, first.quantization, first.repeat) == ("bfloat16", None, 3)
    assert (last.quantization, last.kv_cache_dtype) == ("fp8", "fp8")
    assert (last.tensor_parallel, last.expert_parallel, last.batch_sizes) == (4, 4, (4,))
    first.check()


def test_a_fingerprint_is_of_the_settings_and_not_of_the_points(tmp_path: Path) -> None:
    (run,) = planned_runs(_one(tmp_path), dry_run=True)
    (more,) = planned_runs(_one(tmp_path, batch=[1, 2, 3]), dry_run=True)
    (other,) = planned_runs(_one(tmp_path, repeat=5), dry_run=True)
    assert run.fingerprint == more.fingerprint != other.fingerprint
    assert run.of_points([(8, 16), (1, 16)]).plan.points == {(1, 16), (8, 16)}


@pytest.mark.skipif(sys.version_info < (3, 11), reason="TOML needs Python 3.11")
def test_a_declaration_in_toml_is_the_same(tmp_path: Path) -> None:
    text = (
        'engine = ["vllm", "sglang"]\nbatch = [8, 1]\npast = [1024, 16]\nrepeat = 3\n'
        'profiler = "torch"\noutput = "matrix_runs"\nparallelism = ["tp1", "tp4-ep4"]\n'
        'precision = ["bf16", {name = "fp8kv", quantization = "fp8", kv_cache_dtype = "fp8"}]\n'
        '[[family]]\nname = "small"\nmodel = "org/small"\nparallelism = ["tp1"]\n'
        '[[family]]\nname = "moe"\nmodel = "org/moe"\nengine = "vllm"\nbatch = 4\n'
        '[[exclude]]\nengine = "sglang"\nprecision = "fp8kv"\n'
    )
    (tmp_path / "matrix.toml").write_text(text)
    assert load_declaration(tmp_path / "matrix.toml") == _declared(tmp_path)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"engine": "tgi"}, "no engine 'tgi'"),
        ({"batch": [0]}, "batch: 0 is no number above 0"),
        ({"batch": []}, "no batch is given for small"),
        ({"past": "16"}, "past: '16' is no number"),
        ({"precision": "int4"}, "precision 'int4' is not known"),
        ({"precision": {"name": "x", "bits": "4"}}, "is not known"),
        ({"parallelism": "tp0"}, "parallelism 'tp0' is not written as"),
        ({"parallelism": "dp2"}, "parallelism 'dp2' is not written as"),
        ({"batches": [1]}, "knows no 'batches'"),
        ({"family": []}, "has no [[family]]"),
        ({"family": [{"name": "a"}]}, "has no model"),
        ({"family": [{"model": "a", "size": 7}]}, "[[family]] knows no 'size'"),
        ({"family": [{"model": "a"}, {"model": "a"}]}, "two families have one name"),
        ({"exclude": [{"batch": 8}]}, "[[exclude]] takes family, engine"),
        ({"isolate": "yes"}, "isolate: 'yes' is neither true nor false"),
        ({"profiler": "perf"}, "no profiler 'perf'"),
    ],
)
def test_what_is_wrong_in_a_declaration_is_named(
    changes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(CaptureError) as caught:
        _declared(tmp_path, **changes)
    assert said in caught.value.message
    assert caught.value.code == INVALID_INPUT


@pytest.mark.parametrize("text", ["", "{", "[1]", "\x00"])
def test_a_file_that_is_no_declaration_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "matrix.json"
    file.write_text(text)
    with pytest.raises(CaptureError, match="matrix.json"):
        load_declaration(file)


class Drive:
    """Stands for `run_drive`: writes what a drive writes, or fails."""

    def __init__(self, fails_at: int | None = None) -> None:
        self.plans: list[DrivePlan] = []
        self.fails_at = fails_at  # batches from here on

    def __call__(self, plan: DrivePlan, folder: Path) -> DriveSummary:
        self.plans.append(plan)
        if self.fails_at is not None and max(plan.batch_sizes) >= self.fails_at:
            raise CaptureError("out of memory")
        _write_recording(folder, sorted(plan.points))
        return DriveSummary("vllm", "0.12.0", dict.fromkeys(plan.points, 2), 3)


def _write_recording(folder: Path, points: list[tuple[int, int]]) -> None:
    """Two steps a point, one of kernels of `batch` us and one of `past` us, in two modules.

    As of a drive with torch's profiler: a trace for each batch and input length.
    """
    shutil.rmtree(folder, ignore_errors=True)
    lines: list[str] = []
    for batch, past in points:
        events: list[dict[str, Any]] = []
        at = 0
        for gpu_us in (batch, past):
            number = len(lines)
            name = f"bench_step::{number}::bs::{batch}::past::{past}::phase::decode"
            on_cpu = {"ph": "X", "pid": 1, "tid": 1}
            events.append(on_cpu | _event("user_annotation", name, at, 5000))
            for part, path in enumerate(("model.attn", "model.mlp")):
                begin, key = at + 10 + 100 * part, 2 * number + part + 1
                scope = f"{{'Module': '{path}'}}"
                events.append(on_cpu | _event("user_annotation", scope, begin, 50))
                call = _event("cuda_runtime", "cudaLaunchKernel", begin + 5, 5)
                events.append(on_cpu | call | {"args": {"correlation": key}})
                place = {"device": 0, "stream": 7, "correlation": key}
                kernel = _event("kernel", "k", at + 300 + 2000 * part, gpu_us)
                events.append({"ph": "X", "pid": 0, "tid": 7} | kernel | {"args": place})
            entry = {"n": number, "batch": batch, "past": past, "host_ns": 1000 * gpu_us}
            lines.append(json.dumps(entry))
            at += 10_000
        place_of = folder / f"batch{batch}_input{past}"
        place_of.mkdir(parents=True)
        (place_of / "rank0.pt.trace.json").write_text(json.dumps({"traceEvents": events}))
    (folder / "bench_steps_rank0.jsonl").write_text("\n".join(lines) + "\n")


def _event(category: str, name: str, ts: int, dur: int) -> dict[str, Any]:
    return {"cat": category, "name": name, "ts": ts, "dur": dur}


def _runs(declaration: Declaration) -> list[PlannedRun]:
    return list(planned_runs(declaration, dry_run=True))


def _run_all(declaration: Declaration, drive: Drive) -> tuple[int, int, int]:
    with ResultTable(declaration.output / "results.sqlite") as table:
        tally = run_matrix(declaration, _runs(declaration), table, drive=drive)
    return tally.recorded, tally.kept, tally.failed


def test_a_matrix_started_again_runs_what_is_missing(tmp_path: Path) -> None:
    drive = Drive()
    assert _run_all(_one(tmp_path), drive) == (4, 0, 0)
    assert _run_all(_one(tmp_path), drive) == (0, 4, 0)
    assert len(drive.plans) == 1
    # A batch more: only its points. Other settings: all of them.
    assert _run_all(_one(tmp_path, batch=[1, 8, 64]), drive) == (2, 4, 0)
    assert drive.plans[-1].points == {(64, 16), (64, 1024)}
    assert _run_all(_one(tmp_path, repeat=9), drive) == (4, 0, 0)


def test_points_that_failed_are_tried_again_and_others_go_on(tmp_path: Path) -> None:
    broken = Drive(fails_at=8)
    declaration = _one(tmp_path, isolate=True)
    assert _run_all(declaration, broken) == (2, 0, 2)
    assert len(broken.plans) == 4  # a run of each point
    with ResultTable(declaration.output / "results.sqlite") as table:
        failed = [row for row in table.rows() if row["status"] == "failed"]
        assert {(row["batch"], row["error"]) for row in failed} == {(8, "out of memory")}
    assert _run_all(declaration, Drive()) == (2, 2, 0)


def test_an_interrupted_matrix_keeps_the_runs_that_ended(tmp_path: Path) -> None:
    class Interrupted(Drive):
        def __call__(self, plan: DrivePlan, folder: Path) -> DriveSummary:
            if self.plans:
                raise KeyboardInterrupt
            return super().__call__(plan, folder)

    declaration = _one(tmp_path, isolate=True)
    with pytest.raises(KeyboardInterrupt):
        _run_all(declaration, Interrupted())
    assert _run_all(declaration, Drive()) == (3, 1, 0)


def test_times_are_those_that_the_engine_reads(layerscope_bin: Engine, tmp_path: Path) -> None:
    declaration = _one(tmp_path, modules=True)
    drive = Drive()
    with ResultTable(declaration.output / "results.sqlite") as table:
        run_matrix(declaration, _runs(declaration), table, drive=drive)
        assert {row["status"] for row in table.rows()} == {"recorded"}
        assert not read_recordings(declaration, _runs(declaration), table, layerscope_bin.program)
        rows = {(r["batch"], r["past"], r["module"]): r for r in table.rows()}
        assert not read_recordings(declaration, _runs(declaration), table, "not needed any more")
    assert {row["status"] for row in rows.values()} == {"done"}
    assert len(rows) == 4 * 3
    # By hand: the two steps of (8, 16) have two kernels of 8 us and two of 16 us.
    step, attention = rows[8, 16, ""], rows[8, 16, "model.attn"]
    assert (step["n_steps"], step["mean_sum_ns"]) == (2, (16_000 + 32_000) // 2)
    assert step["median_sum_ns"] in (16_000, 32_000)
    assert step["mean_host_wall_ns"] == 5_000_000
    assert attention["mean_sum_ns"] == (8_000 + 16_000) // 2
    assert step["host_ns"] == 12_000  # of bench_steps_rank0.jsonl
    assert (step["engine_version"], step["rank"], step["phase"]) == ("0.12.0", 0, "decode")


def test_a_recording_that_shows_other_steps_is_not_done(
    layerscope_bin: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declaration = _one(tmp_path)
    with ResultTable(declaration.output / "results.sqlite") as table:
        run_matrix(declaration, _runs(declaration), table, drive=Drive())
        (folder,) = {row["folder"] for row in table.rows()}
        _write_recording(declaration.output / folder, [(1, 16), (8, 16), (1, 1024)])
        unread = read_recordings(declaration, _runs(declaration), table, layerscope_bin.program)
        states = {(row["batch"], row["past"]): row["status"] for row in table.rows()}
    assert unread == 1
    assert states == {(1, 16): "done", (8, 16): "done", (1, 1024): "done", (8, 1024): "recorded"}
    assert "1 points: the recording shows no step" in capsys.readouterr().err


def test_an_empty_recording_is_an_error(layerscope_bin: Engine, tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="holds no recording"):
        measured_points(layerscope_bin.program, tmp_path, modules=False)
    (tmp_path / "broken.json").write_text("{")
    with pytest.raises(CaptureError, match="cannot read the recording"):
        measured_points(layerscope_bin.program, tmp_path, modules=False)


def test_a_table_of_another_version_is_refused(tmp_path: Path) -> None:
    import sqlite3

    database = sqlite3.connect(tmp_path / "results.sqlite")
    database.execute("CREATE TABLE results (family TEXT)")
    database.close()
    with pytest.raises(CaptureError, match="results of another version"):
        ResultTable(tmp_path / "results.sqlite")


def test_the_table_as_parquet_has_the_same_rows(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    declaration = _one(tmp_path)
    _run_all(declaration, Drive())
    with ResultTable(declaration.output / "results.sqlite") as table:
        assert table.write_parquet(tmp_path / "results.parquet") == 4
        assert parquet.read_table(tmp_path / "results.parquet").to_pylist() == table.rows()


def test_the_command_runs_a_matrix_on_an_engine(
    run_capture: RunCapture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("nvtx")
    here = Path(__file__).parent
    before = os.environ.get("PYTHONPATH", "")
    path = [str(here / "stub_engines"), str(here.parent / "src"), *([before] if before else [])]
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))
    monkeypatch.syspath_prepend(str(here / "stub_engines"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.delenv("LAYERSCOPE_BIN", raising=False)
    _one(tmp_path, batch=[2], past=[8], profiler="none")
    file = tmp_path / "matrix.json"
    dry = run_capture("matrix", file, "--dry-run")
    assert "would run: small__vllm__bf16__tp1: 1 points (org/small)" in dry.out
    assert sorted(p.name for p in tmp_path.iterdir()) == ["matrix.json"]
    done = run_capture("matrix", file)
    assert done.code == 0, done.err
    assert "1 points recorded, 0 kept, 0 failed" in done.out
    again = run_capture("matrix", file)
    assert "0 points recorded, 1 kept, 0 failed" in again.out
    with ResultTable(tmp_path / "matrix_runs" / "results.sqlite") as table:
        (row,) = table.rows()
    assert row["host_ns"] > 0 and row["mean_sum_ns"] is None


def test_a_plan_without_a_profiler_has_no_recording_to_wait_for(tmp_path: Path) -> None:
    declaration = replace(_one(tmp_path), profiler="none")
    assert _run_all(declaration, Drive()) == (4, 0, 0)
    with ResultTable(declaration.output / "results.sqlite") as table:
        assert {row["status"] for row in table.rows()} == {"done"}
