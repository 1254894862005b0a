"""The options of `drive`, and the plan that they make."""

from __future__ import annotations

import argparse
from pathlib import Path

from layerscope.capture import engines
from layerscope.capture.drive.drive_plan import DrivePlan
from layerscope.capture.drive.profilers import PROFILERS, chosen_profiler, default_backend
from layerscope.capture.in_engine.settings import BACKENDS, backend_names
from layerscope.capture.model_options import add_numbers, add_shared_options, positive


def add_drive_options(parser: argparse.ArgumentParser) -> None:
    """Adds MODEL and everything of `DrivePlan`."""
    add_shared_options(parser, "model")
    parser.add_argument(
        "--engine", choices=engines.SERVING, required=True, help="what runs the model"
    )
    add_numbers(
        parser, "--batch-size", default=(1,), metavar="B", what="requests that decode together"
    )
    add_numbers(parser, "--input-len", default=(1024,), metavar="L", what="prompt tokens")
    parser.add_argument(
        "--output-len",
        type=positive,
        metavar="O",
        help="tokens a request generates (default: what the last milestone needs)",
    )
    add_numbers(
        parser,
        "--milestones",
        default=(1,),
        metavar="M",
        what="decode steps that are marked, counted from 1 behind the prefill: step M has past "
        "length L+M-1",
    )
    _add_run_options(parser)
    _add_engine_options(parser)


def _add_run_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--warmup", type=positive, default=1, metavar="N", help="rounds before (default: 1)"
    )
    parser.add_argument(
        "--repeat", type=positive, default=1, metavar="N", help="rounds that count (default: 1)"
    )
    parser.add_argument(
        "--profiler",
        choices=PROFILERS,
        default="auto",
        help="what records (default: nsys where it is on PATH or for trtllm, else torch)",
    )
    parser.add_argument(
        "--backend",
        metavar="NAME[,NAME]",
        help=f"module ranges: {', '.join(BACKENDS)}; several with commas (default: nvtx under nsys,"
        " else record_function)",
    )
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("drive"),
        metavar="DIR",
        help="a new folder for all that is recorded (default: drive)",
    )
    parser.add_argument("--force", action="store_true", help="replace the folder")


def _add_engine_options(parser: argparse.ArgumentParser) -> None:
    add_shared_options(parser, "dtype")
    parser.add_argument("--quantization", metavar="Q", help="as the engine calls it: fp8, …")
    parser.add_argument(
        "--kv-cache-dtype", default="auto", metavar="T", help="fp8, … (default: auto)"
    )
    add_shared_options(parser, "tensor_parallel", "pipeline_parallel")
    parser.add_argument(
        "-ep",
        "--expert-parallel-size",
        type=positive,
        default=1,
        metavar="N",
        help="GPUs that share the experts (vLLM: 1 or those of -tp)",
    )
    add_shared_options(parser, "dummy_weights")
    parser.add_argument(
        "--eager", action="store_true", help="decode without CUDA graphs (default: full graphs)"
    )
    add_shared_options(parser, "trust_remote_code", "engine_arg")


def drive_plan(options: argparse.Namespace) -> DrivePlan:
    """What `add_drive_options` read, checked; nsys and the model's config are looked up."""
    profiler = chosen_profiler(options.profiler, options.engine)
    plan = DrivePlan(
        engine=options.engine,
        model=options.model,
        batch_sizes=options.batch_size,
        input_lens=options.input_len,
        output_len=options.output_len or max(options.milestones) + 1,
        milestones=options.milestones,
        warmup=options.warmup,
        repeat=options.repeat,
        dtype=options.dtype,
        quantization=options.quantization,
        kv_cache_dtype=options.kv_cache_dtype,
        tensor_parallel=options.tensor_parallel_size,
        pipeline_parallel=options.pipeline_parallel_size,
        expert_parallel=options.expert_parallel_size,
        dummy_weights=options.dummy_weights,
        trust_remote_code=options.trust_remote_code,
        eager=options.eager,
        profiler=profiler,
        backends=backend_names(options.backend or default_backend(profiler)),
        engine_args=dict(options.engine_arg),
    )
    plan.check()
    return plan
