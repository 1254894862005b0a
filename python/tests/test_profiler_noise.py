"""A recording that succeeds says nothing on the terminal."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from layerscope.capture import profiler

_RECORD = """
import sys
from pathlib import Path
import torch
from layerscope.capture import profiler
profiler.prime()
with profiler.recording(Path(sys.argv[1])):
    torch.zeros(1).add_(1)
"""


@pytest.mark.torch
def test_without_a_gpu_kineto_does_not_report_that_there_is_none(tmp_path: Path) -> None:
    """It writes to the descriptor itself: `ERROR: … gpuGetDeviceCount failed`, `USDT: …`."""
    if any(map(os.path.exists, profiler._GPU_DEVICES)):
        pytest.skip("there is a GPU here")
    environment = {k: v for k, v in os.environ.items() if k != "KINETO_LOG_LEVEL"}
    words = [sys.executable, "-c", _RECORD, str(tmp_path / "trace.json.gz")]
    done = subprocess.run(words, capture_output=True, text=True, env=environment, check=True)
    assert done.stdout + done.stderr == ""
    assert (tmp_path / "trace.json.gz").stat().st_size > 0


def test_with_a_gpu_and_where_a_level_is_set_nothing_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profiler, "_GPU_DEVICES", (str(tmp_path),))
    environment: dict[str, str] = {}
    profiler.quiet_without_gpu(environment)
    assert environment == {}
    monkeypatch.setattr(profiler, "_GPU_DEVICES", (str(tmp_path / "absent"),))
    environment = {"KINETO_LOG_LEVEL": "0"}
    profiler.quiet_without_gpu(environment)
    assert environment == {"KINETO_LOG_LEVEL": "0"}
