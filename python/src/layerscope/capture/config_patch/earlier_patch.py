"""What config-patch made of a folder before: carried on where the folder is patched again."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from layerscope.capture import errors, model_files
from layerscope.capture.config_patch.fewer_layers import as_ranges
from layerscope.capture.errors import CaptureError
from layerscope.capture.json_values import shown
from layerscope.capture.model_files import ModelFiles
from layerscope.capture.patches.plan import FILE_NAME, PatchPlan, load_plan


@dataclass(frozen=True)
class EarlierPatch:
    """The plan beside a config, empty where there is none, and the document that holds it."""

    plan: PatchPlan = PatchPlan(0)
    document: Mapping[str, Any] = field(default_factory=dict)

    def listed(self, key: str) -> list[Any]:
        """A list of the document: its `changes`, its `notes`."""
        found = self.document.get(key)
        return list(found) if isinstance(found, list) else []

    def require_room(self, config: Mapping[str, Any], options: argparse.Namespace) -> None:
        """Raises CaptureError (code 2) where the options take up again what was chosen before.

        `config` is what they made of the config so far.
        """
        chosen = ""
        keep, count = self.plan.keep_layers, self.plan.num_layers
        again = options.layers is not None or options.keep_layers is not None
        if keep is not None and (again or model_files.layer_count(config) != count):
            chosen = f"which of its {count} layers compute is chosen already ({as_ranges(keep)})"
        elif options.mock_tp and isinstance(mock := self.document.get("mock"), dict):
            chosen = f"it is rank 0 of TP={shown(mock.get('tp'))} already"
        if chosen:
            source = errors.printable(str(self.document.get("source")), in_one_line=True)
            raise CaptureError(
                f"{options.model} was written by config-patch: {chosen}",
                f"give {source}, of which it was made, with all options",
                errors.USAGE,
            )


def earlier_patch(files: ModelFiles) -> EarlierPatch:
    """That of a model's folder. Raises CaptureError (code 3) where its plan is none."""
    path = files.folder / FILE_NAME
    if not path.is_file():
        return EarlierPatch()
    return EarlierPatch(load_plan(path), model_files.load_json(path))
