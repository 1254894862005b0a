"""What the program `layerscope` says of a config: its profile and its layer types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from layerscope.capture.check.finding import Finding, missing, note, ok
from layerscope.capture.errors import CaptureError
from layerscope.capture.layerscope_program import GET, PROGRAM, VARIABLE, ask, layerscope_program

# Profiles whose anchor is no name that is known from the config: docs/profiles.md.
_WITHOUT_FAMILY = ("generic", "generic_addnorm")

# What layerscope makes of the fields that it knows: docs/profiles.md, Layer types. Any other type
# is a word of the config in capitals. A test compares them with the program.
KNOWN_BASES = {
    *("FULL", "SWA", "LINEAR", "DSA", "CONV", "MAMBA", "ATTN", "MLP", "MOE"),
    *("SWA_ONLY", "CSA_C4", "HCA_C128", "V41_C2", "V41_C1"),
}


def check_profile(config: Path) -> list[Finding]:
    """The profile and the layer types that the config gets."""
    try:
        program = layerscope_program()
    except CaptureError as error:
        return [missing("profile", error.message, error.hint)]
    if program is None:
        return [
            missing(
                "profile",
                f"the program {PROGRAM} is not on PATH ({VARIABLE} names no program either)",
                GET,
            )
        ]
    try:
        return ask(program, ["profiles", "infer", "--config", str(config)], _findings)
    except CaptureError as error:
        return [missing("profile", error.message, error.hint)]


def _findings(document: dict[str, Any]) -> list[Finding]:
    data = document["data"]
    name = data["profile"]
    found = [ok("profile", f"{name}: {data['why']}")]
    if name in _WITHOUT_FAMILY:
        found.append(
            note(
                "profile",
                "no profile of its own: the residual norms are boundaries, if a trace verifies it",
                "layerscope passes TRACE --config CONFIG; if it refuses, --anchor-kernel NAME, or"
                " a profile: docs/profiles.md",
            )
        )
    clusters = data.get("clusters") or []
    if not clusters:
        found.append(
            missing(
                "layers", "no layer types: the config does not say how many layers", "see config"
            )
        )
        return found
    types = ", ".join(f"{c['n']} {c['type']} ({c['layers']})" for c in clusters)
    found.append(ok("layers", f"{data['num_layers']}: {types}"))
    unknown = [c["type"] for c in clusters if c["type"].split("+")[0] not in KNOWN_BASES]
    if unknown:
        found.append(
            note(
                "layers",
                f"words of the config taken as they stand: {', '.join(unknown)}",
                "docs/profiles.md, Layer types, says which fields are understood",
            )
        )
    return found
