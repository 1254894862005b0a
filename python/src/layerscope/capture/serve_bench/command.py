"""`layerscope-capture serve-bench`: options and dry run."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from layerscope.capture import engines, errors
from layerscope.capture.command import Command
from layerscope.capture.errors import CaptureError
from layerscope.capture.in_engine.settings import BACKENDS, backend_names
from layerscope.capture.model_options import add_shared_options, not_negative, positive
from layerscope.capture.output import require_place
from layerscope.capture.patches.model_of_plan import plan_lines
from layerscope.capture.patches.plan import files_read
from layerscope.capture.serve_bench.bench_description import described, reading_hint
from layerscope.capture.serve_bench.bench_plan import BenchPlan, Load, ProfileWindow
from layerscope.capture.serve_bench.bench_run import require_model, run_bench
from layerscope.capture.serve_bench.engine_servers import SERVERS, check

_ENGINES = tuple(SERVERS)
_DEFAULT = Load()
_WINDOW = ProfileWindow()

# What servers call what the client is told, too: why it is refused behind --, and what to do.
_PLACE = (
    "the client must know where the server listens",
    "give --port N before --; the host is always 127.0.0.1",
)
_MODEL = "client and server must have the same model", "give it before --, as MODEL"
_DECIDED = {"--host": _PLACE, "--port": _PLACE, "--model": _MODEL, "--model-path": _MODEL}

_DESCRIPTION = """\
Starts the server of an engine, waits until it is healthy, runs the engine's own benchmark client
against it, and ends both. Writes one folder:

  bench.json             the client's result, with times of single requests
  metrics_before.txt, metrics_after.txt
                         the server's Prometheus metrics around the benchmark
  traces/                with --profile: a trace a rank; with --hooks: what the hooks wrote
  server.log, client.log, config.json (of the model, where it is found)
  serve_bench.json       what was run: command lines, versions, load

The profile is a window of its own after the benchmark: a few requests at once, a few steps of the
engine, so that it spoils no figures and stays small. The server listens on 127.0.0.1, on a free
port unless --port names one. Every process that was started is ended, also on Ctrl-C, SIGTERM and
failure; then no folder is left, and the logs lie beside its place (DIR.server.log, DIR.client.log).

