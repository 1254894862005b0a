"""Dotted-key overrides of a config, with the type of what stands there as the check.

    --set text_config.num_hidden_layers=4    an existing key; the value has the existing type
    --add text_config.index_topk=512         a new key
    --unset quantization_config              no such key any more

A piece of a path may be an index of a list (`layer_types.3`), and a key that has dots itself is
found as it stands (`quantized_layers.layers.0.ffn.experts.group_size`).
"""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Iterator, Sequence
from typing import Any

from layerscope.capture import errors
from layerscope.capture.config_patch import token_ids
from layerscope.capture.config_patch.changes import Change, Changes
from layerscope.capture.errors import CaptureError
from layerscope.capture.json_values import index_of, is_whole

_KINDS: dict[type, str] = {
    bool: "true or false",
    int: "an integer",
    float: "a number",
    str: "a string",
    list: "a list",
    dict: "an object",
}


def set_key(config: dict[str, Any], assignment: str, changes: Changes) -> None:
    """Applies `KEY=VALUE` to a key that exists. Raises CaptureError with code 2."""
    path, text = _split(assignment, "--set")
    found = _find(config, path.split("."))
    if found is None:
        raise _unknown(config, path)
    holder, key = found
    before = holder[key]
    value = _value(text, before, path)
    holder[key] = value
    changes.changes.append(Change(path, before, value, "--set"))


def add_key(config: dict[str, Any], assignment: str, changes: Changes) -> None:
    """Applies `KEY=VALUE` to a key that does not exist yet; the object that holds it does."""
    path, text = _split(assignment, "--add")
    if _find(config, path.split(".")) is not None:
        raise _usage(f"{path} exists already", f"change it: --set {assignment}")
    parent, _, key = path.rpartition(".")
    holder: Any = config
    if parent:
        found = _find(config, parent.split("."))
        if found is None:
            raise _unknown(config, parent)
        holder = found[0][found[1]]
    if not isinstance(holder, dict):
        raise _usage(f"{parent} is {_kind(holder)}, it takes no keys", "set it whole with --set")
    elsewhere = _same_name(config, key)
    if elsewhere:
        changes.notes.append(f"{path} is new; {elsewhere[0]} was there and stays as it is")
    changes.set(holder, key, _parse(text), "--add", parent)


def unset_key(config: dict[str, Any], path: str, changes: Changes) -> None:
    """Removes a key."""
    found = _find(config, path.split("."))
    if found is None:
        raise _unknown(config, path)
    holder, key = found
    if not isinstance(holder, dict):
        raise _usage(f"{path} is an entry of a list", "set the whole list with --set")
    parent = path[: -len(str(key)) - 1]
    changes.remove(holder, str(key), "--unset", parent)


def _split(assignment: str, option: str) -> tuple[str, str]:
    path, equals, text = assignment.partition("=")
    if not equals or not all(piece.strip() for piece in path.split(".")):
        raise _usage(f"{option} {assignment}: no KEY=VALUE", f"for example {option} a.b=4")
    return path.strip(), text.strip()


def _find(node: Any, pieces: Sequence[str]) -> tuple[Any, Any] | None:
    """(holder, key or index) of a dotted path, or None."""
    if isinstance(node, list):
        index = index_of(pieces[0])
        if index is None or index >= len(node):
            return None
        return (node, index) if len(pieces) == 1 else _find(node[index], pieces[1:])
    if not isinstance(node, dict):
        return None
    for taken in range(1, len(pieces) + 1):  # a key may have dots itself
        key = ".".join(pieces[:taken])
        if key in node:
            if taken == len(pieces):
                return node, key
            found = _find(node[key], pieces[taken:])
            if found is not None:
                return found
    return None


def _parse(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _value(text: str, before: Any, path: str) -> Any:
    """The value that `text` is for a key that holds `before`; raises where the types differ."""
    if isinstance(before, str):
        quoted = text[:1] == '"'
        parsed = _parse(text) if quoted else text
        return parsed if isinstance(parsed, str) else text
    value = _parse(text)
    if before is None:
        return value  # null says nothing of the type
    _check_number(value, before, path)
    value = _of_kind(before, value)
    if value is None and isinstance(before, (dict, list)):
        return None
    if type(value) is not type(before):
        hint = f"{path} holds {_kind(before)} ({_shown(before)})"
        if value is None:
            hint += f"; remove the key with --unset {path}"
        raise _usage(f"--set {path}={text}: {_kind(value)} where {_kind(before)} stands", hint)
    if isinstance(value, list):
        kinds = {type(element) for element in before}
        if len(kinds) == 1:
            value = [_of_kind(before[0], element) for element in value]
        _check_elements(value, before, path)
    return value


def _of_kind(before: Any, value: Any) -> Any:
    """A whole number as JSON writes the one that stands there: 1e6 for 10000, 4 for 0.5."""
    if isinstance(before, float) and is_whole(value) and _is_finite(value):
        return float(value)
    if is_whole(before) and isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def _check_number(value: Any, before: Any, path: str) -> None:
    """Negative, endless and NaN are refused where a number stands that is none of these.

    Token ids may be negative: there is no such token.
    """
    if not isinstance(value, (int, float)) or not isinstance(before, (int, float)):
        return
    is_odd = value < 0 <= before and not token_ids.is_token_key(path.rpartition(".")[2])
    is_endless = not _is_finite(value) and (_is_finite(before) or isinstance(value, int))
    if is_odd or is_endless:
        raise _usage(
            f"--set {path}={value}: {_shown(before)} stands there",
            f"if it is meant: --unset {path} --add {path}={value}",
        )


def _is_finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:  # an integer beyond every float
        return False


def _check_elements(value: list[Any], before: list[Any], path: str) -> None:
    kinds = {type(element) for element in before}
    strange = [element for element in value if kinds and type(element) not in kinds]
    if strange:
        raise _usage(
            f"--set {path}: a list with {_shown(strange[0])}, {_kind(strange[0])}",
            f"the list holds {' and '.join(sorted(_KINDS.get(k, 'null') for k in kinds))} only",
        )


def _kind(value: Any) -> str:
    return _KINDS.get(type(value), "null")


def _shown(value: Any) -> str:
    text = json.dumps(value)
    return text if len(text) <= 40 else text[:37] + "..."


def _all_paths(node: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for key, value in node.items():
        path = f"{prefix}{key}"
        yield path
        if isinstance(value, dict):
            yield from _all_paths(value, f"{path}.")


def _same_name(config: dict[str, Any], key: str) -> list[str]:
    return [path for path in _all_paths(config) if path.rpartition(".")[2] == key]


def _unknown(config: dict[str, Any], path: str) -> CaptureError:
    same_name = _same_name(config, path.rpartition(".")[2])
    near = same_name[:1] or difflib.get_close_matches(path, list(_all_paths(config)), 1)
    hint = f"did you mean {near[0]}? " if near else ""
    return _usage(f"no key {path} in the config", f"{hint}A new key is made with --add {path}=...")


def _usage(message: str, hint: str) -> CaptureError:
    """Keys and values of a config begin no line."""
    said, what_to_do = (errors.printable(text, in_one_line=True) for text in (message, hint))
    return CaptureError(said, what_to_do, errors.USAGE)
