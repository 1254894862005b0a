"""What /proc says of processes, and signals that wait."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from layerscope.capture import errors, interrupts, process_guard, process_tree, processes
from layerscope.capture.errors import CaptureError
from layerscope.capture.process_tree import Process

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc here")


def _process(pid: int, parent: int) -> Process:
    return Process(pid, parent, group=pid, started=0, is_zombie=False)


def test_descendants_are_all_below_and_a_loop_of_reused_ids_ends() -> None:
    rows = [_process(2, 1), _process(3, 2), _process(4, 3), _process(5, 1), _process(6, 7)]
    rows.append(_process(7, 6))
    table = {row.pid: row for row in rows}
    assert {p.pid for p in process_tree.descendants([2], table)} == {3, 4}
    assert {p.pid for p in process_tree.descendants([1], table)} == {2, 3, 4, 5}
    assert {p.pid for p in process_tree.descendants([6], table)} == {6, 7}
    assert process_tree.descendants([9], table) == set()


@needs_proc
def test_a_name_with_brackets_and_spaces_is_read(tmp_path: Path) -> None:
    program = tmp_path / "a) S (b"
    shutil.copy(shutil.which("sleep") or "", program)
    child = subprocess.Popen([str(program), "60"])
    try:
        found = process_tree.read_table()[child.pid]
        assert (found.parent, found.group) == (os.getpid(), os.getpgrp())
        assert process_tree.still_running(found)
    finally:
        child.kill()
        child.wait()
    assert not process_tree.still_running(found)


@needs_proc
def test_the_holder_of_a_port_is_found() -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        port = holder.getsockname()[1]
        assert process_tree.listeners(port) is None  # bound, but nobody listens
        holder.listen()
        assert process_tree.listeners(port) == {os.getpid()}
        assert not processes.port_is_free(port)
    assert processes.port_is_free(port)


@pytest.fixture
def raised() -> Iterator[list[int]]:
    """Numbers of the signals whose handlers ran."""
    numbers: list[int] = []
    before = {n: signal.getsignal(n) for n in interrupts.INTERRUPTS}
    for number in interrupts.INTERRUPTS:
        signal.signal(number, lambda n, _: numbers.append(n))
    yield numbers
    for number, handler in before.items():
        signal.signal(number, handler)


def test_interrupts_wait_and_then_do_what_they_do(raised: list[int]) -> None:
    with interrupts.held() as held:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
        assert raised == []
        assert held == [signal.SIGTERM, signal.SIGINT]
    assert raised == [signal.SIGTERM]
    signal.raise_signal(signal.SIGINT)
    assert raised == [signal.SIGTERM, signal.SIGINT]


def _interrupt(*_: object) -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize("fails", [False, True])
def test_an_interrupt_that_is_dropped_ends_the_block_at_its_end(fails: bool) -> None:
    """As in pyzmq's poll, which drops what a handler raises."""
    before = signal.signal(signal.SIGTERM, _interrupt)
    reached = []
    try:
        with pytest.raises(KeyboardInterrupt), interrupts.lasting():
            with contextlib.suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGTERM)
            reached.append("the end of the block")
            if fails:
                raise RuntimeError("a worker was ended")
        assert signal.getsignal(signal.SIGTERM) is _interrupt
        with interrupts.lasting():
            reached.append("a block without interrupts")
        with pytest.raises(KeyboardInterrupt), interrupts.lasting():
            signal.raise_signal(signal.SIGTERM)
            reached.append("what an interrupt ends at once")
    finally:
        signal.signal(signal.SIGTERM, before)
    assert reached == ["the end of the block", "a block without interrupts"]


# Where a program is, behind its last line: in what libraries do at its end, or in Python's own.
_ENDS = {
    "libraries": "atexit.register(lambda: (tell(), time.sleep(60)))",
    "Python": "sys.kept = type('Kept', (), {'__del__': lambda self: (tell(), sleep(1))})()",
}


