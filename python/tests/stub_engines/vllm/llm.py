from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from stub_keywords import note_keywords
from stub_scheduler import Scheduler


@dataclass
class SamplingParams:
    temperature: float = 1.0
    max_tokens: int = 16
    ignore_eos: bool = False
    detokenize: bool = True


class LLM:
    def __init__(self, **kwargs: Any) -> None:
        assert os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] == "0"
        note_keywords(kwargs)
        from vllm.v1.worker.gpu_worker import Worker

        mode = (kwargs.get("compilation_config") or {}).get("mode", 3)
        self._worker = Worker(SimpleNamespace(mode=0 if kwargs.get("enforce_eager") else mode))
        self._worker.load_model()
        self._profiler_dir = (kwargs.get("profiler_config") or {}).get("torch_profiler_dir")
        self._profiles = 0
        self._calls = 0
        self._scheduler = Scheduler(kwargs.get("max_num_batched_tokens", 48), mixed=True)

    def start_profile(self) -> None:
        assert self._profiler_dir is not None, "no profiler_config"

    def stop_profile(self) -> None:
        self._profiles += 1
        if os.environ.get("STUB_WRITES_NO_TRACE"):
            return
        trace = Path(self._profiler_dir) / f"rank0.{self._profiles}.pt.trace.json"
        trace.write_text("{}")
        if name := os.environ.get("STUB_ANNOTATIONS"):
            (Path(self._profiler_dir) / name).write_text("{}")

    def generate(
        self, prompts: list[dict[str, Any]], sampling_params: SamplingParams, use_tqdm: bool = True
    ) -> list[Any]:
        from vllm.v1.core import output_of

        assert sampling_params.ignore_eos
        if len(prompts) == int(os.environ.get("STUB_FAILS_AT", 0)):
            raise RuntimeError("CUDA out of memory")
        if len(prompts) == int(os.environ.get("STUB_WAITS_AT", 0)):
            prompts = prompts[:-1]  # its KV cache holds one less
        self._calls += 1
        if self._calls == int(os.environ.get("STUB_WAITS_AT_CALL", 0)):
            prompts = prompts[:-1]
        token_ids = [prompt["prompt_token_ids"] for prompt in prompts]
        for step in self._scheduler.run(token_ids, sampling_params.max_tokens):
            self._worker.execute_model(output_of(step))
        return []
