"""A stand-in for vLLM's offline API, with the signatures of 0.32: LLM, SamplingParams.

`LLM` runs tiny transformers models, one a rank, so that hooks and profiler see real calls. Rank
files are named as vLLM names them.
"""

from __future__ import annotations

import itertools
import sys
import types
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

_clock = itertools.count(1_700_000_000)


class SamplingParams:
    def __init__(
        self,
        *,
        temperature: float = 1.0,
        max_tokens: int = 16,
        min_tokens: int = 0,
        ignore_eos: bool = False,
    ) -> None:
        self.max_tokens = max_tokens
        self.is_exact = ignore_eos and min_tokens == max_tokens and temperature == 0.0


class LLM:
    """`made` has every instance of a test, with the keywords it was made with."""

    made: list[LLM]
    rank_names = ("rank{rank}.{ns}.pt.trace.json.gz",)

    def __init__(self, model: str, **keywords: Any) -> None:
        from layerscope.capture import transformers_model
        from layerscope.capture.model_options import ModelOptions

        if not Path(model).is_dir():
            raise ValueError(f"Engine core failed:\n{model} is no model")
        self.keywords = {"model": model, **keywords}
        self.n_ranks = keywords["tensor_parallel_size"] * keywords["pipeline_parallel_size"]
        loaded = ModelOptions(model, "transformers", device="cpu")
        self.models = [transformers_model.load(loaded) for _ in range(self.n_ranks)]
        config = self.models[0].config
        parallel = SimpleNamespace(
            tensor_parallel_size=keywords["tensor_parallel_size"],
            pipeline_parallel_size=keywords["pipeline_parallel_size"],
            data_parallel_size=1,
            enable_expert_parallel=keywords.get("enable_expert_parallel", False),
        )
        model_config = SimpleNamespace(hf_config=config, get_vocab_size=lambda: config.vocab_size)
        self.was_shut_down = False
        self.llm_engine = SimpleNamespace(
            vllm_config=SimpleNamespace(model_config=model_config, parallel_config=parallel),
            engine_core=SimpleNamespace(shutdown=self._shut_down),
        )
        self.prompts: list[tuple[int, int]] = []
        self._profiler: Any = None
        LLM.made.append(self)

    def _shut_down(self) -> None:
        self.was_shut_down = True

    def apply_model(self, func: Callable[[Any], Any]) -> list[Any]:
        """The function must be of an importable module: it goes to the workers by name."""
        assert getattr(sys.modules[func.__module__], func.__name__) is func
        results = []
        for rank, model in enumerate(self.models):
            result = func(model)
            if isinstance(result, dict) and "rank" in result:
                result["rank"] = rank
            results.append(result)
        return results[::-1]  # no order is promised

    def generate(self, prompts: Any, sampling_params: Any, *, use_tqdm: bool = True) -> list[Any]:
        import torch

        from layerscope.capture import transformers_model

        assert sampling_params.is_exact and not use_tqdm
        ids, n_out = prompts["prompt_token_ids"], sampling_params.max_tokens
        self.prompts.append((len(ids), n_out))
        for model in self.models:
            transformers_model.generate(model, torch.tensor([ids]), n_out)
        return [SimpleNamespace(outputs=[SimpleNamespace(token_ids=[0] * n_out)])]

    def start_profile(self, profile_prefix: str | None = None) -> None:
        import torch

        self._profiler = torch.profiler.profile(
            activities=[torch.profiler.ProfilerActivity.CPU], with_stack=True
        )
        self._profiler.start()

    def stop_profile(self) -> None:
        self._profiler.stop()
        folder = Path(self.keywords["profiler_config"]["torch_profiler_dir"])
        first = folder / self.rank_names[0].format(rank=0, ns=next(_clock))
        self._profiler.export_chrome_trace(str(first))
        for rank in range(1, self.n_ranks):
            other = folder / self.rank_names[0].format(rank=rank, ns=next(_clock))
            other.write_bytes(first.read_bytes())
        (folder / f"host_1.async_llm.{next(_clock)}.pt.trace.json.gz").write_bytes(b"front end")


def install(monkeypatch: pytest.MonkeyPatch) -> type[LLM]:
    """`import vllm` gives the stand-in for one test."""
    LLM.made = []
    vllm = types.ModuleType("vllm")
    vllm.__dict__.update(LLM=LLM, SamplingParams=SamplingParams)
    vllm.__spec__ = SimpleNamespace(name="vllm")  # type: ignore[assignment]
    monkeypatch.setitem(sys.modules, "vllm", vllm)
    return LLM
