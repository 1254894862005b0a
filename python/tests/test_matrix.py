"""`matrix`: what a declaration expands to, what is run again, and what the table holds."""

from __future__ import annotations

import importlib.util
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
from conftest import Program, RunCapture
from fake_drive import Drive, declared, declared_run, run_all, runs_of, write_recording

from layerscope.capture import layerscope_program
from layerscope.capture.errors import INVALID_INPUT, CaptureError
from layerscope.capture.matrix.declaration import load_declaration
from layerscope.capture.matrix.execution import read_recordings, run_matrix
from layerscope.capture.matrix.measurement import measured_points
from layerscope.capture.matrix.planned_runs import planned_runs
from layerscope.capture.matrix.result_table import ResultTable


def test_a_matrix_expands_to_one_run_a_model_precision_and_parallelism(tmp_path: Path) -> None:
    runs = list(planned_runs(declared(tmp_path)))
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
    (run,) = planned_runs(declared_run(tmp_path))
    (more,) = planned_runs(declared_run(tmp_path, batch=[1, 2, 3]))
    (other,) = planned_runs(declared_run(tmp_path, repeat=5))
    assert run.fingerprint == more.fingerprint != other.fingerprint
    assert run.of_points([(8, 16), (1, 16)]).plan.points == {(1, 16), (8, 16)}


