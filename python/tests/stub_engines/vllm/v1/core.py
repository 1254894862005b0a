from __future__ import annotations

from dataclasses import dataclass

from stub_scheduler import Step


@dataclass
class CachedRequestData:
    req_ids: list[str]
    num_computed_tokens: list[int]


@dataclass
class SchedulerOutput:
    scheduled_new_reqs: list[str]
    scheduled_cached_reqs: CachedRequestData
    num_scheduled_tokens: dict[str, int]
    total_num_scheduled_tokens: int


def output_of(step: Step) -> SchedulerOutput:
    """New requests are those of the first prefill step; later chunks are of cached ones."""
    new = [request for request, _ in step.prefill]
    tokens = {str(request.number): count for request, count in step.prefill}
    tokens |= {str(request.number): 1 for request in step.decode}
    cached = CachedRequestData(
        [str(request.number) for request in step.decode],
        [request.computed for request in step.decode],
    )
    return SchedulerOutput([str(r.number) for r in new], cached, tokens, sum(tokens.values()))
