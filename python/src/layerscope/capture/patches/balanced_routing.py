"""Which experts each token takes when every expert gets as many tokens as any other.

Under dummy weights a router sends nearly all tokens to the same few experts (its logits are almost
equal, and top-k takes the first), so that times of MoE layers mean nothing. These assignments are
round robin: the loads of two experts differ by at most one token.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from layerscope.capture.patches.plan import RoutingPlan

MARK = "_layerscope_balanced"  # the attribute of a function that is patched: once is enough
_CHOSEN, _OTHER = 10.0, -10.0  # far apart under sigmoid and softmax, finite in fp16


def expert_of(slot: Any, plan: RoutingPlan) -> Any:
    """The expert of each slot-th choice, all tokens' choices counted through; a tensor, as `slot`.

    A token visits as many groups as share its choices evenly, at most `top_groups`, round robin.
    Inside a group consecutive choices go to consecutive ranks that hold it, so that few tokens are
    spread over ranks too, then to their experts: as many as it has are different ones.
    """
    used = max(d for d in range(1, plan.top_groups + 1) if plan.top_k % d == 0)
    each = plan.top_k // used
    visit, choice = slot // each, slot % each
    group, inside = visit % plan.groups, visit // plan.groups * each + choice
    size = plan.experts // plan.groups
    ranks = plan.ep_ranks // plan.groups if plan.ep_ranks % plan.groups == 0 else 1
    a_rank = size // ranks
    return group * size + inside % ranks * a_rank + inside // ranks % a_rank


class BalancedTables:
    """Tables of the assignments on a device, made once and grown when more tokens come.

    What a patch adds to a layer is one copy kernel. A table that was outgrown is kept: graphs that
    were captured with it read it at each replay.
    """

    def __init__(self, plan: RoutingPlan) -> None:
        self.plan = plan
        self._tables: dict[tuple[str, str, str, int, int], Any] = {}
        self._replaced: list[Any] = []  # captured graphs go on copying from them

    def write_ids(self, ids: Any, experts: int, *, keep_negative: bool = False) -> None:
        """Overwrites expert ids, shape (tokens, choices), in place.

        `experts` is their number in this call; with `keep_negative` the rows that an engine has
        masked with -1 (padding) stay masked.
        """
        tokens, choices = ids.shape
        if tokens == 0:
            return
        table = self._table("ids", ids, self._plan_of(experts, choices), _experts_of_tokens)
        ids.copy_(table.where(ids >= 0, ids) if keep_negative else table)

    def write_logits(self, logits: Any) -> None:
        """Overwrites router logits, shape (tokens, experts), in place.

        For routers inside a kernel, which give no ids out: the chosen experts get the highest
        logits, and respect the groups of the model.
        """
        tokens, experts = logits.shape
        if tokens == 0:
            return
        plan = self._plan_of(experts, min(self.plan.top_k, experts))
        logits.copy_(self._table("logits", logits, plan, _logits_of_tokens))

    def _plan_of(self, experts: int, top_k: int) -> RoutingPlan:
        """For as many in one call; groups and ranks that cannot hold them evenly are one."""
        groups, ranks = (
            parts if experts % parts == 0 else 1 for parts in (self.plan.groups, self.plan.ep_ranks)
        )
        return RoutingPlan(experts, top_k, groups, self.plan.top_groups, ranks)

    def _table(
        self, kind: str, like: Any, plan: RoutingPlan, make: Callable[[int, RoutingPlan, Any], Any]
    ) -> Any:
        tokens = like.shape[0]
        key = (kind, str(like.device), str(like.dtype), plan.experts, plan.top_k)
        table = self._tables.get(key)
        if table is None or table.shape[0] < tokens:
            grown = make(tokens, plan, like.device).to(like.dtype)
            if not _is_capturing():  # memory of a capture belongs to its graph
                if table is not None:
                    self._replaced.append(table)
                self._tables[key] = grown
            table = grown
        return table[:tokens]


def _experts_of_tokens(tokens: int, plan: RoutingPlan, device: Any) -> Any:
    import torch

    slots = torch.arange(tokens * plan.top_k, device=device).view(tokens, plan.top_k)
    return expert_of(slots, plan)


def _logits_of_tokens(tokens: int, plan: RoutingPlan, device: Any) -> Any:
    import torch

    rows = torch.full((tokens, plan.experts), _OTHER, device=device)
    return rows.scatter_(1, _experts_of_tokens(tokens, plan, device), _CHOSEN)


def _is_capturing() -> bool:
    import torch

    return bool(torch.cuda.is_available() and torch.cuda.is_current_stream_capturing())
