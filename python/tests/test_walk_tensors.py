"""Arguments of a module, as model_tree.json has them."""

from __future__ import annotations

from typing import Any

import pytest

from layerscope.capture.walk import call_order
from layerscope.capture.walk.tensors import value_metadata

pytestmark = pytest.mark.torch


@pytest.mark.parametrize(("n", "left"), [(64, 0), (65, 1), (100, 36)])
def test_of_long_containers_the_last_entry_says_how_many_are_left_out(n: int, left: int) -> None:
    """64 items are kept."""
    more = {"type": f"… {left} more"}
    items = value_metadata(list(range(n)))
    named = value_metadata({str(i): i for i in range(n)})
    assert items[:64] == [{"type": "int"}] * 64
    assert items[64:] == ([more] if left else [])
    assert list(named)[:64] == [str(i) for i in range(64)]
    assert list(named.items())[64:] == ([("…", more)] if left else [])


def test_what_no_record_is_kept_of_is_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three calls, each of a root and its one module: two records, and four that are left out."""
    import torch
    from torch import nn

    looked_at = []

    def noted(value: Any) -> None:
        looked_at.append(value)

    monkeypatch.setattr(call_order, "MOST_INVOCATIONS", 2)
    monkeypatch.setattr(call_order, "value_metadata", noted)
    model = nn.Sequential(nn.Identity())
    with call_order.CallRecorder(model) as recorder:
        for _ in range(3):
            model(torch.zeros(1))
    assert (len(recorder.invocations), recorder.n_left_out) == (2, 4)
    assert len(looked_at) == 2 * 3  # inputs, keywords, outputs
