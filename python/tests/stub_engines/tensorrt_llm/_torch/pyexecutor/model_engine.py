from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from stub_scheduler import Step


@dataclass
class LlmRequest:
    max_beam_num_tokens: int


@dataclass
class ScheduledRequests:
    context_requests: list[LlmRequest] = field(default_factory=list)
    generation_requests: list[LlmRequest] = field(default_factory=list)


class PyTorchModelEngine:
    def __init__(
        self,
        *,
        model_path: str,
        llm_args: Any,
        mapping: Any = None,
        attn_runtime_features: Any = None,
        dist: Any = None,
        spec_config: Any = None,
        is_draft_model: bool = False,
        **rest: Any,
    ) -> None:
        from stub_model import StubForCausalLM

        self.is_draft_model = is_draft_model
        self.is_warmup = False
        self.model = StubForCausalLM()

    def warmup(self, resource_manager: Any) -> None:
        """Dummy requests, of the largest batch: not what was asked for."""
        self.is_warmup = True
        self.forward(ScheduledRequests([], [LlmRequest(33)] * 2), resource_manager)
        self.is_warmup = False

    def scheduled(self, step: Step) -> ScheduledRequests:
        if step.prefill:
            return ScheduledRequests([LlmRequest(r.computed) for r, _ in step.prefill], [])
        return ScheduledRequests([], [LlmRequest(r.computed + 1) for r in step.decode])

    def forward(
        self,
        scheduled_requests: ScheduledRequests,
        resource_manager: Any,
        new_tensors_device: Any = None,
        gather_context_logits: bool = False,
        cache_indirection_buffer: Any = None,
    ) -> Any:
        return self.model.forward()
