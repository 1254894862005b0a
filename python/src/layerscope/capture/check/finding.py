"""One line of `check`: what was looked at, whether it is there, and the command that mends it."""

from __future__ import annotations

from dataclasses import dataclass

OK = "ok"
NOTE = "note"  # works, with a caveat
MISSING = "MISSING"  # blocks the way to the layer table


@dataclass(frozen=True)
class Finding:
    """The state of one step. `mend` is a command or an action; empty where nothing is to do."""

    state: str
    step: str
    text: str
    mend: str = ""

    def lines(self) -> list[str]:
        """For people: one line, and one for what mends it."""
        first = f"{self.state:8}{self.step:12}{self.text}"
        return [first, f"{'':20}-> {self.mend}"] if self.mend else [first]


def ok(step: str, text: str) -> Finding:
    """It is there."""
    return Finding(OK, step, text)


def note(step: str, text: str, mend: str = "") -> Finding:
    """It is there or is not needed, and there is something to know."""
    return Finding(NOTE, step, text, mend)


def missing(step: str, text: str, mend: str) -> Finding:
    """It is not there and blocks."""
    return Finding(MISSING, step, text, mend)
