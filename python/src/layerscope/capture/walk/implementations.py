"""Which implementation a module chose when it was made: quantisation, attention backend."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from layerscope.capture.walk.source_flow import Flow

# Attributes under which engines keep them (vLLM: LinearBase.quant_method, Attention.impl and
# .attn_backend; linear_method in its older versions).
_ATTRIBUTES = ("quant_method", "impl", "attn_backend", "linear_method")
_METHODS = ("forward", "apply", "forward_cuda", "forward_native", "forward_cpu")

FlowOf = Callable[[Any], Flow]


def implementations_of(module: Any, flow_of: FlowOf) -> dict[str, Any]:
    """{attribute: {class, evidence, methods: {name: flow}}} of one live module."""
    found: dict[str, Any] = {}
    for attribute in _ATTRIBUTES:
        value = _attribute(module, attribute)
        if value is None or isinstance(value, (str, int, float, bool)) or _is_module(value):
            continue
        target = value if isinstance(value, type) else type(value)
        found[attribute] = _entry(target, "loaded_object", flow_of)
    if "attn_backend" not in found:
        backend = _transformers_attention(module, flow_of)
        if backend is not None:
            found["attn_backend"] = backend
    quantizer = _attribute(module, "hf_quantizer")
    if quantizer is not None and "quant_method" not in found:
        found["quant_method"] = _entry(type(quantizer), "hf_quantizer", flow_of)
    return found


def _entry(target: type, evidence: str, flow_of: FlowOf) -> dict[str, Any]:
    found = {name: _attribute(target, name) for name in _METHODS}
    methods = {name: flow_of(method) for name, method in found.items() if method is not None}
    return {
        "class": f"{target.__module__}.{target.__qualname__}",
        "evidence": evidence,
        "methods": methods,
    }


def _is_module(value: Any) -> bool:
    """A submodule has a node of its own."""
    return _attribute(value, "named_modules") is not None


def _attribute(holder: Any, name: str) -> Any:
    """None where there is none, and where a property of foreign code raises."""
    try:
        return getattr(holder, name, None)
    except Exception:
        return None


def _transformers_attention(module: Any, flow_of: FlowOf) -> dict[str, Any] | None:
    """transformers picks a function by name, config._attn_implementation."""
    name = _attribute(_attribute(module, "config"), "_attn_implementation")
    if not isinstance(name, str) or not type(module).__name__.endswith("Attention"):
        return None
    entry: dict[str, Any] = {
        "class": name,
        "evidence": f"config._attn_implementation = {name}",
        "methods": {},
    }
    function = _attention_function(name)
    if function is not None:
        entry["class"] = f"{function.__module__}.{function.__qualname__}"
        entry["methods"] = {"forward": flow_of(function)}
    return entry


def _attention_function(name: str) -> Any:
    """The registered function; None for "eager", which each model has in its own file."""
    try:
        from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS
    except ImportError:
        return None
    return ALL_ATTENTION_FUNCTIONS.get(name, None)