def test_a_fingerprint_is_of_the_patches_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (plain,) = planned_runs(declared_run(tmp_path))
    plan = tmp_path / "layerscope_patch.json"
    monkeypatch.setenv("LAYERSCOPE_PATCH", str(plan))
    found = [plain.fingerprint]
    for layers in ([0], [0, 1]):
        document = {"schema": "layerscope_patch/1", "num_layers": 4, "keep_layers": layers}
        plan.write_text(json.dumps(document))
        (run,) = planned_runs(declared_run(tmp_path))
        found.append(run.fingerprint)
    assert len(set(found)) == 3, "results of another plan would be taken for those of this one"


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
    assert load_declaration(tmp_path / "matrix.toml") == declared(tmp_path)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"engine": "tgi"}, "no engine 'tgi'"),
        ({"batch": [0]}, "batch: 0 is no whole number above 0"),
        ({"batch": [1.5]}, "batch: 1.5 is no whole number above 0"),
        ({"past": 2**31}, "past: 2147483648 is above 2147483647"),
        ({"batch": 10**20}, "matrix.json: batch: 100000000000000000000 is no number of 64 bits"),
        (
            {"engine_args": {"x": -(10**20)}},
            "engine_args: x: -100000000000000000000 is no number of 64 bits",
        ),
        ({"batch": []}, "no batch is given for small"),
        ({"past": "16"}, "past: '16' is no whole number"),
        ({"precision": "int4"}, "precision 'int4' is not known"),
        ({"precision": {"name": "x", "bits": "4"}}, "is not known"),
        ({"parallelism": "tp0"}, "parallelism 'tp0' is not written as"),
        ({"parallelism": "dp2"}, "parallelism 'dp2' is not written as"),
        ({"batches": [1]}, "knows no 'batches'"),
        ({"family": []}, "has no [[family]]"),
        ({"family": [{"name": "a"}]}, "has no model"),
        ({"family": [{"model": "a", "size": 7}]}, "[[family]] knows no 'size'"),
        ({"family": [{"model": "a"}, {"model": "a"}]}, "two families are called 'a'"),
        ({"precision": ["bf16", {"name": "bf16"}]}, "two precisions are called 'bf16'"),
        ({"parallelism": ["tp1", "tp1"]}, "two parallelisms are called 'tp1'"),
        ({"engine": [{"name": "vllm"}]}, "no engine"),
        ({"engine_args": ["max_model_len"]}, "engine_args is no table"),
        ({"exclude": [{"batch": 8}]}, "[[exclude]] takes family, engine"),
        ({"exclude": {"engine": "vllm"}}, "exclude is no list of tables"),
        ({"exclude": [{"family": "smal"}]}, "[[exclude]] family = 'smal': no run has it"),
        ({"exclude": [{"engine": "trtllm"}]}, "engine = 'trtllm': no run has it"),
        ({"exclude": [{"precision": ["bf16"]}]}, "precision = ['bf16']: no run has it"),
        ({"exclude": [{"parallelism": "tp2"}]}, "parallelism = 'tp2': no run has it"),
        ({"isolate": "yes"}, "isolate: 'yes' is neither true nor false"),
        ({"profiler": "perf"}, "no profiler 'perf'"),
        ({"parallelism": "tp1-tp2"}, "parallelism 'tp1-tp2' is not written as"),
        ({"parallelism": "tp" + "9" * 5000}, "is not written as tp4"),
        ({"parallelism": "tp99999999999999999999"}, "is not written as tp4"),
        ({"output": ["a"]}, "output: ['a'] is no text"),
        ({"output": None}, "output: None is no text"),
        ({"output": ""}, "output: '' is no text"),
        ({"output": "a\0b"}, r"'a\x00b' holds what is no character"),
        ({"family": [{"model": ""}]}, "has no model"),
        ({"family": [{"model": 7}]}, "model: 7 is no text"),
        ({"family": [{"model": "\ud800"}]}, "holds what is no character"),
        ({"family": [{"model": "m", "name": "\ud800"}]}, "holds what is no character"),
        ({"family": [{"model": "m", "name": {"a": 1}}]}, "name: {'a': 1} is no text"),
        ({"engine_args": {"\ud800": 1}}, "holds what is no character"),
        ({"engine_args": {"tensor_parallel_size": 4}}, "has 'tensor_parallel_size', by which"),
    ],
)
def test_what_is_wrong_in_a_declaration_is_named(
    changes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    with pytest.raises(CaptureError) as caught:
        declared(tmp_path, **changes)
    assert said in caught.value.message
    assert caught.value.code == INVALID_INPUT


@pytest.mark.parametrize("name", ["matrix.json", "matrix.toml"])
def test_a_number_of_thousands_of_digits_is_said_as_such(name: str, tmp_path: Path) -> None:
    if name.endswith(".toml") and sys.version_info < (3, 11):
        pytest.skip("TOML needs Python 3.11")
    file, number = tmp_path / name, "9" * 5000
    text = f"batch = {number}" if name.endswith(".toml") else f'{{"batch": {number}}}'
    file.write_text(text)
    with pytest.raises(CaptureError) as caught:
        load_declaration(file)
    assert caught.value.message == f"{file}: a number has thousands of digits"
    assert caught.value.code == INVALID_INPUT


@pytest.mark.skipif(sys.version_info < (3, 11), reason="TOML needs Python 3.11")
def test_a_date_in_a_declaration_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "matrix.toml"
    file.write_text("engine_args = {x = [2020-01-01]}\n[[family]]\nmodel = 'm'\n")
    with pytest.raises(CaptureError, match="2020-01-01 is neither text nor a number"):
        load_declaration(file)


def test_a_matrix_of_which_all_is_excluded_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="no run is left") as caught:
        runs_of(declared_run(tmp_path, exclude=[{"engine": "vllm"}]))
    assert caught.value.code == INVALID_INPUT


def test_a_name_that_is_no_folder_s_is_refused_before_anything_runs(tmp_path: Path) -> None:
    family = [{"name": "x" * 250, "model": "m"}]
    with pytest.raises(CaptureError, match="too long for a folder") as caught:
        runs_of(declared_run(tmp_path, family=family))
    assert caught.value.code == INVALID_INPUT


@pytest.mark.parametrize("output", ["model", "model/runs", "link/runs"])
def test_an_output_in_the_folder_of_a_model_is_refused(output: str, tmp_path: Path) -> None:
    (tmp_path / "model").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "model")
    family = [{"name": "small", "model": str(tmp_path / "model")}]
    with pytest.raises(CaptureError, match="'small': the output .* lies in the folder") as caught:
        runs_of(declared_run(tmp_path, family=family, output=output))
    assert caught.value.code == INVALID_INPUT
    assert len(runs_of(declared_run(tmp_path, family=family, output="model_runs"))) == 1


