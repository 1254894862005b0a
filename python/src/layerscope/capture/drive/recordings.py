"""What a drive recorded, in the groups in which `layerscope` reads it."""

from __future__ import annotations

import contextlib
from pathlib import Path

from layerscope.capture.drive.nsys import report_files
from layerscope.capture.errors import CaptureError
from layerscope.capture.model_files import CONFIG, locate
from layerscope.capture.output import write_bytes
from layerscope.capture.trace_files import is_trace

_ANNOTATIONS = "graph_annotations_rank*.json"  # hooks/annotation_file.py


def recordings(folder: Path) -> list[list[Path]]:
    """One group for nsys (databases that were exported, else reports), else one a recording.

    The files of a group are ranks of one run.
    """
    databases = sorted(folder.glob("report*.sqlite"))
    group = databases or report_files(folder)
    if group:
        return [group]
    folders = [folder, *sorted(p for p in folder.iterdir() if p.is_dir())]
    groups = [sorted(p for p in place.iterdir() if is_trace(p)) for place in folders]
    return [group for group in groups if group]


def spread_side_files(folder: Path, model: str) -> None:
    """Copies what is found beside a trace into the folder of each recording.

    Graph annotations, and the model's config.json, which comes into `folder` as well; a hub's model
    may have none here. Raises CaptureError where they cannot be written.
    """
    with contextlib.suppress(CaptureError):
        write_bytes(folder / CONFIG, locate(model).config.read_bytes())
    places = {trace.parent for group in recordings(folder) for trace in group} - {folder}
    for file in [*folder.glob(_ANNOTATIONS), *folder.glob(CONFIG)]:
        for place in places:
            write_bytes(place / file.name, file.read_bytes())
