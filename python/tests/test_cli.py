"""What holds for every command of layerscope-capture."""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import os
import re
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import RunCapture

import layerscope
from layerscope.capture import cli, errors
from layerscope.capture.command import Command

_HEAVY = ("torch", "transformers", "vllm", "sglang", "tensorrt_llm", "nvtx", "pyarrow", "numpy")
_VERBS = [cli.verb_of(name) for name in cli.COMMANDS]


def _command(verb: str) -> Command:
    command = importlib.import_module(cli.COMMANDS[_VERBS.index(verb)]).COMMAND
    assert isinstance(command, Command)
    return command


@pytest.fixture
def empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A working directory that must still be empty afterwards."""
    monkeypatch.chdir(tmp_path)
    yield tmp_path
    assert list(tmp_path.iterdir()) == []


def _in_bare_python(statement: str) -> subprocess.CompletedProcess[str]:
    """Runs a statement in an interpreter that refuses to import anything large."""
    guard = (
        "import sys\n"
        f"heavy = {_HEAVY!r}\n"
        "class Guard:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] in heavy: raise ImportError('imported ' + name)\n"
        "sys.meta_path.insert(0, Guard())\n"
    )
    source = str(Path(layerscope.__file__).parents[1])
    return subprocess.run(
        [sys.executable, "-c", guard + statement],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": source},
    )


def test_every_command_is_named_as_its_package() -> None:
    assert [_command(verb).name for verb in _VERBS] == _VERBS


def test_help_lists_every_command_without_torch_or_an_engine() -> None:
    done = _in_bare_python("from layerscope.capture.cli import main; main(['--help'])")
    assert done.returncode == 0, done.stderr
    for verb in _VERBS:
        assert re.search(rf"^ +{verb}\b", done.stdout, re.MULTILINE), verb


@pytest.mark.parametrize("verb", _VERBS)
def test_help_of_a_command_has_examples_and_needs_no_torch(verb: str) -> None:
    done = _in_bare_python(f"from layerscope.capture.cli import main; main([{verb!r}, '--help'])")
    assert done.returncode == 0, done.stderr
    assert "Examples:" in done.stdout
    assert f"layerscope-capture {verb}" in done.stdout.split("Examples:")[1]
    assert "--dry-run" in done.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("walk", "m", "-o", "t.json", "--", "--dry-run"), "--dry-run stands behind --"),
        (("drive", "m", "--engine", "vllm", "--outptu-len", "3"), "did you mean '--output-len'?"),
        (("walk", "m", "--enforce-eager"), "no option '--enforce-eager'\n"),
    ],
)
def test_what_is_no_option_here_is_told_from_a_misspelt_one(
    words: tuple[str, ...], said: str, run_capture: RunCapture
) -> None:
    assert said in run_capture(*words).err


@pytest.mark.parametrize("action", ["run", "rule"])
def test_help_of_an_action_has_its_own_examples(run_capture: RunCapture, action: str) -> None:
    examples = run_capture("hooks", action, "--help").out.split("Examples:\n")[1].splitlines()
    assert examples
    assert all(line.startswith(f"  layerscope-capture hooks {action} ") for line in examples)


@pytest.mark.parametrize("verb", _VERBS)
def test_every_example_runs_dry_and_writes_nothing(
    verb: str, run_capture: RunCapture, empty_folder: Path
) -> None:
    for example in _command(verb).examples:
        words = shlex.split(example)
        while words and re.match(r"[A-Z_]+=", words[0]):  # VARIABLE=value layerscope-capture …
            del words[0]
        assert words[:2] == ["layerscope-capture", verb], example
        # Behind the verb: what stands behind a `--` is the command line of another program.
        done = run_capture(words[1], "--dry-run", *words[2:])
        assert done.code == errors.OK, f"{example}\n{done.err}"
        assert done.out.strip(), f"{example}: a dry run says what would be done"


@pytest.mark.parametrize("verb", _VERBS)
def test_dry_run_needs_no_torch(verb: str, empty_folder: Path) -> None:
    words = shlex.split(_command(verb).examples[0])[1:]
    words.insert(1, "--dry-run")
    done = _in_bare_python(f"from layerscope.capture.cli import main; sys.exit(main({words!r}))")
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("verb", _VERBS)
def test_an_unknown_option_is_a_usage_error(verb: str, run_capture: RunCapture) -> None:
    done = run_capture(*shlex.split(_command(verb).examples[0])[1:], "--no-such-option")
    assert done.code == errors.USAGE
    assert "--no-such-option" in done.err


def test_a_misspelt_command_names_the_nearest(run_capture: RunCapture) -> None:
    done = run_capture("wlak", "model")
    assert done.code == errors.USAGE
    assert "did you mean 'walk'?" in done.err


def test_without_a_command_help_is_printed(run_capture: RunCapture) -> None:
    done = run_capture()
    assert done.code == errors.USAGE
    assert "COMMAND" in done.out


def test_the_version_is_that_of_layerscope(run_capture: RunCapture) -> None:
    lists = Path(__file__).parents[2] / "CMakeLists.txt"
    found = re.search(r"project\([^)]*VERSION\s+([0-9.]+)", lists.read_text())
    assert found is not None
    assert layerscope.__version__ == found[1]
    assert found[1] in run_capture("--version").out


def test_sigterm_ends_a_command_as_ctrl_c_does(
    run_capture: RunCapture, monkeypatch: pytest.MonkeyPatch
) -> None:
    cleaned_up = []

    def killed(_: argparse.Namespace) -> int:
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            cleaned_up.append(True)
        return errors.OK

    waits = Command("walk", "", "", (), lambda parser: None, killed)
    monkeypatch.setattr(cli, "commands", lambda only=None: [waits])
    before = signal.getsignal(signal.SIGTERM)
    done = run_capture("walk")
    assert (done.code, cleaned_up) == (errors.INTERRUPTED, [True])
    assert "interrupted" in done.err
    assert signal.getsignal(signal.SIGTERM) is before


@pytest.mark.parametrize("verb", ["walk", "profile", "serve-bench"])
def test_a_missing_engine_is_an_error_that_names_the_command_once(
    verb: str, run_capture: RunCapture, empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    for words in ((), ("--engine", "vllm")):
        done = run_capture(verb, "org/model", *words)
        assert done.code == errors.FAILED
        first, *_ = done.err.splitlines()
        assert first.startswith(f"layerscope-capture {verb}: ")
        assert first.count("layerscope-capture") == first.count(verb) == 1


@pytest.mark.parametrize("verb", ["walk", "profile", "serve-bench", "check", "config-patch"])
def test_a_folder_that_is_not_there_is_said_also_where_its_name_is_no_text(
    verb: str, run_capture: RunCapture, empty_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Names of files are bytes; the printed line shows those that are no UTF-8."""
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name)
    words = ["--engine", "vllm"] if verb != "config-patch" else ["--layers", "1", "-o", "out"]
    done = run_capture(verb, os.fsdecode(b"./\xff"), *words)
    assert done.code == (errors.FAILED if verb == "check" else errors.INVALID_INPUT)
    assert "./\\udcff is neither a folder nor a file" in done.out + done.err


