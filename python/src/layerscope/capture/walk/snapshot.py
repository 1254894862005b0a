"""What is seen of a model in the process that holds it. The functions here run in vLLM's workers:
they take the model, keep what they need in this module, and give back plain values."""

from __future__ import annotations

import os
from typing import Any

from layerscope.capture.in_engine.process_rank import distributed_rank
from layerscope.capture.walk.call_order import MOST_INVOCATIONS, CallRecorder
from layerscope.capture.walk.tree import MOST_FULL_NODES, TreeBuilder

_recorders: dict[int, CallRecorder] = {}  # by id of the model; of one process


def snapshot(model: Any) -> dict[str, Any]:
    """{tree, pid, rank, torch, gpu, limitations} of this process."""
    import torch

    builder = TreeBuilder()
    tree = builder.build(model)
    limitations = []
    if builder.is_short:
        limitations.append(
            f"More than {MOST_FULL_NODES} modules: the source flow of a class stands at its first "
            "module, to which the others point (same_as)."
        )
    return {
        "tree": tree,
        "pid": os.getpid(),
        # Not `process_rank`: a model of transformers has one rank, whatever a launcher says.
        "rank": (distributed_rank() or (0, 1))[0],
        "torch": str(torch.__version__),
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else None,
        "limitations": limitations,
    }


def start_recording(model: Any) -> None:
    """Hooks the model of this process; what is recorded waits for `stop_recording`."""
    recorder = _recorders[id(model)] = CallRecorder(model)
    recorder.install()


def stop_recording(model: Any) -> dict[str, Any]:
    """Takes the hooks off: {call_order, invocations, limitations}."""
    recorder = _recorders.pop(id(model))
    recorder.remove()
    return calls_of(recorder)


def calls_of(recorder: CallRecorder) -> dict[str, Any]:
    """What a recorder saw, as the document has it."""
    limitations = []
    if recorder.n_left_out:
        limitations.append(
            f"{recorder.n_left_out} invocations beyond the first {MOST_INVOCATIONS} are left out."
        )
    for name in recorder.ambiguous_classes():
        limitations.append(
            f"Several classes are called {name}: a trace numbers each from 0, so their modules "
            "cannot be told apart by name and are not in call_order."
        )
    order = recorder.call_order()
    if not order:
        limitations.append(
            "The forward called no module through its hooks: compiled or captured models run past "
            "them."
        )
    return {
        "call_order": order,
        "invocations": recorder.invocations,
        "limitations": limitations,
    }
