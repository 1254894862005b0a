"""The process that nsys records; `main` takes FOLDER from its command line.

FOLDER holds drive.plan; hooks and steps come from the environment.
"""

from __future__ import annotations

import itertools
import sys
from collections import Counter
from pathlib import Path

from layerscope.capture.drive.drive_plan import PLAN_FILE, DrivePlan
from layerscope.capture.drive.engine_drivers import DRIVERS, EngineDriver
from layerscope.capture.drive.failure_causes import OWN_ERROR
from layerscope.capture.errors import OK, CaptureError, say
from layerscope.capture.hooks.plugin import install_all
from layerscope.capture.in_engine.marked_steps import marked_steps
from layerscope.capture.in_engine.settings import ARMED, Point, Round
from layerscope.capture.random_prompts import Prompts, prompts_of, token_range
from layerscope.capture.trace_files import is_trace

_STEP_OUTPUT = 2  # tokens: of the prefill and of one decode step


def run_points(plan: DrivePlan, driver: EngineDriver, folder: Path) -> None:
    """Each batch and input length: warm-up rounds, then the rounds that are marked.

    Hundreds of prompts may not fit one prefill step, and those that are ready would decode before
    the others. After a warm-up their KV cache is there, and all begin to decode at once; so it
    comes right before, while nothing pushed it out.
    """
    tokens = token_range(plan.model)
    if plan.profiler == "torch":
        _start_profiler(driver, prompts_of(plan.batch_sizes[0], plan.input_lens[0], tokens), folder)
    for length in plan.input_lens:
        for batch in plan.batch_sizes:
            prompts = prompts_of(batch, length, tokens)
            for _ in range(plan.warmup):
                driver.decode(prompts, plan.output_len)
            if plan.profiler == "torch":
                driver.start_profile()
            Round(batch, length).arm(folder)
            for _ in range(plan.repeat):
                driver.decode(prompts, plan.output_len)
            (folder / ARMED).unlink()
            if plan.profiler == "torch":
                driver.stop_profile()
                _put_aside(folder, recording_name(batch, length))


def _start_profiler(driver: EngineDriver, prompts: Prompts, folder: Path) -> None:
    """A recording that is thrown away: the steps of the first one hold the profiler's own start."""
    driver.start_profile()
    driver.decode(prompts, _STEP_OUTPUT)
    driver.stop_profile()
    for file in folder.iterdir():
        if is_trace(file):
            file.unlink()


def recording_name(batch: int, length: int) -> str:
    """The folder of the traces of one batch and input length."""
    return f"batch{batch}_input{length}"


def _put_aside(folder: Path, name: str) -> None:
    """Moves the traces of a recording into a folder of its own: a folder of traces is one run."""
    place = folder / name
    place.mkdir()
    for trace in folder.iterdir():
        if is_trace(trace):
            trace.rename(place / trace.name)


def finished_points(plan: DrivePlan, folder: Path) -> dict[Point, int]:
    """How often each point was marked in rank 0, of those that were in all rounds and recorded.

    Others are what a session that failed leaves, or rounds in which requests fell out of step. A
    point that follows prompts of several lengths must have been in the rounds of each.
    """
    steps = marked_steps(folder)
    counts = Counter((step.input_len, step.point) for step in steps)
    missed: set[Point] = set()
    for batch, length in itertools.product(plan.batch_sizes, plan.input_lens):
        is_put_aside = (folder / recording_name(batch, length)).is_dir()
        is_recorded = plan.profiler != "torch" or is_put_aside
        for milestone in plan.milestones:
            point = batch, length + milestone - 1
            if not is_recorded or counts[length, point] != plan.repeat:
                missed.add(point)
    marked = Counter(step.point for step in steps)
    return {point: marked[point] for point in plan.points - missed}


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
        say(f"{OWN_ERROR}{error}", to=sys.stderr, in_one_line=False)
        return error.code
    return OK
