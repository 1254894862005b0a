"""Ctrl-C, SIGTERM and SIGHUP, with other handlers for the length of a block."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from types import FrameType

Handler = Callable[[int, FrameType | None], object]
INTERRUPTS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextlib.contextmanager
def handled(handler: Handler) -> Iterator[None]:
    """`handler` in the place of theirs while the block runs.

    Those that are ignored stay so, as under nohup. Outside the main thread, where no signal
    arrives, nothing changes.
    """
    before: dict[int, Handler | int | None] = {}
    try:
        if threading.current_thread() is threading.main_thread():
            for number in INTERRUPTS:
                theirs = signal.getsignal(number)
                if theirs not in (signal.SIG_IGN, None):
                    before[number] = theirs  # first: from the next line on one may come
                    signal.signal(number, handler)
        yield
    finally:
        for replaced, theirs in before.items():
            signal.signal(replaced, theirs)


@contextlib.contextmanager
def raised() -> Iterator[None]:
    """SIGTERM, and SIGHUP of a terminal that is closed, end the block as Ctrl-C does."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with handled(interrupt):
        yield


@contextlib.contextmanager
def held() -> Iterator[list[signal.Signals]]:
    """They wait until the block is left, and then do what they do; yields those that came.

    For the moments in which they would leave processes behind.
    """
    received: list[signal.Signals] = []
    try:
        with handled(lambda number, _: received.append(signal.Signals(number))):
            yield received
    finally:
        if received:
            signal.raise_signal(received[0])


@contextlib.contextmanager
def lasting() -> Iterator[None]:
    """They end the block, at its end if what runs in it drops the exception.

    pyzmq's poll, in which vLLM waits for its workers, drops what a handler raises.
    """
    received: list[int] = []
    before = {number: signal.getsignal(number) for number in INTERRUPTS}

    def note(number: int, frame: FrameType | None) -> None:
        received.append(number)
        theirs = before[signal.Signals(number)]
        if not callable(theirs):
            raise KeyboardInterrupt
        theirs(number, frame)

    try:
        with handled(note):
            yield
    except Exception as error:
        if received:
            raise KeyboardInterrupt from error
        raise
    if received:
        raise KeyboardInterrupt


def leave(code: int) -> None:
    """From here on they end the program at once, with this code.

    Nothing is left to do but what libraries do at their end, in which an exception may hang.
    """
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    for number in INTERRUPTS:
        if signal.getsignal(number) not in (signal.SIG_IGN, None):
            signal.signal(number, lambda *_: os._exit(code))
