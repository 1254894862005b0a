from __future__ import annotations

import multiprocessing
from dataclasses import dataclass
from typing import Any

from stub_keywords import note_keywords


@dataclass
class SamplingParams:
    end_id: int | None = None
    pad_id: int | None = None
    max_tokens: int = 32
    ignore_eos: bool = False


_ARGUMENTS = {  # of TorchLlmArgs, those that `drive` sets; others are refused, as pydantic does
    "model",
    "skip_tokenizer_init",
    "dtype",
    "load_format",
    "trust_remote_code",
    "tensor_parallel_size",
    "pipeline_parallel_size",
    "moe_expert_parallel_size",
    "max_batch_size",
    "max_seq_len",
    "max_num_tokens",
    "kv_cache_config",
    "disable_overlap_scheduler",
    "cuda_graph_config",
    "torch_compile_config",
}


def run_worker(llm_args: dict[str, Any], connection: Any) -> None:
    from stub_scheduler import Scheduler

    from tensorrt_llm._torch.pyexecutor.model_engine import PyTorchModelEngine

    engine = PyTorchModelEngine(model_path=llm_args["model"], llm_args=llm_args)
    engine.warmup(None)
    scheduler = Scheduler(llm_args.get("max_num_tokens", 48), mixed=False)
    connection.send("ready")
    while (work := connection.recv()) is not None:
        prompts, wanted = work
        for step in scheduler.run(prompts, wanted):
            engine.forward(engine.scheduled(step), None)
        connection.send("done")


class LLM:
    def __init__(self, **kwargs: Any) -> None:
        note_keywords(kwargs)
        unknown = set(kwargs) - _ARGUMENTS
        assert not unknown, f"TorchLlmArgs has no {unknown}"
        context = multiprocessing.get_context("spawn")  # MPI in the real one
        self._connection, theirs = context.Pipe()
        self._process = context.Process(target=run_worker, args=(kwargs, theirs), daemon=True)
        self._process.start()
        assert self._connection.recv() == "ready"

    def generate(
        self, inputs: list[list[int]], sampling_params: SamplingParams, use_tqdm: bool = True
    ) -> list[Any]:
        # Without a tokenizer no end token is known, and -1 is none.
        assert sampling_params.ignore_eos and sampling_params.end_id == -1
        self._connection.send((inputs, sampling_params.max_tokens))
        assert self._connection.recv() == "done"
        return []

    def shutdown(self) -> None:
        self._connection.send(None)
        self._process.join(30)
