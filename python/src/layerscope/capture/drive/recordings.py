"""What a drive recorded, in the groups in which `layerscope` reads it."""

from __future__ import annotations

import shutil
from pathlib import Path

from layerscope.capture.drive.nsys import report_files
from layerscope.capture.trace_files import is_trace

_ANNOTATIONS = "graph_annotations_rank*.json"  # hooks/annotation_file.py


def recordings(folder: Path) -> list[list[Path]]:
    """One group for nsys (databases that were exported, else reports), else one a round.

    The files of a group are ranks of one run.
    """
    databases = sorted(folder.glob("report*.sqlite"))
    group = databases or report_files(folder)
    if group:
        return [group]
    folders = [folder, *sorted(p for p in folder.iterdir() if p.is_dir())]
    groups = [sorted(p for p in place.iterdir() if is_trace(p)) for place in folders]
    return [group for group in groups if group]


def spread_annotations(folder: Path) -> None:
    """Copies graph annotations into the folder of each round: they are found beside a trace."""
    files = list(folder.glob(_ANNOTATIONS))
    for place in {trace.parent for group in recordings(folder) for trace in group} - {folder}:
        for file in files:
            shutil.copyfile(file, place / file.name)
