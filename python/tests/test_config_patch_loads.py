"""Mocked configs are configs: transformers reads each that it knows, and builds the model."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import real_configs
from rank_zero_by_hand import EXPECTED

from layerscope.capture import model_files
from layerscope.capture.config_patch import fewer_layers
from layerscope.capture.config_patch.changes import Changes
from layerscope.capture.config_patch.mock_options import MockOptions
from layerscope.capture.config_patch.tensor_parallel import mock_rank_zero

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures("real_configs_here")]

_LAYERS = 6  # the model is built without memory, but not without time
# A flat file, where the class of transformers takes the language model's sizes from `text_config`.
_READ_OTHERWISE = "stepfun-ai--Step-3.7-Flash-FP8"


def _mocked(name: str) -> dict[str, Any]:
    config = real_configs.read(name)
    fewer_layers.cut_layers(config, _LAYERS, Changes())
    mock_rank_zero(config, MockOptions(EXPECTED[name][0]), Changes())
    return config


def _build(config: Any) -> Any:
    """The model of a config on the meta device, unquantised: that needs a GPU's libraries."""
    import torch
    from transformers import AutoModelForCausalLM, AutoModelForImageTextToText

    if hasattr(config, "quantization_config"):
        del config.quantization_config
    is_text = type(config) in AutoModelForCausalLM._model_mapping
    auto = AutoModelForCausalLM if is_text else AutoModelForImageTextToText
    with torch.device("meta"):
        return auto.from_config(config, trust_remote_code=False)


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_transformers_loads_the_mock_and_builds_it(
    name: str, tmp_path: Path, not_run_here: Callable[[str], None]
) -> None:
    from transformers import CONFIG_MAPPING, AutoConfig

    mocked = _mocked(name)
    if mocked["model_type"] not in CONFIG_MAPPING or name == _READ_OTHERWISE:
        not_run_here(f"mocked configs in transformers: it does not know {name}")
        pytest.skip("not known to transformers")
    (tmp_path / "config.json").write_text(json.dumps(mocked))
    config = AutoConfig.from_pretrained(tmp_path, trust_remote_code=False)
    keys = EXPECTED[name][1]
    text = config.get_text_config()
    assert text.num_hidden_layers == _LAYERS
    assert text.num_attention_heads == keys["num_attention_heads"]
    embedding = _build(config).get_input_embeddings()
    hidden = model_files.text_config(mocked)["hidden_size"]
    assert embedding.weight.shape == (keys["vocab_size"], hidden)
