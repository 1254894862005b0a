"""Names of dtypes: each command takes the same ones, and refuses others before it does anything."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import RunCapture
from fake_drive import declared_run

from layerscope.capture import dtypes, errors
from layerscope.capture.errors import CaptureError
from layerscope.capture.matrix.planned_runs import planned_runs

_COMMANDS = [
    ("walk", "--engine", "transformers"),
    ("profile", "--engine", "vllm"),
    ("drive", "--engine", "vllm", "--input-len", "8"),
]
_NAMES = [("bf16", "bfloat16"), ("half", "float16"), ("fp16", "float16"), ("fp32", "float32")]


@pytest.mark.parametrize("words", _COMMANDS)
def test_other_names_are_refused_in_a_dry_run_too(
    words: tuple[str, ...], tiny_config: Path, run_capture: RunCapture
) -> None:
    for name in ("float7", "Tensor", "float64", "BF16", ""):
        done = run_capture(words[0], tiny_config, *words[1:], "--dry-run", "--dtype", name)
        assert done.code == errors.USAGE
        assert f"no dtype '{name}'; use one of auto, bfloat16, bf16, float16" in done.err


@pytest.mark.parametrize(("given", "meant"), _NAMES)
def test_each_name_means_one_dtype(given: str, meant: str, run_capture: RunCapture) -> None:
    assert f"as {meant}" in run_capture("walk", "org/model", "--dry-run", "--dtype", given).out


@pytest.mark.parametrize(("given", "meant"), _NAMES)
def test_a_matrix_takes_the_same_names(given: str, meant: str, tmp_path: Path) -> None:
    assert _dtypes(tmp_path, given) == [meant]
    assert _dtypes(tmp_path, {"name": "mine", "dtype": given}) == [meant]


def test_a_matrix_refuses_others(tmp_path: Path) -> None:
    for precision in ("float7", {"name": "mine", "dtype": "float7"}):
        with pytest.raises(CaptureError, match="float7"):
            _dtypes(tmp_path, precision)


@pytest.mark.torch
def test_torch_has_each() -> None:
    import torch

    for name in dtypes.DTYPES.values():
        assert name == dtypes.AUTO or isinstance(getattr(torch, name), torch.dtype)


def _dtypes(folder: Path, precision: Any) -> list[str]:
    return [run.plan.dtype for run in planned_runs(declared_run(folder, precision=[precision]))]
