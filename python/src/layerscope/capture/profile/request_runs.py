"""Each planned request: run to warm up, run for its latency, run and recorded. In any engine."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Protocol

from layerscope.capture.model_files import CONFIG
from layerscope.capture.output import as_json, write_json
from layerscope.capture.profile.plan import ProfilePlan, Recorded, file_name

_WARM_TOKENS = 2  # a prefill and a decode step


class ProfiledEngine(Protocol):
    """A model that an engine has loaded."""

    def config(self) -> Mapping[str, Any]:
        """The Hugging Face config as the engine understood it."""

    def trees(self, input_len: int) -> list[dict[str, Any]]:
        """The module tree of each rank, by a forward of so many tokens."""

    def prompt(self, length: int, seed: int) -> Any:
        """Random token ids, the same for the same seed."""

    def run(self, prompt: Any, output_len: int) -> None:
        """Runs it to exactly `output_len` tokens; the device is idle when this returns."""

    def record(self, prompt: Any, output_len: int, name: str) -> None:
        """The same, recorded: a file `name` in the folder of each rank, in place of one there."""


def folder_of(folder: Path, rank: int) -> Path:
    """Rank 0 is what `layerscope requests FOLDER` reads; the others lie below it."""
    return folder if rank == 0 else folder / f"rank{rank}"


def record_requests(
    plan: ProfilePlan, engine: ProfiledEngine, folder: Path, report: Callable[[str], None]
) -> list[Recorded]:
    """Records each request of the plan into `folder`, beside the config and the module trees."""
    write_json(folder / CONFIG, as_json(engine.config()))
    if plan.has_modules:
        for tree in engine.trees(plan.tree_tokens):
            write_json(folder_of(folder, tree["rank"]) / "model_tree.json", tree)
    recorded = []
    for index, request in enumerate(plan.requests):
        prompt = engine.prompt(request.prompt_tokens, plan.seed + index)
        latency_ns = None
        for _ in range(plan.warmup):
            began = time.perf_counter_ns()
            engine.run(prompt, request.output_tokens)
            latency_ns = time.perf_counter_ns() - began
        name = file_name(index)
        if index == 0 and plan.warmup:  # the first forwards under a profiler are slower
            engine.record(prompt, min(_WARM_TOKENS, request.output_tokens), name)
        engine.record(prompt, request.output_tokens, name)
        recorded.append(Recorded(name, latency_ns))
        report(f"{name}: {request.prompt_tokens} + {request.output_tokens} tokens")
    return recorded
