"""The command `check`."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from layerscope.capture import engines, errors, model_files
from layerscope.capture.check import (
    class_checks,
    finding,
    machine_checks,
    model_checks,
    plan_checks,
    profile_checks,
)
from layerscope.capture.check.finding import Finding
from layerscope.capture.command import Command
from layerscope.capture.context_length import fitting_input
from layerscope.capture.errors import CaptureError
from layerscope.capture.model_options import LOADERS

_DESCRIPTION = """\
Walks the path from a Hugging Face model to its layer table and says what is missing: is the config
found and understood, which profile and which layer types does it get (asked of the program
layerscope: LAYERSCOPE_BIN, else PATH), are tokenizer and weights there and whole, is the engine
installed and does it know the model's class, can this machine capture (GPU, nsys, graph annotations
of torch). Nothing is written, nothing is loaded, the network is not used.

Each line is ok, note (it works, with a caveat) or MISSING, with the command that mends it. Exit
status 0 when nothing is missing, 1 when something blocks. docs/new-model.md has the whole path.
"""

_EXAMPLES = (
    "layerscope-capture check Qwen/Qwen3-30B-A3B",
    "layerscope-capture check ./new-model --engine sglang",
)

_STEPS = (
    "config: found, parsed, of a possible model, names an architecture and a layer count",
    "profile and layers: layerscope profiles infer --config …",
    "tokenizer and weights: beside the config, and whole",
    "plan: of config-patch, beside the config",
    "engine and class: installed, names the architecture, and which class it loads",
    "gpu, nsys, annotations: what this machine can record",
)
_INPUT, _OUTPUT = 512, 9  # tokens of the profile that is proposed
_ENGINES = (*engines.SERVING, engines.TRANSFORMERS)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="model folder, config.json, or hub id")
    parser.add_argument(
        "--engine",
        choices=("auto", *_ENGINES),
        default="auto",
        help="which engine is to run it (default: the first that is installed, in this order)",
    )


def _chosen(engine: str) -> str:
    """Of "auto" the first that is installed, else the first."""
    if engine != "auto":
        return engine
    return next((name for name in _ENGINES if engines.is_installed(name)), _ENGINES[0])


def findings(model: str, engine: str) -> list[Finding]:
    """All findings, in the order of the path. A config that cannot be read ends the walk."""
    try:
        files = model_files.locate(model)
        config = model_files.load_config(files.config)
    except CaptureError as error:
        return [finding.missing("config", error.message, error.hint)]
    found = model_checks.check_config(files, config)
    found += profile_checks.check_profile(files.config)
    found.append(model_checks.check_tokenizer(files))
    found += model_checks.check_weights(files, config)
    found += plan_checks.check_plan(files, config, engine)
    there = model_checks.check_engine(engine)
    found.append(there)
    if there.state == finding.OK:
        found.append(class_checks.check_architecture(engine, files, config))
    found += [
        machine_checks.check_gpu(engine),
        machine_checks.check_nsys(),
        machine_checks.check_annotations(),
    ]
    return found


def _run(options: argparse.Namespace) -> int:
    if options.dry_run:
        errors.say(f"would check {options.model}, for {options.engine}, in this order:")
        for step in _STEPS:
            errors.say(f"  {step}")
        return errors.OK
    engine = _chosen(options.engine)
    found = findings(options.model, engine)
    for one in found:
        for line in one.lines():
            errors.say(line)
    lacking = [one for one in found if one.state == finding.MISSING]
    if lacking:
        errors.say(f"missing: {', '.join(dict.fromkeys(one.step for one in lacking))}")
        return errors.FAILED
    has_gpu = any(one.step == "gpu" and one.state == finding.OK for one in found)
    errors.say("nothing is missing; next:")
    has_text = all(one.step != class_checks.TEXT for one in found)
    for command in _next_commands(options.model, engine, has_gpu=has_gpu, has_text=has_text):
        errors.say(f"  {command}")
    return errors.OK


def _next_commands(model: str, engine: str, *, has_gpu: bool, has_text: bool = True) -> list[str]:
    """From a model of which nothing is missing to its table."""
    files = model_files.locate(model)
    before = plan_checks.setting_before(files, engine) + "layerscope-capture"
    name = shlex.quote(str(files.folder) if Path(model).is_file() else model)
    how = "" if files.weights() else " --dummy-weights"
    default = next((name for name in LOADERS if engines.is_installed(name)), engine)
    if engine in LOADERS and engine != default:
        how += f" --engine {engine}"
    if not has_text:
        return [f"{before} walk {name} -o model_tree.json{how}"]
    length = fitting_input(model_files.load_config(files.config), _INPUT, _OUTPUT)
    return [
        f"{before} walk {name} -o model_tree.json --with-forward{how}",
        f"{before} profile {name} --num-prompts 1 --input-len {length} --output-len {_OUTPUT}"
        f"{how} -o profiles",
        f"layerscope {'layers' if has_gpu else 'modules'} profiles/request_000.json.gz",
    ]


COMMAND = Command(
    name="check",
    summary="what is missing between a model and its layer table",
    description=_DESCRIPTION,
    examples=_EXAMPLES,
    add_options=_add_options,
    run=_run,
)
