"""Models whose modules are shared, repeated, unused or called out of order."""

from __future__ import annotations

import torch
from torch import nn


class Norm(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        return hidden * self.weight


class Feedforward(nn.Module):
    """Defines `down` before `up`, calls `up` first."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.down = nn.Linear(2 * width, width)
        self.up = nn.Linear(width, 2 * width)
        self.act = nn.GELU()

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        out: torch.Tensor = self.down(self.act(self.up(hidden)))
        return out


class Block(nn.Module):
    """`unused` is never called; `norm` is called twice in each forward."""

    def __init__(self, width: int, shared: nn.Module) -> None:
        super().__init__()
        self.unused = Norm(width)
        self.norm = Norm(width)
        self.mlp = Feedforward(width)
        self.shared = shared

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        hidden = hidden + self.mlp(self.norm(hidden))
        out: torch.Tensor = self.shared(self.norm(hidden))
        return out


class SharedAndRepeated(nn.Module):
    """Three blocks called as 2, 0, 1, 0; one Linear shared by all; one block under two names."""

    def __init__(self, width: int = 8) -> None:
        super().__init__()
        self.shared = nn.Linear(width, width)
        self.blocks = nn.ModuleList(Block(width, self.shared) for _ in range(3))
        self.alias = self.blocks[1]
        self.head = nn.Linear(width, 4)

    def forward(self, hidden: torch.Tensor) -> torch.Tensor:
        for index in (2, 0, 1, 0):
            hidden = self.blocks[index](hidden)
        out: torch.Tensor = self.head(self.alias(hidden))
        return out
