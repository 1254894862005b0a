"""The plan of patches: `layerscope_patch.json`, written by config-patch, applied by the hooks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layerscope.capture import errors, model_files
from layerscope.capture.errors import CaptureError
from layerscope.capture.json_values import is_whole

FILE_NAME = "layerscope_patch.json"
SCHEMA = "layerscope_patch/1"
OFF = "off"  # of VARIABLE: a model that has a plan runs without it
VARIABLE = "LAYERSCOPE_PATCH"  # the plan that hooks apply: its path, or the folder that holds it


@dataclass(frozen=True)
class RoutingPlan:
    """Balanced routing: what the router may choose from.

    `experts` of all ranks together, `top_k` of them a token, in `groups` of which a token may use
    `top_groups`; `ep_ranks` ranks hold experts/ep_ranks each, in order.
    """

    experts: int
    top_k: int
    groups: int = 1
    top_groups: int = 1
    ep_ranks: int = 1


@dataclass(frozen=True)
class PatchPlan:
    """What is patched at run time.

    `num_layers` is the layer count of the config, 0 where it says none; `keep_layers` the layers
    that compute, the others getting an identity forward, or None for all; `routing` None for the
    model's own router. `model_type` and `architectures` are those of the config, as far as it has
    them: the plan is for no other model.
    """

    num_layers: int
    keep_layers: tuple[int, ...] | None = None
    routing: RoutingPlan | None = None
    model_type: str | None = None
    architectures: tuple[str, ...] = ()

    def is_empty(self) -> bool:
        """Whether nothing is left to do at run time."""
        return self.keep_layers is None and self.routing is None

    def document(self) -> dict[str, Any]:
        """The run-time part of the JSON document."""
        routing = None if self.routing is None else dict(vars(self.routing))
        return {
            "schema": SCHEMA,
            "model_type": self.model_type,
            "architectures": list(self.architectures),
            "num_layers": self.num_layers,
            "keep_layers": None if self.keep_layers is None else list(self.keep_layers),
            "routing": routing,
        }


def plan_file(path: Path) -> Path:
    """The file of a plan: itself, or that of the folder that holds it."""
    return path / FILE_NAME if path.is_dir() else path


def load_plan(path: Path) -> PatchPlan:
    """Reads a plan, from the file or the folder that holds it. Raises CaptureError with code 3."""
    file = plan_file(path)
    document = model_files.load_json(file)
    if document.get("schema") != SCHEMA:
        raise _invalid(file, f"schema is {document.get('schema')!r}, not {SCHEMA!r}")
    count = _integer(file, document, "num_layers", least=0)
    architectures = document.get("architectures", [])
    if not isinstance(architectures, list) or not all(isinstance(a, str) for a in architectures):
        raise _invalid(file, "architectures is no list of names")
    model_type = document.get("model_type")
    if not isinstance(model_type, (str, type(None))):
        raise _invalid(file, "model_type is no name")
    keep = document.get("keep_layers")
    if keep is not None and (
        not isinstance(keep, list)
        or not all(is_whole(k) and 0 <= k < count for k in keep)
        or len(set(keep)) < len(keep)
        or 0 not in keep
    ):
        raise _invalid(file, "keep_layers is no list of different layer numbers that has 0")
    routing = document.get("routing")
    if routing is not None and not isinstance(routing, dict):
        raise _invalid(file, "routing is no object")
    return PatchPlan(
        num_layers=count,
        keep_layers=None if keep is None else tuple(keep),
        routing=None if routing is None else _routing(file, routing),
        model_type=model_type,
        architectures=tuple(architectures),
    )


def plan_beside(folder: Path) -> PatchPlan | None:
    """The plan in a model's folder, if it patches anything. Raises CaptureError for a bad one."""
    if not (folder / FILE_NAME).is_file():
        return None
    plan = load_plan(folder)
    return None if plan.is_empty() else plan


def needs_dummy_weights(folder: Path) -> bool:
    """Whether a plan in this folder says that no weights fit its config."""
    file = folder / FILE_NAME
    return file.is_file() and bool(model_files.load_json(file).get("needs_dummy_weights"))


def plan_from_environment() -> PatchPlan | None:
    """The plan that LAYERSCOPE_PATCH names, or None where the variable is not set."""
    path = path_from_environment()
    return None if path is None else load_plan(path)


def path_from_environment() -> Path | None:
    """What LAYERSCOPE_PATCH names, or None where the variable is not set, or OFF."""
    value = os.environ.get(VARIABLE)
    return Path(value) if value and value != OFF else None


def files_read(model: str) -> list[str | Path]:
    """What a run of a model reads, and never writes over: the model, and the plan that is named."""
    path = path_from_environment()
    return [model] if path is None else [model, path]


def _routing(file: Path, routing: Mapping[str, Any]) -> RoutingPlan:
    plan = RoutingPlan(
        experts=_integer(file, routing, "experts"),
        top_k=_integer(file, routing, "top_k"),
        groups=_integer(file, routing, "groups"),
        top_groups=_integer(file, routing, "top_groups"),
        ep_ranks=_integer(file, routing, "ep_ranks"),
    )
    is_divided = plan.experts % plan.ep_ranks == 0 and plan.experts % plan.groups == 0
    if plan.top_k > plan.experts or plan.top_groups > plan.groups or not is_divided:
        raise _invalid(file, f"routing {dict(routing)} is not possible")
    return plan


def _integer(file: Path, document: Mapping[str, Any], key: str, least: int = 1) -> int:
    value = document.get(key)
    if not is_whole(value) or value < least:
        raise _invalid(file, f"{key} is {value!r}, not an integer from {least} on")
    return value


def _invalid(file: Path, what: str) -> CaptureError:
    return CaptureError(
        f"{file}: {what}",
        "write it anew with layerscope-capture config-patch",
        errors.INVALID_INPUT,
    )
