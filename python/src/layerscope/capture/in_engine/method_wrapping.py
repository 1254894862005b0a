"""Wraps a method of a class of an engine, and where classes derived from it have their own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

Method = Callable[..., Any]


def wrap_method(
    module: ModuleType, class_name: str, name: str, wrap: Callable[[Method], Method]
) -> None:
    """Puts `wrap(method)` in the place of each; nothing where the module has no such class.

    A class that is derived later keeps its own method.
    """
    base = getattr(module, class_name, None)
    if not isinstance(base, type):
        return
    for owner in dict.fromkeys(_with_subclasses(base)):
        original = owner.__dict__.get(name)
        if callable(original):
            setattr(owner, name, wrap(original))


def _with_subclasses(base: type) -> Iterator[type]:
    yield base
    derived: type
    for derived in type.__subclasses__(base):
        yield from _with_subclasses(derived)
