"""`layerscope-capture hooks`: module ranges in an engine's processes, and the canonical rule."""

from __future__ import annotations

import argparse
import json
import shlex
import sys
from pathlib import Path
from typing import Any

from layerscope.capture import engines
from layerscope.capture.command import Command, with_examples
from layerscope.capture.errors import INTERRUPTED, OK, USAGE, CaptureError, say
from layerscope.capture.hooks.canonical_rule import command_line, rule_of, with_batches
from layerscope.capture.hooks.hook_report import read_reports
from layerscope.capture.hooks.run import BOOTSTRAP, judge, next_line, run_hooked
from layerscope.capture.in_engine.settings import (
    BACKENDS,
    FOLDER,
    HOOKS,
    HookSettings,
    backend_names,
)
from layerscope.capture.model_options import add_numbers
from layerscope.capture.patches.model_of_plan import plan_lines

_DESCRIPTION = f"""\
Puts a range around the forward of every nn.Module of the model that an engine loads, so that
layerscope knows the module of each kernel. The range is that of a backend:

  nvtx             {{'Module': 'model.layers.0'}} for Nsight Systems (record with
                   --cuda-graph-trace=node, and let nsys run while the graphs are captured)
  record_function  the same for PyTorch's profiler; kernels in CUDA graphs stay without modules
  annotations      PyTorch's graph annotations: each node that a CUDA graph captures is named;
                   writes graph_annotations_rank<r>.json, which layerscope reads beside the trace
                   or through --graph-annotations (torch 2.12, CUDA driver 13.1, cuda-bindings
                   13.1 or later)

`run` starts a command (also that of a server) with hooks in all of its processes. With this package
installed beside vLLM, {HOOKS}=nvtx vllm serve … does the same through vLLM's plugins, and
{FOLDER}=DIR says where files go.

`rule` prints the options under which prefill runs eager and decode as full CUDA graphs. Under
torch.compile module hooks run only while the model is traced: `run` then exits with 1 and says that
nothing was captured."""

_EXAMPLES = (
    "layerscope-capture hooks rule --engine vllm --batch-size 1 8 64",
    "layerscope-capture hooks run --engine vllm --backend nvtx -o hooks -- "
    "vllm serve Qwen/Qwen3-8B --compilation-config "
    '\'{"mode":0,"cudagraph_mode":"FULL_DECODE_ONLY"}\'',
    "layerscope-capture hooks run --engine sglang --backend annotations -o hooks -- "
    "python -m sglang.launch_server --model-path Qwen/Qwen3-8B "
    "--cuda-graph-backend-prefill disabled",
    "layerscope-capture hooks run --engine trtllm --backend nvtx -o hooks -- "
    "trtllm-serve Qwen/Qwen3-8B --config generation.yaml",
)


def _add_dry_run(parser: argparse.ArgumentParser) -> None:
    # Suppressed default: the option of the command itself must not be undone.
    parser.add_argument(
        "--dry-run",
        action="store_true",
        default=argparse.SUPPRESS,
        help="say what would be run and written, and do nothing",
    )


def _add_action(actions: Any, name: str, what: str) -> argparse.ArgumentParser:
    examples = [line for line in _EXAMPLES if line.startswith(f"layerscope-capture hooks {name} ")]
    parser: argparse.ArgumentParser = actions.add_parser(
        name, help=what, description=f"{what[0].upper()}{what[1:]}.", **with_examples(examples)
    )
    return parser


def _add_options(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    run = _add_action(actions, "run", "start a command with hooks in its processes")
    run.add_argument(
        "--engine", choices=engines.SERVING, required=True, help="what the command starts"
    )
    run.add_argument(
        "--backend",
        default="nvtx",
        metavar="NAME[,NAME]",
        help=f"{', '.join(BACKENDS)}; several with commas (default: nvtx)",
    )
    run.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path(),
        metavar="DIR",
        help="where annotations and reports go (default: here)",
    )
    run.add_argument("words", nargs="*", metavar="-- COMMAND", help="the command and its options")
    _add_dry_run(run)
    rule = _add_action(actions, "rule", "print the options of the canonical rule")
    rule.add_argument("--engine", choices=engines.SERVING, required=True, help="whose options")
    rule.add_argument(
        "--engine-version",
        metavar="V",
        help="as 0.11.1 (default: that of the installed engine, else the newest known)",
    )
    add_numbers(
        rule,
        "--batch-size",
        default=(1, 8, 64),
        metavar="B",
        what="decode batches whose graphs are captured",
    )
    _add_dry_run(rule)


def _run_command(options: argparse.Namespace) -> int:
    if not options.words:
        raise CaptureError(
            "no command to run", "write it behind --: hooks run … -- vllm serve MODEL", USAGE
        )
    if options.words[0] in BACKENDS:  # argparse takes it for the first word of the command
        raise CaptureError(
            f"'{options.words[0]}' is no command, but a backend",
            f"several with commas: --backend {options.backend},{options.words[0]}",
            USAGE,
        )
    chosen = HookSettings(backend_names(options.backend), options.output.absolute())
    patches = plan_lines(options.words)
    if options.dry_run:
        say(f"would run: {shlex.join(options.words)}")
        for name, value in chosen.environment().items():
            say(f"  with {name}={value}")
        say(f"  with {BOOTSTRAP} first on PYTHONPATH", *(f"  {line}" for line in patches))
        say(f"would write to: {chosen.folder}")
        return 0
    code = run_hooked(options.words, chosen)
    reports = [r for r in read_reports(chosen.folder) if r.engine == options.engine]
    if code != OK and not reports:  # before its model was loaded
        said = "interrupted" if code == INTERRUPTED else f"the command ended with {code}"
        until = f"before a model of {options.engine} was loaded"
        say(f"layerscope-capture hooks: {said}, {until}", to=sys.stderr)
        return code
    # Ctrl-C is how a server ends.
    judged = judge(reports, chosen.folder, options.engine, has_run=True)
    if judged == OK:
        say(next_line(chosen.backends, options.output))
    return code or judged


def _rule(options: argparse.Namespace) -> int:
    version = options.engine_version or engines.version_of(options.engine)
    rule = rule_of(options.engine, version)
    since = ".".join(map(str, rule.since))
    say(f"{rule.engine} {version or since + ' and later'}: prefill eager, decode as full graphs")
    words = command_line(rule, options.batch_size)
    if words:
        say(f"command line: {shlex.join(words)}")
    say(f"generation:   {json.dumps(with_batches(rule.decode, options.batch_size))}")
    say(f"prefill only: {json.dumps(with_batches(rule.prefill, options.batch_size))}")
    if rule.note:
        say(f"note: {rule.note}")
    return 0


def _run(options: argparse.Namespace) -> int:
    return _run_command(options) if options.action == "run" else _rule(options)


COMMAND = Command(
    name="hooks",
    summary="name the module of each kernel while an engine runs",
    description=_DESCRIPTION,
    examples=_EXAMPLES,
    add_options=_add_options,
    run=_run,
)
