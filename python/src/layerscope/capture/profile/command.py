"""`layerscope-capture profile`: options, dry run, and which engine runs it."""

from __future__ import annotations

import argparse
import shlex
import shutil
from pathlib import Path

from layerscope.capture import engines, errors
from layerscope.capture.command import Command
from layerscope.capture.context_length import check_context_length
from layerscope.capture.counted import counted
from layerscope.capture.model_files import CONFIG
from layerscope.capture.model_options import (
    add_model_options,
    add_output,
    model_options,
    not_negative,
    positive,
)
from layerscope.capture.output import new_folder, require_place, write_json
from layerscope.capture.patches.model_of_plan import plan_lines
from layerscope.capture.patches.plan import files_read
from layerscope.capture.profile import plan as planning
from layerscope.capture.profile.plan import METADATA_NAME, PlannedRequest, ProfilePlan, Recorded
from layerscope.capture.profile.request_runs import record_requests
from layerscope.capture.workload_file import PERCENTILES

_DESCRIPTION = """\
Runs prompts one after the other, each alone, and records each with torch.profiler into a file of
its own: request_000.json.gz, …, and request_metadata.json, for `layerscope requests DIR` and
`layerscope map DIR/request_000.json.gz`. Each prompt runs --warmup times before it is recorded, and
the profiler once, on the first prompt, unless --warmup is 0.

With --workload-json (a benchmark's result or workload_data.json) three real requests are repeated:
the fast one (p10 of the latencies), the typical (p50) and the slow (p90), with their numbers of
tokens. Else --num-prompts prompts of --input-len random tokens give --output-len tokens each. An
end-of-text token ends nothing.

The model runs eager unless --compiled is given. Eager recordings show every module; compiled ones
show what serving does, without the layers' modules. config.json and, for eager recordings,
model_tree.json are written beside the traces, where `layerscope` finds them."""

