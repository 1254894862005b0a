"""Every part of model_tree.json, of a model that is written here; expectations are read off it."""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

import torch
from torch import nn

from layerscope.capture.walk.call_order import CallRecorder
from layerscope.capture.walk.document import Run, document
from layerscope.capture.walk.snapshot import calls_of, snapshot

pytestmark = pytest.mark.torch


class Gate(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.scale = nn.Parameter(torch.ones(width, dtype=torch.float64))
        table = torch.arange(12).reshape(3, 4)
        self.register_buffer("kept", table[1:, ::2])
        self.register_buffer("seen", torch.zeros(width), persistent=False)
        self.register_buffer("none", None)

    def forward(self, hidden: Any, mask: Any = None) -> Any:
        moved = hidden * self.scale
        self.last = moved + self.kept
        return moved


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gate = Gate(2)
        self.act = nn.ReLU()

    def forward(self, hidden: Any) -> Any:
        return self.act(self.gate(hidden, mask=None))


_HERE = f"{__name__}.Gate"
_RUN = Run(
    model="org/model",
    source="loaded_vllm_worker",
    run_id="the run",
    engine={"name": "vllm", "version": "0.32.0"},
    config={"model_type": "x", "rope": float("inf")},
    world={"tp": 2, "pp": 1, "dp": 1, "ep": 1},
    dummy_weights=False,
    profile_dir="profile",
)


def _line(text: str) -> int:
    """The number of the first line of this file that is `text`."""
    lines = [line.strip() for line in Path(__file__).read_text().splitlines()]
    return lines.index(text) + 1


def _operation(text: str, calls: list[str], reads: list[str], writes: list[str]) -> dict[str, Any]:
    return {"calls": calls, "reads": reads, "writes": writes, "line": _line(text)}


def _tensor(
    shape: list[int], dtype: str, stride: list[int], storage_offset: int = 0
) -> dict[str, Any]:
    place = {"device": "cpu", "stride": stride, "storage_offset": storage_offset}
    return {"shape": shape, "dtype": f"torch.{dtype}", **place}


def _gate() -> dict[str, Any]:
    """The node of the module at `gate`."""
    (gate, _) = snapshot(Model())["tree"]["children"]
    return dict(gate)


def test_a_node_says_what_a_module_is() -> None:
    node = _gate()
    assert sorted(node) == [
        *("buffers", "children", "class", "config", "extra_repr", "forward", "implementations"),
        *("init", "module", "name", "path", "weights"),
    ]
    assert (node["name"], node["path"]) == ("gate", "gate")
    assert (node["class"], node["module"]) == ("Gate", _HERE)
    assert node["config"] == {"training": True, "width": 2}
    assert node["children"] == [] and node["implementations"] == {} and node["extra_repr"] == ""


def test_weights_and_buffers_stand_apart_with_their_places() -> None:
    """`kept` is rows 1 and 2 and columns 0 and 2 of 3 rows of 4: it begins at the fifth number."""
    node = _gate()
    assert node["weights"] == {"scale": _tensor([2], "float64", [1])}
    assert node["buffers"] == {
        "kept": _tensor([2, 2], "int64", [4, 2], 4),
        "seen": _tensor([2], "float32", [1]),
    }


def test_the_flow_of_a_constructor_is_its_own() -> None:
    flow = _gate()["init"]
    assert (flow["evidence"], flow["source"]) == ("source_ast", f"{_HERE}.__init__")
    # Lines of `super` stand in every class here, and are left out.
    assert flow["operations"][0]["calls"] == ["super", "super().__init__"]
    assert flow["operations"][1:] == [
        _operation("self.width = width", [], ["width"], ["self.width"]),
        _operation(
            "self.scale = nn.Parameter(torch.ones(width, dtype=torch.float64))",
            ["torch.ones", "nn.Parameter"],
            ["width", "torch.float64"],
            ["self.scale"],
        ),
        _operation(
            "table = torch.arange(12).reshape(3, 4)",
            ["torch.arange", "torch.arange().reshape"],
            [],
            ["table"],
        ),
        _operation(
            'self.register_buffer("kept", table[1:, ::2])',
            ["self.register_buffer"],
            ["table[*]"],
            [],
        ),
        _operation(
            'self.register_buffer("seen", torch.zeros(width), persistent=False)',
            ["torch.zeros", "self.register_buffer"],
            ["width"],
            [],
        ),
        _operation('self.register_buffer("none", None)', ["self.register_buffer"], [], []),
    ]
    assert [entry["target"] for entry in flow["execution_order"]] == ["register_buffer"] * 3


def test_the_flow_of_a_forward_is_its_own() -> None:
    flow = _gate()["forward"]
    assert (flow["evidence"], flow["source"]) == ("source_ast", f"{_HERE}.forward")
    assert flow["operations"] == [
        _operation("moved = hidden * self.scale", [], ["hidden", "self.scale"], ["moved"]),
        _operation("self.last = moved + self.kept", [], ["moved", "self.kept"], ["self.last"]),
        _operation("return moved", [], ["moved"], []),
    ]
    assert flow["execution_order"] == []
    order = snapshot(Model())["tree"]["forward"]["execution_order"]
    line = _line("return self.act(self.gate(hidden, mask=None))")
    both = {"reads": ["hidden"], "writes": [], "line": line}
    assert order == [
        {"target": "gate", "call": "self.gate", **both},
        {"target": "act", "call": "self.act", **both},
    ]


def test_a_document_says_of_which_process_and_machine_it_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch, "__version__", "9.8.7+mine")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "get_device_name", lambda: "NVIDIA H200")
    made = document(_RUN, snapshot(Model()))
    tree, limitations = made.pop("tree"), made.pop("limitations")
    assert made == {
        "schema_version": 2,
        "model": "org/model",
        "source": "loaded_vllm_worker",
        "run_id": "the run",
        "worker_pid": os.getpid(),
        "config": {"model_type": "x", "rope": "Infinity"},
        "invocations": [],
        "profile_dir": "profile",
        "capture_mode": "eager",
        "rank": 0,
        "world": {"tp": 2, "pp": 1, "dp": 1, "ep": 1},
        "engine": {"name": "vllm", "version": "0.32.0"},
        "torch": "9.8.7+mine",
        "gpu": "NVIDIA H200",
    }
    assert (tree["name"], tree["path"], tree["class"]) == ("model", "", "Model")
    assert [child["path"] for child in tree["children"]] == ["gate", "act"]
    assert len(limitations) == 2 and "--with-forward" in limitations[1]


def test_a_forward_stands_with_its_calls_and_their_tensors() -> None:
    model = Model()
    seen = snapshot(model)
    with CallRecorder(model) as recorder:
        model(torch.ones(2, 2))
    made = document(_RUN, {**seen, "calls": calls_of(recorder)})
    assert made["call_order"] == [
        {"path": "", "class": "Model"},
        {"path": "gate", "class": "Gate"},
        {"path": "act", "class": "ReLU"},
    ]
    # Ones of 32 bits times weights of 64.
    given, back = _tensor([2, 2], "float32", [2, 1]), _tensor([2, 2], "float64", [2, 1])
    calls = [
        ("", None, given, {}, back),
        ("gate", 0, given, {"mask": {"type": "NoneType"}}, back),
        ("act", 0, back, {}, back),
    ]
    assert made["invocations"] == [
        {"id": n, "module": path, "parent": parent, "inputs": [x], "kwargs": words, "outputs": y}
        for n, (path, parent, x, words, y) in enumerate(calls)
    ]
    assert "One forward was run" in made["limitations"][1] and len(made["limitations"]) == 2
