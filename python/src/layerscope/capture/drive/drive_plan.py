"""What a drive shall run: an engine, a model, and decode steps as (batch, past length)."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from layerscope.capture import engines
from layerscope.capture.context_length import check_context_length
from layerscope.capture.errors import INVALID_INPUT, USAGE, CaptureError
from layerscope.capture.in_engine.settings import Point
from layerscope.capture.small_files import read_object

# Not .json: layerscope takes the JSON files of a folder for traces of ranks.
PLAN_FILE = "drive.plan"
SUMMARY_FILE = "drive.summary"

# Marked steps of one run: they reach the engine's processes in one variable of the environment, for
# which Linux has 128 KiB, as `[batch, past], ` of up to ten digits each.
_MOST_POINTS = 5000

# SGLang takes prompts of its context less 6 tokens, and gives two tokens less than are left of it
# (`max_req_input_len` and `init_req_max_new_tokens` of its scheduler, 0.4 to 0.5).
_SGLANG_RESERVE = 6


@dataclass(frozen=True)
class DrivePlan:
    """One model loaded once; each batch size runs each input length.

    Milestone m is the m-th decode step behind the prefill: its past length (tokens in the KV cache
    of each request when the step begins) is input length + m - 1. Of `output_len` tokens the first
    comes from the prefill, so that `output_len - 1` decode steps run.
    """

    engine: str
    model: str
    batch_sizes: tuple[int, ...]
    input_lens: tuple[int, ...]
    output_len: int
    milestones: tuple[int, ...]
    warmup: int = 1  # rounds of each point that are run before and not marked
    repeat: int = 1  # rounds that are marked
    dtype: str = "auto"
    quantization: str | None = None
    kv_cache_dtype: str = "auto"
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    expert_parallel: int = 1
    dummy_weights: bool = False
    trust_remote_code: bool = False
    eager: bool = False
    profiler: str = "none"  # nsys, torch, none: what records; the session starts only torch's
    backends: tuple[str, ...] = ("nvtx",)
    engine_args: dict[str, Any] = field(default_factory=dict)

    def check(self, *, shorter: str = "give a smaller --input-len or --output-len") -> None:
        """Raises CaptureError where the numbers do not fit each other, or the model's config.

        `shorter` is the advice for requests that are too long.
        """
        points = len(self.batch_sizes) * len(self.input_lens) * len(self.milestones)
        if points > _MOST_POINTS:  # before any is made
            raise CaptureError(
                f"{points} steps to mark, more than the {_MOST_POINTS} of a run",
                "name fewer batch sizes or lengths; several runs can have the others",
                USAGE,
            )
        steps = self.output_len - 1
        beyond = [m for m in self.milestones if m > steps]
        if beyond:
            raise CaptureError(
                f"milestone {max(beyond)} is not reached: --output-len {self.output_len} has "
                f"{steps} decode steps (the first token comes from the prefill)",
                f"use --output-len {max(beyond) + 1}",
                USAGE,
            )
        if self.warmup < 1:
            raise CaptureError(
                "without a warm-up round the prompts are prefilled in several steps, and the "
                "requests of a batch do not decode at the same past length",
                "use --warmup 1 or more",
                USAGE,
            )
        self._check_experts()
        if self.eager and "annotations" in self.backends:
            raise CaptureError(
                "annotations name the nodes of CUDA graphs, and decode runs without them",
                "leave --eager out, or choose another --backend",
                USAGE,
            )
        check_context_length(self.model, self.max_model_len, self.engine_args, hint=shorter)

    def _check_experts(self) -> None:
        """vLLM has no size of expert parallelism: off, or over tensor and data parallelism."""
        if self.engine != engines.VLLM or self.expert_parallel == 1:
            return
        ranks = self.tensor_parallel
        for keyword in ("data_parallel_size", "prefill_context_parallel_size"):
            more = self.engine_args.get(keyword, 1)
            ranks *= more if isinstance(more, int) else 1
        if self.expert_parallel != ranks:
            raise CaptureError(
                f"vLLM cannot share the experts among {self.expert_parallel} GPUs of {ranks}",
                f"expert parallelism is 1 there, or that of all: {ranks}",
                USAGE,
            )

    @property
    def points(self) -> frozenset[Point]:
        """The (batch, past length) of all steps that are marked."""
        return frozenset(
            (batch, length + milestone - 1)
            for batch in self.batch_sizes
            for length in self.input_lens
            for milestone in self.milestones
        )

    @property
    def max_model_len(self) -> int:
        """Tokens that the engine is told to have room for in a request."""
        reserve = _SGLANG_RESERVE if self.engine == engines.SGLANG else 0
        return max(self.input_lens) + self.output_len + reserve

    def to_json(self) -> str:
        """One document, for the session's process and for those who read the folder."""
        return json.dumps(asdict(self), ensure_ascii=False, indent=1) + "\n"

    @staticmethod
    def load(file: Path) -> DrivePlan:
        """Reads a plan; raises CaptureError."""
        fields = read_object(file, "the plan of a drive")
        try:
            lists: dict[str, Any] = {
                key: tuple(v) if isinstance(v, list) else v for key, v in fields.items()
            }
            plan = DrivePlan(**lists)
            plan.to_json().encode()  # a text of it can be made, as fingerprints of runs are
            return plan
        except (ValueError, TypeError, RecursionError) as error:
            raise CaptureError(f"{file} is no drive plan: {error}", "", INVALID_INPUT) from None
