"""Which of the files that vLLM's profiler wrote is of which rank."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

from layerscope.capture.errors import CaptureError

# rank0.<ns>.pt.trace.json.gz, dp0_pp0_tp1_dcp0_ep1_rank1.<ns>.pt.trace.json.gz
_RANK = re.compile(r"(?:^|[_-])rank(\d+)(?:[._-]|$)")


def files_by_rank(files: Iterable[Path]) -> dict[int, Path]:
    """{rank: trace}, without those of the front end, which name no rank.

    Errors: `CaptureError` where no file names a rank; of several of one rank the largest counts.
    """
    found: dict[int, Path] = {}
    seen = []
    for path in files:
        seen.append(path.name)
        match = _RANK.search(path.name)
        if match is None:
            continue
        rank = int(match[1])
        if rank not in found or found[rank].stat().st_size < path.stat().st_size:
            found[rank] = path
    if not found:
        raise CaptureError(
            f"vLLM's profiler wrote no file that names a rank, but {', '.join(sorted(seen))}",
            "this version names its traces otherwise; please report it",
        )
    return dict(sorted(found.items()))
