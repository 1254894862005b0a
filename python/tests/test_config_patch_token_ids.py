"""Token ids in a divided vocabulary: inside of it, and as different as they were."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import real_configs
from conftest import RunCapture

from layerscope.capture import model_files
from layerscope.capture.config_patch import token_ids
from layerscope.capture.config_patch.changes import Changes
from layerscope.capture.config_patch.mock_options import MockOptions
from layerscope.capture.config_patch.tensor_parallel import mock_rank_zero
from layerscope.capture.errors import CaptureError
from layerscope.capture.random_prompts import token_range

_SIZES = {"hidden_size": 64, "num_attention_heads": 4, "head_dim": 16, "vocab_size": 1024}


def _mocked(generation: dict[str, Any] | None = None, **keys: Any) -> dict[str, Any]:
    """Rank 0 of 4: 256 ids."""
    config = {"text_config": dict(_SIZES), **keys}
    mock_rank_zero(config, MockOptions(4), Changes(), None, generation)
    return {key: config[key] for key in keys}


@pytest.mark.parametrize(
    ("key", "value", "moved"),
    [
        ("image_token_id", 1000, 1),
        ("image_token_index", -200, -200),  # no token at all
        ("eos_token_id", [1001, 7, 1000], [2, 7, 1]),
        ("bad_words_ids", [[1000, 5], [256]], [[2, 5], [1]]),
        ("pad_token_id", 255, 255),  # the last that is inside
        ("pad_token_id", None, None),
        ("use_eos_token_id", True, True),
        ("num_image_tokens", 1000, 1000),  # a count, no id
        ("vision_soft_tokens_per_image", 280, 280),
        ("audio_config", {"boa_token_id": 999}, {"boa_token_id": 1}),
        ("towers", [{"start_token_id": 999}], [{"start_token_id": 1}]),
        # A talker has a vocabulary of its own, in which its ids stay.
        ("talker", {"vocab_size": 3000, "codec_eos_token_id": 2999}, None),
        ("talker", {"bos_token_id": 999, "code": {"vocab_size": 3000, "eos_token_id": 2999}}, {
            "bos_token_id": 1, "code": {"vocab_size": 3000, "eos_token_id": 2999}}),
    ],
)  # fmt: skip
def test_ids_are_moved_wherever_they_stand(key: str, value: Any, moved: Any) -> None:
    moved = value if key == "talker" and moved is None else moved
    assert _mocked(**{key: value}) == {key: moved}


def test_different_ids_stay_different_and_equal_ones_equal() -> None:
    generation = {"eos_token_id": [900, 3, 950], "pad_token_id": 0, "temperature": 0.6}
    ids = _mocked(generation, bos_token_id=900, pad_token_id=0, image_token_id=970, sep_token_id=2)
    # 0, 2 and 3 are taken; 900, 950, 970 get 1, 4, 5.
    assert ids == {"bos_token_id": 1, "pad_token_id": 0, "image_token_id": 5, "sep_token_id": 2}
    assert generation == {"eos_token_id": [1, 3, 4], "pad_token_id": 0, "temperature": 0.6}


def test_a_vocabulary_that_is_too_small_is_refused_and_the_way_out_named() -> None:
    """128 tokens on 64 ranks are 2 ids, of which 0 is not given away."""
    config = {**_SIZES, "num_attention_heads": 64, "vocab_size": 128}
    ids = {"bos_token_id": 100, "eos_token_id": 101}
    with pytest.raises(CaptureError, match="a vocabulary of 2 has too few ids") as refused:
        mock_rank_zero({**config, **ids}, MockOptions(64), Changes())
    # 32 ranks have 4 ids: 1 and 2 are given away.
    assert refused.value.hint == (
        "these divide: 2, 4, 8, 16, 32; 2, 4, 8, 16, 32, 64 with --keep-vocab"
    )


def test_a_wrapper_that_repeats_the_vocabulary_follows() -> None:
    assert _mocked(vocab_size=1024) == {"vocab_size": 256}
    assert _mocked(vocab_size=7) == {"vocab_size": 7}  # something else


@pytest.mark.usefixtures("real_configs_here")
def test_no_real_config_keeps_an_id_that_its_rank_has_not() -> None:
    """Read anew here: every number under a name with `token_id` or `token_index`."""

    def ids(node: Any, key: str = "") -> list[int]:
        if isinstance(node, dict):
            return [i for k, v in node.items() for i in ids(v, k)]
        if isinstance(node, list):
            return [i for value in node for i in ids(value, key)]
        return [node] if isinstance(node, int) and key.endswith(("token_id", "token_index")) else []

    for name in real_configs.names():
        config = real_configs.read(name)
        before = ids(config)
        mock_rank_zero(config, MockOptions(2), Changes())
        after = ids(config)
        assert all(i < model_files.text_config(config)["vocab_size"] for i in after), name
        assert len(set(after)) == len(set(before)), name


@pytest.mark.usefixtures("real_configs_here")
def test_random_prompts_of_a_rank_hold_no_special_token(tmp_path: Path) -> None:
    """A placeholder of an image among them would want an image."""
    config = real_configs.read("google--gemma-4-26B-A4B")
    mock_rank_zero(config, MockOptions(8), Changes())
    (tmp_path / "config.json").write_text(json.dumps(config))
    first, last = token_range(str(tmp_path))
    assert (first, last) == (100, 20_000)
    assert not token_ids.ids_beyond(config, first)


def test_the_generation_config_is_written_with_the_ids_of_the_rank(
    run_capture: RunCapture, tmp_path: Path
) -> None:
    model, out = tmp_path / "model", tmp_path / "out"
    model.mkdir()
    config = {"model_type": "x", "num_hidden_layers": 2, **_SIZES, "eos_token_id": 1001}
    (model / "config.json").write_text(json.dumps(config))
    (model / "generation_config.json").write_text('{"eos_token_id": [1001, 1003], "top_k": 20}')
    done = run_capture("config-patch", model, "--mock-tp", 4, "-o", out)
    assert done.code == 0, done.err
    written = json.loads((out / "generation_config.json").read_text())
    assert written == {"eos_token_id": [1, 2], "top_k": 20}
    assert json.loads((out / "config.json").read_text())["eos_token_id"] == 1
    assert "generation_config.json.eos_token_id: [1001, 1003] -> [1, 2]" in done.out
    (model / "generation_config.json").write_text("{")
    broken = run_capture("config-patch", model, "--mock-tp", 4, "--force", "-o", out)
    assert (broken.code, "generation_config.json: not JSON" in broken.err) == (3, True)


def test_a_vocabulary_that_was_set_smaller_names_the_ids_beyond_it(
    run_capture: RunCapture, tmp_path: Path
) -> None:
    config = {"model_type": "x", "num_hidden_layers": 2, **_SIZES, "eos_token_id": [7, 1001]}
    (tmp_path / "config.json").write_text(json.dumps(config))
    done = run_capture("config-patch", tmp_path, "--set", "vocab_size=512", "--dry-run")
    assert "note: beyond the vocabulary of 512: eos_token_id 1001" in done.out
