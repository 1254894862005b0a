"""What a command of `layerscope-capture` is."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Command:
    """One command: its options are data, one function runs them.

    `run` returns the exit code and raises `errors.CaptureError` for what a user can mend. Every
    command has `--dry-run` (added by `cli`): it says what would be run and written, and does
    nothing.
    """

    name: str
    summary: str  # one line, for the list of commands
    description: str  # what it does, what it writes, its caveats
    examples: tuple[str, ...]  # whole command lines; the tests run each with --dry-run
    add_options: Callable[[argparse.ArgumentParser], None]
    run: Callable[[argparse.Namespace], int]


def near_option(parser: argparse.ArgumentParser, option: str) -> str | None:
    """The option of a parser that was probably meant."""
    return next(iter(difflib.get_close_matches(option, parser._option_string_actions, 1)), None)
