"""Ends what a command started where the command itself cannot: `kill -9`, out of memory.

A process of its own that takes a mark from its command line, and the id of a process from standard
input, whose other end the command holds. The end of that input without the guard having been ended
before it is the end of the command: the process is ended, with all below it and all that has the
mark in its environment.
"""

from __future__ import annotations

import select
import sys

from layerscope.capture import processes

_LOOK_S = 2.0  # between looks at what was started: each reads a file of every process, 0.1 ms


def main() -> None:
    """Waits as long as the command runs."""
    line = sys.stdin.readline().strip()
    if line.isdigit():
        processes.end_when(
            int(line), sys.argv[1], lambda: bool(select.select([sys.stdin], [], [], _LOOK_S)[0])
        )
