"""What a command of `layerscope-capture` is."""

from __future__ import annotations

import argparse
import difflib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

_NEAR = 0.75  # of letters in common: --enforce-eager is no misspelt --force


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
    passes_to: str = (
        ""  # "the server", which gets what stands behind --: `passed_on` of the options
    )


def one_too_many(
    parser: argparse.ArgumentParser, words: Sequence[str], unknown: Sequence[str]
) -> str | None:
    """What is said of a further word behind the value of an option; None where there is none.

    `unknown` is what the parser had no place for, in the order of `words`.
    """
    if not unknown:
        return None
    at = len(words) - 1 - words[::-1].index(unknown[0])
    if unknown[0] == "--":  # a word before it was taken for the command behind it
        at = words.index("--") - 1
        while at > 0 and (words[at].startswith("-") or _takes_value(parser, words[at - 1])):
            at -= 1
    if words[at].startswith("-"):
        return None
    said = f"'{words[at]}' is one too many"
    before = next((word for word in reversed(words[:at]) if word.startswith("-")), "")
    option = before.partition("=")[0]
    if not _takes_value(parser, option):
        return said
    metavar = parser._option_string_actions[option].metavar
    return f"{said} behind {option}, which takes {metavar or 'one word'}"


def _takes_value(parser: argparse.ArgumentParser, option: str) -> bool:
    action = parser._option_string_actions.get(option)
    return action is not None and action.nargs != 0


def with_examples(examples: Sequence[str]) -> dict[str, Any]:
    """Keywords of a parser whose help ends with examples, and keeps the lines of its texts."""
    return {
        "epilog": "Examples:\n" + "\n".join(f"  {line}" for line in examples),
        "formatter_class": argparse.RawDescriptionHelpFormatter,
    }


def near_option(parser: argparse.ArgumentParser, option: str) -> str | None:
    """The option of a parser that was probably meant."""
    near = difflib.get_close_matches(option, parser._option_string_actions, 1, _NEAR)
    return next(iter(near), None)
