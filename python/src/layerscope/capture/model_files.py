"""Finds and reads the files of a model: its config, weights, tokenizer and remote code. Offline.

A model is named by a folder, by a config.json, or by a hub id (`Qwen/Qwen3-8B`) that lies in the
local Hugging Face cache. Nothing here uses the network or imports transformers.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layerscope.capture import errors
from layerscope.capture.errors import CaptureError
from layerscope.capture.json_values import decoder_said, is_whole
from layerscope.capture.small_files import read_small

CONFIG = "config.json"
_MAX_DEPTH = 32  # real configs: 5
_HUB_ID = re.compile(r"[A-Za-z0-9][\w.-]*/[\w.-]+\Z")
_HUB_NAME = re.compile(r"[A-Za-z0-9][\w.-]*(/[A-Za-z0-9][\w.-]*)?\Z", re.ASCII)  # gpt2, org/model
_OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
_WEIGHTS = (".safetensors", ".bin", ".gguf", ".pt", ".pth")

# Wrappers of multimodal models hold the language model's config under one of these.
_TEXT_KEYS = ("text_config", "language_config", "llm_config", "thinker_config")

LAYER_COUNT_KEYS = ("num_hidden_layers", "num_layers", "n_layer", "n_layers")

# Files beside the config that engines look for, by what they are for.
TOKENIZER_FILES = (
    "tokenizer.json",
    "tokenizer.model",
    "tiktoken.model",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "vocab.json",
    "merges.txt",
    "chat_template.jinja",
    "chat_template.json",
)
# One of these is the vocabulary itself; the others only describe it.
_VOCABULARIES = ("tokenizer.json", "tokenizer.model", "tiktoken.model", "vocab.json")
GENERATION_CONFIG = "generation_config.json"
PROCESSOR_FILES = (
    "preprocessor_config.json",
    "processor_config.json",
    "video_preprocessor_config.json",
)
QUANTISATION_FILES = ("hf_quant_config.json",)


@dataclass(frozen=True)
class ModelFiles:
    """Where a model lies.

    `name` is what the user gave; `folder` holds `config` and whatever else is there.
    """

    name: str
    folder: Path
    config: Path

    def present(self, names: tuple[str, ...]) -> list[Path]:
        """Those of the named files that lie beside the config."""
        return [self.folder / name for name in names if (self.folder / name).is_file()]

    def vocabularies(self) -> list[Path]:
        """The files beside the config that are a tokenizer's vocabulary."""
        return self.present(_VOCABULARIES)

    def weights(self) -> list[Path]:
        """Weight files, by name: safetensors, or else PyTorch's."""
        found = sorted(self.folder.glob("*.safetensors"))
        return found or sorted(self.folder.glob("pytorch_model*.bin"))

    def has_weights(self) -> bool:
        """Whether anything lies there that engines could load as weights, whole or not."""
        return any(path.suffix in _WEIGHTS for path in self.folder.iterdir())

    def remote_code(self) -> list[Path]:
        """Python files beside the config: code that `trust_remote_code` runs."""
        return sorted(self.folder.glob("*.py"))


def is_hub_id(name: str) -> bool:
    """Whether a name has the form `organisation/model`."""
    return _HUB_ID.match(name) is not None


def is_hub_name(name: str) -> bool:
    """Whether the hub could have a model of this name: as an id, or as old ones without a slash."""
    return _HUB_NAME.match(name) is not None


def offline() -> str | None:
    """The variable that forbids the network to Hugging Face libraries; None: it is allowed."""
    yes = ("1", "ON", "YES", "TRUE")
    return next((name for name in _OFFLINE if os.environ.get(name, "").upper() in yes), None)


def hub_cache() -> Path:
    """The folder in which huggingface_hub keeps models (its own order of variables)."""
    for variable in ("HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"):
        if value := os.environ.get(variable):
            return Path(value)
    home = os.environ.get("HF_HOME")
    return (Path(home) if home else Path.home() / ".cache" / "huggingface") / "hub"


def cached_snapshot(hub_id: str) -> Path | None:
    """The folder of a model in the local cache, or None: `main`'s snapshot, else the newest."""
    folder = hub_cache() / ("models--" + hub_id.replace("/", "--"))
    with contextlib.suppress(OSError, ValueError):  # a reference that is none
        main = (folder / "refs" / "main").read_text(encoding="utf-8").strip()
        if ((snapshot := folder / "snapshots" / main) / CONFIG).is_file():
            return snapshot
    snapshots = [s for s in (folder / "snapshots").glob("*") if (s / CONFIG).is_file()]
    return max(snapshots, key=lambda s: s.stat().st_mtime) if snapshots else None


