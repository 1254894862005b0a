"""What a tensor is, never what is in it."""

from __future__ import annotations

import itertools
from typing import Any

_MOST_LEVELS = 6  # of containers in the arguments of a module
_MOST_ITEMS = 64  # of one container


def tensor_metadata(tensor: Any) -> dict[str, Any]:
    """Shape, dtype, device, stride and storage offset; null where a kind of tensor has none."""
    return {
        "shape": _or_none(lambda: [int(n) for n in tensor.shape]),
        "dtype": _or_none(lambda: str(tensor.dtype)),
        "device": _or_none(lambda: str(tensor.device)),
        "stride": _or_none(lambda: [int(n) for n in tensor.stride()]),
        "storage_offset": _or_none(lambda: int(tensor.storage_offset())),
    }


def value_metadata(value: Any, level: int = 0) -> Any:
    """Tensors of nested lists and dicts by their metadata, all else by the name of its type.

    So are lists and dicts of foreign classes that do not give out what they hold: whatever a model
    hands on, nothing is raised into its forward.
    """
    try:
        return _contents(value, level)
    except Exception:
        return {"type": type(value).__name__}


def _contents(value: Any, level: int) -> Any:
    import torch

    if isinstance(value, torch.Tensor):
        return tensor_metadata(value)
    if level < _MOST_LEVELS and isinstance(value, (list, tuple)):
        items = [value_metadata(v, level + 1) for v in value[:_MOST_ITEMS]]
        left = len(value) - len(items)
        return [*items, _more(left)] if left else items
    if level < _MOST_LEVELS and isinstance(value, dict):
        some = itertools.islice(value.items(), _MOST_ITEMS)
        named = {str(key): value_metadata(v, level + 1) for key, v in some}
        left = len(value) - _MOST_ITEMS
        return {**named, "…": _more(left)} if left > 0 else named
    return {"type": type(value).__name__}


def _more(left: int) -> dict[str, str]:
    """The entry that stands for items that are left out."""
    return {"type": f"… {left} more"}


def _or_none(read: Any) -> Any:
    """Nested tensors have no shape, sparse ones no strides; fake ones have symbols for them."""
    try:
        return read()
    except Exception:  # of foreign classes of tensors
        return None
