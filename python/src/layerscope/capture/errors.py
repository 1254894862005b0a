"""The one exception that capture raises for what a user can mend, and its exit codes."""

from __future__ import annotations

import contextlib
import errno
from collections.abc import Iterator
from typing import TextIO

OK = 0
FAILED = 1
USAGE = 2  # a bad option or value
INVALID_INPUT = 3  # a file of the wrong kind, or one that cannot be read
INTERRUPTED = 130


class CaptureError(Exception):
    """What went wrong, where, and what to do about it.

    `message` says what and where in one line; `hint` what to do; `code` is the exit code of the
    command (those of `layerscope`: 1 failed, 2 usage, 3 invalid input).
    """

    def __init__(self, message: str, hint: str = "", code: int = FAILED) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code

    def __str__(self) -> str:
        return printable(f"{self.message}\n  {self.hint}" if self.hint else self.message)


def printable(text: str, *, in_one_line: bool = False) -> str:
    """Text of files, where what a terminal would take for a command is written as an escape.

    So is, `in_one_line`, what would begin another one.
    """
    kept = "" if in_one_line else "\n\t"
    return "".join(c if c.isprintable() or c in kept else ascii(c)[1:-1] for c in text)


def say(*texts: object, to: TextIO | None = None, in_one_line: bool = True) -> None:
    """Prints each `printable`, at once: names of files, and what engines say, may be anybody's."""
    for text in texts:
        print(printable(str(text), in_one_line=in_one_line), file=to, flush=True)


def hint_of(error: OSError, otherwise: str = "") -> str:
    """What to do about what the system refused: of a full disk that is never `otherwise`."""
    is_full = error.errno in (errno.ENOSPC, errno.EDQUOT)
    return "make room on this disk" if is_full else otherwise


def missing_package(package: str, wanted_by: str, install: str) -> CaptureError:
    """The error for an engine or library that is not installed."""
    return CaptureError(
        f"{wanted_by} needs {package}, which is not installed in this Python environment",
        f"install it: {install}",
    )


def first_line(error: BaseException) -> str:
    """What a library's error says in its first line, or its class where it says nothing."""
    try:
        lines = str(error).strip().splitlines()
    except Exception:  # of a class of foreign code
        lines = []
    return lines[0] if lines else type(error).__name__


@contextlib.contextmanager
def of_foreign_code(what: str, hint: str = "", code: int = FAILED) -> Iterator[None]:
    """Whatever parsers, libraries and a model's own code raise, sys.exit too, as a CaptureError.

    It says `what` failed, and the class of the error: a KeyError says nothing but the key.
    """
    try:
        yield
    except (CaptureError, KeyboardInterrupt):
        raise
    except BaseException as error:
        said = f"{what}: {type(error).__name__}: {first_line(error)}"
        raise CaptureError(said, hint, code) from error
