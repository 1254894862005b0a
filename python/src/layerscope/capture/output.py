"""Outputs appear whole or not at all: written aside, then renamed."""

from __future__ import annotations

import contextlib
import errno
import fcntl
import gzip
import json
import os
import re
import shutil
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any

from layerscope.capture import interrupts
from layerscope.capture.errors import CaptureError, hint_of, say

_MOST_LINKS = 40  # one behind the other, as in Linux
_ASIDE = ".layerscope-"  # in the name of a folder that is being filled: no user's folder has it
_UNFINISHED = stat.S_ISVTX | 0o700  # the mode of a folder that is being filled, and of no other


def write_bytes(path: Path, data: bytes) -> None:
    """Writes a file whole: beside its place first, then renamed over it."""
    with _file_aside(path) as file:
        file.write(data)
        file.close()
        aside = Path(file.name)
        aside.chmod(0o666 & ~_umask())
        aside.replace(path)


def require_writable(path: Path) -> None:
    """Raises what `write_bytes` would, before what is to be written is computed."""
    if path.is_dir():
        raise CaptureError(f"{path} is a folder, not a file", "name a file with -o")
    with _file_aside(path):
        pass


def _umask() -> int:
    """What the user takes from the mode of new files. It can be read by setting it alone."""
    mask = os.umask(0o077)  # what other threads make meanwhile is not open to others
    os.umask(mask)
    return mask


@contextlib.contextmanager
def _file_aside(path: Path) -> Iterator[IO[bytes]]:
    """A file beside `path`, which is removed unless it takes its place."""
    try:
        with (
            folder_made(path.parent),
            tempfile.NamedTemporaryFile(
                prefix=f".{path.name}.", dir=path.parent, delete=False
            ) as file,
        ):
            try:
                yield file
            finally:
                Path(file.name).unlink(missing_ok=True)
    except OSError as error:
        raise _cannot_write(path, error) from error


@contextlib.contextmanager
def folder_made(folder: Path) -> Iterator[None]:
    """A folder that is there for the block, and afterwards if it holds something.

    The same holds for those above it. What was there before stays. Raises OSError.
    """
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        yield
    finally:
        for place in made:
            with contextlib.suppress(OSError):
                place.rmdir()


def _cannot_write(path: Path, error: OSError) -> CaptureError:
    hint = hint_of(error, "choose another place with -o")
    return CaptureError(f"cannot write {path}: {error.strerror}", hint)


def write_json(path: Path, document: Any) -> None:
    """Writes a JSON document whole; gzipped where the name ends in .gz."""
    text = json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    data = (text + "\n").encode(errors="backslashreplace")  # file names
    write_bytes(path, gzip.compress(data, mtime=0) if path.suffix == ".gz" else data)


def as_json(config: Mapping[str, Any] | None) -> Any:
    """A config may hold dtypes and other objects: they become text; NaN too."""
    if config is None:
        return None
    text = json.dumps(config, default=str)
    return json.loads(text, parse_constant=str)


@contextlib.contextmanager
def new_folder(path: Path, *, force: bool = False) -> Iterator[Path]:
    """A folder that is filled aside and takes its place when the block ends well.

    On an exception (Ctrl-C too) what was written is removed and `path` stays as it was. An existing
    folder with files is refused unless `force`. Where the block ended well, nothing of what it
    wrote is ever removed: if it cannot take its place then, the error says where it is. Errors of
    the block name `path` where they would name the folder aside.
    """
    place = require_place(path, force=force)
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(folder_made(place.parent))
            _remove_stale(place)
            aside, lock = _folder_aside(place)
        except OSError as error:
            raise _cannot_write(path, error) from error
        is_done = False
        try:
            yield aside
            with interrupts.held():
                is_done = True
                _take_place(aside, place, force=force)
        except (CaptureError, OSError) as error:
            if not is_done:
                _name_place(error, aside, path)
            raise
        finally:
            if not is_done:
                shutil.rmtree(aside, ignore_errors=True)
            if lock is not None:
                os.close(lock)


def _name_place(error: CaptureError | OSError, aside: Path, path: Path) -> None:
    """So that it names no folder that is not there any more."""
    if isinstance(error, CaptureError):
        error.message = error.message.replace(str(aside), str(path))
    elif isinstance(error.filename, (str, Path)):
        error.filename = str(error.filename).replace(str(aside), str(path))


