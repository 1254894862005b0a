"""Processes as /proc shows them: who started whom, who still runs, who listens on a port.

A process group is not all that an engine starts: some of its children make sessions of their own,
and some outlive the one that started them. Where there is no /proc (macOS) all of this is empty.
"""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")
_SET_CHILD_SUBREAPER = 36  # linux/prctl.h
_GET_CHILD_SUBREAPER = 37
_LISTEN = "0A"  # state of a socket in /proc/net/tcp


@dataclass(frozen=True)
class Process:
    """One line of the table. `started` (clock ticks since boot) tells reused ids apart."""

    pid: int
    parent: int
    group: int
    started: int
    is_zombie: bool


def read_table() -> dict[int, Process]:
    """Every process of this machine (container) by id."""
    found = {}
    for entry in _entries(_PROC):
        if entry.name.isdigit() and (process := _read(int(entry.name))):
            found[process.pid] = process
    return found


def _entries(folder: Path) -> list[Path]:
    try:
        return list(folder.iterdir())
    except OSError:  # ended meanwhile, another user's, or no /proc
        return []


def _read(pid: int) -> Process | None:
    """None where it ended meanwhile."""
    try:
        text = (_PROC / str(pid) / "stat").read_text(errors="replace")
        # The name, in brackets, may hold spaces and brackets. Fields behind it: proc(5), from 3 on.
        fields = text[text.rindex(")") + 1 :].split()
        return Process(
            pid=pid,
            parent=int(fields[1]),
            group=int(fields[2]),
            started=int(fields[19]),
            is_zombie=fields[0] in "ZX",
        )
    except (OSError, ValueError, IndexError):
        return None


def descendants(roots: Iterable[int], table: Mapping[int, Process]) -> set[Process]:
    """All that these processes started, and what that started; not the roots themselves."""
    children: dict[int, list[Process]] = {}
    for process in table.values():
        children.setdefault(process.parent, []).append(process)
    found: set[Process] = set()
    waiting = list(roots)
    while waiting:
        new = [child for child in children.get(waiting.pop(), []) if child not in found]
        found.update(new)
        waiting += [child.pid for child in new]
    return found


def with_variable(name: str, value: str) -> set[Process]:
    """All that were started with this value in their environment, as what they start is.

    Not those that another user runs, or that wrote something else over it.
    """
    wanted = f"{name}={value}".encode()
    found = set()
    for process in read_table().values():
        with contextlib.suppress(OSError):
            if wanted in (_PROC / str(process.pid) / "environ").read_bytes().split(b"\0"):
                found.add(process)
    return found


def still_running(process: Process) -> bool:
    """Whether this very process runs; a zombie does not."""
    now = _read(process.pid)
    return now is not None and now.started == process.started and not now.is_zombie


@contextlib.contextmanager
def subreaper() -> Iterator[None]:
    """Within the block, descendants whose parent ended become children of this process.

    Without it they go to process 1, and nobody knows whose they were. Linux alone; elsewhere
    nothing changes.
    """
    before = _subreaper_flag()
    if before is None:
        yield
        return
    _prctl(_SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        _prctl(_SET_CHILD_SUBREAPER, before)


def _subreaper_flag() -> int | None:
    value = ctypes.c_int(0)
    return value.value if _prctl(_GET_CHILD_SUBREAPER, ctypes.byref(value)) == 0 else None


def _prctl(option: int, value: object) -> int:
    try:
        return int(ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0))
    except (OSError, AttributeError):
        return -1


def listeners(port: int) -> set[int] | None:
    """The processes that listen on a TCP port; None where that cannot be known."""
    sockets = _listening_sockets(port)
    if sockets is None:
        return None
    wanted = {f"socket:[{inode}]" for inode in sockets}
    found = set()
    for entry in _entries(_PROC):
        if entry.name.isdigit():
            for file in _entries(entry / "fd"):
                with contextlib.suppress(OSError):
                    if str(file.readlink()) in wanted:
                        found.add(int(entry.name))
    return found or None


def _listening_sockets(port: int) -> set[str] | None:
    """Inodes of the sockets that listen there."""
    found: set[str] = set()
    for name in ("tcp", "tcp6"):
        try:
            rows = (_PROC / "net" / name).read_text().splitlines()[1:]
        except OSError:
            continue
        for row in rows:
            fields = row.split()
            if fields[3] == _LISTEN and int(fields[1].rsplit(":", 1)[1], 16) == port:
                found.add(fields[9])
    return found or None
