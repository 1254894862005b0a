"""`walk` in plain transformers: one process, one document."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from layerscope.capture import engines, transformers_model
from layerscope.capture.errors import of_foreign_code
from layerscope.capture.model_options import ModelOptions
from layerscope.capture.profiler import recording
from layerscope.capture.walk.call_order import CallRecorder
from layerscope.capture.walk.document import ProfilePlace, Run, document
from layerscope.capture.walk.snapshot import calls_of, snapshot

TRACE_NAME = "rank0.pt.trace.json.gz"


def walk_transformers(
    options: ModelOptions, run_id: str, input_len: int | None, profile: ProfilePlace | None
) -> list[dict[str, Any]]:
    """Loads the model and walks it; with `input_len` a forward of so many tokens runs.

    With `profile` a second one is recorded.
    """
    return [tree_of(options, transformers_model.load(options), run_id, input_len, profile)]


def tree_of(
    options: ModelOptions,
    model: Any,
    run_id: str,
    input_len: int | None,
    profile: ProfilePlace | None = None,
) -> dict[str, Any]:
    """The document of a loaded model."""
    with of_foreign_code(f"the modules of {options.model} cannot be read"):
        return _tree_of(options, model, run_id, input_len, profile)


def _tree_of(
    options: ModelOptions,
    model: Any,
    run_id: str,
    input_len: int | None,
    profile: ProfilePlace | None,
) -> dict[str, Any]:
    run = Run(
        model=options.model,
        source="loaded_transformers_model",
        run_id=run_id,
        engine={"name": engines.TRANSFORMERS, "version": engines.version_of(engines.TRANSFORMERS)},
        config=model.config.to_dict(),
        world={"tp": 1, "pp": 1, "dp": 1, "ep": 1},
        dummy_weights=options.dummy_weights,
        profile_dir=None if profile is None else str(profile.final),
    )
    return document(run, see(model, input_len, None if profile is None else profile.now))


def see(model: Any, input_len: int | None, profile_into: Path | None) -> dict[str, Any]:
    """What `document` takes, of a model of transformers."""
    seen = snapshot(model)
    if input_len is None:
        return seen
    prompt = transformers_model.random_prompt(model, input_len, seed=0)
    with CallRecorder(model) as recorder:
        transformers_model.generate(model, prompt, output_len=1)
    seen["calls"] = calls_of(recorder)
    if profile_into is not None:
        with recording(profile_into / TRACE_NAME):
            transformers_model.generate(model, prompt, output_len=1)
    return seen
