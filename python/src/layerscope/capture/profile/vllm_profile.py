"""`profile` in vLLM: each request alone in the engine, every rank recorded."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from layerscope.capture import vllm_offline
from layerscope.capture.profile.plan import ProfilePlan
from layerscope.capture.profile.rank_files import files_by_rank
from layerscope.capture.profile.request_runs import ProfiledEngine, folder_of
from layerscope.capture.vllm_profiler import VllmProfiler
from layerscope.capture.walk import vllm_walk


class VllmEngine:
    """The `request_runs.ProfiledEngine` of a vllm.LLM."""

    def __init__(self, plan: ProfilePlan, llm: Any, profiler: VllmProfiler, folder: Path) -> None:
        self._plan = plan
        self._llm = llm
        self._profiler = profiler
        self._folder = folder

    def config(self) -> Mapping[str, Any]:
        """As vLLM has it, with what --engine-arg changed."""
        return vllm_offline.config_of(self._llm)

    def trees(self, input_len: int) -> list[dict[str, Any]]:
        """One a rank."""
        return vllm_walk.trees_of(self._plan.model, self._llm, str(uuid.uuid4()), input_len)

    def prompt(self, length: int, seed: int) -> list[int]:
        """Of the vocabulary of the model."""
        return vllm_offline.random_prompt(self._llm, length, seed)

    def run(self, prompt: list[int], output_len: int) -> None:
        """Tokens are on the host when vLLM gives them back."""
        vllm_offline.generate(self._llm, prompt, output_len)

    def record(self, prompt: list[int], output_len: int, name: str) -> None:
        """By vLLM's own profiler; its files are moved to the folders of their ranks."""
        with vllm_offline.profiled(self._llm, self._profiler) as files:
            self.run(prompt, output_len)
        for rank, file in files_by_rank(files).items():
            place = folder_of(self._folder, rank) / name
            place.parent.mkdir(exist_ok=True)
            shutil.move(file, place)


@contextlib.contextmanager
def opened(plan: ProfilePlan, folder: Path) -> Iterator[ProfiledEngine]:
    """The engine, started for the plan; traces go to `folder`, those of rank r to `rank<r>/`."""
    with tempfile.TemporaryDirectory(prefix=".vllm.", dir=folder) as raw:
        profiler = VllmProfiler(Path(raw), plan.with_stack, plan.with_shapes)
        with vllm_offline.offline_llm(
            plan.model, eager=not plan.compiled, profiler=profiler
        ) as llm:
            yield VllmEngine(plan, llm, profiler, folder)
