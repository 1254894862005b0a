"""What model_tree.json says of modules that are called and that its tree has not."""

from __future__ import annotations

import pytest

pytestmark = pytest.mark.torch


def test_classes_that_a_forward_makes_anew_are_named() -> None:
    """Two mixers: each calls an activation of the tree, and one that it makes."""
    import torch
    from torch import nn

    from layerscope.capture.walk.call_order import CallRecorder
    from layerscope.capture.walk.snapshot import calls_of

    class Mixer(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.act = nn.SiLU()
            self.gate = nn.Sigmoid()

        def forward(self, hidden: torch.Tensor) -> torch.Tensor:
            return self.gate(nn.SiLU()(self.act(hidden)))

    model = nn.Sequential(Mixer(), Mixer())
    with CallRecorder(model) as recorder:
        model(torch.zeros(2))
    (said,) = calls_of(recorder)["limitations"]
    assert "the forward calls 2 SiLUs that the tree has not" in said
    assert "Sigmoid" not in said

    with CallRecorder(nn.Sequential(nn.SiLU())) as recorder:
        pass
    assert not any("tree has not" in line for line in calls_of(recorder)["limitations"])
