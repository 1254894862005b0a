"""One run of a program with its times and peak memory, and series of runs."""
from __future__ import annotations

import hashlib
import os
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Json = dict[str, Any]


class WrongAnswer(Exception):
    """An output differs from the truth."""


@dataclass
class Run:
    wall_s: float
    cpu_s: float
    peak_bytes: int
    output: bytes
    errors: bytes


@dataclass
class Series:
    """The runs of one program on one file."""

    runs: list[Run] = field(default_factory=list)

    def wall(self) -> float:
        return statistics.median(r.wall_s for r in self.runs)

    def min_wall(self) -> float:
        return min(r.wall_s for r in self.runs)

    def cpu(self) -> float:
        return statistics.median(r.cpu_s for r in self.runs)

    def min_cpu(self) -> float:
        return min(r.cpu_s for r in self.runs)

    def peak(self) -> int:
        return max(r.peak_bytes for r in self.runs)


def run_once(command: list[str]) -> Run:
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        start = time.monotonic()
        process = subprocess.Popen(command, stdout=output, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        wall_s = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        said = errors.read()
        if process.returncode != 0:
            raise WrongAnswer(f"exit {process.returncode} of {' '.join(command)}: "
                              f"{said.decode(errors='replace')[-500:]}")
        return Run(wall_s, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, output.read(),
                   said)


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def expect(what: str, truth: object, found: object) -> None:
    if truth != found:
        raise WrongAnswer(f'{what}: truth {truth!r}, found {found!r}')


def warm(trace: Path) -> None:
    """Both programs find the file in the page cache."""
    with trace.open('rb') as file:
        while file.read(1 << 24):
            pass
