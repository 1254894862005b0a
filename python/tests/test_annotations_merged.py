"""Graph annotations of the hooks inside those of an engine. Against fakes, not on a GPU.

Rules of torch's documentation: overlapping scopes merge key by key, and the inner one wins.
"""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
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

from layerscope.capture.hooks.annotation_backend import AnnotationBackend
from layerscope.capture.hooks.module_ranges import ModuleRanges

pytestmark = pytest.mark.torch


class Mlp(nn.Module):
    def forward(self, x: Any) -> Any:
        GPU.launch("gemm")
        return x


class Model(nn.Module):
    def __init__(self, annotations: ModuleType) -> None:
        super().__init__()
        self.a = Mlp()
        self.b = Mlp()
        self.annotations = annotations

    def forward(self, x: Any) -> Any:
        x = self.a(x)
        with self.annotations.mark_kernels({"part": "second", "phase": "mixed"}):
            return self.b(x)


# torch before 2.14 has the private module; the public one is faked.
_FACES: list[Callable[[pytest.MonkeyPatch], ModuleType]] = [fake_graphs.use_public]
if torch.__version__.startswith("2.13"):
    _FACES.append(fake_graphs.use_private)


@pytest.fixture(params=_FACES, ids=lambda use: use.__name__)
def file(
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    not_run_here: Callable[[str], None],
) -> Path:
    """What is written of a graph that an engine captures inside a scope of its own."""
    not_run_here("hooks: graph annotations: against a fake of CUDA graphs, not run on a GPU")
    annotations = request.param(monkeypatch)
    file = tmp_path / "graph_annotations_rank0.json"
    backend = AnnotationBackend(file)
    graph = torch.cuda.CUDAGraph()
    around = {"phase": "decode", "name": "the engine's"}
    with (
        ModuleRanges(model := Model(annotations), backend),
        torch.cuda.graph(graph),
        annotations.mark_kernels(around),
    ):
        model(1)
        GPU.launch("sample")
    graph.replay()
    backend.finish()
    return file


def test_keys_of_an_engine_stay_beside_the_module(file: Path) -> None:
    document = json.loads(file.read_text())
    found = [(kernel, document.get(str(node))) for node, kernel in GPU.replayed]
    assert found == [
        ("gemm", [{"name": "a", "phase": "decode"}]),
        ("gemm", [{"name": "b", "part": "second", "phase": "mixed"}]),
        ("sample", [{"name": "the engine's", "phase": "decode"}]),
    ]


def test_layerscope_places_them_by_the_name_alone(file: Path, layerscope_bin: Program) -> None:
    """Kernels of 1, 2 and 3 microseconds."""
    place = {"pid": 1, "tid": 1, "ts": 1, "dur": 5, "args": {"correlation": 3}}
    events = [{"ph": "X", "cat": "cuda_runtime", "name": "cudaGraphLaunch", **place}]
    for number, (node, kernel) in enumerate(GPU.replayed):
        args = {"device": 0, "stream": 7, "correlation": 3, "graph node id": node}
        place = {"pid": 0, "tid": 7, "ts": 100 + 10 * number, "dur": number + 1, "args": args}
        events.append({"ph": "X", "cat": "kernel", "name": kernel, **place})
    trace = file.parent / "trace.json"
    trace.write_text(json.dumps({"traceEvents": events}))
    nodes = layerscope_bin.json("modules", trace)["data"]["nodes"]
    times = {node["path"]: node["gpu_incl_ns"] for node in nodes if node.get("path")}
    assert (times["a"], times["b"]) == (1000, 2000)
