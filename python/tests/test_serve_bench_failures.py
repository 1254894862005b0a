"""What goes wrong around serve-bench: it is said, the logs are kept, and nothing outlives it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time

import pytest
from bench_process import Bench

from layerscope.capture import errors

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
