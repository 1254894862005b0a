"""Child processes that never outlive the command, and free ports for them."""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from layerscope.capture import interrupts, process_tree
from layerscope.capture.errors import CaptureError
from layerscope.capture.process_tree import Process

_TERM_GRACE_S = 20.0  # what an engine takes to free its GPUs; after that SIGKILL
_KILL_WAIT_S = 10.0
_POLL_S = 0.1
_LINE_BYTES = 500  # of a log in a message: an exception with what it says
_MARK = "LAYERSCOPE_STARTED"  # in the environment of what is started, and of what that starts


# `python -m` would take the current folder for the first place of modules: a socket.py there.
_RUN_MODULE = "import sys; sys.path[0] or sys.path.pop(0); from {} import main; sys.exit(main())"


def module_words(module: str, *arguments: str) -> list[str]:
    """The command line that runs `main` of a module, whatever lies in the current folder."""
    return [sys.executable, "-c", _RUN_MODULE.format(module), *arguments]


def free_port(host: str = "127.0.0.1") -> int:
    """A TCP port that nobody listens on at this moment."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def port_is_free(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server could listen on this port now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host, port))
        except OSError:
            return False
    return True


def group_is_alive(group: int) -> bool:
    """Whether a process of that process group still runs."""
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def end_group(process: subprocess.Popen[bytes], grace_s: float | None = None) -> None:
    """Ends a process and all that it started: SIGINT, then SIGTERM, then SIGKILL.

    Those in its process group and its descendants in others. A second Ctrl-C shortens the wait.
    """
    with interrupts.held() as received:
        grace = _TERM_GRACE_S if grace_s is None else grace_s
        _end(_Tree(process.pid, process.poll), grace, lambda: bool(received))


def end_when(pid: int, mark: str, is_time: Callable[[], bool]) -> None:
    """The same for the leader of a group that another process started, once `is_time` says so.

    It is asked again and again until then. What the leader starts meanwhile is ended also where the
    leader itself has ended before, and nobody could tell any more whose it was; a daemon, which was
    never seen below it, by the mark in its environment.
    """
    tree = _Tree(pid, lambda: None)
    while not is_time():
        tree.is_alive()
    tree.mark = mark  # not before: a look at every environment would disturb what is measured
    _end(tree, _TERM_GRACE_S, lambda: False)


def _end(tree: _Tree, grace_s: float, is_urgent: Callable[[], bool]) -> None:
    for sent, wait_s in (
        (signal.SIGINT, grace_s / 2),
        (signal.SIGTERM, grace_s / 2),
        (signal.SIGKILL, _KILL_WAIT_S),
    ):
        if not tree.is_alive():
            return
        if sent != signal.SIGKILL and is_urgent():
            continue
        tree.send(sent)
        deadline = time.monotonic() + wait_s
        while tree.is_alive() and time.monotonic() < deadline:
            if sent == signal.SIGKILL:
                tree.send(sent)  # also what was started meanwhile
            elif is_urgent():
                break
            time.sleep(_POLL_S)


class _Tree:
    """A leader of a process group, the group, descendants that left it, and what has the mark."""

    def __init__(self, leader: int, reap: Callable[[], object]) -> None:
        self.mark: str | None = None
        self._leader = leader
        self._reap_leader = reap
        self._below: dict[tuple[int, int], Process] = {}  # kept when their parent is gone

    def is_alive(self) -> bool:
        self._reap_leader()
        table = process_tree.read_table()
        roots = [self._leader, *(process.pid for process in self._below.values())]
        others = {p for p in table.values() if p.group == self._leader}
        if self.mark is not None:
            others |= process_tree.with_variable(_MARK, self.mark)
        for process in process_tree.descendants(roots, table) | others:
            if process.pid != self._leader:
                self._below[process.pid, process.started] = process
        _reap(self._below.values(), table)
        self._below = {k: p for k, p in self._below.items() if process_tree.still_running(p)}
        return bool(self._below) or group_is_alive(self._leader)

    def send(self, sent: signal.Signals) -> None:
        """Once to each: a second SIGINT makes engines drop what they write at their end."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._leader, sent)
        for process in self._below.values():
            if process.group != self._leader:
                _send(process, sent)


