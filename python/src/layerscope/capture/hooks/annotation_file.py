"""graph_annotations_rank<r>.json: {graph node id: [{"name": module path}]}, as layerscope reads it.

formats: docs/replay.md. Only plain JSON values are kept of what else was annotated.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from layerscope.capture.output import write_json


def annotations_name(rank: int) -> str:
    """The file's name, by which it is found beside a trace."""
    return f"graph_annotations_rank{rank}.json"


def _plain(value: Any) -> Any:
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def _dicts(entry: Any) -> list[dict[str, Any]]:
    """One dict a scope; torch 2.13 keeps lists, and a string is a name in later versions."""
    if isinstance(entry, str):
        return [{"name": entry}]
    if isinstance(entry, Mapping):
        return [{str(key): _plain(value) for key, value in entry.items()}]
    return [found for part in entry for found in _dicts(part)]


def annotations_document(annotations: Mapping[int, Any]) -> dict[str, list[dict[str, Any]]]:
    """The JSON document, ordered by node."""
    return {str(int(node)): _dicts(annotations[node]) for node in sorted(annotations)}


def write_annotations(file: Path, annotations: Mapping[int, Any]) -> int:
    """Writes the file whole and returns its number of nodes; without nodes there is no file."""
    document = annotations_document(annotations)
    if document:
        write_json(file, document)
    return len(document)
