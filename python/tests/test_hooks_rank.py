"""The rank by which files of a process are named."""

from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

from layerscope.capture.in_engine import process_rank as module
from layerscope.capture.in_engine.import_watch import ImportWatch
from layerscope.capture.in_engine.model_loading import LoadingPoint, watch_loading
from layerscope.capture.in_engine.process_rank import note_replica, process_rank


@pytest.fixture(autouse=True)
def new_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is known of replicas, launchers, or torch."""
    monkeypatch.setattr(module, "_REPLICA", module._Replica())
    monkeypatch.delitem(sys.modules, "torch", raising=False)
    for variable in ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID"):
        monkeypatch.delenv(variable, raising=False)


def _distributed(monkeypatch: pytest.MonkeyPatch, rank: int, world: int) -> None:
    distributed = SimpleNamespace(
        is_available=lambda: True,
        is_initialized=lambda: True,
        get_rank=lambda: rank,
        get_world_size=lambda: world,
    )
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(distributed=distributed))


def _vllm(index: int, world_size: int) -> Any:
    parallel = SimpleNamespace(data_parallel_index=index, world_size=world_size)
    return SimpleNamespace(parallel_config=parallel)


def test_a_process_alone_has_the_rank_of_its_launcher(monkeypatch: pytest.MonkeyPatch) -> None:
    assert process_rank() == 0
    monkeypatch.setenv("SLURM_PROCID", "5")
    assert process_rank() == 5
    _distributed(monkeypatch, 3, 8)
    assert process_rank() == 3


@pytest.mark.parametrize("value", ["²", "9" * 5000, "-1", "", "one"])
def test_a_rank_that_is_no_number_is_that_of_the_next_launcher(
    value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RANK", value)
    assert process_rank() == 0
    monkeypatch.setenv("SLURM_PROCID", "5")
    assert process_rank() == 5


def test_arguments_that_say_no_number_of_ranks_are_passed_over() -> None:
    arguments = SimpleNamespace(tp_size=None, pp_size=None)
    note_replica((SimpleNamespace(server_args=arguments, dp_rank=3),))
    assert process_rank() == 0


def test_replicas_of_a_dense_model_in_vllm_follow_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two ranks each, with a world of their own: the third replica has ranks 4 and 5."""
    _distributed(monkeypatch, 1, 2)
    note_replica((object(), _vllm(2, 2), None))
    assert process_rank() == 5


def test_a_draft_model_with_a_config_of_its_own_does_not_change_the_replica(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """vLLM makes the draft's config anew: index 0, ranks as the draft has them."""
    _distributed(monkeypatch, 1, 2)
    note_replica([_vllm(2, 2)])
    note_replica([_vllm(0, 2)])
    assert process_rank() == 5


def test_replicas_that_share_the_experts_have_one_world(monkeypatch: pytest.MonkeyPatch) -> None:
    _distributed(monkeypatch, 5, 6)
    note_replica([_vllm(2, 2)])
    assert process_rank() == 5


@pytest.mark.parametrize(("attention", "expected"), [(False, 3), (True, 1)])
def test_replicas_of_sglang(
    attention: bool, expected: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Replica 1 of two ranks; attention parallelism is inside of one world."""
    _distributed(monkeypatch, 1, 2)
    arguments = SimpleNamespace(tp_size=2, pp_size=1, enable_dp_attention=attention)
    note_replica([SimpleNamespace(server_args=arguments, dp_rank=1)])
    assert process_rank() == expected


def test_what_loads_a_model_tells_the_replica(monkeypatch: pytest.MonkeyPatch) -> None:
    class Loader:
        def load_model(self, vllm_config: Any, model_config: Any) -> str:
            return "model"

    engine = SimpleNamespace(Loader=Loader)
    monkeypatch.setitem(sys.modules, "engine_of_this_test", engine)
    _distributed(monkeypatch, 0, 1)
    ranks: list[int] = []
    point = LoadingPoint("vllm", "engine_of_this_test", "Loader", "load_model", True)
    watch_loading(point, lambda model: ranks.append(process_rank()), ImportWatch())
    Loader().load_model(vllm_config=_vllm(3, 1), model_config=None)
    assert ranks == [3]
