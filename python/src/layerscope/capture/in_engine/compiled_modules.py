"""Whether a model runs as compiled code, where its forwards are called while tracing only."""

from __future__ import annotations

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


def runs_as_script(module: Any) -> bool:
    """A ScriptModule: what lies in it is never called from Python, and takes no hooks."""
    return any(cls.__name__ == "ScriptModule" for cls in type(module).__mro__)


def compiled_parts(model: Any) -> list[str]:
    """Paths of the modules that are or will be compiled; the root is called by its class."""
    return [name or type(model).__name__ for name, m in model.named_modules() if _is_compiled(m)]


def tracing_question(note: Callable[[], None], asker: str) -> Callable[[], bool]:
    """A function that says whether torch.compile is tracing its caller right now.

    While Dynamo traces, `note` is called; in normal runs the question costs a call. It takes no
    arguments: once a second module is traced, Dynamo takes them for values that it does not know,
    and cannot trace the call. What was compiled for one `asker` is not taken for another, who would
    not be told.
    """
    if "torch" not in sys.modules:  # a model of torch has imported it
        return lambda: False
    import torch

    # Dynamo evaluates such a function while it traces and keeps the result: no graph break, and
    # the note is taken at the only moment at which the question is asked.
    def noted() -> bool:
        note()
        return True

    torch._dynamo.assume_constant_result(noted)  # marks the function itself
    return lambda: bool(torch.compiler.is_compiling()) and asker != "" and noted()
