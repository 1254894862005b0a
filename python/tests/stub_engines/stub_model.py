"""A model of a few modules, which every stub engine loads.

Without torch, whose import would be most of a test's time: what the hooks need of a module is
`named_modules` and `forward`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Module:
    """The part of nn.Module that is needed."""

    def __call__(self, *args: Any) -> Any:
        return self.forward(*args)  # type: ignore[attr-defined]

    def named_modules(
        self, memo: Any = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        yield prefix, self
        for name, value in vars(self).items():
            for place, child in _children(name, value):
                yield from child.named_modules(prefix=f"{prefix}.{place}" if prefix else place)


def _children(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list):
        for number, child in enumerate(value):
            yield f"{name}.{number}", child
    elif isinstance(value, Module):
        yield name, value


class Leaf(Module):
    def forward(self, hidden: float) -> float:
        return hidden + 1.0


class Layer(Module):
    def __init__(self) -> None:
        self.attn = Leaf()
        self.mlp = Leaf()

    def forward(self, hidden: float) -> Any:
        return self.mlp(self.attn(hidden))


class Body(Module):
    def __init__(self) -> None:
        self.layers = [Layer(), Layer()]

    def forward(self, hidden: float) -> Any:
        for layer in self.layers:
            hidden = layer(hidden)
        return hidden


class StubForCausalLM(Module):
    def __init__(self) -> None:
        self.model = Body()

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return self.model(0.0)
