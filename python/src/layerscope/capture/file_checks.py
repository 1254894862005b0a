"""Whether the large files of a model are whole: weights, whose heads are read, and tokenizer.

A download that broke off and a clone without git-lfs leave files of the right name. The layout of a
safetensors file is in the format's description: 8 bytes, little-endian, say how long the header is;
the header is a JSON object that gives each tensor its place (`data_offsets`) in what follows.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from layerscope.capture.model_files import ModelFiles

_LENGTH_BYTES = 8
_MOST_HEADER_BYTES = 100_000_000  # the bound of the safetensors library
_LFS_POINTER = b"version https://git-lfs"
_INDICES = {  # that engines read, by the ending of the weights; others may be left over
    ".safetensors": "model.safetensors.index.json",
    ".bin": "pytorch_model.bin.index.json",
}


def broken_weights(files: ModelFiles) -> list[str]:
    """What is wrong with the weights of a model, one line each; empty where nothing is."""
    return [f"{path.name}: {what}" for path in files.weights() if (what := _broken_file(path))]


def lacking_weights(files: ModelFiles) -> list[str]:
    """Files that the index of the weights names and that are not beside those that are there."""
    weights = files.weights()
    present = {path.name for path in weights}
    indices = files.present(tuple({_INDICES[path.suffix] for path in weights}))
    return [what for index in indices if (what := _lacking_of_index(index, present))]


def broken_tokenizers(files: ModelFiles) -> list[str]:
    """What is wrong with the vocabularies of a model, one line each."""
    wrong = []
    for path in files.vocabularies():
        what = _broken_json(path) if path.suffix == ".json" else _broken_head(path)
        if what:
            wrong.append(f"{path.name}: {what}")
    return wrong


def _broken_file(path: Path) -> str:
    try:
        if what := _broken_head(path):
            return what
        return _broken_safetensors(path) if path.suffix == ".safetensors" else ""
    except OSError as error:  # a link of the hub's cache to a file that was never fetched
        return f"cannot be read: {error.strerror}"


def _broken_head(path: Path) -> str:
    with path.open("rb") as file:
        head = file.read(len(_LFS_POINTER))
    if head == _LFS_POINTER:
        return "a pointer of git-lfs, not the file itself"
    return "" if head else "empty"


def _broken_safetensors(path: Path) -> str:
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(_LENGTH_BYTES), "little")
        start = _LENGTH_BYTES + length
        if length > _MOST_HEADER_BYTES or size < _LENGTH_BYTES:
            return "no safetensors file: no length of a header at its start"
        if start > size:
            return f"cut off: {size} bytes, its header alone ends at {start}"
        try:
            end = start + _end_of_tensors(json.loads(file.read(length)))
        except (ValueError, LookupError, TypeError, OverflowError, AttributeError, RecursionError):
            return "no safetensors file: its header does not say where tensors lie"
    if size < end:
        return f"cut off: {size} of {end} bytes"
    return f"{size} bytes, its tensors end at {end}" if size > end else ""


def _end_of_tensors(header: dict[str, Any]) -> int:
    """The highest offset that a header gives. Raises what wrong types raise."""
    ends = [0]
    for name, tensor in header.items():
        if name != "__metadata__":
            first, last = tensor["data_offsets"]
            if not 0 <= first <= last:
                raise ValueError(name)
            ends.append(int(last))
    return max(ends)


def _lacking_of_index(index: Path, present: set[str]) -> str:
    """Files that an index names and that are not there, in one line; empty where all are."""
    document = _json(index)
    weight_map = document.get("weight_map") if isinstance(document, dict) else None
    if not isinstance(weight_map, dict):
        return f"{index.name}: no index of weights"
    named = {str(name) for name in weight_map.values()}
    lacking = sorted(named - present)
    if not lacking:
        return ""
    more = f" and {len(lacking) - 1} more" if len(lacking) > 1 else ""
    return f"{lacking[0]}{more} of the {len(named)} files that {index.name} names: not there"


def _broken_json(path: Path) -> str:
    if what := _broken_head(path):
        return what
    document = _json(path)
    if document is None:
        return "not JSON"
    if path.name == "tokenizer.json" and not (isinstance(document, dict) and "model" in document):
        return "no tokenizer: it has no model"
    return ""


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        return None
