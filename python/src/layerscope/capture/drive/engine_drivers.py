"""One face for the offline interfaces of the three engines: start, decode a batch, stop."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from layerscope.capture import engines, vllm_offline
from layerscope.capture.drive.drive_plan import DrivePlan
from layerscope.capture.errors import CaptureError
from layerscope.capture.hooks.canonical_rule import RULES, rule_of, with_batches
from layerscope.capture.model_files import load_config, locate, text_config
from layerscope.capture.random_prompts import Prompts
from layerscope.capture.vllm_profiler import VllmProfiler

# In vLLM a request of which all is cached still computes its last block, and the batch begins to
# decode together only where these fit one step. Block size and budget are vLLM's defaults; kernels
# of latent attention (MLA) take blocks of 32, 64 or 128. Those of hybrid models depend on the size
# of their states: there the hint of `drive` names the budget.
_VLLM_BLOCK, _VLLM_MLA_BLOCK, _VLLM_BUDGET = 16, 128, 8192


def _is_default(value: object) -> bool:
    return value is not True and value in (None, False, 1, "auto")


def vllm_block_tokens(plan: DrivePlan) -> int:
    """The most tokens that a block of vLLM's KV cache holds, as far as it is known beforehand."""
    given = plan.engine_args.get("block_size")
    if isinstance(given, int):
        return given
    try:
        text = text_config(load_config(locate(plan.model).config))
    except CaptureError:  # of the hub, and not here yet
        return _VLLM_BLOCK
    return _VLLM_MLA_BLOCK if text.get("kv_lora_rank") else _VLLM_BLOCK


class EngineDriver(Protocol):
    """A loaded engine."""

    def decode(self, prompts: Prompts, output_len: int) -> None:
        """Runs all prompts as one batch, `output_len` tokens each, whatever comes out."""

    def start_profile(self) -> None:
        """Begins a trace of PyTorch's profiler in each worker, below the folder of the plan."""

    def stop_profile(self) -> None:
        """Ends it; the files are there when this returns."""

    def stop(self) -> None:
        """Ends the engine's processes."""


def canonical_options(plan: DrivePlan, known: Callable[[str], bool]) -> dict[str, Any]:
    """The keywords of the canonical rule for the installed version; with --eager, of no graphs.

    `known` says whether the engine has a keyword: of a version that is none (a build from source),
    the newest rule whose keywords it has is taken.
    """
    version = engines.version_of(plan.engine)
    rules = [rule for rule in reversed(RULES) if rule.engine == plan.engine]
    try:
        rules.insert(0, rule_of(plan.engine, version))
    except CaptureError:
        if not plan.eager:  # an older version runs without graphs all the same
            raise
    for rule in rules:
        keywords = rule.prefill if plan.eager else rule.decode
        if all(known(keyword) for keyword in keywords):
            return {k: with_batches(v, plan.batch_sizes) for k, v in keywords.items()}
    raise CaptureError(
        f"{plan.engine} {version or ''} takes none of the known options for full decode graphs",
        "use --eager, or give its own options with --engine-arg",
    )


class VllmDriver:
    """vllm.LLM."""

    def __init__(self, plan: DrivePlan, folder: Path) -> None:
        # Workers that are spawned start Python, and with it the hooks.
        os.environ.setdefault("VLLM_WORKER_MULTIPROC_METHOD", "spawn")
        options: dict[str, Any] = {
            "model": plan.model,
            "skip_tokenizer_init": True,
            "dtype": plan.dtype,
            "quantization": plan.quantization,
            "kv_cache_dtype": plan.kv_cache_dtype,
            "load_format": "dummy" if plan.dummy_weights else "auto",
            "trust_remote_code": plan.trust_remote_code,
            "tensor_parallel_size": plan.tensor_parallel,
            "pipeline_parallel_size": plan.pipeline_parallel,
            "enable_expert_parallel": plan.expert_parallel > 1,
            "max_num_seqs": max(plan.batch_sizes),
            "max_model_len": plan.max_model_len,
            "enable_prefix_caching": True,
            "disable_log_stats": True,
            "seed": 0,
            **canonical_options(plan, lambda keyword: True),
        }
        first_step = max(plan.batch_sizes) * vllm_block_tokens(plan)
        if first_step > _VLLM_BUDGET:
            options["max_num_batched_tokens"] = first_step
        # The ranges say the modules.
        profiler = VllmProfiler(folder, with_stack=False, with_shapes=False)
        self._llm = vllm_offline.make_llm(
            {**options, **plan.engine_args}, profiler if plan.profiler == "torch" else None
        )

    def decode(self, prompts: Prompts, output_len: int) -> None:
        """One call of `generate`."""
        from vllm import SamplingParams

        self._llm.generate(
            [{"prompt_token_ids": prompt} for prompt in prompts],
            SamplingParams(
                temperature=0.0, max_tokens=output_len, ignore_eos=True, detokenize=False
            ),
            use_tqdm=False,
        )

    def start_profile(self) -> None:
        """In every worker."""
        self._llm.start_profile()

    def stop_profile(self) -> None:
        """In every worker."""
        self._llm.stop_profile()

    def stop(self) -> None:
        """The engine core ends with its client."""
        vllm_offline.end_llm(self._llm)


