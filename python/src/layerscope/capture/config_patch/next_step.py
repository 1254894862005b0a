"""What is said when a folder is written: how it is run, and what its figures would then lack."""

from __future__ import annotations

import shlex
from pathlib import Path

from layerscope.capture import model_files, model_sizes
from layerscope.capture.config_patch.patching import Patched
from layerscope.capture.context_length import fitting_input
from layerscope.capture.model_files import ModelFiles
from layerscope.capture.patches import plan as patch_plan

_INPUT = 1024  # tokens of a prompt, where the model takes them and the steps behind it
_STEPS = 32


def next_lines(
    patched: Patched, files: ModelFiles, folder: Path, *, engine: str, linked: int
) -> list[str]:
    """Notes, and the command that runs the folder, in which `linked` weight files lie."""
    notes = []
    if not patched.needs_dummy_weights and not linked and files.weights():
        notes.append("no weights are in it: --link-weights links those of the model")
    is_moe = model_sizes.moe_sizes(model_files.text_config(patched.config)) is not None
    if is_moe and not linked and patched.plan.routing is None:
        notes.append(
            "under dummy weights a router sends all tokens to the same few experts, and times of "
            "MoE layers mean nothing: --balanced-routing"
        )
    lines = [f"note: {note}" for note in notes]
    return [*lines, f"run it, for example: {_command(patched, folder, engine, linked)}"]


def _command(patched: Patched, folder: Path, engine: str, linked: int) -> str:
    words = []
    if not patched.plan.is_empty():
        words.append(f"{patch_plan.VARIABLE}={shlex.quote(str(folder))}")
    words += ["layerscope-capture", "drive", "--engine", engine, shlex.quote(str(folder))]
    words += [
        "--batch-size",
        "1",
        "--input-len",
        str(fitting_input(patched.config, _INPUT, _STEPS)),
    ]
    words += ["--milestones", "1,16", "-o", "drive"]
    if not linked:
        words.append("--dummy-weights")
    return " ".join(words)
