"""What records a drive: nsys, the engine's own torch profiler, or nothing."""

from __future__ import annotations

from layerscope.capture import engines
from layerscope.capture.drive.nsys import nsys_program, require_nsys
from layerscope.capture.errors import USAGE, CaptureError
from layerscope.capture.in_engine.settings import NVTX, RECORD_FUNCTION

PROFILERS = ("auto", "nsys", "torch", "none")


def chosen_profiler(asked: str, engine: str, *, dry_run: bool) -> str:
    """nsys, torch or none; raises CaptureError where what is needed is missing."""
    if asked == "nsys" and not dry_run:
        require_nsys()
    if asked != "auto":
        profiler = asked
    elif nsys_program() is not None:
        profiler = "nsys"
    else:
        profiler = "torch"
    if profiler == "torch" and engine == engines.TENSORRT_LLM:
        raise CaptureError(
            "TensorRT-LLM is recorded with nsys, which is not on PATH"
            if asked == "auto"
            else "TensorRT-LLM's torch profiler cannot be started from outside",
            "install Nsight Systems (package nsight-systems), or add --profiler none",
            USAGE,
        )
    return profiler


def default_backend(profiler: str) -> str:
    """The ranges that this profiler records."""
    return NVTX if profiler == "nsys" else RECORD_FUNCTION
