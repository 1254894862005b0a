"""Commands of layerscope-capture in a real vLLM, and what of their processes is left.

Asked of /proc by a variable that every process inherits, and by the ids of what a command started:
vLLM's processes overwrite their environment with their titles.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from layerscope.capture import engines, errors, process_tree

_MARK = "ENGINE_TEST"
_TIMEOUT_S = 900.0


class Vllm:
    """Starts commands with little memory and one thread a rank, and knows what they started."""

    def __init__(self, folder: Path, say: Callable[[str], None]) -> None:
        self.folder = folder
        self.say = say
        self.mark = uuid.uuid4().hex
        self.env = {
            **os.environ,
            _MARK: self.mark,
            "VLLM_CPU_KVCACHE_SPACE": "1",
            # Two ranks want a NUMA node each, unless threads are bound by nobody.
            "VLLM_CPU_OMP_THREADS_BIND": "nobind",
            "OMP_NUM_THREADS": "1",
            "HF_HUB_OFFLINE": "1",
        }
        self.seen: dict[tuple[int, int], str] = {}

    def start(self, *words: str | Path, **variables: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, *map(str, words)],
            env={**self.env, **variables},
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def capture(self, *words: str | Path, **variables: str) -> str:
        """Output of a command of layerscope-capture that must succeed."""
        return self.python("-m", "layerscope.capture", *words, **variables)

    def python(self, *words: str | Path, **variables: str) -> str:
        began = time.monotonic()
        process = self.start(*words, **variables)
        try:
            out = self._output(process)
        finally:
            process.kill()
        self.say(f"{words[2] if words[0] == '-m' else words[0]}: {time.monotonic() - began:.0f} s")
        assert process.returncode == errors.OK, out[-6000:]
        return out

    def _output(self, process: subprocess.Popen[str]) -> str:
        """All that it prints; meanwhile, what it starts is noted: each lives for seconds."""
        deadline = time.monotonic() + _TIMEOUT_S
        while True:
            self.watch(process.pid)
            try:
                return process.communicate(timeout=1)[0]
            except subprocess.TimeoutExpired:
                if time.monotonic() > deadline:
                    raise

    def watch(self, pid: int) -> None:
        """Notes all that runs below a process now."""
        for process in process_tree.descendants([pid], process_tree.read_table()):
            key = process.pid, process.started
            self.seen[key] = title(process.pid) or self.seen.get(key, "")  # none at its end

    def left(self) -> list[str]:
        """Titles of processes of this test that still run."""
        found = []
        for process in process_tree.read_table().values():
            with contextlib.suppress(OSError):
                text = Path(f"/proc/{process.pid}/environ").read_bytes().decode(errors="replace")
                is_ours = f"{_MARK}={self.mark}" in text.split("\0")
                was_seen = (process.pid, process.started) in self.seen
                if (is_ours or was_seen) and not process.is_zombie:
                    found.append(title(process.pid))
        return found


def title(pid: int) -> str:
    """What `ps` shows of a process; empty where it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").replace("\0", " ").strip()
    except OSError:
        return ""


def vllm_of_a_test(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Iterator[Vllm]:
    """The fixture `vllm`; at its end nothing that the test started may run."""
    if not engines.is_installed(engines.VLLM):
        pytest.fail("vLLM is not installed in the environment of its tests", pytrace=False)

    def say(text: str) -> None:
        with capsys.disabled():
            print(f"\n  {text}", end="")

    made = Vllm(tmp_path, say)
    yield made
    deadline = time.monotonic() + 10
    while made.left() and time.monotonic() < deadline:
        time.sleep(0.2)
    assert made.left() == [], "processes are left"
