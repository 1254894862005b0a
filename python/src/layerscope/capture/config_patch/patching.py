"""What the options of `config-patch` make of a config: the patched config, its plan, its record."""

from __future__ import annotations

import argparse
import copy
from dataclasses import dataclass, replace
from typing import Any

from layerscope.capture import errors, model_files, model_sizes, model_values
from layerscope.capture.config_patch import (
    conflicts,
    fewer_layers,
    identity,
    overrides,
    tensor_parallel,
    token_ids,
)
from layerscope.capture.config_patch.changes import Changes
from layerscope.capture.config_patch.earlier_patch import EarlierPatch, earlier_patch
from layerscope.capture.config_patch.mock_options import MockOptions
from layerscope.capture.errors import CaptureError
from layerscope.capture.model_files import ModelFiles
from layerscope.capture.patches.model_of_plan import plan_for
from layerscope.capture.patches.plan import PatchPlan, RoutingPlan

_BALANCED = "balanced routing: "  # how its note begins


@dataclass
class Patched:
    """A patched config and what belongs to it.

    `generation` is the document of generation_config.json and `hf_quant` that of ModelOpt, None
    where it is copied as it is; `earlier` what was patched before, which the plan and the notes
    have in them already.
    """

    config: dict[str, Any]
    generation: dict[str, Any] | None
    hf_quant: dict[str, Any] | None
    needs_dummy_weights: bool
    changes: Changes
    plan: PatchPlan
    earlier: EarlierPatch

    def document(self, source: str, options: argparse.Namespace) -> dict[str, Any]:
        """The document layerscope_patch.json: the plan, and what was changed of `source`."""
        before = self.earlier.document
        mock = before.get("mock")
        if options.mock_tp:
            mock = {
                "tp": options.mock_tp,
                "moe": options.moe,
                "shared_experts": options.shared_experts,
            }
        return {
            **self.plan.document(),
            "source": before.get("source", source),
            "needs_dummy_weights": self.needs_dummy_weights,
            "mock": mock,
            "changes": self.earlier.listed("changes") + self.changes.document(),
            "notes": self.changes.notes,
        }


def patch(
    files: ModelFiles, generation: dict[str, Any] | None, options: argparse.Namespace
) -> Patched:
    """The patched config of a model. Raises CaptureError for what cannot be."""
    original = model_files.load_config(files.config)
    earlier = earlier_patch(files)
    config = copy.deepcopy(original)
    notes = [str(note) for note in earlier.listed("notes")]
    changes = Changes(notes=[note for note in notes if not note.startswith(_BALANCED)])
    is_lifted = _override(config, options, changes)
    n_overrides = len(changes.changes)
    _check_possible(config, original, options)
    earlier.require_room(config, options)
    hf_quant = _hf_quant(files, options) if is_lifted or options.mock_tp else None
    if is_lifted:
        hf_quant = identity.without_wrapper(hf_quant)
    keep = _fewer_layers(config, options, changes) or earlier.plan.keep_layers
    if options.mock_tp:
        mock = MockOptions(
            ranks=options.mock_tp,
            moe=options.moe,
            shared=options.shared_experts,
            engine=options.engine,
            keep_vocab=options.keep_vocab,
        )
        tensor_parallel.mock_rank_zero(config, mock, changes, hf_quant, generation)
    changes.notes += conflicts.changed_again(changes.changes, n_overrides)
    _note_ids_beyond(config, original, changes)
    plan = replace(
        plan_for(config),
        keep_layers=None if keep is None else tuple(keep),
        routing=_routing(config, options, changes, earlier.plan.routing),
    )
    fits_none = options.mock_tp or options.cut or is_lifted
    return Patched(
        config=config,
        generation=generation,
        hf_quant=hf_quant if is_lifted else None,
        needs_dummy_weights=bool(fits_none or earlier.document.get("needs_dummy_weights")),
        changes=changes,
        plan=plan,
        earlier=earlier,
    )


