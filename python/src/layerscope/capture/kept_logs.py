"""Logs that outlive the folder that a failed command removes."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from layerscope.capture.errors import CaptureError, say


def kept_place(output: Path, name: str) -> Path:
    """Where a log is kept: OUTPUT.server.log, beside the folder OUTPUT."""
    return output.with_name(f"{output.name}.{name}")


@contextlib.contextmanager
def logs_kept(folder: Path, output: Path, names: Sequence[str]) -> Iterator[None]:
    """Where the block fails or is interrupted, logs of `folder` are kept beside `output`.

    The error says where; for Ctrl-C it is printed. Where the block ends well, those of an earlier
    failure are removed.
    """
    try:
        yield
    except CaptureError as error:
        if where := _keep(folder, output, names):
            error.hint = f"{error.hint}\n  {where}" if error.hint else where
        raise
    except BaseException:
        if where := _keep(folder, output, names):
            say(where, to=sys.stderr)
        raise
    for name in names:
        kept_place(output, name).unlink(missing_ok=True)


def _keep(folder: Path, output: Path, names: Sequence[str]) -> str:
    """Says which were kept. Renamed: a disk that is full must not hide why the command failed."""
    kept = []
    for name in names:
        with contextlib.suppress(OSError):
            kept.append(str((folder / name).replace(kept_place(output, name))))
    return f"kept: {', '.join(kept)}" if kept else ""
