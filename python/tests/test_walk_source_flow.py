"""What a method calls, reads and writes; expectations are read off the source by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest

from layerscope.capture.walk.source_flow import flow_of


class Sample:
    """Stands for a module; nothing here is ever run."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.proj: Any = make(width, bias=False)

    def forward(self, hidden: Any, mask: Any = None) -> Any:
        shape = hidden.shape[:-1]
        query = self.q_norm(self.q_proj(hidden).view(shape)).transpose(1, 2)
        if mask is not None:
            query = query + mask
        for layer in self.layers[: self.count]:
            hidden = layer(hidden, query)
        for index, expert in enumerate(self.experts):
            hidden += expert.gate(index)
        mlp = self.mlp
        with self.scope("mlp"):
            hidden, self.last = mlp(hidden), None
        return self.out(torch.cat([hidden, query], dim=-1))

    def __getattr__(self, name: str) -> Any: ...


def make(width: int, *, bias: bool) -> Any: ...


torch: Any = None


def _row(flow: dict[str, Any], call: str) -> dict[str, Any]:
    (row,) = [op for op in flow["operations"] if call in op["calls"]]
    return dict(row)


def test_calls_stand_in_order_of_evaluation() -> None:
    order = [entry["call"] for entry in flow_of(Sample.forward)["execution_order"]]
    assert order == [
        "self.q_proj",
        "self.q_proj().view",
        "self.q_norm",
        "self.q_norm().transpose",
        "self.layers[*]",
        "self.experts[*].gate",
        "self.scope",
        "self.mlp",
        "self.out",
    ]
    targets = [entry["target"] for entry in flow_of(Sample.forward)["execution_order"]]
    assert targets[:5] == ["q_proj", "q_proj", "q_norm", "q_norm", "layers"]


def test_reads_and_writes_of_a_statement() -> None:
    flow = flow_of(Sample.forward)
    assert _row(flow, "self.mlp")["reads"] == ["hidden"]
    assert _row(flow, "self.mlp")["writes"] == ["hidden", "self.last"]
    assert _row(flow, "self.layers[*]")["reads"] == ["hidden", "query"]
    assert _row(flow, "torch.cat")["calls"] == ["torch.cat", "self.out"]
    loop = [op for op in flow["operations"] if op["writes"] == ["layer"]]
    assert loop[0]["reads"] == ["self.count", "self.layers[*]"]


def test_lines_are_those_of_the_file() -> None:
    flow = flow_of(Sample.forward)
    first = Sample.forward.__code__.co_firstlineno
    assert flow["operations"][0]["line"] == first + 1
    assert _row(flow, "torch.cat")["line"] == first + 12


def test_init_shows_what_is_made_of_what() -> None:
    flow = flow_of(Sample.__init__)
    assert flow["evidence"] == "source_ast"
    assert flow["source"].endswith("Sample.__init__")
    (row,) = [op for op in flow["operations"] if op["calls"]]
    assert (row["calls"], row["reads"], row["writes"]) == (["make"], ["width"], ["self.proj"])


@pytest.mark.parametrize("function", [math.sqrt, eval("lambda x: x"), int.__init__])
def test_what_has_no_source_says_so(function: Any) -> None:
    flow = flow_of(function)
    assert flow["evidence"] == "unavailable"
    assert flow["reason"]
    assert flow["operations"] == [] and flow["execution_order"] == []
