"""Fixtures of all tests: tiny models, the command line, the program, what did not run here."""

from __future__ import annotations

import functools
import gzip
import importlib.util
import json
import os
import shutil
import signal
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest
import real_configs
import tiny_models
from bench_process import Bench
from nvtx_recorder import build_recorder

from layerscope.capture import cli

# Tests load models from folders; a name must never be looked up on the network.
os.environ.setdefault("HF_HUB_OFFLINE", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

_NOT_RUN = pytest.StashKey[dict[str, None]]()


def pytest_configure(config: pytest.Config) -> None:
    # A shell starts what it runs in the background with interrupts ignored, and commands under test
    # inherit that.
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    config.stash[_NOT_RUN] = {}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests marked `torch` are skipped where it is absent, and the summary says so."""
    absent = [n for n in ("torch", "transformers") if importlib.util.find_spec(n) is None]
    marked = [item for item in items if item.get_closest_marker("torch")]
    if not absent or not marked:
        return
    reason = f"{' and '.join(absent)} not installed"
    if _in_ci():
        raise pytest.UsageError(reason)
    for item in marked:
        item.add_marker(pytest.mark.skip(reason=reason))
    config.stash[_NOT_RUN][f"{len(marked)} tests: {reason}"] = None


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Lines of `not_run_here`, each once."""
    lines = config.stash[_NOT_RUN]
    if not lines:
        return
    terminalreporter.section("NOT RUN HERE")
    for line in lines:
        terminalreporter.line(f"NOTE: {line}")


@pytest.fixture(scope="session")
def not_run_here(pytestconfig: pytest.Config) -> Callable[[str], None]:
    """`not_run_here("hooks: graph annotations on a GPU")` adds a line to the summary of the run."""

    def note(what: str) -> None:
        pytestconfig.stash[_NOT_RUN][what] = None

    return note


def _in_ci() -> bool:
    return bool(os.environ.get("CI"))


@pytest.fixture(scope="session")
def absent(not_run_here: Callable[[str], None]) -> Callable[[str], NoReturn]:
    """`absent("NVTX ranges: no C compiler")` ends a test for want of what a machine can have."""
    return functools.partial(end_for_want, note=not_run_here)


def end_for_want(what: str, note: Callable[[str], None]) -> NoReturn:
    """Skips, said loudly; where CI is set it fails: there a test that does not run is an error."""
    if _in_ci():
        pytest.fail(f"not run: {what}", pytrace=False)
    note(what)
    pytest.skip(what)


@pytest.fixture(scope="session")
def nvtx_recorder(
    tmp_path_factory: pytest.TempPathFactory, absent: Callable[[str], NoReturn]
) -> Path:
    """The library that records NVTX ranges, for NVTX_INJECTION64_PATH; built once."""
    library = build_recorder(tmp_path_factory.mktemp("nvtx"))
    if library is None:
        absent("NVTX ranges: no C compiler, or no NVTX headers (package nvidia-nvtx)")
    return library


@pytest.fixture
def nvtx_package(absent: Callable[[str], NoReturn]) -> None:
    """The package nvtx is installed."""
    if importlib.util.find_spec("nvtx") is None:
        absent("NVTX ranges: the package nvtx is not installed")


def read_json(path: Path) -> dict[str, Any]:
    """The object in a file of JSON, compressed or not."""
    data = path.read_bytes()
    document = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    assert isinstance(document, dict)
    return document


@dataclass(frozen=True)
class Outcome:
    """What a run of the command line left."""

    code: int
    out: str
    err: str


RunCapture = Callable[..., Outcome]


@pytest.fixture
def run_capture(capsys: pytest.CaptureFixture[str]) -> RunCapture:
    """`run_capture("walk", folder, "-o", file)` runs `layerscope-capture` in this process."""

    def run(*words: str | Path) -> Outcome:
        capsys.readouterr()
        try:
            code = cli.main([str(word) for word in words])
        except SystemExit as exit_:  # argparse: help and bad options
            code = exit_.code if isinstance(exit_.code, int) else 1
        said = capsys.readouterr()
        return Outcome(code, said.out, said.err)

    return run


@pytest.fixture
def tiny_config(tmp_path: Path) -> Path:
    (tmp_path / "config.json").write_text('{"model_type": "x", "vocab_size": 128}')
    return tmp_path


class Program:
    """The built program `layerscope`."""

    def __init__(self, program: str) -> None:
        self.program = program

    def run(self, words: Sequence[str | Path], *, code: int = 0, folder: Path | None = None) -> str:
        """Standard output; the test fails when the exit code is another."""
        done = subprocess.run(
            [self.program, *map(str, words)],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=folder,
        )
        assert done.returncode == code, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def view(self, words: Sequence[str | Path]) -> dict[str, Any]:
        """What the server of `layerscope view WORDS` says about its files."""
        command = [self.program, "view", *map(str, words), "--port", "0", "--no-open"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
            try:
                assert server.stdout is not None
                address = server.stdout.readline().strip()
                with urllib.request.urlopen(address.replace("/?", "/api/view?")) as answer:
                    said = json.load(answer)
            finally:
                server.terminate()
        assert isinstance(said, dict)
        return said

    def json(self, *words: str | Path) -> dict[str, Any]:
        """The document of `layerscope WORDS --format json`."""
        document = json.loads(self.run([*words, "--format", "json"]))
        assert isinstance(document, dict)
        return document


def program_under_test() -> str | None:
    """The program that LAYERSCOPE_BIN names, or that of PATH where the variable is not set.

    Where it is set, to nothing too, no other program is tested in the place of the one it names.
    """
    return shutil.which(os.environ.get("LAYERSCOPE_BIN", "layerscope"))


@pytest.fixture(scope="session")
def layerscope_bin(absent: Callable[[str], NoReturn]) -> Program:
    """The program that is tested; where there is none the test is ended."""
    program = program_under_test()
    if program is None:
        absent("tests that read what was written: LAYERSCOPE_BIN names no program")
    return Program(program)


@pytest.fixture
def real_configs_here(absent: Callable[[str], NoReturn]) -> None:
    """The real configs are beside the repository."""
    if not real_configs.names():
        absent(f"tests on real configs: {real_configs.FOLDER} is not here")


@pytest.fixture(scope="session")
def shared_traces(absent: Callable[[str], NoReturn]) -> Path:
    """The folder of what real runs wrote; read only."""
    folder = real_configs.FOLDER.parent
    if not folder.is_dir():
        absent(f"recorded files: {folder} is not here")
    return folder


@pytest.fixture
def stubs(monkeypatch: pytest.MonkeyPatch) -> None:
    """The stub engines are installed, here and in children; nothing else is on PATH, as nsys."""
    here = Path(__file__).parent
    path = [str(here / "stub_engines"), str(here.parent / "src")]
    if before := os.environ.get("PYTHONPATH"):
        path.append(before)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(path))
    monkeypatch.syspath_prepend(path[0])
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.delenv("HF_HUB_OFFLINE")  # stubs load models of any name


@pytest.fixture(scope="session")
def tiny_qwen3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny Qwen3; read only."""
    return tiny_models.write_qwen3(tmp_path_factory.mktemp("models") / "tiny-qwen3")


@pytest.fixture(scope="session")
def tiny_qwen3_moe(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny Qwen3-MoE; read only."""
    return tiny_models.write_qwen3_moe(tmp_path_factory.mktemp("models") / "tiny-qwen3-moe")


@pytest.fixture(scope="session")
def tiny_gpt2(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a tiny GPT-2; read only."""
    return tiny_models.write_gpt2(tmp_path_factory.mktemp("models") / "tiny-gpt2")


@pytest.fixture
def bench(tmp_path: Path, absent: Callable[[str], NoReturn]) -> Iterator[Bench]:
    """serve-bench, and that none of its processes is left."""
    if not Path("/proc/self/environ").exists():
        absent("serve-bench: no /proc here")
    made = Bench(tmp_path)
    yield made
    deadline = time.monotonic() + 5
    while made.left() and time.monotonic() < deadline:
        time.sleep(0.1)
    left = made.left()
    made.kill_left()
    assert left == [], "processes are left"
