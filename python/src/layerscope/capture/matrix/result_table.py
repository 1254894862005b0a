"""One SQLite table of results: a row for each run, batch, past length, rank and module.

Times are nanoseconds as layerscope's `steps` gives them (docs/schema/steps.schema.json, `sweep`);
null where nothing has read the recording yet. `host_ns` is the median that the step took the thread
that ran it. A module's row has the time of its own kernels; busy and host time are its step's.
"""

from __future__ import annotations

import contextlib
import importlib.util
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from layerscope.capture.errors import INVALID_INPUT, CaptureError, missing_package
from layerscope.capture.in_engine.settings import Point
from layerscope.capture.matrix.planned_runs import PlannedRun
from layerscope.capture.output import write_bytes

_BUSY_S = 60.0  # how long another program may hold the table
DONE, RECORDED, FAILED = "done", "recorded", "failed"
TIMES = ("n_steps", "mean_sum_ns", "median_sum_ns", "mean_busy_ns", "mean_host_wall_ns")

# The columns and their types; the first ten are the key of a row.
COLUMNS = {
    "family": "TEXT NOT NULL",
    "engine": "TEXT NOT NULL",
    "precision": "TEXT NOT NULL",
    "parallelism": "TEXT NOT NULL",
    "batch": "INTEGER NOT NULL",
    "past": "INTEGER NOT NULL",
    "phase": "TEXT NOT NULL",
    "rank": "INTEGER NOT NULL",
    "device": "TEXT NOT NULL",  # a number, or "cpu"
    "module": "TEXT NOT NULL",  # "": the whole step; "[model]": of no module below
    "model": "TEXT NOT NULL",
    "engine_version": "TEXT",
    "tensor_parallel": "INTEGER NOT NULL",
    "pipeline_parallel": "INTEGER NOT NULL",
    "expert_parallel": "INTEGER NOT NULL",
    "status": "TEXT NOT NULL",  # done, recorded (not read yet), failed
    "error": "TEXT",
    **dict.fromkeys(TIMES, "INTEGER"),
    "host_ns": "INTEGER",
    "folder": "TEXT NOT NULL",  # of the recording, or the log of a failure; beside the table
    "fingerprint": "TEXT NOT NULL",
}
_KEY = tuple(COLUMNS)[:10]
_CREATE = (
    "CREATE TABLE IF NOT EXISTS results ("
    + ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())
    + f", PRIMARY KEY ({', '.join(_KEY)}))"
)
_INSERT = (
    f"INSERT OR REPLACE INTO results ({', '.join(COLUMNS)}) "
    f"VALUES ({', '.join('?' * len(COLUMNS))})"
)

_OF_RUN = "family = ? AND engine = ? AND precision = ? AND parallelism = ?"
_OF_POINT = f"{_OF_RUN} AND batch = ? AND past = ?"


def require_parquet() -> None:
    """Raises CaptureError where Parquet cannot be written."""
    if importlib.util.find_spec("pyarrow") is None:
        raise missing_package("pyarrow", "--parquet", "pip install pyarrow")


def _key_of(run: PlannedRun) -> tuple[str, ...]:
    """The values of _OF_RUN."""
    return run.family, run.plan.engine, run.precision, run.parallelism


def _columns_of(run: PlannedRun) -> dict[str, Any]:
    """What is the same in all rows of a run, and what stands where nothing was read."""
    return {
        "family": run.family,
        "engine": run.plan.engine,
        "precision": run.precision,
        "parallelism": run.parallelism,
        "phase": "decode",
        "rank": 0,
        "device": "",
        "module": "",
        "model": run.plan.model,
        "tensor_parallel": run.plan.tensor_parallel,
        "pipeline_parallel": run.plan.pipeline_parallel,
        "expert_parallel": run.plan.expert_parallel,
        "fingerprint": run.fingerprint,
    }


