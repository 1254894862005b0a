"""Runs a plan from the server's start to the finished folder."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import time
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from layerscope import __version__
from layerscope.capture import engines, model_files, processes
from layerscope.capture.context_length import check_context_length
from layerscope.capture.errors import CaptureError
from layerscope.capture.hooks.hook_report import read_reports
from layerscope.capture.hooks.run import hooked_environment, judge, with_bootstrap
from layerscope.capture.in_engine.settings import HookSettings
from layerscope.capture.kept_logs import logs_kept
from layerscope.capture.loadable import require_loadable
from layerscope.capture.output import new_folder, write_bytes, write_json
from layerscope.capture.patches.plan import path_from_environment
from layerscope.capture.serve_bench import bench_plan as names
from layerscope.capture.serve_bench import engine_servers, profile_window
from layerscope.capture.serve_bench.bench_plan import BenchPlan
from layerscope.capture.serve_bench.client_run import completed_requests, run_client
from layerscope.capture.serve_bench.server_http import ServerAnswerError
from layerscope.capture.serve_bench.server_process import Report, RunningServer, serving

_METRICS_TIMEOUT_S = 60.0
_LOGS = (names.SERVER_LOG, names.CLIENT_LOG)


def run_bench(plan: BenchPlan, report: Report = print) -> None:
    """Runs it all; the folder appears whole, or not at all.

    Where it fails or is interrupted, the logs of server and client are kept beside the folder's
    place. Every process is ended, whatever happens. Errors: `CaptureError`.
    """
    engine_servers.check(plan)
    engines.require(plan.engine)
    require_model(plan)
    output = plan.output.absolute()
    with (
        new_folder(output, force=plan.force) as folder,
        logs_kept(folder, output, _LOGS),
        processes.adopted(),
    ):
        record = _run_in(plan, folder, report)
        text = json.dumps(record, ensure_ascii=False).replace(str(folder), str(output))
        write_json(folder / names.RECORD, json.loads(text))


def require_model(plan: BenchPlan) -> None:
    """Raises CaptureError where the model's files are not whole, or the load exceeds its length."""
    keywords = engine_servers.server_keywords(plan.server_args)
    require_loadable(plan.model, keywords, dummy_weights=plan.dummy_weights)
    check_context_length(plan.model, plan.load.input_len + plan.load.output_len, keywords)


def _run_in(plan: BenchPlan, folder: Path, report: Report) -> dict[str, Any]:
    (folder / names.TRACES).mkdir()
    _copy_config(plan.model, folder)
    if text := engine_servers.config_text(plan):
        write_bytes(folder / engine_servers.CONFIG_FILE, text.encode())
    began = datetime.now(timezone.utc)
    report(f"{plan.engine}: starting the server of {plan.model}")
    env = _environment(plan, folder)
    with serving(plan, folder, env, report) as server:
        report(f"healthy after {server.ready_s:.0f} s on port {server.port}")
        _judge_hooks(plan, folder)
        record = _bench(plan, folder, server, report)
        record["profile"] = _profile(plan, folder, server, report)
        record["hook_faults"] = _hook_faults(plan, folder)
    for fault in record["hook_faults"]:
        report(f"the benchmark stands, its module ranges do not: {fault}")
    report("the server and all that it started have ended")
    if not any((folder / names.TRACES).iterdir()):
        (folder / names.TRACES).rmdir()
    return {
        "schema": names.SCHEMA,
        "layerscope": __version__,
        "started": began.isoformat(timespec="seconds"),
        "model": plan.model,
        "engine": {"name": plan.engine, "version": engines.version_of(plan.engine)},
        "server": {
            "command": server.words,
            "environment": _added_variables(plan, folder),
            "port": server.port,
            "ready_s": round(server.ready_s, 3),
        },
        "hooks": list(plan.hooks),
        **record,
    }


def _added_variables(plan: BenchPlan, folder: Path) -> dict[str, str]:
    """What the server gets beside the environment of this process, for the record."""
    variables = engine_servers.server_variables(plan, folder)
    if plan.hooks:
        variables |= HookSettings(plan.hooks, folder / names.TRACES).environment()
    return variables


def _environment(plan: BenchPlan, folder: Path) -> dict[str, str]:
    env = {**os.environ, **engine_servers.server_variables(plan, folder)}
    if plan.hooks:
        return hooked_environment(HookSettings(plan.hooks, folder / names.TRACES), env)
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
    if judge(reports, folder / names.TRACES, plan.engine) != 0:
        raise CaptureError(
            "the hooks capture nothing in this server",
            "run it without compilation: layerscope-capture hooks rule --engine "
            f"{plan.engine} prints the options, which stand behind --",
        )


def _hook_faults(plan: BenchPlan, folder: Path) -> list[str]:
    """Behind the benchmark: what became of hooks that seemed to capture; it stands without them."""
    reports = read_reports(folder / names.TRACES) if plan.hooks else []
    return [f"rank {one.rank}: {fault}" for one in reports if (fault := one.fault(has_run=True))]


def _bench(plan: BenchPlan, folder: Path, server: RunningServer, report: Report) -> dict[str, Any]:
    """Metrics, client, metrics."""
    metrics = {"path": engine_servers.SERVERS[plan.engine].metrics}
    has_metrics = _take_metrics(plan, server, folder / names.METRICS_BEFORE, report)
    words = engine_servers.client_words(plan, folder, server.port)
    report(f"sending {plan.load.num_prompts} requests")
    began = time.monotonic()
    run_client(plan, words, folder, server)
    seconds = time.monotonic() - began
    completed, failed = completed_requests(folder)
    if has_metrics:
        has_metrics = _take_metrics(plan, server, folder / names.METRICS_AFTER, report)
    if failed:
        report(f"{failed} of {completed + failed} requests failed; {names.CLIENT_LOG} says why")
    report(f"{completed} requests came back in {seconds:.0f} s with the client's own start")
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
    report(f"profiling {plan.profile.steps} steps of {plan.profile.requests} requests")
    files = profile_window.record_window(plan, plan.profile, folder, server)
    config = folder / model_files.CONFIG
    if config.is_file():
        shutil.copyfile(config, folder / names.TRACES / model_files.CONFIG)
    size = sum(file.stat().st_size for file in files)
    report(f"{len(files)} traces, {size / 1e6:.1f} MB")
    return {**vars(plan.profile), "files": [str(file.relative_to(folder)) for file in files]}