_EXAMPLES = (
    "layerscope-capture profile Qwen/Qwen3-8B -o profiles --num-prompts 3 --input-len 512 "
    "--output-len 32",
    "layerscope-capture profile Qwen/Qwen3-8B -o profiles --workload-json workload_data.json",
    "layerscope-capture profile ./model --engine transformers --dummy-weights --device cpu "
    "-o profiles --input-len 16 --output-len 4 --warmup 1",
    "layerscope-capture profile ./model --engine vllm -tp 2 --compiled -o profiles",
)
_MOST_PROMPTS = 10_000
_DEFAULTS = {"num_prompts": 1, "input_len": 512, "output_len": 16}


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `profile`."""
    add_model_options(parser)
    add_output(parser, "profiles", "DIR", "a new folder")
    parser.add_argument(
        "--workload-json", type=Path, metavar="FILE", help="repeat fast, typical and slow requests"
    )
    for name, kind, what in (
        ("--num-prompts", _prompts, "prompts"),
        ("--input-len", positive, "tokens of each prompt"),
        ("--output-len", positive, "tokens that each gives"),
    ):
        default = _DEFAULTS[name.removeprefix("--").replace("-", "_")]
        parser.add_argument(name, type=kind, metavar="N", help=f"{what} (default: {default})")
    parser.add_argument(
        "--warmup",
        type=not_negative,
        default=2,
        metavar="N",
        help="runs of each prompt before its recording; the last is its latency (default: 2)",
    )
    parser.add_argument(
        "--compiled", action="store_true", help="torch.compile, and CUDA graphs in vLLM"
    )
    parser.add_argument(
        "--no-stack",
        action="store_true",
        help="without Python stacks: far smaller files, and no modules",
    )
    parser.add_argument("--no-shapes", action="store_true", help="without the shapes of tensors")
    parser.add_argument("--seed", type=not_negative, default=0, help="of the prompts (default: 0)")
    parser.add_argument("--force", action="store_true", help="replace a folder that has files")


def _prompts(text: str) -> int:
    number = positive(text)
    if number > _MOST_PROMPTS:
        raise argparse.ArgumentTypeError(
            f"{text} is above {_MOST_PROMPTS}: each prompt is a trace of its own"
        )
    return number


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    _check(options)
    patches = plan_lines([options.model])
    workload = [] if options.workload_json is None else [options.workload_json]
    reads = [*files_read(options.model), *workload]
    require_place(options.output, reads=reads, force=options.force)
    if options.dry_run:
        errors.say(*_described(options), *patches)
        return errors.OK
    return profile(_plan(options))


def _check(options: argparse.Namespace) -> None:
    given = [name for name in _DEFAULTS if getattr(options, name) is not None]
    if options.workload_json is not None and given:
        words = ", ".join("--" + name.replace("_", "-") for name in given)
        raise errors.CaptureError(
            f"--workload-json and {words}: the workload says how many tokens",
            "give one or the other",
            errors.USAGE,
        )
    model_options(options)


def _plan(options: argparse.Namespace) -> ProfilePlan:
    """Reads the workload, chooses the engine."""
    model = model_options(options).resolved()
    requests = _requests(options)
    hint = "give a smaller --input-len or --output-len"
    if options.workload_json is not None:
        hint = f"{options.workload_json} is of a model that takes more"
    check_context_length(model.model, planning.longest(requests), model.engine_args, hint=hint)
    return ProfilePlan(
        model=model,
        output=options.output,
        requests=requests,
        compiled=options.compiled,
        warmup=options.warmup,
        with_stack=not options.no_stack,
        with_shapes=not options.no_shapes,
        seed=options.seed,
        force=options.force,
    )


def _requests(options: argparse.Namespace) -> tuple[PlannedRequest, ...]:
    if options.workload_json is not None:
        return planning.of_workload(options.workload_json)
    n, n_in, n_out = (getattr(options, name) or _DEFAULTS[name] for name in _DEFAULTS)
    return planning.synthetic(n, n_in, n_out)


def _described(options: argparse.Namespace) -> list[str]:
    """The workload file is not read: it may not be there yet."""
    mode = "compiled" if options.compiled else "eager"
    lines = [f"would load {model_options(options).described()}, {mode}"]
    if options.workload_json is not None:
        lines.append(f"would take {', '.join(PERCENTILES)} requests of {options.workload_json}")
        n = len(PERCENTILES)
    else:
        requests = _requests(options)
        n = len(requests)
        tokens = f"{requests[0].prompt_tokens} + {requests[0].output_tokens} tokens"
        warmup = counted(options.warmup, "time")
        lines.append(f"would run {counted(n, 'prompt')} of {tokens}, each {warmup} to warm up")
    names = [planning.file_name(0)] + ([f"… {planning.file_name(n - 1)}"] if n > 1 else [])
    lines.append(f"would write {options.output}: {' '.join(names)}, {METADATA_NAME}")
    return lines


def profile(plan: ProfilePlan) -> int:
    """Records; the folder appears whole, or not at all."""
    engine = {"name": plan.model.engine, "version": engines.version_of(plan.model.engine)}
    errors.say(f"{plan.model.described()}, {plan.mode}")
    with new_folder(plan.output, force=plan.force) as folder:
        if plan.model.engine == engines.VLLM:
            from layerscope.capture.profile.vllm_profile import opened
        else:
            from layerscope.capture.profile.transformers_profile import opened
        with opened(plan, folder) as loaded:
            recorded = record_requests(plan, loaded, folder, errors.say)
        _write_metadata(plan, engine, recorded, folder)
    words = ["layerscope", "requests", str(plan.output), "-o", "per_request_profiles.json"]
    errors.say(f"{plan.output}: read it with `{shlex.join(words)}`")
    return errors.OK


def _write_metadata(
    plan: ProfilePlan, engine: dict[str, str | None], recorded: list[Recorded], folder: Path
) -> None:
    """Beside the traces of each rank, as the config."""
    write_json(folder / METADATA_NAME, planning.metadata(plan, engine, recorded))
    for ranks in sorted(folder.glob("rank*/")):
        for name in (METADATA_NAME, CONFIG):
            shutil.copy(folder / name, ranks / name)


COMMAND = Command(
    name="profile",
    summary="profiler traces of single requests, one file each",
    description=_DESCRIPTION,
    examples=_EXAMPLES,
    add_options=add_options,
    run=run,
)
