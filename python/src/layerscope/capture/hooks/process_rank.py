"""The rank of this process, in the way in which traces are named."""

from __future__ import annotations

import os
import sys

# Launchers of ranks: torchrun, Open MPI, MPICH and Intel MPI, Slurm.
_VARIABLES = ("RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "SLURM_PROCID")


def process_rank() -> int:
    """The rank in torch.distributed if it runs, else that of the launcher, else 0."""
    torch = sys.modules.get("torch")
    distributed = getattr(torch, "distributed", None)
    if distributed is not None and distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_rank())
    for variable in _VARIABLES:
        value = os.environ.get(variable, "")
        if value.isdigit():
            return int(value)
    return 0
