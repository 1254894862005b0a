"""vLLM's offline class `LLM`: made with a profiler, run with exact numbers of tokens, ended."""

from __future__ import annotations

import contextlib
import io
import os
from collections.abc import Callable, Iterator, MutableMapping
from pathlib import Path
from typing import Any

from layerscope.capture import interrupts, processes
from layerscope.capture.errors import CaptureError, of_foreign_code
from layerscope.capture.model_options import ModelOptions
from layerscope.capture.profiler import quiet_without_gpu
from layerscope.capture.random_prompts import prompts_of, tokens_within
from layerscope.capture.trace_files import traces_below
from layerscope.capture.vllm_profiler import VllmProfiler

# Functions are sent to the workers by pickle, which vLLM allows only when it is asked for.
_PICKLE = "VLLM_ALLOW_INSECURE_SERIALIZATION"
_MULTIPROCESSING = "VLLM_ENABLE_V1_MULTIPROCESSING"
# Its lines for information would bury those of the command.
_LOGGING = "VLLM_LOGGING_LEVEL"
_PROFILER_FAILED = "vLLM's profiler failed"
_SAYS_MORE = f"its log above says more, and all with {_LOGGING}=INFO before the command"


def llm_keywords(options: ModelOptions, *, eager: bool) -> dict[str, Any]:
    """The keywords of vllm.LLM. `--engine-arg` has the last word."""
    keywords: dict[str, Any] = {
        "model": options.model,
        "dtype": options.dtype,
        "trust_remote_code": options.trust_remote_code,
        "tensor_parallel_size": options.tensor_parallel,
        "pipeline_parallel_size": options.pipeline_parallel,
        "enforce_eager": eager,
        # A prompt that ran before (the warm-up) would else be taken from the cache.
        "enable_prefix_caching": False,
    }
    if options.dummy_weights:
        keywords["load_format"] = "dummy"
    return {**keywords, **options.engine_args}


@contextlib.contextmanager
def offline_llm(
    options: ModelOptions,
    *,
    eager: bool,
    profiler: VllmProfiler | None,
    environment: MutableMapping[str, str] = os.environ,
) -> Iterator[Any]:
    """A loaded vllm.LLM; all that it started is ended when the block is left.

    Errors: `CaptureError` with vLLM's last message where it cannot load the model.
    """
    environment.setdefault(_PICKLE, "1")
    environment.setdefault(_LOGGING, "WARNING")
    with processes.adopted():
        try:
            with interrupts.lasting():
                llm = make_llm(llm_keywords(options, eager=eager), profiler, environment)
        except Exception as error:  # whatever an engine raises: missing files, memory, libraries
            raise CaptureError(
                f"vLLM cannot load {options.model}: {_end_of(error)}",
                f"{_SAYS_MORE}; --engine-arg passes on what it asks for "
                "(max_model_len=4096, gpu_memory_utilization=0.8)",
            ) from error
        try:
            yield llm
        finally:
            end_llm(llm)


def make_llm(
    keywords: dict[str, Any],
    profiler: VllmProfiler | None,
    environment: MutableMapping[str, str] = os.environ,
) -> Any:
    """A vllm.LLM with a profiler, unless the keywords have one of their own.

    One rank runs in this process: it starts faster, and there is one process less to record.
    """
    if keywords["tensor_parallel_size"] == keywords["pipeline_parallel_size"] == 1:
        environment.setdefault(_MULTIPROCESSING, "0")
    if profiler is not None:
        environment.update(profiler.environment())
        quiet_without_gpu(environment)
        if config := profiler.config():
            keywords = {"profiler_config": config, **keywords}
    import vllm

    return vllm.LLM(**keywords)


def _end_of(error: Exception) -> str:
    """The last lines of a message: engines put what a worker said before them."""
    lines = str(error).strip().splitlines()[-4:]
    return "\n  ".join(lines) if lines else type(error).__name__


def end_llm(llm: Any) -> None:
    """Ends the engine core, and with it the workers; no error where they died already."""
    core = getattr(getattr(llm, "llm_engine", None), "engine_core", None)
    with contextlib.suppress(Exception):
        core.shutdown()  # type: ignore[union-attr]


def random_prompt(llm: Any, length: int, seed: int) -> list[int]:
    """Token ids, the same for the same seed."""
    size = int(llm.llm_engine.vllm_config.model_config.get_vocab_size())
    return prompts_of(1, length, tokens_within(size), seed)[0]


def generate(llm: Any, prompt: list[int], output_len: int) -> None:
    """Runs one prompt to exactly `output_len` tokens; an end-of-text token does not end it."""
    import vllm

    sampling = vllm.SamplingParams(
        temperature=0.0, max_tokens=output_len, min_tokens=output_len, ignore_eos=True
    )
    try:
        llm.generate({"prompt_token_ids": prompt}, sampling, use_tqdm=False)
    except Exception as error:  # of its kernels, of memory, of workers that died
        raise CaptureError(
            f"vLLM failed on a prompt of {len(prompt)} tokens: {_end_of(error)}",
            _SAYS_MORE,
        ) from error


@contextlib.contextmanager
def ended_by(end: Callable[[], None]) -> Iterator[None]:
    """Calls `end` behind the block. Where the block fails, its error is the one that is raised."""
    try:
        yield
    except BaseException:
        with contextlib.suppress(Exception):  # an engine that died cannot end anything either
            end()
        raise
    end()


@contextlib.contextmanager
def profiled(llm: Any, profiler: VllmProfiler) -> Iterator[list[Path]]:
    """Records the block on every rank; the list is then the new files, sorted by name.

    Errors: `CaptureError` where the profiler fails, or wrote no trace.
    """

    def stop() -> None:
        # A table of some 50 lines, of a CPU.
        with of_foreign_code(_PROFILER_FAILED), contextlib.redirect_stdout(io.StringIO()):
            llm.stop_profile()

    before = traces_below(profiler.folder)
    files: list[Path] = []
    with of_foreign_code(_PROFILER_FAILED):
        llm.start_profile()
    with ended_by(stop):
        yield files
    files += [path for path in traces_below(profiler.folder) if path not in before]
    if not files:
        raise CaptureError(
            "vLLM's profiler wrote no trace",
            f"it was told to write into {profiler.folder}; vLLM's log says why it did not",
        )


def config_of(llm: Any) -> dict[str, Any]:
    """The Hugging Face config as vLLM has it."""
    config: dict[str, Any] = llm.llm_engine.vllm_config.model_config.hf_config.to_dict()
    return config


def world_of(llm: Any) -> dict[str, int]:
    """{tp, pp, dp, ep} as vLLM runs it; ep is 1 where experts are not spread."""
    parallel = llm.llm_engine.vllm_config.parallel_config
    tp, dp = int(parallel.tensor_parallel_size), int(parallel.data_parallel_size)
    spread = bool(getattr(parallel, "enable_expert_parallel", False))
    return {
        "tp": tp,
        "pp": int(parallel.pipeline_parallel_size),
        "dp": dp,
        "ep": tp * dp if spread else 1,
    }
