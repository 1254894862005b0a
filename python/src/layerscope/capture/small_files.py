"""Small files that a user names, read whole: never a pipe, never more than such a file has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from layerscope.capture.errors import INVALID_INPUT, CaptureError
from layerscope.capture.json_values import decoder_said

_MAX_BYTES = 4 << 20  # the longest public configs are under 40 KB


def read_small(path: Path, what: str) -> str:
    """The text of a file. `what` it should be is in the hints: "the model's config.json".

    Raises CaptureError with code 3: it cannot be read, is no regular file, is too large, no UTF-8.
    """
    hint = f"give {what}"
    try:
        if path.exists() and not path.is_file():  # a pipe has no end that could be waited for
            raise CaptureError(f"{path} is no regular file", hint, INVALID_INPUT)
        size = path.stat().st_size
        if size > _MAX_BYTES:
            raise CaptureError(
                f"{path}: {size} bytes, more than such a file has", hint, INVALID_INPUT
            )
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise CaptureError(
            f"cannot read {path}: {error.strerror}", "is the path right?", INVALID_INPUT
        ) from error
    except UnicodeDecodeError as error:
        raise CaptureError(
            f"{path}: not UTF-8: {error}", "is the file whole?", INVALID_INPUT
        ) from error


def read_object(path: Path, what: str) -> dict[str, Any]:
    """The JSON object in such a file. Raises CaptureError with code 3."""
    try:
        document = json.loads(read_small(path, what))
    except (ValueError, RecursionError) as error:
        raise CaptureError(f"{path}: {decoder_said(error)}", f"give {what}", INVALID_INPUT) from (
            error
        )
    if not isinstance(document, dict):
        raise CaptureError(f"{path} holds no JSON object", f"give {what}", INVALID_INPUT)
    return document
