"""The command `config-patch`."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path
from typing import Any

from layerscope.capture import engines, errors, model_files, output
from layerscope.capture.command import Command
from layerscope.capture.config_patch import auxiliary_files, conflicts
from layerscope.capture.config_patch.next_step import next_lines
from layerscope.capture.config_patch.patching import Patched, patch
from layerscope.capture.counted import counted
from layerscope.capture.errors import CaptureError
from layerscope.capture.model_files import ModelFiles
from layerscope.capture.model_options import positive
from layerscope.capture.patches import plan as patch_plan

_DESCRIPTION = """\
Writes a model folder with a changed config.json, the auxiliary files of the model (tokenizer,
generation config, remote code) and layerscope_patch.json: what was changed and why, and what the
hooks apply at run time when LAYERSCOPE_PATCH names the folder.

MODEL is a folder, a config.json, or a hub id that lies in the local cache.

Fewer layers: --layers 4 keeps the layer count, so that weights and per-layer lists stay valid; the
hooks make the forward of the other layers the identity. With --cut the config is shortened instead:
less memory, but only dummy weights fit.

--mock-tp 8 writes the config of rank 0 of TP=8, to run on one GPU with dummy weights: heads, KV
heads, MLP and expert widths (or, with --moe ep, their number), linear-attention heads and the
vocabulary are divided, latent ranks and indexers are not; what does not divide is refused. There
are no collectives in such a run.

