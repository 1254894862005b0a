"""`drive`: which decode steps are marked, in which process, and what is recorded."""

from __future__ import annotations

import json
import stat
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import Program, RunCapture
from nvtx_recorder import Push, read_pushes

from layerscope.capture.drive.drive_run import DriveSummary
from layerscope.capture.drive.nsys import nsys_words
from layerscope.capture.drive.recordings import recordings, spread_side_files
from layerscope.capture.hooks.annotation_file import annotations_name
from layerscope.capture.in_engine.engine_steps import sglang_point, trtllm_point, vllm_point
from layerscope.capture.in_engine.marked_steps import marked_steps
from layerscope.capture.in_engine.settings import ARMED, Round, StepSettings
from layerscope.capture.in_engine.step_marker import StepMarker
from layerscope.capture.in_engine.step_points import _marking
from layerscope.capture.patches.plan import load_plan

# Batches of 1 and 4 with prompts of 16 tokens: 4 prompts are 64 tokens, and the stubs prefill 48 a
# step, so that without a warm-up the requests of a batch would not decode together.
_OPTIONS = ["--batch-size", "1", "4", "--input-len", "16", "--milestones", "1,3", "--repeat", "2"]
_POINTS = [(1, 16), (1, 18), (4, 16), (4, 18)]


