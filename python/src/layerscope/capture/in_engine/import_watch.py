"""Runs a function when a module is imported, at once if it is there already.

Engines must not be imported to be hooked: in most of their processes no model is loaded, and an
early import changes the order in which they set themselves up.
"""

from __future__ import annotations

import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from importlib.abc import Loader, MetaPathFinder
from types import ModuleType

Told = Callable[[ModuleType], None]


class _TellingLoader(Loader):
    """Loads as `inner` does, then tells."""

    def __init__(self, inner: Loader, tell: Told) -> None:
        self._inner = inner
        self._tell = tell

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType | None:
        return self._inner.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        if module.__spec__ is not None:
            module.__spec__.loader = self._inner  # what runs later asks for resources, sources
        module.__loader__ = self._inner
        self._inner.exec_module(module)
        self._tell(module)


class ImportWatch(MetaPathFinder):
    """A finder that stands first and only looks at the names it watches."""

    def __init__(self) -> None:
        self._watched: dict[str, list[Told]] = {}

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
        """The spec that the other finders give, with a loader that tells."""
        if fullname not in self._watched:
            return None
        told = self._watched.pop(fullname)  # first, so that the search below is not ours
        for finder in sys.meta_path:
            if finder is self:
                continue
            spec = finder.find_spec(fullname, path, target)
            if spec is not None and spec.loader is not None:
                spec.loader = _TellingLoader(spec.loader, lambda module: _tell_all(told, module))
                return spec
        self._watched[fullname] = told
        return None


def _tell_all(told: Sequence[Told], module: ModuleType) -> None:
    for tell in told:
        tell(module)


WATCH = ImportWatch()  # one a process
