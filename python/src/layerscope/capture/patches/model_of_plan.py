"""Whether a plan is for the model at hand: asked before an engine starts, which takes minutes."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from layerscope.capture import errors, model_files, model_sizes
from layerscope.capture.errors import CaptureError
from layerscope.capture.json_values import is_whole
from layerscope.capture.patches.plan import (
    OFF,
    VARIABLE,
    PatchPlan,
    load_plan,
    path_from_environment,
    plan_beside,
    plan_file,
)

WRITE_ONE = "write one for this model with layerscope-capture config-patch"


def plan_for(config: Mapping[str, Any]) -> PatchPlan:
    """A plan for the model of a config, which patches nothing."""
    model_type = config.get("model_type")
    return PatchPlan(
        num_layers=model_files.layer_count(config) or 0,
        model_type=model_type if isinstance(model_type, str) else None,
        architectures=tuple(model_files.architectures(config)),
    )


def plan_lines(words: Sequence[str]) -> list[str]:
    """What a dry run says of the plan that LAYERSCOPE_PATCH names: one line, none without a plan.

    `words` are a model, or a whole command line: those that name a model of this machine are
    compared with the plan. Raises CaptureError where the plan cannot be read (code 3), is for none
    of the models, or where a model has one that is not named (code 2).
    """
    path = path_from_environment()
    if path is None:
        _require_no_plan(words)
        return []
    if not path.exists():
        raise CaptureError(
            f"{VARIABLE} names {path}, which is not there",
            f"give the folder that config-patch wrote, or unset {VARIABLE}",
            errors.INVALID_INPUT,
        )
    plan = load_plan(path)
    differences = [difference(plan, path, name, config) for name, config in _models(words)]
    if differences and all(differences):
        raise CaptureError(
            f"{VARIABLE}={path} is the plan of another model: {differences[0]}",
            f"{WRITE_ONE}, or unset {VARIABLE}",
            errors.USAGE,
        )
    return [f"with {VARIABLE}={path}: {described(plan)}"]


def _require_no_plan(words: Sequence[str]) -> None:
    """Raises CaptureError (code 2) where a plan lies beside a model's config and is not named."""
    if os.environ.get(VARIABLE) == OFF:
        return
    for word in words:
        folder = Path(word.rpartition("=")[2])
        if (plan := plan_beside(folder)) is not None:
            raise CaptureError(
                f"{folder} has a plan that would not be applied: {described(plan)}",
                f"{VARIABLE}={folder} before the command applies it, {VARIABLE}={OFF} runs without",
                errors.USAGE,
            )


def _models(words: Sequence[str]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The models that words name, alone or as --option=NAME, with their configs."""
    for word in words:
        name = word.rpartition("=")[2]
        try:
            yield name, model_files.load_config(model_files.locate(name).config)
        except (CaptureError, OSError, ValueError):
            continue  # no model, or one that the engine has to fetch


def _sizes(path: Path) -> dict[str, int]:
    """The sizes that a config was cut or divided to, by their dotted keys.

    Of a config that the model's weights fit none: its plan is for the model as well.
    """
    document = model_files.load_json(plan_file(path))
    changes = document.get("changes")
    if not document.get("needs_dummy_weights") or not isinstance(changes, list):
        return {}
    rows = [row for row in changes if isinstance(row, dict) and is_whole(row.get("after"))]
    return {str(row.get("key")): row["after"] for row in rows}


def _value_at(config: Any, key: str) -> Any:
    """The value of a dotted key; None where it is not there."""
    for part in key.split("."):
        config = config.get(part) if isinstance(config, Mapping) else None
    return config


def difference(plan: PatchPlan, path: Path, name: str, config: Mapping[str, Any]) -> str:
    """What tells the model of the plan at `path` from this one; empty where nothing does."""
    model = plan_for(config)
    for key, unit in (("model_type", ""), ("architectures", ""), ("num_layers", " layers")):
        planned, found = getattr(plan, key), getattr(model, key)
        if planned and found and planned != found:
            return f"it is for {_text(planned)}{unit}, {name} is {_text(found)}{unit}"
    moe = model_sizes.moe_sizes(model_files.text_config(config))
    experts = model_files.text_config(config)[moe.count_key] if moe else 0
    if plan.routing is not None and plan.routing.experts != experts:
        return f"it is for {plan.routing.experts} experts, {name} has {experts}"
    for key, planned in _sizes(path).items():
        found = _value_at(config, key)
        if found is not None and found != planned:
            return f"it is for {key} {planned}, {name} has {found}"
    return ""


def _text(value: Any) -> str:
    return ", ".join(value) if isinstance(value, tuple) else str(value)


def described(plan: PatchPlan) -> str:
    """What a plan does, in a few words."""
    parts = []
    if plan.keep_layers is not None:
        kept = len(plan.keep_layers)
        parts.append(f"{kept} of {plan.num_layers} layers compute{'s' if kept == 1 else ''}")
    if plan.routing is not None:
        parts.append(f"{plan.routing.experts} experts get as many tokens each")
    return "; ".join(parts) or "nothing to apply"
