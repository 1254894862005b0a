"""`layerscope-capture drive`: decode steps at chosen batch sizes and past lengths, recorded."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from layerscope.capture.command import Command
from layerscope.capture.counted import counted
from layerscope.capture.drive.drive_options import add_drive_options, drive_plan
from layerscope.capture.drive.drive_run import describe, require_model, run_drive
from layerscope.capture.drive.recordings import recordings
from layerscope.capture.errors import say
from layerscope.capture.output import require_place
from layerscope.capture.patches.model_of_plan import plan_lines
from layerscope.capture.patches.plan import files_read

_DESCRIPTION = """\
Runs a model in an engine's offline interface and records decode steps of chosen batch sizes and
past lengths. Prefill runs eager, decode as full CUDA graphs (`layerscope-capture hooks rule`);
every module has a range, and each chosen step is inside one named
bench_step::N::bs::B::past::P::phase::decode, which layerscope reads as a step.

Where nsys is on PATH the run is recorded by nsys profile --cuda-graph-trace=node, else by PyTorch's
profiler (vLLM, SGLang). The folder then holds report.nsys-rep, or the traces in a folder for each
batch and input length; the model's config.json, drive.plan, drive.summary (how often each step was
marked, what LAYERSCOPE_PATCH changed), bench_steps_rank<r>.jsonl and session.log. Where it fails,
the log is kept as OUTPUT.session.log.

Prompts are random tokens, distinct, and run once before they count: then their KV cache is there
and all requests of a batch begin to decode together. A step that did not run with exactly the batch
and past length in every round is an error, and so is a model that torch.compile runs."""

_EXAMPLES = (
    "layerscope-capture drive --engine vllm Qwen/Qwen3-8B --batch-size 1 8 64 --input-len 1024 "
    "--milestones 1,16,128 -o drive_vllm",
    "layerscope-capture drive --engine sglang Qwen/Qwen3-30B-A3B --batch-size 32 "
    "--input-len 1024 8192 --profiler torch -o drive_sglang",
    "layerscope-capture drive --engine trtllm nvidia/Qwen3-8B-FP8 --batch-size 16 -tp 2 "
    "--profiler nsys -o drive_trtllm",
)


def _run(options: argparse.Namespace) -> int:
    plan = drive_plan(options)
    patches = plan_lines([plan.model])
    require_place(options.output, reads=files_read(plan.model), force=options.force)
    if options.dry_run:
        if Path(plan.model).exists():  # it may still have to be made
            require_model(plan)
        nsys = "nsys" if plan.profiler == "nsys" else None
        say(*describe(plan, options.output, nsys), *patches)
        return 0
    summary = run_drive(plan, options.output, force=options.force)
    say(*patches)
    for (batch, past), steps in sorted(summary.steps.items()):
        say(f"batch {batch}, past length {past}: {counted(steps, 'step')}")
    if groups := recordings(options.output):
        read = groups[0] if len(groups) == 1 else [options.output]
        say(f"next: layerscope steps {shlex.join(map(str, read))}")
    return 0


COMMAND = Command(
    name="drive",
    summary="record decode steps of chosen batch sizes and past lengths",
    description=_DESCRIPTION,
    examples=_EXAMPLES,
    add_options=add_drive_options,
    run=_run,
)
