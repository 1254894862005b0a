"""Runs a plan: starts the session, waits, and judges what it left."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from layerscope.capture import engines, processes
from layerscope.capture.counted import counted
from layerscope.capture.drive.drive_plan import PLAN_FILE, SUMMARY_FILE, DrivePlan
from layerscope.capture.drive.failure_causes import failure_cause
from layerscope.capture.drive.nsys import nsys_words, require_nsys
from layerscope.capture.drive.recordings import recordings, spread_side_files
from layerscope.capture.drive.session import finished_points
from layerscope.capture.errors import CaptureError
from layerscope.capture.hooks.hook_report import read_reports
from layerscope.capture.hooks.run import hooked_environment
from layerscope.capture.in_engine.settings import ARMED, HookSettings, Point, StepSettings
from layerscope.capture.json_values import shown
from layerscope.capture.kept_logs import logs_kept
from layerscope.capture.loadable import require_loadable
from layerscope.capture.output import new_folder, write_bytes
from layerscope.capture.patches.plan import plan_from_environment
from layerscope.capture.small_files import read_object

LOG = "session.log"


@dataclass(frozen=True)
class DriveSummary:
    """What a finished drive recorded: how often each point was marked, and how it ran."""

    engine: str
    version: str | None
    steps: dict[Point, int]
    modules: int  # with a range, in rank 0
    patches: dict[str, Any] | None = None  # the document of what LAYERSCOPE_PATCH names

    def to_json(self) -> str:
        """The text of drive.summary."""
        steps = [{"batch": b, "past": p, "steps": n} for (b, p), n in sorted(self.steps.items())]
        return json.dumps({**asdict(self), "steps": steps}, ensure_ascii=False, indent=1) + "\n"

    @staticmethod
    def load(folder: Path) -> DriveSummary:
        """Reads the one of a folder; raises CaptureError."""
        file = folder / SUMMARY_FILE
        fields = read_object(file, "the summary of a drive")
        try:
            steps = {(s["batch"], s["past"]): s["steps"] for s in fields["steps"]}
            summary = DriveSummary(**{**fields, "steps": steps})
            summary.to_json().encode()
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise CaptureError(f"{file} is no drive summary: {error!r}") from None
        if summary.version is not None and not isinstance(summary.version, str):
            raise CaptureError(f"{file} is no drive summary: version is {shown(summary.version)}")
        return summary


def session_words(folder: Path, program: str | None) -> list[str]:
    """The command line of the session; `program` is nsys, if it shall record."""
    words = processes.module_words("layerscope.capture.drive.session", str(folder))
    return words if program is None else nsys_words(program, folder, words)


def session_settings(plan: DrivePlan, folder: Path) -> HookSettings:
    """The hooks of the session's processes."""
    return HookSettings(plan.backends, folder, StepSettings(plan.points))


def require_model(plan: DrivePlan) -> None:
    """Raises CaptureError where the model's files are not whole, or it has no weights."""
    require_loadable(
        plan.model, plan.engine_args, dummy_weights=plan.dummy_weights, reads_tokenizer=False
    )


def require_runnable(plan: DrivePlan) -> str | None:
    """The same for all that a run needs; returns the nsys that shall record it, if one shall."""
    engines.require(plan.engine)
    require_model(plan)
    return require_nsys(plan.engine) if plan.profiler == "nsys" else None


