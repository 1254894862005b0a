from __future__ import annotations

from typing import Any


class BaseModelLoader:
    def load_model(self, vllm_config: Any, model_config: Any, prefix: str = "") -> Any:
        from stub_model import StubForCausalLM

        model = StubForCausalLM()
        # What the decorator support_torch_compile sets; 0 is CompilationMode.NONE.
        model.model.do_not_compile = vllm_config.mode == 0
        return model


class DummyModelLoader(BaseModelLoader):
    def load_model(self, vllm_config: Any, model_config: Any, prefix: str = "") -> Any:
        return super().load_model(vllm_config, model_config, prefix)


def get_model(vllm_config: Any) -> Any:
    return DummyModelLoader().load_model(vllm_config, None)
