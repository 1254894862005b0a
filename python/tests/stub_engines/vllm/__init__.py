"""Stub of vLLM with the engine core in this process (VLLM_ENABLE_V1_MULTIPROCESSING=0)."""

__version__ = "0.12.0"

from vllm.llm import LLM, SamplingParams

__all__ = ["LLM", "SamplingParams"]
