"""`walk` in vLLM: the model of every rank, seen in its worker."""

from __future__ import annotations

from typing import Any

from layerscope.capture import engines, vllm_offline
from layerscope.capture.errors import of_foreign_code
from layerscope.capture.model_options import ModelOptions
from layerscope.capture.vllm_profiler import VllmProfiler
from layerscope.capture.walk.document import ProfilePlace, Run, document
from layerscope.capture.walk.snapshot import snapshot, start_recording, stop_recording


def walk_vllm(
    options: ModelOptions, run_id: str, input_len: int | None, profile: ProfilePlace | None
) -> list[dict[str, Any]]:
    """One document a rank; see `transformers_walk.walk_transformers`."""
    profiler = None if profile is None else VllmProfiler(profile.now)
    with vllm_offline.offline_llm(options, eager=True, profiler=profiler) as llm:
        return trees_of(options, llm, run_id, input_len, profile)


def trees_of(
    options: ModelOptions,
    llm: Any,
    run_id: str,
    input_len: int | None,
    profile: ProfilePlace | None = None,
) -> list[dict[str, Any]]:
    """The documents of a started engine, in order of ranks."""
    with of_foreign_code(f"the modules of {options.model} cannot be read"):
        return _trees_of(options, llm, run_id, input_len, profile)


def _trees_of(
    options: ModelOptions,
    llm: Any,
    run_id: str,
    input_len: int | None,
    profile: ProfilePlace | None,
) -> list[dict[str, Any]]:
    run = Run(
        model=options.model,
        source="loaded_vllm_worker",
        run_id=run_id,
        engine={"name": engines.VLLM, "version": engines.version_of(engines.VLLM)},
        config=vllm_offline.config_of(llm),
        world=vllm_offline.world_of(llm),
        dummy_weights=options.dummy_weights,
        profile_dir=None if profile is None else str(profile.final),
    )
    profiler = None if profile is None else VllmProfiler(profile.now)
    documents = [document(run, one) for one in see(llm, input_len, profiler)]
    return sorted(documents, key=lambda made: int(made["rank"]))


def see(llm: Any, input_len: int | None, profiler: VllmProfiler | None) -> list[dict[str, Any]]:
    """What `document` takes, of each rank."""
    seen: list[dict[str, Any]] = llm.apply_model(snapshot)
    if input_len is None:
        return seen
    prompt = vllm_offline.random_prompt(llm, input_len, seed=0)
    calls: list[dict[str, Any]] = []
    llm.apply_model(start_recording)
    with vllm_offline.ended_by(lambda: calls.extend(llm.apply_model(stop_recording))):
        vllm_offline.generate(llm, prompt, output_len=1)
    for one, called in zip(seen, calls, strict=True):
        one["calls"] = called
    if profiler is not None:
        with vllm_offline.profiled(llm, profiler):
            vllm_offline.generate(llm, prompt, output_len=1)
    return seen