@pytest.mark.parametrize("sent", interrupts.INTERRUPTS)
@pytest.mark.parametrize("where", _ENDS)
def test_an_interrupt_behind_the_end_of_a_command_changes_no_code(
    where: str, sent: signal.Signals, tmp_path: Path
) -> None:
    """The other signals end Python's own end, as they do a program that does not know them."""
    program = (
        "import atexit, os, signal, sys, time\n"
        "from layerscope.capture import __main__, cli\n"
        "def run():\n"
        "    global tell, sleep\n"
        "    there, made, sleep = os.open('.', 0), os.mkdir, time.sleep\n"
        "    tell = lambda: made('reached', dir_fd=there)\n"
        f"    {_ENDS[where]}\n"
        "    print('done')\n"
        "    return 7\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "cli.main = run\n"
        "sys.exit(__main__.main())\n"
    )
    command = subprocess.Popen(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    _until((tmp_path / "reached").exists)
    command.send_signal(sent)
    out, err = command.communicate(timeout=30)
    assert (out, err) == ("done\n", "")
    is_ended = where == "Python" and sent != signal.SIGINT
    assert command.returncode == (-sent if is_ended else 7)


def test_a_program_that_is_not_there_is_said(tmp_path: Path) -> None:
    with (
        pytest.raises(CaptureError, match="cannot start no-such-program"),
        processes.running(["no-such-program"], log=tmp_path / "log"),
    ):
        pytest.fail("it runs")


@needs_proc
def test_what_a_block_started_is_gone_and_what_was_there_stays() -> None:
    """A daemon, by two forks: nothing but the subreaper's children leads to it."""
    own = subprocess.Popen(["sleep", "60"])
    start = (
        "import subprocess\n"
        "options = {'stdout': subprocess.DEVNULL, 'start_new_session': True}\n"
        "print(subprocess.Popen(['sleep', '60'], **options).pid)"
    )
    with processes.adopted():
        done = subprocess.run(
            [sys.executable, "-c", start], stdout=subprocess.PIPE, text=True, check=True
        )
        daemon = process_tree.read_table()[int(done.stdout)]
        assert daemon.parent == os.getpid()
        assert process_tree.still_running(daemon)
    assert not process_tree.still_running(daemon)
    assert own.poll() is None
    own.kill()
    own.wait()


def test_the_end_of_a_log_is_read_whatever_stands_before_it(tmp_path: Path) -> None:
    """A hole of 64 GB in one line, which nobody could read whole; states of a progress bar."""
    log = tmp_path / "log"
    assert processes.tail_of(log) == ""
    log.write_text("first\nlast\n")
    assert processes.tail_of(log) == "first\nlast"
    os.truncate(log, 64 << 30)
    most = processes._LINE_BYTES
    assert processes.tail_of(log) == "\0" * most
    with log.open("a") as file:
        file.write("\n10%\r20%\rValueError: no weights\n" + "\n" * 10)
    assert processes.tail_of(log, 13).splitlines()[:3] == ["10%", "20%", "ValueError: no weights"]
    assert processes.tail_of(log).startswith("\0" * most + "\n10%\n")


@pytest.fixture
def shadowed(tmp_path: Path) -> Path:
    """A folder with files that have the names of Python's modules, and end who imports them."""
    folder = tmp_path / "shadowed"
    folder.mkdir()
    for name in ("socket", "signal", "json", "pathlib"):
        (folder / f"{name}.py").write_text("raise SystemExit('the file of the current folder')")
    return folder


@pytest.mark.parametrize(
    ("module", "said"),
    [
        ("layerscope.capture.process_guard", ""),  # nothing to guard, and nothing to say
        ("layerscope.capture.drive.session", "drive.plan"),  # there is none
    ],
)
def test_files_of_the_current_folder_are_not_imported(
    module: str, said: str, shadowed: Path, tmp_path: Path
) -> None:
    words = processes.module_words(module, str(tmp_path))
    done = subprocess.run(words, cwd=shadowed, input="", capture_output=True, text=True)
    assert said in done.stderr and "the current folder" not in done.stderr
    assert done.returncode == (errors.INVALID_INPUT if said else errors.OK)


@needs_proc
@pytest.mark.parametrize("ends_first", [False, True])
def test_what_a_command_started_ends_with_it_where_it_is_killed(
    tmp_path: Path, shadowed: Path, ends_first: bool
) -> None:
    """With a process below it, in a session of its own, which `kill -9` of the command leaves; also
    where the engine ended before, as it does when a SIGTERM comes first."""
    engine = (
        "import sys\n"
        "sys.path.pop(0)\n"
        "import os, subprocess\n"
        "worker = subprocess.Popen(['sleep', '60'], start_new_session=True)\n"
        "print(worker.pid, os.getpid(), flush=True)\n"
        "worker.wait()\n"
    )
    start = (
        "import sys\n"
        "sys.path.pop(0)\n"  # as the installed command, which has its own folder there
        "import pathlib, time\n"
        "from layerscope.capture import processes\n"
        "words, log = [sys.executable, '-c', sys.argv[1]], pathlib.Path(sys.argv[2])\n"
        "with processes.adopted(), processes.running(words, log=log):\n"
        "    time.sleep(60)\n"
    )
    log = tmp_path / "log"
    command = subprocess.Popen([sys.executable, "-c", start, engine, log], cwd=shadowed)
    _until(lambda: log.exists() and log.read_text().endswith("\n"))
    table = process_tree.read_table()
    started = [table[int(pid)] for pid in log.read_text().split()]
    assert len(started) == 2
    _until(lambda: _guards_below(command.pid))
    if ends_first:
        time.sleep(2 * process_guard._LOOK_S)  # so that it has seen both
        os.kill(started[1].pid, signal.SIGKILL)
    command.kill()
    command.wait()
    _until(lambda: not any(map(process_tree.still_running, started)))


def _guards_below(pid: int) -> bool:
    """Whether a guard runs below the process."""
    below = process_tree.descendants([pid], process_tree.read_table())
    lines = [Path(f"/proc/{process.pid}/cmdline").read_bytes() for process in below]
    return any(b"process_guard" in line for line in lines)


def _until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline, "it does not come"
        time.sleep(0.05)
