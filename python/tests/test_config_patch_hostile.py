"""Configs that are broken in every way: refused with a CaptureError, or patched, never a crash."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import pytest
import real_configs

from layerscope.capture import model_files, model_values
from layerscope.capture.check import model_checks
from layerscope.capture.config_patch import fewer_layers, overrides, token_ids
from layerscope.capture.config_patch.changes import Changes
from layerscope.capture.config_patch.mock_options import MockOptions
from layerscope.capture.config_patch.tensor_parallel import mock_rank_zero
from layerscope.capture.errors import CaptureError
from layerscope.capture.model_files import ModelFiles
from layerscope.capture.patches import model_of_plan

_JUNK: tuple[Any, ...] = (
    *(0, -1, 1, 7, 10**30, True, 0.5, float("nan"), float("inf"), None, "", "x", "re:(["),
    *([], [0], [None], ["*"], [[1]], {}, {"a": {}}, {"weights": 3}),
)
_ROUNDS = 12  # mutations of each config


def _holders(node: Any) -> list[Any]:
    if not isinstance(node, (dict, list)) or not node:
        return []
    inner = list(node.values()) if isinstance(node, dict) else node[:4]
    return [node, *(holder for value in inner for holder in _holders(value))]


def _break(config: dict[str, Any], chance: random.Random) -> None:
    for _ in range(chance.randint(1, 3)):
        holder = chance.choice(_holders(config) or [config])
        key = chance.choice(list(holder) if isinstance(holder, dict) else range(len(holder)))
        if isinstance(holder, dict) and chance.random() < 0.3:
            del holder[key]
        else:
            holder[key] = copy.deepcopy(chance.choice(_JUNK))


def _use(config: dict[str, Any], chance: random.Random, path: Path) -> None:
    """Everything that the commands do with a config."""
    path.write_text(json.dumps(config))
    config = model_files.load_config(path)
    files = ModelFiles(str(path), path.parent, path)
    model_checks.check_config(files, config)
    model_values.impossible_values(config)
    token_ids.ids_beyond(config, 1000)
    model_of_plan.plan_for(config)
    model_checks.dummy_caveats(files, config)
    fewer_layers.cut_layers(config, len(fewer_layers.kept_layers(config, 1, None)), Changes())
    options = MockOptions(
        ranks=chance.choice((2, 4, 8)),
        moe=chance.choice(("tp", "ep")),
        shared=chance.choice(("divided", "whole")),
        engine=chance.choice(("vllm", "trtllm")),
    )
    mock_rank_zero(config, options, Changes(), {"quantization": chance.choice(_JUNK)})


@pytest.mark.usefixtures("real_configs_here")
def test_broken_configs_are_refused_or_patched(tmp_path: Path) -> None:
    chance = random.Random(8)
    refused = patched = 0
    for name in real_configs.names():
        original = real_configs.read(name)
        for _ in range(_ROUNDS):
            config = copy.deepcopy(original)
            _break(config, chance)
            try:
                _use(config, chance, tmp_path / "config.json")
                patched += 1
            except CaptureError:
                refused += 1
    assert refused > 10 and patched > 100  # both ways were taken


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "not JSON"),
        ("[1]", "a JSON list, not an object"),
        ('{"model_type": ', "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"a":' * 40 + "1" + "}" * 40, "nested more than 32 deep"),
        ('{"weight_map": {}}', "the index of safetensors files"),
        ('{"tokenizer_class": "x", "added_tokens_decoder": {}}', "a tokenizer's config"),
        ('{"hello": 1}', "no model's config"),
        ('{"model_type": "x", "text_config": {}}', None),
    ],
)
def test_what_is_no_config_is_named(text: str, says: str | None, tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_text(text)
    if says is None:
        assert model_files.load_config(path)["model_type"] == "x"
        return
    with pytest.raises(CaptureError, match=says) as refused:
        model_files.load_config(path)
    assert refused.value.code == 3


def test_a_file_that_is_too_large_or_no_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "config.json"
    path.write_bytes(b" " * ((4 << 20) + 1))
    with pytest.raises(CaptureError, match="more than such a file has"):
        model_files.load_config(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(CaptureError, match="not UTF-8"):
        model_files.load_config(path)


@pytest.mark.parametrize(
    "assignment",
    [
        *("=", "=1", ".=1", "a..b=1", "..=", "a.=1", ".a=1", " =1", "a"),
        *("a=" + "[" * 100_000, "a=" + "9" * 5000, "f=1" + "0" * 400, "f=1e400"),
    ],
)
def test_strange_assignments_are_usage_errors(assignment: str) -> None:
    for change in (overrides.set_key, overrides.add_key):
        try:
            change({"a": [1], "b": {}, "f": 0.5}, assignment, Changes())
        except CaptureError as refused:
            assert refused.code == 2
