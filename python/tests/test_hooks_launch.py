"""Hooks in the processes of engines: by vLLM's plugin, and by the bootstrap folder elsewhere.

The engines are stubs with the real signatures (tests/stub_engines).
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NoReturn

import pytest
from conftest import Outcome, RunCapture
from nvtx_recorder import read_pushes

from layerscope.capture.errors import INTERRUPTED, CaptureError
from layerscope.capture.hooks.foreground import run_foreground
from layerscope.capture.hooks.hook_report import HookReport, read_reports
from layerscope.capture.hooks.run import hooked_environment, judge
from layerscope.capture.in_engine.settings import HookSettings, StepSettings, settings_of

_STUBS = Path(__file__).parent / "stub_engines"

# What a user's script does; each stub has its model in a process of its own but vLLM's.
_SGLANG = """
from sglang import Engine
if __name__ == '__main__':
    engine = Engine(model_path='m')
    engine.generate(input_ids=[[1, 2, 3]], sampling_params={'max_new_tokens': 2, 'ignore_eos': 1})
    engine.shutdown()
"""


@pytest.fixture
def stub_engines(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stubs are found by this process's children."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(_STUBS), os.environ["PYTHONPATH"]]))


@pytest.fixture(autouse=True)
def package_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Children find the package also where it is not installed."""
    source = str(Path(__file__).parent.parent / "src")
    before = os.environ.get("PYTHONPATH", "")
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(p for p in (source, before) if p))


@pytest.fixture
def run_script(
    run_capture: RunCapture, tmp_path: Path, package_path: None, stub_engines: None
) -> Callable[[str, str, str], Outcome]:
    """`hooks run --engine E --backend B -o DIR -- python SCRIPT`."""

    def run(engine: str, backend: str, script: str) -> Outcome:
        file = tmp_path / "script.py"
        file.write_text(script)
        folder = tmp_path / "hooks"
        options = ["--engine", engine, "--backend", backend, "-o", str(folder)]
        return run_capture("hooks", "run", *options, "--", sys.executable, file)

    return run


def test_a_spawned_worker_has_ranges_with_the_paths_of_the_model(
    run_script: Callable[[str, str, str], Outcome],
    nvtx_recorder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    not_run_here: Callable[[str], None],
) -> None:
    not_run_here("hooks: sglang: against a stub, not run with the real engine")
    monkeypatch.setenv("NVTX_INJECTION64_PATH", str(nvtx_recorder))
    monkeypatch.setenv("NVTX_RECORDER_FILE", str(tmp_path / "pushes"))
    done = run_script("sglang", "nvtx", _SGLANG)
    assert done.code == 0, done.err
    assert "rank 0: 8 modules of StubForCausalLM (nvtx)" in done.out
    (report,) = read_reports(tmp_path / "hooks")
    assert report.pid != os.getpid()
    # The forwards of the prefill and of one decode step.
    texts = [push.text for push in read_pushes(tmp_path / "pushes")]
    assert texts == [f"{{'Module': '{path}'}}" for path in _PATHS] * 2


# Calls of one forward of the stubs' model in order, by hand.
_PATHS = [
    "",
    "model",
    *["model.layers.0", "model.layers.0.attn", "model.layers.0.mlp"],
    *["model.layers.1", "model.layers.1.attn", "model.layers.1.mlp"],
]


