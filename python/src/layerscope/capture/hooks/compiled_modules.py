"""Whether a model runs as compiled code, where its forwards are called while tracing only."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Sequence
from typing import Any

from layerscope.capture.errors import CaptureError

WHY = "under torch.compile module hooks run only while the model is traced"
HINT = (
    "record it uncompiled: vLLM --compilation-config '{\"mode\":0,…}', SGLang without "
    "--enable-torch-compile, TensorRT-LLM without torch_compile_config; "
    "`layerscope-capture hooks rule` prints the options"
)


class CompiledModelError(CaptureError):
    """The model, or a part of it, is compiled: what hooks record of it is no capture."""

    def __init__(self, parts: Sequence[str]) -> None:
        named = ", ".join(parts[:3]) + (f" and {len(parts) - 3} more" if len(parts) > 3 else "")
        super().__init__(f"this is no capture: {named} is compiled, and {WHY}", HINT)


def _is_compiled(module: Any) -> bool:
    if type(module).__name__ == "OptimizedModule":  # what torch.compile(module) returns
        return True
    if getattr(module, "_compiled_call_impl", None) is not None:  # module.compile()
        return True
    # vLLM's compilable classes: False where their forward will be compiled at the first call.
    return getattr(module, "do_not_compile", None) is False


def compiled_parts(model: Any) -> list[str]:
    """Paths of the modules that are or will be compiled; the root is called by its class."""
    return [name or type(model).__name__ for name, m in model.named_modules() if _is_compiled(m)]


class _Tracing:
    """`is_tracing(number, path)`: whether torch.compile is tracing the caller right now.

    While Dynamo traces, the owner of `number` (from `register`) is told the path; in normal runs it
    costs a call.
    """

    def __init__(self) -> None:
        self._told: dict[int, Callable[[str], None]] = {}
        self._numbers = itertools.count()
        self._ask: Callable[[int, str], bool] | None = None

    def register(self, tell: Callable[[str], None]) -> int:
        """A number for one owner, whose `tell` is called when a forward of it is traced."""
        number = next(self._numbers)
        self._told[number] = tell
        if self._ask is None and "torch" in sys.modules:  # a model of torch has imported it
            self._ask = _torch_question()
        return number

    def forget(self, number: int) -> None:
        """Ends a registration."""
        self._told.pop(number, None)

    def note(self, number: int, path: str) -> None:
        """What the traced code calls, at trace time."""
        tell = self._told.get(number)
        if tell is not None:
            tell(path)

    def __call__(self, number: int, path: str) -> bool:
        """False outside torch.compile's tracing."""
        return self._ask is not None and self._ask(number, path)


def _torch_question() -> Callable[[int, str], bool]:
    import torch

    # Dynamo evaluates such a function while it traces and keeps the result: no graph break, and
    # the note is taken at the only moment at which the hook is run.
    def note(number: int, path: str) -> bool:
        is_tracing.note(number, path)
        return True

    torch._dynamo.assume_constant_result(note)  # marks the function itself

    def ask(number: int, path: str) -> bool:
        return bool(torch.compiler.is_compiling()) and note(number, path)

    return ask


is_tracing = _Tracing()
