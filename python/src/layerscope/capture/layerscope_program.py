"""The program `layerscope`, which reads what is recorded."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from layerscope.capture.errors import CaptureError, first_line, of_foreign_code

PROGRAM = "layerscope"
VARIABLE = "LAYERSCOPE_BIN"
GET = f"build it: make build, and {VARIABLE}=build/release/{PROGRAM}; or copy it from elsewhere"

_TIMEOUT_S = 600.0  # for recordings of gigabytes

Answer = TypeVar("Answer")


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


def ask(program: str, words: Sequence[str], read: Callable[[Any], Answer]) -> Answer:
    """What `read` makes of the document of `program WORDS --format json`.

    Errors: what the program refuses, in its words; it does not run, or what it says is no document
    of this version's, at which `read` may fail as it likes.
    """
    try:
        done = subprocess.run(
            [program, *words, "--format", "json"],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_TIMEOUT_S,
        )
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        raise CaptureError(f"{program} does not run: {first_line(error)}", GET) from error
    if done.returncode < 0:
        raise CaptureError(f"{program} was ended by signal {-done.returncode}")
    what = f"{program} is not the program {PROGRAM} of this version: {_said(done)}"
    with of_foreign_code(what, GET):
        document = json.loads(done.stdout)
        if "error" in document:
            refused = document["error"]
            raise CaptureError(refused["message"], refused.get("hint", ""))
        return read(document)


def _said(done: subprocess.CompletedProcess[str]) -> str:
    """What a program answered, in a few words."""
    text = (done.stderr.strip() or done.stdout.strip()).splitlines()
    ending = f"status {done.returncode}"
    return f"{ending}, {text[0][:80]}" if text else f"{ending}, and it said nothing"
