"""Runs a plan from the server's start to the finished folder."""

from __future__ import annotations

import contextlib
import os
import shutil
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from layerscope import __version__
from layerscope.capture import engines, model_files, processes
from layerscope.capture.context_length import check_context_length
from layerscope.capture.counted import counted
from layerscope.capture.errors import CaptureError, say
from layerscope.capture.hooks.hook_report import read_reports
from layerscope.capture.hooks.run import hooked_environment, judge, with_bootstrap
from layerscope.capture.kept_logs import logs_kept
from layerscope.capture.loadable import require_loadable
from layerscope.capture.output import new_folder, write_bytes, write_json
from layerscope.capture.patches.plan import path_from_environment, plan_from_environment
from layerscope.capture.serve_bench import bench_plan as names
from layerscope.capture.serve_bench import engine_servers, profile_window
from layerscope.capture.serve_bench.bench_plan import BenchPlan
from layerscope.capture.serve_bench.client_run import completed_requests, run_client
from layerscope.capture.serve_bench.server_http import ServerAnswerError
from layerscope.capture.serve_bench.server_process import Report, RunningServer, serving
from layerscope.capture.serve_bench.vocabulary import require_vocabulary

_METRICS_TIMEOUT_S = 60.0
_KEPT = (names.SERVER_LOG, names.CLIENT_LOG, names.BENCH)


def run_bench(plan: BenchPlan, report: Report = say) -> None:
    """Runs it all; the folder appears whole, or not at all.

    Where it fails or is interrupted, the logs of server and client, and the client's result, are
    kept beside the folder's place. Every process is ended, whatever happens. Errors:
    `CaptureError`.
    """
    engine_servers.check(plan)
    engines.require(plan.engine)
    require_model(plan)
    output = plan.output.absolute()
    with (
        new_folder(output, force=plan.force) as folder,
        logs_kept(folder, output, _KEPT),
        processes.adopted(),
    ):
        write_json(folder / names.RECORD, _run_in(plan, folder, report))


def require_model(plan: BenchPlan) -> None:
    """Raises CaptureError where the model's files are not whole, or it does not take the load."""
    keywords = engine_servers.server_keywords(plan.server_args)
    require_loadable(plan.model, keywords, dummy_weights=plan.dummy_weights)
    check_context_length(plan.model, plan.load.input_len + plan.load.output_len, keywords)
    require_vocabulary(plan.model, keywords, plan.client_args)


def _run_in(plan: BenchPlan, folder: Path, report: Report) -> dict[str, Any]:
    """Fills the folder; returns the record, which names the folder's final place."""
    (folder / names.TRACES).mkdir()
    _copy_config(plan.model, folder)
    if text := engine_servers.config_text(plan):
        write_bytes(folder / engine_servers.CONFIG_FILE, text.encode())
    patches = plan_from_environment()
    began = datetime.now(timezone.utc)
    log = folder / names.SERVER_LOG
    report(f"{plan.engine}: starting the server of {plan.model}; its log until the end: {log}")
    env = _environment(plan, folder)
    with serving(plan, folder, env, report) as server:
        report(f"healthy after {server.ready_s:.0f} s on port {server.port}")
        _judge_hooks(plan, folder)
        record = _bench(plan, folder, server, report)
        record["profile"] = _profile(plan, folder, server, report)
        record["hook_faults"] = _hook_faults(plan, folder)
    for fault in record["hook_faults"]:
        for line in f"the benchmark stands, its module ranges do not: {fault}".splitlines():
            report(line)
    report("the server and all that it started have ended")
    if not any((folder / names.TRACES).iterdir()):
        (folder / names.TRACES).rmdir()
    place = plan.output.absolute()
    return {
        "schema": names.SCHEMA,
        "layerscope": __version__,
        "started": began.isoformat(timespec="seconds"),
        "model": plan.model,
        "engine": {"name": plan.engine, "version": engines.version_of(plan.engine)},
        "server": {
            "command": engine_servers.server_words(plan, place, server.port),
            "environment": engine_servers.added_variables(plan, place),
            "port": server.port,
            "ready_s": round(server.ready_s, 3),
        },
        "hooks": list(plan.hooks),
        "patches": None if patches is None else patches.document(),
        **record,
    }


