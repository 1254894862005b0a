"""What a recorded forward may do: nothing of the recorder reaches into it."""

from __future__ import annotations

import contextlib
import copy
import importlib.util
import json
import pickle
from typing import Any

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

import torch
from torch import nn

from layerscope.capture.walk.call_order import CallRecorder
from layerscope.capture.walk.tensors import value_metadata

pytestmark = pytest.mark.torch

_X = torch.ones(1, 2)


class Catches(nn.Module):
    """Calls `a`, which may fail, then `b`."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Linear(2, 2), nn.Linear(2, 2)

    def forward(self, x: Any) -> Any:
        with contextlib.suppress(ValueError):
            self.a(x)
        return self.b(x)


class Raises(nn.Module):
    def forward(self, x: Any) -> Any:
        raise ValueError("not here")


def _fails(*_: Any) -> None:
    raise ValueError("not here")


def _calls(recorder: CallRecorder) -> list[tuple[str, int | None, Any]]:
    """(module, parent, shape of the output, None where there is none)."""
    return [
        (one["module"], one["parent"], one["outputs"] and one["outputs"].get("shape"))
        for one in recorder.invocations
    ]


def test_a_hook_that_raises_before_a_forward_leaves_its_caller_as_it_is() -> None:
    """The root is call 0; 0 (Catches) call 1; its `a` is none; 1 (Linear) is of the root again."""
    model = nn.Sequential(Catches(), nn.Linear(2, 2))
    model[0].a.register_forward_pre_hook(_fails)
    with CallRecorder(model) as recorder:
        model(_X)
    shape = [1, 2]
    assert _calls(recorder) == [
        ("", None, shape),
        ("0", 0, shape),
        ("0.b", 1, shape),
        ("1", 0, shape),
    ]


def test_a_forward_that_raises_has_no_outputs() -> None:
    model = Catches()
    model.a = Raises()
    with CallRecorder(model) as recorder:
        model(_X)
    assert _calls(recorder) == [("", None, [1, 2]), ("a", 0, None), ("b", 0, [1, 2])]


@pytest.mark.parametrize(
    "duplicate",
    [copy.copy, copy.deepcopy, lambda module: pickle.loads(pickle.dumps(module))],
    ids=["copy", "deepcopy", "pickle"],
)
def test_a_forward_may_copy_its_modules(duplicate: Any) -> None:
    """The copy is none of the model's."""

    class Copies(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.a = nn.Linear(2, 2)

        def forward(self, x: Any) -> Any:
            return duplicate(self.a)(x)

    model = Copies()
    with CallRecorder(model) as recorder:
        model(_X)
    assert _calls(recorder) == [("", None, [1, 2])]
    assert [entry["path"] for entry in recorder.call_order()] == [
        "",
        "[outside the model].Linear.0",
    ]


def test_nested_tensors_are_recorded_without_a_shape() -> None:
    """nn.TransformerEncoder makes them of a mask, in its fast path."""
    layer = nn.TransformerEncoderLayer(4, 2, 8, batch_first=True)
    model = nn.TransformerEncoder(layer, 2).eval()
    mask = torch.tensor([[False, False, True]])
    with CallRecorder(model) as recorder, torch.no_grad():
        model(torch.ones(1, 3, 4), src_key_padding_mask=mask)
    (first, *_) = [one for one in recorder.invocations if one["module"] == "layers.0"]
    (given,) = first["inputs"]
    assert given["shape"] is None and given["dtype"] == "torch.float32"
    json.dumps(recorder.invocations)


def test_containers_that_do_not_give_out_what_they_hold_are_named() -> None:
    class Closed(dict[str, int]):
        def items(self) -> Any:
            raise RuntimeError("closed")

    class Endless(list[int]):
        def __len__(self) -> int:
            raise RuntimeError("endless")

    seen = value_metadata([Closed(a=1), Endless([1]), {"in": Closed()}])
    assert seen == [{"type": "Closed"}, {"type": "Endless"}, {"in": {"type": "Closed"}}]


def test_a_tensor_that_does_not_say_what_it_is_stops_no_forward() -> None:
    class Silent(torch.Tensor):
        @property
        def device(self) -> Any:
            raise KeyError("device")

    seen = value_metadata(torch.ones(2).as_subclass(Silent))
    assert seen["device"] is None and seen["shape"] == [2]