@pytest.mark.torch
def test_a_model_that_is_compiled_is_reported_as_no_capture(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    import torch
    from torch import nn

    from layerscope.capture.hooks.process_hooks import ProcessHooks

    hooks = ProcessHooks(HookSettings(("record_function",), tmp_path), "sglang")
    hooks.model_loaded(nn.Sequential(nn.Linear(2, 2)))
    hooks.model_loaded(None)  # an engine without a model in this process
    assert judge(read_reports(tmp_path), tmp_path, "sglang", has_run=True) == 0
    hooks.model_loaded(nn.Sequential(torch.compile(nn.Linear(2, 2), backend="eager")))
    hooks.remove()
    assert judge(read_reports(tmp_path), tmp_path, "sglang", has_run=True) == 1
    said = capsys.readouterr().err
    assert "only while the model is traced" in said
    assert "--enable-torch-compile" in said  # what to do about it
    assert "no capture" in caplog.text


@pytest.mark.torch
def test_a_second_model_of_a_process_has_paths_of_its_own(tmp_path: Path) -> None:
    from torch import nn

    from layerscope.capture.hooks.process_hooks import ProcessHooks

    hooks = ProcessHooks(HookSettings(("record_function",), tmp_path), "vllm")
    target, draft = nn.Sequential(nn.ReLU()), nn.Sequential(nn.ReLU())
    hooks.model_loaded(target)
    hooks.model_loaded(target)
    hooks.model_loaded(draft)
    (report,) = read_reports(tmp_path)
    assert (report.models, report.modules) == (["Sequential", "Sequential"], 4)
    texts = [module.forward._text for module in (target[0], draft[0])]
    assert texts == ["{'Module': '0'}", "{'Module': 'loaded_2.0'}"]
    hooks.remove()
    assert "forward" not in vars(target[0]) and "forward" not in vars(draft[0])


def test_a_command_without_a_model_is_an_error(
    run_script: Callable[[str, str, str], Outcome],
) -> None:
    done = run_script("sglang", "nvtx", "print('no engine here')\n")
    assert done.code == 1
    assert "no process of the command loaded a model of sglang with hooks" in done.err


def test_a_model_of_another_engine_is_not_what_was_asked_for(
    run_script: Callable[[str, str, str], Outcome],
) -> None:
    done = run_script("trtllm", "record_function", _SGLANG)
    assert done.code == 1
    assert "no process of the command loaded a model of trtllm" in done.err


def test_the_exit_code_of_the_command_is_kept(run_capture: RunCapture, tmp_path: Path) -> None:
    report = HookReport("vllm", "nvtx", 0, models=["M"], modules=3)
    script = (
        "import sys; from pathlib import Path\n"
        f"Path({str(tmp_path / 'hooks_rank0_pid1.report')!r}).write_text({_json(report)!r})\n"
        "sys.exit(7)\n"
    )
    words = ["--engine", "vllm", "-o", str(tmp_path), "--", sys.executable, "-c", script]
    done = run_capture("hooks", "run", *words)
    assert done.code == 7
    assert "3 modules of M" in done.out


def test_the_exit_code_of_a_command_that_ends_before_its_model_is_kept(
    run_capture: RunCapture, tmp_path: Path
) -> None:
    done = run_capture(*_RUN, tmp_path, "--", "sh", "-c", "exit 7")
    assert done.code == 7
    assert "the command ended with 7, before a model of vllm was loaded" in done.err


_RUN = ("hooks", "run", "--engine", "vllm", "-o")


def _json(report: HookReport) -> str:
    return json.dumps(vars(report))


_HOOKS_RUN = (
    "import signal, sys\n"
    # A test run in the background may have these ignored.
    "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
    "from layerscope.capture import cli\n"
    "sys.exit(cli.main(['hooks', 'run', '--engine', 'vllm', *sys.argv[1:]]))\n"
)


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("is_loaded", [False, True])
def test_interrupts_reach_the_command_and_are_waited_for(
    sent: signal.Signals, is_loaded: bool, tmp_path: Path
) -> None:
    """As of a service: no terminal sends them to the command."""
    report = tmp_path / "hooks_rank0_pid1.report"
    script = tmp_path / "server.sh"
    script.write_text(
        f"trap 'sleep 0.3; echo ended > {tmp_path}/ended; exit 0' INT TERM HUP\n"
        f"echo $$ > {tmp_path}/started\n"
        "while true; do sleep 0.05; done\n"
    )
    words = ["-o", str(tmp_path), "--", "sh", str(script)]
    process = subprocess.Popen(
        [sys.executable, "-c", _HOOKS_RUN, *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        deadline = time.monotonic() + 30
        while not (tmp_path / "started").exists():
            assert time.monotonic() < deadline
            time.sleep(0.02)
        if is_loaded:
            report.write_text(_json(HookReport("vllm", "nvtx", 0, models=["M"], modules=3)))
        process.send_signal(sent)
        out, err = process.communicate(timeout=20)
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    assert process.returncode == INTERRUPTED
    assert (tmp_path / "ended").exists()
    assert "no process of the command" not in err and "Traceback" not in err
    assert ("3 modules of M" in out) == is_loaded  # Ctrl-C is how a server ends
    assert ("interrupted" in err) != is_loaded


def test_the_code_of_a_command_that_was_killed_is_that_of_a_shell(tmp_path: Path) -> None:
    words = [sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"]
    assert run_foreground(words, os.environ) == 128 + 9


def test_a_program_that_is_not_there_is_named(run_capture: RunCapture, tmp_path: Path) -> None:
    words = ["--engine", "vllm", "-o", tmp_path / "new" / "folder", "--", "no-such-program"]
    done = run_capture("hooks", "run", *words)
    assert done.code == 1
    assert "cannot start no-such-program" in done.err
    assert list(tmp_path.iterdir()) == []


def test_an_output_that_cannot_be_written_is_named(run_capture: RunCapture, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for place in (tmp_path / "file", tmp_path / "file" / "below", Path("/proc/none")):
        done = run_capture("hooks", "run", "--engine", "vllm", "-o", place, "--", "true")
        assert done.code == 1
        assert f"cannot write into {place}: " in done.err and "with -o" in done.err


def test_another_sitecustomize_still_runs(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text("print('the other one')\n")
    environment = hooked_environment(
        HookSettings(("nvtx",), tmp_path), {**os.environ, "PYTHONPATH": str(tmp_path)}
    )
    done = subprocess.run(
        [sys.executable, "-c", "import sys; print('torch' in sys.modules)"],
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    # Nothing large is imported in processes that load no model.
    assert done.stdout.split("\n")[:2] == ["the other one", "False"]


def test_patches_that_cannot_be_read_stop_the_process(tmp_path: Path) -> None:
    (tmp_path / "layerscope_patch.json").write_text("{")
    environment = hooked_environment(HookSettings(("nvtx",), tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", "print('running')"],
        env={**environment, "LAYERSCOPE_PATCH": str(tmp_path)},
        capture_output=True,
        text=True,
    )
    assert done.returncode != 0 and done.stdout == ""
    assert "layerscope_patch.json" in done.stderr


def test_the_plugin_does_nothing_unless_it_is_asked(tmp_path: Path) -> None:
    script = (
        "import sys\n"
        "before = set(sys.meta_path)\n"
        "from layerscope.capture.hooks.plugin import install\n"
        "install(); install()\n"
        "print(len(set(sys.meta_path) - before))\n"
    )
    asked = {**os.environ, "LAYERSCOPE_HOOKS": "nvtx", "LAYERSCOPE_HOOKS_DIR": str(tmp_path)}
    counts = []
    for environment in (dict(os.environ), asked):
        done = subprocess.run(
            [sys.executable, "-c", script],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        counts.append(done.stdout.strip())
    assert counts == ["0", "1"]


def test_the_entry_point_of_vllm_is_the_plugin(absent: Callable[[str], NoReturn]) -> None:
    text = (Path(__file__).parent.parent / "pyproject.toml").read_text()
    assert '[project.entry-points."vllm.general_plugins"]' in text
    points = importlib.metadata.entry_points(group="vllm.general_plugins")
    named = [point for point in points if point.name == "layerscope_hooks"]
    if not named:
        absent("the entry point of vLLM: the package is not installed, but run from its folder")
    from layerscope.capture.hooks import plugin

    assert named[0].load() is plugin.install


def test_settings_come_from_the_environment(tmp_path: Path) -> None:
    settings = HookSettings(
        ("nvtx", "annotations"), tmp_path, StepSettings(frozenset({(8, 1024), (1, 16)}))
    )
    assert settings_of(settings.environment()) == settings
    assert settings_of({}) is None
    assert settings_of({"LAYERSCOPE_HOOKS": "off"}) is None
    with pytest.raises(CaptureError, match="no range backend 'nvt'"):
        settings_of({"LAYERSCOPE_HOOKS": "nvt"})
    with pytest.raises(CaptureError, match="no list of steps"):
        settings_of({"LAYERSCOPE_HOOKS": "nvtx", "LAYERSCOPE_HOOKS_STEPS": "8"})
