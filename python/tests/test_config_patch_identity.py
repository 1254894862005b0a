"""Another identity: what goes with it, and the text model that is taken out of its wrapper."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest
import real_configs
from conftest import RunCapture

from layerscope.capture import config_classes, model_files
from layerscope.capture.check import model_checks
from layerscope.capture.config_patch import identity
from layerscope.capture.config_patch.changes import Changes
from layerscope.capture.errors import USAGE, CaptureError
from layerscope.capture.model_files import ModelFiles

_KIMI = "nvidia--Kimi-K2.6-NVFP4"
_KIMI_AS_V3 = ("--model-type", "deepseek_v3", "--architectures", "DeepseekV3ForCausalLM")


def _flat() -> dict[str, Any]:
    return {
        "architectures": ["OldForCausalLM"],
        "model_type": "old",
        "auto_map": {"AutoConfig": "configuration_old.OldConfig"},
        "num_hidden_layers": 8,
    }


def _wrapper() -> dict[str, Any]:
    """Of types that transformers does not know."""
    return {
        "architectures": ["OuterModel"],
        "model_type": "outer",
        "auto_map": {"AutoConfig": "configuration_outer.OuterConfig"},
        "eos_token_id": 2,
        "image_token_id": 90,
        "tie_word_embeddings": True,
        "quantization_config": {
            "ignore": [
                "language_model.lm_head",
                "model.language_model.layers.0*",
                r"re:language_model\.model\.layers\.1\..*",
                "vision_tower*",
            ],
            "quantized_layers": {"language_model.model.layers.2": {"group_size": 16}},
        },
        "vision_config": {"depth": 2},
        "text_config": {
            "architectures": ["InnerForCausalLM"],
            "model_type": "inner",
            "auto_map": {"AutoConfig": "configuration_inner.InnerConfig"},
            "num_hidden_layers": 8,
            "eos_token_id": None,
            "tie_word_embeddings": False,
        },
    }


def _rewritten(
    config: dict[str, Any], model_type: str | None, *architectures: str
) -> tuple[dict[str, Any], Changes]:
    changes = Changes()
    identity.rewrite_identity(config, model_type, architectures, changes)
    return config, changes


def test_a_rewritten_identity_takes_the_code_of_the_old_one_along() -> None:
    config, changes = _rewritten(_flat(), "new", "NewForCausalLM")
    assert config == {
        "architectures": ["NewForCausalLM"],
        "model_type": "new",
        "num_hidden_layers": 8,
    }
    assert [change.key for change in changes.changes] == ["model_type", "architectures", "auto_map"]


# What is written out is the text model's, but for what the wrapper says of the text model.
_LIFTED = {
    "num_hidden_layers": 8,
    "eos_token_id": 2,
    "tie_word_embeddings": True,
    "quantization_config": {
        "ignore": [
            "lm_head",
            "model.layers.0*",
            r"re:model\.layers\.1\..*",
            "vision_tower*",
        ],
        "quantized_layers": {"model.layers.2": {"group_size": 16}},
    },
}


@pytest.mark.parametrize(
    ("model_type", "architectures", "written"),
    [
        ("new", ("NewForCausalLM",), ["NewForCausalLM"]),
        ("inner", (), ["InnerForCausalLM"]),  # it names its own class
        ("inner", ("AnyModel",), ["AnyModel"]),
    ],
)
def test_a_text_model_is_taken_out_of_its_wrapper(
    model_type: str, architectures: tuple[str, ...], written: list[str]
) -> None:
    config, changes = _rewritten(_wrapper(), model_type, *architectures)
    assert config == {**_LIFTED, "model_type": model_type, "architectures": written}
    by_key = {change.key: change for change in changes.changes}
    assert by_key["text_config"].before["num_hidden_layers"] == 8
    assert {"vision_config", "image_token_id", "auto_map", "text_config.auto_map"} < set(by_key)
    assert "none fit" in changes.notes[0]


def test_a_wrapper_that_stays_one_keeps_its_text_model_inside() -> None:
    expected = _wrapper()
    for holder in (expected, expected["text_config"]):
        del holder["auto_map"]
    expected |= {"model_type": "new", "architectures": ["NewForConditionalGeneration"]}
    config, changes = _rewritten(_wrapper(), "new", "NewForConditionalGeneration")
    assert config == expected
    assert changes.notes == []


@pytest.mark.parametrize("architectures", [(), ("NewModel",)])
def test_what_may_be_a_wrapper_or_a_text_model_is_refused(architectures: tuple[str, ...]) -> None:
    config = _wrapper()
    with pytest.raises(CaptureError, match="sizes lie in text_config") as refused:
        _rewritten(config, "new", *architectures)
    assert refused.value.code == USAGE
    assert "--architectures …ForCausalLM" in refused.value.hint
    assert config == _wrapper()


@pytest.mark.torch
@pytest.mark.usefixtures("real_configs_here")
def test_a_type_that_transformers_knows_as_a_wrapper_stays_one() -> None:
    """Llama4Config reads text_config, whatever the class is called."""
    name = "meta-llama--Llama-4-Scout-17B-16E-Instruct"
    config, _ = _rewritten(real_configs.read(name), "llama4", "Llama4ForCausalLM")
    assert config["text_config"] == real_configs.read(name)["text_config"]


# name, type, class, and sizes of the text model as they stand in the real config.
_REAL: tuple[tuple[str, str, str, dict[str, Any]], ...] = (
    (
        _KIMI,
        "deepseek_v3",
        "DeepseekV3ForCausalLM",
        {
            "num_hidden_layers": 61,
            "hidden_size": 7168,
            "num_attention_heads": 64,
            "n_routed_experts": 384,
            "first_k_dense_replace": 1,
            "n_group": 1,
            "vocab_size": 163840,
            "eos_token_id": 163586,
        },
    ),
    (
        "Qwen--Qwen3-VL-30B-A3B-Instruct",
        "qwen3_moe",
        "Qwen3MoeForCausalLM",
        {
            "num_hidden_layers": 48,
            "hidden_size": 2048,
            "num_experts": 128,
            "moe_intermediate_size": 768,
            "tie_word_embeddings": False,
        },
    ),
    (
        "google--gemma-4-26B-A4B",
        "gemma4_text",
        "Gemma4ForCausalLM",
        {"num_hidden_layers": 30, "hidden_size": 2816, "tie_word_embeddings": True},
    ),
    (
        "meta-llama--Llama-4-Scout-17B-16E-Instruct",
        "llama4_text",
        "Llama4ForCausalLM",
        {"num_hidden_layers": 48, "hidden_size": 5120, "num_local_experts": 16},
    ),
)


@pytest.mark.torch
@pytest.mark.usefixtures("real_configs_here")
@pytest.mark.parametrize(("name", "model_type", "architecture", "sizes"), _REAL)
def test_transformers_reads_the_sizes_of_the_text_model(
    name: str,
    model_type: str,
    architecture: str,
    sizes: dict[str, Any],
    run_capture: RunCapture,
    tmp_path: Path,
) -> None:
    from transformers import AutoConfig

    done = run_capture(
        "config-patch", real_configs.path_of(name), "--model-type", model_type,
        "--architectures", architecture, "--no-aux", "-o", tmp_path / "out",
    )  # fmt: skip
    assert done.code == 0, done.err
    config = AutoConfig.from_pretrained(tmp_path / "out", trust_remote_code=False)
    assert config.model_type == model_type
    assert {key: getattr(config, key) for key in sizes} == sizes


@pytest.mark.usefixtures("real_configs_here")
def test_what_is_beside_a_text_model_names_its_modules_too(
    run_capture: RunCapture, tmp_path: Path
) -> None:
    """hf_quant_config.json and quantization_config of Kimi-K2.6 leave the same modules as are."""
    model = tmp_path / "model"
    model.mkdir()
    for kind in ("config", "hf_quant_config"):
        text = (real_configs.FOLDER / f"{_KIMI}_{kind}.json").read_text()
        (model / f"{kind}.json").write_text(text)
    (model / "model.safetensors").write_bytes(b"")
    out = tmp_path / "out"
    assert run_capture("config-patch", model, *_KIMI_AS_V3, "-o", out).code == 0
    config, quant = (
        json.loads((out / f"{kind}.json").read_text()) for kind in ("config", "hf_quant_config")
    )
    for names in (
        config["quantization_config"]["ignore"],
        quant["quantization"]["exclude_modules"],
    ):
        assert {"lm_head", "model.layers.0*", "model.layers.60.self_attn*"} <= set(names)
        assert not any("language_model" in name for name in names)
    plan = json.loads((out / "layerscope_patch.json").read_text())
    assert plan["needs_dummy_weights"] is True
    linked = ("--link-weights", "-o", tmp_path / "linked")
    done = run_capture("config-patch", model, *_KIMI_AS_V3, *linked)
    assert done.code == USAGE
    assert "weights do not fit" in done.err


_READER = """
class WrapperConfig(PreTrainedConfig):
    model_type = "a_wrapper"
    sub_configs = {"text_config": TextConfig}


