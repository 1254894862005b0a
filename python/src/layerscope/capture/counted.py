"""Numbers of things, for people."""

from __future__ import annotations


def counted(number: int, thing: str) -> str:
    """`1 step`, `2 steps`."""
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
