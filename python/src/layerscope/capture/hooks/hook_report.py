"""What the hooks of one process say about themselves: `hooks_rank<r>_pid<p>.report`.

A JSON object; the name is not that of a trace, so that the engine does not take it for a rank.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

from layerscope.capture.output import write_bytes

SUFFIX = ".report"


@dataclass
class HookReport:
    """State of the hooks of one process; `capture` False: what it recorded is none."""

    engine: str
    backends: str
    rank: int
    pid: int = field(default_factory=os.getpid)
    models: list[str] = field(default_factory=list)  # classes, in order of loading
    modules: int = 0  # with a range
    shared: int = 0  # of these, modules that stand in more than one place
    capture: bool = True
    reason: str = ""
    graph_nodes: int | None = None  # named by annotations

    def write(self, folder: Path) -> None:
        """Writes it, over the last state of this process."""
        text = json.dumps(asdict(self), ensure_ascii=False) + "\n"
        write_bytes(folder / f"hooks_rank{self.rank}_pid{self.pid}{SUFFIX}", text.encode())


def read_reports(folder: Path) -> list[HookReport]:
    """All of a folder, by rank; files that cannot be read are left out."""
    found: list[HookReport] = []
    for path in sorted(folder.glob(f"hooks_rank*{SUFFIX}")):
        try:
            found.append(HookReport(**json.loads(path.read_text())))
        except (OSError, ValueError, TypeError):
            continue
    return sorted(found, key=lambda report: (report.rank, report.pid))
