"""`profile` in plain transformers."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from layerscope.capture import profiler, transformers_model
from layerscope.capture.output import write_json
from layerscope.capture.profile.plan import (
    TREE_TOKENS,
    PlannedRequest,
    ProfilePlan,
    Recorded,
    file_name,
)
from layerscope.capture.walk import transformers_walk
from layerscope.capture.walk.document import as_json

Report = Callable[[str], None]


def profile_transformers(plan: ProfilePlan, folder: Path, report: Report) -> list[Recorded]:
    """Loads the model and records each request into `folder`."""
    import torch

    model = transformers_model.load(plan.model)
    write_json(folder / "config.json", as_json(model.config.to_dict()))
    if plan.has_modules:
        tree = transformers_walk.tree_of(plan.model, model, str(uuid.uuid4()), TREE_TOKENS)
        write_json(folder / "model_tree.json", tree)
    runs = torch.compile(model) if plan.compiled else model
    profiler.prime()
    recorded = []
    for index, request in enumerate(plan.requests):
        prompt = transformers_model.random_prompt(model, request.prompt_tokens, plan.seed + index)
        recorded.append(_record(plan, runs, prompt, request, folder / file_name(index)))
        report(f"{file_name(index)}: {request.prompt_tokens} + {request.output_tokens} tokens")
    return recorded


def _record(
    plan: ProfilePlan, model: Any, prompt: Any, request: PlannedRequest, path: Path
) -> Recorded:
    latency_ns = None
    for _ in range(plan.warmup):
        profiler.synchronize()
        began = time.perf_counter_ns()
        transformers_model.generate(model, prompt, request.output_tokens)
        profiler.synchronize()
        latency_ns = time.perf_counter_ns() - began
    with profiler.recording(path, with_stack=plan.with_stack, with_shapes=plan.with_shapes):
        transformers_model.generate(model, prompt, request.output_tokens)
    return Recorded(path.name, latency_ns)
