"""Ranges around the forward of each module of one model.

The forward is wrapped, not hooked: engines call `model.forward(…)` themselves (SGLang,
TensorRT-LLM) or override `__call__` (vLLM's compilable classes), and forward hooks run in neither
case. A wrapper also cannot get out of balance: hooks that open and close a range are two functions,
and torch runs the second one (with `always_call`) also where the first had not run yet because
another hook raised.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from layerscope.capture.in_engine.compiled_modules import (
    CompiledModelError,
    compiled_parts,
    tracing_question,
)
from layerscope.capture.in_engine.range_backends import RangeBackend, module_text


class RangedForward:
    """The forward of one module inside a range. Looks like the forward that it wraps.

    A copied or pickled module gets its own plain forward back: the wrapper would run the weights
    of the original.
    """

    def __init__(self, module: Any, path: str, owner: ModuleRanges) -> None:
        self._module = module
        self._forward: Callable[..., Any] = module.forward
        # The root has no path. Its own kernels need some name, or they would seem to be nobody's.
        self._label = path or type(module).__name__
        self._text = module_text(path)
        self._owner = owner
        self._is_tracing = tracing_question(functools.partial(owner.note_traced, path))
        # Not its attributes: where it is an object too (a layer made an identity), they would
        # replace those of this one.
        functools.update_wrapper(self, self._forward, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs the forward; the range ends when it does, in whatever way."""
        if self._is_tracing():
            return self._forward(*args, **kwargs)
        backend = self._owner.backend
        token = backend.open(self._text, self._label)
        try:
            result = self._forward(*args, **kwargs)
        except BaseException as error:
            backend.close(token, error)
            raise
        backend.close(token, None)
        return result

    def __reduce__(self) -> tuple[Any, ...]:
        return getattr, (self._module, "forward")


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
        self._on_traced = on_traced
        self._undo: list[tuple[Any, Any]] = []
        self.shared = _shared_modules(model)
        for name, module in model.named_modules():
            self._wrap(module, prefix + name)

    @property
    def modules(self) -> int:
        """Modules that have a range."""
        return len(self._undo)

    def remove(self) -> None:
        """Puts the forwards back. A forward that somebody replaced since then is left alone."""
        for module, before in reversed(self._undo):
            if not isinstance(module.__dict__.get("forward"), RangedForward):
                continue
            if before is None:
                del module.__dict__["forward"]
            else:
                module.__dict__["forward"] = before
        self._undo.clear()
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
        before = module.__dict__.get("forward")
        if isinstance(before, RangedForward) or not _has_forward(module):
            return
        # Not setattr: classes override __setattr__ and would take the wrapper for a parameter.
        module.__dict__["forward"] = RangedForward(module, path, self)
        self._undo.append((module, before))


def _has_forward(module: Any) -> bool:
    """False for containers, as a ModuleList, whose forward only raises."""
    forward = getattr(module, "forward", None)
    return callable(forward) and getattr(forward, "__name__", "") != "_forward_unimplemented"


def _shared_modules(model: Any) -> int:
    """Modules that stand in more than one place of the tree."""
    places: dict[int, int] = {}
    for _, module in model.named_modules(remove_duplicate=False):
        places[id(module)] = places.get(id(module), 0) + 1
    return sum(1 for count in places.values() if count > 1)
