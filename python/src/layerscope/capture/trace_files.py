"""Which files of a folder are recordings of PyTorch's profiler, and of which rank."""

from __future__ import annotations

import re
from pathlib import Path

# rank0.<ns>.pt.trace.json.gz, dp0_pp0_tp1_dcp0_ep1_rank1.<ns>.pt.trace.json.gz
_RANK = re.compile(r"(?:^|[_-])rank(\d+)(?:[._-]|$)")


def is_trace(file: Path) -> bool:
    """Whether this is the name of a trace: rank0.170.pt.trace.json.gz, 170-TP-0.trace.json.gz.

    Other JSON files lie beside traces: a model's config.json, graph_annotations_rank0.json.
    """
    return ".trace.json" in file.name and file.name.endswith((".json", ".json.gz", ".json.zst"))


def traces_below(folder: Path) -> list[Path]:
    """The traces in a folder and those below it, sorted."""
    return sorted(file for file in folder.rglob("*") if is_trace(file) and file.is_file())


def rank_of(file: Path) -> int | None:
    """The rank that the name of a vLLM trace has; None where it has none, as of a front end."""
    match = _RANK.search(file.name)
    return int(match[1]) if match else None
