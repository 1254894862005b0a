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


def test_cases_have_lines_of_their_own() -> None:
    """Lines are counted from the `def`."""
    flow = flow_of(Matched.forward)
    first = Matched.forward.__code__.co_firstlineno
    read = [(op["reads"], op["writes"], op["line"] - first) for op in flow["operations"]]
    assert read == [
        (["h.kind"], [], 1),
        (["Kind.wide", "h.size"], [], 2),
        (["h"], [], 3),
        (["h"], [], 5),
        ([], ["rest"], 6),
        (["rest"], [], 7),
    ]


class Matched:
    def forward(self, h: Any) -> Any:
        match h.kind:
            case Kind.wide if h.size:
                return self.up(h)
            case 3:
                return self.down(h)
            case [_, *rest]:
                return self.norm(rest)

    def __getattr__(self, name: str) -> Any: ...


Kind: Any = None


@pytest.mark.parametrize("function", [math.sqrt, eval("lambda x: x"), int.__init__])
def test_what_has_no_source_says_so(function: Any) -> None:
    flow = flow_of(function)
    assert flow["evidence"] == "unavailable"
    assert flow["reason"]
    assert flow["operations"] == [] and flow["execution_order"] == []


class Rebound:
    """Locals that cease to stand for a part of self, and those that come to by other ways."""

    def unpacked(self, h: Any) -> Any:
        mlp = self.mlp
        mlp, x = other(h)
        return mlp(h), x

    def of_a_context(self, h: Any) -> Any:
        mlp = self.mlp
        with self.scope() as mlp:  # noqa: F811
            return mlp(h)

    def in_place(self, h: Any) -> Any:
        scale = self.scale
        scale += self.bias
        h[self.index()] *= scale
        return scale(h)

    def handled(self, h: Any) -> Any:
        error = self.error
        try:
            h = error(h)
        except ValueError as error:
            h = error(h)  # type: ignore[operator]
        return h

    def named(self, h: Any) -> Any:
        z: Any = self.proj
        if n := self.norm:
            h = n(h)
        return z((m := self.last)(h)) + m(h)

    def pairs(self, h: Any) -> Any:
        first = last = self.norm
        first, last = self.mlp, first
        return first(last(h))

    def comprehended(self, h: Any) -> Any:
        layer = self.norm
        outs = [layer(h) for layer in self.layers if layer.is_on]
        named = {key: expert(h) for key, expert in enumerate(self.experts)}
        kept = filter(lambda layer: layer(h), outs)
        return layer(h), named, kept

    def replaced(self, h: Any) -> Any:
        mlp = self.mlp

        def mlp(x: Any) -> Any: ...  # type: ignore[no-redef] # noqa: F811

        return mlp(h)

    def __getattr__(self, name: str) -> Any: ...


other: Any = None


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (Rebound.unpacked, ["other", "mlp"]),
        (Rebound.of_a_context, ["self.scope", "mlp"]),
        (Rebound.in_place, ["self.index", "scale"]),
        (Rebound.handled, ["self.error", "error"]),
        (Rebound.named, ["self.norm", "self.last", "self.proj", "self.last"]),
        (Rebound.pairs, ["self.norm", "self.mlp"]),
        (
            Rebound.comprehended,
            ["self.layers[*]", "enumerate", "self.experts[*]", "layer", "filter", "self.norm"],
        ),
        (Rebound.replaced, ["mlp"]),
    ],
)
def test_a_local_stands_for_a_part_of_self_as_long_as_it_does(
    function: Any, calls: list[str]
) -> None:
    assert [call for op in flow_of(function)["operations"] for call in op["calls"]] == calls


def test_what_is_changed_in_place_is_read_first() -> None:
    _, added, multiplied, _ = flow_of(Rebound.in_place)["operations"]
    assert (added["reads"], added["writes"]) == (["self.scale", "self.bias"], ["scale"])
    assert (multiplied["reads"], multiplied["writes"]) == (["h[*]", "scale"], ["h[*]"])


def test_loops_of_a_comprehension_stand_before_what_they_make() -> None:
    _, outs, named, kept, _ = flow_of(Rebound.comprehended)["operations"]
    assert outs["reads"] == ["self.layers", "self.layers[*].is_on", "h"]
    assert outs["writes"] == ["outs"]  # not `layer`, which is the comprehension's own
    assert named["reads"] == ["self.experts", "h"]
    assert kept["reads"] == ["h", "outs"]
