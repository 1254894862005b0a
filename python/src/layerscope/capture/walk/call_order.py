"""Which modules a forward calls, in order of their first calls, and with which tensors.

torch.profiler names a module `Class_k`: k counts the modules of a class (of a type, not of a name)
by their first calls of `nn.Module.__call__` in the recording. A forward pre-hook of every module
runs inside that call, in the same order. Of threads the profiler records those that were there when
it was started.
"""

from __future__ import annotations

import itertools
import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

from layerscope.capture.in_engine.compiled_modules import runs_as_script
from layerscope.capture.in_engine.forward_wrapping import (
    WrappedForward,
    has_forward,
    wrap_forward,
)
from layerscope.capture.walk.module_paths import module_places
from layerscope.capture.walk.tensors import value_metadata

MOST_INVOCATIONS = 50_000  # some 500 B each

OUTSIDE = "[outside the model]"


class _Recorded(WrappedForward):
    """The forward of a module of the model, with a record of each call."""

    def __init__(self, module: Any, recorder: CallRecorder) -> None:
        super().__init__(module)
        self._recorder = recorder

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        import torch

        if torch.compiler.is_compiling():
            return self.forward(*args, **kwargs)
        self._recorder.begin(self.module, args, kwargs)
        outputs = None
        try:
            outputs = self.forward(*args, **kwargs)
        finally:
            self._recorder.end(outputs)
        return outputs


class CallRecorder:
    """Hooks on a live model, from `install` to `remove`; also a context manager.

    Modules outside of the model are seen too: one of a class that the model has shifts the numbers
    of that class.
    """

    def __init__(self, model: Any, *, invocations: bool = True) -> None:
        self._wants_invocations = invocations
        places = module_places(model)
        self._modules = [place.module for place in places]
        self._path_of = {id(place.module): place.path for place in places}
        self._first_calls: dict[int, Any] = {}  # id -> module; holding it keeps the id its own
        self._in_new_threads: dict[int, Any] = {}  # the same of threads that began meanwhile
        self._threads: set[threading.Thread] = set()
        self._take_off: list[Callable[[], None]] = []
        self._ids = itertools.count()  # of invocations, in whatever thread
        self._local = threading.local()
        self.invocations: list[dict[str, Any]] = []
        self.n_left_out = 0
        self.n_scripts = sum(map(runs_as_script, self._modules))

    def __enter__(self) -> CallRecorder:
        self.install()
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def install(self) -> None:
        """From here on calls are recorded."""
        from torch.nn.modules.module import register_module_forward_pre_hook

        self._threads = {*threading.enumerate(), threading.current_thread()}
        self._take_off.append(register_module_forward_pre_hook(self._note_call).remove)
        if not self._wants_invocations:
            return
        for module in self._modules:
            if not runs_as_script(module) and has_forward(module):
                self._take_off.append(wrap_forward(_Recorded(module, self)))

    def remove(self) -> None:
        """Takes every hook off again."""
        for take_off in reversed(self._take_off):
            take_off()
        self._take_off.clear()

    def _note_call(self, module: Any, _: Any) -> None:
        import torch

        if torch.compiler.is_compiling():
            return  # a call that is traced is none, and the code that comes of it has none either
        is_new = threading.current_thread() not in self._threads
        calls = self._in_new_threads if is_new else self._first_calls
        calls.setdefault(id(module), module)

    def begin(self, module: Any, args: Any, kwargs: Any) -> None:
        """A forward of the model begins; `end` is to follow, whatever happens."""
        stack = self._stack()
        if len(self.invocations) >= MOST_INVOCATIONS:
            self.n_left_out += 1
            stack.append(None)
            return
        record = {
            "id": next(self._ids),
            "module": self._path_of[id(module)],
            "parent": stack[-1]["id"] if stack and stack[-1] is not None else None,
            "inputs": value_metadata(args),
            "kwargs": value_metadata(kwargs),
            "outputs": None,
        }
        self.invocations.append(record)
        stack.append(record)

    def end(self, outputs: Any) -> None:
        """The forward that began last in this thread has ended; None where it raised."""
        record = self._stack().pop()
        if record is not None:
            record["outputs"] = value_metadata(outputs)

    def _stack(self) -> list[Any]:
        if not hasattr(self._local, "stack"):
            self._local.stack = []
        stack: list[Any] = self._local.stack
        return stack

    def ambiguous_classes(self) -> list[str]:
        """Names that several called classes share: a trace does not tell their modules apart."""
        names = Counter(cls.__name__ for cls in {type(m) for m in self._first_calls.values()})
        return sorted(name for name, n in names.items() if n > 1)

    def only_in_new_threads(self) -> list[str]:
        """Modules that are in no order of calls: a profiler does not see such threads."""
        left = {k: m for k, m in self._in_new_threads.items() if k not in self._first_calls}
        return [self._path_of.get(k, f"{OUTSIDE}.{type(m).__name__}") for k, m in left.items()]

    def call_order(self) -> list[dict[str, str]]:
        """[{path, class}] by first call, without ambiguous classes.

        A module outside of the model stands as `[outside the model].Class.n`, where the model has
        that class.
        """
        ambiguous = set(self.ambiguous_classes())
        of_model = {type(module).__name__ for module in self._modules}
        order = []
        n_outside: Counter[str] = Counter()
        for key, module in self._first_calls.items():
            name = type(module).__name__
            path = self._path_of.get(key)
            if name in ambiguous or (path is None and name not in of_model):
                continue
            if path is None:
                path = f"{OUTSIDE}.{name}.{n_outside[name]}"
                n_outside[name] += 1
            order.append({"path": path, "class": name})
        return order
