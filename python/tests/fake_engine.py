"""Stand-ins for the servers and benchmark clients of vLLM, SGLang and TensorRT-LLM.

`install` writes commands and packages with the engines' names, as the engines have them, that run
this file: `python fake_engine.py server|client ENGINE WORDS…`. They take the documented options and
refuse others. FAKE_ENGINE names what goes wrong, with commas:

  never_healthy      /health answers 503 for ever
  drips              /health answers 200 and a byte now and then, for ever
  dies_loading       the server ends with 3 while it loads
  dies_serving       the server ends by SIGKILL at its third request
  engine_dies        the client's requests fail, and the server ends with 0 behind much talk
  port_taken_once    the first server finds its port taken
  late_port          another process takes the port and answers for the server, which lives on
  client_fails       the client ends with 5 after two requests
  client_hangs       the client never ends
  requests_fail      the client's requests fail, and it ends with 0, as vLLM's does
  no_metrics         404 for metrics
  profile_hangs      the server never answers a request while it is profiled
  no_trace           the profiler writes nothing
  stubborn           the server and a child of it ignore SIGINT and SIGTERM
  own_session        a child of the server makes a session of its own, and ignores SIGINT
  hooked             a worker reports hooks, as LAYERSCOPE_HOOKS asks; compiled: that they fire not
  daemon             the server starts a daemon: two forks and a session between
"""

from __future__ import annotations

import argparse
import contextlib
import gzip
import json
import os
import signal
import stat
import subprocess
import sys
import threading
import time
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from layerscope.capture.hooks.hook_report import HookReport

FAULTS = "FAKE_ENGINE"
TRACE = "FAKE_ENGINE_TRACE"  # a recorded trace that the profiler "writes"
BENCH = "FAKE_ENGINE_BENCH"  # a recorded result that the client "writes"
METRICS = "FAKE_ENGINE_METRICS"  # recorded metrics that the server answers after the benchmark
STATE = "FAKE_ENGINE_STATE"  # a folder for what one process tells the next

_MODULES = {
    "vllm/__init__.py": "",
    "sglang/__init__.py": "",
    "sglang/launch_server.py": "server sglang",
    "sglang/bench_serving.py": "client sglang",
    "tensorrt_llm/__init__.py": "",
    "tensorrt_llm/serve/__init__.py": "",
    "tensorrt_llm/serve/scripts/__init__.py": "",
    "tensorrt_llm/serve/scripts/benchmark_serving.py": "client trtllm",
}


def install(folder: Path) -> dict[str, str]:
    """The engines' packages and commands in `folder`; the variables with which they are found."""
    here = Path(__file__).resolve()
    for name, role in _MODULES.items():
        file = folder / "packages" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        text = f"import runpy, sys\nsys.argv[1:1] = {role.split()}\n"
        text += f"runpy.run_path({str(here)!r}, run_name='__main__')\n"
        file.write_text(text if role else "")
    for name in ("vllm", "trtllm-serve"):
        file = folder / "bin" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'#!/bin/sh\nexec {sys.executable} {here} {name} "$@"\n')
        file.chmod(file.stat().st_mode | stat.S_IXUSR)
    (folder / "state").mkdir()
    return {
        "PATH": f"{folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(folder / "packages"),
        STATE: str(folder / "state"),
    }


def _has(fault: str) -> bool:
    return fault in os.environ.get(FAULTS, "").split(",")


def _state(name: str) -> Path:
    return Path(os.environ[STATE]) / name


# --- the server ---------------------------------------------------------------------------------


