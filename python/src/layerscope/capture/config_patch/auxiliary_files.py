"""The files beside a config that an engine wants: tokenizer, generation config, remote code."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path

from layerscope.capture import errors, model_files
from layerscope.capture.errors import CaptureError, first_line
from layerscope.capture.model_files import ModelFiles

_NAMES = (
    *model_files.TOKENIZER_FILES,
    model_files.GENERATION_CONFIG,
    *model_files.PROCESSOR_FILES,
)


def beside(files: ModelFiles) -> list[Path]:
    """The auxiliary files that lie beside a config; how it is quantised is not among them."""
    return [*files.present(_NAMES), *files.remote_code()]


def source_folder(aux_from: str) -> Path:
    """The folder that `--aux-from` names: a folder, or a hub id whose files are fetched.

    Raises CaptureError: offline, without huggingface_hub, or when the hub does not give them.
    """
    path = Path(aux_from)
    if path.is_dir():
        return path
    if not model_files.is_hub_id(aux_from):
        raise CaptureError(
            f"--aux-from {aux_from}: neither a folder nor a hub id",
            "give a folder that holds the tokenizer, or ORGANISATION/MODEL",
            errors.USAGE,
        )
    if variable := model_files.offline():
        cached = model_files.cached_snapshot(aux_from)
        if cached is not None:
            return cached
        raise CaptureError(
            f"--aux-from {aux_from}: this machine is told to stay offline"
            f" ({variable}) and the model is not in {model_files.hub_cache()}",
            "copy the files from a folder: --aux-from DIR",
        )
    return _fetched(aux_from)


def _fetched(hub_id: str) -> Path:
    try:
        from huggingface_hub import snapshot_download
    except ImportError:
        raise errors.missing_package(
            "huggingface_hub", f"--aux-from {hub_id}", "pip install huggingface_hub"
        ) from None
    try:
        return Path(snapshot_download(hub_id, allow_patterns=[*_NAMES, "*.py"]))
    except Exception as error:  # its own errors, and those of the HTTP library that it uses
        raise CaptureError(
            f"--aux-from {hub_id}: the hub gave no files: {first_line(error)}",
            "without a network copy them from a folder: --aux-from DIR; for a gated model set"
            " HF_TOKEN",
        ) from error


def copy_into(folder: Path, sources: Sequence[Path]) -> None:
    """Copies files into `folder`; links of the hub's cache are followed."""
    for source in sources:
        try:
            shutil.copyfile(source, folder / source.name)
        except OSError as error:
            hint = errors.hint_of(error, "is it readable?")
            raise CaptureError(f"cannot copy {source}: {error.strerror}", hint) from error


def link_weights(folder: Path, files: ModelFiles) -> int:
    """Links the weights (and their index) into `folder`; returns how many files."""
    weights = files.weights()
    index = [p for p in files.folder.glob("*.index.json") if p.is_file()]
    for path in [*weights, *index]:
        (folder / path.name).symlink_to(path.resolve())
    return len(weights)
