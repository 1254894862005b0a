"""The rank of this process, in the way in which traces are named."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

# Launchers of ranks: torchrun, Open MPI, MPICH and Intel MPI, Slurm.
_VARIABLES = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")


@dataclass
class _Replica:
    """Which of several copies of the model, under data parallelism, this process belongs to."""

    index: int = 0
    ranks: int = 1  # of one copy
    is_known: bool = False  # said by the first model; a draft model has a config of its own


_REPLICA = _Replica()  # one a process


def note_replica(loads: Iterable[Any]) -> None:
    """Learns the replica from what loads the first model: the loader and its arguments.

    vLLM (dense models) and SGLang (without attention parallelism) give each replica a world of its
    own in torch.distributed, so that all of them begin with rank 0 there.
    """
    for part in loads:
        parallel = getattr(part, "parallel_config", None)  # of a VllmConfig
        if parallel is not None:
            _set(getattr(parallel, "data_parallel_index", 0), getattr(parallel, "world_size", 1))
        arguments = getattr(part, "server_args", None)  # of SGLang's ModelRunner
        if arguments is not None and not getattr(arguments, "enable_dp_attention", False):
            tensor, pipeline = (getattr(arguments, name, 1) for name in ("tp_size", "pp_size"))
            if isinstance(tensor, int) and isinstance(pipeline, int):
                _set(getattr(part, "dp_rank", 0), tensor * pipeline)


def _set(index: object, ranks: object) -> None:
    if isinstance(index, int) and isinstance(ranks, int) and not _REPLICA.is_known:
        _REPLICA.index, _REPLICA.ranks, _REPLICA.is_known = index, ranks, True


def process_rank() -> int:
    """The rank in torch.distributed if it runs, else that of the launcher, else 0.

    Of a replica with a world of its own, those of the replicas before it are counted.
    """
    if (distributed := distributed_rank()) is not None:
        rank, world = distributed
        return rank + _REPLICA.index * world if world == _REPLICA.ranks else rank
    for variable in _VARIABLES:
        value = os.environ.get(variable, "")
        if re.fullmatch(r"[0-9]{1,9}", value):
            return int(value)
    return 0


def distributed_rank() -> tuple[int, int] | None:
    """(rank, number of ranks) in torch.distributed, or None where it does not run."""
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    if distributed is None or not distributed.is_available() or not distributed.is_initialized():
        return None
    return int(distributed.get_rank()), int(distributed.get_world_size())
