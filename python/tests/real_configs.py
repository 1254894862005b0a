"""The real configs of ../shared/traces/hf_config, for tests; they are read there, never copied."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

_BESIDE = Path(__file__).resolve().parents[3] / "shared"
FOLDER = Path(os.environ.get("LAYERSCOPE_SHARED") or _BESIDE) / "traces" / "hf_config"


def names() -> list[str]:
    """`Qwen--Qwen3-8B` for each config.json; empty where the folder is absent."""
    return sorted(path.name[: -len("_config.json")] for path in _configs())


def hf_quant_files() -> list[Path]:
    """The files of ModelOpt, which are no configs."""
    return sorted(FOLDER.glob("*_hf_quant_config.json"))


def path_of(name: str) -> Path:
    """The file of a config."""
    return FOLDER / f"{name}_config.json"


def read(name: str) -> dict[str, Any]:
    """The config as it stands."""
    document = json.loads(path_of(name).read_text())
    assert isinstance(document, dict)
    return document


def _configs() -> list[Path]:
    quant = set(FOLDER.glob("*_hf_quant_config.json"))
    return [path for path in FOLDER.glob("*_config.json") if path not in quant]
