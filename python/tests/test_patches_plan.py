"""The file of a plan: what is read, what is refused, what names it."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from layerscope.capture import errors
from layerscope.capture.errors import CaptureError
from layerscope.capture.patches.plan import PatchPlan, load_plan, plan_from_environment


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ({"schema": "other"}, "schema is 'other'"),
        ({"num_layers": -1}, "num_layers is -1"),
        ({"model_type": 7}, "model_type is no name"),
        ({"architectures": "Qwen3"}, "architectures is no list of names"),
        ({"keep_layers": [1]}, "keep_layers is no list"),
        ({"keep_layers": [0, 9]}, "keep_layers is no list"),
        ({"keep_layers": [0, 0]}, "keep_layers is no list"),
        ({"keep_layers": [0, True]}, "keep_layers is no list"),
        (
            {"routing": {"experts": 4, "top_k": 2, "groups": 2, "top_groups": 9, "ep_ranks": 1}},
            "is not possible",
        ),
        ({"routing": []}, "routing is no object"),
        ({"routing": {"experts": 4}}, "top_k is None"),
        (
            {"routing": {"experts": 4, "top_k": 8, "groups": 1, "top_groups": 1, "ep_ranks": 1}},
            "is not possible",
        ),
    ],
)
def test_a_plan_that_is_none_is_refused(
    document: dict[str, Any], says: str, tmp_path: Path
) -> None:
    whole = {"schema": "layerscope_patch/1", "num_layers": 4, **document}
    (tmp_path / "layerscope_patch.json").write_text(json.dumps(whole))
    with pytest.raises(CaptureError, match=says) as refused:
        load_plan(tmp_path)
    assert refused.value.code == 3


def test_the_environment_names_the_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAYERSCOPE_PATCH", raising=False)
    assert plan_from_environment() is None
    (tmp_path / "layerscope_patch.json").write_text(json.dumps(PatchPlan(3, (0,)).document()))
    monkeypatch.setenv("LAYERSCOPE_PATCH", str(tmp_path))
    assert plan_from_environment() == PatchPlan(3, (0,))
    assert os.environ["LAYERSCOPE_PATCH"] == str(tmp_path)


@pytest.mark.parametrize("name", ["pipe", "/dev/zero"])
def test_a_plan_that_is_no_file_is_refused_at_once(name: str, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(CaptureError, match="is no regular file") as refused:
        load_plan(tmp_path / name)
    assert refused.value.code == errors.INVALID_INPUT
