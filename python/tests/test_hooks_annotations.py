"""Graph annotations: which module a replayed kernel belongs to. Against fakes, not on a GPU."""

from __future__ import annotations

import contextlib
import importlib.util
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from conftest import Program

if importlib.util.find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

import fake_graphs
import torch
from fake_graphs import GPU
from torch import nn

from layerscope.capture.errors import CaptureError
from layerscope.capture.hooks.annotation_api import AnnotationApi
from layerscope.capture.hooks.annotation_backend import AnnotationBackend
from layerscope.capture.hooks.annotation_file import annotations_document
from layerscope.capture.hooks.module_ranges import ModuleRanges

pytestmark = pytest.mark.torch

# torch before 2.14 has the private module, later versions another one: that one is faked alone.
_FACES = ["2.15"] + (
    ["2.13"] if hasattr(torch.cuda, "graph") and torch.__version__.startswith("2.13") else []
)


class Kernel(nn.Module):
    """A module that launches kernels of this name."""

    def __init__(self, name: str, count: int = 1) -> None:
        super().__init__()
        self.names = [name] * count
        self.fail = False

    def forward(self, x: Any) -> Any:
        for name in self.names:
            GPU.launch(name)
        if self.fail:
            raise ValueError("no")
        return x


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attn = Kernel("attn", 2)
        self.mlp = Kernel("gemm")
        self.caught: tuple[type[Exception], ...] = ()  # what the mlp may raise

    def forward(self, x: Any) -> Any:
        x = self.attn(x)
        GPU.launch("add")  # of the block itself
        with contextlib.suppress(*self.caught):
            x = self.mlp(x)
        return x


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Block(), Block()])

    def forward(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        GPU.launch("head")  # of the root, which has no path: it is called by its class
        return x


# By hand: the modules of the kernels of one forward, in order.
_OWNERS = [
    *["layers.0.attn", "layers.0.attn", "layers.0", "layers.0.mlp"],
    *["layers.1.attn", "layers.1.attn", "layers.1", "layers.1.mlp"],
    "Model",
]


@pytest.fixture(params=_FACES)
def face(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The annotations of one version of torch."""
    use = fake_graphs.use_public if request.param == "2.15" else fake_graphs.use_private
    return use(monkeypatch)


@pytest.fixture
def hooked(
    face: ModuleType, tmp_path: Path, not_run_here: Callable[[str], None]
) -> Iterator[tuple[Model, AnnotationBackend, Path]]:
    """A model with annotation ranges, its backend and the file."""
    not_run_here("hooks: graph annotations: against a fake of CUDA graphs, not run on a GPU")
    file = tmp_path / "graph_annotations_rank0.json"
    backend = AnnotationBackend(file)
    model = Model()
    ranges = ModuleRanges(model, backend)
    yield model, backend, file
    ranges.remove()
    backend.discard()


def _captured(model: Model, **options: Any) -> Any:
    graph = torch.cuda.CUDAGraph(**options)
    with torch.cuda.graph(graph):
        model(1)
    return graph


def _owners_of_replay(file: Path) -> list[Any]:
    document = json.loads(file.read_text())
    replayed = [document.get(str(node)) for node, _ in GPU.replayed]
    return [None if entry is None else entry[-1].get("name") for entry in replayed]


def test_every_replayed_kernel_has_its_innermost_module(
    hooked: tuple[Model, AnnotationBackend, Path],
) -> None:
    model, _, file = hooked
    graph = _captured(model)
    assert not file.exists()  # engines capture many graphs; writing waits for a replay
    graph.replay()
    assert _owners_of_replay(file) == _OWNERS


def test_nothing_is_recorded_outside_a_capture(
    hooked: tuple[Model, AnnotationBackend, Path],
) -> None:
    model, backend, file = hooked
    model(1)
    backend.finish()
    assert len(GPU.eager) == len(_OWNERS)
    assert not file.exists()


def test_several_graphs_keep_their_own_nodes(
    hooked: tuple[Model, AnnotationBackend, Path],
) -> None:
    model, _, file = hooked
    graphs = [_captured(model) for _ in range(3)]
    for graph in graphs:
        graph.replay()
    assert _owners_of_replay(file) == _OWNERS * 3
    assert len(json.loads(file.read_text())) == 3 * 9


def test_a_graph_captured_after_the_first_replay_is_written_at_the_end(
    hooked: tuple[Model, AnnotationBackend, Path],
) -> None:
    model, backend, file = hooked
    _captured(model).replay()
    late = _captured(model)
    late.replay()
    backend.finish()
    assert _owners_of_replay(file) == _OWNERS * 2


def test_a_kept_graph_is_named_by_its_executable(
    hooked: tuple[Model, AnnotationBackend, Path],
) -> None:
    model, backend, file = hooked
    explicit, implicit = _captured(model, keep_graph=True), _captured(model, keep_graph=True)
    explicit.instantiate()
    explicit.replay()
    implicit.replay()  # instantiated by the replay
    backend.finish()
    assert _owners_of_replay(file) == _OWNERS * 2


def test_a_capture_that_fails_names_nothing_and_the_next_one_does(
    hooked: tuple[Model, AnnotationBackend, Path],
) -> None:
    model, backend, file = hooked
    broken = model.get_submodule("layers.0.mlp")
    broken.fail = True
    with pytest.raises(ValueError, match="no"):
        _captured(model)
    broken.fail = False
    assert backend.captures.capturing == 0
    _captured(model).replay()
    assert _owners_of_replay(file) == _OWNERS


def test_kernels_of_a_failure_that_a_caller_catches_are_the_callers(
    hooked: tuple[Model, AnnotationBackend, Path],
) -> None:
    """The mlp of the first layer launches its kernel and fails, and its block goes on without."""
    model, _, file = hooked
    model.get_submodule("layers.0.mlp").fail = True
    model.get_submodule("layers.0").caught = (ValueError,)
    _captured(model).replay()
    assert _owners_of_replay(file) == [*_OWNERS[:3], "layers.0", *_OWNERS[4:]]


def test_classes_of_torch_are_as_before_when_it_ends(face: ModuleType, tmp_path: Path) -> None:
    graph, context = torch.cuda.CUDAGraph, torch.cuda.graph
    before = [dict(vars(graph)), dict(vars(context))]
    backend = AnnotationBackend(tmp_path / "file.json")
    assert [dict(vars(graph)), dict(vars(context))] != before
    backend.finish()
    assert [dict(vars(graph)), dict(vars(context))] == before


def test_an_engine_that_switches_annotations_off_is_left_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fake_graphs.use_public(monkeypatch)
    backend = AnnotationBackend(tmp_path / "file.json")
    model = Model()
    ranges = ModuleRanges(model, backend)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, None, None, "global", False):  # positional: the fifth argument
        model(1)
    ranges.remove()
    backend.finish()
    assert not (tmp_path / "file.json").exists()


def test_captures_without_torch_cuda_graph_are_counted(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    fake_graphs.use_public(monkeypatch)
    backend = AnnotationBackend(tmp_path / "file.json")
    graph = torch.cuda.CUDAGraph()
    graph.capture_begin()
    graph.capture_end()
    _captured(Model())
    assert (backend.captures.not_annotated, backend.captures.captured) == (1, 2)
    backend.finish()
    assert "1 of 2 graph captures could not be annotated" in caplog.text


def test_a_graph_class_without_the_option_is_not_given_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An engine's own class in the place of torch's, as older versions of torch have it."""
    fake_graphs.use_public(monkeypatch)
    torchs: Any = torch.cuda.graph

    class Own(torchs):
        def __init__(self, cuda_graph: Any, pool: Any = None, stream: Any = None) -> None:
            super().__init__(cuda_graph, pool, stream)

    monkeypatch.setattr(torch.cuda, "graph", Own)
    backend = AnnotationBackend(tmp_path / "file.json")
    with ModuleRanges(model := Model(), backend):
        _captured(model).replay()
    assert (backend.captures.not_annotated, backend.captures.captured) == (1, 1)
    backend.finish()
    assert not (tmp_path / "file.json").exists()


def test_annotations_go_with_their_graph_but_stay_in_the_file(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Nine nodes a graph. The first is destroyed before the second is captured; the third is
    replayed too soon behind it to be written then, and both are destroyed before the end."""
    annotations = fake_graphs.use_public(monkeypatch)
    file = tmp_path / "file.json"
    told: list[int] = []
    backend = AnnotationBackend(file, told.append)
    model = Model()
    with ModuleRanges(model, backend):
        first = _captured(model)
        first.replay()
        first.reset()
        later = [_captured(model), _captured(model)]
        for graph in later:
            graph.replay()
        for graph in later:
            graph.reset()
    backend.finish()
    assert not annotations.registry
    assert len(json.loads(file.read_text())) == 27
    assert told == [9, 27]


def test_a_file_that_cannot_be_written_does_not_stop_the_engine(
    face: ModuleType, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").touch()
    backend = AnnotationBackend(tmp_path / "file" / "below.json")
    model = Model()
    with ModuleRanges(model, backend):
        _captured(model).replay()
    backend.finish()
    assert "cannot write" in caplog.text


def test_what_else_is_annotated_is_kept_as_plain_json() -> None:
    document = annotations_document(
        {7: [{"name": "a", "size": 3, "group": ("x",)}], 5: "phase", 6: {"name": "b"}}
    )
    assert document == {
        "5": [{"name": "phase"}],
        "6": [{"name": "b"}],
        "7": [{"name": "a", "size": 3, "group": "('x',)"}],
    }


def test_without_a_gpu_the_error_says_what_is_needed() -> None:
    if torch.cuda.is_available():
        pytest.skip("there is a GPU")
    with pytest.raises(CaptureError) as caught:
        AnnotationApi().require()
    assert "13.1" in caught.value.message
    assert "cuda-bindings" in caught.value.hint


def test_layerscope_places_replayed_kernels_by_the_file(
    hooked: tuple[Model, AnnotationBackend, Path], layerscope_bin: Program, tmp_path: Path
) -> None:
    model, _, _ = hooked
    _captured(model).replay()
    events: list[dict[str, Any]] = [
        {"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", "pid": 1, "tid": 1}
        | {"ts": 10, "dur": 5, "args": {"correlation": 3}}
    ]
    for number, (node, kernel) in enumerate(GPU.replayed):
        place = {"device": 0, "stream": 7, "correlation": 3, "graph node id": node}
        event = {"ph": "X", "cat": "kernel", "name": kernel, "pid": 0, "tid": 7}
        events.append({**event, "ts": 100 + 10 * number, "dur": number + 1, "args": place})
    trace = tmp_path / "trace.json"  # the annotations lie beside it
    trace.write_text(json.dumps({"traceEvents": events}))
    nodes = layerscope_bin.json("modules", trace)["data"]["nodes"]
    own = {node["path"]: node for node in nodes if node.get("path")}
    # Kernels last 1, 2, … us in launch order: attn 1+2 and 5+6, the mlps 4 and 8.
    assert own["layers.0.attn"]["gpu_incl_ns"] == 3000
    assert own["layers.1.attn"]["gpu_incl_ns"] == 11000
    assert own["layers.0.mlp"]["gpu_incl_ns"] == 4000
    assert own["layers.1"]["gpu_incl_ns"] == 5000 + 6000 + 7000 + 8000
