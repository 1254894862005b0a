"""Which requests are recorded, how, and what request_metadata.json says of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layerscope.capture.model_options import ModelOptions
from layerscope.capture.workload_file import ChosenRequest, WorkloadRequest, choose, read_requests

SCHEMA = "layerscope/requests/1"
METADATA_NAME = "request_metadata.json"
_TREE_TOKENS = 16  # of the forward that records the order of calls


@dataclass(frozen=True)
class PlannedRequest:
    """One prompt: how many tokens go in and come out, and which request of a workload it is."""

    prompt_tokens: int
    output_tokens: int
    chosen: ChosenRequest | None = None  # of a workload file


@dataclass(frozen=True)
class ProfilePlan:
    """What one run of `profile` does."""

    model: ModelOptions
    output: Path
    requests: tuple[PlannedRequest, ...]
    compiled: bool
    warmup: int  # runs of each prompt before its recording
    with_stack: bool
    with_shapes: bool
    seed: int
    force: bool

    @property
    def mode(self) -> str:
        """What request_metadata.json says of the run."""
        return "compiled" if self.compiled else "eager"

    @property
    def has_modules(self) -> bool:
        """Whether the traces have module scopes, which a model tree gives paths."""
        return self.with_stack and not self.compiled

    @property
    def tree_tokens(self) -> int:
        """Tokens of the forward that gives the order of calls; it fits where the requests do."""
        return min(_TREE_TOKENS, longest(self.requests) - 1)


def longest(requests: Sequence[PlannedRequest]) -> int:
    """Tokens of the longest request, prompt and output."""
    return max(request.prompt_tokens + request.output_tokens for request in requests)


def synthetic(n: int, prompt_tokens: int, output_tokens: int) -> tuple[PlannedRequest, ...]:
    """`n` prompts of the same size."""
    return tuple(PlannedRequest(prompt_tokens, output_tokens) for _ in range(n))


def of_workload(path: Path) -> tuple[PlannedRequest, ...]:
    """The fast, the typical and the slow request of a workload, with their numbers of tokens."""
    return tuple(
        PlannedRequest(chosen.request.prompt_tokens, chosen.request.output_tokens, chosen)
        for chosen in choose(read_requests(path))
    )


def file_name(index: int) -> str:
    """request_007.json.gz"""
    return f"request_{index:03}.json.gz"


@dataclass(frozen=True)
class Recorded:
    """What came of one request."""

    file: str
    latency_ns: int | None  # of its last run without the profiler; None: there was none


def metadata(plan: ProfilePlan, engine: Mapping[str, Any], recorded: list[Recorded]) -> Any:
    """request_metadata.json. `latency_ns` is the workload's, else what was measured here."""
    rows = []
    for request, run in zip(plan.requests, recorded, strict=True):
        chosen = request.chosen
        source: WorkloadRequest | None = chosen.request if chosen else None
        rows.append(
            {
                "file": run.file,
                "label": chosen.label if chosen else None,
                "percentile": chosen.percentile if chosen else None,
                "prompt_tokens": request.prompt_tokens,
                "output_tokens": request.output_tokens,
                "latency_ns": source.latency_ns if source else run.latency_ns,
                "measured_latency_ns": run.latency_ns,
                "source_index": source.index if source else None,
            }
        )
    return {
        "schema": SCHEMA,
        "model": plan.model.model,
        "engine": engine["name"],
        "engine_version": engine["version"],
        "mode": plan.mode,
        "warmup": plan.warmup,
        "with_stack": plan.with_stack,
        "dummy_weights": plan.model.dummy_weights,
        "requests": rows,
    }
