"""Outputs appear whole or not at all: written aside, then renamed."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from layerscope.capture.errors import CaptureError


def write_bytes(path: Path, data: bytes) -> None:
    """Writes a file whole: beside its place first, then renamed over it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise CaptureError(
            f"cannot write {path}: {error.strerror}", "choose another place with -o"
        ) from error
    aside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        aside.chmod(0o644)
        aside.replace(path)
    except OSError as error:
        raise CaptureError(
            f"cannot write {path}: {error.strerror}", "choose another place with -o"
        ) from error
    finally:
        aside.unlink(missing_ok=True)


def write_json(path: Path, document: Any) -> None:
    """Writes a JSON document whole; gzipped where the name ends in .gz."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    data = (text + "\n").encode()
    write_bytes(path, gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


@contextlib.contextmanager
def new_folder(path: Path, *, force: bool = False) -> Iterator[Path]:
    """A folder that is filled aside and takes its place when the block ends well.

    On an exception (Ctrl-C too) what was written is removed and `path` stays as it was. An existing
    folder with files is refused unless `force`.
    """
    if path.exists() and not path.is_dir():
        raise CaptureError(f"{path} is a file, not a folder", "choose another place with -o")
    if path.is_dir() and any(path.iterdir()) and not force:
        raise CaptureError(
            f"{path} has files already", "choose a new folder with -o, or replace it with --force"
        )
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{path.name}.", dir=path.parent))
    except OSError as error:
        raise CaptureError(
            f"cannot write {path}: {error.strerror}", "choose another place with -o"
        ) from error
    try:
        yield aside
        if path.exists():
            shutil.rmtree(path)
        aside.chmod(0o755)
        aside.rename(path)
    finally:
        shutil.rmtree(aside, ignore_errors=True)
