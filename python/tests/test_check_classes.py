"""`check`, class: which class of the engine is loaded, and whether it generates text."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from conftest import RunCapture

from layerscope.capture import engines
from layerscope.capture.check import class_checks, command
from layerscope.capture.check.finding import Finding
from layerscope.capture.model_files import locate

# As the sources of both write them: transformers 5.24, vLLM 0.32.
_LISTS = """
MODEL_MAPPING_NAMES = OrderedDict([("bert", "BertModel"), ("vl", "VlModel")])
MODEL_FOR_CAUSAL_LM_MAPPING_NAMES = OrderedDict(
    [
        ("bert", "BertLMHeadModel"),
        ("qwen3", "Qwen3ForCausalLM"),
        ("bamba", "BambaForCausalLM"),
    ]
)
MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES = OrderedDict(
    [
        ("vl", "VlForConditionalGeneration"),
    ]
)
MODEL_FOR_MASKED_LM_MAPPING_NAMES = OrderedDict([("bert", ("BertForMaskedLM", "BertOther"))])
"""
_REGISTRY = """
_TEXT_GENERATION_MODELS = {
    "Qwen3ForCausalLM": ("qwen3", "Qwen3ForCausalLM"),
    "LongForCausalLM": (
        "long",
        "LongForCausalLM",
    ),
}
_TRANSFORMERS_SUPPORTED_MODELS = {
    "ArceeForCausalLM": ("transformers", "TransformersForCausalLM"),
}
_PREVIOUSLY_SUPPORTED_MODELS = {
    "BambaForCausalLM": "0.23.0",
    "GoneForCausalLM": "0.9.2",
}
"""


@pytest.fixture(autouse=True)
def sources(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Installed engines, as far as `check` reads them."""
    for engine, text in ((engines.TRANSFORMERS, _LISTS), (engines.VLLM, _REGISTRY)):
        package, inside = class_checks._REGISTRIES[engine]
        file = tmp_path / "site" / package / inside
        file.parent.mkdir(parents=True)
        file.write_text(text)

    def find_spec(name: str) -> object:
        return type("Spec", (), {"submodule_search_locations": [str(tmp_path / "site" / name)]})

    monkeypatch.setattr("importlib.util.find_spec", find_spec)
    monkeypatch.setattr(engines, "version_of", lambda engine: "1.0")


def _found(folder: Path, engine: str, model_type: str, *names: str) -> Finding:
    config = {"model_type": model_type, "architectures": list(names), "num_hidden_layers": 2}
    (folder / "config.json").write_text(json.dumps(config))
    return class_checks.check_architecture(engine, locate(str(folder)), config)


@pytest.mark.parametrize(
    ("model_type", "name", "state", "said"),
    [
        ("qwen3", "Qwen3ForCausalLM", "ok", "has Qwen3ForCausalLM, which generates text"),
        ("vl", "VlForConditionalGeneration", "ok", "VlForConditionalGeneration, which generates"),
        ("vl", "VlModel", "note", "has VlModel, which does not generate text: profile refuses it"),
        ("bert", "BertForMaskedLM", "note", "BertForMaskedLM, which does not generate text"),
        ("bert", "BertOther", "note", "BertOther, which does not generate text"),
        ("qwen3", "BambaForCausalLM", "note", "than qwen3: transformers loads Qwen3ForCausalLM"),
        ("qwen3", "NewForCausalLM", "MISSING", "transformers 1.0 does not name NewForCausalLM"),
        ("qwen4", "Qwen3ForCausalLM", "MISSING", "does not name Qwen3ForCausalLM"),
    ],
)
def test_transformers_loads_the_class_that_is_named_where_it_is_of_the_model_type(
    model_type: str, name: str, state: str, said: str, tmp_path: Path
) -> None:
    found = _found(tmp_path, engines.TRANSFORMERS, model_type, name)
    assert (found.state, said in found.text) == (state, True), found.text


@pytest.mark.parametrize(
    ("name", "state", "said"),
    [
        ("Qwen3ForCausalLM", "ok", "vllm has Qwen3ForCausalLM"),
        ("LongForCausalLM", "ok", "vllm has LongForCausalLM"),
        ("ArceeForCausalLM", "note", "vllm has no ArceeForCausalLM of its own"),
        ("BambaForCausalLM", "note", "vllm has no BambaForCausalLM of its own"),
        ("VlForConditionalGeneration", "note", "(its Transformers fallback)"),
        ("GoneForCausalLM", "MISSING", "vllm 1.0 does not name GoneForCausalLM"),
        ("NewForCausalLM", "MISSING", "vllm 1.0 does not name NewForCausalLM"),
    ],
)
def test_what_vllm_runs_through_transformers_alone_is_said(
    name: str, state: str, said: str, tmp_path: Path
) -> None:
    """Not in its lists, or there by the last version that had it: transformers' own, if any."""
    found = _found(tmp_path, engines.VLLM, "x", name)
    assert (found.state, said in found.text) == (state, True), found.text


def test_what_comes_next_is_what_the_class_can_do(
    tmp_path: Path, run_capture: RunCapture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engines, "is_installed", lambda engine: True)
    model = locate(str(_model(tmp_path)))
    masked = class_checks.check_architecture(
        engines.TRANSFORMERS, model, json.loads(model.config.read_text())
    )
    monkeypatch.setattr(command, "findings", lambda name, engine: [masked])
    said = run_capture("check", tmp_path, "--engine", "transformers").out
    walk = f"walk {tmp_path} -o model_tree.json --dummy-weights --engine transformers\n"
    assert said.endswith(f"next:\n  layerscope-capture {walk}")  # and no profile

    monkeypatch.setattr(command, "findings", lambda name, engine: [])
    said = run_capture("check", tmp_path, "--engine", "transformers").out
    assert said.count(" --dummy-weights --engine transformers") == 2  # of walk and profile
    assert "--engine" not in run_capture("check", tmp_path, "--engine", "vllm").out  # the default


def _model(folder: Path) -> Path:
    _found(folder, engines.TRANSFORMERS, "bert", "BertForMaskedLM")
    return folder
