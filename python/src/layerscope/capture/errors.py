"""The one exception that capture raises for what a user can mend, and its exit codes."""

from __future__ import annotations

OK = 0
FAILED = 1
USAGE = 2  # a bad option or value
INVALID_INPUT = 3  # a file of the wrong kind, or one that cannot be read
INTERRUPTED = 130


class CaptureError(Exception):
    """What went wrong, where, and what to do about it.

    `message` says what and where in one line; `hint` what to do; `code` is the exit code of the
    command (the engine's codes: 1 failed, 2 usage, 3 invalid input).
    """

    def __init__(self, message: str, hint: str = "", code: int = FAILED) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint
        self.code = code

    def __str__(self) -> str:
        return f"{self.message}\n  {self.hint}" if self.hint else self.message


def missing_package(package: str, wanted_by: str, install: str) -> CaptureError:
    """The error for an engine or library that is not installed."""
    return CaptureError(
        f"{wanted_by} needs {package}, which is not installed in this Python environment",
        f"install it: {install}",
    )


def first_line(error: BaseException) -> str:
    """What a library's error says in its first line, or its class where it says nothing."""
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__
