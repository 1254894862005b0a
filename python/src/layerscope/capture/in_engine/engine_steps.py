"""The batch and past length of the step that an engine is about to run.

Read off the arguments of the worker's method, so that no engine is imported for it. Signatures:
vLLM 0.10 to 0.32 (`Worker.execute_model`), SGLang 0.4 to 0.5 (`ModelRunner.forward`), TensorRT-LLM
1.0 to 1.4 (`PyTorchModelEngine.forward`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from layerscope.capture import engines
from layerscope.capture.in_engine.settings import Point


def uniform(pasts: Iterable[int]) -> Point | None:
    """The point of requests that all stand at one past length; None where they do not."""
    lengths = list(pasts)
    if not lengths or min(lengths) != max(lengths):
        return None
    return len(lengths), lengths[0]


def vllm_point(worker: Any, scheduler_output: Any, *args: Any, **kwargs: Any) -> Point | None:
    """Of vllm.v1.core.sched.output.SchedulerOutput."""
    cached = scheduler_output.scheduled_cached_reqs
    if scheduler_output.scheduled_new_reqs:
        return None
    if any(tokens != 1 for tokens in scheduler_output.num_scheduled_tokens.values()):
        return None
    return uniform(cached.num_computed_tokens)


def sglang_point(runner: Any, forward_batch: Any, *args: Any, **kwargs: Any) -> Point | None:
    """Of a ForwardBatch; its sequence lengths count the token that is being decoded."""
    if not forward_batch.forward_mode.is_decode() or getattr(runner, "is_draft_worker", False):
        return None
    lengths = getattr(forward_batch, "seq_lens_cpu", None)
    if lengths is not None:
        return uniform(int(length) - 1 for length in lengths)
    batch = int(forward_batch.batch_size)
    total = int(forward_batch.seq_lens_sum)
    return (batch, total // batch - 1) if batch and total % batch == 0 else None


def trtllm_point(engine: Any, scheduled_requests: Any, *args: Any, **kwargs: Any) -> Point | None:
    """Of ScheduledRequests; the tokens of a request count the one that is being decoded."""
    if getattr(engine, "in_warmup", False) or getattr(engine, "is_warmup", False):
        return None
    if scheduled_requests.context_requests or getattr(engine, "is_draft_model", False):
        return None
    requests = scheduled_requests.generation_requests
    return uniform(int(request.max_beam_num_tokens) - 1 for request in requests)


@dataclass(frozen=True)
class StepPoint:
    """The method of an engine's worker that runs one step, and what says its point."""

    engine: str
    module: str
    class_name: str
    method: str
    point: Callable[..., Point | None]


STEP_POINTS = (
    StepPoint(engines.VLLM, "vllm.v1.worker.gpu_worker", "Worker", "execute_model", vllm_point),
    StepPoint(
        engines.SGLANG,
        "sglang.srt.model_executor.model_runner",
        "ModelRunner",
        "forward",
        sglang_point,
    ),
    StepPoint(
        engines.TENSORRT_LLM,
        "tensorrt_llm._torch.pyexecutor.model_engine",
        "PyTorchModelEngine",
        "forward",
        trtllm_point,
    ),
)