def test_a_past_that_a_model_does_not_take_is_refused_before_anything_runs(tmp_path: Path) -> None:
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_text('{"model_type": "x", "max_position_embeddings": 1025}')
    family = [{"name": "small", "model": str(model)}]
    with pytest.raises(CaptureError, match=r"family 'small': .* need 1026 tokens") as caught:
        runs_of(declared_run(tmp_path, family=family))
    assert caught.value.code == INVALID_INPUT
    assert len(runs_of(declared_run(tmp_path, family=family, past=1023))) == 1


def test_a_parallelism_that_vllm_does_not_have_is_refused_before_anything_runs(
    tmp_path: Path,
) -> None:
    """It would run as another one under this name."""
    with pytest.raises(CaptureError, match=r"family 'small': vLLM .* among 2 GPUs of 4") as caught:
        runs_of(declared_run(tmp_path, parallelism="tp4-ep2"))
    assert caught.value.code == INVALID_INPUT
    assert "past" not in caught.value.hint


@pytest.mark.parametrize("text", ["", "{", "[1]", "\x00"])
def test_a_file_that_is_no_declaration_is_refused(text: str, tmp_path: Path) -> None:
    file = tmp_path / "matrix.json"
    file.write_text(text)
    with pytest.raises(CaptureError, match="matrix.json"):
        load_declaration(file)


