"""Dotted-key overrides: types, new keys, suggestions."""

from __future__ import annotations

from typing import Any

import pytest

from layerscope.capture.config_patch import overrides
from layerscope.capture.config_patch.changes import ABSENT, Changes
from layerscope.capture.errors import USAGE, CaptureError


def _config() -> dict[str, Any]:
    return {
        "architectures": ["OuterModel"],
        "model_type": "outer",
        "auto_map": {"AutoConfig": "configuration_outer.OuterConfig"},
        "tie_word_embeddings": False,
        "rope_scaling": None,
        "text_config": {
            "num_hidden_layers": 8,
            "rope_theta": 1e6,
            "hidden_act": "silu",
            "layer_types": ["full_attention", "sliding_attention"],
            "scales": [1.0, 0.5],
            "ratios": [1, 2],
            "quantized_layers": {"layers.0.experts": {"group_size": 16}},
        },
    }


def _set(assignment: str) -> tuple[dict[str, Any], Changes]:
    config, changes = _config(), Changes()
    overrides.set_key(config, assignment, changes)
    return config, changes


@pytest.mark.parametrize(
    ("assignment", "read", "value"),
    [
        ("text_config.num_hidden_layers=4", ("text_config", "num_hidden_layers"), 4),
        ("text_config.rope_theta=500000", ("text_config", "rope_theta"), 500000.0),
        ("text_config.num_hidden_layers=1e1", ("text_config", "num_hidden_layers"), 10),
        ("text_config.scales=[2, 0.5]", ("text_config", "scales"), [2.0, 0.5]),
        ("text_config.ratios=[4.0, 1e1]", ("text_config", "ratios"), [4, 10]),
        ("text_config.hidden_act=gelu", ("text_config", "hidden_act"), "gelu"),
        ("text_config.hidden_act=1e6", ("text_config", "hidden_act"), "1e6"),
        (
            "text_config.layer_types.1=full_attention",
            ("text_config", "layer_types", 1),
            "full_attention",
        ),
        (
            'text_config.layer_types=["full_attention"]',
            ("text_config", "layer_types"),
            ["full_attention"],
        ),
        ("tie_word_embeddings=true", ("tie_word_embeddings",), True),
        ('rope_scaling={"factor": 2.0}', ("rope_scaling",), {"factor": 2.0}),
        (
            "text_config.quantized_layers.layers.0.experts.group_size=32",
            ("text_config", "quantized_layers", "layers.0.experts", "group_size"),
            32,
        ),
    ],
)
def test_a_value_of_the_type_that_stands_there_is_set(
    assignment: str, read: tuple[Any, ...], value: Any
) -> None:
    config, _ = _set(assignment)
    node: Any = config
    for key in read:
        node = node[key]
    assert repr(node) == repr(value)  # 4 is not 4.0


@pytest.mark.parametrize(
    ("assignment", "says"),
    [
        ("text_config.num_hidden_layers=four", "a string where an integer stands"),
        ("text_config.num_hidden_layers=4.5", "a number where an integer stands"),
        ("text_config.num_hidden_layers=true", "true or false where an integer stands"),
        ("text_config.num_hidden_layers=null", "null where an integer stands"),
        ("text_config.rope_theta=true", "true or false where a number stands"),
        ("tie_word_embeddings=1", "an integer where true or false stands"),
        ("text_config.layer_types=full_attention", "a string where a list stands"),
        ("text_config.layer_types=[1, 2]", "a list with 1, an integer"),
        ("text_config.ratios=[1.5]", "a list with 1.5, a number"),
        ("text_config=4", "an integer where an object stands"),
        ("text_config.num_hidden_layers", "no KEY=VALUE"),
    ],
)
def test_a_value_of_another_type_is_refused(assignment: str, says: str) -> None:
    with pytest.raises(CaptureError) as refused:
        _set(assignment)
    assert says in refused.value.message
    assert refused.value.code == USAGE


@pytest.mark.parametrize(
    "assignment",
    [
        "text_config.num_hidden_layers=-3",
        "text_config.rope_theta=-1",
        "text_config.rope_theta=NaN",
        "text_config.rope_theta=Infinity",
        "text_config.rope_theta=1e400",
        "text_config.rope_theta=1" + "0" * 400,  # no float is as large
    ],
)
def test_a_number_that_cannot_be_meant_is_refused_and_the_way_round_named(assignment: str) -> None:
    with pytest.raises(CaptureError) as refused:
        _set(assignment)
    path = assignment.partition("=")[0]
    assert refused.value.code == USAGE
    assert refused.value.hint.startswith(f"if it is meant: --unset {path} --add {path}=")


def test_no_token_has_a_negative_id_and_that_may_be_set() -> None:
    config, changes = {"pad_token_id": 0, "image_token_index": 7}, Changes()
    overrides.set_key(config, "pad_token_id=-1", changes)
    overrides.set_key(config, "image_token_index=-200", changes)
    assert config == {"pad_token_id": -1, "image_token_index": -200}


def test_a_new_key_that_stands_elsewhere_is_noted() -> None:
    config, changes = _config(), Changes()
    overrides.add_key(config, "num_hidden_layers=4", changes)
    assert changes.notes == [
        "num_hidden_layers is new; text_config.num_hidden_layers was there and stays as it is"
    ]


@pytest.mark.parametrize(
    ("assignment", "suggestion"),
    [
        ("num_hidden_layers=4", "did you mean text_config.num_hidden_layers?"),
        ("text_config.num_hiden_layers=4", "did you mean text_config.num_hidden_layers?"),
        ("model_typ=x", "did you mean model_type?"),
        ("text_config.layer_types.7=x", "--add text_config.layer_types.7"),
    ],
)
def test_an_unknown_key_suggests_the_nearest(assignment: str, suggestion: str) -> None:
    with pytest.raises(CaptureError) as refused:
        _set(assignment)
    assert "no key" in refused.value.message
    assert suggestion in refused.value.hint


def test_a_new_key_needs_add_and_its_parent() -> None:
    config, changes = _config(), Changes()
    overrides.add_key(config, "text_config.index_topk=512", changes)
    assert config["text_config"]["index_topk"] == 512
    assert changes.document() == [{"key": "text_config.index_topk", "why": "--add", "after": 512}]
    with pytest.raises(CaptureError, match="exists already"):
        overrides.add_key(config, "model_type=x", changes)
    with pytest.raises(CaptureError, match="no key vision_config"):
        overrides.add_key(config, "vision_config.depth=2", changes)
    with pytest.raises(CaptureError, match="takes no keys"):
        overrides.add_key(config, "model_type.name=2", changes)


def test_a_key_is_removed_and_an_entry_of_a_list_is_not() -> None:
    config, changes = _config(), Changes()
    overrides.unset_key(config, "text_config.rope_theta", changes)
    assert "rope_theta" not in config["text_config"]
    assert changes.changes[0].after is ABSENT
    with pytest.raises(CaptureError, match="entry of a list"):
        overrides.unset_key(config, "text_config.layer_types.0", changes)


def test_a_key_of_a_config_begins_no_line_of_a_refusal() -> None:
    config = {"rope_theta\n\x1b[0m": 1}
    with pytest.raises(CaptureError) as refused:
        overrides.set_key(config, "rope_theta=2", Changes())
    assert str(refused.value).splitlines() == [
        "no key rope_theta in the config",
        r"  did you mean rope_theta\n\x1b[0m? A new key is made with --add rope_theta=...",
    ]