def _override(config: dict[str, Any], options: argparse.Namespace, changes: Changes) -> bool:
    """Changes the keys that the options name; whether a text model was taken out of its wrapper."""
    for assignment in options.set:
        overrides.set_key(config, assignment, changes)
    for path in options.unset:
        overrides.unset_key(config, path, changes)
    for assignment in options.add:
        overrides.add_key(config, assignment, changes)
    model_files.check_depth(config, "the changed config")
    return identity.rewrite_identity(config, options.model_type, options.architectures, changes)


def _check_possible(
    config: dict[str, Any], original: dict[str, Any], options: argparse.Namespace
) -> None:
    """Refuses what the overrides made impossible; what the model itself says is its own.

    Layers, ranks and routing are computed from its sizes: for them it must be possible, too.
    """
    before = model_values.impossible_values(original)
    now = model_values.impossible_values(config, original)
    wrong = [line for line in now if line not in before]
    if model_files.layer_count(config) is None and model_files.layer_count(original) is not None:
        wrong.append("it has no layer count")
    if wrong:
        raise CaptureError(
            "no such model: " + "; ".join(wrong),
            "keys that depend on each other change together; --layers N --cut shortens lists too",
            errors.USAGE,
        )
    is_computed = options.layers or options.keep_layers or options.mock_tp
    if now and (is_computed or options.balanced_routing):
        raise CaptureError(
            f"{options.model}: no such model: {'; '.join(now)}",
            "mend it with --set KEY=VALUE",
            errors.INVALID_INPUT,
        )


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
    numbers = fewer_layers.as_ranges(kept)
    said = (
        f"layer {numbers} of {count} computes"
        if len(kept) == 1
        else (f"layers {numbers} of {count} compute")
    )
    changes.notes.append(f"{said}, the rest pass their input on; the weights of all are loaded")
    return kept


def _hf_quant(files: ModelFiles, options: argparse.Namespace) -> dict[str, Any] | None:
    """ModelOpt's description of the blocks, unless the patched model is not quantised."""
    found = files.present(model_files.QUANTISATION_FILES)
    if not found or "quantization_config" in options.unset:
        return None
    return model_files.load_json(found[0])


def _note_ids_beyond(config: dict[str, Any], original: dict[str, Any], changes: Changes) -> None:
    """A note where a smaller vocabulary was set and token ids are not inside of it."""
    size = model_files.text_config(config).get("vocab_size")
    if size == model_files.text_config(original).get("vocab_size") or not isinstance(size, int):
        return
    beyond = token_ids.ids_beyond(config, size)
    if beyond:
        said = ", ".join(f"{key} {', '.join(map(str, ids))}" for key, ids in beyond.items())
        changes.notes.append(f"beyond the vocabulary of {size}: {said}")


def _routing(
    config: dict[str, Any],
    options: argparse.Namespace,
    changes: Changes,
    earlier: RoutingPlan | None,
) -> RoutingPlan | None:
    """Balanced routing of the experts that the config has now, if asked for now or before."""
    if options.balanced_routing:
        ep_ranks = options.ep_ranks
    elif earlier is not None:
        ep_ranks = earlier.ep_ranks
    else:
        return None
    moe = model_sizes.moe_sizes(model_files.text_config(config))
    if moe is None:
        raise CaptureError(
            "--balanced-routing: the config has no experts", "leave it out for a dense model"
        )
    experts = model_files.text_config(config)[moe.count_key]
    if experts % ep_ranks:
        divisors = ", ".join(str(n) for n in range(1, min(experts, 512) + 1) if experts % n == 0)
        raise CaptureError(
            f"--ep-ranks {ep_ranks}: {experts} experts are not divisible by it",
            f"these divide: {divisors}",
            errors.USAGE,
        )
    changes.notes.append(
        f"{_BALANCED}{moe.top_k} of {experts} experts a token, round robin, where hooks run"
    )
    groups = moe.groups if experts % moe.groups == 0 else 1
    return RoutingPlan(experts, moe.top_k, groups, min(moe.top_groups, groups), ep_ranks)
