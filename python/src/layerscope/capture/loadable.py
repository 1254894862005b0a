"""What is refused before an engine loads a model: no such folder, a config or files that cannot be.

Engines say of such files what their parsers say, after minutes. A model of the hub that is not in
the local cache is the engine's to find, unless the environment forbids it the network.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from layerscope.capture.errors import INVALID_INPUT, USAGE, CaptureError
from layerscope.capture.file_checks import broken_tokenizers, broken_weights, lacking_weights
from layerscope.capture.model_files import ModelFiles, is_hub_name, load_config, locate, offline
from layerscope.capture.model_values import impossible_values
from layerscope.capture.patches.plan import FILE_NAME, needs_dummy_weights

_OTHER_CONFIGS = ("params.json",)  # Mistral's own format
# Keywords of engines that name other weights, or another tokenizer.
_OTHER_WEIGHTS = {"load_format", "config", "extra_llm_api_options"}  # the latter name files
OTHER_TOKENIZER = {"tokenizer", "tokenizer_path", "skip_tokenizer_init"}


def require_loadable(
    model: str,
    engine_args: Mapping[str, Any],
    *,
    dummy_weights: bool = False,
    reads_tokenizer: bool = True,
) -> None:
    """Raises CaptureError where MODEL is no folder or name, or its files cannot be loaded.

    `engine_args` are keywords of the engine: those that name other weights or another tokenizer
    are heeded.
    """
    files = _located(model)
    if files is None:
        return
    if impossible := impossible_values(load_config(files.config)):
        raise CaptureError(
            f"{files.config}: no such model: {'; '.join(impossible)}",
            f"layerscope-capture check {model} says more",
            INVALID_INPUT,
        )
    broken = []
    if not dummy_weights and not _OTHER_WEIGHTS & engine_args.keys():
        broken += broken_weights(files)
        # What the cache lacks of a model of the hub, the engine fetches.
        if Path(model).exists() or offline():
            broken += lacking_weights(files)
            if not broken:
                _require_weights(files)
    if reads_tokenizer and not OTHER_TOKENIZER & engine_args.keys():
        broken += broken_tokenizers(files)
    if broken:
        more = f"; {len(broken) - 1} more" if len(broken) > 1 else ""
        raise CaptureError(
            f"{files.folder}: {broken[0]}{more}",
            "copy or download it again (git-lfs: git lfs pull), or run it with dummy weights",
            INVALID_INPUT,
        )


def _require_weights(files: ModelFiles) -> None:
    """Raises CaptureError where nothing in the folder could be weights."""
    if files.has_weights():
        return
    hint = "add --dummy-weights (in a matrix: dummy_weights = true)"
    if needs_dummy_weights(files.folder):
        said = f", and by its {FILE_NAME} none fit"
    else:
        said, hint = "", f"{hint}, or get them: hf download"
    raise CaptureError(f"{files.folder} has no weights{said}", hint, INVALID_INPUT)


def _located(model: str) -> ModelFiles | None:
    """None: the engine finds what it needs, or says what it lacks."""
    path = Path(model)
    if path.is_file() and path.suffix == ".json":
        raise CaptureError(
            f"{model} is a file, and engines load a folder", f"give {path.parent}", USAGE
        )
    if path.is_file():  # of weights, as GGUF
        return None
    try:
        return locate(model)
    except CaptureError as error:
        if any((path / name).is_file() for name in _OTHER_CONFIGS):
            return None
        if path.exists() or not is_hub_name(model):
            raise
        if variable := offline():
            raise CaptureError(
                f"{error.message}, and {variable} forbids to look for it elsewhere",
                f"is the name right? {error.hint}, where there is a network",
                INVALID_INPUT,
            ) from None
        return None
