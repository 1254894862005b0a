"""Which of the files that vLLM's profiler wrote is of which rank."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from layerscope.capture.errors import CaptureError
from layerscope.capture.trace_files import rank_of


def files_by_rank(files: Iterable[Path]) -> dict[int, Path]:
    """{rank: trace}, without those of the front end, which name no rank.

    Errors: `CaptureError` where no file names a rank; of several of one rank the largest counts.
    """
    found: dict[int, Path] = {}
    seen = []
    for path in files:
        seen.append(path.name)
        rank = rank_of(path)
        if rank is None:
            continue
        if rank not in found or found[rank].stat().st_size < path.stat().st_size:
            found[rank] = path
    if not found:
        raise CaptureError(
            f"vLLM's profiler wrote no file that names a rank, but {', '.join(sorted(seen))}",
            "this version names its traces otherwise; please report it",
        )
    return dict(sorted(found.items()))
