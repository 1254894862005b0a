"""What a drive recorded, in the groups in which `layerscope` reads it."""

from __future__ import annotations

from pathlib import Path

from layerscope.capture.drive.nsys import report_files
from layerscope.capture.drive.session import is_trace


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
