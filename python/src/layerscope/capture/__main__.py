"""The program `layerscope-capture`: `cli`, with Ctrl-C heeded while it is imported."""

from __future__ import annotations

import atexit
import os
import signal
import sys

_INTERRUPTED = 130  # as in `errors`


def main() -> int:
    """Runs the command line; returns its exit code."""
    # Called last of all: Python's own end, which a signal would break off with another code.
    atexit.register(signal.signal, signal.SIGINT, signal.SIG_IGN)
    before = signal.getsignal(signal.SIGINT)
    if before is signal.default_int_handler:  # it is not ignored
        signal.signal(signal.SIGINT, lambda *_: os._exit(_INTERRUPTED))
    from layerscope.capture import cli, interrupts

    try:
        signal.signal(signal.SIGINT, before)
        code = cli.main()
        interrupts.leave(code)
        return code
    except KeyboardInterrupt:  # outside of what `cli` runs
        return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
