"""The command `config-patch`."""

from __future__ import annotations

import argparse
import copy
import json
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layerscope.capture import engines, errors, model_files, output
from layerscope.capture.command import Command
from layerscope.capture.config_patch import (
    auxiliary_files,
    fewer_layers,
    model_sizes,
    overrides,
    tensor_parallel,
)
from layerscope.capture.config_patch.changes import Changes
from layerscope.capture.errors import CaptureError
from layerscope.capture.model_files import ModelFiles
from layerscope.capture.patches import plan as patch_plan
from layerscope.capture.patches.plan import PatchPlan, RoutingPlan

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
    "layerscope-capture config-patch Qwen/Qwen3-8B --set num_hidden_layers=36 -o qwen3-patched",
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
    group.add_argument("--model-type", metavar="NAME", help="rewrite model_type")
    group.add_argument("--architectures", metavar="A,B", help="rewrite architectures")


def _add_layers(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("fewer layers")
    which = group.add_mutually_exclusive_group()
    which.add_argument("--layers", type=int, metavar="N", help="the first N layers compute")
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
        type=int,
        default=1,
        metavar="R",
        help="expert-parallel ranks of the real run, for --balanced-routing (default: 1)",
    )


@dataclass
class _Patched:
    """A patched config and what belongs to it."""

    config: dict[str, Any]
    changes: Changes
    plan: PatchPlan
    needs_dummy_weights: bool


def _check_options(options: argparse.Namespace) -> None:
    if options.cut and options.layers is None:
        raise CaptureError("--cut without --layers N", "say how many layers", errors.USAGE)
    if options.mock_tp is not None and not 2 <= options.mock_tp <= 512:
        raise CaptureError(f"--mock-tp {options.mock_tp}", "give 2 to 512", errors.USAGE)
    if options.ep_ranks < 1:
        raise CaptureError(f"--ep-ranks {options.ep_ranks}", "give 1 or more", errors.USAGE)
    if options.no_aux and options.aux_from:
        raise CaptureError("--no-aux and --aux-from", "give one of them", errors.USAGE)
    if options.link_weights and (options.mock_tp or options.cut):
        what = "--mock-tp" if options.mock_tp else "--cut"
        raise CaptureError(
            f"--link-weights with {what}: the model's weights do not fit the config",
            "run the engine with dummy weights",
            errors.USAGE,
        )
    if options.output is None and not options.dry_run:
        raise CaptureError("no folder to write", "give one with -o DIR", errors.USAGE)


def _patch(config: dict[str, Any], options: argparse.Namespace, files: ModelFiles) -> _Patched:
    changes = Changes()
    for assignment in options.set:
        overrides.set_key(config, assignment, changes)
    for assignment in options.add:
        overrides.add_key(config, assignment, changes)
    for path in options.unset:
        overrides.unset_key(config, path, changes)
    architectures = [a for a in (options.architectures or "").split(",") if a]
    overrides.rewrite_identity(config, options.model_type, architectures, changes)
    keep = _fewer_layers(config, options, changes)
    if options.mock_tp:
        mock = tensor_parallel.MockOptions(
            ranks=options.mock_tp,
            moe=options.moe,
            shared=options.shared_experts,
            engine=options.engine,
            keep_vocab=options.keep_vocab,
        )
        tensor_parallel.mock_rank_zero(config, mock, changes, _hf_quant(files))
    plan = PatchPlan(
        num_layers=model_files.layer_count(config) or 1,
        keep_layers=None if keep is None else tuple(keep),
        routing=_routing(config, options, changes) if options.balanced_routing else None,
    )
    return _Patched(config, changes, plan, bool(options.mock_tp or options.cut))


def _fewer_layers(
    config: dict[str, Any], options: argparse.Namespace, changes: Changes
) -> list[int] | None:
    """Cuts the config, or returns the layers that keep their forward; None: all of them."""
    if options.layers is None and options.keep_layers is None:
        return None
    kept = fewer_layers.kept_layers(config, options.layers, options.keep_layers)
    if options.cut:
        fewer_layers.cut_layers(config, len(kept), changes)
        return None
    count = model_files.layer_count(config)
    if len(kept) == count:
        return None
    changes.notes.append(
        f"layers {fewer_layers.as_ranges(kept)} of {count} compute, the others pass on what they"
        " get; all weights are loaded"
    )
    return kept


def _hf_quant(files: ModelFiles) -> dict[str, Any] | None:
    path = files.folder / "hf_quant_config.json"
    return model_files.load_json(path) if path.is_file() else None


def _routing(config: dict[str, Any], options: argparse.Namespace, changes: Changes) -> RoutingPlan:
    moe = model_sizes.moe_sizes(model_files.text_config(config))
    if moe is None:
        raise CaptureError(
            "--balanced-routing: the config has no experts", "leave it out for a dense model"
        )
    experts = model_files.text_config(config)[moe.count_key]
    if experts % options.ep_ranks:
        raise CaptureError(
            f"--ep-ranks {options.ep_ranks}: {experts} experts are not divisible by it",
            "give a divisor",
            errors.USAGE,
        )
    changes.notes.append(
        f"balanced routing: {moe.top_k} of {experts} experts a token, round robin, where hooks run"
    )
    groups = moe.groups if experts % moe.groups == 0 else 1
    return RoutingPlan(experts, moe.top_k, groups, min(moe.top_groups, groups), options.ep_ranks)


