"""The command line of Nsight Systems around a session."""

from __future__ import annotations

import re
import shutil
from collections.abc import Sequence
from pathlib import Path

from layerscope.capture import engines
from layerscope.capture.errors import CaptureError

REPORT = "report"  # report.nsys-rep


def nsys_program() -> str | None:
    """The nsys of PATH, or None."""
    return shutil.which("nsys")


def require_nsys(engine: str) -> str:
    """The same; raises where there is none."""
    program = nsys_program()
    if program is None:
        other = "none" if engine == engines.TENSORRT_LLM else "torch"
        raise CaptureError(
            "nsys is not on PATH",
            f"install Nsight Systems (package nsight-systems), or choose --profiler {other}",
        )
    return program


def nsys_words(program: str, folder: Path, words: Sequence[str]) -> list[str]:
    """`nsys profile … words`: every kernel of graphs, and the processes that engines start.

    nsys must run while graphs are captured: that is when it learns the module of their nodes.
    """
    return [
        program,
        "profile",
        "--trace=cuda,nvtx",
        "--cuda-graph-trace=node",
        "--trace-fork-before-exec=true",
        "--sample=none",
        "--cpuctxsw=none",
        "--force-overwrite=true",
        f"--output={folder / REPORT}",
        *words,
    ]


def report_files(folder: Path) -> list[Path]:
    """What nsys left: report.nsys-rep, or one a process."""
    return sorted(p for p in folder.iterdir() if re.fullmatch(r"report.*\.nsys-rep", p.name))
