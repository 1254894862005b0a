"""The servers and benchmark clients of the engines, as data: command lines, paths, variables.

Words in braces are filled in; an option whose value is None is left out together with its name.
Sources: `vllm serve --help` and `vllm bench serve --help` of 0.32; SGLang's server arguments and
bench_serving guide of 0.5; trtllm-serve and benchmark_serving of TensorRT-LLM 1.0 to 1.3.
"""

from __future__ import annotations

import itertools
import json
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layerscope.capture import engines
from layerscope.capture.errors import USAGE, CaptureError
from layerscope.capture.in_engine.settings import HookSettings
from layerscope.capture.serve_bench.bench_plan import BENCH, HOST, TRACES, BenchPlan, ProfileWindow
from layerscope.capture.vllm_profiler import VllmProfiler

_PYTHON = "{python}"


@dataclass(frozen=True)
class EngineServer:
    """What one engine's server and client are called with.

    `dummy`, `remote_code`: the words that ask for random weights and for the model's own code.
    `metrics` is the path of the Prometheus text. `config` is the option that names a YAML file of
    further settings, and `config_text` what it must hold for metrics.
    """

    engine: str
    server: tuple[str, ...]
    client: tuple[str, ...]
    tensor_parallel: str
    dummy: tuple[str, ...]
    remote_code: str
    health: str = "/health"
    metrics: str = "/metrics"
    config: tuple[str, ...] = ()  # its names; the first is used
    config_text: str = ""
    dummy_config_text: str = ""


_OPENAI_CLIENT = (
    *("--host", "{host}", "--port", "{port}", "--model", "{model}"),
    *("--dataset-name", "random", "--num-prompts", "{num_prompts}"),
    *("--random-input-len", "{input_len}", "--random-output-len", "{output_len}"),
    *("--request-rate", "{request_rate}", "--max-concurrency", "{max_concurrency}"),
    *("--seed", "{seed}", "--ignore-eos", "--disable-tqdm"),
    *("--percentile-metrics", "ttft,tpot,itl,e2el"),
    *("--save-result", "--save-detailed"),
    *("--result-dir", "{folder}", "--result-filename", BENCH),
)

SERVERS = {
    server.engine: server
    for server in (
        EngineServer(
            engine=engines.VLLM,
            server=("vllm", "serve", "{model}", "--host", "{host}", "--port", "{port}"),
            client=("vllm", "bench", "serve", *_OPENAI_CLIENT),
            tensor_parallel="--tensor-parallel-size",
            dummy=("--load-format", "dummy"),
            remote_code="--trust-remote-code",
        ),
        EngineServer(
            engine=engines.SGLANG,
            server=(
                *(_PYTHON, "-m", "sglang.launch_server", "--model-path", "{model}"),
                *("--host", "{host}", "--port", "{port}", "--enable-metrics"),
            ),
            client=(
                *(_PYTHON, "-m", "sglang.bench_serving", "--backend", "sglang"),
                *("--host", "{host}", "--port", "{port}", "--model", "{model}"),
                # "random" takes its prompts from a dataset that it downloads.
                *("--dataset-name", "random-ids", "--num-prompts", "{num_prompts}"),
                *("--random-input-len", "{input_len}", "--random-output-len", "{output_len}"),
                # The shortest length as a part of the longest; 1 makes all equal.
                *("--random-range-ratio", "1.0"),
                *("--request-rate", "{request_rate}", "--max-concurrency", "{max_concurrency}"),
                *("--seed", "{seed}", "--disable-tqdm"),
                *("--output-file", "{folder}/" + BENCH, "--output-details"),
            ),
            tensor_parallel="--tp-size",
            dummy=("--load-format", "dummy"),
            remote_code="--trust-remote-code",
        ),
        EngineServer(
            engine=engines.TENSORRT_LLM,
            server=(
                *("trtllm-serve", "serve", "{model}", "--host", "{host}", "--port", "{port}"),
                *("--backend", "pytorch"),
            ),
            client=(
                *(_PYTHON, "-m", "tensorrt_llm.serve.scripts.benchmark_serving"),
                *("--backend", "openai", *_OPENAI_CLIENT, "--random-ids"),
            ),
            tensor_parallel="--tp_size",
            dummy=(),
            remote_code="--trust_remote_code",
            metrics="/prometheus/metrics",
            config=("--extra_llm_api_options", "--config"),
            config_text="return_perf_metrics: true\n",
            dummy_config_text="load_format: dummy\n",
        ),
    )
}
CONFIG_FILE = "engine_config.yaml"


def check(plan: BenchPlan) -> None:
    """Refuses what an engine cannot do."""
    server = SERVERS[plan.engine]
    if plan.profile is not None and plan.engine == engines.TENSORRT_LLM:
        raise CaptureError(
            "trtllm-serve has no /start_profile: its profiler is set by iteration numbers",
            "leave --profile out; layerscope-capture drive --engine trtllm records with nsys",
            USAGE,
        )
    if plan.profile is not None and any(
        w.startswith("--profiler-config") for w in plan.server_args
    ):
        raise CaptureError(
            "--profile with --profiler-config behind --: it says where the traces go",
            "--profile-steps, --no-stack and --no-shapes change the window",
            USAGE,
        )
    if plan.dummy_weights and not server.dummy and _has_own_config(server, plan):
        raise CaptureError(
            f"--dummy-weights with {server.config[0]}: the file is yours",
            f"write '{server.dummy_config_text.strip()}' into it, and leave --dummy-weights out",
            USAGE,
        )


