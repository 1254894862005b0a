"""The `tree` of model_tree.json: one node a module of a live model."""

from __future__ import annotations

import contextlib
import functools
import math
from collections.abc import Callable, Iterator
from typing import Any

from layerscope.capture.walk.implementations import implementations_of
from layerscope.capture.walk.source_flow import Flow, flow_of
from layerscope.capture.walk.tensors import tensor_metadata

# With more modules than this (a model of some thousand experts) the source flow of a class stands
# at its first module alone: some 3 KB each would make a document of 100 MB.
MOST_FULL_NODES = 5000


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
        modules = list(model.named_modules())
        path_of = {id(module): path for path, module in modules}
        self.is_short = len(modules) > self._most_full_nodes
        nodes: dict[str, dict[str, Any]] = {}
        for path, module in modules:
            node = nodes[path] = self._node(path, module)
            if path:
                nodes[path.rpartition(".")[0]]["children"].append(node)
        for path, module in modules:
            for name, child in _named_children(module):
                first = path_of[id(child)]
                other = f"{path}.{name}" if path else name
                if first != other:
                    nodes[first].setdefault("aliases", []).append(other)
        return nodes[""]

    def _node(self, path: str, module: Any) -> dict[str, Any]:
        cls = type(module)
        flow = functools.partial(self._flow_at, path)
        return {
            "name": path.rpartition(".")[2] or "model",
            "path": path,
            "class": cls.__name__,
            "module": f"{cls.__module__}.{cls.__qualname__}",
            "init": flow(cls.__init__),
            "forward": flow(cls.forward),
            "weights": self._tensors(path, module.named_parameters),
            "buffers": self._tensors(path, module.named_buffers),
            "config": scalar_attributes(module),
            "implementations": implementations_of(module, flow),
            "extra_repr": _extra_repr(module),
            "children": [],
        }

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

    def _tensors(self, path: str, named: Callable[..., Iterator[tuple[str, Any]]]) -> Any:
        """The module's own tensors; of tied ones each place, with the first one's name."""
        tensors = {}
        for name, tensor in named(recurse=False, remove_duplicate=False):
            whole = f"{path}.{name}" if path else name
            entry = tensors[name] = tensor_metadata(tensor)
            first = self._tensor_at.setdefault(id(tensor), whole)
            if first != whole:
                entry["tied_to"] = first
        return tensors


def _named_children(module: Any) -> Iterator[tuple[str, Any]]:
    """Like named_children(), with a child under each of its names."""
    return ((name, child) for name, child in module._modules.items() if child is not None)


def scalar_attributes(module: Any) -> dict[str, Any]:
    """Numbers, texts and flags that the module holds itself; NaN and infinities as text."""
    found: dict[str, Any] = {}
    for name, value in vars(module).items():
        if name.startswith("_") or not isinstance(value, (str, int, float, bool, type(None))):
            continue
        if isinstance(value, float) and not math.isfinite(value):
            value = str(value)
        found[name] = value
    return found


def _extra_repr(module: Any) -> str:
    """What print() shows of the module. A prepacked weight has shape [0]: its sizes are here."""
    with contextlib.suppress(Exception):  # of foreign classes; a missing text is no failure
        return str(module.extra_repr())
    return ""
