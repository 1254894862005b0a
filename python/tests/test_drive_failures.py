"""`drive` where it fails: what is said, what is advised, what is left.

Lines are those of vLLM 0.32's logs where they name this version (seen on a CPU), else as issues of
the projects quote them.
"""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from conftest import RunCapture

from layerscope.capture import engines
from layerscope.capture.drive import drive_run, session
from layerscope.capture.drive.drive_plan import DrivePlan
from layerscope.capture.drive.drive_run import _session_failed, run_drive
from layerscope.capture.drive.failure_causes import OWN_ERROR, failure_cause
from layerscope.capture.drive.recordings import recordings
from layerscope.capture.drive.session import finished_points
from layerscope.capture.errors import FAILED, INVALID_INPUT, USAGE, CaptureError
from layerscope.capture.hooks.hook_report import HookReport
from layerscope.capture.in_engine.marked_steps import MarkedStep, marked_steps, note_step
from layerscope.capture.kept_logs import logs_kept

# What surrounds the cause: settings that name everything, and the ends of other processes.
_BEFORE = "INFO config: trust_remote_code=False, gpu_memory_utilization=0.9, quantization=None\n"
_AFTER = "RuntimeError: Engine core initialization failed. See root cause above.\n"


@pytest.mark.parametrize(
    ("engine", "line", "advice"),
    [
        # vLLM 0.32
        ("vllm", "LocalEntryNotFoundError: Cannot find an appropriate snapshot", "not there"),
        ("vllm", "RuntimeError: Cannot find any model weights with `m`", "--dummy-weights"),
        ("vllm", "Value error, Model architectures ['Foo'] are not supported for now.", "newer"),
        ("vllm", "Value error, Transformers does not recognize this architecture.", "newer"),
        ("vllm", "TypeError: __init__() got an unexpected keyword argument 'x'", "--engine-arg"),
        # Issues 17431, 110 (kvcached), 10439 of vLLM
        (
            "vllm",
            "ERROR 04-30 ValueError: No available memory for the cache blocks.",
            "KV cache does not fit: give a smaller --batch-size, --input-len or --output-len, or a "
            "larger --engine-arg gpu_memory_utilization=F",
        ),
        (
            "vllm",
            "ValueError: Free memory on device (67/79 GiB) on startup is less than desired GPU "
            "memory utilization (0.9, 71 GiB).",
            "a smaller --engine-arg gpu_memory_utilization=F",
        ),
        # Issue 4330 of SGLang
        (
            "sglang",
            "RuntimeError: Not enough memory. Please try to increase --mem-fraction-static.",
            "a larger --engine-arg mem_fraction_static=F",
        ),
        (
            "trtllm",
            "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 5.25 GiB.",
            "a smaller --engine-arg 'kv_cache_config=",
        ),
        ("vllm", "OSError: [Errno 98] Address already in use", "port"),
        ("vllm", "PermissionError: [Errno 13] Permission denied: '/x'", "may not be read"),
        ("vllm", "OSError: [Errno 28] No space left on device", "disk is full"),
        ("vllm", "RuntimeError: No CUDA GPUs are available", "CUDA_VISIBLE_DEVICES"),
        (
            "vllm",
            "Value error, User-specified max_model_len (99) is greater than the derived "
            "max_model_len (64)",
            "--input-len",
        ),
    ],
)
def test_the_advice_follows_the_cause(engine: str, line: str, advice: str, tmp_path: Path) -> None:
    log = tmp_path / "session.log"
    log.write_text(f"{_BEFORE}{line}\n{_AFTER * 10}")
    cause, hint = failure_cause(log, engine, 1)
    assert (cause, advice in hint) == (line, True)


@pytest.mark.parametrize("engine", engines.SERVING)
def test_without_a_known_cause_there_is_no_advice(engine: str, tmp_path: Path) -> None:
    log = tmp_path / "session.log"
    assert failure_cause(log, engine, 1) == ("", "")
    log.write_text(_BEFORE + "ERROR something else\n" + _AFTER)
    assert failure_cause(log, engine, 1) == ("", "")
    assert "memory of the machine" in failure_cause(log, engine, -9)[1]