def _has_own_config(server: EngineServer, plan: BenchPlan) -> bool:
    return any(word.split("=")[0] in server.config for word in plan.server_args)


def server_words(plan: BenchPlan, folder: Path, port: int) -> list[str]:
    """The server's command line. `folder` is where the run is written."""
    server = SERVERS[plan.engine]
    words = _filled(server.server, _values(plan, folder, port))
    if plan.tensor_parallel > 1:
        words += [server.tensor_parallel, str(plan.tensor_parallel)]
    if plan.dummy_weights:
        words += server.dummy
    if plan.trust_remote_code:
        words.append(server.remote_code)
    if config_text(plan):
        words += [server.config[0], str(folder / CONFIG_FILE)]
    if config := profiler_config(plan, folder):
        words += ["--profiler-config", json.dumps(config)]
    return [*words, *plan.server_args]


def server_keywords(words: Sequence[str]) -> dict[str, str]:
    """{"max_model_len": "8192"} of --max-model-len 8192 or --max-model-len=8192; flags are ""."""
    found = {}
    for word, following in itertools.zip_longest(words, words[1:], fillvalue="--"):
        if word.startswith("--"):
            name, equals, value = word.removeprefix("--").partition("=")
            if not equals and not following.startswith("--"):
                value = following
            found[name.replace("-", "_")] = value
    return found


def config_text(plan: BenchPlan) -> str:
    """The text of CONFIG_FILE; empty where there is none, or the user gives one."""
    server = SERVERS[plan.engine]
    if not server.config or _has_own_config(server, plan):
        return ""
    return server.config_text + (server.dummy_config_text if plan.dummy_weights else "")


def client_words(plan: BenchPlan, folder: Path, port: int) -> list[str]:
    """The benchmark client's command line; it writes `folder`/bench.json."""
    server = SERVERS[plan.engine]
    words = _filled(server.client, _values(plan, folder, port))
    if plan.trust_remote_code and plan.engine != engines.SGLANG:  # its client always trusts
        words.append("--trust-remote-code")
    return [*words, *plan.client_args]


def profiler_config(plan: BenchPlan, folder: Path) -> dict[str, Any] | None:
    """vLLM's `--profiler-config`: bounded, and without the front end, which counts no steps."""
    if plan.profile is None or plan.engine != engines.VLLM:
        return None
    config = _vllm_profiler(plan.profile, folder).config()
    return config and {**config, "ignore_frontend": True, "max_iterations": plan.profile.steps}


def _profiler_variables(plan: BenchPlan, folder: Path) -> dict[str, str]:
    if plan.profile is not None and plan.engine == engines.VLLM:
        return _vllm_profiler(plan.profile, folder).environment()
    if plan.profile is not None and plan.engine == engines.SGLANG:
        return {"SGLANG_TORCH_PROFILER_DIR": str(folder / TRACES)}
    return {}


def hook_settings(plan: BenchPlan, folder: Path) -> HookSettings:
    """The hooks of the server's processes."""
    return HookSettings(plan.hooks, folder / TRACES)


def added_variables(plan: BenchPlan, folder: Path) -> dict[str, str]:
    """What the server gets beside the environment of this process."""
    hooks = hook_settings(plan, folder).environment() if plan.hooks else {}
    return {**_profiler_variables(plan, folder), **hooks}


def _vllm_profiler(window: ProfileWindow, folder: Path) -> VllmProfiler:
    return VllmProfiler(folder / TRACES, window.with_stack, window.with_shapes)


def start_profile_body(plan: BenchPlan, folder: Path) -> dict[str, Any] | None:
    """What /start_profile gets: SGLang's window; vLLM has it from its command line."""
    window = plan.profile
    if window is None or plan.engine != engines.SGLANG:
        return None
    return {
        "output_dir": str(folder / TRACES),
        "num_steps": window.steps,
        "activities": ["CPU", "GPU"],
        "with_stack": window.with_stack,
        "record_shapes": window.with_shapes,
    }


def found_program(name: str) -> str:
    """An engine's command: beside this Python, where its environment is not activated, or PATH."""
    beside = Path(sys.executable).parent / name
    return str(beside) if beside.is_file() else shutil.which(name) or name


def _values(plan: BenchPlan, folder: Path, port: int) -> dict[str, str | None]:
    load = plan.load
    rate, concurrency = load.request_rate, load.max_concurrency
    return {
        "python": sys.executable,
        "model": plan.model,
        "host": HOST,
        "port": str(port),
        "folder": str(folder),
        "num_prompts": str(load.num_prompts),
        "input_len": str(load.input_len),
        "output_len": str(load.output_len),
        "request_rate": "inf" if rate is None else f"{rate:g}",
        "max_concurrency": None if concurrency is None else str(concurrency),
        "seed": str(load.seed),
    }


def _filled(words: Sequence[str], values: Mapping[str, str | None]) -> list[str]:
    filled: list[str] = []
    for word in words:
        name = word[1:].partition("}")[0] if word.startswith("{") else None
        if name is None:
            filled.append(word)
            continue
        value = values[name]
        if value is None:
            filled.pop()  # the option's name
        else:
            filled.append(value + word.partition("}")[2])
    return filled