def require_place(path: Path, *, reads: Iterable[str | Path] = (), force: bool) -> Path:
    """Where `new_folder` will put the folder, links followed; raises what it would.

    A folder that holds one of `reads`, or what a link in them leads through, is never replaced:
    commands name there what they read, the model first of all. Names of the hub may be among them.
    """
    place = _place_of(path)
    for read in map(Path, reads):
        if _leads_into(read, place):
            raise CaptureError(
                f"{path} holds {read}, which is read", "choose another place with -o"
            )
    if place.is_dir() and any(place.iterdir()) and not force:
        raise CaptureError(
            f"{path} has files already", "choose a new folder with -o, or replace it with --force"
        )
    return place


def require_unread(path: Path, *, reads: Iterable[str | Path], but: str) -> None:
    """Raises CaptureError where a file that is to be written is one of `reads`, or what a link in
    them leads through. In folders of `reads` names that begin with `but` are results of before.
    """
    place = real_place(path)
    for read in map(Path, reads):
        is_result = read.is_dir() and place.name.startswith(but)
        if not is_result and _leads_into(read, place):
            what = f"a file of {read}, which is read" if read.is_dir() else "read"
            raise CaptureError(f"{path} is {what}", "name another with -o")


def _leads_into(read: Path, place: Path) -> bool:
    """Whether reading a file, or all of a folder, needs `place` or anything below it."""
    if not read.exists():
        return False
    inside = read.rglob("*") if read.is_dir() and place.exists() else ()
    return any(
        passed.is_relative_to(place)
        for path in (read.absolute(), *read.absolute().parents, *inside)
        for passed in _passed(path)
    )


def _passed(path: Path) -> Iterator[Path]:
    """Where a path lies, and where each link lies that it is or leads to."""
    for _ in range(_MOST_LINKS):
        path = real_place(path.parent) / path.name
        yield path
        if not path.is_symlink():
            return
        path = path.parent / path.readlink()


def _folder_aside(place: Path) -> tuple[Path, int | None]:
    """A hidden folder beside `place`, locked where the file system has locks. Raises OSError."""
    while True:
        aside = Path(tempfile.mkdtemp(prefix=f".{place.name}{_ASIDE}", dir=place.parent))
        try:
            aside.chmod(_UNFINISHED)
            return aside, lock_folder(aside)
        except (BlockingIOError, FileNotFoundError):
            continue  # another run took it for a stale one before it was locked
        except OSError:
            return aside, None


def _remove_stale(place: Path) -> None:
    """What runs of the same place left aside when they were killed.

    Not what is finished and could not take its place, nor what somebody still holds; nor anything
    where the file system has no locks.
    """
    name = re.compile(rf"\.{re.escape(place.name + _ASIDE)}[a-z0-9_]{{8}}")
    with contextlib.suppress(OSError):
        for found in place.parent.iterdir():
            if name.fullmatch(found.name) and found.lstat().st_mode == stat.S_IFDIR | _UNFINISHED:
                with contextlib.suppress(OSError):
                    lock = lock_folder(found)
                    shutil.rmtree(found, ignore_errors=True)
                    os.close(lock)


def lock_folder(folder: Path) -> int:
    """A descriptor that has a folder to itself until it is closed, or the process ends.

    Raises BlockingIOError where another has it, FileNotFoundError where it was removed meanwhile,
    OSError where the file system has no locks.
    """
    lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if not os.path.samestat(folder.stat(), os.fstat(lock)):
            raise FileNotFoundError(errno.ENOENT, "replaced", str(folder))
    except BaseException:
        os.close(lock)
        raise
    return lock


def real_place(path: Path) -> Path:
    """Where a link leads, if to anything: of links in a loop, to the first again."""
    return Path(os.path.realpath(path))  # resolve() raises for a loop, before Python 3.13


def _place_of(path: Path) -> Path:
    """Where the folder will lie; links are followed. Errors: it could never be replaced."""
    place = real_place(path)
    if place.is_symlink():
        raise CaptureError(
            f"cannot write {path}: its links lead in a loop", "choose another place with -o"
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
        aside.chmod(0o777 & ~_umask())
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
        say(f"not all that was there before could be removed: {old}", to=sys.stderr)
