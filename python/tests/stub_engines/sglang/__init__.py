"""Stub of SGLang 0.5: Engine in this process, a scheduler process that is spawned."""

__version__ = "0.5.20"

from sglang.engine import Engine

__all__ = ["Engine"]
