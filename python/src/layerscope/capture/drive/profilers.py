"""What records a drive: nsys, the engine's own torch profiler, or nothing."""

from __future__ import annotations

from layerscope.capture import engines
from layerscope.capture.drive.nsys import nsys_program
from layerscope.capture.errors import USAGE, CaptureError
from layerscope.capture.in_engine.settings import NVTX, RECORD_FUNCTION

PROFILERS = ("auto", "nsys", "torch", "none")


def chosen_profiler(asked: str, engine: str) -> str:
    """nsys, torch or none; raises CaptureError for torch where the engine cannot start it."""
    if asked == "torch" and engine == engines.TENSORRT_LLM:
        raise CaptureError(
            "TensorRT-LLM's torch profiler cannot be started from outside",
            "record with --profiler nsys, or add --profiler none",
            USAGE,
        )
    if asked != "auto":
        return asked
    return "nsys" if engine == engines.TENSORRT_LLM or nsys_program() is not None else "torch"


def default_backend(profiler: str) -> str:
    """The ranges that this profiler records."""
    return NVTX if profiler == "nsys" else RECORD_FUNCTION
