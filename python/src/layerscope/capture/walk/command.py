"""`layerscope-capture walk`: options, dry run, and which engine is asked."""

from __future__ import annotations

import argparse
import shlex
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layerscope.capture import engines, errors
from layerscope.capture.command import Command
from layerscope.capture.context_length import check_context_length
from layerscope.capture.model_options import (
    ModelOptions,
    add_model_options,
    add_output,
    model_options,
    positive,
)
from layerscope.capture.output import (
    new_folder,
    real_place,
    require_place,
    require_unread,
    require_writable,
    write_json,
)
from layerscope.capture.patches.model_of_plan import plan_lines
from layerscope.capture.patches.plan import files_read
from layerscope.capture.trace_files import rank_of, traces_below
from layerscope.capture.walk.document import ProfilePlace

_DESCRIPTION = """\
Loads a model and writes its module tree: weights and buffers (shape, dtype, device, stride), chosen
implementations (quantisation method, attention backend), and what each forward calls, reads and
writes by its source. With --with-forward one prompt runs through it: the order of first calls turns
the `Class_k` of a profiler trace into module paths (layerscope VERB TRACE --model-tree FILE), and
every call is listed with the metadata of its tensors, never their values. --profile-dir adds a
profiler trace of a second forward without these hooks; FILE may lie in that folder. Where FILE is a
link, the file that it leads to is written.

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

    def files(self) -> list[Path]:
        """The documents of all ranks."""
        n_ranks = self.model.tensor_parallel * self.model.pipeline_parallel
        return [self.file_of_rank(rank, n_ranks) for rank in range(n_ranks)]


def add_options(parser: argparse.ArgumentParser) -> None:
    """The options of `walk`."""
    add_model_options(parser)
    add_output(parser, "model_tree.json", "FILE", "the document")
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
        "--force", action="store_true", help="replace FILE, and a profile folder that has files"
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
    _refuse_what_is_read(chosen)
    if options.dry_run:
        errors.say(*_described(chosen), *patches)
        return errors.OK
    return walk(chosen)


def _refuse_what_is_read(options: WalkOptions) -> None:
    """Raises CaptureError where --force would put the result in the place of what is read."""
    reads = files_read(options.model.model)
    if options.profile_dir is not None:
        require_place(options.profile_dir, reads=reads, force=options.force)
    for path in options.files():
        require_unread(path, reads=reads, but="model_tree")


def _described(options: WalkOptions) -> list[str]:
    lines = [f"would load {options.model.described()}"]
    if options.with_forward:
        lines.append(f"would run one forward of {options.input_len} tokens with hooks")
    if options.profile_dir:
        lines.append(f"would record a second one into {options.profile_dir}")
    lines += [f"would write {path}" for path in options.files()]
    return lines


def walk(options: WalkOptions) -> int:
    """Loads, walks, writes. A profile folder appears whole, or not at all."""
    model = options.model.resolved()
    input_len = options.input_len if options.with_forward else None
    if input_len is not None:
        check_context_length(
            model.model, input_len + 1, model.engine_args, hint="give a smaller --input-len"
        )
    _check_places(options)
    if options.profile_dir is None:
        errors.say(*_written(options, _documents(model, input_len, None), None))
        return errors.OK
    with new_folder(options.profile_dir, force=options.force) as aside:
        place = ProfilePlace(aside, options.profile_dir)
        documents = _documents(model, input_len, place)
        traces = [path.relative_to(aside) for path in traces_below(aside)]
        said = _written(options, documents, place)
    errors.say(*said, *_next(options, traces))
    return errors.OK


def _check_places(options: WalkOptions) -> None:
    """Raises CaptureError for what could not be written at the end, or would be lost."""
    for path in options.files():
        profile = options.profile_dir
        if profile is not None and real_place(profile).is_relative_to(real_place(path)):
            raise errors.CaptureError(
                f"--profile-dir {profile} and -o {path} are one place",
                "give the folder another name than the document",
                errors.USAGE,
            )
        if profile is not None and real_place(path).is_relative_to(real_place(profile)):
            continue  # it appears with its folder
        if path.exists() and not path.is_dir():
            if not path.is_file():
                raise errors.CaptureError(f"{path} is no regular file", "name a file with -o")
            if not options.force:
                raise errors.CaptureError(
                    f"{path} is there already", "name another with -o, or replace it with --force"
                )
        require_writable(real_place(path))


def _written(
    options: WalkOptions, documents: list[dict[str, Any]], profile: ProfilePlace | None
) -> list[str]:
    """Writes the documents, those in the profile's folder where that is filled; a line for each."""
    lines = []
    for one in documents:
        path = options.file_of_rank(one["rank"], len(documents))
        now = real_place(path)
        if profile is not None and now.is_relative_to(real_place(profile.final)):
            now = profile.now / now.relative_to(real_place(profile.final))
            if now.exists():
                raise errors.CaptureError(f"{path} is the name of a trace", "name another with -o")
        write_json(now, one)
        lines.append(f"{path}: {_summary(one)}")
    return lines


def _next(options: WalkOptions, traces: list[Path]) -> Iterator[str]:
    """The traces in the profile's folder, and what reads the first."""
    assert options.profile_dir is not None
    of_ranks = [path for path in traces if rank_of(path) is not None] or traces
    for path in of_ranks:
        yield f"{options.profile_dir / path}: a profiler trace of a forward"
    if of_ranks:
        words = ("layerscope", "modules", str(options.profile_dir / of_ranks[0]))
        yield f"read it with `{shlex.join((*words, '--model-tree', str(options.files()[0])))}`"


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
