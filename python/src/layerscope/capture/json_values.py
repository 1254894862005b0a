"""Values of JSON documents: true and false, which are numbers in Python, are none there."""

from __future__ import annotations

from typing import TypeGuard

_MOST_DIGITS = 9
_MOST_SHOWN = 60


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def index_of(text: str) -> int | None:
    """The number that decimal digits say; None for other text, and for more digits than any list
    has entries: Python reads no number of thousands of them."""
    return int(text) if text.isdecimal() and len(text) <= _MOST_DIGITS else None


def shown(value: object) -> str:
    """A value of a document for a message, cut after some characters."""
    try:
        text = repr(value)
    except ValueError:  # a whole number of thousands of digits
        text = "a number of thousands of digits"
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}…"


def decoder_said(error: Exception) -> str:
    """What a decoder of JSON or TOML raised, for a message.

    Of a number of thousands of digits Python says how its limit is changed, in the one ValueError
    that is of no class of the decoder's own.
    """
    return "a number has thousands of digits" if type(error) is ValueError else str(error)


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number, whole or not."""
    return is_whole(value) or isinstance(value, float)
