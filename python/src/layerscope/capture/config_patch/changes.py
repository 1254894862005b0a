"""What a patch changed: one list that is printed, written into the plan and tested."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from layerscope.capture.model_files import dotted

_ABSENT = "absent"


class _Absent:
    """The value of a key that is not there (null is a value)."""

    def __repr__(self) -> str:
        return _ABSENT


ABSENT = _Absent()


@dataclass(frozen=True)
class Change:
    """One changed key: its dotted path, the values, and why in a few words."""

    key: str
    before: Any
    after: Any
    why: str


@dataclass
class Changes:
    """The changes of a patch in the order in which they were made, and notes for the user."""

    changes: list[Change] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def set(self, holder: dict[str, Any], key: str, value: Any, why: str, at: str = "") -> None:
        """Sets a key of `holder` and records it; `at` is the dotted path of the holder.

        A key that has the value already is left alone and not recorded.
        """
        before = holder.get(key, ABSENT)
        if before is not ABSENT and type(before) is type(value) and before == value:
            return
        holder[key] = value
        self.changes.append(Change(dotted(at, key), before, value, why))

    def remove(self, holder: dict[str, Any], key: str, why: str, at: str = "") -> None:
        """Removes a key of `holder`, if it is there, and records it."""
        if key in holder:
            before = holder.pop(key)
            self.changes.append(Change(dotted(at, key), before, ABSENT, why))

    def document(self) -> list[dict[str, Any]]:
        """The changes for JSON: a key that was absent has no `before`, a removed one no `after`."""
        rows = []
        for change in self.changes:
            row: dict[str, Any] = {"key": change.key, "why": change.why}
            if change.before is not ABSENT:
                row["before"] = change.before
            if change.after is not ABSENT:
                row["after"] = change.after
            rows.append(row)
        return rows

    def lines(self) -> list[str]:
        """One line a change, for people; long values are shortened."""
        return [
            f"{c.key}: {_short(c.before)} -> {_short(c.after)}  ({c.why})" for c in self.changes
        ]


def _short(value: Any) -> str:
    text = repr(value)
    if len(text) <= 48:
        return text
    if isinstance(value, (list, dict)):
        return f"{type(value).__name__} of {len(value)}"
    return text[:45] + "..."
