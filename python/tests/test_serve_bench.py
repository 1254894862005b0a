"""serve-bench against stand-ins of the engines: its whole life, and that nothing outlives it.

Whether a process is left is asked of /proc by a variable that every process of a test inherits,
apart from how the package itself looks for them.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path

import fake_engine
import pytest
from conftest import Engine

import layerscope
from layerscope.capture import errors
from layerscope.capture.serve_bench import profile_window

_MARK = "SERVE_BENCH_TEST"
_SHARED = Path(__file__).parents[3] / "shared" / "traces" / "cpu"
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


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    if not Path("/proc/self/environ").exists():
        pytest.skip("no /proc here")
    made = Bench(tmp_path)
    yield made
    deadline = time.monotonic() + 5
    while made.left() and time.monotonic() < deadline:
        time.sleep(0.1)
    left = made.left()
    made.kill_left()
    assert left == [], "processes are left"


@pytest.fixture
def recorded(not_run_here: Callable[[str], None]) -> Path:
    if not _SHARED.is_dir():
        not_run_here("recorded vLLM files: ../shared/traces is absent")
        pytest.skip("../shared/traces is absent")
    return _SHARED


@pytest.mark.parametrize("engine", ["vllm", "sglang", "trtllm"])
def test_a_run_leaves_one_folder_and_no_process(
    engine: str, bench: Bench, not_run_here: Callable[[str], None]
) -> None:
    if engine != "vllm":
        not_run_here(f"serve-bench: not run with the real {engine}, but with its command lines")
    code, out, err = bench.run("--engine", engine)
    assert code == errors.OK, err
    assert bench.work() == {"out"}
    names = {file.name for file in bench.output.iterdir()}
    expected = {
        "bench.json",
        "metrics_before.txt",
        "metrics_after.txt",
        "server.log",
        "client.log",
        "config.json",
        "serve_bench.json",
    }
    assert names == expected | ({"engine_config.yaml"} if engine == "trtllm" else set())
    record = json.loads((bench.output / "serve_bench.json").read_text())
    assert record["schema"] == "layerscope/serve-bench/1"
    assert record["requests"] == {"completed": 4, "failed": 0}
    assert record["load"]["input_len"] == 16
    assert str(bench.output) in " ".join(record["client"]["command"])
    # 4 requests of 16 tokens came between.
    assert (bench.output / "metrics_before.txt").read_text().split()[-1] == "0"
    assert (bench.output / "metrics_after.txt").read_text().split()[-1] == "64"
    assert "layerscope workload" in out


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_a_profile_leaves_its_traces_in_a_folder_of_their_own(engine: str, bench: Bench) -> None:
    code, _, err = bench.run("--engine", engine, "--profile", "--profile-requests", "2")
    assert code == errors.OK, err
    traces = [file.name for file in (bench.output / "traces").iterdir()]
    traces.remove("config.json")
    assert len(traces) == 1 and traces[0].endswith(".trace.json.gz")
    record = json.loads((bench.output / "serve_bench.json").read_text())
    assert record["profile"]["files"] == [f"traces/{traces[0]}"]
    # Requests of the profile come after the metrics were taken.
    assert (bench.output / "metrics_after.txt").read_text().split()[-1] == "64"


def test_what_stands_behind_the_dashes_goes_to_the_server(bench: Bench) -> None:
    code, _, err = bench.run(
        *("--engine", "vllm", "--client-arg=--temperature", "--client-arg=0.5"),
        *("--", "--enforce-eager"),
    )
    assert code == errors.OK, err
    record = json.loads((bench.output / "serve_bench.json").read_text())
    assert record["server"]["command"][-1] == "--enforce-eager"
    assert record["client"]["command"][-2:] == ["--temperature", "0.5"]


def test_an_option_that_the_server_does_not_have_shows_what_it_said(bench: Bench) -> None:
    code, _, err = bench.run("--engine", "vllm", "--", "--no-such-thing")
    assert code == errors.FAILED
    assert "unrecognized arguments: --no-such-thing" in err
    assert "does this version have that option" in err


def test_a_server_without_metrics_is_still_benchmarked(bench: Bench) -> None:
    code, out, err = bench.run("--engine", "vllm", faults="no_metrics")
    assert code == errors.OK, err
    assert "no metrics" in out and "--prometheus-before" not in out
    assert not (bench.output / "metrics_after.txt").exists()
    assert json.loads((bench.output / "serve_bench.json").read_text())["metrics"] is None


def test_hooks_are_asked_for_in_the_server_and_judged(bench: Bench) -> None:
    code, out, err = bench.run("--engine", "vllm", "--hooks", "nvtx", faults="hooked")
    assert code == errors.OK, err
    assert "rank 0: 7 modules of Qwen3 (nvtx)" in out
    assert [file.suffix for file in (bench.output / "traces").iterdir()] == [".report"]
    record = json.loads((bench.output / "serve_bench.json").read_text())
    assert record["hooks"] == ["nvtx"]
    assert record["server"]["environment"]["LAYERSCOPE_HOOKS_DIR"] == str(bench.output / "traces")


def test_a_plan_of_patches_goes_into_the_server_of_every_engine(bench: Bench) -> None:
    """Only vLLM has a plugin that would apply it anyway."""
    plan = bench.folder / "layerscope_patch.json"
    plan.write_text('{"schema": "layerscope_patch/1", "num_layers": 2, "keep_layers": [0]}')
    bench.env["LAYERSCOPE_PATCH"] = str(plan)
    code, _, err = bench.run("--engine", "sglang")
    assert code == errors.OK, err
    record = json.loads((bench.output / "serve_bench.json").read_text())
    assert record["hooks"] == []
    assert record["server"]["environment"]["LAYERSCOPE_HOOKS"] == ""
    started = json.loads(bench.state("environment"))
    assert "bootstrap" in started["PYTHONPATH"].split(os.pathsep)[0]


@pytest.mark.parametrize(
    ("fault", "said"),
    [("", "no process of the command loaded a model"), ("compiled", "the model is compiled")],
)
def test_hooks_that_capture_nothing_end_the_run_before_the_benchmark(
    fault: str, said: str, bench: Bench
) -> None:
    code, out, err = bench.run("--engine", "vllm", "--hooks", "nvtx", faults=fault)
    assert code == errors.FAILED
    assert said in err
    assert "sending" not in out
    assert bench.work() == {"out.server.log"}


# What goes wrong; what is said; which logs are kept.
_FAILURES = [
    ("never_healthy", ("--ready-timeout", "2"), "not healthy within 2 s", {"server"}),
    ("dies_loading", (), "ended with 3 before it was healthy", {"server"}),
    ("dies_serving", (), "the server was killed by signal 9", {"server", "client"}),
    ("client_fails", (), "ValueError: no tokenizer", {"server", "client"}),
    ("client_hangs", ("--client-timeout", "1"), "not done after 1 s", {"server", "client"}),
    ("requests_fail", (), "no request came back", {"server", "client"}),
    ("no_trace", ("--profile",), "wrote no trace", {"server", "client"}),
]


@pytest.mark.parametrize(("fault", "words", "said", "logs"), _FAILURES, ids=lambda v: str(v)[:16])
def test_a_failure_says_why_and_leaves_the_logs_alone(
    fault: str, words: tuple[str, ...], said: str, logs: set[str], bench: Bench
) -> None:
    """With children that make sessions of their own, and daemons."""
    code, _, err = bench.run("--engine", "vllm", *words, faults=f"{fault},own_session,daemon")
    assert code == errors.FAILED, err
    assert said in err
    assert bench.left() == []
    assert bench.work() == {f"out.{log}.log" for log in logs}
    assert "loading" in (bench.output.parent / "out.server.log").read_text()
    assert "Traceback" not in err


def test_a_success_takes_the_logs_of_an_earlier_failure_away(bench: Bench) -> None:
    assert bench.run("--engine", "vllm", faults="dies_loading")[0] == errors.FAILED
    assert bench.run("--engine", "vllm")[0] == errors.OK
    assert bench.work() == {"out"}


# When an interrupt comes: what hangs, how it is known, and the logs that are there by then.
_PHASES = {
    "loading": ("never_healthy", "server.pid", {"out.server.log"}),
    "benchmark": ("client_hangs", "client.pid", {"out.server.log", "out.client.log"}),
    "profile": ("profile_hangs", "hangs", {"out.server.log", "out.client.log"}),
}


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("phase", _PHASES)
def test_interrupts_end_everything_and_leave_the_logs(
    sent: signal.Signals, phase: str, bench: Bench
) -> None:
    fault, state, logs = _PHASES[phase]
    words = ["--profile"] if phase == "profile" else []
    process = bench.start("--engine", "vllm", *words, faults=f"{fault},own_session,daemon")
    bench.state(state)
    assert len(bench.left()) >= 4  # the command, the server, and its children
    process.send_signal(sent)
    _, err = process.communicate(timeout=30)
    assert process.returncode == errors.INTERRUPTED
    assert "interrupted" in err and "Traceback" not in err
    assert bench.left() == []
    assert bench.work() == logs
    assert all(str(bench.output.parent / log) in err for log in logs)


def test_processes_that_ignore_every_signal_are_killed(bench: Bench) -> None:
    began = time.monotonic()
    code, _, err = bench.run("--engine", "vllm", faults="stubborn,own_session,daemon")
    assert code == errors.OK, err
    assert bench.left() == []
    assert time.monotonic() - began < 30


def test_a_second_interrupt_does_not_leave_what_the_first_was_ending(bench: Bench) -> None:
    process = bench.start("--engine", "vllm", faults="client_hangs,stubborn,own_session,daemon")
    bench.state("client.pid")
    process.send_signal(signal.SIGINT)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=30)
    assert process.returncode == errors.INTERRUPTED
    assert bench.left() == []
    assert bench.work() <= {"out.server.log", "out.client.log"}


def test_a_server_that_is_killed_midway_takes_everything_with_it(bench: Bench) -> None:
    process = bench.start("--engine", "vllm", faults="client_hangs,own_session,daemon")
    bench.state("client.pid")
    os.kill(int(bench.state("server.pid")), signal.SIGKILL)
    _, err = process.communicate(timeout=30)
    assert process.returncode == errors.FAILED
    assert "killed by signal 9 while the benchmark ran" in err
    assert bench.left() == []


def test_a_port_that_was_taken_meanwhile_is_chosen_anew(bench: Bench) -> None:
    code, out, err = bench.run("--engine", "vllm", faults="port_taken_once")
    assert code == errors.OK, err
    assert f"port {bench.state('taken')} was taken meanwhile" in out


def test_another_server_that_answers_in_its_place_is_not_benchmarked(bench: Bench) -> None:
    """SGLang binds its port after minutes of loading; whoever has it by then would be measured."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    process = bench.start("--engine", "vllm", "--port", str(port), faults="late_port")
    assert bench.state("port") == str(port)
    serve = "import http.server as h, sys\n"
    serve += "class H(h.SimpleHTTPRequestHandler):\n    def do_GET(s): s.send_response(200); "
    serve += "s.end_headers()\n"
    serve += "h.HTTPServer(('127.0.0.1', int(sys.argv[1])), H).serve_forever()\n"
    other = subprocess.Popen([sys.executable, "-c", serve, str(port)], stderr=subprocess.DEVNULL)
    try:
        _, err = process.communicate(timeout=30)
    finally:
        other.kill()
        other.wait()
    assert process.returncode == errors.FAILED
    assert f"another process took port {port}" in err


