"""The command line `layerscope-capture`: finds the command, runs it, prints its errors."""

from __future__ import annotations

import argparse
import difflib
import importlib
import io
import shlex
import sys
from collections.abc import Iterable, Sequence
from typing import Any, NoReturn

from layerscope import __version__
from layerscope.capture import errors, interrupts
from layerscope.capture.command import Command, near_option, one_too_many, with_examples

# The modules that hold a `COMMAND`, in the order in which help lists them.
COMMANDS = (
    "layerscope.capture.walk.command",
    "layerscope.capture.profile.command",
    "layerscope.capture.serve_bench.command",
    "layerscope.capture.hooks.command",
    "layerscope.capture.drive.command",
    "layerscope.capture.matrix.command",
    "layerscope.capture.config_patch.command",
    "layerscope.capture.check.command",
)


def verb_of(module: str) -> str:
    """`serve-bench` of "layerscope.capture.serve_bench.command"."""
    return module.split(".")[-2].replace("_", "-")


def commands(only: str | None = None) -> list[Command]:
    """All commands, in the order of help; with `only` that one alone is imported."""
    found: list[Command] = []
    for name in COMMANDS:
        if only is not None and verb_of(name) != only:
            continue
        command = importlib.import_module(name).COMMAND
        assert isinstance(command, Command)
        found.append(command)
    return found


class _Parser(argparse.ArgumentParser):
    """Takes options by their whole names; says in two lines what is wrong. Subparsers do, too."""

    def __init__(self, *, passes_to: str = "", **keywords: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **keywords})
        self.passes_to = passes_to

    def parse_known_args(
        self, args: Iterable[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """What stands behind --, and is passed on, is cut off before.

        argparse takes all positional arguments at the first one, so that a second list of them
        behind options is lost.
        """
        if not self.passes_to:
            return super().parse_known_args(args, namespace)
        words = list(args or ())
        cut = words.index("--") if "--" in words else len(words)
        found, unknown = super().parse_known_args(words[:cut], namespace)
        if unknown:
            _refuse_unknown(self, words[:cut], unknown)
        found.passed_on = words[cut + 1 :]
        return found, unknown

    def error(self, message: str) -> NoReturn:
        """Ends the program with the code for a bad option; the usage is what --help prints."""
        errors.say(f"{self.prog}: {message}", to=sys.stderr)
        self.exit(errors.USAGE, f"  {self.prog} --help lists the options\n")


def _refuse_unknown(parser: _Parser, words: Sequence[str], unknown: Sequence[str]) -> NoReturn:
    """Ends the program: by the parser of the command, or of its action, that was given them."""
    for word in words:
        for action in parser._actions:
            if isinstance(action, argparse._SubParsersAction):
                parser = action.choices.get(word, parser)
    behind = unknown[unknown.index("--") :] if "--" in unknown else []
    for word in behind:
        if (option := word.partition("=")[0]) in parser._option_string_actions:
            parser.error(f"{option} stands behind --, which ends the options")
    if said := one_too_many(parser, words, unknown):
        parser.error(said)
    option = next(word.partition("=")[0] for word in unknown if word.startswith("-"))
    near = near_option(parser, option)
    said = f"no option '{option}'" + (f"; did you mean '{near}'?" if near else "")
    if parser.passes_to:
        where = f"{parser.prog} … -- {shlex.join(unknown)}"
        said += f"; options of {parser.passes_to} stand behind --: {where}"
    parser.error(said)


def build_parser(available: Sequence[Command]) -> _Parser:
    """The parser of `layerscope-capture` with one subparser a command."""
    parser = _Parser(
        prog="layerscope-capture",
        description="Records what layerscope reads, on the machine that runs the model.",
        epilog="layerscope-capture COMMAND --help says what a command writes, with examples.",
    )
    parser.add_argument("--version", action="version", version=f"layerscope-capture {__version__}")
    subparsers = parser.add_subparsers(dest="command", metavar="COMMAND")
    for command in available:
        subparser = subparsers.add_parser(
            command.name,
            help=command.summary,
            description=command.description,
            passes_to=command.passes_to,
            **with_examples(command.examples),
        )
        command.add_options(subparser)
        subparser.add_argument(
            "--dry-run",
            action="store_true",
            help="say what would be run and written, and do nothing",
        )
    return parser


def _unknown_command(name: str, verbs: Sequence[str]) -> str:
    near = difflib.get_close_matches(name, verbs, 1)
    hint = f"did you mean '{near[0]}'?" if near else "layerscope-capture --help lists them"
    return f"layerscope-capture: no command '{name}'; {hint}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command; returns the exit code (`errors` has them)."""
    for stream in (sys.stdout, sys.stderr):  # names of files, and terminals, may be no UTF-8
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    words = list(sys.argv[1:] if arguments is None else arguments)
    verbs = [verb_of(name) for name in COMMANDS]
    if words and not words[0].startswith("-") and words[0] not in verbs:
        errors.say(_unknown_command(words[0], verbs), to=sys.stderr)
        return errors.USAGE
    verb = words[0] if words and words[0] in verbs else None
    try:
        available = commands(verb)
        parser = build_parser(available)
        options, unknown = parser.parse_known_args(words)
        if unknown:
            _refuse_unknown(parser, words, unknown)
        if options.command is None:
            parser.print_help()
            return errors.USAGE
        return _run(next(c for c in available if c.name == options.command), options)
    except KeyboardInterrupt:
        errors.say(f"layerscope-capture{f' {verb}' if verb else ''}: interrupted", to=sys.stderr)
        return errors.INTERRUPTED


def _run(command: Command, options: argparse.Namespace) -> int:
    """Prints what a user can mend; other exceptions are faults of this program."""
    try:
        with interrupts.raised():
            return command.run(options)
    except errors.CaptureError as error:
        _complain(command, error)
        return error.code
    except OSError as error:  # a disk that is full, a file that may not be read
        _complain(command, errors.CaptureError(str(error), errors.hint_of(error)))
        return errors.FAILED
    except (KeyboardInterrupt, Exception):
        raise
    except BaseException as error:  # sys.exit and the like, of a model's or an engine's code
        _complain(command, f"ended by {type(error).__name__}: {errors.first_line(error)}")
        return errors.FAILED


def _complain(command: Command, said: object) -> None:
    """It may be of several lines: the hint, the last words of a log."""
    errors.say(f"layerscope-capture {command.name}: {said}", to=sys.stderr, in_one_line=False)
