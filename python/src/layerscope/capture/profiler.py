"""torch.profiler as `layerscope` wants to read it: module scopes, shapes, one file a recording."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, MutableMapping
from pathlib import Path
from typing import Any

from layerscope.capture.errors import CaptureError, hint_of

# Of drivers for GPUs: NVIDIA, AMD, and those of Windows in WSL.
_GPU_DEVICES = ("/dev/nvidiactl", "/dev/kfd", "/dev/dxg")


def quiet_without_gpu(environment: MutableMapping[str, str] = os.environ) -> None:
    """Where there is no GPU, Kineto says so as an ERROR in each recording: here it says nothing.

    With one, its errors are real. It reads the variable when a process records for the first time.
    """
    if not any(map(os.path.exists, _GPU_DEVICES)):
        environment.setdefault("KINETO_LOG_LEVEL", "6")  # above USDT, which is above ERROR


@contextlib.contextmanager
def recording(path: Path, *, with_stack: bool = True, with_shapes: bool = True) -> Iterator[Any]:
    """Records the block and writes a Chrome trace (gzipped where `path` ends in .gz).

    Gives the `torch.profiler.profile`. Module scopes are recorded with `with_stack` alone
    (`with_modules` records none in eager mode). The trace is written when the block ends well.
    """
    from torch import profiler

    quiet_without_gpu()
    with profiler.profile(
        activities=_activities(), with_stack=with_stack, record_shapes=with_shapes
    ) as recorded:
        yield recorded
        synchronize()
    try:
        recorded.export_chrome_trace(str(path))
    except OSError as error:  # without the name of a file
        said = f"cannot write {path}: {error.strerror or error}"
        raise CaptureError(said, hint_of(error)) from error


def prime() -> None:
    """A recording that is thrown away: the first one of a process starts CUPTI and is slower."""
    import torch
    from torch import profiler

    quiet_without_gpu()
    with profiler.profile(activities=_activities()):
        device = "cuda" if torch.cuda.is_available() else "cpu"
        torch.zeros(1, device=device).add_(1)
        synchronize()


def synchronize() -> None:
    """Waits for the GPU, where there is one."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()


def _activities() -> list[Any]:
    from torch.profiler import ProfilerActivity, supported_activities

    wanted = (ProfilerActivity.CPU, ProfilerActivity.CUDA)
    return [activity for activity in wanted if activity in supported_activities()]
