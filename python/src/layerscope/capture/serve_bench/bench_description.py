"""What a run would do, and how its folder is read: text for people."""

from __future__ import annotations

import shlex

from layerscope.capture.counted import counted
from layerscope.capture.serve_bench import bench_plan as names
from layerscope.capture.serve_bench import engine_servers
from layerscope.capture.serve_bench.bench_plan import BenchPlan


def described(plan: BenchPlan) -> list[str]:
    """What `run_bench` would do, for people; nothing is looked up on disk."""
    folder = plan.output
    port = plan.port or 0
    lines = []
    for name, value in engine_servers.added_variables(plan, folder.absolute()).items():
        lines.append(f"  with {name}={value}")
    if text := engine_servers.config_text(plan):
        lines.append(f"  with {folder / engine_servers.CONFIG_FILE}: {text.strip()!r}")
    server = shlex.join(engine_servers.server_words(plan, folder.absolute(), port))
    client = shlex.join(engine_servers.client_words(plan, folder.absolute(), port))
    files = [names.BENCH, names.METRICS_BEFORE, names.METRICS_AFTER, names.RECORD]
    files += [names.SERVER_LOG, names.CLIENT_LOG]
    if plan.profile is not None or plan.hooks:
        files.append(f"{names.TRACES}/")
    window = plan.profile
    return [
        f"would start: {server}",
        *lines,
        *([] if plan.port else ["  (port 0 stands for a free one)"]),
        f"would wait until {engine_servers.SERVERS[plan.engine].health} answers, at most "
        f"{plan.ready_timeout_s:g} s",
        f"would run: {client}",
        *(
            [
                f"would then profile {counted(window.steps, 'step')} of "
                f"{counted(window.requests, 'request')}"
            ]
            if window
            else []
        ),
        f"would write {folder}: {' '.join(files)}",
    ]


def reading_hint(plan: BenchPlan) -> list[str]:
    """How to read the folder."""
    folder = plan.output
    bench, traces = shlex.quote(str(folder / names.BENCH)), shlex.quote(str(folder / names.TRACES))
    after, before = (
        shlex.quote(str(folder / name)) for name in (names.METRICS_AFTER, names.METRICS_BEFORE)
    )
    has_metrics = (folder / names.METRICS_AFTER).is_file()
    metrics = f" {after} --prometheus-before {before}" if has_metrics else ""
    lines = [f"{folder}: read it with"]
    lines.append(f"  layerscope workload {bench}{metrics} -o workload_data.json")
    if plan.profile is None:
        return lines
    served = f" --bench {bench}" + (metrics and f" --prometheus{metrics}")
    lines.append(f"  layerscope {traces}")
    lines.append(f"  layerscope map {traces} -o model_execution.json")
    lines.append(f"  layerscope view {traces}{served}")
    return lines