def _environment(plan: BenchPlan, folder: Path) -> dict[str, str]:
    env = {**os.environ, **engine_servers.added_variables(plan, folder)}
    if plan.hooks:
        return hooked_environment(engine_servers.hook_settings(plan, folder), env)
    # vLLM alone has a plugin that applies a plan of config-patch.
    return env if path_from_environment() is None else with_bootstrap(env)


def _copy_config(model: str, folder: Path) -> None:
    """The model's config.json, where `layerscope` finds it; a hub's model may not be here yet."""
    with contextlib.suppress(CaptureError):
        shutil.copyfile(model_files.locate(model).config, folder / model_files.CONFIG)


def _judge_hooks(plan: BenchPlan, folder: Path) -> None:
    """Before the benchmark: whether the hooks are in the model, and run when it runs."""
    if not plan.hooks:
        return
    reports = read_reports(folder / names.TRACES)
    if judge(reports, folder / names.TRACES, plan.engine, has_run=False) != 0:
        raise CaptureError(
            "the hooks capture nothing in this server",
            "run it without compilation: layerscope-capture hooks rule --engine "
            f"{plan.engine} prints the options, which stand behind --",
        )


def _hook_faults(plan: BenchPlan, folder: Path) -> list[str]:
    """Behind the benchmark: what became of hooks that seemed to capture; it stands without them."""
    reports = read_reports(folder / names.TRACES) if plan.hooks else []
    faults = [(one.rank, one.fault(has_run=True)) for one in reports]
    place = str(plan.output.absolute())
    return [f"rank {rank}: {said.replace(str(folder), place)}" for rank, said in faults if said]


def _bench(plan: BenchPlan, folder: Path, server: RunningServer, report: Report) -> dict[str, Any]:
    """Metrics, client, metrics."""
    metrics = {"path": engine_servers.SERVERS[plan.engine].metrics}
    has_metrics = _take_metrics(plan, server, folder / names.METRICS_BEFORE, report)
    report(f"sending {counted(plan.load.num_prompts, 'request')}")
    began = time.monotonic()
    run_client(plan, engine_servers.client_words(plan, folder, server.port), folder, server)
    seconds = time.monotonic() - began
    completed, failed = completed_requests(folder, server)
    if has_metrics:
        has_metrics = _take_metrics(plan, server, folder / names.METRICS_AFTER, report)
    if failed:
        sent = counted(completed + failed, "request")
        report(f"{failed} of {sent} failed; {names.CLIENT_LOG} says why")
    back = counted(completed, "request")
    report(f"{back} came back in {seconds:.0f} s with the client's own start")
    words = engine_servers.client_words(plan, plan.output.absolute(), server.port)
    return {
        "client": {"command": words, "seconds": round(seconds, 3)},
        "load": vars(plan.load),
        "requests": {"completed": completed, "failed": failed},
        "metrics": metrics if has_metrics else None,
    }


def _take_metrics(plan: BenchPlan, server: RunningServer, file: Path, report: Report) -> bool:
    """Whether the server has metrics; a benchmark without them is still one."""
    try:
        path = engine_servers.SERVERS[plan.engine].metrics
        write_bytes(file, server.http.get(path, _METRICS_TIMEOUT_S))
    except ServerAnswerError as error:
        server.require_alive("before its metrics were taken")
        report(f"no metrics: {error.message}")
        return False
    return True


def _profile(
    plan: BenchPlan, folder: Path, server: RunningServer, report: Report
) -> dict[str, Any] | None:
    if plan.profile is None:
        return None
    steps, requests = plan.profile.steps, plan.profile.requests
    report(f"profiling {counted(steps, 'step')} of {counted(requests, 'request')}")
    files = profile_window.record_window(plan, plan.profile, folder, server)
    config = folder / model_files.CONFIG
    if config.is_file():
        shutil.copyfile(config, folder / names.TRACES / model_files.CONFIG)
    size = sum(file.stat().st_size for file in files)
    report(f"{counted(len(files), 'trace')}, {size / 1e6:.1f} MB")
    return {**vars(plan.profile), "files": [str(file.relative_to(folder)) for file in files]}
