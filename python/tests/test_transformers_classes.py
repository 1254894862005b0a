"""Which class plain transformers loads: the one that `architectures` names, as engines do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import RunCapture, read_json

from layerscope.capture import errors

pytestmark = pytest.mark.torch

_TEXT = {
    "vocab_size": 128,
    "hidden_size": 32,
    "intermediate_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "bos_token_id": 1,
    "eos_token_id": 2,
}


@pytest.fixture
def llava(tmp_path: Path) -> Path:
    """A LlavaForConditionalGeneration with weights: a picture's tower and a Llama below it."""
    import torch
    from transformers import LlavaConfig, LlavaForConditionalGeneration

    vision = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 1}
    vision |= {"num_attention_heads": 2, "image_size": 28, "patch_size": 14}
    config = LlavaConfig(
        text_config={"model_type": "llama", **_TEXT},
        vision_config={"model_type": "clip_vision_model", **vision},
        image_token_index=5,
    )
    torch.manual_seed(0)
    LlavaForConditionalGeneration(config).save_pretrained(tmp_path / "llava")
    return tmp_path / "llava"


def _walked(run_capture: RunCapture, model: Path, *words: str) -> dict[str, Any]:
    tree = model.parent / "model_tree.json"
    where = ("--engine", "transformers", "--device", "cpu", "--force", "-o", tree)
    done = run_capture("walk", model, *where, "--with-forward", *words)
    assert done.code == errors.OK, done.err
    document: dict[str, Any] = read_json(tree)
    return document


def _change(model: Path, **keys: Any) -> None:
    config = json.loads((model / "config.json").read_text())
    (model / "config.json").write_text(json.dumps({**config, **keys}))


def test_a_multimodal_model_generates_text(
    llava: Path, tmp_path: Path, run_capture: RunCapture
) -> None:
    done = run_capture(
        "profile", llava, "--engine", "transformers", "--device", "cpu", "--input-len", "6",
        "--output-len", "3", "--warmup", "0", "-o", tmp_path / "profiles",
    )  # fmt: skip
    assert done.code == errors.OK, done.err
    tree = read_json(tmp_path / "profiles" / "model_tree.json")["tree"]
    assert tree["class"] == "LlavaForConditionalGeneration"


@pytest.mark.parametrize("words", [(), ("--dummy-weights",)])
@pytest.mark.parametrize("named", [["LlavaForConditionalGeneration"], None, ["NewForVision"]])
def test_it_is_walked_with_its_head_also_where_no_class_of_transformers_is_named(
    named: Any, words: tuple[str, ...], llava: Path, run_capture: RunCapture
) -> None:
    _change(llava, architectures=named)
    document = _walked(run_capture, llava, *words)
    assert [child["path"] for child in document["tree"]["children"]] == ["model", "lm_head"]
    assert "lm_head" in [entry["path"] for entry in document["call_order"]]


@pytest.mark.parametrize(
    ("named", "loaded"),
    [
        ("LlamaForCausalLM", "LlamaForCausalLM"),
        ("LlamaModel", "LlamaModel"),
        ("LlamaForSequenceClassification", "LlamaForSequenceClassification"),
        ("GPT2LMHeadModel", "LlamaForCausalLM"),  # of another config
        ("pipeline", "LlamaForCausalLM"),  # names of transformers that are no models
        ("PreTrainedModel", "LlamaForCausalLM"),
    ],
)
def test_the_class_that_is_named_is_loaded_where_it_takes_the_config(
    named: str, loaded: str, tmp_path: Path, run_capture: RunCapture
) -> None:
    model = tmp_path / "llama"
    model.mkdir()
    config = {"model_type": "llama", "architectures": [named], "pad_token_id": 3, **_TEXT}
    (model / "config.json").write_text(json.dumps(config))
    tree = _walked(run_capture, model, "--dummy-weights", "--dtype", "bf16")["tree"]
    assert tree["class"] == loaded


def test_a_class_without_a_head_of_text_is_refused_by_profile(
    tmp_path: Path, run_capture: RunCapture
) -> None:
    config = {"model_type": "llama", "architectures": ["LlamaModel"], **_TEXT}
    (tmp_path / "config.json").write_text(json.dumps(config))
    done = run_capture(
        "profile", tmp_path, "--engine", "transformers", "--device", "cpu", "--dummy-weights",
        "--no-stack", "--input-len", "6", "--output-len", "2", "-o", tmp_path / "profiles",
    )  # fmt: skip
    assert done.code == errors.INVALID_INPUT
    assert "LlamaModel does not generate text" in done.err
