"""Puts a wrapper around the forward of single modules.

It stands in the class that has the forward, and is found there for the modules that are meant
alone. So what is made of a module runs its own forward, without a wrapper: a copy (copy.copy,
deepcopy, pickle, a replica for data parallelism), a module that gets another class. A class whose
forward is replaced meanwhile has the new one. A forward that is the module's own, or no function,
is wrapped where it stands, in the module: copy.copy takes the wrapper along, deepcopy does not.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any

_NAME = "forward"
_MARK = "_layerscope_forward"  # the wrapper of a module, in its __dict__


class WrappedForward:
    """A forward in a wrapper that looks like it; derived classes do something around a call.

    Its attributes are read through the wrapper (torch.export asks for the code); torch.jit.script
    takes none but functions. Copied or pickled it is the plain forward.
    """

    def __init__(self, module: Any) -> None:
        self.forward: Callable[..., Any] = module.forward
        self.module = module
        self.of_class: _ForwardOfClass | None = None
        # Not its attributes: where it is an object too (a layer made an identity), they would
        # replace those of this one.
        functools.update_wrapper(self, self.forward, updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Runs it."""
        return self.forward(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.forward, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return operator.getitem, ((self.forward,), 0)


class _ForwardOfClass:
    """What a class has in the place of its forward while modules of it are wrapped.

    A mark in the module, not a table of ids: torch.compile would trace each module anew.
    """

    def __init__(self, plain: FunctionType) -> None:
        self.plain = plain
        self.modules = 0  # that are wrapped

    def __get__(self, module: Any, owner: type | None = None) -> Any:
        if module is None:
            return self.plain
        found = module.__dict__.get(_MARK)
        if isinstance(found, WrappedForward) and found.module is module and found.of_class is self:
            return found
        return self.plain.__get__(module, owner)


def has_forward(module: Any) -> bool:
    """False for containers, as a ModuleList, whose forward only raises."""
    forward = getattr(module, "forward", None)
    return callable(forward) and getattr(forward, "__name__", "") != "_forward_unimplemented"


def wrap_forward(wrapped: WrappedForward) -> Callable[[], None]:
    """Puts it in the place of its module's forward; returns what takes it off again.

    A forward that somebody replaced meanwhile is left alone then.
    """
    module = wrapped.module
    owner = next(cls for cls in type(module).__mro__ if _NAME in cls.__dict__)
    found = owner.__dict__[_NAME]
    if _NAME in module.__dict__ or not isinstance(found, (FunctionType, _ForwardOfClass)):
        return _put(module, _NAME, wrapped)
    of_class = found if isinstance(found, _ForwardOfClass) else _ForwardOfClass(found)
    of_class.modules += 1
    wrapped.of_class = of_class
    unmark = _put(module, _MARK, wrapped)
    setattr(owner, _NAME, of_class)

    def take_off() -> None:
        unmark()
        if module.__dict__.get(_NAME) is wrapped:  # read there, and put back into the module
            del module.__dict__[_NAME]
        of_class.modules -= 1
        if not of_class.modules and owner.__dict__.get(_NAME) is of_class:
            setattr(owner, _NAME, of_class.plain)

    return take_off


def _put(module: Any, name: str, wrapped: WrappedForward) -> Callable[[], None]:
    # Not setattr: classes override __setattr__ and would take the wrapper for a parameter.
    before = module.__dict__.get(name)
    module.__dict__[name] = wrapped

    def put_back() -> None:
        if module.__dict__.get(name) is not wrapped:
            return
        if before is None:
            del module.__dict__[name]
        else:
            module.__dict__[name] = before

    return put_back
