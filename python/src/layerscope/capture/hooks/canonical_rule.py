"""The canonical rule: prefill steps run eager, decode steps as full CUDA graphs.

Then every kernel has a module: those of prefill by their launch, those of decode by the capture of
their graph. What each engine must be told for that changed with its versions, so it is data.
Sources: vLLM's and TensorRT-LLM's documentation of the versions named, pull requests 20059 and
26355 of vLLM, 16331 and 23906 of SGLang.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from layerscope.capture.engines import SGLANG, TENSORRT_LLM, VLLM, parse_version
from layerscope.capture.errors import CaptureError

_BATCHES = "<batches>"  # replaced by the list of batch sizes


@dataclass(frozen=True)
class CanonicalRule:
    """What an engine takes from version `since` on.

    `decode` are keywords of its Python constructor (SGLang: of ServerArgs) for an engine that
    decodes and prefills; `prefill` those for one that only prefills (TensorRT-LLM's context and
    generation configs are two files); `words` the command line of its server, where it has options
    for it. `_BATCHES` stands for the batch sizes.
    """

    engine: str
    since: tuple[int, ...]
    decode: dict[str, Any]
    prefill: dict[str, Any]
    words: tuple[str, ...] = ()
    note: str = ""


def _vllm(key: str) -> dict[str, Any]:
    return {
        "compilation_config": {
            key: 0,
            "cudagraph_mode": "FULL_DECODE_ONLY",
            "cudagraph_capture_sizes": _BATCHES,
        }
    }


_TRTLLM_NOTE = (
    "the generation config as YAML goes to trtllm-serve --config (before 1.2: "
    "--extra_llm_api_options); context steps of that engine run eager, too"
)

RULES = (
    # "level" became "mode" in 0.11.1; full graphs apart from compilation came with 0.10.1.
    CanonicalRule(VLLM, (0, 10, 1), _vllm("level"), {"enforce_eager": True}),
    CanonicalRule(VLLM, (0, 11, 1), _vllm("mode"), {"enforce_eager": True}),
    # Decode graphs are full in all versions. Prefill graphs, in pieces and compiled, became the
    # default in 0.5.10, and options of each phase replaced the old ones in 0.5.13.
    CanonicalRule(
        SGLANG,
        (0, 4),
        {"cuda_graph_bs": _BATCHES},
        {"disable_cuda_graph": True},
        ("--cuda-graph-bs", _BATCHES),
    ),
    CanonicalRule(
        SGLANG,
        (0, 5, 10),
        {"disable_piecewise_cuda_graph": True, "cuda_graph_bs": _BATCHES},
        {"disable_piecewise_cuda_graph": True, "disable_cuda_graph": True},
        ("--disable-piecewise-cuda-graph", "--cuda-graph-bs", _BATCHES),
    ),
    CanonicalRule(
        SGLANG,
        (0, 5, 13),
        {
            "cuda_graph_backend_prefill": "disabled",
            "cuda_graph_backend_decode": "full",
            "cuda_graph_bs_decode": _BATCHES,
        },
        {"cuda_graph_backend_prefill": "disabled", "cuda_graph_backend_decode": "disabled"},
        (
            "--cuda-graph-backend-prefill",
            "disabled",
            "--cuda-graph-backend-decode",
            "full",
            "--cuda-graph-bs-decode",
            _BATCHES,
        ),
    ),
    # Graphs are of generation steps only; `prefill_cuda_graph_backend` and torch.compile, which
    # would change that, are off unless asked for.
    CanonicalRule(
        TENSORRT_LLM,
        (0, 20),
        {
            "use_cuda_graph": True,
            "cuda_graph_batch_sizes": _BATCHES,
            "cuda_graph_padding_enabled": False,
        },
        {"use_cuda_graph": False},
        note=_TRTLLM_NOTE,
    ),
    CanonicalRule(
        TENSORRT_LLM,
        (1, 0),
        {
            "cuda_graph_config": {"batch_sizes": _BATCHES, "enable_padding": False},
            "torch_compile_config": None,
        },
        {"cuda_graph_config": None, "torch_compile_config": None},
        note=_TRTLLM_NOTE,
    ),
)


def rule_of(engine: str, version: str | None) -> CanonicalRule:
    """The rule of an engine's version, the newest without one. Raises CaptureError."""
    rules = [rule for rule in RULES if rule.engine == engine]
    if version is None:
        return rules[-1]
    wanted = parse_version(version)
    fitting = [rule for rule in rules if rule.since <= wanted]
    if not fitting and ".dev" in version:
        return rules[-1]  # a build from source outside of a tagged checkout: 0.1.dev1+g…
    if not fitting:
        oldest = ".".join(map(str, rules[0].since))
        raise CaptureError(
            f"{engine} {version} cannot run decode as full graphs with an eager prefill",
            f"use {oldest} or later",
        )
    return fitting[-1]


def with_batches(value: Any, batches: Sequence[int]) -> Any:
    """`value` with the batch sizes in their place."""
    if value == _BATCHES:
        return sorted(set(batches))
    if isinstance(value, dict):
        return {key: with_batches(part, batches) for key, part in value.items()}
    return value


def command_line(rule: CanonicalRule, batches: Sequence[int]) -> list[str]:
    """The options of the engine's server that say the same; empty for TensorRT-LLM."""
    if rule.engine == VLLM:
        config = with_batches(rule.decode["compilation_config"], batches)
        return ["--compilation-config", json.dumps(config, separators=(",", ":"))]
    words: list[str] = []
    for word in rule.words:
        words += [str(batch) for batch in sorted(set(batches))] if word == _BATCHES else [word]
    return words
