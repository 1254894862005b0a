"""The `tree` of model_tree.json: one node a module of a live model."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Mapping
from typing import Any

from layerscope.capture.walk.implementations import implementations_of
from layerscope.capture.walk.module_paths import ModulePlace, module_places
from layerscope.capture.walk.source_flow import Flow, flow_of, unavailable
from layerscope.capture.walk.tensors import tensor_metadata

# With more modules than this (a model of some thousand experts) the source flow of a class stands
# at its first module alone: some 3 KB each would make a document of 100 MB.
MOST_FULL_NODES = 5000
_INT64 = 1 << 63


class TreeBuilder:
    """Makes the nodes; the flow of each function is read once."""

    def __init__(self, most_full_nodes: int = MOST_FULL_NODES) -> None:
        self._most_full_nodes = most_full_nodes
        self._flow_of = functools.lru_cache(maxsize=None)(flow_of)
        self._full_at: dict[Any, str] = {}  # function -> path of the node that has its flow
        self._tensor_at: dict[int, str] = {}  # id of a parameter -> its first name
        self.is_short = False  # whether flows were left out

    def build(self, model: Any) -> dict[str, Any]:
        """The root node; `children` in the order of definition, a shared module at its first."""
        places = module_places(model)
        self.is_short = len(places) > self._most_full_nodes
        nodes: list[dict[str, Any]] = []
        for place in places:
            node = self._node(place)
            nodes.append(node)
            if place.parent is not None:
                nodes[place.parent]["children"].append(node)
        return nodes[0]

    def _node(self, place: ModulePlace) -> dict[str, Any]:
        path, module = place.path, place.module
        cls = type(module)
        flow = functools.partial(self._flow_at, path)
        node = {
            "name": place.name,
            "path": path,
            "class": cls.__name__,
            "module": f"{cls.__module__}.{cls.__qualname__}",
            "init": flow(cls.__init__),
            "forward": self._forward_of(path, cls),
            "weights": self._tensors(path, module._parameters),
            "buffers": self._tensors(path, module._buffers),
            "config": scalar_attributes(module),
            "implementations": implementations_of(module, flow),
            "extra_repr": _extra_repr(module),
            "children": [],
        }
        if place.aliases:
            node["aliases"] = place.aliases
        return node

    def _forward_of(self, path: str, cls: type[Any]) -> Flow:
        try:
            forward = cls.forward
        except Exception as error:  # a ScriptModule's class has none, and fails in its own way
            return unavailable(f"{type(error).__name__}: {error}")
        return self._flow_at(path, forward)

    def _flow_at(self, path: str, function: Callable[..., Any]) -> Flow:
        first = self._full_at.setdefault(function, path)
        if not self.is_short or first == path:
            return self._flow_of(function)
        return {
            "evidence": "same_source",
            "source": f"{function.__module__}.{function.__qualname__}",
            "same_as": first,
            "operations": [],
            "execution_order": [],
        }

    def _tensors(self, path: str, own: Mapping[Any, Any]) -> dict[str, Any]:
        """The module's own tensors; of tied ones each place, with the first one's name."""
        tensors = {}
        for name, tensor in own.items():
            if tensor is None:
                continue
            whole = f"{path}.{name}" if path else str(name)
            entry = tensors[str(name)] = tensor_metadata(tensor)
            first = self._tensor_at.setdefault(id(tensor), whole)
            if first != whole:
                entry["tied_to"] = first
        return tensors


def scalar_attributes(module: Any) -> dict[str, Any]:
    """Numbers, texts and flags that the module holds itself; NaN and infinities as text.

    Whole numbers beyond 64 bits are left out: readers of JSON hold none.
    """
    found: dict[str, Any] = {}
    for name, value in vars(module).items():
        if not isinstance(name, str) or name.startswith("_"):
            continue
        if not issubclass(type(value), (str, int, float, type(None))):
            continue
        if isinstance(value, float) and not math.isfinite(value):
            value = str(value)
        if isinstance(value, int) and not -_INT64 <= value < _INT64:
            continue
        found[name] = value
    return found


def _extra_repr(module: Any) -> str:
    """What print() shows of the module. A prepacked weight has shape [0]: its sizes are here."""
    with contextlib.suppress(Exception):  # of foreign classes; a missing text is no failure
        return str(module.extra_repr())
    return ""
