"""The program `layerscope`, which reads what is recorded."""

from __future__ import annotations

import os
import shutil

from layerscope.capture.errors import CaptureError

PROGRAM = "layerscope"
VARIABLE = "LAYERSCOPE_BIN"


def layerscope_program() -> str | None:
    """That of LAYERSCOPE_BIN, else that of PATH; None where there is neither.

    Errors: LAYERSCOPE_BIN names what is no program.
    """
    named = os.environ.get(VARIABLE)
    if not named:
        return shutil.which(PROGRAM)
    found = shutil.which(named)
    if found is None:
        raise CaptureError(
            f"{VARIABLE} names {named}, which is no program",
            f"build it: make build, and {VARIABLE}=build/release/{PROGRAM}; or unset it",
        )
    return found
