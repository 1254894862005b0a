"""`hooks run` at its end: how what it recorded is read."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from conftest import RunCapture

from layerscope.capture.hooks.run import next_line

_REPORT = """
from pathlib import Path
import os
from layerscope.capture.hooks.hook_report import HookReport
HookReport("sglang", "nvtx", 0, modules=1, models=["M"]{more}).write(Path(os.environ["{folder}"]))
"""


@pytest.mark.parametrize(
    ("backends", "said"),
    [
        (("nvtx",), "layerscope REPORT.nsys-rep, where the command ran under nsys profile"),
        (("record_function",), "layerscope TRACE, with"),
        (("nvtx", "annotations"), "layerscope TRACE --graph-annotations 'the hooks', with"),
    ],
)
def test_without_a_trace_the_recording_lies_elsewhere(
    backends: tuple[str, ...], said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    folder = Path("the hooks")
    folder.mkdir()
    (folder / "graph_annotations_rank0.json").touch()
    assert next_line(backends, folder).startswith(f"next: {said}")
    (folder / "rank0.170.pt.trace.json.gz").touch()
    assert next_line(backends, folder) == "next: layerscope 'the hooks'"


@pytest.mark.parametrize(("more", "code"), [("", 0), (", capture=False", 1)])
def test_the_next_step_is_said_of_a_capture_alone(
    more: str, code: int, tmp_path: Path, run_capture: RunCapture
) -> None:
    script = tmp_path / "script.py"
    script.write_text(_REPORT.format(more=more, folder="LAYERSCOPE_HOOKS_DIR"))
    words = ["--engine", "sglang", "-o", tmp_path / "out", "--", sys.executable, script]
    done = run_capture("hooks", "run", *words)
    assert done.code == code, done.err
    assert "rank 0: 1 module of M (nvtx)\n" in done.out
    assert ("next: layerscope " in done.out) == (code == 0)
