"""Requests that are too long for a model are refused before an engine is started.

Expected lengths are those of the models' cards, or of the config's own numbers.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from layerscope.capture.context_length import check_context_length, context_length
from layerscope.capture.errors import USAGE, CaptureError


@pytest.fixture
def model(tmp_path: Path) -> str:
    """Of 64 positions."""
    config = {"model_type": "qwen3", "max_position_embeddings": 64}
    (tmp_path / "config.json").write_text(json.dumps(config))
    return str(tmp_path)


def test_what_fits_is_let_through(model: str) -> None:
    check_context_length(model, 64)
    check_context_length(model, 64, {"max_model_len": 64, "dtype": "auto"})
    check_context_length("org/not-in-the-cache", 10**9)


def test_more_than_the_model_has_is_refused(model: str) -> None:
    with pytest.raises(CaptureError, match=r"need 65 tokens, and .* takes 64") as caught:
        check_context_length(model, 65, hint="give a smaller past")
    assert (caught.value.code, caught.value.hint) == (USAGE, "give a smaller past")


@pytest.mark.parametrize("keyword", ["max_model_len", "context_length", "max_seq_len"])
@pytest.mark.parametrize("value", [32, "32"])
def test_more_than_the_engine_is_told_is_refused(model: str, keyword: str, value: object) -> None:
    with pytest.raises(CaptureError, match=rf"need 33 tokens, and {keyword} is 32") as caught:
        check_context_length(model, 33, {keyword: value})
    assert f"a larger {keyword}" in caught.value.hint


@pytest.mark.parametrize("value", ["auto", -1, None, True, 1.5, [32]])
def test_a_limit_that_is_no_number_is_the_engines_affair(model: str, value: object) -> None:
    check_context_length(model, 64, {"max_model_len": value})
    with pytest.raises(CaptureError):
        check_context_length(model, 65, {"max_model_len": value})


def test_who_overrides_the_config_or_allows_more_is_not_refused(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_context_length(model, 100, {"hf_overrides": {"max_position_embeddings": 128}})
    monkeypatch.setenv("VLLM_ALLOW_LONG_MAX_MODEL_LEN", "1")
    check_context_length(model, 100, {"max_model_len": 100})


@pytest.mark.parametrize(
    ("config", "tokens"),
    [
        ({"n_positions": 1024, "n_ctx": 1024}, 1024),  # GPT-2
        ({"max_seq_len": 2048}, 2048),  # MPT
        ({"seq_length": 32768}, 32768),  # ChatGLM
        (
            {"text_config": {"max_position_embeddings": 262144}, "max_position_embeddings": 8},
            262144,
        ),
        ({"model_max_length": 131072, "max_position_embeddings": 8192}, 131072),  # Command R
        # Llama 3.1: its scaling is counted in the positions.
        (
            {
                "max_position_embeddings": 131072,
                "rope_scaling": {"rope_type": "llama3", "factor": 8.0},
            },
            131072,
        ),
        ({"max_position_embeddings": 4096, "rope_scaling": {"type": "linear", "factor": 4}}, 16384),
        # gpt-oss: 4096 before, 32 times that after.
        (
            {
                "max_position_embeddings": 131072,
                "rope_parameters": {
                    "rope_type": "yarn",
                    "factor": 32.0,
                    "original_max_position_embeddings": 4096,
                },
            },
            131072,
        ),
        # Qwen2.5's card: YaRN is switched on so, for 131072 tokens.
        (
            {
                "max_position_embeddings": 32768,
                "rope_scaling": {
                    "type": "yarn",
                    "factor": 4.0,
                    "original_max_position_embeddings": 32768,
                },
            },
            131072,
        ),
        # A rotary embedding for each kind of layer.
        (
            {
                "max_position_embeddings": 1000,
                "rope_parameters": {
                    "full_attention": {"rope_type": "linear", "factor": 8.0},
                    "sliding_attention": {"rope_type": "default"},
                },
            },
            8000,
        ),
        ({"max_position_embeddings": 64, "rope_scaling": None}, 64),
    ],
)
def test_the_length_of_a_config(config: dict[str, Any], tokens: int) -> None:
    assert context_length(config) == tokens


@pytest.mark.parametrize(
    "config",
    [
        {},
        {"model_type": "mamba"},
        {"max_position_embeddings": -1},
        {"max_position_embeddings": "many"},
        {"max_position_embeddings": 10**400, "rope_scaling": {"factor": 1e300}},
    ],
)
def test_a_config_that_does_not_say(config: dict[str, Any]) -> None:
    assert context_length(config) is None
