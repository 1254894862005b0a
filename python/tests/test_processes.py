"""What /proc says of processes, and signals that wait."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from layerscope.capture import process_tree, processes
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
    before = {n: signal.getsignal(n) for n in processes.INTERRUPTS}
    for number in processes.INTERRUPTS:
        signal.signal(number, lambda n, _: numbers.append(n))
    yield numbers
    for number, handler in before.items():
        signal.signal(number, handler)


def test_interrupts_wait_and_then_do_what_they_do(raised: list[int]) -> None:
    with processes.held_interrupts() as held:
        signal.raise_signal(signal.SIGTERM)
        signal.raise_signal(signal.SIGINT)
        assert raised == []
        assert held.received == [signal.SIGTERM, signal.SIGINT]
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
        with pytest.raises(KeyboardInterrupt), processes.lasting_interrupts():
            with contextlib.suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGTERM)
            reached.append("the end of the block")
            if fails:
                raise RuntimeError("a worker was ended")
        assert signal.getsignal(signal.SIGTERM) is _interrupt
        with processes.lasting_interrupts():
            reached.append("a block without interrupts")
        with pytest.raises(KeyboardInterrupt), processes.lasting_interrupts():
            signal.raise_signal(signal.SIGTERM)
            reached.append("what an interrupt ends at once")
    finally:
        signal.signal(signal.SIGTERM, before)
    assert reached == ["the end of the block", "a block without interrupts"]


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