class SglangDriver:
    """sglang.Engine."""

    def __init__(self, plan: DrivePlan, folder: Path) -> None:
        from sglang import Engine
        from sglang.srt.server_args import ServerArgs

        self._folder = folder
        fields = inspect.signature(ServerArgs).parameters
        options: dict[str, Any] = {
            "model_path": plan.model,
            "skip_tokenizer_init": True,
            "dtype": plan.dtype,
            "quantization": plan.quantization,
            "kv_cache_dtype": plan.kv_cache_dtype,
            "load_format": "dummy" if plan.dummy_weights else "auto",
            "trust_remote_code": plan.trust_remote_code,
            "tp_size": plan.tensor_parallel,
            "pp_size": plan.pipeline_parallel,
            "ep_size": plan.expert_parallel,
            "max_running_requests": max(plan.batch_sizes),
            "context_length": plan.max_model_len,
            # The scheduler runs ahead otherwise, and a batch's requests fall out of step.
            "disable_overlap_schedule": True,
            "random_seed": 0,
            **canonical_options(plan, lambda keyword: keyword in fields),
        }
        # Versions lack some; what is at its default anyway is not worth an error.
        given = {k: v for k, v in options.items() if k in fields or not _is_default(v)}
        self._engine = Engine(**{**given, **plan.engine_args})

    def decode(self, prompts: Prompts, output_len: int) -> None:
        """One call of `generate`."""
        self._engine.generate(
            input_ids=[list(prompt) for prompt in prompts],
            sampling_params={
                "temperature": 0.0,
                "max_new_tokens": output_len,
                "ignore_eos": True,
            },
        )

    def start_profile(self) -> None:
        """In every scheduler."""
        # The ranges say the modules.
        self._engine.start_profile(output_dir=str(self._folder), with_stack=False)

    def stop_profile(self) -> None:
        """In every scheduler."""
        self._engine.stop_profile()

    def stop(self) -> None:
        """Ends the schedulers."""
        self._engine.shutdown()


class TensorRtDriver:
    """tensorrt_llm.LLM with its PyTorch backend."""

    def __init__(self, plan: DrivePlan, folder: Path) -> None:
        from tensorrt_llm import LLM, SamplingParams

        if plan.quantization is not None:
            raise CaptureError(
                "TensorRT-LLM takes the quantisation of the checkpoint",
                "give a quantised checkpoint, and leave --quantization out",
            )
        self._sampling = SamplingParams
        cache = {"enable_block_reuse": True, "dtype": plan.kv_cache_dtype}
        options: dict[str, Any] = {
            "model": plan.model,
            "skip_tokenizer_init": True,
            "dtype": plan.dtype,
            "load_format": "dummy" if plan.dummy_weights else "auto",
            "trust_remote_code": plan.trust_remote_code,
            "tensor_parallel_size": plan.tensor_parallel,
            "pipeline_parallel_size": plan.pipeline_parallel,
            "max_batch_size": max(plan.batch_sizes),
            "max_seq_len": plan.max_model_len,
            "kv_cache_config": cache,
            # With it the token counts that the worker sees are one step behind.
            "disable_overlap_scheduler": True,
            **canonical_options(plan, lambda keyword: True),
        }
        if plan.expert_parallel > 1:
            options["moe_expert_parallel_size"] = plan.expert_parallel
        self._llm = LLM(**{**options, **plan.engine_args})

    def decode(self, prompts: Prompts, output_len: int) -> None:
        """One call of `generate`; without a tokenizer no end token is known, and -1 is none."""
        self._llm.generate(
            [list(prompt) for prompt in prompts],
            self._sampling(max_tokens=output_len, ignore_eos=True, end_id=-1, pad_id=0),
            use_tqdm=False,
        )

    def start_profile(self) -> None:
        """Refused: its profiler is set by iteration numbers before it starts."""
        raise CaptureError(
            "TensorRT-LLM's torch profiler cannot be started from outside",
            "record with --profiler nsys",
        )

    def stop_profile(self) -> None:
        """Nothing was started."""

    def stop(self) -> None:
        """Ends the workers."""
        self._llm.shutdown()


DRIVERS: dict[str, Callable[[DrivePlan, Path], EngineDriver]] = {
    engines.VLLM: VllmDriver,
    engines.SGLANG: SglangDriver,
    engines.TENSORRT_LLM: TensorRtDriver,
}
