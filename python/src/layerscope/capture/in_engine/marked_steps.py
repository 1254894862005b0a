"""bench_steps_rank<r>.jsonl: a line for each marked step, written while an engine runs."""

from __future__ import annotations

import contextlib
import json
from dataclasses import asdict, dataclass
from pathlib import Path

from layerscope.capture.in_engine.settings import Point
from layerscope.capture.json_values import is_whole

_ABOVE = 2**63  # all numbers of a step: tables keep 64 bits


@dataclass(frozen=True)
class MarkedStep:
    """A step that was marked; `n` is its number in the process, as in the name of its range.

    `input_len`: of the prompts behind which it ran; one past length follows prompts of several.
    """

    n: int
    input_len: int
    batch: int
    past: int
    host_ns: int  # what the step took the calling thread; GPU time is in the trace

    @property
    def point(self) -> Point:
        """Batch and past length."""
        return self.batch, self.past


def steps_name(rank: int) -> str:
    """The file of a rank."""
    return f"bench_steps_rank{rank}.jsonl"


def note_step(folder: Path, rank: int, step: MarkedStep) -> None:
    """Adds a line. Raises OSError."""
    with (folder / steps_name(rank)).open("a") as file:
        file.write(json.dumps(asdict(step)) + "\n")


def marked_steps(folder: Path) -> list[MarkedStep]:
    """Those of rank 0, in their order; none where there is no file.

    A line that is none is left out: the last one breaks off where an engine is killed.
    """
    file = folder / steps_name(0)
    try:
        lines = file.read_text(errors="replace").splitlines() if file.is_file() else []
    except OSError:
        return []
    found: list[MarkedStep] = []
    for line in lines:
        with contextlib.suppress(ValueError, TypeError, RecursionError):
            step = MarkedStep(**json.loads(line))
            if all(is_whole(value) and 0 <= value < _ABOVE for value in vars(step).values()):
                found.append(step)
    return found
