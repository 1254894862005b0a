"""`hooks run` around a script of TensorRT-LLM: its executor runs the model in another process."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import RunCapture
from nvtx_recorder import read_pushes

from layerscope.capture.hooks.hook_report import read_reports

_SCRIPT = """
from tensorrt_llm import LLM, SamplingParams
if __name__ == '__main__':
    llm = LLM(model='m')
    llm.generate([[1, 2, 3]], SamplingParams(max_tokens=2, ignore_eos=True, end_id=-1, pad_id=0))
    llm.shutdown()
"""

# Calls of one forward of the stubs' model in order, by hand.
_PATHS = [
    "",
    "model",
    *["model.layers.0", "model.layers.0.attn", "model.layers.0.mlp"],
    *["model.layers.1", "model.layers.1.attn", "model.layers.1.mlp"],
]


def test_the_executor_has_ranges_with_the_paths_of_the_model(
    stubs: None,
    run_capture: RunCapture,
    nvtx_recorder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    not_run_here: Callable[[str], None],
) -> None:
    not_run_here("hooks: trtllm: against a stub, not run with the real engine")
    monkeypatch.setenv("NVTX_INJECTION64_PATH", str(nvtx_recorder))
    monkeypatch.setenv("NVTX_RECORDER_FILE", str(tmp_path / "pushes"))
    script, folder = tmp_path / "script.py", tmp_path / "hooks"
    script.write_text(_SCRIPT)
    options = ("--engine", "trtllm", "--backend", "nvtx", "-o", folder)
    done = run_capture("hooks", "run", *options, "--", sys.executable, script)
    assert done.code == 0, done.err
    assert "rank 0: 8 modules of StubForCausalLM (nvtx)" in done.out
    (report,) = read_reports(folder)
    assert (report.engine, report.capture) == ("trtllm", True)
    assert report.pid != os.getpid()
    # The forwards of the engine's own warm-up, of the prefill and of one decode step.
    texts = [push.text for push in read_pushes(tmp_path / "pushes")]
    assert texts == [f"{{'Module': '{path}'}}" for path in _PATHS] * 3
