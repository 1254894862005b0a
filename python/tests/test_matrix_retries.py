"""What a matrix runs again, and what a failure takes along."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fake_drive import Drive, declared_run, run_all, write_recording

from layerscope.capture.drive.drive_plan import DrivePlan
from layerscope.capture.drive.drive_run import DriveSummary
from layerscope.capture.errors import CaptureError
from layerscope.capture.matrix.declaration import Declaration
from layerscope.capture.matrix.result_table import ResultTable


def test_a_matrix_started_again_runs_what_is_missing(tmp_path: Path) -> None:
    drive = Drive()
    assert run_all(declared_run(tmp_path), drive) == (4, 0, 0)
    assert run_all(declared_run(tmp_path), drive) == (0, 4, 0)
    assert len(drive.plans) == 1
    # A batch more: only its points. Other settings: all of them.
    assert run_all(declared_run(tmp_path, batch=[1, 8, 64]), drive) == (2, 4, 0)
    assert drive.plans[-1].points == {(64, 16), (64, 1024)}
    assert run_all(declared_run(tmp_path, repeat=9), drive) == (4, 0, 0)


def test_points_that_failed_are_tried_again_and_others_go_on(tmp_path: Path) -> None:
    broken = Drive(fails_at=8)
    declaration = declared_run(tmp_path, isolate=True)
    assert run_all(declaration, broken) == (2, 0, 2)
    assert len(broken.plans) == 4  # a run of each point
    with ResultTable(declaration.output / "results.sqlite") as table:
        failed = [row for row in table.rows() if row["status"] == "failed"]
        assert {(row["batch"], row["error"]) for row in failed} == {(8, "out of memory")}
    assert run_all(declaration, Drive()) == (2, 2, 0)


def _rows(declaration: Declaration) -> dict[tuple[int, int], dict[str, Any]]:
    with ResultTable(declaration.output / "results.sqlite") as table:
        return {(row["batch"], row["past"]): row for row in table.rows()}


def test_a_point_that_does_not_fit_takes_no_other_along(tmp_path: Path) -> None:
    declaration = declared_run(tmp_path)
    broken = Drive(fails_at=8)
    assert run_all(declaration, broken) == (2, 0, 2)
    # All; then each alone, the smallest first.
    alone = [{(1, 16)}, {(8, 16)}, {(1, 1024)}, {(8, 1024)}]
    assert [set(plan.points) for plan in broken.plans[1:]] == alone
    rows = _rows(declaration)
    assert {point for point, row in rows.items() if row["status"] == "failed"} == {
        (8, 16),
        (8, 1024),
    }
    assert rows[8, 16]["error"] == "out of memory"
    # Started again: only those, and no run of both.
    again = Drive(fails_at=8)
    assert run_all(declaration, again) == (0, 2, 2)
    assert [set(plan.points) for plan in again.plans] == [{(8, 16)}, {(8, 1024)}]
    assert run_all(declaration, Drive()) == (2, 2, 0)


def test_points_that_ran_beside_one_that_did_not_fit_are_kept(tmp_path: Path) -> None:
    class Partial(Drive):
        def __call__(self, plan: DrivePlan, folder: Path) -> DriveSummary:
            self.plans.append(plan)
            ran = sorted(point for point in plan.points if point != (8, 1024))
            if not ran:
                raise CaptureError("out of memory")
            write_recording(folder, ran)
            return DriveSummary("vllm", "0.12.0", dict.fromkeys(ran, 2), 3)

    declaration, drive = declared_run(tmp_path), Partial()
    assert run_all(declaration, drive) == (3, 0, 1)
    assert [len(plan.points) for plan in drive.plans] == [4, 1]
    status = {point: row["status"] for point, row in _rows(declaration).items()}
    assert status == {
        **dict.fromkeys([(1, 16), (8, 16), (1, 1024)], "recorded"),
        (8, 1024): "failed",
    }


def test_a_run_that_fails_for_every_point_is_given_up_before_all_were_tried(
    tmp_path: Path,
) -> None:
    declaration, broken = declared_run(tmp_path, batch=[1, 2, 4, 8]), Drive(fails_at=1)
    assert run_all(declaration, broken) == (0, 0, 8)
    assert [len(plan.points) for plan in broken.plans] == [8, 1, 1]
    said = [row["error"].startswith("not tried") for row in _rows(declaration).values()]
    assert said.count(True) == 6
    drive = Drive()
    assert run_all(declaration, drive) == (8, 0, 0)
    assert [len(plan.points) for plan in drive.plans] == [8]  # together again


def test_a_run_is_asked_for_no_point_that_is_there(tmp_path: Path) -> None:
    declaration = declared_run(tmp_path, batch=[1, 2], past=[16, 32])
    run_all(
        replace(declaration, families=declared_run(tmp_path, batch=1, past=16).families), Drive()
    )
    run_all(
        replace(declaration, families=declared_run(tmp_path, batch=2, past=32).families), Drive()
    )
    drive = Drive()
    assert run_all(declaration, drive) == (2, 2, 0)
    assert [set(plan.points) for plan in drive.plans] == [{(1, 32)}, {(2, 16)}]


def test_the_row_of_a_failure_names_its_log(tmp_path: Path) -> None:
    class Logged(Drive):
        def __call__(self, plan: DrivePlan, folder: Path) -> DriveSummary:
            folder.with_name(f"{folder.name}.session.log").write_text(str(len(self.plans)))
            return super().__call__(plan, folder)

    declaration = declared_run(tmp_path, isolate=True, past=16)
    run_all(declaration, Logged(fails_at=1))
    rows = _rows(declaration)
    logs = [(declaration.output / row["folder"]).read_text() for row in rows.values()]
    assert logs == ["0", "1"]  # each its own
    run_all(declaration, Logged(fails_at=1))
    rows = _rows(declaration)
    there = {log.name for log in declaration.output.glob("*.session.log")}
    assert there == {row["folder"] for row in rows.values()}  # two: the old ones are gone
    assert len(there) == 2
    run_all(declaration, Drive())
    assert list(declaration.output.glob("*.session.log")) == []


def test_an_interrupted_matrix_keeps_the_runs_that_ended(tmp_path: Path) -> None:
    class Interrupted(Drive):
        def __call__(self, plan: DrivePlan, folder: Path) -> DriveSummary:
            if self.plans:
                raise KeyboardInterrupt
            return super().__call__(plan, folder)

    declaration = declared_run(tmp_path, isolate=True)
    with pytest.raises(KeyboardInterrupt):
        run_all(declaration, Interrupted())
    assert run_all(declaration, Drive()) == (3, 1, 0)


def test_a_plan_without_a_profiler_has_no_recording_to_wait_for(tmp_path: Path) -> None:
    declaration = replace(declared_run(tmp_path), profiler="none")
    assert run_all(declaration, Drive()) == (4, 0, 0)
    with ResultTable(declaration.output / "results.sqlite") as table:
        assert {row["status"] for row in table.rows()} == {"done"}