def test_a_program_that_is_not_there_is_said_before_anything_is_recorded(
    run_capture: RunCapture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAYERSCOPE_BIN", str(tmp_path / "gone"))
    declared_run(tmp_path, profiler="none")
    done = run_capture("matrix", tmp_path / "matrix.json")
    assert done.code == 1
    assert f"LAYERSCOPE_BIN names {tmp_path / 'gone'}, which is no program" in done.err
    assert [file.name for file in tmp_path.iterdir()] == ["matrix.json"]


@pytest.mark.parametrize(
    "answer",
    [
        "",
        "{}",
        "[1]",
        "7",
        '{"error": 7}',
        '{"data": []}',
        '{"data": {"sweep": [7]}}',
        '{"data": {"sweep": [{"past": 16}]}}',
        '{"data": {"sweep": [{"past": 1e999, "batch": 1}]}}',
        '{"ranks": [{}]}',
        "[" * 100_000,
    ],
    ids=lambda answer: answer[:20],
)
def test_a_program_that_gives_another_answer_is_an_error(answer: str, tmp_path: Path) -> None:
    write_recording(tmp_path / "run", [(1, 16)])
    (tmp_path / "answer").write_text(answer)
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\ncat {tmp_path / 'answer'}\n")
    program.chmod(0o755)
    with pytest.raises(CaptureError, match="is not the program layerscope of this version"):
        measured_points(str(program), tmp_path / "run", modules=True)


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("kill -9 $$", "was ended by signal 9"),
        ("exec sleep 60", "does not run: .* timed out"),
        (None, "does not run: .* No such file"),
    ],
)
def test_a_program_that_gives_no_answer_is_an_error(
    script: str | None, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(layerscope_program, "_TIMEOUT_S", 0.5)
    write_recording(tmp_path / "run", [(1, 16)])
    program = tmp_path / "program"
    if script is not None:
        program.write_text(f"#!/bin/sh\n{script}\n")
        program.chmod(0o755)
    with pytest.raises(CaptureError, match=said):
        measured_points(str(program), tmp_path / "run", modules=False)


def test_times_are_those_that_layerscope_reads(layerscope_bin: Program, tmp_path: Path) -> None:
    declaration = declared_run(tmp_path, modules=True)
    drive = Drive()
    with ResultTable(declaration.output / "results.sqlite") as table:
        run_matrix(declaration, runs_of(declaration), table, drive=drive)
        assert {row["status"] for row in table.rows()} == {"recorded"}
        assert not read_recordings(declaration, runs_of(declaration), table, layerscope_bin.program)
        rows = {(r["batch"], r["past"], r["module"]): r for r in table.rows()}
        assert not read_recordings(declaration, runs_of(declaration), table, "not needed any more")
    assert {row["status"] for row in rows.values()} == {"done"}
    modules = ("model.attn", "model.mlp", "[model]")
    assert {module for _, _, module in rows} == {"", *modules}
    # By hand: the two steps of (8, 16) have three kernels of 8 us and three of 16 us, one of each
    # module and one of the model itself.
    step = rows[8, 16, ""]
    assert (step["n_steps"], step["mean_sum_ns"]) == (2, (24_000 + 48_000) // 2)
    assert step["median_sum_ns"] == 24_000  # the lower of two, as layerscope's medians are
    assert step["mean_host_wall_ns"] == 5_000_000
    own = [rows[8, 16, module]["mean_sum_ns"] for module in modules]
    assert own == [(8_000 + 16_000) // 2] * 3
    assert sum(own) == step["mean_sum_ns"]
    assert step["host_ns"] == 8_000  # of 8 and 16 us in bench_steps_rank0.jsonl, by the same rule
    assert (step["engine_version"], step["rank"], step["phase"]) == ("0.12.0", 0, "decode")


def test_a_recording_that_shows_other_steps_is_not_done(
    layerscope_bin: Program, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    declaration = declared_run(tmp_path)
    with ResultTable(declaration.output / "results.sqlite") as table:
        run_matrix(declaration, runs_of(declaration), table, drive=Drive())
        (folder,) = {row["folder"] for row in table.rows()}
        write_recording(declaration.output / folder, [(1, 16), (8, 16), (1, 1024)])
        unread = read_recordings(declaration, runs_of(declaration), table, layerscope_bin.program)
        states = {(row["batch"], row["past"]): row["status"] for row in table.rows()}
    assert unread == 1
    assert states == {(1, 16): "done", (8, 16): "done", (1, 1024): "done", (8, 1024): "recorded"}
    assert "1 point: the recording shows no step" in capsys.readouterr().err


def test_a_trace_that_broke_off_hides_no_other(
    layerscope_bin: Program, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "run"
    write_recording(folder, [(1, 16)])
    (folder / "rank0.2.pt.trace.json").write_text("{")
    assert set(measured_points(layerscope_bin.program, folder, modules=True)) == {(1, 16)}
    assert f"reading {folder / 'rank0.2.pt.trace.json'}" in capsys.readouterr().err


def test_an_empty_recording_is_an_error(layerscope_bin: Program, tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="holds no recording"):
        measured_points(layerscope_bin.program, tmp_path, modules=False)
    (tmp_path / "broken.trace.json").write_text("{")
    with pytest.raises(CaptureError, match="reading .*broken.trace.json"):
        measured_points(layerscope_bin.program, tmp_path, modules=False)


def test_a_table_of_another_version_is_refused(tmp_path: Path) -> None:
    import sqlite3

    database = sqlite3.connect(tmp_path / "results.sqlite")
    database.execute("CREATE TABLE results (family TEXT)")
    database.close()
    with pytest.raises(CaptureError, match="results of another version"):
        ResultTable(tmp_path / "results.sqlite")


def test_the_table_as_parquet_has_the_same_rows(
    tmp_path: Path, absent: Callable[[str], NoReturn]
) -> None:
    if importlib.util.find_spec("pyarrow") is None:
        absent("matrix: --parquet: pyarrow is not installed")
    from pyarrow import parquet

    declaration = declared_run(tmp_path)
    run_all(declaration, Drive())
    with ResultTable(declaration.output / "results.sqlite") as table:
        assert table.write_parquet(tmp_path / "results.parquet") == 4
        assert parquet.read_table(tmp_path / "results.parquet").to_pylist() == table.rows()


def test_the_command_runs_a_matrix_on_an_engine(
    stubs: None,
    run_capture: RunCapture,
    nvtx_package: None,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("LAYERSCOPE_BIN", raising=False)
    declared_run(tmp_path, batch=[2], past=[8], profiler="none")
    file = tmp_path / "matrix.json"
    dry = run_capture("matrix", file, "--dry-run")
    assert "would run: small__vllm__bf16__tp1: 1 point (org/small)" in dry.out
    assert sorted(p.name for p in tmp_path.iterdir()) == ["matrix.json"]
    done = run_capture("matrix", file)
    assert done.code == 0, done.err
    assert "1 point recorded, 0 kept, 0 failed" in done.out
    again = run_capture("matrix", file)
    assert "0 points recorded, 1 kept, 0 failed" in again.out
    with ResultTable(tmp_path / "matrix_runs" / "results.sqlite") as table:
        (row,) = table.rows()
    assert row["host_ns"] > 0 and row["mean_sum_ns"] is None
