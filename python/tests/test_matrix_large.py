"""Declarations that multiply to more than anybody runs: counted before they are made."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from fake_drive import declared_run, runs_of

from layerscope.capture.errors import INVALID_INPUT, CaptureError


def _families(count: int, **fields: Any) -> list[dict[str, Any]]:
    return [{"name": f"f{n}", "model": "org/m", **fields} for n in range(count)]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"family": _families(60_000)}, "declares 60000 runs, more than 10000"),
        (
            {
                "family": _families(30),
                "precision": [{"name": f"p{n}", "dtype": "float16"} for n in range(300)],
                "parallelism": [f"tp{n}" for n in range(1, 300)],
            },
            f"declares {30 * 300 * 299} runs, more than 10000",
        ),
        (
            {"batch": [*range(1, 20_001)], "past": [*range(1, 20_001)]},
            f"declares {20_000**2} points, more than 1000000",
        ),
    ],
)
def test_too_much_is_refused_before_it_is_made(
    changes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    began = time.monotonic()
    with pytest.raises(CaptureError) as caught:
        declared_run(tmp_path, **changes)
    assert said in caught.value.message
    assert caught.value.code == INVALID_INPUT
    assert time.monotonic() - began < 30  # hours, where what multiplies is made


def test_a_run_of_more_points_than_reach_an_engine_is_refused(tmp_path: Path) -> None:
    declaration = declared_run(tmp_path, batch=[*range(1, 101)], past=[*range(1, 101)])
    with pytest.raises(CaptureError, match="family 'small': 10000 steps to mark, more than the"):
        runs_of(declaration)


def test_thousands_of_families_of_which_all_but_one_are_excluded(tmp_path: Path) -> None:
    excluded = [{"family": f"f{n}"} for n in range(1, 5000)]
    excluded += [{"family": "f0", "engine": "sglang"}]
    declaration = declared_run(
        tmp_path, family=_families(5000), exclude=excluded, engine=["vllm", "sglang"]
    )
    began = time.monotonic()
    assert [run.name for run in runs_of(declaration)] == ["f0__vllm__bf16__tp1"]
    assert time.monotonic() - began < 8  # 10000 x 5000 comparisons take longer