def _send(process: Process, sent: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if process_tree.still_running(process):
            os.kill(process.pid, sent)


def _reap(processes: Iterable[Process], table: Mapping[int, Process]) -> None:
    """Takes in zombies that became ours (`adopted`), so that their group can end."""
    for process in processes:
        now = table.get(process.pid)
        if now is not None and now.is_zombie and now.parent == os.getpid():
            with contextlib.suppress(ChildProcessError):
                os.waitpid(process.pid, os.WNOHANG)


@contextlib.contextmanager
def adopted() -> Iterator[None]:
    """No process that was started in the block, by whomever of us, outlives it.

    Those whose parent ended come to this process and are ended with it: daemons of an engine, and
    the workers of a server that was killed.
    """
    with process_tree.subreaper():
        before = set(_children())
        try:
            yield
        finally:
            with interrupts.held():
                _end_orphans(before)


def _children() -> list[Process]:
    own = os.getpid()
    return [process for process in process_tree.read_table().values() if process.parent == own]


def _end_orphans(before: set[Process]) -> None:
    """SIGTERM, then SIGKILL, to the children that are new, and all below them."""
    known = {(process.pid, process.started) for process in before}
    deadline = time.monotonic() + _TERM_GRACE_S / 2
    give_up = deadline + _KILL_WAIT_S
    asked: set[int] = set()
    while time.monotonic() < give_up:
        table = process_tree.read_table()
        new = [c for c in _children() if (c.pid, c.started) not in known]
        _reap(new, table)
        below = process_tree.descendants([child.pid for child in new], table)
        running = {p for p in (*new, *below) if not p.is_zombie}
        if not running:
            return
        for process in running:
            if time.monotonic() > deadline:
                _send(process, signal.SIGKILL)
            elif process.pid not in asked:
                _send(process, signal.SIGTERM)
        asked |= {process.pid for process in running}
        time.sleep(_POLL_S)


@contextlib.contextmanager
def running(
    words: Sequence[str], *, log: Path, env: Mapping[str, str] | None = None
) -> Iterator[subprocess.Popen[bytes]]:
    """A process in a group of its own; it and all below it are gone when the block is left.

    Standard output and error go to `log`. Within `adopted`, also what lost its parent is gone. They
    are ended, too, where this process is killed.
    """
    with contextlib.ExitStack() as stack:
        with interrupts.held():  # between its start and the note that it is to be ended
            mark = secrets.token_hex(8)
            guard = stack.enter_context(_guard(mark))
            process = _start(words, log, {**(os.environ if env is None else env), _MARK: mark})
            stack.callback(end_group, process)
            guard(process.pid)
        yield process


@contextlib.contextmanager
def _guard(mark: str) -> Iterator[Callable[[int], None]]:
    """What tells a `process_guard` which process is to be ended if this one is killed."""
    guard = subprocess.Popen(
        module_words("layerscope.capture.process_guard", mark),
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # what is sent to the command's group does not reach it
    )
    with guard, contextlib.ExitStack() as stack:
        stack.callback(guard.kill)
        pipe = guard.stdin
        assert pipe is not None

        def watch(pid: int) -> None:
            with contextlib.suppress(OSError):  # it was ended
                os.write(pipe.fileno(), b"%d\n" % pid)

        yield watch


def _start(words: Sequence[str], log: Path, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    with log.open("wb") as out:
        try:
            return subprocess.Popen(
                list(words),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                env=dict(env),
                start_new_session=True,
            )
        except OSError as error:
            raise CaptureError(
                f"cannot start {words[0]}: {error.strerror}", "is it installed and on PATH?"
            ) from error


def tail_of(log: Path, lines: int = 20) -> str:
    """The last lines of a log, for an error message.

    Each state of a progress bar is one; of a line, and of the log for each that is wanted, no more
    than `_LINE_BYTES` are read: the whole may be a line of gigabytes.
    """
    with contextlib.suppress(OSError), log.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(0, size - lines * _LINE_BYTES))
        text = file.read(lines * _LINE_BYTES).decode(errors="replace")
        return "\n".join(line[:_LINE_BYTES] for line in text.splitlines()[-lines:])
    return ""
