"""What the model itself must bring: config, tokenizer, weights, and a class in the engine."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Any

from layerscope.capture import (
    config_classes,
    engines,
    file_checks,
    model_files,
    model_sizes,
    model_values,
)
from layerscope.capture.check.finding import Finding, missing, note, ok
from layerscope.capture.counted import counted
from layerscope.capture.errors import CaptureError
from layerscope.capture.model_files import ModelFiles
from layerscope.capture.patches.plan import plan_beside


def check_config(files: ModelFiles, config: Mapping[str, Any]) -> list[Finding]:
    """Whether the config is that of a possible model, and names an architecture and its layers."""
    text = model_files.text_config(config)
    architectures = model_files.architectures(config)
    count = model_files.layer_count(config)
    inner = ".".join(model_files.text_path(config))
    where = f" (text model: {inner})" if inner else ""
    impossible = model_values.impossible_values(config)
    if impossible:
        return [
            missing(
                "config",
                f"{files.config}: no such model: {'; '.join(impossible)}",
                f"layerscope-capture config-patch {files.name} --set KEY=VALUE -o DIR",
            )
        ]
    if count is None:
        return [
            missing(
                "config",
                f"{files.config}: no layer count{where}",
                f"layerscope-capture config-patch {files.name}"
                f" --add {model_files.dotted(inner, 'num_hidden_layers')}=N -o DIR",
            )
        ]
    if lost := _sizes_not_read(files, config):
        return [lost]
    names = ", ".join(architectures) or "no architectures"
    said = f"{files.config}: {text.get('model_type', 'no model_type')}, {names}, {count} layers"
    found = [ok("config", said + where)]
    if not architectures:
        found.append(
            note(
                "config",
                "no architectures: vLLM and SGLang choose the model's class by them",
                f"layerscope-capture config-patch {files.name} --add architectures='[\"Class\"]'"
                " -o DIR",
            )
        )
    return found


def _sizes_not_read(files: ModelFiles, config: Mapping[str, Any]) -> Finding | None:
    """Where the class of the model type looks for no sizes where they lie, and takes defaults."""
    inner = model_files.text_path(config)[:1]
    model_type = config.get("model_type")
    if not inner or "auto_map" in config or not isinstance(model_type, str):
        return None  # with a class of its own it reads what it likes
    known = config_classes.known_objects(model_type)
    if known is None or inner[0] in known:
        return None
    return missing(
        "config",
        f"{files.config}: the sizes lie in {inner[0]}, which transformers' class of {model_type}"
        " does not read: it takes its defaults",
        f"layerscope-capture config-patch {files.name} --model-type {model_type}"
        f" --architectures {','.join(model_files.architectures(config)) or 'Class'} -o DIR",
    )


def check_tokenizer(files: ModelFiles) -> Finding:
    """Whether a vocabulary lies beside the config; not every run needs one."""
    mend = f"layerscope-capture config-patch {files.name} --aux-from ORGANISATION/MODEL -o DIR"
    if not files.vocabularies():
        return note(
            "tokenizer",
            f"none beside {files.config}: drive, and walk and profile in transformers, run without"
            " one; servers do not start",
            mend,
        )
    broken = file_checks.broken_tokenizers(files)
    if broken:
        return missing("tokenizer", "; ".join(broken), f"get it again; or {mend}")
    return ok("tokenizer", f"in {files.folder}")


def check_weights(files: ModelFiles, config: Mapping[str, Any]) -> list[Finding]:
    """Whether whole weights are there; if none, what dummy weights of this config get wrong."""
    weights = files.weights()
    broken = file_checks.broken_weights(files) + file_checks.lacking_weights(files)
    if broken:
        more = f"; {len(broken) - 1} more" if len(broken) > 1 else ""
        return [
            missing(
                "weights",
                f"{broken[0]}{more}",
                "get them again (hf download; git lfs pull), or remove them and run with"
                " dummy weights",
            )
        ]
    if weights:
        size = sum(path.stat().st_size for path in weights)
        return [ok("weights", f"{counted(len(weights), 'file')}, {_bytes(size)}")]
    caveats = dummy_caveats(files, config, is_balanced=_is_balanced(files))
    exceptions = ", with these exceptions" if caveats else ""
    found = [
        note(
            "weights",
            f"none: layer times need no trained weights{exceptions}",
            "--load-format dummy (vLLM, SGLang), --dummy-weights (commands of layerscope-capture)",
        )
    ]
    return found + [note("weights", text, mend) for text, mend in caveats]


def _bytes(size: int) -> str:
    """In the unit in which it has a digit."""
    for unit, one in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if size >= one:
            return f"{size / one:.2f} {unit}"
    return f"{size} B"


def _is_balanced(files: ModelFiles) -> bool:
    """Whether a plan beside the config balances the routing."""
    with contextlib.suppress(CaptureError):  # check_plan says it
        plan = plan_beside(files.folder)
        return plan is not None and plan.routing is not None
    return False


def dummy_caveats(
    files: ModelFiles, config: Mapping[str, Any], *, is_balanced: bool = False
) -> list[tuple[str, str]]:
    """(what differs with dummy weights, what to do) for this config."""
    text = model_files.text_config(config)
    caveats = []
    moe = model_sizes.moe_sizes(text)
    if moe and not is_balanced:
        caveats.append(
            (
                f"the router's gate collapses: nearly all tokens take the same {moe.top_k} of"
                f" {text[moe.count_key]} experts",
                f"layerscope-capture config-patch {files.name} --balanced-routing -o DIR",
            )
        )
    if text.get("num_hash_layers") and not is_balanced:
        caveats.append(
            (
                f"the first {text['num_hash_layers']} layers choose experts by a table of token"
                " ids, which is dummy too",
                "--balanced-routing covers them in vLLM and SGLang",
            )
        )
    if text.get("index_topk"):
        caveats.append(
            (
                "sparse attention (DSA) has kernels for an fp8 KV cache: another cache type"
                " measures other kernels",
                "give the deployment's own --kv-cache-dtype",
            )
        )
    if text.get("num_nextn_predict_layers"):
        caveats.append(("acceptance of drafted tokens means nothing", "measure without drafting"))
    return caveats


def check_engine(engine: str) -> Finding:
    """Whether the engine is installed in this Python environment."""
    try:
        engines.require(engine)
    except CaptureError as error:
        return missing("engine", error.message, error.hint)
    return ok("engine", f"{engine} {engines.version_of(engine) or '(version unknown)'}")
