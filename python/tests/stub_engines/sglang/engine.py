from __future__ import annotations

import json
import multiprocessing
from pathlib import Path
from typing import Any

from stub_keywords import note_keywords

from sglang.srt.server_args import ServerArgs


def run_scheduler_process(server_args: ServerArgs, connection: Any) -> None:
    """What a scheduler process runs: it alone has the model."""
    from stub_scheduler import Scheduler

    from sglang.srt.model_executor.model_runner import ModelRunner

    runner = ModelRunner(gpu_id=0, tp_rank=0, tp_size=server_args.tp_size, server_args=server_args)
    scheduler = Scheduler(server_args.chunked_prefill_size, mixed=False)
    connection.send("ready")
    while (work := connection.recv()) is not None:
        prompts, wanted = work
        for step in scheduler.run(prompts, wanted):
            runner.forward(runner.batch_of(step))
        connection.send("done")


class Engine:
    def __init__(self, **kwargs: Any) -> None:
        note_keywords(kwargs)
        self.server_args = ServerArgs(**kwargs)
        self._profiles = 0
        context = multiprocessing.get_context("spawn")
        self._connection, theirs = context.Pipe()
        self._process = context.Process(
            target=run_scheduler_process, args=(self.server_args, theirs), daemon=True
        )
        self._process.start()
        assert self._connection.recv() == "ready"

    def generate(
        self,
        prompt: Any = None,
        sampling_params: Any = None,
        input_ids: list[list[int]] | None = None,
        **rest: Any,
    ) -> list[dict[str, Any]]:
        assert input_ids is not None and sampling_params["ignore_eos"]
        wanted = sampling_params["max_new_tokens"]
        if context := self.server_args.context_length:
            longest = max(map(len, input_ids))
            assert longest <= context - 6, "the prompt exceeds the maximum allowed length"
            wanted = min(wanted, context - longest - 2)
        self._connection.send((input_ids, wanted))
        assert self._connection.recv() == "done"
        return [{"output_ids": []} for _ in input_ids]

    def start_profile(self, **kwargs: Any) -> None:
        self._profile = kwargs  # of TokenizerManager.start_profile

    def stop_profile(self) -> None:
        self._profiles += 1
        trace = Path(self._profile["output_dir"]) / f"{self._profiles}-TP-0.trace.json"
        trace.write_text(json.dumps({"with_stack": self._profile["with_stack"]}))

    def shutdown(self) -> None:
        self._connection.send(None)
        self._process.join(30)
