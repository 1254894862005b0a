"""CUDA graphs and PyTorch's graph annotations without a GPU, with the documented semantics.

`FakeGpu` captures launches as nodes of a graph, one after another. On it stand two faces:

* `use_public`: `torch.cuda.graph_annotations` as the documentation of 2.14 and 2.15 describes it:
  scopes record only inside a capture with enable_annotations, overlapping scopes merge key by key
  and the inner one wins, keys become those of the executable graph when it is instantiated, and
  entries go with their graph.
* `use_private`: the installed `torch.cuda._graph_annotations` of 2.13 itself, on a fake of the
  CUDA runtime below it.
"""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Iterator, Mapping
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest


class FakeNode:
    """A captured launch; `int(node)` is its handle."""

    def __init__(self, graph_id: int, number: int) -> None:
        self.tools_id = graph_id << 32 | number
        self.dependents: list[FakeNode] = []

    def __int__(self) -> int:
        return self.tools_id + 7  # a handle is another number than the id


class FakeGpu:
    """One stream, at most one capture, and what replays reported: (node id, kernel)."""

    def __init__(self) -> None:
        self._ids = itertools.count(11)
        self.capture: FakeCudaGraph | None = None
        self.replayed: list[tuple[int, str]] = []
        self.eager: list[str] = []

    def new_id(self) -> int:
        return next(self._ids)

    def launch(self, kernel: str) -> None:
        """Runs a kernel, or adds it to the graph that is being captured."""
        graph = self.capture
        if graph is None:
            self.eager.append(kernel)
            return
        node = FakeNode(graph.capture_id, len(graph.nodes))
        if graph.nodes:
            graph.nodes[-1].dependents.append(node)
        graph.nodes.append(node)
        graph.kernels.append(kernel)


GPU = FakeGpu()


class FakeCudaGraph:
    """torch.cuda.CUDAGraph."""

    def __init__(self, keep_graph: bool = False) -> None:
        self._keep_graph = keep_graph
        self.capture_id = 0
        self.exec_id: int | None = None
        self.nodes: list[FakeNode] = []
        self.kernels: list[str] = []

    def capture_begin(
        self,
        pool: Any = None,
        capture_error_mode: str = "global",
        check_input_liveness: bool = False,
    ) -> None:
        assert GPU.capture is None, "only one capture at a time"
        self.capture_id = GPU.new_id()
        GPU.capture = self

    def capture_end(self) -> None:
        GPU.capture = None
        if not self._keep_graph:
            self._instantiate()

    def instantiate(self) -> None:
        self._instantiate()

    def _instantiate(self) -> None:
        self.exec_id = GPU.new_id()

    def replay(self) -> None:
        if self.exec_id is None:
            self._instantiate()  # the C++ side does, past any Python method
        assert self.exec_id is not None
        for number, kernel in enumerate(self.kernels):
            GPU.replayed.append((self.exec_id << 32 | number, kernel))

    def raw_cuda_graph_exec(self) -> int:
        if self.exec_id is None:
            raise RuntimeError("instantiate must have been called")
        return self.exec_id

    def reset(self) -> None:
        self.exec_id = None


class _Annotations(ModuleType):
    """torch.cuda.graph_annotations."""

    def __init__(self) -> None:
        super().__init__("torch.cuda.graph_annotations")
        self.enabled = False
        self.registry: dict[int, dict[str, Any]] = {}

    def is_available(self) -> bool:
        return True

    @contextlib.contextmanager
    def mark_kernels(self, annotation: Any, *, backward: bool = True) -> Iterator[None]:
        if not self.enabled or GPU.capture is None:
            yield
            return
        named = {"name": annotation} if isinstance(annotation, str) else annotation
        begin = len(GPU.capture.nodes)
        yield  # an exception leaves nothing, as in torch
        for node in GPU.capture.nodes[begin:] if GPU.capture else []:
            entry = self.registry.setdefault(node.tools_id, {})
            for key, value in named.items():
                entry.setdefault(key, value)  # inner scopes end first, and win

    def get_kernel_annotations(self) -> Mapping[int, list[Any]]:
        return {node: [entry] for node, entry in self.registry.items()}

    def rekey(self, graph: FakeCudaGraph) -> None:
        assert graph.exec_id is not None
        for node in graph.nodes:
            entry = self.registry.pop(node.tools_id, None)
            if entry is not None:
                self.registry[graph.exec_id << 32 | node.tools_id & 0xFFFFFFFF] = entry

    def drop(self, graph: FakeCudaGraph) -> None:
        for key in [k for k in self.registry if k >> 32 == graph.exec_id]:
            del self.registry[key]