def _server_options(engine: str, words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=engine)
    if engine == "sglang":
        parser.add_argument("--model-path", dest="model", required=True)
        parser.add_argument("--enable-metrics", action="store_true")
        parser.add_argument("--tp-size", type=int)
    else:
        parser.add_argument("model")
    if engine == "trtllm":
        parser.add_argument("--backend", choices=["pytorch"])
        parser.add_argument("--extra_llm_api_options", type=Path)
        parser.add_argument("--tp_size", type=int)
    if engine == "vllm":
        parser.add_argument("--profiler-config", type=json.loads)
        parser.add_argument("--enforce-eager", action="store_true")
        parser.add_argument("--tensor-parallel-size", type=int)
    parser.add_argument("--load-format", choices=["dummy"])
    parser.add_argument("--host", required=True)
    parser.add_argument("--port", type=int, required=True)
    return parser.parse_args(words)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, engine: str, options: argparse.Namespace) -> None:
        super().__init__((options.host, options.port), _Handler)
        self.engine = engine
        self.options = options
        self.requests = 0
        self.window: Path | None = None  # where a running profile goes

    def has_metrics(self) -> bool:
        if _has("no_metrics"):
            return False
        if self.engine == "sglang":
            return bool(self.options.enable_metrics)
        if self.engine == "trtllm":
            config = self.options.extra_llm_api_options
            return config is not None and "return_perf_metrics: true" in config.read_text()
        return True

    def metrics(self) -> bytes:
        recorded = os.environ.get(METRICS)
        if recorded and self.requests:
            return Path(recorded).read_bytes()
        name = {"vllm": "vllm:", "sglang": "sglang:", "trtllm": "trtllm_"}[self.engine]
        name += "prompt_tokens_total"
        return f"# TYPE {name} counter\n{name} {self.requests * 16}\n".encode()


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, *_: Any) -> None:
        pass

    def _answer(self, code: int, body: bytes = b"") -> None:
        self.send_response(code)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _drip(self) -> None:
        self.send_response(200)
        self.end_headers()
        with contextlib.suppress(OSError):
            while True:
                self.wfile.write(b"x")
                time.sleep(0.2)

    def do_GET(self) -> None:
        metrics = "/prometheus/metrics" if self.server.engine == "trtllm" else "/metrics"
        if self.path == "/health" and _has("drips"):
            self._drip()
        elif self.path == "/health":
            self._answer(503 if _has("never_healthy") else 200)
        elif self.path == metrics and self.server.has_metrics():
            self._answer(200, self.server.metrics())
        elif self.path == "/v1/models":
            self._answer(200, json.dumps({"data": [{"id": "served-name"}]}).encode())
        else:
            self._answer(404, b"Not Found")

    def do_POST(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        body = json.loads(self.rfile.read(length) or b"{}")
        if self.path == "/v1/completions":
            self._complete(body)
        elif self.path == "/start_profile":
            self._start_profile(body)
        elif self.path == "/stop_profile":
            self._stop_profile()
        else:
            self._answer(404, b"Not Found")

    def _complete(self, body: dict[str, Any]) -> None:
        self.server.requests += 1
        if _has("dies_serving") and self.server.requests == 3:
            os.kill(os.getpid(), signal.SIGKILL)
        if body["model"] not in ("served-name", self.server.options.model):
            self._answer(404, b"no such model")
        elif _has("profile_hangs") and self.server.window is not None:
            _state("hangs").write_text("yes")
            threading.Event().wait()
        elif _has("engine_dies"):
            self._answer(500, b"the engine is dead")
            if self.server.requests == 1:
                threading.Thread(target=_end_without_engine).start()
        elif _has("requests_fail"):
            self._answer(400, b"prompt is too long")
        else:
            self._answer(200, json.dumps({"choices": [{"text": "w5"}]}).encode())

    def _start_profile(self, body: dict[str, Any]) -> None:
        if self.server.engine == "sglang":
            assert body["num_steps"] > 0 and body["activities"] == ["CPU", "GPU"]
            self.server.window = Path(body["output_dir"])
        else:
            config = self.server.options.profiler_config
            assert config["profiler"] == "torch" and config["max_iterations"] > 0
            self.server.window = Path(config["torch_profiler_dir"])
        self._answer(200)

    def _stop_profile(self) -> None:
        window, self.server.window = self.server.window, None
        if window is None:
            self._answer(500, b"no profile is running")
            return
        sglang = self.server.engine == "sglang"
        name = "170-TP-0.trace.json.gz" if sglang else "rank0.170.pt.trace.json.gz"
        if not _has("no_trace"):
            recorded = os.environ.get(TRACE)
            data = Path(recorded).read_bytes() if recorded else gzip.compress(b'{"traceEvents":[]}')
            (window / name).write_bytes(data)
        self._answer(200)


def _end_without_engine() -> None:
    """As vLLM's server ends whose engine died: its cause stands above twenty lines of the end."""
    print("(APIServer) WARNING OSError: too few open files are allowed", flush=True)
    print("(Worker) ERROR IndexError: index out of range in self", flush=True)
    print("(APIServer) ERROR EngineDeadError: EngineCore encountered an issue", flush=True)
    time.sleep(0.5)
    for step in range(30):
        print(f"INFO [shutdown] step {step}", flush=True)
    os._exit(0)


def _start_children() -> None:
    """The kinds of children that engines have: of the group, of other sessions, daemons."""
    if _has("stubborn"):
        subprocess.Popen(["sh", "-c", "trap '' INT TERM; exec sleep 600"])
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    else:
        subprocess.Popen(["sleep", "600"])
    if _has("own_session"):
        deaf = ["sh", "-c", "trap '' INT; exec sleep 600"]
        subprocess.Popen(deaf, start_new_session=True)
    if _has("daemon"):
        subprocess.Popen(["sh", "-c", "sleep 600 &"], start_new_session=True).wait()


def _report_hooks(engine: str) -> None:
    report = HookReport(engine, os.environ["LAYERSCOPE_HOOKS"], 0, modules=7, models=["Qwen3"])
    if _has("compiled"):
        report.capture, report.reason = False, "this is no capture: the model is compiled"
    report.write(Path(os.environ["LAYERSCOPE_HOOKS_DIR"]))


def _serve(engine: str, words: list[str]) -> None:
    options = _server_options(engine, words)
    print(f"{engine}: loading {options.model}", flush=True)
    _start_children()
    if _has("dies_loading"):
        print("RuntimeError: no such weights", flush=True)
        sys.exit(3)
    if _has("port_taken_once") and not _state("taken").exists():
        _state("taken").write_text(str(options.port))
        print("OSError: [Errno 98] Address already in use", flush=True)
        sys.exit(1)
    if _has("late_port"):
        _state("port").write_text(str(options.port))
        time.sleep(60)
    if _has("hooked") or _has("compiled"):
        _report_hooks(engine)
    server = _Server(engine, options)
    _state("server.pid").write_text(str(os.getpid()))
    _state("environment").write_text(json.dumps(dict(os.environ)))
    server.serve_forever()


# --- the client ---------------------------------------------------------------------------------


def _client_options(engine: str, words: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog=f"{engine} client")
    names = ["num-prompts", "random-input-len", "random-output-len", "port", "seed"]
    for name in names:
        parser.add_argument(f"--{name}", type=int, required=True)
    for name in ("host", "model", "dataset-name", "request-rate"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--max-concurrency", type=int)
    parser.add_argument("--disable-tqdm", action="store_true")
    if engine == "sglang":
        parser.add_argument("--backend", choices=["sglang"], required=True)
        parser.add_argument("--random-range-ratio", type=float, required=True)
        parser.add_argument("--output-file", type=Path, required=True)
        parser.add_argument("--output-details", action="store_true")
        return parser.parse_args(words)
    for name in ("ignore-eos", "save-result", "save-detailed"):
        parser.add_argument(f"--{name}", action="store_true")
    parser.add_argument("--percentile-metrics")
    parser.add_argument("--result-dir", type=Path, required=True)
    parser.add_argument("--result-filename", required=True)
    if engine == "trtllm":
        parser.add_argument("--backend", choices=["openai"])
        parser.add_argument("--random-ids", action="store_true")
    else:
        parser.add_argument("--temperature")
    options = parser.parse_args(words)
    assert options.save_result and options.save_detailed
    options.output_file = options.result_dir / options.result_filename
    return options


def _send(options: argparse.Namespace) -> tuple[float, str]:
    """(seconds, error)."""
    url = f"http://{options.host}:{options.port}/v1/completions"
    body = json.dumps({"model": options.model, "prompt": "w5"}).encode()
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    began = time.perf_counter()
    try:
        opener.open(urllib.request.Request(url, body, method="POST"), timeout=30).read()
    except OSError as error:
        return time.perf_counter() - began, str(error)
    return time.perf_counter() - began, ""


def _bench(engine: str, words: list[str]) -> None:
    options = _client_options(engine, words)
    print(f"{engine}: {options.num_prompts} prompts", flush=True)
    times, failures = [], []
    for _ in range(options.num_prompts):
        seconds, error = _send(options)
        times.append(seconds)
        failures.append(error)
        if _has("client_fails") and len(times) == 2:
            sys.exit("ValueError: no tokenizer")
        if _has("client_hangs"):
            _state("client.pid").write_text(str(os.getpid()))
            threading.Event().wait()
    recorded = os.environ.get(BENCH)
    if recorded:
        options.output_file.write_bytes(Path(recorded).read_bytes())
        return
    n = len(times)
    document = {
        "backend": engine,
        "model_id": options.model,
        "num_prompts": n,
        "request_rate": options.request_rate,
        "max_concurrency": options.max_concurrency,
        "duration": sum(times),
        "completed": failures.count(""),
        "total_input_tokens": n * options.random_input_len,
        "total_output_tokens": n * options.random_output_len,
        "input_lens": [options.random_input_len] * n,
        "output_lens": [options.random_output_len] * n,
        "ttfts": times,
        "itls": [[0.001] * (options.random_output_len - 1)] * n,
        "generated_texts": [""] * n,
        "errors": failures,
    }
    with options.output_file.open("a") as file:
        file.write(json.dumps(document) + ("\n" if engine == "sglang" else ""))


def main(words: list[str]) -> None:
    """`vllm serve …`, `vllm bench serve …`, `trtllm-serve serve …`, `server|client ENGINE …`."""
    if words[:2] == ["vllm", "serve"]:
        _serve("vllm", words[2:])
    elif words[:3] == ["vllm", "bench", "serve"]:
        _bench("vllm", words[3:])
    elif words[:2] == ["trtllm-serve", "serve"]:
        _serve("trtllm", words[2:])
    elif words[0] == "server":
        _serve(words[1], words[2:])
    elif words[0] == "client":
        _bench(words[1], words[2:])
    else:
        sys.exit(f"no such command: {words}")


if __name__ == "__main__":
    main(sys.argv[1:])
