"""Where each engine loads a model, as data, and the change that tells the hooks of it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from layerscope.capture import engines
from layerscope.capture.in_engine.import_watch import ImportWatch
from layerscope.capture.in_engine.method_wrapping import wrap_method
from layerscope.capture.in_engine.process_rank import note_replica

ModelLoaded = Callable[[Any], None]


@dataclass(frozen=True)
class LoadingPoint:
    """A method after which a model is loaded with its weights, and no graph is captured yet.

    `returns_model`: the method returns it; else it is the `model` of the object. Classes derived
    from `class_name` that override the method are changed as well, if they are there when `module`
    was imported; one that is derived later is noticed only where it calls its base's method.
    """

    engine: str
    module: str
    class_name: str
    method: str
    returns_model: bool


LOADING_POINTS = (
    # vLLM 0.8 and later: every loader derives from this class; a runner then only calls the model.
    LoadingPoint(
        engines.VLLM, "vllm.model_executor.model_loader", "BaseModelLoader", "load_model", True
    ),
    # SGLang: `init_device_graphs` captures after it (all of 0.4 and 0.5).
    LoadingPoint(
        engines.SGLANG,
        "sglang.srt.model_executor.model_runner",
        "ModelRunner",
        "load_model",
        False,
    ),
    # TensorRT-LLM's PyTorch backend (0.17 and later): the constructor loads, `warmup` captures.
    LoadingPoint(
        engines.TENSORRT_LLM,
        "tensorrt_llm._torch.pyexecutor.model_engine",
        "PyTorchModelEngine",
        "__init__",
        False,
    ),
)


def _after(original: Callable[..., Any], tell: Callable[[Any, Any], None]) -> Callable[..., Any]:
    @functools.wraps(original)
    def replaced(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        note_replica((self, *args, *kwargs.values()))
        tell(self, result)
        return result

    return replaced


def _change(point: LoadingPoint, loaded: ModelLoaded, module: ModuleType) -> None:
    def tell(owner: Any, result: Any) -> None:
        loaded(result if point.returns_model else getattr(owner, "model", None))

    wrap_method(module, point.class_name, point.method, lambda method: _after(method, tell))


def watch_loading(point: LoadingPoint, loaded: ModelLoaded, watch: ImportWatch) -> None:
    """Calls `loaded(model)` whenever the engine of this process has loaded one."""
    watch.on_import(point.module, functools.partial(_change, point, loaded))
