"""Whether the engine has the model's class, and which it takes: from its sources, as text."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from layerscope.capture import engines, model_files
from layerscope.capture.check.finding import Finding, missing, note, ok
from layerscope.capture.counted import counted
from layerscope.capture.model_files import ModelFiles

STEP = "class"
TEXT = "text"  # in place of STEP: the class is there, and generates none
# Where each engine lists the architectures that it has classes for.
_REGISTRIES = {
    engines.VLLM: ("vllm", "model_executor/models/registry.py"),
    engines.SGLANG: ("sglang", "srt/models"),
    engines.TENSORRT_LLM: ("tensorrt_llm", "_torch/models"),
    engines.TRANSFORMERS: ("transformers", "models/auto/modeling_auto.py"),
}
# transformers' lists of classes with a head of text; the last was the third's name before 5.
_OF_TEXT = ("CAUSAL_LM", "MULTIMODAL_LM", "IMAGE_TEXT_TO_TEXT", "VISION_2_SEQ")


def check_architecture(engine: str, files: ModelFiles, config: Mapping[str, Any]) -> Finding:
    """Whether the installed engine names the model's architecture in its sources."""
    wanted = model_files.architectures(config)
    sources = _registry(engine)
    if not sources or not wanted:
        return note(STEP, f"{engine}'s list of architectures is not known here")
    if engine == engines.VLLM:
        found = _of_vllm(wanted, sources[0])
    elif engine == engines.TRANSFORMERS:
        found = _of_transformers(wanted, str(config.get("model_type")), sources[0])
    else:
        found = _of_sources(engine, wanted, sources)
    return found or _unknown(engine, wanted, files, config)


def _of_sources(engine: str, wanted: Sequence[str], sources: Sequence[str]) -> Finding | None:
    for name in wanted:
        if any(f'"{name}"' in text or f"class {name}(" in text for text in sources):
            return ok(STEP, f"{engine} has {name}")
    return None


def _of_vllm(wanted: Sequence[str], registry: str) -> Finding | None:
    """A class of its own is `"Name": ("module", …)`; `"Name": "0.23.0"` is one that it had."""
    for name in wanted:
        modules = re.findall(rf'"{re.escape(name)}":\s*\(\s*"([^"]+)"', registry)
        if any(module != "transformers" for module in modules):
            return ok(STEP, f"vllm has {name}")
        if modules or any(f'"{name}"' in text for text in _registry(engines.TRANSFORMERS)):
            return note(
                STEP,
                f"vllm has no {name} of its own: it runs transformers' class, only where that fits"
                " (its Transformers fallback), and modules and kernels are those",
                "walk --engine vllm says whether it loads; --engine transformers runs the same"
                " class",
            )
    return None


def _of_transformers(wanted: Sequence[str], model_type: str, lists: str) -> Finding | None:
    """As transformers_model loads it: the class that is named, where it is of this model_type."""
    of_text, others = _listed(lists, model_type)
    for name in wanted:
        if name in of_text:
            return ok(STEP, f"transformers has {name}, which generates text")
        if name in others:
            return note(
                TEXT,
                f"transformers has {name}, which does not generate text: profile refuses it",
                "walk shows its modules; where tokens are all that it takes, walk --profile-dir DIR"
                " records a forward",
            )
    if of_text and _of_sources(engines.TRANSFORMERS, wanted, [lists]):
        said = f"{', '.join(wanted)} is of another model_type than {model_type}"
        return note(STEP, f"{said}: transformers loads {of_text[0]}, other engines may not")
    return None


def _listed(lists: str, model_type: str) -> tuple[list[str], list[str]]:
    """The classes of a model_type: with a head of text, and others."""
    names = [f"MODEL_FOR_{task}_MAPPING_NAMES" for task in _OF_TEXT]
    of_text: list[str] = []
    others: list[str] = []
    for statement in ast.parse(lists).body:
        if not isinstance(statement, ast.Assign):
            continue
        target = ast.unparse(statement.targets[0])
        for pair in ast.walk(statement.value):
            if isinstance(pair, ast.Tuple) and len(pair.elts) == 2:
                key, value = map(ast.unparse, pair.elts)
                if key == repr(model_type):
                    (of_text if target in names else others).extend(re.findall(r"\w+", value))
    return of_text, others


def _unknown(
    engine: str, wanted: Sequence[str], files: ModelFiles, config: Mapping[str, Any]
) -> Finding:
    code = files.remote_code()
    if code and "auto_map" in {*config, *model_files.text_config(config)}:
        return note(
            STEP,
            f"{engine} does not name {', '.join(wanted)}; the model brings code"
            f" ({counted(len(code), 'file')})",
            "add --trust-remote-code, after reading it",
        )
    return missing(
        STEP,
        f"{engine} {engines.version_of(engine) or ''} does not name {', '.join(wanted)}",
        "install a newer version, or take a class that fits: layerscope-capture config-patch"
        f" {files.name} --model-type NAME --architectures Class -o DIR",
    )


def _registry(engine: str) -> list[str]:
    package, inside = _REGISTRIES[engine]
    spec = importlib.util.find_spec(package)
    for folder in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(folder) / inside
        if path.is_file():
            return [path.read_text(errors="replace")]
        if path.is_dir():
            return [p.read_text(errors="replace") for p in sorted(path.rglob("*.py"))]
    return []
