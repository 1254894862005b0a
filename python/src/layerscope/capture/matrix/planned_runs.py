"""The runs of a matrix: one a family, engine, precision and parallelism, with all its points."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from layerscope.capture.drive.drive_plan import DrivePlan
from layerscope.capture.drive.profilers import chosen_profiler, default_backend
from layerscope.capture.errors import INVALID_INPUT, CaptureError
from layerscope.capture.in_engine.settings import Point
from layerscope.capture.matrix.declaration import Declaration, Family, Parallelism, Precision
from layerscope.capture.patches.plan import PatchPlan, plan_from_environment

# Of a run, in bytes: file systems allow 255, and names of folders and logs are longer.
_LONGEST_NAME = 200


@dataclass(frozen=True)
class PlannedRun:
    """One drive: what it is called in the results, and its plan.

    The plan marks the first decode step behind a prompt as long as the past length that is wanted.
    """

    family: str
    precision: str
    parallelism: str
    plan: DrivePlan
    patches: PatchPlan | None = None  # what LAYERSCOPE_PATCH changes in the model

    @property
    def name(self) -> str:
        """A folder's name for it."""
        parts = [self.family, self.plan.engine, self.precision, self.parallelism]
        return re.sub(r"[^\w.-]+", "_", "__".join(parts))

    @property
    def fingerprint(self) -> str:
        """Of all but the points: results of another fingerprint are not those of this run."""
        return fingerprint_of(self.plan, None if self.patches is None else self.patches.document())

    def of_points(self, points: Iterable[Point]) -> PlannedRun:
        """The same with the batches and past lengths that these points need."""
        wanted = set(points)
        batches = tuple(sorted({batch for batch, _ in wanted}))
        pasts = tuple(sorted({past for _, past in wanted}))
        return replace(self, plan=replace(self.plan, batch_sizes=batches, input_lens=pasts))


def fingerprint_of(plan: DrivePlan, patches: Mapping[str, Any] | None) -> str:
    """That of a plan, and of the document of its patches."""
    text = replace(plan, batch_sizes=(), input_lens=(), profiler="", backends=()).to_json()
    if patches is not None:
        text += json.dumps(patches)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _run(
    declaration: Declaration,
    family: Family,
    engine: str,
    precision: Precision,
    parallelism: Parallelism,
) -> PlannedRun:
    profiler = chosen_profiler(declaration.profiler, engine)
    keywords: dict[str, Any] = dict(precision.keywords)
    plan = DrivePlan(
        engine=engine,
        model=family.model,
        batch_sizes=family.batches,
        input_lens=family.pasts,
        output_len=2,
        milestones=(1,),
        repeat=declaration.repeat,
        tensor_parallel=parallelism.tensor,
        pipeline_parallel=parallelism.pipeline,
        expert_parallel=parallelism.expert,
        dummy_weights=declaration.flags["dummy_weights"],
        trust_remote_code=declaration.flags["trust_remote_code"],
        eager=declaration.flags["eager"],
        profiler=profiler,
        backends=(default_backend(profiler),),
        engine_args=dict(declaration.engine_args),
        **keywords,
    )
    patches = plan_from_environment()
    return PlannedRun(family.name, precision.name, parallelism.name, plan, patches)


def _check(run: PlannedRun, output: Path) -> None:
    if len(run.name.encode()) > _LONGEST_NAME:
        raise CaptureError(
            f"the name {run.name[:40]}… is too long for a folder",
            "give the family, or the precision, a shorter name",
            INVALID_INPUT,
        )
    model = os.path.realpath(run.plan.model)
    if Path(model).is_dir() and Path(os.path.realpath(output)).is_relative_to(model):
        raise CaptureError(
            f"family '{run.family}': the output {output} lies in the folder of its model",
            "declare another output",
            INVALID_INPUT,
        )
    try:
        run.plan.check(shorter="give the family a smaller past")
    except CaptureError as error:
        said = f"family '{run.family}': {error.message}"
        raise CaptureError(said, error.hint, INVALID_INPUT) from error


class _Excluded:
    """The [[exclude]] tables by their keys: thousands may each name one of thousands of runs."""

    def __init__(self, tables: Iterable[Mapping[str, str]]) -> None:
        self._by_keys: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
        for table in tables:
            keys = tuple(sorted(table))
            self._by_keys.setdefault(keys, set()).add(tuple(table[key] for key in keys))

    def __contains__(self, run: PlannedRun) -> bool:
        facts = {
            "family": run.family,
            "engine": run.plan.engine,
            "precision": run.precision,
            "parallelism": run.parallelism,
        }
        return any(
            tuple(facts[key] for key in keys) in values for keys, values in self._by_keys.items()
        )


def planned_runs(declaration: Declaration) -> Iterator[PlannedRun]:
    """All runs in the order of the file.

    Raises CaptureError where the profiler cannot record one, its requests are too long for the
    model, its engine has no such parallelism, the output lies in its model's folder, or none is
    left.
    """
    excluded = _Excluded(declaration.excluded)
    is_empty = True
    for family in declaration.families:
        for engine in family.engines:
            for precision in family.precisions:
                for parallelism in family.parallelisms:
                    run = _run(declaration, family, engine, precision, parallelism)
                    if run not in excluded:
                        _check(run, declaration.output)
                        yield run
                        is_empty = False
    if is_empty:
        raise CaptureError(
            "no run is left: [[exclude]] takes all out", "narrow its tables", INVALID_INPUT
        )
