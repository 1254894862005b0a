"""Hooks that cannot be put in place: it is said, and the engine and its start go on."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from layerscope.capture.hooks.hook_report import read_reports
from layerscope.capture.hooks.process_hooks import ProcessHooks
from layerscope.capture.hooks.run import BOOTSTRAP, hooked_environment, judge
from layerscope.capture.in_engine.settings import HookSettings


@pytest.fixture(autouse=True)
def package_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Children find the package also where it is not installed."""
    source = str(Path(__file__).parent.parent / "src")
    before = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(p for p in (source, before) if p))


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"LAYERSCOPE_HOOKS_STEPS": '{"points": [[1e999, 1]]}'}, "is no list of steps"),
        ({"LAYERSCOPE_HOOKS_STEPS": "[" * 100_000}, "is no list of steps"),
        ({"LAYERSCOPE_HOOKS_STEPS": '{"points": [[-1, 1.9], ["7", true]]}'}, "no list of steps"),
        ({"LAYERSCOPE_HOOKS_DIR": "below"}, "the working folder is not there any more"),
    ],
)
def test_hooks_that_cannot_be_read_are_said_and_disturb_nothing(
    variables: dict[str, str], said: str, tmp_path: Path
) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('the other one')\n")
    (tmp_path / "gone").mkdir()
    environment = hooked_environment(
        HookSettings(("nvtx",), tmp_path), {**os.environ, "PYTHONPATH": str(tmp_path)}
    )
    done = subprocess.run(
        ["sh", "-c", 'rmdir ../gone && exec "$0" -c "print(1)"', sys.executable],
        cwd=tmp_path / "gone",
        env={**environment, **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout == "the other one\n1\n"
    assert said in done.stderr and "Traceback" not in done.stderr


def test_what_fails_on_the_way_to_the_hooks_is_said_and_disturbs_nothing(tmp_path: Path) -> None:
    """But not where patches were asked for: figures would be taken for those with them."""
    (tmp_path / "sitecustomize.py").write_text("print('the other one')\n")
    package = tmp_path / "layerscope" / "capture" / "hooks"
    package.mkdir(parents=True)
    for folder in (package, *package.parents[:2]):
        (folder / "__init__.py").touch()
    (package.parent / "errors.py").write_text(
        "class CaptureError(Exception): code = 3\ndef say(text, to): print(text, file=to)\n"
    )
    (package / "plugin.py").write_text("def install_all(): raise KeyError('x')\n")
    environment = {**os.environ, "PYTHONPATH": f"{BOOTSTRAP}{os.pathsep}{tmp_path}"}
    for variable, out in (("LAYERSCOPE_HOOKS", "the other one\n1\n"), ("LAYERSCOPE_PATCH", "")):
        done = subprocess.run(
            [sys.executable, "-c", "print(1)"],
            env={**environment, variable: "nvtx"},
            capture_output=True,
            text=True,
        )
        assert done.stdout == out
        assert "layerscope: KeyError: 'x'" in done.stderr
        assert (done.returncode != 0) == (variable == "LAYERSCOPE_PATCH")


@pytest.mark.torch
def test_the_report_says_what_was_patched(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from torch import nn

    from layerscope.capture.patches import install
    from layerscope.capture.patches.plan import PatchPlan

    model = nn.Module()
    model.layers = nn.ModuleList([nn.ReLU(), nn.ReLU()])
    patches = install.Patches(PatchPlan(num_layers=2, keep_layers=(0,)), "vllm")
    monkeypatch.setitem(install._INSTALLED, "vllm", patches)
    patches.model_loaded(model)
    hooks = ProcessHooks(HookSettings(("record_function",), tmp_path), "vllm")
    hooks.model_loaded(model)
    (report,) = read_reports(tmp_path)
    assert report.patched == ["layers.1: identity"]
    assert judge([report], tmp_path, "vllm", has_run=True) == 0
    assert "rank 0: patched in 1 place\n" in capsys.readouterr().out
    hooks.remove()


@pytest.mark.torch
def test_the_report_counts_forwards_that_work_after_their_ranges(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from torch import nn

    class Generates(nn.Module):
        def forward(self, x: Any) -> Any:
            yield x

    hooks = ProcessHooks(HookSettings(("record_function",), tmp_path), "vllm")
    for model in (nn.Sequential(Generates(), nn.ReLU()), Generates()):
        hooks.model_loaded(model)
    (report,) = read_reports(tmp_path)
    assert (report.modules, report.deferred) == (4, 2)
    judge([report], tmp_path, "vllm", has_run=True)
    assert "rank 0: 2 modules of generators or async: their ranges" in capsys.readouterr().out
    hooks.remove()


@pytest.mark.torch
def test_nothing_is_raised_into_the_engine_that_loaded_a_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    from torch import nn

    from layerscope.capture.hooks import process_hooks

    def fails() -> int:
        raise ValueError("no rank")

    monkeypatch.setattr(process_hooks, "process_rank", fails)
    hooks = process_hooks.ProcessHooks(HookSettings(("record_function",), tmp_path), "sglang")
    hooks.model_loaded(nn.Sequential(nn.Linear(2, 2)))
    assert "ValueError: no rank" in caplog.text
