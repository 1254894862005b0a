"""Where the modules of a live model stand, whatever names a model's code gave them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from layerscope.capture.errors import CaptureError

_MOST_DEPTH = 100  # models: some 12; the document nests as its modules do


@dataclass
class ModulePlace:
    """A module at its first place; `parent` is the index of its parent, None at the root."""

    module: Any
    path: str  # "" at the root
    name: str
    parent: int | None
    aliases: list[str] = field(default_factory=list)  # its other paths


def module_places(model: Any) -> list[ModulePlace]:
    """As named_modules(), in its order; names may be numbers or have dots.

    Errors: `CaptureError` where modules are nested deeper than any model's.
    """
    places: list[ModulePlace] = []
    index_of: dict[int, int] = {}  # id of a module -> where it stands in `places`
    waiting: list[tuple[Any, str, str, int | None, int]] = [(model, "", "model", None, 0)]
    while waiting:
        module, path, name, parent, depth = waiting.pop()
        if id(module) in index_of:
            places[index_of[id(module)]].aliases.append(path)
            continue
        if depth > _MOST_DEPTH:
            raise CaptureError(f"modules are nested more than {_MOST_DEPTH} deep: {path[:80]}…")
        index = index_of[id(module)] = len(places)
        places.append(ModulePlace(module, path, name, parent))
        children = [
            (str(key), child) for key, child in module._modules.items() if child is not None
        ]
        waiting += [
            (child, f"{path}.{key}" if path else key, key, index, depth + 1)
            for key, child in reversed(children)
        ]
    return places
