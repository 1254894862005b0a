"""`profile` in plain transformers."""

from __future__ import annotations

import contextlib
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from layerscope.capture import profiler, transformers_model
from layerscope.capture.profile.plan import ProfilePlan
from layerscope.capture.profile.request_runs import ProfiledEngine
from layerscope.capture.walk import transformers_walk


class TransformersEngine:
    """The `request_runs.ProfiledEngine` of a model in this process."""

    def __init__(self, plan: ProfilePlan, folder: Path) -> None:
        import torch

        self._plan = plan
        self._folder = folder
        self._model = transformers_model.load(plan.model)
        self._runs = torch.compile(self._model) if plan.compiled else self._model
        profiler.prime()

    def config(self) -> Mapping[str, Any]:
        """That of the loaded model."""
        config: Mapping[str, Any] = self._model.config.to_dict()
        return config

    def trees(self, input_len: int) -> list[dict[str, Any]]:
        """One."""
        tree = transformers_walk.tree_of(
            self._plan.model, self._model, str(uuid.uuid4()), input_len
        )
        return [tree]

    def prompt(self, length: int, seed: int) -> Any:
        """On the model's device."""
        return transformers_model.random_prompt(self._model, length, seed)

    def run(self, prompt: Any, output_len: int) -> None:
        """Waits for the GPU."""
        transformers_model.generate(self._runs, prompt, output_len)
        profiler.synchronize()

    def record(self, prompt: Any, output_len: int, name: str) -> None:
        """By torch.profiler in this process."""
        with profiler.recording(
            self._folder / name,
            with_stack=self._plan.with_stack,
            with_shapes=self._plan.with_shapes,
        ):
            transformers_model.generate(self._runs, prompt, output_len)


@contextlib.contextmanager
def opened(plan: ProfilePlan, folder: Path) -> Iterator[ProfiledEngine]:
    """The model of the plan, loaded; traces go to `folder`."""
    yield TransformersEngine(plan, folder)
