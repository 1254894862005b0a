"""Numbers of JSON documents: true and false, which are numbers in Python, are none there."""

from __future__ import annotations

from typing import TypeGuard


def is_whole(value: object) -> TypeGuard[int]:
    """Whether a value is a whole number."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_number(value: object) -> TypeGuard[int | float]:
    """Whether a value is a number, whole or not."""
    return is_whole(value) or isinstance(value, float)
