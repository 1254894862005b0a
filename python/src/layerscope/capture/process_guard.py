"""Ends what a command started where the command itself cannot: `kill -9`, out of memory.

`python -m layerscope.capture.process_guard` reads the id of a process from standard input, whose
other end the command holds. The end of that input without the guard having been ended before it is
the end of the command: the process and all below it are ended.
"""

from __future__ import annotations

import sys

from layerscope.capture import processes


def main() -> None:
    """Waits as long as the command runs."""
    line, _ = sys.stdin.readline().strip(), sys.stdin.read()
    if line.isdigit():
        processes.end_process(int(line))


if __name__ == "__main__":
    main()
