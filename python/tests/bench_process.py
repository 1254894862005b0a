"""A run of serve-bench in a process of its own, among stand-ins of the engines.

Whether a process is left is asked of /proc by a variable that every process of a test inherits,
apart from how the package itself looks for them.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
import uuid
from pathlib import Path

import fake_engine

import layerscope

_MARK = "SERVE_BENCH_TEST"
# The 20 s that real engines get to end, and the 10 s for a trace to appear, are one second here.
_PROGRAM = (
    "import signal, sys\n"
    # A test run in the background may have these ignored.
    "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    "signal.signal(signal.SIGHUP, signal.SIG_DFL)\n"
    "from layerscope.capture import cli, processes\n"
    "from layerscope.capture.serve_bench import profile_window\n"
    "processes._TERM_GRACE_S = profile_window._NOTHING_S = 1.0\n"
    "sys.exit(cli.main(sys.argv[1:]))\n"
)
_SHORT = ("--num-prompts", "4", "--input-len", "16", "--output-len", "3")


class Bench:
    """Runs serve-bench in a process of its own, among stand-ins."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.output = folder / "work" / "out"
        self.output.parent.mkdir()
        (folder / "model").mkdir()
        config = {"model_type": "qwen3", "num_hidden_layers": 2, "max_position_embeddings": 64}
        (folder / "model" / "config.json").write_text(json.dumps(config))
        # A header without tensors: servers are not started without weights.
        weights = (2).to_bytes(8, "little") + b"{}"
        (folder / "model" / "model.safetensors").write_bytes(weights)
        self.mark = uuid.uuid4().hex
        fakes = fake_engine.install(folder)
        source = str(Path(layerscope.__file__).parents[1])
        fakes["PYTHONPATH"] += os.pathsep + source
        self.env = {**os.environ, **fakes, _MARK: self.mark, "PYTHONDONTWRITEBYTECODE": "1"}
        # What a login has; requests to this machine must not go there.
        self.env["http_proxy"] = self.env["HTTP_PROXY"] = "http://127.0.0.1:9"

    def start(self, *words: str, faults: str = "") -> subprocess.Popen[str]:
        command = [sys.executable, "-c", _PROGRAM, "serve-bench"]
        command += [str(self.folder / "model"), "-o", str(self.output), *_SHORT, *words]
        return subprocess.Popen(
            command,
            env={**self.env, fake_engine.FAULTS: faults},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def run(self, *words: str, faults: str = "") -> tuple[int, str, str]:
        process = self.start(*words, faults=faults)
        out, err = process.communicate(timeout=60)
        return process.returncode, out, err

    def left(self) -> list[str]:
        """Command lines of processes of this test that still run."""
        return list(self._left().values())

    def kill_left(self) -> None:
        """So that a test that fails leaves none to later ones."""
        for pid in self._left():
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)

    def _left(self) -> dict[int, str]:
        found = {}
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError, ValueError):
                if entry.name.isdigit() and f"{_MARK}={self.mark}" in (
                    entry / "environ"
                ).read_bytes().decode(errors="replace").split("\0"):
                    words = (entry / "cmdline").read_text().replace("\0", " ")
                    found[int(entry.name)] = words
        return found

    def state(self, name: str) -> str:
        """What a stand-in told; waits for it."""
        file = self.folder / "state" / name
        deadline = time.monotonic() + 30
        while not (file.is_file() and file.read_text()):
            assert time.monotonic() < deadline, name
            time.sleep(0.05)
        return file.read_text()

    def work(self) -> set[str]:
        """Everything in the folder in which the output would lie."""
        return {file.name for file in self.output.parent.iterdir()}
