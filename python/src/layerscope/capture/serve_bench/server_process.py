"""A server that runs for the length of a block: started, waited for, watched, ended."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from layerscope.capture import process_tree, processes
from layerscope.capture.errors import USAGE, CaptureError
from layerscope.capture.serve_bench.bench_plan import HOST, SERVER_LOG, BenchPlan
from layerscope.capture.serve_bench.engine_servers import SERVERS, found_program, server_words
from layerscope.capture.serve_bench.server_http import ServerAnswerError, ServerHttp

_POLL_S = 0.25
_HEALTH_TIMEOUT_S = 10.0
_PORT_TRIES = 3
_LINES = 300  # of a log, in which the cause stands above what follows from it
# What servers log when another process has their port: uvicorn, Python, the kernel's text.
_PORT_TAKEN = ("address already in use", "errno 98", "port is already")

Report = Callable[[str], None]


class PortTakenError(CaptureError):
    """Another process listens where the server should."""


@dataclass(frozen=True)
class RunningServer:
    """A healthy server."""

    process: subprocess.Popen[bytes]
    port: int
    ready_s: float  # from its start to its first healthy answer
    log: Path

    @property
    def http(self) -> ServerHttp:
        """How to talk to it."""
        return ServerHttp(self.port)

    def require_alive(self, doing: str) -> None:
        """Raises where it ended meanwhile."""
        code = self.process.poll()
        if code is not None:
            raise _ended(code, doing, self.log)


@contextlib.contextmanager
def serving(
    plan: BenchPlan, folder: Path, env: Mapping[str, str], report: Report
) -> Iterator[RunningServer]:
    """The engine's server, healthy; with all that it started it is gone when the block is left.

    A port that is taken between its choice and its use is chosen anew. Errors: `CaptureError` with
    the end of the server's log where it ends early or is not healthy in time.
    """
    if plan.port is not None and not processes.port_is_free(plan.port, HOST):
        raise CaptureError(
            f"port {plan.port} is taken", "leave --port out, and a free one is chosen", USAGE
        )
    tries = 1 if plan.port is not None else _PORT_TRIES
    for left in reversed(range(tries)):
        port = plan.port or processes.free_port(HOST)
        with contextlib.ExitStack() as stack:
            try:
                server = stack.enter_context(_started(plan, folder, port, env))
            except PortTakenError:
                if left == 0:
                    raise
                report(f"port {port} was taken meanwhile; another one is tried")
                continue
            yield server
            return


@contextlib.contextmanager
def _started(
    plan: BenchPlan, folder: Path, port: int, env: Mapping[str, str]
) -> Iterator[RunningServer]:
    words = server_words(plan, folder, port)
    log = folder / SERVER_LOG
    began = time.monotonic()
    with processes.running([found_program(words[0]), *words[1:]], log=log, env=env) as process:
        _wait_until_healthy(plan, process, port, log)
        yield RunningServer(process, port, time.monotonic() - began, log)


def _wait_until_healthy(
    plan: BenchPlan, process: subprocess.Popen[bytes], port: int, log: Path
) -> None:
    http, path = ServerHttp(port), SERVERS[plan.engine].health
    deadline = time.monotonic() + plan.ready_timeout_s
    while time.monotonic() < deadline:
        code = process.poll()
        if code is not None:
            raise _ended(code, "before it was healthy", log)
        with contextlib.suppress(ServerAnswerError):
            http.get(path, min(_HEALTH_TIMEOUT_S, plan.ready_timeout_s))
            if not _is_listener(process, port):
                raise PortTakenError(f"another process took port {port}", "run it again")
            return
        time.sleep(_POLL_S)
    raise CaptureError(
        f"the server was not healthy within {plan.ready_timeout_s:g} s; its last words:\n"
        + processes.tail_of(log),
        "large models take long to load and to compile: --ready-timeout SECONDS",
    )


def _is_listener(process: subprocess.Popen[bytes], port: int) -> bool:
    """Whether what answers is the server, as far as that can be known."""
    holders = process_tree.listeners(port)
    if holders is None:
        return True
    below = process_tree.descendants([process.pid, os.getpid()], process_tree.read_table())
    return bool(holders & {process.pid, *(one.pid for one in below)})


def _ended(code: int, when: str, log: Path) -> CaptureError:
    tail = processes.tail_of(log)
    if any(text in tail.lower() for text in _PORT_TAKEN):
        return PortTakenError(
            f"the server's port is taken; its last words:\n{tail}", "run it again"
        )
    how = f"was killed by signal {-code}" if code < 0 else f"ended with {code}"
    cause = _first_error(log)
    first = f"; the first error: {cause}" if cause and cause not in tail else ""
    said = f"the server {how} {when}{first}; its last words:\n{tail}"
    return CaptureError(said, _hint_of(f"{tail}\n{cause}"))


def _first_error(log: Path) -> str:
    """The first exception near the end of a log: a server that goes down says much behind it."""
    for line in processes.tail_of(log, _LINES).splitlines():
        found = re.search(r"\b[\w.]+(Error|Exception): .+", line)
        if found and not re.search(r"\b(INFO|WARNING)\b", line):
            return found[0]
    return ""


def _hint_of(said: str) -> str:
    """What to do about the commonest ends."""
    text = said.lower()
    if "index out of range in self" in text or "device-side assert" in text:
        return (
            "does the model have all tokens of its tokenizer? One rank of several does where"
            " config-patch was given --keep-vocab"
        )
    if "out of memory" in text or "free memory" in text:
        return "give the server less: arguments for it stand behind --"
    if "unrecognized arguments" in text or "no such option" in text:
        return "what stands behind -- goes to the server: does this version have that option?"
    return "the whole log is kept, see below"
