"""What the program `layerscope` says of a config: its profile and its layer types."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

from layerscope.capture.check.finding import Finding, missing, note, ok
from layerscope.capture.errors import CaptureError, first_line
from layerscope.capture.layerscope_program import PROGRAM, VARIABLE, layerscope_program

_TIMEOUT_S = 60.0
_GET = f"build it: make build, and {VARIABLE}=build/release/{PROGRAM}; or copy it from elsewhere"

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
                _GET,
            )
        ]
    words = [program, "profiles", "infer", "--config", str(config), "--format", "json"]
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=_TIMEOUT_S)
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return [missing("profile", f"{program} does not run: {first_line(error)}", _GET)]
    try:
        document = json.loads(done.stdout)
        if "error" in document:
            refused = document["error"]
            return [missing("profile", refused["message"], refused.get("hint", ""))]
        return _findings(document["data"])
    except (ValueError, KeyError, TypeError):
        what = f"{program} is not the program {PROGRAM} of this version"
        return [missing("profile", f"{what}: {_said(done)}", _GET)]


def _said(done: subprocess.CompletedProcess[str]) -> str:
    """What a program answered instead, in a few words."""
    text = (done.stderr.strip() or done.stdout.strip()).splitlines()
    ending = f"status {done.returncode}"
    return f"{ending}, {text[0][:80]}" if text else f"{ending}, and it said nothing"


def _findings(data: dict[str, Any]) -> list[Finding]:
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
