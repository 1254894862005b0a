"""A command that runs in the foreground, as if it had been started itself."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import FrameType

from layerscope.capture import interrupts
from layerscope.capture.errors import INTERRUPTED, CaptureError

_SHELL_SIGNALS = 128  # a shell's exit code for a command that signal n killed is 128 + n


class _PassedSignals:
    """Hands interrupts of this process on to the command, and waits for what it does then."""

    def __init__(self) -> None:
        self.received: list[int] = []
        self._process: subprocess.Popen[bytes] | None = None

    def note(self, number: int, _: FrameType | None) -> None:
        self.received.append(number)
        if self._process is not None:
            self._pass_on(self._process, number)

    def start(self, process: subprocess.Popen[bytes]) -> None:
        """From now on they go to this process, those that came before it too."""
        self._process = process
        for number in list(self.received):
            self._pass_on(process, number)

    @staticmethod
    def _pass_on(process: subprocess.Popen[bytes], number: int) -> None:
        # Engines drop what they write at their end at a second SIGINT.
        if number != signal.SIGINT or not _terminal_sends_it():
            process.send_signal(number)


def _terminal_sends_it() -> bool:
    """Whether Ctrl-C reaches the command anyway: its process group is that of the terminal."""
    try:
        with Path("/dev/tty").open("rb", buffering=0) as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False


def run_foreground(words: Sequence[str], environment: Mapping[str, str]) -> int:
    """The command's exit code; INTERRUPTED where Ctrl-C, SIGTERM or SIGHUP ended it.

    These reach the command, and it is waited for. Errors: it cannot be started.
    """
    passed = _PassedSignals()
    with interrupts.handled(passed.note):
        try:
            process = subprocess.Popen(list(words), env=dict(environment))
        except OSError as error:
            raise CaptureError(
                f"cannot start {words[0]}: {error.strerror}", "is it installed and on PATH?"
            ) from error
        passed.start(process)
        code = process.wait()
    if passed.received:
        return INTERRUPTED
    return code if code >= 0 else _SHELL_SIGNALS - code
