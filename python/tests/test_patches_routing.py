"""Balanced routing: the assignment, and the patches against stubs (`routing_stubs`)."""

from __future__ import annotations

import gc
import importlib
import sys
import weakref
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from routing_stubs import (
    SGLANG_TOPK,
    TRTLLM_ROUTING,
    VLLM_LAYER_OF_OLD,
    VLLM_METHOD,
    VLLM_ROUTER,
)

from layerscope.capture.in_engine.import_watch import ImportWatch
from layerscope.capture.patches import install, trtllm_routing
from layerscope.capture.patches.balanced_routing import BalancedTables
from layerscope.capture.patches.plan import RoutingPlan

_PLANS = [
    RoutingPlan(128, 8),
    RoutingPlan(256, 8, ep_ranks=8),
    RoutingPlan(384, 8, ep_ranks=16),
    RoutingPlan(8, 2, ep_ranks=4),
    RoutingPlan(16, 1),
    RoutingPlan(896, 16),
]


def _chosen(tokens: int, plan: RoutingPlan) -> list[list[int]]:
    """The experts of each token; those of one are all different."""
    import torch

    ids = torch.full((tokens, plan.top_k), -1)
    BalancedTables(plan).write_ids(ids, plan.experts)
    chosen: list[list[int]] = ids.tolist()
    assert all(len(set(row)) == plan.top_k for row in chosen)
    return chosen


def _loads(chosen: list[list[int]], plan: RoutingPlan) -> Counter[int]:
    loads = Counter(dict.fromkeys(range(plan.experts), 0))
    loads.update(expert for row in chosen for expert in row)
    assert len(loads) == plan.experts
    return loads


