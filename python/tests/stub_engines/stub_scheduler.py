"""Continuous batching in numbers: which requests run in a step, and how far each is.

A prefill step takes at most `budget` tokens that are not in the prefix cache, so that many prompts
need several steps. With `mixed`, requests that are ready decode beside the prefill of others
(vLLM); without, prefill goes first (SGLang, TensorRT-LLM).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field


@dataclass(eq=False)
class Request:
    number: int
    prompt: tuple[int, ...]
    wanted: int
    computed: int = 0
    generated: int = 0


@dataclass
class Step:
    prefill: list[tuple[Request, int]] = field(default_factory=list)  # and how many tokens
    decode: list[Request] = field(default_factory=list)


class Scheduler:
    def __init__(self, budget: int, *, mixed: bool) -> None:
        self._budget = budget
        self._mixed = mixed
        self._cache: set[tuple[int, ...]] = set()

    def run(self, prompts: Sequence[Sequence[int]], wanted: int) -> Iterator[Step]:
        """The steps of a batch; state changes when the next one is asked for."""
        requests = [Request(i, tuple(prompt), wanted) for i, prompt in enumerate(prompts)]
        for request in requests:
            if request.prompt in self._cache:
                request.computed = len(request.prompt) - 1  # the last token is always computed
        while any(request.generated < wanted for request in requests):
            step = self._step(requests)
            yield step
            for request, tokens in step.prefill:
                request.computed += tokens
                if request.computed == len(request.prompt):
                    request.generated = 1
                    self._cache.add(request.prompt)
            for request in step.decode:
                request.computed += 1
                request.generated += 1

    def _step(self, requests: Sequence[Request]) -> Step:
        step = Step()
        left = self._budget
        for request in requests:
            missing = len(request.prompt) - request.computed
            if request.generated == 0 and left > 0:
                step.prefill.append((request, min(missing, left)))
                left -= min(missing, left)
        if self._mixed or not step.prefill:
            step.decode = [r for r in requests if 0 < r.generated < r.wanted]
        return step
