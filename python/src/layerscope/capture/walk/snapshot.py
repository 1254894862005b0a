"""What is seen of a model in the process that holds it. The functions here run in vLLM's workers:
they take the model, keep what they need in this module, and give back plain values."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from layerscope.capture.counted import counted
from layerscope.capture.in_engine.process_rank import distributed_rank
from layerscope.capture.walk.call_order import MOST_INVOCATIONS, OUTSIDE, CallRecorder
from layerscope.capture.walk.tree import MOST_FULL_NODES, TreeBuilder

_MOST_NAMED = 5
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
    order = recorder.call_order()
    return {
        "call_order": order,
        "invocations": recorder.invocations,
        "limitations": list(_limitations(recorder, order)),
    }


def _limitations(recorder: CallRecorder, order: list[dict[str, str]]) -> Iterator[str]:
    if recorder.n_left_out:
        yield f"{recorder.n_left_out} invocations beyond the first {MOST_INVOCATIONS} are left out."
    if recorder.n_scripts:
        yield (
            f"{counted(recorder.n_scripts, 'ScriptModule')} not in invocations: TorchScript takes "
            "no hooks. Those inside of another are not in call_order either, nor in a trace."
        )
    for name in recorder.ambiguous_classes():
        yield (
            f"Several classes are called {name}: a trace numbers each from 0, so their modules "
            "cannot be told apart by name and are not in call_order."
        )
    if unseen := recorder.only_in_new_threads():
        named = ", ".join(unseen[:_MOST_NAMED]) + (", …" if len(unseen) > _MOST_NAMED else "")
        yield (
            f"Called only in threads that began during the forward, and not in call_order: {named}."
            " A trace has such a thread, and other numbers, where it lives on until the next "
            "recording starts."
        )
    outside = [entry["class"] for entry in order if entry["path"].startswith(OUTSIDE)]
    for name in dict.fromkeys(outside):
        yield (
            f"{OUTSIDE}: the forward calls {counted(outside.count(name), name)} that the tree has "
            "not. Where each forward makes them anew, a trace of several forwards has more, or "
            f"gives several one number: its {name}_k are then others than here."
        )
    if not order:
        yield (
            "The forward called no module through its hooks: compiled or captured models run past "
            "them."
        )
