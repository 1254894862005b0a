"""`hooks run`: an engine's command with hooks in all of its Python processes."""

from __future__ import annotations

import contextlib
import os
import shlex
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import layerscope
from layerscope.capture.counted import counted
from layerscope.capture.errors import FAILED, OK, CaptureError, hint_of, say
from layerscope.capture.hooks.foreground import run_foreground
from layerscope.capture.hooks.hook_report import SUFFIX, HookReport
from layerscope.capture.in_engine import settings
from layerscope.capture.in_engine.settings import HookSettings
from layerscope.capture.trace_files import is_trace

BOOTSTRAP = Path(__file__).parent / "bootstrap"


def with_bootstrap(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment in which Python runs the bootstrap, in this process's children and theirs.

    The folder of the package comes behind that of the bootstrap: the engine's Python may be another
    one than this.
    """
    package = Path(layerscope.__file__).parent.parent
    path = [str(BOOTSTRAP), environment.get("PYTHONPATH", ""), str(package)]
    return {**environment, "PYTHONPATH": os.pathsep.join(part for part in path if part)}


def hooked_environment(
    chosen: HookSettings, environment: Mapping[str, str] | None = None
) -> dict[str, str]:
    """The environment in which Python starts with hooks."""
    values = with_bootstrap(os.environ if environment is None else environment)
    values.pop(settings.STEPS, None)
    return {**values, **chosen.environment()}


def run_hooked(words: Sequence[str], chosen: HookSettings) -> int:
    """Runs the command in the foreground; returns its exit code, INTERRUPTED after Ctrl-C.

    Errors: the folder cannot be written; the command cannot be started.
    """
    with _writable(chosen.folder):
        return run_foreground(words, hooked_environment(chosen))


@contextlib.contextmanager
def _writable(folder: Path) -> Iterator[None]:
    """The folder is there for the command, without reports of an earlier one.

    Where nothing was written into it, it goes again.
    """
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=folder).close()  # else it shows when a model is loaded
        for old in folder.glob(f"hooks_rank*{SUFFIX}"):
            old.unlink()
    except OSError as error:
        hint = hint_of(error, "choose another place with -o")
        raise CaptureError(f"cannot write into {folder}: {error.strerror}", hint) from error
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # it holds something
            for place in made:
                place.rmdir()


def judge(reports: Sequence[HookReport], folder: Path, engine: str, *, has_run: bool) -> int:
    """Says what is recorded, and returns an exit code: FAILED where it is no capture.

    `has_run`: graphs were replayed, and annotations had to name their nodes by now.
    """
    if not reports:
        raise CaptureError(
            f"no process of the command loaded a model of {engine} with hooks",
            "does it start this engine, and its Python without -I and -E?",
        )
    for report in reports:
        models = ", ".join(report.models)
        say(
            f"rank {report.rank}: {counted(report.modules, 'module')} of {models}"
            f" ({report.backends})"
        )
        if report.deferred:
            say(
                f"rank {report.rank}: {counted(report.deferred, 'module')} of generators or async: "
                "their ranges end before their work"
            )
        if report.patched:
            say(f"rank {report.rank}: patched in {counted(len(report.patched), 'place')}")
        if report.graph_nodes is not None:
            nodes = counted(report.graph_nodes, "graph node")
            say(f"rank {report.rank}: {nodes} named, in {folder}")
    code = OK
    for report in reports:
        if fault := report.fault(has_run=has_run):
            say(
                f"layerscope-capture hooks: rank {report.rank}: {fault}",
                to=sys.stderr,
                in_one_line=False,
            )
            code = FAILED
    return code


def next_line(backends: Sequence[str], folder: Path) -> str:
    """How what the hooks named is read: with the recording, which may lie elsewhere."""
    place = shlex.quote(str(folder))
    if any(is_trace(file) for file in folder.iterdir()):
        return f"next: layerscope {place}"
    if settings.ANNOTATIONS in backends:
        return f"next: layerscope TRACE --graph-annotations {place}, with the profiler's trace"
    if settings.NVTX in backends:
        return (
            "next: layerscope REPORT.nsys-rep, where the command ran under nsys profile"
            " --cuda-graph-trace=node"
        )
    return "next: layerscope TRACE, with the trace of the engine's profiler"
