"""Which files of a folder are recordings of PyTorch's profiler."""

from __future__ import annotations

from pathlib import Path


def is_trace(file: Path) -> bool:
    """Whether this is the name of a trace: rank0.170.pt.trace.json.gz, 170-TP-0.trace.json.gz.

    Other JSON files lie beside traces: a model's config.json, graph_annotations_rank0.json.
    """
    return ".trace.json" in file.name and file.name.endswith((".json", ".json.gz", ".json.zst"))
