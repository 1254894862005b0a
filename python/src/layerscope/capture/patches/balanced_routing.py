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


def expert_of(slot: int, experts: int, ep_ranks: int = 1) -> int:
    """The expert of the slot-th choice, all tokens' choices counted through.

    Consecutive choices go to consecutive ranks, so that few tokens are spread over ranks too. Any
    `experts` consecutive choices are different experts.
    """
    a_rank = experts // ep_ranks
    return slot % ep_ranks * a_rank + slot // ep_ranks % a_rank


def experts_of_token(token: int, plan: RoutingPlan) -> list[int]:
    """The `top_k` experts of one token, all different."""
    first = token * plan.top_k
    return [expert_of(first + i, plan.experts, plan.ep_ranks) for i in range(plan.top_k)]


def grouped_experts_of_token(token: int, plan: RoutingPlan) -> list[int]:
    """The experts of a token where the router first chooses groups: at most `top_groups` of them.

    Groups are visited round robin, inside each group the ranks that hold it, then their experts.
    """
    if plan.groups == 1:
        return experts_of_token(token, plan)
    ranks = plan.ep_ranks // plan.groups if plan.ep_ranks % plan.groups == 0 else 1
    used = max(d for d in range(1, plan.top_groups + 1) if plan.top_k % d == 0)
    each = plan.top_k // used
    size = plan.experts // plan.groups
    chosen = []
    for visit in range(token * used, (token + 1) * used):
        group, turn = visit % plan.groups, visit // plan.groups
        chosen += [group * size + expert_of(turn * each + i, size, ranks) for i in range(each)]
    return chosen


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
        plan = RoutingPlan(experts, choices, ep_ranks=_ranks(experts, self.plan.ep_ranks))
        table = self._table("ids", ids, tokens, plan, self._ids_table)
        ids.copy_(table.where(ids >= 0, ids) if keep_negative else table)

    def write_logits(self, logits: Any) -> None:
        """Overwrites router logits, shape (tokens, experts), in place.

        For routers inside a kernel, which give no ids out: the chosen experts get the highest
        logits, and respect the groups of the model.
        """
        tokens, experts = logits.shape
        if tokens == 0:
            return
        groups = self.plan.groups if experts % self.plan.groups == 0 else 1
        plan = RoutingPlan(
            experts,
            min(self.plan.top_k, experts),
            groups,
            self.plan.top_groups,
            _ranks(experts, self.plan.ep_ranks),
        )
        logits.copy_(self._table("logits", logits, tokens, plan, self._logits_table))

    def _table(
        self,
        kind: str,
        like: Any,
        tokens: int,
        plan: RoutingPlan,
        make: Callable[[int, RoutingPlan, Any], Any],
    ) -> Any:
        key = (kind, str(like.device), str(like.dtype), plan.experts, plan.top_k)
        table = self._tables.get(key)
        if table is None or table.shape[0] < tokens:
            grown = make(tokens, plan, like)
            if not _is_capturing():  # memory of a capture belongs to its graph
                if table is not None:
                    self._replaced.append(table)
                self._tables[key] = grown
            table = grown
        return table[:tokens]

    @staticmethod
    def _ids_table(tokens: int, plan: RoutingPlan, like: Any) -> Any:
        import torch

        slots = torch.arange(tokens * plan.top_k, device=like.device).view(tokens, plan.top_k)
        a_rank = plan.experts // plan.ep_ranks
        ids = slots % plan.ep_ranks * a_rank + slots // plan.ep_ranks % a_rank
        return ids.to(like.dtype)

    @staticmethod
    def _logits_table(tokens: int, plan: RoutingPlan, like: Any) -> Any:
        import torch

        # The assignment repeats: one token a row until every expert had its turn.
        period = min(tokens, plan.experts)
        chosen = torch.tensor([grouped_experts_of_token(t, plan) for t in range(period)])
        rows = torch.full((period, plan.experts), _OTHER)
        rows.scatter_(1, chosen, _CHOSEN)
        times = -(-tokens // period)
        return rows.repeat(times, 1)[:tokens].to(device=like.device, dtype=like.dtype)


def _ranks(experts: int, ep_ranks: int) -> int:
    return ep_ranks if experts % ep_ranks == 0 else 1


def _is_capturing() -> bool:
    import torch

    return bool(torch.cuda.is_available() and torch.cuda.is_current_stream_capturing())
