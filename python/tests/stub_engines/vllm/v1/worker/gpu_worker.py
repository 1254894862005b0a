from __future__ import annotations

from typing import Any

from vllm.v1.core import SchedulerOutput


class Worker:
    def __init__(self, compilation_config: Any) -> None:
        self._compilation_config = compilation_config

    def load_model(self) -> None:
        from vllm.model_executor.model_loader import get_model

        self.model = get_model(self._compilation_config)

    def execute_model(self, scheduler_output: SchedulerOutput) -> Any:
        return self.model()
