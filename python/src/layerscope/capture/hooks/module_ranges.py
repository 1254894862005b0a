"""Ranges around the forward of each module of one model.

The forward is wrapped, not hooked: engines call `model.forward(…)` themselves (SGLang,
TensorRT-LLM) or override `__call__` (vLLM's compilable classes), and forward hooks run in neither
case. A wrapper also cannot get out of balance: hooks that open and close a range are two functions,
and torch runs the second one (with `always_call`) also where the first had not run yet because
another hook raised.
"""

from __future__ import annotations

import functools
import inspect
import uuid
from collections.abc import Callable, Iterator
from typing import Any

from layerscope.capture.in_engine.compiled_modules import (
    CompiledModelError,
    compiled_parts,
    runs_as_script,
    tracing_question,
)
from layerscope.capture.in_engine.forward_wrapping import (
    WrappedForward,
    has_forward,
    wrap_forward,
)
from layerscope.capture.in_engine.range_backends import RangeBackend, module_text


class RangedForward(WrappedForward):
    """The forward of one module inside a range."""

    def __init__(self, module: Any, path: str, owner: ModuleRanges) -> None:
        super().__init__(module)
        # The root has no path. Its own kernels need some name, or they would seem to be nobody's.
        self._label = path or type(module).__name__
        self._text = module_text(path)
        self._owner = owner
        note = functools.partial(owner.note_traced, path)
        self._is_tracing = tracing_question(note, owner.name)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the forward; the range ends when it does, in whatever way."""
        if self._is_tracing():
            return self.forward(*args, **kwargs)
        backend = self._owner.backend
        token = backend.open(self._text, self._label)
        try:
            result = self.forward(*args, **kwargs)
        except BaseException as error:
            backend.close(token, error)
            raise
        backend.close(token, None)
        return result


class ModuleRanges:
    """The ranges of one model: installed by the constructor, gone after `remove`.

    Paths are those of `named_modules()`: a module that is shared has the first of its paths, and
    one range a call. `prefix` stands before them (a second model of one process). Raises
    `CompiledModelError` for a model that torch.compile runs: there the forwards are called only
    while it is traced, and the ranges of a trace of such a run would say nothing. `on_traced` is
    called with the path when that first happens later; such a module has no ranges from then on.
    """

    def __init__(
        self,
        model: Any,
        backend: RangeBackend,
        *,
        prefix: str = "",
        on_traced: Callable[[str], None] | None = None,
    ) -> None:
        parts = compiled_parts(model)
        if parts:
            raise CompiledModelError(parts)
        self.backend = backend
        self.name = str(uuid.uuid4())
        self._on_traced = on_traced
        self._take_off: list[Callable[[], None]] = []
        self.shared = _shared_modules(model)
        self.deferred = 0  # modules whose range ends before their work begins
        for name, module in _called_modules(model):
            self._wrap(module, prefix + name)

    @property
    def modules(self) -> int:
        """Modules that have a range."""
        return len(self._take_off)

    def remove(self) -> None:
        """Puts the forwards back. A forward that somebody replaced since then is left alone."""
        for take_off in reversed(self._take_off):
            take_off()
        self._take_off.clear()
        self._on_traced = None

    def note_traced(self, path: str) -> None:
        """What torch.compile tells of a module while it traces it."""
        tell, self._on_traced = self._on_traced, None
        if tell is not None:
            tell(path)

    def __enter__(self) -> ModuleRanges:
        """`with ModuleRanges(model, backend):` removes them at the end."""
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()

    def _wrap(self, module: Any, path: str) -> None:
        if not has_forward(module) or isinstance(module.forward, RangedForward):
            return
        self.deferred += _is_deferred(module.forward)
        self._take_off.append(wrap_forward(RangedForward(module, path, self)))


def _called_modules(model: Any) -> Iterator[tuple[str, Any]]:
    """named_modules(), without what lies in a ScriptModule, whose forwards nobody calls."""
    script: str | None = None
    for name, module in model.named_modules():
        if script is not None and name.startswith(script):
            continue
        script = (name and f"{name}.") if runs_as_script(module) else None
        yield name, module


def _is_deferred(forward: Any) -> bool:
    """A generator or a coroutine: the call only makes it."""
    kinds = (inspect.isgeneratorfunction, inspect.iscoroutinefunction, inspect.isasyncgenfunction)
    return any(is_kind(forward) for is_kind in kinds)


def _shared_modules(model: Any) -> int:
    """Modules that stand in more than one place of the tree."""
    places: dict[int, int] = {}
    for _, module in model.named_modules(remove_duplicate=False):
        places[id(module)] = places.get(id(module), 0) + 1
    return sum(1 for count in places.values() if count > 1)