def locate(model: str) -> ModelFiles:
    """The files of a model.

    Raises CaptureError (code 3) where there is none: it says where was looked, and what gets it.
    """
    path = Path(model)
    if path.is_dir():
        if (path / CONFIG).is_file():
            return ModelFiles(model, path, path / CONFIG)
        raise CaptureError(
            f"{path} has no {CONFIG}",
            "give the folder of a Hugging Face model, or the config file itself",
            errors.INVALID_INPUT,
        )
    if path.is_file():
        if path.suffix in _WEIGHTS:
            raise CaptureError(
                f"{path} is a file of weights",
                f"give its folder: {path.parent}",
                errors.INVALID_INPUT,
            )
        return ModelFiles(model, path.parent, path)
    if not is_hub_name(model):
        raise CaptureError(
            f"{model} is neither a folder nor a file", "is the path right?", errors.INVALID_INPUT
        )
    snapshot = cached_snapshot(model)
    if snapshot is None:
        raise CaptureError(
            f"{model} is neither a folder nor in the local cache ({hub_cache()})",
            f"get it: hf download {model} --include '*.json' --include '*.txt' --include '*.py'",
            errors.INVALID_INPUT,
        )
    return ModelFiles(model, snapshot, snapshot / CONFIG)


def load_config(path: Path) -> dict[str, Any]:
    """A model's config.json as it stands, with the NaN and Infinity that transformers writes.

    Raises CaptureError with code 3 for what is no model's config, saying what it is instead.
    """
    document = load_json(path)
    other = _other_kind(document)
    if other:
        raise CaptureError(f"{path}: {other[0]}", other[1], errors.INVALID_INPUT)
    return document


def load_json(path: Path) -> dict[str, Any]:
    """A JSON object from a small file. Raises CaptureError with code 3."""
    text = read_small(path, "the model's config.json")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CaptureError(
            f"{path}: not JSON: {decoder_said(error)}", "is the file whole?", errors.INVALID_INPUT
        ) from error
    check_depth(document, str(path))
    if not isinstance(document, dict):
        raise CaptureError(
            f"{path}: a JSON {type(document).__name__}, not an object",
            "give the model's config.json",
            errors.INVALID_INPUT,
        )
    return document


def check_depth(document: Any, name: str) -> None:
    """Raises CaptureError with code 3 for a document that is nested deeper than any config."""
    if _is_deeper(document, _MAX_DEPTH):
        raise CaptureError(
            f"{name}: nested more than {_MAX_DEPTH} deep",
            "give the model's config.json",
            errors.INVALID_INPUT,
        )


def _is_deeper(node: Any, depth: int) -> bool:
    if not isinstance(node, (dict, list)):
        return False
    inner = node.values() if isinstance(node, dict) else node
    return depth == 0 or any(_is_deeper(value, depth - 1) for value in inner)


def _other_kind(document: Mapping[str, Any]) -> tuple[str, str] | None:
    """What a file is when it is no model's config: (what, what to do)."""
    beside = "give the config.json that lies beside it; it holds the architecture"
    if isinstance(document.get("quantization"), dict) and "model_type" not in document:
        return "this is an hf_quant_config: ModelOpt's list of quantised modules", beside
    if "weight_map" in document:
        return "this is the index of safetensors files", beside
    if "tokenizer_class" in document and "added_tokens_decoder" in document:
        return "this is a tokenizer's config", beside
    if "model" in document and "added_tokens" in document:
        return "this is a tokenizer", beside
    text = text_config(document)
    telling = ("model_type", "architectures", *LAYER_COUNT_KEYS)
    if not any(key in holder for holder in (document, text) for key in telling):
        return "no model's config: neither model_type nor architectures nor a layer count", beside
    return None


def text_path(config: Mapping[str, Any]) -> tuple[str, ...]:
    """The keys that lead to the innermost text model's config; empty where it is the config."""
    path: list[str] = []
    inner: Mapping[str, Any] = config
    while True:
        key = next((k for k in _TEXT_KEYS if isinstance(inner.get(k), dict)), None)
        if key is None:
            return tuple(path)
        path.append(key)
        inner = inner[key]


def dotted(at: str, key: str) -> str:
    """The dotted path of a key in the object whose path is `at`, which is empty for the config."""
    return f"{at}.{key}" if at else key


def text_config(config: Mapping[str, Any]) -> dict[str, Any]:
    """The innermost text model's config: the very object inside `config`, not a copy."""
    inner: Any = config
    for key in text_path(config):
        inner = inner[key]
    return inner if isinstance(inner, dict) else dict(inner)


def architectures(config: Mapping[str, Any]) -> list[str]:
    """The `architectures` of the config, else of its text model."""
    for holder in (config, text_config(config)):
        names = holder.get("architectures")
        if isinstance(names, list) and names:
            return [str(name) for name in names]
    return []


def layer_count(config: Mapping[str, Any]) -> int | None:
    """The number of layers of the text model, or None where the config does not say."""
    key = layer_count_key(config)
    return None if key is None else int(text_config(config)[key])


def layer_count_key(config: Mapping[str, Any]) -> str | None:
    """The key of the text model's config that holds the layer count."""
    text = text_config(config)
    return next((k for k in LAYER_COUNT_KEYS if is_whole(text.get(k))), None)
