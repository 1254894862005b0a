"""Runs a function when a module is imported, at once if it is there already.

Engines must not be imported to be hooked: in most of their processes no model is loaded, and an
early import changes the order in which they set themselves up.
"""

from __future__ import annotations

import functools
import importlib.machinery
import sys
import threading
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from types import ModuleType

Told = Callable[[ModuleType], None]


class _TellingLoader(Loader):
    """Loads as `inner` does, then calls `executed`."""

    def __init__(self, inner: Loader, executed: Told) -> None:
        self._inner = inner
        self._executed = executed

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._inner.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._inner  # what runs later asks for resources, sources
        module.__loader__ = self._inner
        self._inner.exec_module(module)
        self._executed(module)


class ImportWatch(MetaPathFinder):
    """A finder that stands first and only looks at the names it watches."""

    def __init__(self) -> None:
        self._watched: dict[str, list[Told]] = {}
        self._searching: set[tuple[str, int]] = set()  # and the thread

    def on_import(self, name: str, tell: Told) -> None:
        """`tell(module)` after `name` was executed; at once if that was before."""
        module = sys.modules.get(name)
        if module is not None:
            tell(module)
            return
        self._watched.setdefault(name, []).append(tell)
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    def stop(self) -> None:
        """Watches nothing any more."""
        self._watched.clear()
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None = None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        """The spec that the other finders give, with a loader that tells.

        The watch goes on: it may only be asked where the module is, or the import may fail.
        """
        search = fullname, threading.get_ident()
        if fullname not in self._watched or search in self._searching:
            return None
        self._searching.add(search)  # a finder may ask all others, as this one does
        try:
            for finder in sys.meta_path:
                spec = None if finder is self else finder.find_spec(fullname, path, target)
                if spec is not None and spec.loader is not None:
                    executed = functools.partial(self._executed, fullname)
                    spec.loader = _TellingLoader(spec.loader, executed)
                    return spec
        finally:
            self._searching.discard(search)
        return None

    def _executed(self, name: str, module: ModuleType) -> None:
        """Tells, and watches this module no longer."""
        for tell in self._watched.get(name, ()):
            tell(module)
        self._watched.pop(name, None)


WATCH = ImportWatch()  # one a process