class ResultTable:
    """The table in a file; every call is one transaction, so that a run is there or is not."""

    def __init__(self, file: Path) -> None:
        self._file = file
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            self._database = sqlite3.connect(file, timeout=_BUSY_S)
            self._database.execute(_CREATE)
            known = {row[1] for row in self._database.execute("PRAGMA table_info(results)")}
        except (OSError, sqlite3.Error) as error:
            raise CaptureError(f"cannot write results to {file}: {error}") from None
        if known != set(COLUMNS):
            raise CaptureError(
                f"{file} holds results of another version",
                "move it away; the recordings beside it stay usable",
                INVALID_INPUT,
            )

    @contextlib.contextmanager
    def _reported(self) -> Iterator[None]:
        """What SQLite raises, for people: locked for a minute, damaged, a disk that is full."""
        try:
            yield
        except sqlite3.Error as error:
            raise CaptureError(
                f"cannot use {self._file}: {error}",
                "no recording is lost: started again, matrix notes those that lie beside the table",
            ) from None

    def _select(self, query: str, values: Sequence[Any] = ()) -> list[Any]:
        with self._reported():
            return self._database.execute(query, values).fetchall()

    def close(self) -> None:
        """Closes the file."""
        self._database.close()

    def __enter__(self) -> ResultTable:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def points(self, run: PlannedRun, statuses: Sequence[str]) -> dict[Point, str]:
        """The points of a run that have such a status, with the folder of their recording.

        Not those that were recorded, never read, and whose recording is not there any more.
        """
        marks = ", ".join("?" * len(statuses))
        found = self._select(
            f"SELECT batch, past, folder, status FROM results WHERE {_OF_RUN} "
            f"AND fingerprint = ? AND status IN ({marks})",
            [*_key_of(run), run.fingerprint, *statuses],
        )
        waiting = {folder for _, _, folder, status in found if status == RECORDED}
        gone = {folder for folder in waiting if not self._is_beside(folder)}
        return {
            (batch, past): folder
            for batch, past, folder, status in found
            if status != RECORDED or folder not in gone
        }

    def _is_beside(self, name: str) -> bool:
        """Whether a folder of this name, and not one elsewhere, lies beside the table."""
        with contextlib.suppress(OSError):  # a name that is too long
            is_name = name not in ("", "..") and Path(name).name == name
            return is_name and (self._file.parent / name).is_dir()
        return False

    def folders(self) -> set[str]:
        """All recordings and logs that a row names."""
        return {str(row[0]) for row in self._select("SELECT folder FROM results")}

    def version_of(self, run: PlannedRun, point: Point) -> str | None:
        """The engine's version that a point was recorded with."""
        query = f"SELECT engine_version FROM results WHERE {_OF_POINT} LIMIT 1"
        found: list[tuple[str | None]] = self._select(query, [*_key_of(run), *point])
        return found[0][0] if found else None

    def put(
        self,
        run: PlannedRun,
        points: Iterable[Point],
        status: str,
        *,
        folder: str,
        version: str | None = None,
        error: str | None = None,
        measured: Mapping[Point, Sequence[Mapping[str, Any]]] | None = None,
        host_ns: Mapping[Point, int] | None = None,
    ) -> None:
        """Replaces all rows of these points. `measured` has the rows of a point, if it was read.

        A failure never replaces a recording of the same settings.
        """
        common = _columns_of(run)
        common |= {"engine_version": version, "status": status, "error": error, "folder": folder}
        kept = self.points(run, (DONE, RECORDED)) if status == FAILED else {}
        with self._reported(), self._database:
            for batch, past in sorted(set(points) - kept.keys()):
                self._forget(run, batch, past)
                host = (host_ns or {}).get((batch, past))
                place = {"batch": batch, "past": past, "host_ns": host}
                for found in (measured or {}).get((batch, past)) or [{}]:
                    row = {**common, **place, **found}
                    self._database.execute(_INSERT, [row.get(name) for name in COLUMNS])

    def _forget(self, run: PlannedRun, batch: int, past: int) -> None:
        values = [*_key_of(run), batch, past]
        self._database.execute(f"DELETE FROM results WHERE {_OF_POINT}", values)

    def rows(self) -> list[dict[str, Any]]:
        """All rows, ordered by their key."""
        found = self._select(f"SELECT {', '.join(COLUMNS)} FROM results ORDER BY {', '.join(_KEY)}")
        return [dict(zip(COLUMNS, row, strict=True)) for row in found]

    def write_parquet(self, file: Path) -> int:
        """Writes all rows as Parquet, whole or not at all; returns their number."""
        require_parquet()
        import pyarrow
        from pyarrow import parquet

        kinds = {"TEXT": pyarrow.string(), "INTEGER": pyarrow.int64()}
        schema = pyarrow.schema(
            [pyarrow.field(name, kinds[kind.split()[0]]) for name, kind in COLUMNS.items()]
        )
        rows = self.rows()
        buffer = pyarrow.BufferOutputStream()
        with contextlib.closing(buffer):
            parquet.write_table(pyarrow.Table.from_pylist(rows, schema=schema), buffer)
            write_bytes(file, buffer.getvalue().to_pybytes())
        return len(rows)
