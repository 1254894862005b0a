"""Watches the CUDA graphs that an engine captures, and switches annotations on for them.

`torch.cuda.graph` and `torch.cuda.CUDAGraph` are changed in place, as classes: engines hold them
under names of their own. `remove` puts everything back.
"""

from __future__ import annotations

import functools
import inspect
import weakref
from collections.abc import Callable
from typing import Any

from layerscope.capture.hooks.annotation_api import AnnotationApi

_OPTION = "enable_annotations"


class GraphCaptures:
    """How many captures run now, what was captured, and a word when a graph is replayed.

    `on_replay` is called after each replay of any graph, so it must be quick.
    """

    def __init__(self, api: AnnotationApi, on_replay: Callable[[], None]) -> None:
        import torch

        self._api = api
        self._on_replay = on_replay
        self._undo: list[tuple[type, str, Any]] = []
        self._captured_ids: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()
        self._kept: weakref.WeakSet[Any] = weakref.WeakSet()  # keep_graph=True, not instantiated
        self._annotated = 0  # captures inside a torch.cuda.graph that has annotations on
        self.capturing = 0
        self.captured = 0
        self.changes = 0  # of the map of nodes: captures, and kept graphs that were instantiated
        self.not_annotated = 0  # begun without a torch.cuda.graph that takes the option
        graph_class = torch.cuda.CUDAGraph
        self._replace(graph_class, "capture_begin", self._begin)
        self._replace(graph_class, "capture_end", self._end)
        self._replace(graph_class, "instantiate", self._instantiate)
        self._replace(graph_class, "replay", self._replay)
        if api.rekeys_itself and _takes_option(torch.cuda.graph):
            self._replace(torch.cuda.graph, "__init__", self._enable)
            self._replace(torch.cuda.graph, "__enter__", self._enter)

    def remove(self) -> None:
        """Puts the classes back."""
        for owner, name, before in reversed(self._undo):
            if before is None:
                delattr(owner, name)  # it was inherited
            else:
                setattr(owner, name, before)
        self._undo.clear()

    def _replace(self, owner: type, name: str, run: Callable[..., Any]) -> None:
        original = getattr(owner, name)

        @functools.wraps(original)
        def replaced(graph: Any, *args: Any, **kwargs: Any) -> Any:
            return run(original, graph, *args, **kwargs)

        self._undo.append((owner, name, owner.__dict__.get(name)))
        setattr(owner, name, replaced)

    def _enable(self, original: Any, context: Any, *args: Any, **kwargs: Any) -> None:
        given = inspect.signature(original).bind_partial(context, *args, **kwargs).arguments
        if _OPTION not in given:
            kwargs[_OPTION] = True
        original(context, *args, **kwargs)

    def _enter(self, original: Any, context: Any) -> Any:
        self._annotated += 1
        try:
            return original(context)
        finally:
            self._annotated -= 1

    def _begin(self, original: Any, graph: Any, *args: Any, **kwargs: Any) -> None:
        if not self._api.rekeys_itself:
            self._api.begin()
        elif not self._annotated:
            self.not_annotated += 1
        original(graph, *args, **kwargs)
        self.capturing += 1

    def _end(self, original: Any, graph: Any) -> None:
        captured_id = None if self._api.rekeys_itself else self._api.resolve()
        self.capturing = max(0, self.capturing - 1)
        original(graph)
        self.captured += 1
        self.changes += 1
        if captured_id is not None:
            self._captured_ids[graph] = captured_id
        self._kept.add(graph)
        self._settle(graph)

    def _instantiate(self, original: Any, graph: Any) -> None:
        original(graph)
        self._settle(graph)

    def _settle(self, graph: Any) -> None:
        """Once a graph is instantiated its nodes have the ids that profilers report."""
        if graph not in self._kept:
            return
        try:
            graph.raw_cuda_graph_exec()
        except RuntimeError:
            return
        self._kept.discard(graph)
        self.changes += 1
        captured_id = self._captured_ids.pop(graph, None)
        if captured_id is not None:
            self._api.rekey(graph, captured_id)

    def _replay(self, original: Any, graph: Any) -> None:
        original(graph)
        self._settle(graph)  # a kept graph may have been instantiated by this very replay
        self._on_replay()


def _takes_option(context: type) -> bool:
    """Whether its captures can be annotated: torch's class may have been replaced."""
    return _OPTION in inspect.signature(context).parameters
