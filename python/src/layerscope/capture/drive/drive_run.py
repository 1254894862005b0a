"""Runs a plan: starts the session, waits, and judges what it left."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from layerscope.capture import engines, processes
from layerscope.capture.drive.drive_plan import PLAN_FILE, SUMMARY_FILE, DrivePlan
from layerscope.capture.drive.nsys import nsys_words, report_files, require_nsys
from layerscope.capture.drive.session import marked_points, missing_points
from layerscope.capture.errors import CaptureError
from layerscope.capture.hooks.hook_report import read_reports
from layerscope.capture.hooks.run import hooked_environment
from layerscope.capture.hooks.settings import HookSettings, StepSettings
from layerscope.capture.output import new_folder, write_bytes

LOG = "session.log"


@dataclass(frozen=True)
class DriveSummary:
    """What a finished drive recorded: how often each point was marked, and how it ran."""

    engine: str
    version: str | None
    steps: dict[tuple[int, int], int]
    modules: int  # with a range, in rank 0

    def to_json(self) -> str:
        """The text of drive.summary."""
        steps = [{"batch": b, "past": p, "steps": n} for (b, p), n in sorted(self.steps.items())]
        return json.dumps({**asdict(self), "steps": steps}, ensure_ascii=False, indent=1) + "\n"


def session_words(plan: DrivePlan, folder: Path, *, program: str | None = None) -> list[str]:
    """The command line of the session; `program` is nsys, if it shall record."""
    words = [sys.executable, "-m", "layerscope.capture.drive.session", str(folder)]
    return words if program is None else nsys_words(program, folder, words)


def session_settings(plan: DrivePlan, folder: Path) -> HookSettings:
    """The hooks of the session's processes."""
    return HookSettings(plan.backends, folder, StepSettings(plan.points))


def run_drive(plan: DrivePlan, output: Path, *, force: bool = False) -> DriveSummary:
    """Runs the plan into a new folder; raises CaptureError, and then leaves no folder.

    On Ctrl-C, too, every process that was started is ended.
    """
    engines.require(plan.engine, "drive")
    program = require_nsys() if plan.profiler == "nsys" else None
    with new_folder(output.absolute(), force=force) as folder:
        write_bytes(folder / PLAN_FILE, plan.to_json().encode())
        words = session_words(plan, folder, program=program)
        environment = hooked_environment(session_settings(plan, folder))
        log = folder / LOG
        with (
            processes.adopted(),
            processes.running(words, log=log, env=environment) as process,
        ):
            code = process.wait()
        if code != 0:
            raise CaptureError(
                f"the session of {plan.engine} ended with {code}; its last words:\n"
                + processes.tail_of(log),
                "run it with --profiler none, and --eager, to see whether the engine runs at all",
            )
        summary = _judged(plan, folder)
        write_bytes(folder / SUMMARY_FILE, summary.to_json().encode())
    return summary


def _judged(plan: DrivePlan, folder: Path) -> DriveSummary:
    reports = read_reports(folder)
    for report in reports:
        if not report.capture:
            raise CaptureError(f"rank {report.rank}: {report.reason}")
    if not reports:
        raise CaptureError(
            f"no process of {plan.engine} loaded a model with hooks",
            f"is {engines.version_of(plan.engine)} a version that docs/capture.md names?",
        )
    missing = missing_points(plan, folder)
    if missing:
        batch, past = missing[0]
        raise CaptureError(
            f"{len(missing)} of {len(plan.points)} steps never ran as such, the first: batch "
            f"{batch} at past length {past}",
            "the batch does not fit: its KV cache, or the engine's limit of running requests or "
            "of tokens a step; give a smaller --batch-size or --input-len, or --engine-arg",
        )
    if plan.profiler == "nsys" and not report_files(folder):
        raise CaptureError(
            f"nsys left no report; its last words:\n{processes.tail_of(folder / LOG)}",
            "does `nsys status --environment` say that it may profile here?",
        )
    modules = reports[0].modules
    version = engines.version_of(plan.engine)
    return DriveSummary(plan.engine, version, marked_points(folder), modules)


def describe(plan: DrivePlan, output: Path, program: str | None) -> str:
    """What `run_drive` would do, for people."""
    folder = output.absolute()
    shown = session_words(plan, folder, program=program)
    points = ", ".join(f"({batch}, {past})" for batch, past in sorted(plan.points))
    lines = [
        f"would run: {subprocess.list2cmdline(shown)}",
        f"  {plan.engine}: {plan.model}, {plan.warmup} + {plan.repeat} rounds of "
        f"{len(plan.batch_sizes)} batches x {len(plan.input_lens)} input lengths, "
        f"{plan.output_len} tokens each",
        f"  recorded by: {plan.profiler}; ranges: {','.join(plan.backends)}",
        f"  marked steps (batch, past length): {points}",
        f"would write to: {folder}",
    ]
    return "\n".join(lines)
