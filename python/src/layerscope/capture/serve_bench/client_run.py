"""The engine's benchmark client against a running server, and what it left."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

from layerscope.capture import processes
from layerscope.capture.errors import CaptureError
from layerscope.capture.json_values import decoder_said, is_whole, shown
from layerscope.capture.serve_bench import bench_plan as names
from layerscope.capture.serve_bench.bench_plan import BenchPlan
from layerscope.capture.serve_bench.engine_servers import found_program
from layerscope.capture.serve_bench.server_process import RunningServer

_POLL_S = 0.2
_MOST_REQUESTS = 10**9  # that one run sends; the largest published ones send millions
_ENDING_S = 10.0  # of a server whose engine died: it answers errors, and ends


def run_client(plan: BenchPlan, words: list[str], folder: Path, server: RunningServer) -> None:
    """Runs it to its end, which is the server's end, too, where that comes first.

    Errors: `CaptureError` where it fails, takes too long, or the server ends meanwhile.
    """
    log = folder / names.CLIENT_LOG
    program = found_program(words[0])
    limit = plan.client_timeout_s
    deadline = None if limit is None else time.monotonic() + limit
    with processes.running([program, *words[1:]], log=log, env=_environment()) as client:
        while client.poll() is None:
            server.require_alive("while the benchmark ran")
            if deadline is not None and time.monotonic() > deadline:
                raise CaptureError(
                    f"the benchmark client was not done after {limit:g} s; its last words:\n"
                    + processes.tail_of(log),
                    "fewer requests, or a longer --client-timeout",
                )
            time.sleep(_POLL_S)
    if client.returncode != 0:
        server.require_alive("while the benchmark ran")
        raise CaptureError(
            f"the benchmark client ended with {client.returncode}; its last words:\n"
            + processes.tail_of(log),
            "further words for it: --client-arg",
        )


def _environment() -> dict[str, str]:
    """Requests to this machine pass no proxy."""
    own = f"{names.HOST},localhost"
    before = os.environ.get("no_proxy") or os.environ.get("NO_PROXY")
    value = f"{before},{own}" if before else own
    return {**os.environ, "no_proxy": value, "NO_PROXY": value}


def completed_requests(folder: Path, server: RunningServer) -> tuple[int, int]:
    """(completed, failed) of bench.json.

    Errors: there is none, or its numbers cannot be; no request came back, and whether the server
    ended by itself.
    """
    log = folder / names.CLIENT_LOG
    try:
        document = _result(folder / names.BENCH)
    except (OSError, ValueError, RecursionError) as error:
        raise CaptureError(
            f"the benchmark client left no result that can be read ({decoder_said(error)}); its"
            f" last words:\n{processes.tail_of(log)}",
            "is this version of the engine one that docs/capture.md names?",
        ) from error
    completed = document["completed"]
    assert isinstance(completed, int)
    if completed == 0:
        with contextlib.suppress(subprocess.TimeoutExpired):
            server.process.wait(_ENDING_S)
        server.require_alive("while the benchmark ran")
        raise CaptureError(
            f"no request came back: {_first_error(document) or processes.tail_of(log)}",
            "do --input-len and --output-len fit the model's length?",
        )
    return completed, _failed(document, completed)


def _result(file: Path) -> dict[str, Any]:
    """The object in bench.json, whose counts of requests are such where it has them.

    Raises what reading and decoding do.
    """
    # SGLang writes a line a run; the others one object without line breaks.
    document = json.loads(next(iter(file.read_text().splitlines()), ""))
    if not isinstance(document, dict) or "completed" not in document:
        raise _ResultError("it has no number of completed requests")
    for key in ("completed", "failed", "num_prompts"):
        count = document.get(key, 0)
        if not is_whole(count) or not 0 <= count <= _MOST_REQUESTS:
            raise _ResultError(f"{key} is {shown(count)}")
    counted, sent = document["completed"] + document.get("failed", 0), document.get("num_prompts")
    if sent is not None and counted > sent:
        raise _ResultError(f"it counts {counted} of {sent} requests")
    return document


class _ResultError(ValueError):
    """What is wrong with a result that is JSON."""


def _failed(document: dict[str, Any], completed: int) -> int:
    failed, each, sent = (document.get(key) for key in ("failed", "errors", "num_prompts"))
    if isinstance(failed, int):
        return failed
    if isinstance(each, list):
        return sum(1 for error in each if error)
    return sent - completed if isinstance(sent, int) else 0


def _first_error(document: dict[str, Any]) -> str:
    """The end of the first error of a request: the exception stands there."""
    each = document.get("errors")
    first = next((error for error in each if error), "") if isinstance(each, list) else ""
    return str(first).strip()[-400:]