@pytest.mark.parametrize("engine", ["vllm", "sglang", "trtllm"])
def test_the_chosen_steps_are_marked_where_the_model_runs(
    engine: str,
    stubs: None,
    run_capture: RunCapture,
    nvtx_recorder: Path,
    not_run_here: Callable[[str], None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    not_run_here(f"drive: {engine}: against a stub, not run with the real engine or on a GPU")
    monkeypatch.setenv("NVTX_INJECTION64_PATH", str(nvtx_recorder))
    monkeypatch.setenv("NVTX_RECORDER_FILE", str(tmp_path / "pushes"))
    output = tmp_path / "out"
    words = ["--engine", engine, "--profiler", "none", "--backend", "nvtx", "-o", output]
    done = run_capture("drive", "some/model", *words, *_OPTIONS)
    assert done.code == 0, done.err
    for batch, past in _POINTS:
        assert f"batch {batch}, past length {past}: 2 steps" in done.out
    summary = json.loads((output / "drive.summary").read_text())
    assert summary["engine"] == engine and summary["modules"] == 8
    assert [(s["batch"], s["past"], s["steps"]) for s in summary["steps"]] == [
        (*point, 2) for point in _POINTS
    ]
    _check_pushes(read_pushes(tmp_path / "pushes"))
    assert not (output / ARMED).exists()


def _check_pushes(pushes: list[Push]) -> None:
    """Two rounds of each batch, in the order of the plan; N counts; the model is inside."""
    steps = [push for push in pushes if push.text.startswith("bench_step")]
    order = [(1, 16), (1, 18)] * 2 + [(4, 16), (4, 18)] * 2
    assert [step.text for step in steps] == [
        f"bench_step::{n}::bs::{batch}::past::{past}::phase::decode"
        for n, (batch, past) in enumerate(order)
    ]
    roots = [push for push in pushes if push.text == "{'Module': ''}"]
    inside = [root.around for root in roots if root.around]
    assert inside == [(step.text,) for step in steps]
    assert len(roots) > len(inside)  # warm-up, prefill and other decode steps are not marked


@pytest.fixture
def fake_nsys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An nsys that runs the command behind its options and leaves a report, or is broken."""
    folder = tmp_path / "bin"
    folder.mkdir()
    script = folder / "nsys"
    script.write_text(
        "#!/bin/sh\n"
        'echo "$@" > "$NSYS_SAID"\n'
        'for word in "$@"; do case "$word" in --output=*) out="${word#--output=}";; esac; done\n'
        '[ -n "$NSYS_BROKEN" ] || : > "$out.nsys-rep"\n'
        'while [ "${1#*python}" = "$1" ]; do shift; done\n'
        'exec "$@"\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    monkeypatch.setenv("NSYS_SAID", str(tmp_path / "said"))
    return folder


def test_where_nsys_is_on_path_it_records_the_session(
    stubs: None, fake_nsys: Path, run_capture: RunCapture, tmp_path: Path
) -> None:
    words = ["--engine", "vllm", "-o", tmp_path / "out", "--batch-size", "2", "--input-len", "8"]
    done = run_capture("drive", "m", *words)
    assert done.code == 0, done.err
    said = (tmp_path / "said").read_text()
    assert said.startswith("profile --trace=cuda,nvtx --cuda-graph-trace=node")
    assert "--trace-fork-before-exec=true" in said
    assert "layerscope.capture.drive.session" in said
    assert f"next: layerscope steps {tmp_path / 'out' / 'report.nsys-rep'}" in done.out
    plan = json.loads((tmp_path / "out" / "drive.plan").read_text())
    assert (plan["profiler"], plan["backends"]) == ("nsys", ["nvtx"])


def test_an_nsys_that_leaves_no_report_is_an_error(
    stubs: None,
    fake_nsys: Path,
    run_capture: RunCapture,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("NSYS_BROKEN", "1")
    words = ["--engine", "vllm", "-o", tmp_path / "out", "--batch-size", "2", "--input-len", "8"]
    done = run_capture("drive", "m", *words)
    assert done.code == 1
    assert "nsys left no recording" in done.err and "nsys status" in done.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("engine", "name"), [("vllm", "rank0.{}.pt.trace.json"), ("sglang", "{}-TP-0.trace.json")]
)
def test_traces_of_each_batch_and_input_length_are_a_run_of_their_own(
    engine: str, name: str, stubs: None, run_capture: RunCapture, tmp_path: Path
) -> None:
    # No nsys on PATH: the engine's own profiler. NVTX spares the test the import of torch.
    words = ["--engine", engine, "--backend", "nvtx", "-o", tmp_path / "out"]
    done = run_capture("drive", "m", *words, "--batch-size", "1", "2", "--input-len", "8")
    assert done.code == 0, done.err
    # The first, in which the profiler starts, is thrown away.
    names = [f"batch{n}_input8/{name.format(n + 1)}" for n in (1, 2)]
    assert [len(list((tmp_path / "out" / name).parent.iterdir())) for name in names] == [1, 1]
    assert all((tmp_path / "out" / name).is_file() for name in names)
    if engine == "sglang":  # the ranges say the modules
        assert json.loads((tmp_path / "out" / names[0]).read_text()) == {"with_stack": False}
    assert done.out.splitlines()[-1] == f"next: layerscope steps {tmp_path / 'out'}"


def test_a_name_that_is_no_text_is_printed_in_its_line_as_escapes(
    stubs: None, run_capture: RunCapture, tmp_path: Path
) -> None:
    """A command to the terminal, a line break, and text that runs from right to left."""
    output = tmp_path / "out\x1b[2J\n\u202e"
    words = ["--engine", "vllm", "--backend", "nvtx", "-o", output, "--input-len", "8"]
    done = run_capture("drive", "m", *words)
    assert done.code == 0, done.err
    trace = f"{tmp_path}/out\\x1b[2J\\n\\u202e/batch1_input8/rank0.2.pt.trace.json"
    assert done.out.splitlines()[-1] == f"next: layerscope steps '{trace}'"
    dry = run_capture("drive", "m", *words[:-3], f"{output}2", "--dry-run")
    assert dry.out.splitlines()[-1] == f"would write to: {tmp_path}/out\\x1b[2J\\n\\u202e2"


def test_annotations_are_beside_the_traces_of_every_round(
    stubs: None,
    run_capture: RunCapture,
    layerscope_bin: Program,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Those of a rank, written before the first round ends, as the hooks write them."""
    monkeypatch.setenv("STUB_ANNOTATIONS", annotations_name(0))
    output = tmp_path / "out"
    words = ["--engine", "vllm", "--backend", "nvtx", "-o", output, "--input-len", "8"]
    done = run_capture("drive", "m", *words, "--batch-size", "1", "2")
    assert done.code == 0, done.err
    for name in ("batch1_input8", "batch2_input8"):
        assert (output / name / annotations_name(0)).read_text() == "{}"
    # A rank for `layerscope steps` is a trace alone.
    found = recordings(output)
    assert [[file.parent.name for file in group] for group in found] == [
        ["batch1_input8"],
        ["batch2_input8"],
    ]
    (group, _) = found
    event = {"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 1}
    group[0].write_text(json.dumps({"traceEvents": [event]}))
    layerscope_bin.run(["summary", *group])


def test_the_config_of_the_model_is_beside_its_traces(
    stubs: None, run_capture: RunCapture, tiny_config: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out"
    words = ["--engine", "vllm", "--backend", "nvtx", "--dummy-weights", "-o", output]
    done = run_capture("drive", tiny_config, *words, "--input-len", "8")
    assert done.code == 0, done.err
    for folder in (output, output / "batch1_input8"):
        assert (folder / "config.json").read_text() == (tiny_config / "config.json").read_text()


def test_the_patches_of_a_recording_are_said_and_lie_beside_it(
    stubs: None, run_capture: RunCapture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    document = {"schema": "layerscope_patch/1", "num_layers": 2}  # the stubs' model has no lists
    plan = tmp_path / "layerscope_patch.json"
    plan.write_text(json.dumps(document))
    monkeypatch.setenv("LAYERSCOPE_PATCH", str(plan))
    output = tmp_path / "out"
    words = ["--engine", "vllm", "--profiler", "none", "--backend", "nvtx", "-o", output]
    done = run_capture("drive", "m", *words, "--input-len", "8")
    assert done.code == 0, done.err
    assert f"with LAYERSCOPE_PATCH={plan}: nothing to apply" in done.out
    assert DriveSummary.load(output).patches == load_plan(plan).document()


def test_annotations_beside_a_report_stay_where_they_are(tmp_path: Path) -> None:
    (tmp_path / "report.nsys-rep").touch()
    (tmp_path / annotations_name(1)).write_text("{}")
    spread_side_files(tmp_path, "org/not-here")
    assert len(list(tmp_path.iterdir())) == 2


def test_the_point_of_a_vllm_step() -> None:
    def output(new: list[str], computed: list[int], tokens: list[int]) -> SimpleNamespace:
        return SimpleNamespace(
            scheduled_new_reqs=new,
            scheduled_cached_reqs=SimpleNamespace(num_computed_tokens=computed),
            num_scheduled_tokens={str(i): n for i, n in enumerate(tokens)},
        )

    assert vllm_point(None, output([], [16, 16, 16], [1, 1, 1])) == (3, 16)
    assert vllm_point(None, output([], [16, 17], [1, 1])) is None  # out of step
    assert vllm_point(None, output(["a"], [16], [1, 8])) is None  # mixed
    assert vllm_point(None, output([], [16], [8])) is None  # a chunk of a prefill
    assert vllm_point(None, output([], [], [])) is None


def test_the_point_of_an_sglang_step() -> None:
    runner = SimpleNamespace(is_draft_worker=False)

    def batch(decode: bool, lens: list[int] | None, size: int, total: int) -> SimpleNamespace:
        mode = SimpleNamespace(is_decode=lambda: decode)
        return SimpleNamespace(
            forward_mode=mode, seq_lens_cpu=lens, batch_size=size, seq_lens_sum=total
        )

    assert sglang_point(runner, batch(True, [17, 17], 2, 34)) == (2, 16)
    assert sglang_point(runner, batch(True, [17, 18], 2, 35)) is None
    assert sglang_point(runner, batch(False, [17, 17], 2, 34)) is None
    assert sglang_point(runner, batch(True, None, 2, 34)) == (2, 16)  # older: the sum alone
    assert sglang_point(SimpleNamespace(is_draft_worker=True), batch(True, [9], 1, 9)) is None


def test_the_point_of_a_tensorrt_llm_step() -> None:
    engine = SimpleNamespace(is_warmup=False, is_draft_model=False)

    def requests(context: int, tokens: list[int]) -> SimpleNamespace:
        generation = [SimpleNamespace(max_beam_num_tokens=n) for n in tokens]
        return SimpleNamespace(context_requests=[None] * context, generation_requests=generation)

    assert trtllm_point(engine, requests(0, [17, 17])) == (2, 16)
    assert trtllm_point(engine, requests(1, [17])) is None
    assert trtllm_point(SimpleNamespace(in_warmup=True), requests(0, [17])) is None


class _Texts:
    def __init__(self) -> None:
        self.texts: list[str] = []
        self.closed: list[BaseException | None] = []

    def open(self, text: str, path: str) -> None:
        self.texts.append(text)

    def close(self, token: Any, error: BaseException | None) -> None:
        self.closed.append(error)


def test_a_step_that_fails_closes_its_range_and_is_not_counted(tmp_path: Path) -> None:
    backend = _Texts()
    marker = StepMarker(StepSettings(frozenset({(2, 16)})), backend, tmp_path)

    def fail() -> None:
        raise RuntimeError("out of memory")

    assert marker.run((2, 16), lambda: "not armed") == "not armed"
    Round(2, 16).arm(tmp_path)
    with pytest.raises(RuntimeError):
        marker.run((2, 16), fail)
    nested = marker.run((2, 16), lambda: marker.run((2, 16), lambda: "base class"))
    assert nested == "base class"
    assert marker.run((2, 17), lambda: "another point") == "another point"
    assert [str(error) for error in backend.closed] == ["out of memory", "None"]
    lines = (tmp_path / "bench_steps_rank0.jsonl").read_text().splitlines()
    assert [json.loads(line)["n"] for line in lines] == [1]
    assert backend.texts[1] == "bench_step::1::bs::2::past::16::phase::decode"


def test_a_part_of_a_batch_that_does_not_fit_is_not_marked(tmp_path: Path) -> None:
    """Batches of 2 and of 4 were asked for, and of the 4 only 2 decode together."""
    steps = StepSettings(frozenset({(2, 16), (4, 16)}))
    marker = StepMarker(steps, _Texts(), tmp_path)
    Round(4, 16).arm(tmp_path)
    assert marker.run((2, 16), lambda: "half") == "half"
    assert marked_steps(tmp_path) == []
    marker.run((4, 16), lambda: None)
    (step,) = marked_steps(tmp_path)
    assert (step.input_len, step.point) == (16, (4, 16))


def test_a_step_that_cannot_be_read_runs_and_is_said_once(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """int() of a tensor on the GPU raises RuntimeError while a graph is captured."""

    def unreadable(worker: Any) -> Any:
        raise RuntimeError("cannot be read here")

    class Worker:
        def execute_model(self) -> str:
            return "ran"

    Worker.execute_model = _marking(  # type: ignore[method-assign]
        Worker.execute_model, unreadable, StepMarker(StepSettings(frozenset()), _Texts(), tmp_path)
    )
    worker = Worker()
    assert [worker.execute_model() for _ in range(3)] == ["ran"] * 3
    assert caplog.text.count("cannot be read here") == 1


def test_nsys_is_told_to_see_into_graphs_and_workers() -> None:
    words = nsys_words("nsys", Path("/out"), ["python", "x.py"])
    assert words[:2] == ["nsys", "profile"] and words[-2:] == ["python", "x.py"]
    assert {"--cuda-graph-trace=node", "--trace-fork-before-exec=true"} <= set(words[2:-2])
    assert "--output=/out/report" in words
