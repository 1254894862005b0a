"""What a run of serve-bench is asked for."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

HOST = "127.0.0.1"
BENCH = "bench.json"
METRICS_BEFORE = "metrics_before.txt"
METRICS_AFTER = "metrics_after.txt"
SERVER_LOG = "server.log"
CLIENT_LOG = "client.log"
RECORD = "serve_bench.json"
TRACES = "traces"
SCHEMA = "layerscope/serve-bench/1"


@dataclass(frozen=True)
class Load:
    """What the benchmark client sends: random prompts of exact lengths.

    `request_rate` in requests/s, None: all at once; `max_concurrency` None: no limit.
    """

    num_prompts: int = 100
    input_len: int = 1024
    output_len: int = 128
    request_rate: float | None = None
    max_concurrency: int | None = None
    seed: int = 0


@dataclass(frozen=True)
class ProfileWindow:
    """The profile after the benchmark: a few requests at once, a few steps of the engine.

    Traces with Python stacks grow by megabytes a step, so that the window is short.
    """

    steps: int = 8
    requests: int = 4
    with_stack: bool = True
    with_shapes: bool = True


@dataclass(frozen=True)
class BenchPlan:
    """The options of one run. Times in seconds; `port` None: a free one is chosen."""

    model: str
    engine: str
    output: Path
    load: Load = Load()
    profile: ProfileWindow | None = None
    hooks: tuple[str, ...] = ()
    tensor_parallel: int = 1
    dummy_weights: bool = False
    trust_remote_code: bool = False
    port: int | None = None
    ready_timeout_s: float = 1800.0
    client_timeout_s: float | None = None
    server_args: tuple[str, ...] = ()
    client_args: tuple[str, ...] = ()
    force: bool = False
