"""Patched configs as transformers builds them: parameters of a rank, identity layers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import real_configs
import tiny_models
from conftest import RunCapture

from layerscope.capture.config_patch import fewer_layers
from layerscope.capture.config_patch.changes import Changes
from layerscope.capture.config_patch.mock_options import MockOptions
from layerscope.capture.config_patch.tensor_parallel import mock_rank_zero
from layerscope.capture.errors import CaptureError
from layerscope.capture.patches.identity_layers import find_layers, install_identity_layers
from layerscope.capture.patches.plan import PatchPlan, load_plan

pytestmark = pytest.mark.torch

# Parameters of the first 4 layers on rank 0 of TP=8, counted by hand from the shapes:
# embedding and head, final norm, then each layer.
_PARAMETERS = {
    "Qwen--Qwen3-8B": (
        2 * 18992 * 4096
        + 4096
        + 4 * (4096 * 4 * 128 * 2)  # q_proj, o_proj: 4 heads of 128
        + 4 * (4096 * 128 * 2)  # k_proj, v_proj: one KV head
        + 4 * (128 * 2)  # q_norm, k_norm
        + 4 * (4096 * 1536 * 3 + 2 * 4096)
    ),
    "meta-llama--Meta-Llama-3.1-70B": (
        2 * 16032 * 8192
        + 8192
        + 4 * (8192 * 8 * 128 * 2 + 8192 * 128 * 2)
        + 4 * (8192 * 3584 * 3 + 2 * 8192)
    ),
    "mistralai--Mixtral-8x7B-v0.1": (
        2 * 4000 * 4096
        + 4096
        + 4 * (4096 * 4 * 128 * 2 + 4096 * 128 * 2)
        + 4 * (8 * 4096 * 1792 * 3 + 8 * 4096 + 2 * 4096)  # 8 whole experts of an eighth, router
    ),
    "deepseek-ai--DeepSeek-R1": (
        2 * 16160 * 7168
        + 7168
        + 4 * (7168 * 1536 + 1536 + 1536 * 16 * (128 + 64))  # q: latent rank whole, 16 heads
        + 4 * (7168 * (512 + 64) + 512 + 512 * 16 * (128 + 128))  # kv: latent rank whole
        + 4 * (16 * 128 * 7168 + 2 * 7168)
        + 3 * (7168 * 2304 * 3)  # dense layers
        + (256 * 7168 * 256 * 3 + 256 * 7168 + 7168 * 256 * 3)  # experts, router, shared expert
    ),
}


@pytest.mark.usefixtures("real_configs_here")
@pytest.mark.parametrize("name", sorted(_PARAMETERS))
def test_a_rank_has_the_parameters_counted_by_hand(name: str, tmp_path: Path) -> None:
    import torch
    from transformers import AutoConfig, AutoModelForCausalLM

    config = real_configs.read(name)
    fewer_layers.cut_layers(config, 4, Changes())
    mock_rank_zero(config, MockOptions(8), Changes())
    config.pop("quantization_config", None)  # parameters of the unquantised model
    config.pop("auto_map", None)
    (tmp_path / "config.json").write_text(json.dumps(config))
    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(tmp_path))
    assert sum(p.numel() for p in model.parameters()) == _PARAMETERS[name]


def _load(folder: Path, **changes: Any) -> Any:
    from transformers import AutoConfig, AutoModelForCausalLM

    config = AutoConfig.from_pretrained(folder)
    for key, value in changes.items():
        setattr(config, key, value)
    return AutoModelForCausalLM.from_pretrained(folder, config=config).eval()


def _logits(model: Any) -> Any:
    import torch

    with torch.no_grad():
        return model(torch.arange(4, 24).view(2, 10)).logits


_FAMILIES = ["tiny_qwen3", "tiny_qwen3_moe", "tiny_gpt2"]


@pytest.mark.parametrize("family", _FAMILIES)
def test_identity_layers_give_the_logits_of_a_model_without_them(
    family: str, request: pytest.FixtureRequest
) -> None:
    """The reference is the same weights loaded with one layer: transformers ignores the others."""
    import torch

    folder = request.getfixturevalue(family)
    one_layer = _load(folder, **{"n_layer" if "gpt2" in family else "num_hidden_layers": 1})
    model = _load(folder)
    whole = _logits(model)
    plan = PatchPlan(tiny_models.LAYERS, keep_layers=(0,))
    patched = install_identity_layers(model, plan)
    prefix = "transformer.h" if "gpt2" in family else "model.layers"
    assert patched == [f"{prefix}.1"]
    torch.testing.assert_close(_logits(model), whole)  # the first call shows the form
    torch.testing.assert_close(_logits(model), _logits(one_layer))
    assert not torch.allclose(_logits(model), whole)


class _ResidualLayer:
    """The forward of a decoder layer of vLLM, SGLang and TensorRT-LLM, in their argument order."""

    def __init__(self) -> None:
        self.calls = 0

    def forward(self, positions: Any, hidden_states: Any, residual: Any, **kwargs: Any) -> Any:
        self.calls += 1
        return hidden_states * 2, residual + hidden_states, kwargs.get("topk_indices")


class _FirstRow:
    def forward(self, hidden_states: Any) -> Any:
        return hidden_states[:1]


class _Layers:
    """As much of a torch.nn.Module as the patch looks at."""

    def __init__(self, layers: list[Any]) -> None:
        self._layers = type("ModuleList", (list,), {})(layers)

    def named_modules(self) -> list[tuple[str, Any]]:
        return [("model", self), ("model.layers", self._layers)]


def test_hidden_states_and_residual_pass_an_engines_layer() -> None:
    import torch

    layers = [_ResidualLayer(), _ResidualLayer()]
    assert install_identity_layers(_Layers(layers), PatchPlan(2, (0,))) == ["model.layers.1"]
    hidden, residual, topk = torch.ones(3, 4), torch.zeros(3, 4), torch.zeros(3, 2)
    arguments = (torch.arange(3), hidden, residual)
    layers[1].forward(*arguments, topk_indices=topk)
    out = layers[1].forward(*arguments, topk_indices=topk)
    assert [a is b for a, b in zip(out, (hidden, residual, topk), strict=True)] == [True] * 3
    assert layers[1].calls == 1


def test_a_layer_whose_result_is_not_its_input_is_refused() -> None:
    import torch

    layer = _FirstRow()
    install_identity_layers(_Layers([_FirstRow(), layer]), PatchPlan(2, (0,)))
    with pytest.raises(CaptureError, match="cannot be an identity"):
        layer.forward(torch.ones(3, 4))


class _Tower:
    """A model with lists of two modules at these paths."""

    def __init__(self, *paths: str) -> None:
        self._lists = [(p, type("ModuleList", (list,), {})([_ResidualLayer()] * 2)) for p in paths]

    def named_modules(self) -> list[tuple[str, Any]]:
        return [("", self), *self._lists]


def test_the_layers_are_those_of_the_language_model() -> None:
    model = _Tower("vision_tower.blocks", "model.layers", "model.layers.0.mlp.experts")
    assert find_layers(model, 2)[0] == "model.layers"


def test_two_lists_that_may_be_meant_are_refused() -> None:
    with pytest.raises(CaptureError, match="2 lists of 2 layers.*encoder.layers, decoder.layers"):
        find_layers(_Tower("encoder.layers", "decoder.layers"), 2)


def test_layers_of_a_compiled_model_are_refused() -> None:
    import torch

    layers = torch.nn.ModuleList([torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)])
    model = torch.compile(torch.nn.ModuleDict({"layers": layers}), backend="eager")
    with pytest.raises(CaptureError, match="is compiled"):
        install_identity_layers(model, PatchPlan(2, (0,)))


def test_a_plan_of_another_model_is_refused() -> None:
    with pytest.raises(CaptureError, match="no list of 3 layers"):
        install_identity_layers(_Layers([_ResidualLayer()] * 2), PatchPlan(3, (0,)))


def test_a_patched_folder_loads_with_its_linked_weights(
    run_capture: RunCapture, tiny_qwen3: Path, tmp_path: Path
) -> None:
    import torch

    folder = tmp_path / "patched"
    done = run_capture("config-patch", tiny_qwen3, "--layers", 1, "--link-weights", "-o", folder)
    assert done.code == 0, done.err
    assert load_plan(folder).keep_layers == (0,)
    torch.testing.assert_close(_logits(_load(folder)), _logits(_load(tiny_qwen3)))


def test_a_mock_of_a_tiny_model_runs(
    run_capture: RunCapture, tiny_qwen3_moe: Path, tmp_path: Path
) -> None:
    from transformers import AutoConfig, AutoModelForCausalLM

    folder = tmp_path / "rank0"
    done = run_capture("config-patch", tiny_qwen3_moe, "--mock-tp", 2, "-o", folder)
    assert done.code == 0, done.err
    model = AutoModelForCausalLM.from_config(AutoConfig.from_pretrained(folder))
    head_dim = model.config.head_dim  # of 4 heads and 2 KV heads, a rank of 2 has half
    attention = model.model.layers[0].self_attn
    assert attention.q_proj.weight.shape == (2 * head_dim, tiny_models.HIDDEN)
    assert attention.k_proj.weight.shape == (head_dim, tiny_models.HIDDEN)
    assert model.model.embed_tokens.weight.shape == (64, tiny_models.HIDDEN)  # of 128 tokens
    assert _logits(model).shape == (2, 10, 64)


def test_profile_in_transformers_runs_the_kept_layers_alone(
    run_capture: RunCapture, tiny_qwen3: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from layerscope.capture import transformers_model
    from layerscope.capture.model_options import ModelOptions

    folder = tmp_path / "patched"
    words = ("config-patch", tiny_qwen3, "--layers", 1, "--link-weights", "-o", folder)
    assert run_capture(*words).code == 0
    monkeypatch.setenv("LAYERSCOPE_PATCH", str(folder))
    options = ModelOptions(str(folder), engine="transformers", device="cpu")
    model = transformers_model.load(options)
    prompt = transformers_model.random_prompt(model, 8, seed=0)
    calls = []
    model.model.layers[1].self_attn.register_forward_hook(lambda *_: calls.append(1))
    assert transformers_model.generate(model, prompt, 4) == 4  # one prefill, three decode steps
    assert not calls  # it ran once, while it was loaded