--balanced-routing: under dummy weights a router sends every token to the same few experts; hooks
spread them evenly. Outputs mean nothing then; times do.
"""

_EXAMPLES = (
    "layerscope-capture config-patch Qwen/Qwen3-8B --set rope_theta=5000000 -o qwen3-patched",
    "layerscope-capture config-patch Qwen/Qwen3-30B-A3B --layers 4 --link-weights -o qwen3-4l",
    "layerscope-capture config-patch deepseek-ai/DeepSeek-R1 --mock-tp 8 --layers 6 --cut"
    " --balanced-routing -o r1-rank0",
    "layerscope-capture config-patch moonshotai/Kimi-K2-Instruct --mock-tp 16 --moe ep"
    " --shared-experts whole --balanced-routing -o k2-ep16",
    "layerscope-capture config-patch new-model/config.json --model-type deepseek_v3"
    " --architectures DeepseekV3ForCausalLM --aux-from deepseek-ai/DeepSeek-V3 -o as-v3",
)


def _add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", help="model folder, config.json, or hub id")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="the folder to write")
    parser.add_argument("--force", action="store_true", help="replace DIR when it has files")
    _add_overrides(parser)
    _add_layers(parser)
    _add_mock(parser)
    files = parser.add_argument_group("files beside the config")
    files.add_argument(
        "--aux-from",
        metavar="DIR|HUB_ID",
        help="take tokenizer, generation config and remote code from there (fetched when online)",
    )
    files.add_argument("--no-aux", action="store_true", help="write the config and the plan only")
    files.add_argument(
        "--link-weights", action="store_true", help="link the model's weights into DIR"
    )


def _add_overrides(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("keys")
    for option, meta, text in (
        (
            "--set",
            "KEY=VALUE",
            "change a key (dotted path); VALUE has the type of what stands there",
        ),
        ("--add", "KEY=VALUE", "make a new key"),
        ("--unset", "KEY", "remove a key"),
    ):
        group.add_argument(option, action="append", default=[], metavar=meta, help=text)
    group.add_argument(
        "--model-type",
        type=_name,
        metavar="NAME",
        help="rewrite model_type; that of a text model takes it out of its wrapper",
    )
    group.add_argument(
        "--architectures", type=_names, default=(), metavar="A,B", help="rewrite architectures"
    )


def _name(text: str) -> str:
    """An argparse type: a model type, or the class of an architecture."""
    if not re.fullmatch(r"\w[\w.-]*", text):
        raise argparse.ArgumentTypeError(f"{text!r} is no name")
    return text


def _names(text: str) -> list[str]:
    return [_name(name.strip()) for name in text.split(",")]


def _add_layers(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("fewer layers")
    which = group.add_mutually_exclusive_group()
    which.add_argument("--layers", type=positive, metavar="N", help="the first N layers compute")
    which.add_argument(
        "--keep-layers", metavar="LIST", help="these layers compute, for example 0,2,5-8"
    )
    group.add_argument(
        "--cut", action="store_true", help="with --layers: shorten the config (dummy weights)"
    )


def _add_mock(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("one rank of many, and its routing")
    group.add_argument("--mock-tp", type=int, metavar="N", help="rank 0 of TP=N (2 to 512)")
    group.add_argument(
        "--moe",
        choices=("tp", "ep"),
        default="tp",
        help="divide the width of each expert, or the number of experts (default: tp)",
    )
    group.add_argument(
        "--shared-experts",
        choices=("divided", "whole"),
        default="divided",
        help="divided, as engines do in tensor parallelism, or whole, as with DeepEP, vLLM's"
        " sequence-parallel MoE and attention data parallelism (default: divided)",
    )
    group.add_argument(
        "--engine",
        choices=engines.SERVING,
        default="vllm",
        help="whose rules hold where they differ (default: vllm)",
    )
    group.add_argument("--keep-vocab", action="store_true", help="do not divide the vocabulary")
    group.add_argument(
        "--balanced-routing", action="store_true", help="hooks give every expert as many tokens"
    )
    group.add_argument(
        "--ep-ranks",
        type=positive,
        default=1,
        metavar="R",
        help="expert-parallel ranks of the real run, for --balanced-routing (default: 1)",
    )


def _check_options(options: argparse.Namespace) -> None:
    if options.cut and options.layers is None:
        raise _usage("--cut without --layers N", "say how many layers")
    if options.mock_tp is not None and not 2 <= options.mock_tp <= 512:
        raise _usage(f"--mock-tp {options.mock_tp}", "give 2 to 512")
    _check_companions(options)
    conflicts.require_no_conflict(options)
    if options.no_aux and options.aux_from:
        raise _usage("--no-aux and --aux-from", "give one of them")
    if options.link_weights and (options.mock_tp or options.cut):
        what = "--mock-tp" if options.mock_tp else "--cut"
        raise _weights_do_not_fit(f"--link-weights with {what}")
    if options.output is None and not options.dry_run:
        raise _usage("no folder to write", "give one with -o DIR")


def _check_companions(options: argparse.Namespace) -> None:
    """Options that do nothing without another one."""
    for given, name in (
        (options.moe != "tp", f"--moe {options.moe}"),
        (options.shared_experts != "divided", f"--shared-experts {options.shared_experts}"),
        (options.keep_vocab, "--keep-vocab"),
    ):
        if given and not options.mock_tp:
            raise _usage(f"{name} without --mock-tp N", "say of how many ranks")
    if options.ep_ranks > 1 and not options.balanced_routing:
        raise _usage(
            f"--ep-ranks {options.ep_ranks} without --balanced-routing",
            "it says over how many ranks experts are balanced",
        )


def _weights_do_not_fit(options: str) -> CaptureError:
    return _usage(
        f"{options}: the model's weights do not fit the config", "run the engine with dummy weights"
    )


def _usage(message: str, hint: str) -> CaptureError:
    return CaptureError(message, hint, errors.USAGE)


def _auxiliary(files: ModelFiles, options: argparse.Namespace) -> list[Path]:
    """The files that go beside the config; a dry run does not ask the hub for those of another."""
    if options.no_aux:
        return []
    found = {path.name: path for path in auxiliary_files.beside(files)}
    if "quantization_config" not in options.unset:  # of this model, never of --aux-from
        found.update((p.name, p) for p in files.present(model_files.QUANTISATION_FILES))
    if options.aux_from and not options.dry_run:
        folder = auxiliary_files.source_folder(options.aux_from)
        other = ModelFiles(options.aux_from, folder, folder / model_files.CONFIG)
        extra = auxiliary_files.beside(other)
        if not extra:
            raise CaptureError(
                f"--aux-from {options.aux_from}: no auxiliary files in {folder}",
                "it should hold tokenizer.json, generation_config.json or remote code",
            )
        found.update((path.name, path) for path in extra)
    return sorted(found.values(), key=lambda path: path.name)


def _generation(auxiliary: list[Path], options: argparse.Namespace) -> dict[str, Any] | None:
    """The document of generation_config.json, where there is one whose token ids may move."""
    if not options.mock_tp:
        return None
    found = [path for path in auxiliary if path.name == model_files.GENERATION_CONFIG]
    return model_files.load_json(found[0]) if found else None


def _write(
    files: ModelFiles, options: argparse.Namespace, patched: Patched, auxiliary: list[Path]
) -> int:
    """Writes the folder; returns how many weight files were linked."""
    folder: Path = options.output
    with output.new_folder(folder, force=options.force) as aside:
        auxiliary_files.copy_into(aside, auxiliary)
        _write_json(aside / model_files.CONFIG, patched.config)
        if patched.generation is not None:
            _write_json(aside / model_files.GENERATION_CONFIG, patched.generation)
        for path in auxiliary:
            if path.name in model_files.QUANTISATION_FILES and patched.hf_quant is not None:
                _write_json(aside / path.name, patched.hf_quant)
        _write_json(aside / patch_plan.FILE_NAME, patched.document(files.name, options))
        return auxiliary_files.link_weights(aside, files) if options.link_weights else 0


def _write_json(path: Path, document: dict[str, Any]) -> None:
    """As transformers writes configs: indented ASCII, NaN and Infinity where the original has."""
    output.write_bytes(path, f"{json.dumps(document, indent=2)}\n".encode())


def _say(patched: Patched, auxiliary: list[Path]) -> None:
    errors.say(*patched.changes.lines())
    if not patched.changes.changes:
        errors.say("no key is changed")
    errors.say(*(f"note: {note}" for note in patched.changes.notes))
    names = [model_files.CONFIG, patch_plan.FILE_NAME, *(path.name for path in auxiliary)]
    errors.say(f"files: {', '.join(names)}")


def _dry_run_without_model(options: argparse.Namespace, why: CaptureError) -> None:
    errors.say(f"would read {options.model} (not here now: {why.message})")
    for assignment in options.set:
        errors.say(f"would set {assignment}")
    for assignment in options.add:
        errors.say(f"would add {assignment}")
    for path in options.unset:
        errors.say(f"would remove {path}")
    if options.layers or options.keep_layers:
        errors.say(f"would keep layers {options.keep_layers or f'0-{options.layers - 1}'}")
    if options.mock_tp:
        errors.say(
            f"would divide the sizes for rank 0 of TP={options.mock_tp}, experts: {options.moe}"
        )


def _run(options: argparse.Namespace) -> int:
    _check_options(options)
    try:
        files = model_files.locate(options.model)
    except CaptureError as error:
        if not options.dry_run:
            raise
        _dry_run_without_model(options, error)
    else:
        auxiliary = _auxiliary(files, options)
        patched = patch(files, _generation(auxiliary, options), options)
        if options.link_weights and patched.needs_dummy_weights:
            raise _weights_do_not_fit("--link-weights")
        if options.output is not None:
            reads = [files.folder, *([options.aux_from] if options.aux_from else [])]
            output.require_place(options.output, reads=reads, force=options.force)
        if options.dry_run:
            _say(patched, auxiliary)
        else:
            linked = _write(files, options, patched, auxiliary)
            _say(patched, auxiliary)
            if options.link_weights:
                none = "" if linked else f": {files.name} has none"
                errors.say(f"linked {counted(linked, 'weight file')}{none}")
            errors.say(f"written: {options.output}")
            errors.say(
                *next_lines(patched, files, options.output, engine=options.engine, linked=linked)
            )
    if options.dry_run:
        errors.say(f"would write {options.output or 'the folder of -o'}")
    return errors.OK


COMMAND = Command(
    name="config-patch",
    summary="write a changed config: other keys, fewer layers, one rank of TP=N",
    description=_DESCRIPTION,
    examples=_EXAMPLES,
    add_options=_add_options,
    run=_run,
)
