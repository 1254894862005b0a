"""A matrix with a stand-in of `run_drive`, which writes what a drive writes."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from layerscope.capture.drive.drive_plan import PLAN_FILE, SUMMARY_FILE, DrivePlan
from layerscope.capture.drive.drive_run import DriveSummary
from layerscope.capture.errors import CaptureError
from layerscope.capture.matrix.declaration import Declaration, load_declaration
from layerscope.capture.matrix.execution import run_matrix
from layerscope.capture.matrix.planned_runs import PlannedRun, planned_runs
from layerscope.capture.matrix.result_table import ResultTable

_MATRIX: dict[str, Any] = {
    "engine": ["vllm", "sglang"],
    "batch": [8, 1],
    "past": [1024, 16],
    "precision": ["bf16", {"name": "fp8kv", "quantization": "fp8", "kv_cache_dtype": "fp8"}],
    "parallelism": ["tp1", "tp4-ep4"],
    "repeat": 3,
    "profiler": "torch",
    "family": [
        {"name": "small", "model": "org/small", "parallelism": ["tp1"]},
        {"name": "moe", "model": "org/moe", "engine": "vllm", "batch": 4},
    ],
    "exclude": [{"engine": "sglang", "precision": "fp8kv"}],
}


def declared(folder: Path, **changes: Any) -> Declaration:
    file = folder / "matrix.json"
    file.write_text(json.dumps({**_MATRIX, **changes}))
    return load_declaration(file)


def declared_run(folder: Path, **changes: Any) -> Declaration:
    """One family, engine, precision and parallelism: one run of 2 x 2 points."""
    family = [{"name": "small", "model": "org/small"}]
    lists: dict[str, Any] = {"engine": "vllm", "precision": "bf16", "parallelism": "tp1"}
    return declared(folder, **{"family": family, "exclude": [], **lists, **changes})


class Drive:
    """Stands for `run_drive`: writes what a drive writes, or fails."""

    def __init__(self, fails_at: int | None = None) -> None:
        self.plans: list[DrivePlan] = []
        self.fails_at = fails_at  # batches from here on

    def __call__(self, plan: DrivePlan, folder: Path) -> DriveSummary:
        self.plans.append(plan)
        if self.fails_at is not None and max(plan.batch_sizes) >= self.fails_at:
            raise CaptureError("out of memory")
        write_recording(folder, sorted(plan.points))
        return DriveSummary("vllm", "0.12.0", dict.fromkeys(plan.points, 2), 3)


class WholeDrive(Drive):
    """Leaves drive.plan and drive.summary, too; then it calls `ended`."""

    def __init__(self, ended: Callable[[], None] = lambda: None) -> None:
        super().__init__()
        self._ended = ended

    def __call__(self, plan: DrivePlan, folder: Path) -> DriveSummary:
        summary = super().__call__(plan, folder)
        (folder / PLAN_FILE).write_text(plan.to_json())
        (folder / SUMMARY_FILE).write_text(summary.to_json())
        self._ended()
        return summary


def write_recording(folder: Path, points: list[tuple[int, int]]) -> None:
    """Two steps a point, one of three kernels of `batch` us and one of three of `past` us.

    They are of two modules, and of the model itself, whose range is around all.
    As of a drive with torch's profiler: a trace for each batch and input length.
    """
    shutil.rmtree(folder, ignore_errors=True)
    lines: list[str] = []
    for batch, past in points:
        events: list[dict[str, Any]] = []
        at = 0
        for gpu_us in (batch, past):
            number = len(lines)
            name = f"bench_step::{number}::bs::{batch}::past::{past}::phase::decode"
            on_cpu = {"ph": "X", "pid": 1, "tid": 1}
            events.append(on_cpu | _event("user_annotation", name, at, 5000))
            events.append(on_cpu | _event("user_annotation", "{'Module': ''}", at + 5, 1000))
            for part, path in enumerate(("model.attn", "model.mlp", "")):
                begin, key = at + 10 + 100 * part, 3 * number + part + 1
                if path:
                    scope = f"{{'Module': '{path}'}}"
                    events.append(on_cpu | _event("user_annotation", scope, begin, 50))
                call = _event("cuda_runtime", "cudaLaunchKernel", begin + 5, 5)
                events.append(on_cpu | call | {"args": {"correlation": key}})
                place = {"device": 0, "stream": 7, "correlation": key}
                kernel = _event("kernel", "k", at + 300 + 1500 * part, gpu_us)
                events.append({"ph": "X", "pid": 0, "tid": 7} | kernel | {"args": place})
            at_past = {"n": number, "input_len": past, "batch": batch, "past": past}
            entry = {**at_past, "host_ns": 1000 * gpu_us}
            lines.append(json.dumps(entry))
            at += 10_000
        place_of = folder / f"batch{batch}_input{past}"
        place_of.mkdir(parents=True)
        (place_of / "rank0.pt.trace.json").write_text(json.dumps({"traceEvents": events}))
    (folder / "bench_steps_rank0.jsonl").write_text("\n".join(lines) + "\n")


def _event(category: str, name: str, ts: int, dur: int) -> dict[str, Any]:
    return {"cat": category, "name": name, "ts": ts, "dur": dur}


def runs_of(declaration: Declaration) -> list[PlannedRun]:
    return list(planned_runs(declaration))


def run_all(declaration: Declaration, drive: Drive) -> tuple[int, int, int]:
    with ResultTable(declaration.output / "results.sqlite") as table:
        tally = run_matrix(declaration, runs_of(declaration), table, drive=drive)
    return tally.recorded, tally.kept, tally.failed
