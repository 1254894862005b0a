"""What the hooks of one process say about themselves: `hooks_rank<r>_pid<p>.report`.

A JSON object; the name is not that of a trace, so that layerscope does not take it for a rank.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, field
from pathlib import Path

from layerscope.capture.output import write_bytes

SUFFIX = ".report"
NO_NODES = (
    "annotations named no node of a CUDA graph: none was captured and replayed, or in no way that "
    "torch annotates (what the engine logs at its end says it)\n"
    "  run decode as full CUDA graphs (layerscope-capture hooks rule), or choose another --backend"
)


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
    deferred: int = 0  # of these, modules whose range ends before their work: generators, async
    capture: bool = True
    reason: str = ""
    graph_nodes: int | None = None  # named by annotations
    patched: list[str] = field(default_factory=list)  # what LAYERSCOPE_PATCH changed

    def fault(self, *, has_run: bool) -> str:
        """What makes it no capture; "" where it is one.

        `has_run`: graphs were replayed, and annotations had to name their nodes by now.
        """
        if not self.capture:
            return self.reason or "this is no capture"
        if has_run and "annotations" in self.backends.split(",") and not self.graph_nodes:
            return NO_NODES
        return ""

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
