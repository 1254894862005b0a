"""`layerscope-capture walk`: options, dry run, and which engine is asked."""

from __future__ import annotations

import argparse
import uuid
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layerscope.capture import engines, errors
from layerscope.capture.command import Command
from layerscope.capture.context_length import check_context_length
from layerscope.capture.model_options import (
    ModelOptions,
    add_model_options,
    model_options,
    positive,
)
from layerscope.capture.output import new_folder, require_writable, write_json
from layerscope.capture.patches.model_of_plan import plan_lines
from layerscope.capture.walk.document import ProfilePlace

_DESCRIPTION = """\
Loads a model and writes its module tree: weights and buffers (shape, dtype, device, stride), chosen
implementations (quantisation method, attention backend), and what each forward calls, reads and
writes by its source. With --with-forward one prompt runs through it: the order of first calls turns
the `Class_k` of a profiler trace into module paths (layerscope VERB TRACE --model-tree FILE), and
every call is listed with the metadata of its tensors, never their values. --profile-dir adds a
profiler trace of a second forward without these hooks.

The model runs eager. With several ranks each writes a document of its own:
model_tree_rank0.json, model_tree_rank1.json, …"""

_EXAMPLES = (
    "layerscope-capture walk Qwen/Qwen3-8B -o model_tree.json --with-forward",
    "layerscope-capture walk ./model --engine transformers --dummy-weights --device cpu -o "
    "model_tree.json --with-forward --profile-dir profile",
    "layerscope-capture walk ./model --engine vllm -tp 4 --engine-arg max_model_len=4096 -o "
    "run/model_tree.json",
)


@dataclass(frozen=True)
class WalkOptions:
    """What one walk does."""

    model: ModelOptions
    output: Path
    with_forward: bool
    input_len: int
    profile_dir: Path | None
    force: bool

    def file_of_rank(self, rank: int, n_ranks: int) -> Path:
        """model_tree.json, or model_tree_rank3.json where there are several."""
        if n_ranks == 1:
            return self.output
        packed = self.output.name.endswith(".json.gz")
        stem = self.output.name.removesuffix(".gz").removesuffix(".json")
        return self.output.with_name(f"{stem}_rank{rank}.json{'.gz' if packed else ''}")


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `walk`."""
    add_model_options(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path("model_tree.json"),
        metavar="FILE",
        help="default: model_tree.json",
    )
    parser.add_argument(
        "--with-forward", action="store_true", help="run a forward: call order and invocations"
    )
    parser.add_argument(
        "--input-len",
        type=positive,
        default=16,
        metavar="N",
        help="tokens of the prompt of that forward, at random (default: 16)",
    )
    parser.add_argument(
        "--profile-dir",
        type=Path,
        metavar="DIR",
        help="also record a forward with torch.profiler into this folder; implies --with-forward",
    )
    parser.add_argument(
        "--force", action="store_true", help="replace a profile folder that has files"
    )


def run(options: argparse.Namespace) -> int:
    """Runs the command; returns the exit code."""
    chosen = WalkOptions(
        model=model_options(options),
        output=options.output,
        with_forward=options.with_forward or options.profile_dir is not None,
        input_len=options.input_len,
        profile_dir=options.profile_dir,
        force=options.force,
    )
    if not chosen.output.name.endswith((".json", ".json.gz")):
        raise errors.CaptureError(
            f"-o {chosen.output}: the document is JSON",
            "name it model_tree.json, or model_tree.json.gz",
            errors.USAGE,
        )
    patches = plan_lines([options.model])
    if options.dry_run:
        print(_described(chosen), *patches, sep="\n")
        return errors.OK
    return walk(chosen)


def _described(options: WalkOptions) -> str:
    lines = [f"would load {options.model.described()}"]
    if options.with_forward:
        lines.append(f"would run one forward of {options.input_len} tokens with hooks")
    if options.profile_dir:
        lines.append(f"would record a second one into {options.profile_dir}")
    parallel = options.model.tensor_parallel * options.model.pipeline_parallel
    lines += [f"would write {options.file_of_rank(r, parallel)}" for r in range(parallel)]
    return "\n".join(lines)


def walk(options: WalkOptions) -> int:
    """Loads, walks, writes. A profile folder appears whole, or not at all."""
    model = options.model.resolved()
    input_len = options.input_len if options.with_forward else None
    if input_len is not None:
        check_context_length(
            model.model, input_len + 1, model.engine_args, hint="give a smaller --input-len"
        )
    require_writable(options.output)
    if options.profile_dir is None:
        documents = _documents(model, input_len, None)
    else:
        with new_folder(options.profile_dir, force=options.force) as aside:
            documents = _documents(model, input_len, ProfilePlace(aside, options.profile_dir))
    for one in documents:
        path = options.file_of_rank(one["rank"], len(documents))
        write_json(path, one)
        print(f"{path}: {_summary(one)}")
    if options.profile_dir is not None:
        print(f"{options.profile_dir}: profiler traces of a forward")
    return errors.OK


def _documents(
    model: ModelOptions, input_len: int | None, profile: ProfilePlace | None
) -> list[dict[str, Any]]:
    """One document a rank. The engines are imported here, not before."""
    if model.engine == engines.VLLM:
        from layerscope.capture.walk.vllm_walk import walk_vllm as walk_engine
    else:
        from layerscope.capture.walk.transformers_walk import walk_transformers as walk_engine
    return walk_engine(model, str(uuid.uuid4()), input_len, profile)


def _summary(document: dict[str, Any]) -> str:
    def count(node: dict[str, Any]) -> int:
        return 1 + sum(count(child) for child in node["children"])

    words = [f"{count(document['tree'])} modules"]
    if "call_order" in document:
        words.append(f"{len(document['call_order'])} in order of first call")
        words.append(f"{len(document['invocations'])} invocations")
    return ", ".join(words)


COMMAND = Command(
    name="walk",
    summary="the module tree of a live model, and what a forward calls",
    description=_DESCRIPTION,
    examples=_EXAMPLES,
    add_options=add_options,
    run=run,
)