@pytest.mark.torch
@pytest.mark.parametrize("plan", _PLANS, ids=str)
@pytest.mark.parametrize("tokens", [1, 7, 64, 1000])
def test_loads_of_experts_and_ranks_differ_by_at_most_one(tokens: int, plan: RoutingPlan) -> None:
    loads = _loads(_chosen(tokens, plan), plan)
    assert max(loads.values()) - min(loads.values()) <= 1
    a_rank = plan.experts // plan.ep_ranks
    ranks = Counter(dict.fromkeys(range(plan.ep_ranks), 0))
    for expert, load in loads.items():
        ranks[expert // a_rank] += load
    assert max(ranks.values()) - min(ranks.values()) <= 1


@pytest.mark.torch
@pytest.mark.parametrize("plan", [RoutingPlan(256, 8, 8, 4), RoutingPlan(384, 6, 8, 4)], ids=str)
def test_a_token_stays_in_the_groups_that_its_router_allows(plan: RoutingPlan) -> None:
    size = plan.experts // plan.groups
    chosen = _chosen(plan.experts * 4, plan)  # whole rounds
    for row in chosen:
        assert len({expert // size for expert in row}) <= plan.top_groups
    loads = _loads(chosen, plan)
    assert len(set(loads.values())) == 1


# The experts of the first tokens, dealt out by hand as cards are; then it begins anew.
_DEALT = [
    (RoutingPlan(8, 2), [[0, 1], [2, 3], [4, 5], [6, 7]]),
    (RoutingPlan(4, 1), [[0], [1], [2], [3]]),
    (RoutingPlan(6, 4), [[0, 1, 2, 3], [4, 5, 0, 1], [2, 3, 4, 5]]),
    # Four ranks of two: the first expert of each rank, then the second.
    (RoutingPlan(8, 2, ep_ranks=4), [[0, 2], [4, 6], [1, 3], [5, 7]]),
]
# Four groups of four, a token may use two of them: two experts of each of the two whose turn it is.
_DEALT_BY_GROUP = [
    (
        RoutingPlan(16, 4, groups=4, top_groups=2),
        [[0, 1, 4, 5], [8, 9, 12, 13], [2, 3, 6, 7], [10, 11, 14, 15]],
    ),
    # Eight ranks, two of each group: its two experts are one of each rank.
    (
        RoutingPlan(16, 4, groups=4, top_groups=2, ep_ranks=8),
        [[0, 2, 4, 6], [8, 10, 12, 14], [1, 3, 5, 7], [9, 11, 13, 15]],
    ),
]


@pytest.mark.torch
@pytest.mark.parametrize(("plan", "dealt"), [*_DEALT, *_DEALT_BY_GROUP], ids=str)
def test_tables_of_ids_hold_the_experts_dealt_by_hand(
    plan: RoutingPlan, dealt: list[list[int]]
) -> None:
    import torch

    tables = BalancedTables(plan)
    for tokens in (3, 700, 20):  # grown, then cut
        ids = torch.zeros(tokens, plan.top_k, dtype=torch.int32)
        tables.write_ids(ids, plan.experts)
        assert ids.tolist() == (dealt * tokens)[:tokens]


@pytest.mark.torch
@pytest.mark.parametrize(("plan", "dealt"), [*_DEALT, *_DEALT_BY_GROUP], ids=str)
def test_balanced_logits_choose_the_experts_dealt_by_hand(
    plan: RoutingPlan, dealt: list[list[int]]
) -> None:
    import torch

    tables = BalancedTables(plan)
    for tokens in (3, 700, 20):
        logits = torch.zeros(tokens, plan.experts, dtype=torch.bfloat16)
        tables.write_logits(logits)
        top = logits.topk(plan.top_k).indices.sort().values
        assert top.tolist() == [sorted(chosen) for chosen in (dealt * tokens)[:tokens]]


@pytest.mark.torch
def test_experts_that_are_not_a_multiple_of_the_groups_are_one_group() -> None:
    """Of another layer of the model: six experts in no groups, dealt out as in _DEALT."""
    import torch

    tables = BalancedTables(RoutingPlan(16, 4, groups=4, top_groups=2, ep_ranks=4))
    ids, logits = torch.zeros(3, 4, dtype=torch.int32), torch.zeros(3, 6)
    tables.write_ids(ids, 6)
    tables.write_logits(logits)
    dealt = [[0, 1, 2, 3], [4, 5, 0, 1], [2, 3, 4, 5]]
    assert ids.tolist() == dealt
    assert logits.topk(4).indices.sort().values.tolist() == [sorted(chosen) for chosen in dealt]


@pytest.mark.torch
def test_a_table_that_was_outgrown_lives_on_for_the_graphs_that_read_it() -> None:
    import torch

    tables = BalancedTables(RoutingPlan(8, 2))
    tables.write_ids(torch.zeros(3, 2, dtype=torch.int32), 8)
    (small,) = tables._tables.values()
    alive = weakref.ref(small)
    del small
    tables.write_ids(torch.zeros(700, 2, dtype=torch.int32), 8)
    gc.collect()
    assert alive() is not None


@pytest.mark.torch
@pytest.mark.parametrize("plan", [RoutingPlan(256, 8, 1, 1, 8), RoutingPlan(256, 8, 8, 4, 16)])
def test_balanced_logits_spread_few_tokens_over_the_ranks(plan: RoutingPlan) -> None:
    """By hand: 8 choices of one token over 8 ranks are one each; in 4 groups of two ranks each
    group's two choices go to its two ranks."""
    import torch

    logits = torch.zeros(1, plan.experts)
    BalancedTables(plan).write_logits(logits)
    a_rank = plan.experts // plan.ep_ranks
    ranks = [int(expert) // a_rank for expert in logits.topk(plan.top_k).indices[0]]
    assert len(set(ranks)) == 8


Fake = Callable[[str, str], None]


@pytest.fixture
def fake_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Fake]:
    """`fake_module("sglang.srt.x", source)` makes a module that can be imported, in this test."""
    before = set(sys.modules)
    monkeypatch.syspath_prepend(tmp_path)

    def make(name: str, source: str) -> None:
        folder = tmp_path
        for part in name.split(".")[:-1]:
            folder = folder / part
            folder.mkdir(exist_ok=True)
            (folder / "__init__.py").touch()
        (folder / f"{name.split('.')[-1]}.py").write_text(source)
        importlib.invalidate_caches()

    yield make
    for name in set(sys.modules) - before:
        if name.split(".")[0] in ("vllm", "sglang", "tensorrt_llm"):
            del sys.modules[name]


@pytest.fixture
def watch() -> Iterator[ImportWatch]:
    one = ImportWatch()
    yield one
    one.stop()


def _patches(engine: str, watch: ImportWatch, plan: RoutingPlan) -> install.Patches:
    from layerscope.capture.patches.plan import PatchPlan

    patches = install.Patches(PatchPlan(2, routing=plan), engine)
    patches.watch(watch)
    return patches


def _is_balanced(ids: Any, experts: int) -> bool:
    loads = ids.flatten().bincount(minlength=experts)
    return bool(loads.max() - loads.min() <= 1) and loads.shape[0] == experts


_EXPERTS, _TOP_K, _TOKENS = 8, 2, 12


def _inputs() -> tuple[Any, Any]:
    import torch

    return torch.zeros(_TOKENS, 4), torch.zeros(_TOKENS, _EXPERTS)


@pytest.mark.torch
@pytest.mark.parametrize("place", ["router.base_router", "base_router"])
def test_vllm_routers_choose_balanced_experts(
    place: str, fake_module: Fake, watch: ImportWatch, not_run_here: Callable[[str], None]
) -> None:
    not_run_here("balanced routing of vLLM: stub classes, not run with the real engine")
    name = f"vllm.model_executor.layers.fused_moe.{place}"
    fake_module(name, VLLM_ROUTER)
    patches = _patches("vllm", watch, RoutingPlan(_EXPERTS, _TOP_K))
    module = importlib.import_module(name)
    weights, ids, _ = module.FusedTopKRouter(_TOP_K, _EXPERTS).select_experts(*_inputs())
    assert _is_balanced(ids, _EXPERTS)
    assert weights.tolist() == [[0.5, 0.5]] * _TOKENS  # the router's own
    assert patches.applied == ["BaseRouter.select_experts"]


@pytest.mark.torch
def test_vllm_before_routers_chooses_balanced_experts(
    fake_module: Fake, watch: ImportWatch
) -> None:
    name = "vllm.model_executor.layers.fused_moe.layer"
    fake_module(name, VLLM_LAYER_OF_OLD)
    _patches("vllm", watch, RoutingPlan(_EXPERTS, _TOP_K))
    layer = importlib.import_module(name).FusedMoE
    _, ids = layer.select_experts(*_inputs(), _TOP_K, False, True)
    assert _is_balanced(ids, _EXPERTS)


@pytest.mark.torch
def test_vllm_kernels_that_route_themselves_get_balanced_logits(
    fake_module: Fake, watch: ImportWatch
) -> None:
    import torch

    name = "vllm.model_executor.layers.fused_moe.fused_moe_method_base"
    fake_module(name, VLLM_METHOD)
    module = importlib.import_module(name)
    experts = torch.nn.Module()
    experts.quant_method = module.MonolithicMethod()
    experts.top_k = _TOP_K
    patches = _patches("vllm", watch, RoutingPlan(_EXPERTS, _TOP_K))
    patches.model_loaded(experts)
    patches.model_loaded(experts)  # once is enough
    assert patches.applied == ["MonolithicMethod.apply_monolithic"]
    hidden, logits = _inputs()
    assert _is_balanced(experts.quant_method.apply_monolithic(experts, hidden, logits), _EXPERTS)


def _sglang(fake_module: Fake, watch: ImportWatch) -> tuple[Any, install.Patches]:
    name = "sglang.srt.layers.moe.topk"
    fake_module(name, SGLANG_TOPK)
    patches = _patches("sglang", watch, RoutingPlan(_EXPERTS, _TOP_K))
    return importlib.import_module(name), patches


@pytest.mark.torch
def test_sglang_chooses_balanced_experts_in_each_form_of_result(
    fake_module: Fake, watch: ImportWatch, not_run_here: Callable[[str], None]
) -> None:
    not_run_here("balanced routing of SGLang: stub classes, not run with the real engine")
    topk, patches = _sglang(fake_module, watch)
    assert patches.applied == ["select_experts", "TopK.forward_cuda"]
    standard = topk.TopK(_TOP_K)(*_inputs())
    assert _is_balanced(standard.topk_ids, _EXPERTS)
    kernel = topk.TopK(_TOP_K, output_format="triton")
    for _ in range(2):  # the first call finds out the form
        assert _is_balanced(kernel(*_inputs()).routing_data, _EXPERTS)
    bypassed = topk.TopK(_TOP_K, output_format="bypassed")(*_inputs())
    assert _is_balanced(bypassed.router_logits.topk(_TOP_K).indices, _EXPERTS)


@pytest.mark.torch
def test_sglang_keeps_fused_shared_experts_and_masked_rows(
    fake_module: Fake, watch: ImportWatch
) -> None:
    topk, _ = _sglang(fake_module, watch)
    layer = topk.TopK(_TOP_K + 1, num_fused_shared_experts=1)
    ids = layer(*_inputs(), num_token_non_padded=8).topk_ids
    assert _is_balanced(ids[:8, :_TOP_K], _EXPERTS)
    assert ids[:8, _TOP_K].tolist() == [_EXPERTS] * 8
    assert ids[8:].tolist() == [[-1] * 3] * (_TOKENS - 8)


@pytest.mark.torch
def test_sglang_balances_experts_that_a_table_of_token_ids_gives(
    fake_module: Fake, watch: ImportWatch
) -> None:
    import torch

    topk, patches = _sglang(fake_module, watch)
    model = torch.nn.ModuleDict({"topk": topk.HashTopK()})
    patches.model_loaded(model)
    output = model["topk"](*_inputs(), torch.zeros(_TOKENS))
    assert _is_balanced(output.topk_ids, _EXPERTS)


@pytest.mark.torch
@pytest.mark.parametrize("name", trtllm_routing.MODULES)
def test_trtllm_routing_methods_choose_balanced_experts(
    name: str,
    fake_module: Fake,
    watch: ImportWatch,
    monkeypatch: pytest.MonkeyPatch,
    not_run_here: Callable[[str], None],
) -> None:
    import os

    import torch

    not_run_here("balanced routing of TensorRT-LLM: stub classes, not run with the real engine")
    monkeypatch.setenv("ENABLE_PERFECT_ROUTER", "0")
    fake_module(name, TRTLLM_ROUTING)
    patches = _patches("trtllm", watch, RoutingPlan(_EXPERTS, _TOP_K))
    assert os.environ["ENABLE_PERFECT_ROUTER"] == "1"
    routing = importlib.import_module(name)
    _, logits = _inputs()
    for method in (routing.RenormalizeMoeRoutingMethod, routing.RenormalizeNaiveMoeRoutingMethod):
        ids, _ = method(_TOP_K).apply(logits)
        assert _is_balanced(ids, _EXPERTS)

    class ModelsOwn(routing.BaseMoeRoutingMethod):  # type: ignore[name-defined]
        def apply(self, router_logits: Any, input_ids: Any = None) -> Any:
            weights, ids = routing.collapsed(router_logits, _TOP_K)
            return ids, weights

    layer = torch.nn.Module()
    layer.routing_method = ModelsOwn()
    patches.model_loaded(layer)
    assert _is_balanced(layer.routing_method.apply(logits)[0], _EXPERTS)
    assert torch.nn.Module.apply.__name__ == "apply"
    assert not hasattr(torch.nn.Module.apply, "_layerscope_balanced")


@pytest.mark.torch
def test_an_engine_without_known_routing_is_stopped(watch: ImportWatch) -> None:
    import torch

    from layerscope.capture.errors import CaptureError

    patches = _patches("vllm", watch, RoutingPlan(_EXPERTS, _TOP_K))
    with pytest.raises(CaptureError, match="nothing of this engine's routing is known"):
        patches.model_loaded(torch.nn.Linear(2, 2))
