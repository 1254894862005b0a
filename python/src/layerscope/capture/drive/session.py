"""The process that nsys records: `python -m layerscope.capture.drive.session FOLDER`.

FOLDER holds drive.plan; hooks and steps come from the environment.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from layerscope.capture.drive.drive_plan import PLAN_FILE, DrivePlan
from layerscope.capture.drive.engine_drivers import DRIVERS, EngineDriver
from layerscope.capture.drive.marked_steps import marked_steps
from layerscope.capture.errors import OK, CaptureError
from layerscope.capture.hooks.plugin import install_all
from layerscope.capture.hooks.settings import ARMED, Point
from layerscope.capture.random_prompts import prompts_of, token_range
from layerscope.capture.trace_files import is_trace


def run_points(plan: DrivePlan, driver: EngineDriver, folder: Path) -> None:
    """Each batch and input length: warm-up rounds, then the rounds that are marked.

    Hundreds of prompts may not fit one prefill step, and those that are ready would decode before
    the others. After a warm-up their KV cache is there, and all begin to decode at once; so it
    comes right before, while nothing pushed it out.
    """
    tokens = token_range(plan.model)
    armed = folder / ARMED
    for length in plan.input_lens:
        for batch in plan.batch_sizes:
            prompts = prompts_of(batch, length, tokens)
            for _ in range(plan.warmup):
                driver.decode(prompts, plan.output_len)
            if plan.profiler == "torch":
                driver.start_profile()
            armed.touch()
            for _ in range(plan.repeat):
                driver.decode(prompts, plan.output_len)
            armed.unlink()
            if plan.profiler == "torch":
                driver.stop_profile()
                _put_aside(folder, round_name(batch, length))


def round_name(batch: int, length: int) -> str:
    """The folder of the traces of one batch and input length."""
    return f"batch{batch}_input{length}"


def _put_aside(folder: Path, name: str) -> None:
    """Moves the traces of a round into a folder of its own: a folder of traces is one run."""
    place = folder / name
    place.mkdir()
    for trace in folder.iterdir():
        if is_trace(trace):
            trace.rename(place / trace.name)


def marked_points(folder: Path) -> dict[Point, int]:
    """How often each point was marked in rank 0."""
    return dict(Counter(step.point for step in marked_steps(folder)))


def finished_points(plan: DrivePlan, folder: Path) -> set[Point]:
    """Points of which all rounds ran, and were recorded: what a session that failed leaves."""
    marked = marked_points(folder)
    found: set[Point] = set()
    for batch in plan.batch_sizes:
        for length in plan.input_lens:
            if plan.profiler == "torch" and not (folder / round_name(batch, length)).is_dir():
                continue
            found |= {(batch, length + milestone - 1) for milestone in plan.milestones}
    return {point for point in found if marked.get(point, 0) >= plan.repeat}


def main(arguments: list[str] | None = None) -> int:
    """Runs the plan of a folder."""
    (name,) = sys.argv[1:] if arguments is None else arguments
    folder = Path(name)
    try:
        plan = DrivePlan.load(folder / PLAN_FILE)
        install_all()
        driver = DRIVERS[plan.engine](plan, folder)
        try:
            run_points(plan, driver, folder)
        finally:
            driver.stop()
    except CaptureError as error:
        print(error, file=sys.stderr)
        return error.code
    return OK


if __name__ == "__main__":
    sys.exit(main())