def test_what_the_session_itself_says_is_the_cause_and_comes_first(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Here that it has no plan; and that its disk is full, as seen on one."""
    assert session.main([str(tmp_path)]) == INVALID_INPUT
    said = f"cannot read {tmp_path / 'drive.plan'}: No such file or directory"
    written = capsys.readouterr().err
    (tmp_path / "session.log").write_text(_BEFORE + written + "INFO ended\n")
    plan = DrivePlan("vllm", "m", (1,), (8,), 2, (1,))
    message = _session_failed(plan, tmp_path, 3).message
    assert message.startswith(f"the session of vllm ended with 3: {said}; its last words:\nINFO")
    full = "cannot write /out/.armed: No space left on device"
    (tmp_path / "session.log").write_text(f"{OWN_ERROR}{full}\n  make room on this disk\n")
    cause, hint = failure_cause(tmp_path / "session.log", "vllm", 1)
    assert (cause, "the disk is full" in hint) == (full, True)


def test_a_log_that_is_empty_as_the_disk_is_full_has_a_cause(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=0))
    assert "the disk is full" in failure_cause(tmp_path / "session.log", "vllm", 1)[1]


def test_steps_of_an_engine_that_was_killed_are_those_that_were_written_whole(
    tmp_path: Path,
) -> None:
    steps = [MarkedStep(0, 16, 1, 16, 1000), MarkedStep(1, 16, 1, 17, 2000)]
    assert marked_steps(tmp_path) == []
    for step in steps:
        note_step(tmp_path, 0, step)
    with (tmp_path / "bench_steps_rank0.jsonl").open("a") as file:
        file.write('{"n": 2, "ba')
    assert marked_steps(tmp_path) == steps


def test_a_compiled_model_ends_the_drive_and_leaves_its_log_alone(
    stubs: None, run_capture: RunCapture, tmp_path: Path
) -> None:
    words = ["--engine", "vllm", "--profiler", "none", "--backend", "nvtx", "-o", tmp_path / "out"]
    compiled = '{"mode":3,"cudagraph_mode":"FULL_AND_PIECEWISE"}'
    done = run_capture("drive", "m", *words, "--engine-arg", f"compilation_config={compiled}")
    assert done.code == 1
    assert "only while the model is traced" in done.err
    assert f"kept: {tmp_path / 'out.session.log'}" in done.err
    assert list(tmp_path.iterdir()) == [tmp_path / "out.session.log"]
    options = ["--batch-size", "1", "--input-len", "8"]
    assert run_capture("drive", "m", *words, *options).code == 0
    assert list(tmp_path.iterdir()) == [tmp_path / "out"]  # the log of the failure is old


def test_the_log_of_a_failure_is_kept_without_room_for_a_copy(tmp_path: Path) -> None:
    folder = tmp_path / ".aside"
    folder.mkdir()
    (folder / "session.log").write_text("no space")
    before = (folder / "session.log").stat().st_ino
    with (
        pytest.raises(CaptureError) as caught,
        logs_kept(folder, tmp_path / "out", ["session.log", "none.log"]),
    ):
        raise CaptureError("it failed")
    kept = tmp_path / "out.session.log"
    assert (kept.read_text(), kept.stat().st_ino) == ("no space", before)
    assert caught.value.hint == f"kept: {kept}"


@pytest.mark.parametrize("fault", ["STUB_WAITS_AT", "STUB_FAILS_AT"])
def test_points_that_ran_are_kept_where_that_is_asked(
    fault: str, stubs: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A batch of 4 that the engine never decodes together, or at which it breaks down."""
    monkeypatch.setenv(fault, "4")
    plan = DrivePlan("vllm", "m", (1, 4), (8,), 2, (1,), profiler="torch")
    with pytest.raises(CaptureError) as caught:
        run_drive(plan, tmp_path / "all")
    assert "smaller --batch-size" in caught.value.hint
    assert not (tmp_path / "all").exists()
    summary = run_drive(plan, tmp_path / "some", all_points=False)
    assert summary.steps == {(1, 8): 1}
    assert [group[0].parent.name for group in recordings(tmp_path / "some")][0] == "batch1_input8"
    four = replace(plan, batch_sizes=(4,))
    with pytest.raises(CaptureError):
        run_drive(four, tmp_path / "none", all_points=False)
    assert not (tmp_path / "none").exists()


def test_a_step_that_was_missed_in_one_of_the_rounds_is_no_good_one(
    stubs: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of the profiler's start, warm-up and three rounds, in the fourth call one request waits."""
    monkeypatch.setenv("STUB_WAITS_AT_CALL", "4")
    plan = DrivePlan("vllm", "m", (4,), (8,), 2, (1,), repeat=3, profiler="torch")
    with pytest.raises(CaptureError, match="did not run as such in each of 3 rounds") as caught:
        run_drive(plan, tmp_path / "out")
    assert "max_num_batched_tokens" in caught.value.hint
    assert run_drive(replace(plan, repeat=1), tmp_path / "out").steps == {(4, 8): 1}


@pytest.mark.parametrize(
    ("second_round", "finished"),
    [([16, 18], {(2, 16): 2, (2, 18): 4, (2, 20): 2}), ([16], {(2, 16): 2, (2, 20): 2})],
)
def test_a_point_behind_two_lengths_of_prompts_is_counted_of_each(
    second_round: list[int], finished: dict[tuple[int, int], int], tmp_path: Path
) -> None:
    """By hand: the third decode step behind 16 tokens and the first behind 18 have past 18."""
    plan = DrivePlan("vllm", "m", (2,), (16, 18), 4, (1, 3), repeat=2)
    rounds = [(16, [16, 18]), (16, second_round), (18, [18, 20]), (18, [18, 20])]
    for length, pasts in rounds:
        for past in pasts:
            note_step(tmp_path, 0, MarkedStep(0, length, 2, past, 1000))
    assert finished_points(plan, tmp_path) == finished


def test_a_step_that_ran_more_often_than_there_are_rounds_is_no_good_one(tmp_path: Path) -> None:
    plan = DrivePlan("vllm", "m", (2,), (16,), 2, (1,), repeat=2)
    for number in range(3):
        note_step(tmp_path, 0, MarkedStep(number, 16, 2, 16, 1000))
    assert finished_points(plan, tmp_path) == {}


def test_a_drive_that_names_no_node_of_a_graph_is_no_capture(
    stubs: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Annotations were asked for, and the process has none to report at its end."""
    report = HookReport("vllm", "nvtx,annotations", 0, models=["M"], modules=3)
    monkeypatch.setattr(drive_run, "read_reports", lambda folder: [report])
    plan = DrivePlan("vllm", "m", (1,), (8,), 2, (1,))
    with pytest.raises(CaptureError, match="rank 0: annotations named no node"):
        run_drive(plan, tmp_path / "out")
    report.graph_nodes = 9
    run_drive(plan, tmp_path / "out")


def test_a_profiler_that_writes_nothing_is_an_error(
    stubs: None, run_capture: RunCapture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STUB_WRITES_NO_TRACE", "1")
    words = ["--engine", "vllm", "--profiler", "torch", "-o", tmp_path / "out"]
    done = run_capture("drive", "m", *words, "--backend", "nvtx", "--input-len", "8")
    assert done.code == 1
    assert "torch left no recording" in done.err
    assert [file.name for file in tmp_path.iterdir()] == ["out.session.log"]


@pytest.mark.parametrize(
    ("engine", "profiler", "other"),
    [("vllm", "nsys", "torch"), ("trtllm", "nsys", "none"), ("trtllm", "auto", "none")],
)
def test_a_missing_nsys_is_an_error_that_says_what_to_do(
    engine: str,
    profiler: str,
    other: str,
    stubs: None,
    run_capture: RunCapture,
    tmp_path: Path,
) -> None:
    words = ["--engine", engine, "--profiler", profiler, "-o", tmp_path / "out"]
    assert run_capture("drive", "m", *words, "--dry-run").code == 0
    done = run_capture("drive", "m", *words)
    assert done.code == FAILED
    assert "nsys is not on PATH" in done.err and f"--profiler {other}\n" in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_missing_engine_is_an_error_that_says_how_to_install_it(
    run_capture: RunCapture, tmp_path: Path
) -> None:
    words = ["--engine", "sglang", "--profiler", "none", "-o", tmp_path / "out"]
    done = run_capture("drive", "m", *words)
    assert done.code == 1
    assert "sglang is not installed" in done.err and "pip install" in done.err
    assert list(tmp_path.iterdir()) == []


def test_the_torch_profiler_of_tensorrt_llm_is_refused(run_capture: RunCapture) -> None:
    done = run_capture("drive", "--engine", "trtllm", "m", "--profiler", "torch", "--dry-run")
    assert done.code == USAGE
    assert "cannot be started from outside" in done.err


def test_a_dry_run_refuses_a_model_that_the_run_would(
    stubs: None, run_capture: RunCapture, tiny_config: Path, tmp_path: Path
) -> None:
    """A config without weights."""
    words = ["--engine", "vllm", "--profiler", "none", "-o", tmp_path / "out"]
    done = run_capture("drive", tiny_config, *words)
    dry = run_capture("drive", tiny_config, *words, "--dry-run")
    assert (dry.code, dry.err) == (done.code, done.err)
    assert (dry.code, f"{tiny_config} has no weights" in dry.err) == (INVALID_INPUT, True)
    assert run_capture("drive", tmp_path / "made-later", *words, "--dry-run").code == 0


def test_prompts_and_outputs_that_a_model_does_not_take_are_refused(
    run_capture: RunCapture, tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "x", "max_position_embeddings": 34}')
    words = [tmp_path, "--profiler", "none", "--input-len", "16", "32", "--dry-run"]
    words.append("--dummy-weights")
    assert run_capture("drive", "--engine", "vllm", *words).code == 0
    done = run_capture("drive", "--engine", "vllm", *words, "--milestones", "2")
    assert done.code == USAGE
    assert f"need 35 tokens, and {tmp_path} takes 34" in done.err
    done = run_capture("drive", "--engine", "vllm", *words, "--engine-arg", "max_model_len=33")
    assert done.code == USAGE
    assert "need 34 tokens, and max_model_len is 33" in done.err
