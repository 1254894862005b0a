"""Stub of TensorRT-LLM 1.x with its PyTorch backend: LLM here, the executor in another process."""

__version__ = "1.2.0"

from tensorrt_llm.llm import LLM, SamplingParams

__all__ = ["LLM", "SamplingParams"]
