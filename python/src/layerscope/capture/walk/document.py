"""model_tree.json: what was seen of the model in one process, and what of the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layerscope.capture.output import as_json

SCHEMA_VERSION = 2

_STATIC = (
    "Source flow is static: all branches, loops once, callees not followed; what ran stands in "
    "call_order and invocations."
)
_NO_FORWARD = (
    "No forward was run: there is no call_order, so a trace's Class_k are matched to paths by the "
    "order of definition alone. Add --with-forward."
)
_ONE_FORWARD = (
    "One forward was run: modules that it did not reach (experts without tokens, other branches) "
    "are not in call_order."
)
_DUMMY = "The weights are random: which experts get tokens says nothing of the real model."


@dataclass(frozen=True)
class ProfilePlace:
    """A folder that is filled at `now` and then moved to `final`."""

    now: Path
    final: Path


@dataclass(frozen=True)
class Run:
    """What is the same for every rank of a walk."""

    model: str
    source: str  # "loaded_vllm_worker" | "loaded_transformers_model"
    run_id: str
    engine: dict[str, str | None]  # name, version
    config: Mapping[str, Any] | None  # the Hugging Face config
    world: dict[str, int]  # tp, pp, dp, ep
    dummy_weights: bool
    profile_dir: str | None = None


def document(run: Run, seen: Mapping[str, Any]) -> dict[str, Any]:
    """The document of one rank; `seen` is what `snapshot.Snapshot.seen` gives."""
    calls = seen.get("calls")
    limitations = [_STATIC, *seen["limitations"]]
    limitations += [_ONE_FORWARD, *calls["limitations"]] if calls else [_NO_FORWARD]
    if run.dummy_weights:
        limitations.append(_DUMMY)
    made = {
        "schema_version": SCHEMA_VERSION,
        "model": run.model,
        "source": run.source,
        "run_id": run.run_id,
        "worker_pid": seen["pid"],
        "config": as_json(run.config),
        "tree": seen["tree"],
        "invocations": calls["invocations"] if calls else [],
        "profile_dir": run.profile_dir,
        "capture_mode": "eager",  # no walk compiles or captures a model
        "limitations": limitations,
        "rank": seen["rank"],
        "world": run.world,
        "engine": run.engine,
        "torch": seen["torch"],
        "gpu": seen["gpu"],
    }
    if calls:
        made["call_order"] = calls["call_order"]
    return made
