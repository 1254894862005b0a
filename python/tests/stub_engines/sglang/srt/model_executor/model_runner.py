from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum, auto
from typing import Any

from stub_scheduler import Step

from sglang.srt.server_args import ServerArgs


class ForwardMode(IntEnum):
    EXTEND = auto()
    DECODE = auto()

    def is_decode(self) -> bool:
        return self == ForwardMode.DECODE

    def is_extend(self, include_draft_extend_v2: bool = False) -> bool:
        return self == ForwardMode.EXTEND


@dataclass
class ForwardBatch:
    forward_mode: ForwardMode
    batch_size: int
    seq_lens_cpu: list[int]  # a tensor in the real one
    seq_lens_sum: int


class ModelRunner:
    def __init__(
        self, gpu_id: int, tp_rank: int, tp_size: int, server_args: ServerArgs, **rest: Any
    ) -> None:
        self.server_args = server_args
        self.is_draft_worker = False
        self.load_model()

    def load_model(self) -> None:
        from stub_model import StubForCausalLM

        self.model = StubForCausalLM()

    def batch_of(self, step: Step) -> ForwardBatch:
        if step.prefill:
            lens = [request.computed + tokens for request, tokens in step.prefill]
            mode = ForwardMode.EXTEND
        else:
            lens = [request.computed + 1 for request in step.decode]
            mode = ForwardMode.DECODE
        return ForwardBatch(mode, len(lens), lens, sum(lens))

    def forward(
        self,
        forward_batch: ForwardBatch,
        skip_attn_backend_init: bool | None = None,
        pp_proxy_tensors: Any = None,
        reinit_attn_backend: bool = False,
        split_forward_count: int = 1,
    ) -> Any:
        # Not self.model(…): SGLang calls forward itself, so that forward hooks do not run.
        return self.model.forward(None, None, forward_batch)