def use_public(monkeypatch: pytest.MonkeyPatch) -> _Annotations:
    """Graphs and annotations as in torch 2.15."""
    import torch

    annotations = _Annotations()

    class CUDAGraph(FakeCudaGraph):
        def _instantiate(self) -> None:
            super()._instantiate()
            annotations.rekey(self)

        def reset(self) -> None:
            annotations.drop(self)
            super().reset()

    class graph:  # noqa: N801 - torch's name
        def __init__(
            self,
            cuda_graph: CUDAGraph,
            pool: Any = None,
            stream: Any = None,
            capture_error_mode: str = "global",
            enable_annotations: bool = False,
            annotation_config: dict[str, Any] | None = None,
            check_input_liveness: bool = False,
        ) -> None:
            self.cuda_graph = cuda_graph
            self._enable = enable_annotations

        def __enter__(self) -> None:
            annotations.enabled = self._enable
            self.cuda_graph.capture_begin()

        def __exit__(self, *exc: object) -> None:
            self.cuda_graph.capture_end()
            annotations.enabled = False

    monkeypatch.setitem(sys.modules, annotations.__name__, annotations)
    monkeypatch.setattr(torch.cuda, "graph_annotations", annotations, raising=False)
    monkeypatch.setattr(torch.cuda, "CUDAGraph", CUDAGraph)
    monkeypatch.setattr(torch.cuda, "graph", graph)
    _use_gpu(monkeypatch)
    return annotations


class _Runtime:
    """What torch 2.13's module calls of cuda.bindings.runtime; answers begin with an error."""

    cudaStreamCaptureStatus = SimpleNamespace(  # noqa: N815
        cudaStreamCaptureStatusActive="active", cudaStreamCaptureStatusNone="none"
    )
    cudaGraphNodeType = SimpleNamespace(  # noqa: N815
        cudaGraphNodeTypeKernel="kernel", cudaGraphNodeTypeMemcpy="memcpy"
    )

    def cudaStream_t(self, init_value: int) -> int:  # noqa: N802
        return init_value

    def cudaGraphExec_t(self, init_value: int) -> int:  # noqa: N802
        return init_value

    def cudaStreamGetCaptureInfo(self, stream: int) -> tuple[Any, ...]:  # noqa: N802
        graph = GPU.capture
        if graph is None:
            return 0, "none", 0, None, [], [], 0
        frontier = graph.nodes[-1:]
        return 0, "active", graph.capture_id, graph, frontier, [], len(frontier)

    def cudaGraphGetRootNodes(  # noqa: N802
        self,
        graph: FakeCudaGraph,
        pNumRootNodes: int = 0,  # noqa: N803
    ) -> tuple[Any, ...]:
        roots = graph.nodes[:1]
        return 0, roots if pNumRootNodes else [], len(roots)

    def cudaGraphNodeGetDependentNodes(  # noqa: N802
        self,
        node: FakeNode,
        pNumDependentNodes: int = 0,  # noqa: N803
    ) -> tuple[Any, ...]:
        found = node.dependents
        return 0, found if pNumDependentNodes else [], [], len(found)

    def cudaGraphNodeGetType(self, node: FakeNode) -> tuple[Any, ...]:  # noqa: N802
        return 0, "kernel"

    def cudaGraphNodeGetToolsId(self, node: FakeNode) -> tuple[Any, ...]:  # noqa: N802
        return 0, node.tools_id

    def cudaGraphExecGetId(self, handle: int) -> tuple[Any, ...]:  # noqa: N802
        return 0, handle


def _without_error(answer: tuple[Any, ...]) -> Any:
    _, *rest = answer
    return rest[0] if len(rest) == 1 else tuple(rest)


def use_private(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """Torch 2.13's own module and `torch.cuda.graph`, on the fake runtime."""
    import torch

    annotations: ModuleType = pytest.importorskip("torch.cuda._graph_annotations")
    monkeypatch.setattr(annotations, "_cuda_runtime", _Runtime())
    monkeypatch.setattr(annotations, "_check_cuda_bindings", _without_error)
    monkeypatch.setattr(annotations, "_HAS_CUDA_BINDINGS", True)
    monkeypatch.setattr(annotations, "_tools_id_available", True)
    monkeypatch.setattr(annotations, "_ANNOTATABLE_TYPES", None)
    monkeypatch.setattr(annotations, "_annotations_enabled", False)
    annotations.clear_kernel_annotations()

    class CUDAGraph(FakeCudaGraph):
        pass

    monkeypatch.setattr(torch.cuda, "CUDAGraph", CUDAGraph)
    _use_gpu(monkeypatch)
    return annotations


def _use_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """What torch.cuda.graph of 2.13 does around a capture, without a device."""
    import torch

    stream = SimpleNamespace(cuda_stream=1)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device=None: stream)
    monkeypatch.setattr(torch.cuda, "Stream", lambda *args, **kwargs: stream)
    monkeypatch.setattr(torch.cuda, "stream", lambda stream: contextlib.nullcontext())
    monkeypatch.setattr(torch.cuda, "synchronize", lambda device=None: None)
    monkeypatch.setattr(torch.cuda, "empty_cache", lambda: None)
    monkeypatch.setattr(torch._C, "_host_emptyCache", lambda: None, raising=False)
    monkeypatch.setattr(GPU, "capture", None)
    monkeypatch.setattr(GPU, "replayed", [])
    monkeypatch.setattr(GPU, "eager", [])
