"""What is made of a module with ranges computes as it does without, and nothing stays behind.

The weights are 1 and the input two ones: a forward gives 2, one of a weight of 5 gives 10.
"""

from __future__ import annotations

import contextlib
import copy
import importlib.util
import pickle
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

import torch
from torch import nn

from layerscope.capture.hooks.module_ranges import ModuleRanges
from layerscope.capture.in_engine.forward_wrapping import has_forward

pytestmark = pytest.mark.torch

_X = torch.ones(1, 2)


class Paths:
    """A backend that keeps the paths of the ranges."""

    def __init__(self) -> None:
        self.opened: list[str] = []

    def open(self, text: str, path: str) -> None:
        self.opened.append(path)

    def close(self, token: None, error: BaseException | None) -> None:
        pass


class Base(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(1, 2))

    def forward(self, x: Any) -> Any:
        return nn.functional.linear(x, self.weight)


class Derived(Base):
    def forward(self, x: Any) -> Any:
        return super().forward(x) * 3


class Inherits(Base):
    pass


Ranged = Callable[[Any], tuple[Any, Paths]]


@pytest.fixture
def ranged() -> Iterator[Ranged]:
    """Gives a module ranges, which are gone after the test: the module is 0 of a list."""
    with contextlib.ExitStack() as stack:

        def give(module: Any) -> tuple[Any, Paths]:
            backend = Paths()
            stack.enter_context(ModuleRanges(nn.ModuleList([module]), backend))
            return module, backend

        yield give


def _with_weight_of_five(twin: Any) -> Any:
    twin._parameters = {**twin._parameters, "weight": torch.full((1, 2), 5.0)}
    return twin


@pytest.mark.parametrize(
    "duplicate",
    [
        copy.copy,
        copy.deepcopy,
        lambda module: pickle.loads(pickle.dumps(module)),
        lambda module: module._replicate_for_data_parallel(),
    ],
    ids=["copy", "deepcopy", "pickle", "replica"],
)
def test_what_is_made_of_a_module_runs_its_own_weights(duplicate: Any, ranged: Ranged) -> None:
    module, backend = ranged(Inherits())
    twin = duplicate(module)
    assert _with_weight_of_five(twin)(_X).item() == 10
    assert backend.opened == []
    assert module(_X).item() == 2
    assert backend.opened == ["0"]


def test_a_forward_of_the_modules_own_is_copied_with_it() -> None:
    """One of a function is that function, a method that of the copy."""
    module, backend = nn.ModuleList([Base(), Base()]), Paths()
    module[0].forward = lambda x: x * 100
    module[1].forward = types.MethodType(lambda self, x: self.weight.sum() * 100, module[1])
    ranges = ModuleRanges(module, backend)
    twin = copy.deepcopy(module)
    nn.init.constant_(twin[1].weight, 5.0)
    assert twin[0](_X).tolist() == [[100.0, 100.0]]
    assert twin[1](_X).item() == 1000
    assert backend.opened == []
    assert module[1](_X).item() == 200
    assert backend.opened == ["1"]
    ranges.remove()


def test_a_forward_that_is_replaced_in_the_class_runs_from_then_on(
    monkeypatch: pytest.MonkeyPatch, ranged: Ranged
) -> None:
    plain = Base.forward
    module, _ = ranged(Inherits())
    monkeypatch.setattr(Base, "forward", lambda self, x: plain(self, x) * 7)
    assert module(_X).item() == 14


def test_a_module_of_another_class_runs_the_forward_of_that(ranged: Ranged) -> None:
    """Of one whose modules have ranges, too."""
    module, _ = ranged(Base())
    other, _ = ranged(Derived())
    module.__class__ = Derived
    assert module(_X).item() == other(_X).item() == 6


def test_a_forward_that_calls_its_base_has_one_range() -> None:
    backend = Paths()
    model = nn.ModuleList([Base(), Derived(), Inherits()])
    with ModuleRanges(model, backend) as ranges:
        assert [module(_X).item() for module in model] == [2, 6, 2]
        assert ranges.modules == 3
    assert backend.opened == ["0", "1", "2"]


def test_when_the_last_is_removed_the_classes_are_as_before() -> None:
    before = [Base.__dict__["forward"], "forward" in Inherits.__dict__]
    first: Any = Inherits()
    second: Any = Base()
    first_ranges = ModuleRanges(first, Paths())
    backend = Paths()
    second_ranges = ModuleRanges(second, backend)
    assert Base.forward is before[0], "asked of the class, it is the plain function"
    first_ranges.remove()
    second(_X)
    assert backend.opened == ["Base"]
    second.forward = second.forward  # as code does that replaces a forward for a while
    second_ranges.remove()
    assert [Base.__dict__["forward"], "forward" in Inherits.__dict__] == before
    assert first.__dict__.keys() == second.__dict__.keys() == Base().__dict__.keys()


def test_a_container_has_no_forward() -> None:
    assert not has_forward(nn.ModuleList())
    assert has_forward(nn.Identity())


@pytest.mark.parametrize("strict", [False, True])
def test_a_model_with_ranges_is_exported(strict: bool) -> None:
    model = nn.Sequential(Base(), nn.ReLU())
    with ModuleRanges(model, Paths()):
        exported = torch.export.export(model, (_X,), strict=strict)
    assert exported.module()(_X).item() == 2


def test_many_modules_of_one_class_are_compiled_once() -> None:
    """torch.compile gives up a function that it has to compile anew for each of some modules."""
    model = nn.ModuleList([nn.Sequential(nn.Linear(2, 2)) for _ in range(12)])
    others = [nn.Sequential(nn.Linear(2, 2)) for _ in range(12)]
    torch._dynamo.reset()
    with ModuleRanges(model, Paths()):
        for module in (*others, *model):
            torch.compile(module, backend="eager", fullgraph=True)(_X)
