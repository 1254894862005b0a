"""Outputs appear whole or not at all: written aside, then renamed."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from layerscope.capture import processes
from layerscope.capture.errors import CaptureError


def write_bytes(path: Path, data: bytes) -> None:
    """Writes a file whole: beside its place first, then renamed over it."""
    handle, aside = _file_aside(path)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        aside.chmod(0o644)
        aside.replace(path)
    except OSError as error:
        raise _cannot_write(path, error) from error
    finally:
        aside.unlink(missing_ok=True)


def require_writable(path: Path) -> None:
    """Raises what `write_bytes` would, before what is to be written is computed."""
    if path.is_dir():
        raise CaptureError(f"{path} is a folder, not a file", "name a file with -o")
    handle, aside = _file_aside(path)
    os.close(handle)
    aside.unlink()


def _file_aside(path: Path) -> tuple[int, Path]:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    except OSError as error:
        raise _cannot_write(path, error) from error
    return handle, Path(name)


def _cannot_write(path: Path, error: OSError) -> CaptureError:
    return CaptureError(f"cannot write {path}: {error.strerror}", "choose another place with -o")


def write_json(path: Path, document: Any) -> None:
    """Writes a JSON document whole; gzipped where the name ends in .gz."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    data = (text + "\n").encode(errors="backslashreplace")  # file names
    write_bytes(path, gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


@contextlib.contextmanager
def new_folder(path: Path, *, force: bool = False) -> Iterator[Path]:
    """A folder that is filled aside and takes its place when the block ends well.

    On an exception (Ctrl-C too) what was written is removed and `path` stays as it was. An existing
    folder with files is refused unless `force`. Where the block ended well, nothing of what it
    wrote is ever removed: if it cannot take its place then, the error says where it is.
    """
    place = _place_of(path)
    if place.is_dir() and any(place.iterdir()) and not force:
        raise CaptureError(
            f"{path} has files already", "choose a new folder with -o, or replace it with --force"
        )
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        aside = Path(tempfile.mkdtemp(prefix=f".{place.name}.", dir=place.parent))
    except OSError as error:
        raise _cannot_write(path, error) from error
    is_done = False
    try:
        yield aside
        with processes.held_interrupts():
            is_done = True
            _take_place(aside, place, force=force)
    finally:
        if not is_done:
            shutil.rmtree(aside, ignore_errors=True)


def _place_of(path: Path) -> Path:
    """Where the folder will lie; links are followed. Errors: it could never be replaced."""
    try:
        place = path.resolve()
    except (OSError, RuntimeError) as error:  # RuntimeError: a loop of links, before Python 3.13
        raise CaptureError(f"cannot write {path}: {error}", "choose another place with -o") from (
            error
        )
    if place.exists() and not place.is_dir():
        raise CaptureError(f"{path} is a file, not a folder", "choose another place with -o")
    if os.path.ismount(place):
        raise CaptureError(
            f"{path} is a mount point, which a finished folder cannot replace",
            "choose a folder in it with -o",
        )
    with contextlib.suppress(OSError):  # the current folder was removed
        if Path.cwd().is_relative_to(place):
            raise CaptureError(
                f"{path} is the current folder, or one around it, which a finished folder cannot"
                " replace",
                "choose a folder in it with -o",
            )
    return place


def _take_place(aside: Path, place: Path, *, force: bool) -> None:
    """Renames; what was there before is removed last, when the new folder is safe."""
    old = aside.with_name(f"{aside.name}.old")
    try:
        aside.chmod(0o755)
        if force and place.exists():
            place.rename(old)
        aside.rename(place)  # over an empty folder, too, but not over one with files
    except OSError as error:
        with contextlib.suppress(OSError):
            old.rename(place)
        before = f"; what was there before is {old}" if old.exists() else ""
        raise CaptureError(
            f"cannot rename the finished folder to {place}: {error.strerror}",
            f"nothing is lost: it is {aside}{before}",
        ) from error
    shutil.rmtree(old, ignore_errors=True)
    if old.exists():
        print(f"not all that was there before could be removed: {old}", file=sys.stderr)
