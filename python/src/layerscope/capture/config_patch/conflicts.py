"""Options of which one undoes what another says: neither can be what was meant."""

from __future__ import annotations

import argparse
import itertools
from collections.abc import Iterator

from layerscope.capture import errors
from layerscope.capture.config_patch.changes import ABSENT, Change
from layerscope.capture.errors import CaptureError

_SET, _UNSET, _ADD, _IDENTITY = range(4)  # in the order in which they are applied
_Given = tuple[int, str, str]  # kind, dotted key, the option as it was given


def require_no_conflict(options: argparse.Namespace) -> None:
    """Raises CaptureError (code 2), which names the two options. --unset and --add are one change.

    An object may be set before what is in it, and removed before it is made anew.
    """
    for first, second in itertools.combinations(_given(options), 2):
        if _undoes(first, second):
            said = f"{first[2]} and {second[2]} contradict each other"
            raise CaptureError(
                errors.printable(said, in_one_line=True), "give one of them", errors.USAGE
            )


def _given(options: argparse.Namespace) -> Iterator[_Given]:
    for kind, name in ((_SET, "set"), (_UNSET, "unset"), (_ADD, "add")):
        for text in getattr(options, name):
            yield kind, text.partition("=")[0].strip(), f"--{name} {text}"
    if options.model_type:
        yield _IDENTITY, "model_type", f"--model-type {options.model_type}"
    if options.architectures:
        yield _IDENTITY, "architectures", f"--architectures {','.join(options.architectures)}"


def _undoes(first: _Given, second: _Given) -> bool:
    """Whether the second, which is applied later, takes away what the first says."""
    kind, key, _ = first
    later, at, _ = second
    if later == _IDENTITY and key.split(".")[0] == "auto_map":
        return kind in (_SET, _ADD)  # it goes with the old type
    if key == at:
        return (kind, later) != (_UNSET, _ADD)
    return key.startswith(f"{at}.") and (kind, later) != (_UNSET, _ADD)


def changed_again(changes: list[Change], n_overrides: int) -> Iterator[str]:
    """A line for each key that an override gave a value, the first changes, and a later step
    another one."""
    given = {change.key: change for change in changes[:n_overrides] if change.after is not ABSENT}
    for change in changes[n_overrides:]:
        if change.key in given and change.after is not ABSENT:
            before = given[change.key]
            yield (
                f"{change.key}: the {before.after!r} of {before.why} is that of the whole model;"
                f" {change.after!r} is written"
            )