What stands behind -- goes to the server. TensorRT-LLM has metrics only with return_perf_metrics in
its configuration file: it is written, unless you give a file of your own."""

_EXAMPLES = (
    "layerscope-capture serve-bench Qwen/Qwen3-8B -o qwen3-bench --num-prompts 200 --input-len 1024"
    " --output-len 128 --max-concurrency 32",
    "layerscope-capture serve-bench Qwen/Qwen3-8B -o qwen3-bench --request-rate 4 --profile"
    " -- --enforce-eager --max-model-len 8192",
    "layerscope-capture serve-bench Qwen/Qwen3-30B-A3B --engine sglang -tp 2 -o sglang-bench"
    " --profile --profile-steps 5 -- --mem-fraction-static 0.8",
    "layerscope-capture serve-bench Qwen/Qwen3-8B --engine trtllm -o trtllm-bench"
    " -- --max_batch_size 64",
    "layerscope-capture serve-bench ./model --engine vllm --dummy-weights --hooks record_function"
    " --profile -o hooked -- --enforce-eager",
)


def _add_options(parser: argparse.ArgumentParser) -> None:
    add_shared_options(parser, "model")
    parser.add_argument(
        "--engine",
        choices=("auto", *_ENGINES),
        default="auto",
        help="whose server and client (default: the first of these that is installed)",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("serve_bench"),
        metavar="DIR",
        help="a new folder (default: serve_bench)",
    )
    parser.add_argument("--force", action="store_true", help="replace a folder that has files")
    _add_load(parser.add_argument_group("load"))
    _add_profile(parser.add_argument_group("profile and hooks"))
    _add_server(parser.add_argument_group("server and client"))
    parser.usage = f"{parser.prog} MODEL [options] [-- SERVER-ARG …]"


def _add_load(group: argparse._ArgumentGroup) -> None:
    for name, default, what in (
        ("--num-prompts", _DEFAULT.num_prompts, "requests"),
        ("--input-len", _DEFAULT.input_len, "random tokens of each prompt"),
        ("--output-len", _DEFAULT.output_len, "tokens that each gives"),
    ):
        group.add_argument(
            name, type=positive, default=default, metavar="N", help=f"{what} (default: {default})"
        )
    group.add_argument(
        "--request-rate",
        type=_rate,
        metavar="R",
        help="requests a second, at random times (default: inf, all at once)",
    )
    group.add_argument(
        "--max-concurrency", type=positive, metavar="N", help="requests in flight (default: any)"
    )
    group.add_argument("--seed", type=not_negative, default=0, help="of the prompts (default: 0)")


def _add_profile(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--profile", action="store_true", help="record a short window after the benchmark"
    )
    group.add_argument(
        "--profile-steps",
        type=positive,
        default=_WINDOW.steps,
        metavar="N",
        help=f"steps of the engine in it (default: {_WINDOW.steps})",
    )
    group.add_argument(
        "--profile-requests",
        type=positive,
        default=_WINDOW.requests,
        metavar="N",
        help=f"requests at once in it (default: {_WINDOW.requests})",
    )
    group.add_argument(
        "--no-stack",
        action="store_true",
        help="without Python stacks: far smaller traces, and no modules",
    )
    group.add_argument("--no-shapes", action="store_true", help="without the shapes of tensors")
    group.add_argument(
        "--hooks",
        metavar="NAME[,NAME]",
        help=f"module ranges in the server's processes: {', '.join(BACKENDS)}; several with commas",
    )


def _add_server(group: argparse._ArgumentGroup) -> None:
    add_shared_options(group, "tensor_parallel", "dummy_weights", "trust_remote_code")
    group.add_argument("--port", type=_port, metavar="N", help="(default: a free one)")
    group.add_argument(
        "--ready-timeout",
        type=_seconds,
        default=1800.0,
        metavar="SECONDS",
        help="for the server to load the model (default: 1800)",
    )
    group.add_argument(
        "--client-timeout", type=_seconds, metavar="SECONDS", help="(default: no limit)"
    )
    group.add_argument(
        "--client-arg",
        action="append",
        default=[],
        metavar="=WORD",
        help="a further word for the client, as --client-arg=--temperature --client-arg=0.7",
    )


def _rate(text: str) -> float | None:
    """Requests a second; None for inf."""
    number = _number(text)
    if not number > 0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return None if number == float("inf") else number


def _seconds(text: str) -> float:
    number = _number(text)
    if not 0 < number < float("inf"):
        raise argparse.ArgumentTypeError(f"{text[:40]} is no time in seconds")
    return number


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text[:40]}' is no number") from None


def _port(text: str) -> int:
    number = positive(text)
    if number > 65535:
        raise argparse.ArgumentTypeError(f"{text} is no port")
    return number


def _plan(options: argparse.Namespace, engine: str) -> BenchPlan:
    window = ProfileWindow(
        steps=options.profile_steps,
        requests=options.profile_requests,
        with_stack=not options.no_stack,
        with_shapes=not options.no_shapes,
    )
    return BenchPlan(
        model=options.model,
        engine=engine,
        output=options.output,
        load=Load(
            num_prompts=options.num_prompts,
            input_len=options.input_len,
            output_len=options.output_len,
            request_rate=options.request_rate,
            max_concurrency=options.max_concurrency,
            seed=options.seed,
        ),
        profile=window if options.profile else None,
        hooks=backend_names(options.hooks) if options.hooks is not None else (),
        tensor_parallel=options.tensor_parallel_size,
        dummy_weights=options.dummy_weights,
        trust_remote_code=options.trust_remote_code,
        port=options.port,
        ready_timeout_s=options.ready_timeout,
        client_timeout_s=options.client_timeout,
        server_args=tuple(options.passed_on),
        client_args=tuple(options.client_arg),
        force=options.force,
    )


def _refuse_decided(words: Sequence[str]) -> None:
    for word in words:
        said, hint = _DECIDED.get(word.partition("=")[0].replace("_", "-"), ("", ""))
        if said:
            raise CaptureError(f"{word} behind --: {said}", hint, errors.USAGE)


def _run(options: argparse.Namespace) -> int:
    _refuse_decided(options.passed_on)
    require_place(options.output, reads=files_read(options.model), force=options.force)
    if options.dry_run:
        return _dry_run(options)
    plan = _plan(options, engines.choose(options.engine, _ENGINES))
    patches = plan_lines([plan.model])
    run_bench(plan)
    errors.say(*patches, *reading_hint(plan))
    return errors.OK


def _dry_run(options: argparse.Namespace) -> int:
    """From the options alone: which engine "auto" would be is not looked up."""
    if options.engine == "auto":
        errors.say(
            f"engine: the first of {', '.join(_ENGINES)} that is installed; with {engines.VLLM} "
            "the run would be:"
        )
    plan = _plan(options, engines.VLLM if options.engine == "auto" else options.engine)
    check(plan)
    patches = plan_lines([plan.model])
    if Path(plan.model).exists():  # it may still have to be made
        require_model(plan)
    errors.say(*described(plan), *patches)
    return errors.OK


COMMAND = Command(
    name="serve-bench",
    summary="a server under the engine's own benchmark client, with its metrics",
    description=_DESCRIPTION,
    examples=_EXAMPLES,
    add_options=_add_options,
    run=_run,
    passes_to="the server",
)
