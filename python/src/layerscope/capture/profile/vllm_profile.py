"""`profile` in vLLM: each request alone in the engine, every rank recorded."""

from __future__ import annotations

import shutil
import tempfile
import time
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

from layerscope.capture import vllm_offline
from layerscope.capture.output import write_json
from layerscope.capture.profile.plan import (
    TREE_TOKENS,
    PlannedRequest,
    ProfilePlan,
    Recorded,
    file_name,
)
from layerscope.capture.profile.rank_files import files_by_rank
from layerscope.capture.vllm_offline import ProfilerPlan
from layerscope.capture.walk import vllm_walk
from layerscope.capture.walk.document import as_json

Report = Callable[[str], None]


def profile_vllm(plan: ProfilePlan, folder: Path, report: Report) -> list[Recorded]:
    """Starts the engine and records each request: rank 0 into `folder`, rank r into `rank<r>/`."""
    with tempfile.TemporaryDirectory(prefix=".vllm.", dir=folder) as raw:
        profiler = ProfilerPlan(Path(raw), plan.with_stack, plan.with_shapes)
        with vllm_offline.offline_llm(plan.model, eager=not plan.compiled, plan=profiler) as llm:
            config = llm.llm_engine.vllm_config.model_config.hf_config
            write_json(folder / "config.json", as_json(config.to_dict()))
            if plan.has_modules:
                _write_trees(plan, llm, folder)
            recorded = []
            for index, request in enumerate(plan.requests):
                prompt = vllm_offline.random_prompt(llm, request.prompt_tokens, plan.seed + index)
                recorded.append(_record(plan, llm, prompt, request, profiler, folder, index))
                tokens = f"{request.prompt_tokens} + {request.output_tokens} tokens"
                report(f"{file_name(index)}: {tokens}")
    return recorded


def folder_of(folder: Path, rank: int) -> Path:
    """Rank 0 is what `layerscope requests FOLDER` reads; the others lie below it."""
    return folder if rank == 0 else folder / f"rank{rank}"


def _write_trees(plan: ProfilePlan, llm: Any, folder: Path) -> None:
    for tree in vllm_walk.trees_of(plan.model, llm, str(uuid.uuid4()), TREE_TOKENS):
        write_json(folder_of(folder, tree["rank"]) / "model_tree.json", tree)


def _record(
    plan: ProfilePlan,
    llm: Any,
    prompt: list[int],
    request: PlannedRequest,
    profiler: ProfilerPlan,
    folder: Path,
    index: int,
) -> Recorded:
    latency_ns = None
    for _ in range(plan.warmup):
        began = time.perf_counter_ns()
        vllm_offline.generate(llm, prompt, request.output_tokens)
        latency_ns = time.perf_counter_ns() - began
    with vllm_offline.profiled(llm, profiler) as files:
        vllm_offline.generate(llm, prompt, request.output_tokens)
    for rank, file in files_by_rank(files).items():
        place = folder_of(folder, rank) / file_name(index)
        place.parent.mkdir(exist_ok=True)
        shutil.move(file, place)
    return Recorded(file_name(index), latency_ns)
