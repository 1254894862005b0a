"""What goes wrong around serve-bench: it is said, the logs are kept, and nothing outlives it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time

import fake_engine
import pytest
from bench_process import Bench

from layerscope.capture import errors

_SERVER, _BOTH = {"out.server.log"}, {"out.server.log", "out.client.log"}
_ALL = {*_BOTH, "out.bench.json"}

# What goes wrong; what is said; what is kept.
_FAILURES = [
    ("never_healthy", ("--ready-timeout", "2"), "not healthy within 2 s", _SERVER),
    ("drips", ("--ready-timeout", "2"), "not healthy within 2 s", _SERVER),
    ("dies_loading", (), "ended with 3 before it was healthy", _SERVER),
    ("dies_serving", (), "the server was killed by signal 9", _BOTH),
    ("client_fails", (), "ValueError: no tokenizer", _BOTH),
    ("client_hangs", ("--client-timeout", "1"), "not done after 1 s", _BOTH),
    ("requests_fail", (), "no request came back", _ALL),
    ("no_trace", ("--profile",), "wrote no trace", _ALL),
]


@pytest.mark.parametrize(("fault", "words", "said", "kept"), _FAILURES, ids=lambda v: str(v)[:16])
def test_a_failure_says_why_and_leaves_the_logs_alone(
    fault: str, words: tuple[str, ...], said: str, kept: set[str], bench: Bench
) -> None:
    """With children that make sessions of their own, and daemons."""
    code, _, err = bench.run("--engine", "vllm", *words, faults=f"{fault},own_session,daemon")
    assert code == errors.FAILED, err
    assert said in err
    assert bench.left() == []
    # A client whose requests fail may write its result before it is ended.
    assert kept <= bench.work() <= {*kept, "out.bench.json"}
    assert "loading" in (bench.output.parent / "out.server.log").read_text()
    assert "Traceback" not in err


@pytest.mark.parametrize(
    ("result", "said"),
    [
        ("[" * 100_000, "no result that can be read"),
        ("\xff", "no result that can be read"),
        ("", "no result that can be read"),
        ("[]", "it has no number of completed requests"),
        ('{"completed": 1e400}', "completed is inf"),
        ('{"completed": true}', "completed is True"),
        ('{"completed": -3}', "completed is -3"),
        ('{"completed": 4, "failed": "x"}', "failed is 'x'"),
        ('{"completed": 4, "failed": 1, "num_prompts": 4}', "it counts 5 of 4 requests"),
        ('{"completed": %s}' % ("9" * 4000), "completed is 99"),
        ('{"completed": %s}' % ("9" * 5000), "a number has thousands of digits"),
    ],
    ids=lambda v: str(v)[:20],
)
def test_a_result_that_cannot_be_is_an_error_and_is_kept(
    result: str, said: str, bench: Bench
) -> None:
    file = bench.folder / "result"
    file.write_bytes(result.encode("latin-1"))
    bench.env[fake_engine.BENCH] = str(file)
    code, _, err = bench.run("--engine", "vllm")
    assert (code, bench.work()) == (errors.FAILED, _ALL), err
    assert said in err and "Traceback" not in err
    assert (bench.output.parent / "out.bench.json").read_bytes() == file.read_bytes()


def test_a_success_takes_the_logs_of_an_earlier_failure_away(bench: Bench) -> None:
    assert bench.run("--engine", "vllm", faults="dies_loading")[0] == errors.FAILED
    assert bench.run("--engine", "vllm")[0] == errors.OK
    assert bench.work() == {"out"}


# When an interrupt comes: what hangs, how it is known, and what there is by then.
_PHASES = {
    "loading": ("never_healthy", "server.pid", _SERVER),
    "benchmark": ("client_hangs", "client.pid", _BOTH),
    "profile": ("profile_hangs", "hangs", _ALL),
}


@pytest.mark.parametrize("sent", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("phase", _PHASES)
def test_interrupts_end_everything_and_leave_the_logs(
    sent: signal.Signals, phase: str, bench: Bench
) -> None:
    fault, state, kept = _PHASES[phase]
    words = ["--profile"] if phase == "profile" else []
    process = bench.start("--engine", "vllm", *words, faults=f"{fault},own_session,daemon")
    bench.state(state)
    assert len(bench.left()) >= 4  # the command, the server, and its children
    process.send_signal(sent)
    _, err = process.communicate(timeout=30)
    assert process.returncode == errors.INTERRUPTED
    assert "interrupted" in err and "Traceback" not in err
    assert bench.left() == []
    assert bench.work() == kept
    assert all(str(bench.output.parent / name) in err for name in kept)


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
    assert bench.work() <= _BOTH


@pytest.mark.parametrize("after_s", [0.0, 2.5])
def test_kill_9_leaves_no_process(after_s: float, bench: Bench) -> None:
    """Nor a daemon, which nothing leads to: before the guard's first look, and between two."""
    process = bench.start("--engine", "vllm", faults="client_hangs,own_session,daemon")
    bench.state("client.pid")
    time.sleep(after_s)
    assert bench.left().count("sleep 600 ") == 3  # in the group, in a session, a daemon
    process.kill()
    process.communicate(timeout=30)
    deadline = time.monotonic() + 45  # 20 s of them for the child that ignores SIGINT
    while bench.left() and time.monotonic() < deadline:
        time.sleep(0.2)
    assert bench.left() == []


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
