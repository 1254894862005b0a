"""`layerscope-capture matrix`: a declared matrix of decode runs into one table."""

from __future__ import annotations

import argparse
import contextlib
import os
import shlex
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

from layerscope.capture.command import Command
from layerscope.capture.counted import counted
from layerscope.capture.drive.drive_plan import DrivePlan
from layerscope.capture.drive.drive_run import require_model, require_runnable
from layerscope.capture.drive.recordings import recordings
from layerscope.capture.errors import FAILED, OK, CaptureError, say
from layerscope.capture.layerscope_program import layerscope_program
from layerscope.capture.matrix.declaration import Declaration, load_declaration
from layerscope.capture.matrix.execution import (
    Drive,
    missing_runs,
    read_recordings,
    run_matrix,
    run_partly,
)
from layerscope.capture.matrix.planned_runs import PlannedRun, planned_runs
from layerscope.capture.matrix.result_table import DONE, RECORDED, ResultTable, require_parquet
from layerscope.capture.output import lock_folder, require_writable
from layerscope.capture.patches.model_of_plan import plan_lines

TABLE = "results.sqlite"
_SELECT = (
    "SELECT family, precision, parallelism, batch, past, status, median_sum_ns, host_ns"
    " FROM results WHERE module = ''"
)

_DESCRIPTION = """\
Runs `drive` for each combination that FILE declares (family x batch x past length x precision x
parallelism), and keeps the results in one SQLite table, results.sqlite in the folder of the runs.
Batches and past lengths of one model, precision and parallelism share a run, so that the model is
loaded once; points that did not run there are tried again, each in a run of its own.
`isolate = true` makes a run of each from the start. Logs of runs that failed lie in the folder.

Started again it runs what is missing: points that failed, that were added, or whose settings
changed. Times come from the recordings by `layerscope steps` (LAYERSCOPE_BIN or PATH); without that
program they stay empty until matrix is started once more where it is.

At its end points are counted: recorded now, kept of earlier calls, failed, not read (recorded, but
without times), left (they run when it is started again). docs/capture.md says what each column is.

FILE is TOML (Python 3.11 or later) or JSON with the same keys:

  output = "runs"                    # folder, beside the file
  engine = ["vllm"]                  # vllm, sglang, trtllm
  batch = [1, 8, 64]
  past = [1024, 8192]
  precision = ["bf16", "fp8"]        # auto, bf16, fp16, fp32, fp8, or {name = …, dtype = …,
                                     #   quantization = …, kv_cache_dtype = …}
  parallelism = ["tp1", "tp4-ep4"]
  repeat = 3
  [[family]]
  name = "qwen3-8b"
  model = "Qwen/Qwen3-8B"
  parallelism = ["tp1"]              # a family may narrow any list
  [[exclude]]
  family = "qwen3-8b"
  precision = "fp8"

Further keys: profiler, engine_args, dummy_weights, trust_remote_code, eager, isolate, modules (rows
of each module, too)."""

_EXAMPLES = (
    "layerscope-capture matrix matrix.toml",
    "layerscope-capture matrix matrix.toml --parquet results.parquet",
)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", type=Path, help="the declaration, TOML or JSON")
    parser.add_argument(
        "--parquet", type=Path, metavar="FILE", help="write the table as Parquet as well (pyarrow)"
    )


def _plan_lines(runs: list[PlannedRun]) -> list[str]:
    """`plan_lines` of each model; the plan is one, and so is what is said of it."""
    lines: list[str] = []
    for model in dict.fromkeys(run.plan.model for run in runs):
        lines = plan_lines([model])
    return lines


def _describe(declaration: Declaration, runs: list[PlannedRun]) -> None:
    patches = _plan_lines(runs)
    for run in runs:
        say(f"would run: {run.name}: {counted(len(run.plan.points), 'point')} ({run.plan.model})")
    say(*patches, f"would write to: {declaration.output / TABLE}")


def _require(
    declaration: Declaration, runs: Iterable[PlannedRun], require: Callable[[DrivePlan], object]
) -> None:
    """Raises what `require` does, with the family, for a run of which points are left.

    Recordings are read where neither their models nor their engines need be.
    """
    if (declaration.output / TABLE).is_file():
        with ResultTable(declaration.output / TABLE) as table:
            runs = [run for run in runs if missing_runs(declaration, run, table)]
    for run in runs:
        try:
            require(run.plan)
        except CaptureError as error:
            said = f"family '{run.family}': {error.message}"
            raise CaptureError(said, error.hint, error.code) from error


def _dry_run(options: argparse.Namespace) -> int:
    if not options.file.exists():
        say(f"would run what {options.file} declares; it is not there yet")
        return OK
    declaration = load_declaration(options.file)
    runs = list(planned_runs(declaration))
    there = (run for run in runs if Path(run.plan.model).exists())  # others may yet be made
    _require(declaration, there, require_model)
    _describe(declaration, runs)
    return OK


@contextlib.contextmanager
def _sole_user(folder: Path) -> Iterator[None]:
    """Two runs into one folder would record the same points, and replace each other's rows."""
    lock = None
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = lock_folder(folder)
    except BlockingIOError:
        raise CaptureError(
            f"another matrix runs into {folder}", "wait for its end, or declare another output"
        ) from None
    except OSError:  # no locks here; or what the table says when it is opened
        pass
    try:
        yield
    finally:
        if lock is not None:
            os.close(lock)


def _next_lines(
    declaration: Declaration, runs: list[PlannedRun], table: ResultTable
) -> Iterator[str]:
    """How the table is read, and one of its recordings."""
    noted = (table.points(run, (DONE, RECORDED)).values() for run in runs)
    folders = [declaration.output / name for names in noted for name in names]
    for folder in folders[:1]:
        if folder.is_dir() and (groups := recordings(folder)):
            yield f"next: layerscope steps {shlex.join(map(str, groups[0]))}"
        place = shlex.quote(str(declaration.output / TABLE))
        yield f'the table: sqlite3 {place} "{_SELECT}"'


def _run(options: argparse.Namespace) -> int:
    if options.dry_run:
        return _dry_run(options)
    return run_file(options.file, options.parquet)


def run_file(file: Path, parquet: Path | None = None, *, drive: Drive = run_partly) -> int:
    """Runs what a declaration lacks, and writes its table as `parquet`, too; the exit code."""
    declaration = load_declaration(file)
    runs = list(planned_runs(declaration))
    _plan_lines(runs)  # what raises does so before anything is recorded
    program = layerscope_program()
    _require(declaration, runs, require_runnable)
    if parquet is not None:
        require_parquet()
        require_writable(parquet)
    with _sole_user(declaration.output), ResultTable(declaration.output / TABLE) as table:
        tally = run_matrix(declaration, runs, table, drive=drive)
        unread = 0
        if program is not None:
            unread = read_recordings(declaration, runs, table, program)
        else:
            say("no layerscope on PATH: times stay empty until matrix runs where it is")
        left = sum(
            len(part.plan.points) for r in runs for part in missing_runs(declaration, r, table)
        )
        say(
            f"{counted(tally.recorded, 'point')} recorded, {tally.kept} kept, "
            f"{tally.failed} failed, {unread} not read, {left} left: {declaration.output / TABLE}"
        )
        if parquet is not None:
            say(f"{counted(table.write_parquet(parquet), 'row')}: {parquet}")
        say(*_next_lines(declaration, runs, table))
    return FAILED if left or unread else OK


COMMAND = Command(
    name="matrix",
    summary="run a declared matrix of decode runs, into one table",
    description=_DESCRIPTION,
    examples=_EXAMPLES,
    add_options=_add_options,
    run=_run,
)