@auto_docstring(text_config="of the next class")
class TextConfig(PreTrainedConfig):
    model_type = "a_text_model"
    base_config_key = "text_config"
    hidden_size: int = 4096


class OtherConfig(TextConfig):
    model_type = "of_another_base"
"""


def test_objects_that_a_class_knows_are_found_in_its_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "transformers" / "models" / "x"
    folder.mkdir(parents=True)
    (tmp_path / "transformers" / "__init__.py").touch()
    (folder / "configuration_x.py").write_text(_READER)
    monkeypatch.setattr("importlib.util.find_spec", _spec_of(tmp_path / "transformers"))
    assert config_classes.known_objects("a_wrapper") == frozenset({"text_config"})
    assert config_classes.known_objects("a_text_model") == frozenset()
    assert config_classes.known_objects("of_another_base") is None
    assert config_classes.known_objects("nobodys") is None


def _spec_of(folder: Path) -> Any:
    class Spec:
        submodule_search_locations = (str(folder),)

    return lambda _: Spec


@pytest.mark.torch
@pytest.mark.usefixtures("real_configs_here")
def test_check_misses_sizes_that_the_class_does_not_read(
    run_capture: RunCapture, tmp_path: Path
) -> None:
    """With a model type alone the sizes of Kimi-K2.6 stay where DeepseekV3Config does not look."""
    config = real_configs.read(_KIMI)
    path = tmp_path / "config.json"
    files = ModelFiles(str(path), tmp_path, path)
    assert _states(files, config) == ["ok"]
    config["model_type"] = "deepseek_v3"
    assert _states(files, config) == ["ok"]  # its auto_map names the class
    del config["auto_map"]
    assert _states(files, config) == ["MISSING"]
    found = model_checks.check_config(files, config)[0]
    assert (
        "lie in text_config, which transformers' class of deepseek_v3 does not read" in found.text
    )
    path.write_text(json.dumps(config))
    words = found.mend.removeprefix("layerscope-capture ").replace("DIR", str(tmp_path / "out"))
    assert run_capture(*words.split()).code == 0
    mended = model_files.load_config(tmp_path / "out" / "config.json")
    assert _states(files, mended) == ["ok"]


def _states(files: ModelFiles, config: dict[str, Any]) -> list[str]:
    return [found.state for found in model_checks.check_config(files, config)]


@pytest.mark.usefixtures("real_configs_here")
def test_no_real_config_lies_where_its_class_does_not_look() -> None:
    for name in real_configs.names():
        config = copy.deepcopy(real_configs.read(name))
        config.pop("auto_map", None)
        path = real_configs.path_of(name)
        assert _states(ModelFiles(name, path.parent, path), config) == ["ok"], name