def _document(files: ModelFiles, options: argparse.Namespace, patched: _Patched) -> dict[str, Any]:
    mock = None
    if options.mock_tp:
        mock = {"tp": options.mock_tp, "moe": options.moe, "shared_experts": options.shared_experts}
    return {
        **patched.plan.document(),
        "source": files.name,
        "needs_dummy_weights": patched.needs_dummy_weights,
        "mock": mock,
        "changes": patched.changes.document(),
        "notes": patched.changes.notes,
    }


def _auxiliary(files: ModelFiles, options: argparse.Namespace) -> list[Path]:
    if options.no_aux:
        return []
    found = {path.name: path for path in auxiliary_files.beside(files)}
    if "quantization_config" not in options.unset:  # of this model, never of --aux-from
        found.update((p.name, p) for p in files.present(model_files.QUANTISATION_FILES))
    if options.aux_from:
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


def _write(
    files: ModelFiles, options: argparse.Namespace, patched: _Patched, auxiliary: list[Path]
) -> int:
    """Writes the folder; returns how many weight files were linked."""
    folder: Path = options.output
    if files.folder.resolve().is_relative_to(folder.resolve()):
        raise CaptureError(f"{folder} holds the model itself", "choose another folder with -o")
    with output.new_folder(folder, force=options.force) as aside:
        auxiliary_files.copy_into(aside, auxiliary)
        # As transformers writes it: indented, with NaN and Infinity where the original has them.
        text = json.dumps(patched.config, indent=2, ensure_ascii=False) + "\n"
        output.write_bytes(aside / model_files.CONFIG, text.encode())
        plan = json.dumps(_document(files, options, patched), indent=1, ensure_ascii=False) + "\n"
        output.write_bytes(aside / patch_plan.FILE_NAME, plan.encode())
        return auxiliary_files.link_weights(aside, files) if options.link_weights else 0


def _say(options: argparse.Namespace, patched: _Patched, auxiliary: list[Path]) -> None:
    for line in patched.changes.lines():
        print(line)
    if not patched.changes.changes:
        print("no key is changed")
    for note in patched.changes.notes:
        print(f"note: {note}")
    print(
        "files: "
        + ", ".join([model_files.CONFIG, patch_plan.FILE_NAME, *(a.name for a in auxiliary)])
    )


def _next_step(options: argparse.Namespace, patched: _Patched, linked: int) -> str:
    words = []
    if not patched.plan.is_empty():
        words.append(f"{patch_plan.VARIABLE}={shlex.quote(str(options.output))}")
    folder = shlex.quote(str(options.output))
    words += ["layerscope-capture", "drive", "--engine", options.engine, folder]
    words += ["--batch-size", "1", "--input-len", "1024", "--milestones", "1,16", "-o", "drive"]
    if patched.needs_dummy_weights or not linked:
        words.append("--dummy-weights")
    return "run it, for example: " + " ".join(words)


def _dry_run_without_model(options: argparse.Namespace, why: CaptureError) -> None:
    print(f"would read {options.model} (not here now: {why.message})")
    for assignment in options.set:
        print(f"would set {assignment}")
    for assignment in options.add:
        print(f"would add {assignment}")
    for path in options.unset:
        print(f"would remove {path}")
    if options.layers or options.keep_layers:
        print(f"would keep layers {options.keep_layers or f'0-{options.layers - 1}'}")
    if options.mock_tp:
        print(f"would divide the sizes for rank 0 of TP={options.mock_tp}, experts: {options.moe}")


def _run(options: argparse.Namespace) -> int:
    _check_options(options)
    try:
        files = model_files.locate(options.model)
    except CaptureError as error:
        if not options.dry_run:
            raise
        _dry_run_without_model(options, error)
    else:
        patched = _patch(copy.deepcopy(model_files.load_config(files.config)), options, files)
        if options.dry_run:
            _say(options, patched, auxiliary_files.beside(files) if not options.no_aux else [])
        else:
            auxiliary = _auxiliary(files, options)
            linked = _write(files, options, patched, auxiliary)
            _say(options, patched, auxiliary)
            if options.link_weights:
                none = "" if linked else f": {files.name} has none"
                print(f"linked {linked} weight files{none}")
            print(f"written: {options.output}")
            print(_next_step(options, patched, linked))
    if options.dry_run:
        print(f"would write {options.output or 'the folder of -o'}")
    return errors.OK


COMMAND = Command(
    name="config-patch",
    summary="write a changed config: other keys, fewer layers, one rank of TP=N",
    description=_DESCRIPTION,
    examples=_EXAMPLES,
    add_options=_add_options,
    run=_run,
)
