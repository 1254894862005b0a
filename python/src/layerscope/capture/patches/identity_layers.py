"""Layers that pass on what they get: fewer layers with all weights and lists in place.

What a decoder layer returns differs: transformers a tensor (earlier a tuple of one and more), vLLM
and SGLang (hidden_states, residual), TensorRT-LLM the same. So the first call of a patched layer,
part of every engine's warm-up, still runs it and its result shows the form; from then on hidden
states and residual go through unchanged and no kernel is launched.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Sequence
from typing import Any

from layerscope.capture.errors import CaptureError
from layerscope.capture.in_engine.compiled_modules import HINT, compiled_parts
from layerscope.capture.patches.plan import PatchPlan

_HIDDEN = ("hidden_states", "hidden_state", "x")
_RESIDUAL = "residual"
_TOWER = re.compile(r"vision|visual|vit\b|image|audio|speech", re.IGNORECASE)


def install_identity_layers(model: Any, plan: PatchPlan) -> list[str]:
    """Replaces the forward of the layers that the plan does not keep; returns their paths.

    `model` is a torch.nn.Module. Raises CaptureError where no list of `num_layers` layers is found.
    """
    if plan.keep_layers is None:
        return []
    if compiled := compiled_parts(model):
        raise CaptureError(
            f"{compiled[0]} is compiled, where a layer cannot be made an identity", HINT
        )
    prefix, layers = find_layers(model, plan.num_layers)
    keep = set(plan.keep_layers)
    patched = []
    for index, layer in enumerate(layers):
        path = f"{prefix}.{index}"
        if index not in keep and not _is_absent(layer):
            layer.forward = _Identity(layer.forward, path)
            patched.append(path)
    return patched


def find_layers(model: Any, count: int) -> tuple[str, Sequence[Any]]:
    """The path and the modules of the list of `count` layers.

    Lists inside of another such list (experts) and those of towers for pictures and sound are not
    meant. Raises CaptureError where none is left, or several.
    """
    lengths = []
    fitting: dict[str, Sequence[Any]] = {}
    for path, module in model.named_modules():
        if type(module).__name__ != "ModuleList" or _TOWER.search(path):
            continue
        lengths.append(f"{path} ({len(module)})")
        is_inside = any(path.startswith(f"{outer}.") for outer in fitting)
        if len(module) == count and not is_inside:
            fitting[path] = module
    if len(fitting) == 1:
        return next(iter(fitting.items()))
    if fitting:
        raise CaptureError(
            f"{len(fitting)} lists of {count} layers in {type(model).__name__}:"
            f" {', '.join(fitting)}",
            "it is not known which is meant: shorten the config with --cut instead",
        )
    raise CaptureError(
        f"no list of {count} layers in {type(model).__name__}: {', '.join(lengths) or 'no lists'}",
        "write the patch plan from the config that this model was built from",
    )


def _is_absent(layer: Any) -> bool:
    """A layer of another pipeline rank."""
    return type(layer).__name__ in ("PPMissingLayer", "Identity")


class _Identity:
    """The forward of one patched layer."""

    def __init__(self, forward: Callable[..., Any], path: str) -> None:
        self._forward = forward
        self._path = path
        self._signature = inspect.signature(forward)
        self._names: list[str | None] | None = None  # of the elements of a tuple; None = None
        self._is_tuple = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The layer itself the first time, then what came in, in the form that it returned."""
        arguments = self._arguments(args, kwargs)
        if self._names is None:
            result = self._forward(*args, **kwargs)
            self._learn(result, arguments)
            return result
        values = [None if name is None else arguments.get(name) for name in self._names]
        return tuple(values) if self._is_tuple else values[0]

    def _arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The arguments of a call by name, those of `**kwargs` among them."""
        arguments = dict(self._signature.bind(*args, **kwargs).arguments)
        for name, parameter in self._signature.parameters.items():
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                arguments.update(arguments.pop(name, {}))
        return arguments

    def _learn(self, result: Any, arguments: dict[str, Any]) -> None:
        self._is_tuple = isinstance(result, (tuple, list))
        elements = list(result) if self._is_tuple else [result]
        hidden = next((name for name in _HIDDEN if name in arguments), None)
        if hidden is None:
            hidden = next((n for n, v in arguments.items() if hasattr(v, "shape")), None)
        if hidden is None or not elements or not _alike(elements[0], arguments[hidden]):
            raise self._refusal("its first result is not like the hidden states that it took")
        names: list[str | None] = [hidden]
        for position, element in enumerate(elements[1:], 1):
            names.append(self._source(position, element, arguments, hidden))
        self._names = names

    def _source(
        self, position: int, element: Any, arguments: dict[str, Any], hidden: str
    ) -> str | None:
        """The argument that an element of the result passes on; None for a result of None."""
        if element is None:
            return None
        if position == 1 and _RESIDUAL in arguments:
            return _RESIDUAL
        for name, value in arguments.items():
            if name != hidden and value is not None and _alike(element, value):
                return name
        raise self._refusal(
            f"result {position} ({type(element).__name__}) is none of its arguments"
        )

    def _refusal(self, why: str) -> CaptureError:
        return CaptureError(
            f"{self._path} cannot be an identity: {why}", "keep this layer, or shorten with --cut"
        )


def _alike(result: Any, argument: Any) -> bool:
    shape = getattr(result, "shape", None)
    if shape is None:
        return type(result) is type(argument)
    return tuple(shape) == tuple(getattr(argument, "shape", ()))
