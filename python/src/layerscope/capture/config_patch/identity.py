"""Another identity for a config: its model type, its architectures, and where its sizes lie."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from layerscope.capture import config_classes, errors, model_files
from layerscope.capture.config_patch.changes import ABSENT, Change, Changes
from layerscope.capture.errors import CaptureError

# What a wrapper states for the text model inside it; its other keys are of towers and of itself.
_OF_TEXT_TOO = (
    *("model_type", "architectures", "quantization_config", "tie_word_embeddings"),
    *("dtype", "torch_dtype", "bos_token_id", "eos_token_id", "pad_token_id"),
    "transformers_version",
)
_TEXT_CLASS, _WRAPPER_CLASS = "ForCausalLM", "ForConditionalGeneration"
# `language_model.model.layers.0`, `model.language_model.layers.0`: `model.layers.0` of the text
# model alone. In lists of modules, and in expressions that match them.
_INSIDE_WRAPPER = re.compile(r"(?<!\w)(model\\?\.)?language_model\\?\.")


def rewrite_identity(
    config: dict[str, Any], model_type: str | None, architectures: Sequence[str], changes: Changes
) -> bool:
    """Rewrites `model_type` and `architectures`, those of them that are given.

    Where a wrapper becomes a text model, the text model's config inside it becomes the config, and
    True is returned: the class of a text model looks nowhere else. `auto_map` goes, there and
    inside: it would bring back the classes of the old type wherever remote code is trusted. Raises
    CaptureError (code 2) where nothing says which of the two the new type is.
    """
    text = model_files.text_config(config)
    is_lifted = model_type is not None and _is_lifted(config, model_type, architectures)
    names = list(architectures)
    if is_lifted and not names and model_type == text.get("model_type"):
        names = model_files.architectures(text)
    if model_type:
        changes.set(config, "model_type", model_type, "--model-type")
    if names:
        why = "--architectures" if architectures else "those of the text model"
        changes.set(config, "architectures", names, why)
    elif is_lifted:
        changes.remove(config, "architectures", "they name the wrapper's class")
    if model_type or architectures:
        for at, holder in _levels(config):
            changes.remove(holder, "auto_map", "it names the classes of the old model type", at)
    if is_lifted:
        _lift(config, changes)
    return is_lifted


def without_wrapper(node: Any) -> Any:
    """A description of quantised modules by the names that they have in the text model alone."""
    if isinstance(node, dict):
        return {without_wrapper(key): without_wrapper(value) for key, value in node.items()}
    if isinstance(node, list):
        return [without_wrapper(value) for value in node]
    return _INSIDE_WRAPPER.sub(r"\1", node) if isinstance(node, str) else node


def _is_lifted(config: dict[str, Any], model_type: str, architectures: Sequence[str]) -> bool:
    """Whether `config` is a wrapper and `model_type` that of a text model."""
    path = model_files.text_path(config)
    if not path:
        return False
    if model_type == model_files.text_config(config).get("model_type"):
        return True
    known = config_classes.known_objects(model_type)
    if known is not None:
        return not model_files.text_path({name: {} for name in known})
    if architectures and all(name.endswith(_TEXT_CLASS) for name in architectures):
        return True
    is_wrapper = any(name.endswith(_WRAPPER_CLASS) for name in architectures)
    if is_wrapper or model_type == config.get("model_type"):
        return False
    raise CaptureError(
        f"--model-type {model_type}: the sizes lie in {'.'.join(path)}, and nothing says whether"
        " the class of this type reads them there",
        f"say it by its architecture: --architectures …{_TEXT_CLASS} takes the text model out of"
        f" its wrapper, …{_WRAPPER_CLASS} leaves it inside",
        errors.USAGE,
    )


def _levels(config: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The config and those inside it down to the text model's, each with its dotted path."""
    levels = [("", config)]
    for key in model_files.text_path(config):
        at, holder = levels[-1]
        levels.append((model_files.dotted(at, key), holder[key]))
    return levels


def _lift(config: dict[str, Any], changes: Changes) -> None:
    """Makes the text model's config the config."""
    inner = model_files.text_path(config)[0]
    at, text = _levels(config)[-1]
    whole = dict(text)
    for _, holder in reversed(_levels(config)):
        stated = {key: holder[key] for key in _OF_TEXT_TOO if holder.get(key) is not None}
        whole.update(stated)
    if "architectures" not in config:  # removed: they named the wrapper's class
        whole.pop("architectures", None)
    if quant := without_wrapper(whole.get("quantization_config")):
        whole["quantization_config"] = quant
        changes.set(config, "quantization_config", quant, "modules by their names in it")
    for key in [key for key in config if key not in whole and key != inner]:
        changes.remove(config, key, "of the wrapper")
    changes.changes.append(Change(inner, config.pop(inner), ABSENT, f"{at} is the config now"))
    for key, value in whole.items():
        if key in config:
            changes.set(config, key, value, f"as in {at}, which is the config now")
        else:
            config[key] = value
    changes.notes.append(
        f"{at} is the whole config now: the model's weights have the names of its wrapper, so none"
        " fit"
    )
