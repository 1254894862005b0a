"""Which modules a forward calls, in order of their first calls, and with which tensors.

torch.profiler names a module `Class_k`: k counts the modules of a class (of a type, not of a name)
by their first calls of `nn.Module.__call__` in the recording. A forward pre-hook of every module
runs inside that call, in the same order.
"""

from __future__ import annotations

import threading
from collections import Counter
from typing import Any

from layerscope.capture.walk.module_paths import module_places
from layerscope.capture.walk.tensors import value_metadata

MOST_INVOCATIONS = 50_000  # some 500 B each

OUTSIDE = "[outside the model]"


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
        self._handles: list[Any] = []
        self._local = threading.local()
        self.invocations: list[dict[str, Any]] = []
        self.n_left_out = 0

    def __enter__(self) -> CallRecorder:
        self.install()
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()

    def install(self) -> None:
        """From here on calls are recorded."""
        from torch.nn.modules.module import register_module_forward_pre_hook

        self._handles.append(register_module_forward_pre_hook(self._note_call))
        if not self._wants_invocations:
            return
        for module in self._modules:
            self._handles += [
                module.register_forward_pre_hook(self._begin, with_kwargs=True),
                module.register_forward_hook(self._end, always_call=True),
            ]

    def remove(self) -> None:
        """Takes every hook off again."""
        for handle in self._handles:
            handle.remove()
        self._handles.clear()

    def _note_call(self, module: Any, _: Any) -> None:
        self._first_calls.setdefault(id(module), module)

    def _begin(self, module: Any, args: Any, kwargs: Any) -> None:
        stack = self._stack()
        if len(self.invocations) >= MOST_INVOCATIONS:
            self.n_left_out += 1
            stack.append(None)
            return
        record = {
            "id": len(self.invocations),
            "module": self._path_of[id(module)],
            "parent": stack[-1]["id"] if stack and stack[-1] is not None else None,
            "inputs": value_metadata(args),
            "kwargs": value_metadata(kwargs),
            "outputs": None,
        }
        self.invocations.append(record)
        stack.append(record)

    def _end(self, module: Any, _: Any, outputs: Any) -> None:
        stack = self._stack()
        record = stack.pop() if stack else None
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
