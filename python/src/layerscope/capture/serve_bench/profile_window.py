"""A short profile of a running server: a few requests between /start_profile and /stop_profile."""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Iterator, Sequence
from concurrent import futures
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from layerscope.capture.errors import CaptureError
from layerscope.capture.random_prompts import prompts_of, token_range
from layerscope.capture.serve_bench.bench_plan import TRACES, BenchPlan, ProfileWindow
from layerscope.capture.serve_bench.engine_servers import start_profile_body
from layerscope.capture.serve_bench.server_http import ServerAnswerError, ServerHttp
from layerscope.capture.serve_bench.server_process import RunningServer
from layerscope.capture.trace_files import traces_below

# Versions of SGLang answer /start_profile with a number of steps only after those steps.
_START_WAIT_S = 30.0
_REQUEST_TIMEOUT_S = 600.0  # eager, with stacks, on a loaded machine
_STOP_TIMEOUT_S = 900.0  # 73 s were seen for 12 tokens with stacks on a CPU
_WRITE_TIMEOUT_S = 300.0
_SETTLED_S = 1.0
_NOTHING_S = 10.0  # it said that it stopped, and wrote nothing
_EXTRA_STEPS = 4  # the profiler stops a step after its last


def record_window(
    plan: BenchPlan, window: ProfileWindow, folder: Path, server: RunningServer
) -> list[Path]:
    """Records; returns the traces in `folder`/traces, by name.

    The window is apart from the benchmark, whose figures it would spoil. Errors: `CaptureError`
    where a request fails or no trace is written.
    """
    traces = folder / TRACES
    before = set(traces_below(traces))
    with _pool(window.requests + 1) as pool:
        started = pool.submit(_start, plan, folder, server.http)
        _wait_for(started, _START_WAIT_S)
        _send_requests(plan, window, server, pool)
        stop_error = _stop(server.http)
        _wait_for(started, _STOP_TIMEOUT_S)
    found = _settled(traces, before)
    if not found:
        server.require_alive("while it was profiled")
        raise CaptureError(
            "the server's profiler wrote no trace" + (f": {stop_error}" if stop_error else ""),
            "its log, which is kept, says why; without --profile the benchmark runs alone",
        )
    return found


@contextlib.contextmanager
def _pool(workers: int) -> Iterator[ThreadPoolExecutor]:
    """On an exception nobody waits for calls that run: they end with the server."""
    pool = ThreadPoolExecutor(workers)
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()


def _start(plan: BenchPlan, folder: Path, http: ServerHttp) -> None:
    try:
        http.post("/start_profile", start_profile_body(plan, folder), _STOP_TIMEOUT_S)
    except ServerAnswerError as error:
        raise CaptureError(
            f"the profile could not be started: {error.message}",
            "404: this version has other options for its profiler than docs/capture.md knows",
        ) from error


def _wait_for(started: Future[None], seconds: float) -> None:
    """Raises what it raised, if it ended in that time."""
    for ended in futures.wait([started], seconds).done:
        ended.result()


def _stop(http: ServerHttp) -> str | None:
    """What the server said if it refused: it may have stopped by itself after its last step."""
    try:
        http.post("/stop_profile", None, _STOP_TIMEOUT_S)
    except ServerAnswerError as error:
        return error.message
    return None


def _send_requests(
    plan: BenchPlan, window: ProfileWindow, server: RunningServer, pool: ThreadPoolExecutor
) -> None:
    """All at once, so that prefill and decode of a batch are in the window."""
    body = {
        "model": _served_name(server.http) or plan.model,
        # Not longer than what the benchmark just showed to fit the model's length.
        "max_tokens": min(window.steps + _EXTRA_STEPS, plan.load.output_len),
        "temperature": 0.0,
        "ignore_eos": True,
    }
    prompts = prompts_of(window.requests, plan.load.input_len, token_range(plan.model))
    sent = [
        pool.submit(
            server.http.post, "/v1/completions", {**body, "prompt": prompt}, _REQUEST_TIMEOUT_S
        )
        for prompt in prompts
    ]
    for request in sent:
        try:
            request.result()
        except ServerAnswerError as error:
            server.require_alive("while it was profiled")
            raise CaptureError(
                f"a request of the profile failed: {error.message}",
                "does a prompt of --input-len tokens fit the model's length?",
            ) from error


def _served_name(http: ServerHttp) -> str | None:
    with contextlib.suppress(ServerAnswerError, ValueError, RecursionError, LookupError, TypeError):
        answer: Any = json.loads(http.get("/v1/models", _REQUEST_TIMEOUT_S))
        return str(answer["data"][0]["id"])
    return None


def _settled(folder: Path, before: set[Path]) -> list[Path]:
    """The new traces once nobody writes to them any more."""
    deadline = time.monotonic() + _WRITE_TIMEOUT_S
    last: list[tuple[Path, int]] = []
    since = time.monotonic()
    while time.monotonic() < deadline:
        now = _sizes([file for file in traces_below(folder) if file not in before])
        if now != last:
            last, since = now, time.monotonic()
        elif time.monotonic() - since >= (_SETTLED_S if now else _NOTHING_S):
            break
        time.sleep(_SETTLED_S / 4)
    return [file for file, _ in last]


def _sizes(files: Sequence[Path]) -> list[tuple[Path, int]]:
    sizes = []
    for file in files:
        with contextlib.suppress(OSError):  # renamed by its writer
            sizes.append((file, file.stat().st_size))
    return sizes