def test_a_full_disk_is_an_error_line(
    run_capture: RunCapture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device", "out.json")

    fails = Command("check", "", "", (), lambda parser: None, full)
    monkeypatch.setattr(cli, "commands", lambda only=None: [fails])
    done = run_capture("check")
    assert done.code == errors.FAILED
    assert done.err == (
        "layerscope-capture check: [Errno 28] No space left on device: 'out.json'\n"
        "  make room on this disk\n"
    )


def test_lines_are_printed_by_one_function_alone() -> None:
    """It writes as escapes what a terminal would take for a command: `errors.say`."""
    root = Path(cli.__file__).parent
    found = {
        str(path.relative_to(root))
        for path in root.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Name) and node.id == "print"
    }
    # The latter where the package cannot be imported.
    assert found == {"errors.py", "hooks/bootstrap/sitecustomize.py"}


def test_a_word_that_is_no_text_is_printed_as_escapes(run_capture: RunCapture) -> None:
    for words in (["\x1b[2J"], ["walk", "m", "\x1b[2J"], ["walk", "m", "--\x1b[2J"]):
        said = run_capture(*words).err
        assert "\\x1b[2J" in said and "\x1b" not in said


@pytest.mark.parametrize("ending", [SystemExit(0), SystemExit("bye"), GeneratorExit()])
def test_foreign_code_that_ends_the_program_is_a_failure(
    ending: BaseException, run_capture: RunCapture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ends(*_: object) -> int:
        raise ending

    fails = Command("check", "", "", (), lambda parser: None, ends)
    monkeypatch.setattr(cli, "commands", lambda only=None: [fails])
    done = run_capture("check")
    assert done.code == errors.FAILED
    assert f"layerscope-capture check: ended by {type(ending).__name__}" in done.err


def test_an_interrupt_before_the_command_runs_is_no_traceback(
    run_capture: RunCapture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(only: str | None = None) -> list[Command]:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "commands", interrupted)
    done = run_capture("walk", "model")
    assert (done.code, done.err) == (errors.INTERRUPTED, "layerscope-capture walk: interrupted\n")


@pytest.mark.parametrize("module", ["layerscope.capture.cli", "argparse"])
@pytest.mark.parametrize("handler", ["default_int_handler", "SIG_IGN"])
def test_an_interrupt_while_python_imports_is_no_traceback(module: str, handler: str) -> None:
    """Ctrl-C comes when it looks for the module; a shell's background has it ignored."""
    done = _in_bare_python(
        "import signal\n"
        f"signal.signal(signal.SIGINT, signal.{handler})\n"
        "class Interrupt:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        f"        if name == {module!r}: signal.raise_signal(signal.SIGINT)\n"
        "sys.meta_path.insert(0, Interrupt())\n"
        "sys.argv[1:] = ['--version']\n"
        "from layerscope.capture.__main__ import main; sys.exit(main())"
    )
    is_ignored = handler == "SIG_IGN"
    code = errors.OK if is_ignored else errors.INTERRUPTED
    assert (done.returncode, done.stderr) == (code, "")
    assert done.stdout.startswith("layerscope-capture ") is is_ignored


def test_the_program_is_the_command_line(run_capture: RunCapture) -> None:
    done = _in_bare_python(
        "sys.argv[1:] = ['wlak']; from layerscope.capture.__main__ import main; sys.exit(main())"
    )
    assert (done.returncode, done.stderr) == (errors.USAGE, run_capture("wlak").err)
    scripts = (Path(__file__).parents[1] / "pyproject.toml").read_text()
    assert 'layerscope-capture = "layerscope.capture.__main__:main"' in scripts


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("walk", "m", "--with-foward"), "walk: no option '--with-foward'; did you mean '--with-f"),
        (("walk", "m", "--ouput=t.json"), "walk: no option '--ouput'; did you mean '--output'?"),
        (("walk", "m", "--with"), "walk: no option '--with'"),  # abbreviations are not guessed
        (("walk", "m", "n"), "walk: 'n' is one too many\n"),
        (("profile", "m", "--input-len", "16", "32"), "'32' is one too many behind --input-len, "),
        (("profile", "m", "--input-len=16", "32"), "'32' is one too many behind --input-len, "),
        (("drive", "m", "--engine", "vllm", "sglang"), "'sglang' is one too many behind --engine"),
        (
            ("drive", "m", "--engine", "vllm", "--backend", "nvtx", "annotations"),
            "'annotations' is one too many behind --backend, which takes NAME[,NAME]\n",
        ),
        (
            ("serve-bench", "m", "--hooks", "nvtx", "annotations", "--", "--enforce-eager"),
            "'annotations' is one too many behind --hooks, which takes NAME[,NAME]\n",
        ),
        (
            ("serve-bench", "m", "--hooks", "nvtx", "8", "--", "--max-model-len", "8"),
            "'8' is one too many behind --hooks, which takes NAME[,NAME]\n",
        ),
        (
            ("hooks", "run", "--engine", "vllm", "--backend", "nvtx", "annotations", "--", "x"),
            "several with commas: --backend nvtx,annotations\n",
        ),
        (
            ("hooks", "run", "--backend", "nvtx", "annotations", "--engine", "vllm", "--", "x"),
            "'annotations' is one too many behind --backend, which takes NAME[,NAME]\n",
        ),
        (("hooks", "rule", "--engin", "vllm", "--engine", "vllm"), "no option '--engin'; did you"),
        (("config-patch", "m", "--layer", "2"), "config-patch: no option '--layer'; did you mean"),
        (("--versoin",), "layerscope-capture: no option '--versoin'; did you mean '--version'?"),
    ],
)
def test_a_misspelt_option_names_the_nearest_of_its_command(
    words: tuple[str, ...], said: str, run_capture: RunCapture, empty_folder: Path
) -> None:
    done = run_capture(*words)
    assert done.code == errors.USAGE
    assert said in done.err


def test_a_bad_value_is_two_lines(run_capture: RunCapture) -> None:
    done = run_capture("walk", "m", "--input-len", "x")
    assert done.code == errors.USAGE
    assert done.err == (
        "layerscope-capture walk: argument --input-len: 'x' is no whole number\n"
        "  layerscope-capture walk --help lists the options\n"
    )
