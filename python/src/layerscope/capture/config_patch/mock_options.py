"""How a model would be spread over GPUs, of which rank 0 is written."""

from __future__ import annotations

from dataclasses import dataclass

from layerscope.capture import engines


@dataclass(frozen=True)
class MockOptions:
    """How the model would be spread over `ranks` GPUs.

    `moe`: "tp" divides each expert, "ep" the number of experts. `shared`: "divided" as engines do
    in plain tensor parallelism, "whole" as they do with DeepEP or attention data parallelism.
    `engine`: TensorRT-LLM divides dense MLPs and shared experts only so far as blocks allow.
    """

    ranks: int
    moe: str = "tp"
    shared: str = "divided"
    engine: str = engines.VLLM
    keep_vocab: bool = False
