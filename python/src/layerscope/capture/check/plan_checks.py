"""What a plan of config-patch beside the config does, and how it is applied."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from layerscope.capture import engines
from layerscope.capture.check.finding import Finding, missing, note
from layerscope.capture.errors import CaptureError
from layerscope.capture.model_files import ModelFiles
from layerscope.capture.patches.model_of_plan import WRITE_ONE, described, difference
from layerscope.capture.patches.plan import OFF, VARIABLE, PatchPlan, plan_beside


def check_plan(files: ModelFiles, config: Mapping[str, Any], engine: str) -> list[Finding]:
    """A line where there is a plan: the runs refuse one of another model."""
    try:
        plan = plan_beside(files.folder)
    except CaptureError as error:
        return [missing("plan", error.message, error.hint)]
    if plan is None:
        return []
    if other := difference(plan, files.folder, files.name, config):
        return [missing("plan", f"it is the plan of another model: {other}", WRITE_ONE)]
    setting = f"{VARIABLE}={shlex.quote(str(files.folder))}"
    if _is_known(plan, engine):
        return [note("plan", described(plan), f"{setting} before a command applies it")]
    return [
        note(
            "plan",
            f"{described(plan)}; {engine} has no balanced routing",
            f"{setting} before a command of {', '.join(engines.SERVING)} applies it",
        )
    ]


def setting_before(files: ModelFiles, engine: str) -> str:
    """What stands before a command that runs the model: a plan is applied, or left out."""
    plan = plan_beside(files.folder)
    if plan is None:
        return ""
    value = shlex.quote(str(files.folder)) if _is_known(plan, engine) else OFF
    return f"{VARIABLE}={value} "


def _is_known(plan: PatchPlan, engine: str) -> bool:
    return plan.routing is None or engine != engines.TRANSFORMERS