def run_drive(
    plan: DrivePlan, output: Path, *, force: bool = False, all_points: bool = True
) -> DriveSummary:
    """Runs the plan into a new folder; raises CaptureError, and then leaves no folder.

    Its log is kept beside the folder's place then. Without `all_points` a recording of some of the
    points is a good one, and the summary says which. On Ctrl-C, too, every process that was started
    is ended.
    """
    program = require_runnable(plan)
    patches = None if (patch := plan_from_environment()) is None else patch.document()
    output = output.absolute()
    with new_folder(output, force=force) as folder, logs_kept(folder, output, [LOG]):
        write_bytes(folder / PLAN_FILE, plan.to_json().encode())
        words = session_words(folder, program)
        environment = hooked_environment(session_settings(plan, folder))
        with (
            processes.adopted(),
            processes.running(words, log=folder / LOG, env=environment) as process,
        ):
            code = process.wait()
        (folder / ARMED).unlink(missing_ok=True)  # of a round that broke off
        steps = _recorded_steps(plan, folder, code, all_points=all_points)
        spread_side_files(folder, plan.model)
        modules = read_reports(folder)[0].modules
        version = engines.version_of(plan.engine)
        summary = DriveSummary(plan.engine, version, steps, modules, patches)
        write_bytes(folder / SUMMARY_FILE, summary.to_json().encode())
    return summary


def _recorded_steps(
    plan: DrivePlan, folder: Path, code: int, *, all_points: bool
) -> dict[Point, int]:
    """How often each point was marked, of those of which all rounds ran as they should.

    Raises where the recording is no good one.
    """
    marked = finished_points(plan, folder)
    if code != 0 and (all_points or not marked):
        raise _session_failed(plan, folder, code)
    _require_hooks(plan, folder)
    missing = sorted(plan.points - marked.keys())
    if missing and (all_points or not marked):
        raise _points_missing(plan, missing)
    if plan.profiler != "none" and not recordings(folder):
        raise _nothing_recorded(plan, folder)
    return marked


def _nothing_recorded(plan: DrivePlan, folder: Path) -> CaptureError:
    if plan.profiler == "nsys":
        hint = "does `nsys status --environment` say that it may profile here?"
    else:
        hint = "what do they say of the profiler? --profiler nsys does without it"
    return CaptureError(
        f"{plan.profiler} left no recording; its last words:\n{processes.tail_of(folder / LOG)}",
        hint,
    )


def _session_failed(plan: DrivePlan, folder: Path, code: int) -> CaptureError:
    cause, hint = failure_cause(folder / LOG, plan.engine, code)
    said = f"the session of {plan.engine} ended with {code}" + (f": {cause}" if cause else "")
    return CaptureError(f"{said}; its last words:\n{processes.tail_of(folder / LOG)}", hint)


def _require_hooks(plan: DrivePlan, folder: Path) -> None:
    reports = read_reports(folder)
    for report in reports:
        if fault := report.fault(has_run=True):
            raise CaptureError(f"rank {report.rank}: {fault}")
    if not reports:
        raise CaptureError(
            f"no process of {plan.engine} loaded a model with hooks",
            f"is {engines.version_of(plan.engine)} a version that docs/capture.md names?",
        )


def _points_missing(plan: DrivePlan, missing: Sequence[Point]) -> CaptureError:
    batch, past = missing[0]
    return CaptureError(
        f"{len(missing)} of {counted(len(plan.points), 'step')} did not run as such in each of "
        f"{counted(plan.repeat, 'round')}, the first: batch {batch} at past length {past}",
        "the batch does not fit: its KV cache, or the engine's limit of running requests or "
        "of tokens a step (--engine-arg max_num_batched_tokens=N in vLLM); give a smaller "
        "--batch-size or --input-len",
    )


def describe(plan: DrivePlan, output: Path, program: str | None) -> list[str]:
    """What `run_drive` would do, for people."""
    folder = output.absolute()
    shown = session_words(folder, program)
    points = ", ".join(f"({batch}, {past})" for batch, past in sorted(plan.points))
    batches, lengths = (", ".join(map(str, n)) for n in (plan.batch_sizes, plan.input_lens))
    return [
        f"would run: {subprocess.list2cmdline(shown)}",
        f"  {plan.engine}: {plan.model}, {plan.warmup} + {counted(plan.repeat, 'round')} of "
        f"batch size {batches} x input length {lengths}, {plan.output_len} tokens each",
        f"  recorded by: {plan.profiler}; ranges: {','.join(plan.backends)}",
        f"  marked steps (batch, past length): {points}",
        f"would write to: {folder}",
    ]