def test_a_port_of_the_users_that_is_taken_is_refused_at_once(bench: Bench) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        code, _, err = bench.run("--engine", "vllm", "--port", str(port))
    assert code == errors.USAGE
    assert f"port {port} is taken" in err
    assert bench.work() == set()


def test_a_load_that_the_model_does_not_take_starts_no_server(bench: Bench) -> None:
    """The model takes 64 tokens by its config, fewer by the server's own option."""
    code, _, err = bench.run("--engine", "vllm", "--input-len", "62")
    assert (code, bench.work()) == (errors.USAGE, set())
    assert "65 tokens" in err and "takes 64" in err
    code, _, err = bench.run("--engine", "vllm", "--", "--max-model-len", "18")
    assert code == errors.USAGE
    assert "max_model_len is 18" in err


def test_a_folder_with_files_is_not_replaced(bench: Bench) -> None:
    bench.output.mkdir()
    (bench.output / "mine").write_text("mine")
    code, _, err = bench.run("--engine", "vllm")
    assert code == errors.FAILED
    assert "has files already" in err
    assert [file.name for file in bench.output.iterdir()] == ["mine"]


def test_the_engine_reads_a_folder_of_recorded_files(
    bench: Bench, recorded: Path, tmp_path: Path, layerscope_bin: Engine
) -> None:
    """What a real vLLM 0.32 wrote, through the stand-ins: 20 requests, 641 input tokens."""
    bench.env |= {
        fake_engine.BENCH: str(recorded / "vllm_bench_random20.json"),
        fake_engine.METRICS: str(recorded / "vllm_metrics.txt"),
        fake_engine.TRACE: str(recorded / "vllm_qwen3_tiny_serve_nostack.json.gz"),
    }
    code, out, err = bench.run("--engine", "vllm", "--profile", "--no-stack")
    assert code == errors.OK, err
    read = [line.split() for line in out.splitlines() if line.startswith("  layerscope ")]
    assert [words[1] for words in read] == ["workload", "map", "requests"]
    documents = {}
    for words in read:
        file = tmp_path / f"{words[1]}.json"
        layerscope_bin.run([*words[1:], "-o", file])
        documents[words[1]] = json.loads(file.read_text())
    workload = documents["workload"]
    assert workload["summary"]["completed"] == len(workload["requests"]) == 20
    assert sum(row["input_tokens"] for row in workload["requests"]) == 641
    assert {source["kind"] for source in workload["sources"]} >= {"vllm_bench", "prometheus"}
    assert len(documents["requests"]["requests"]) == 1
    total = documents["map"]["stats"]["total_gpu_ns"]
    assert documents["requests"]["requests"][0]["gpu_ns"] == total > 0


def test_an_answer_that_is_late_is_not_waited_for_and_errors_are_not_hidden() -> None:
    """On Python 3.10 the time-out of a future is not the built-in TimeoutError, which is an error
    of the call itself."""
    future: Future[None] = Future()
    profile_window._wait_for(future, 0.01)
    future.set_exception(TimeoutError("of the call"))
    with pytest.raises(TimeoutError, match="of the call"):
        profile_window._wait_for(future, 0.01)
