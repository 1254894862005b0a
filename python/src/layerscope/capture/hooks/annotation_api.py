"""PyTorch's graph annotations, which moved and changed between versions, behind one face.

Public from 2.14 (`torch.cuda.graph_annotations`), private in 2.12 and 2.13
(`torch.cuda._graph_annotations`). Sources: the documentation of 2.12 to 2.15 and the
modules of 2.12 and 2.13. They need a CUDA driver and the package cuda-bindings of 13.1 or later.
"""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Mapping
from contextlib import AbstractContextManager
from types import ModuleType
from typing import Any

from layerscope.capture.errors import CaptureError

PUBLIC = "torch.cuda.graph_annotations"
PRIVATE = "torch.cuda._graph_annotations"
_LAST_CAPTURE = "_last_capture_graph_id"  # of 2.12 and 2.13: whose nodes the next rekeying moves


def _module(name: str) -> ModuleType | None:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


class AnnotationApi:
    """The functions that hooks need, of whichever version is installed.

    Raises CaptureError where torch has none of them.
    """

    def __init__(self) -> None:
        public = _module(PUBLIC)
        found = public or _module(PRIVATE)
        if found is None or (public is None and not hasattr(found, _LAST_CAPTURE)):
            raise CaptureError(
                "graph annotations need torch 2.12 or later, which is not installed",
                "choose --backend nvtx and record with Nsight Systems",
            )
        self._module = found
        # The private one leaves to the caller what later versions do when a graph is instantiated.
        self.rekeys_itself = public is not None
        takes_backward = "backward" in inspect.signature(found.mark_kernels).parameters
        # Inference has no backward pass; hooking every autograd node would only cost time.
        self._options: dict[str, Any] = {"backward": False} if takes_backward else {}

    def require(self) -> None:
        """Raises CaptureError where the driver or cuda-bindings cannot name graph nodes."""
        import torch

        available = getattr(self._module, "is_available", None)
        if available is None:
            unavailable = self._module._is_tools_id_unavailable
            usable = torch.cuda.is_available() and not unavailable()
        else:
            usable = available()
        if not usable:
            raise CaptureError(
                "graph annotations need a CUDA GPU, a driver of CUDA 13.1 or later and the package "
                "cuda-bindings of 13.1 or later",
                "pip install 'cuda-bindings>=13.1' and update the driver (or cuda-compat), or "
                "choose --backend nvtx and record with Nsight Systems",
            )

    def scope(self, path: str) -> AbstractContextManager[None]:
        """Names the kernels, copies and sets that are captured inside; innermost scope wins."""
        scope: AbstractContextManager[None] = self._module.mark_kernels(
            {"name": path}, **self._options
        )
        return scope

    def snapshot(self) -> dict[int, Any]:
        """What is known now, by graph node id; fits a trace once graphs are instantiated."""
        live: Mapping[int, Any] = self._module.get_kernel_annotations()
        return dict(live)

    # The steps that the caller takes where `rekeys_itself` is False, in this order.

    def begin(self) -> None:
        """Before a capture: scopes record from here on."""
        self._module.enable_annotations()

    def resolve(self) -> int | None:
        """Before a capture ends: merges scopes; returns the id of the captured graph, if any."""
        setattr(self._module, _LAST_CAPTURE, None)
        self._module.resolve_pending_annotations()
        number: int | None = getattr(self._module, _LAST_CAPTURE)
        return number

    def rekey(self, cuda_graph: Any, captured_id: int) -> None:
        """After a graph is instantiated: node ids become those that profilers report."""
        setattr(self._module, _LAST_CAPTURE, captured_id)
        self._module.remap_to_exec_graph(cuda_graph)
