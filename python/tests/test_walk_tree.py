"""The nodes of model_tree.json against the live model itself."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.torch


def _nodes(node: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield node
    for child in node["children"]:
        yield from _nodes(child)


def _loaded(folder: Path) -> Any:
    from layerscope.capture import transformers_model
    from layerscope.capture.model_options import ModelOptions

    return transformers_model.load(ModelOptions(str(folder), "transformers", device="cpu"))


def test_the_tree_is_named_modules_with_every_weight(tiny_qwen3_moe: Path) -> None:
    from layerscope.capture.walk.tree import TreeBuilder

    model = _loaded(tiny_qwen3_moe)
    nodes = list(_nodes(TreeBuilder().build(model)))
    assert {n["path"]: n["class"] for n in nodes} == {
        path: type(module).__name__ for path, module in model.named_modules()
    }
    weights = {
        ".".join(part for part in (n["path"], name) if part): tensor["shape"]
        for n in nodes
        for name, tensor in n["weights"].items()
    }
    assert weights == {name: list(p.shape) for name, p in model.named_parameters()}
    names = {n["path"]: n["name"] for n in nodes}
    assert names.pop("") == "model"
    assert names == {path: path.split(".")[-1] for path in names}


def test_shared_modules_stand_once_with_their_other_names() -> None:
    from repeated_modules import SharedAndRepeated

    from layerscope.capture.walk.tree import TreeBuilder

    nodes = {n["path"]: n for n in _nodes(TreeBuilder().build(SharedAndRepeated()))}
    assert nodes["shared"]["aliases"] == ["blocks.0.shared", "blocks.1.shared", "blocks.2.shared"]
    assert nodes["blocks.1"]["aliases"] == ["alias"]
    assert "alias" not in nodes and "blocks.0.shared" not in nodes
    assert "aliases" not in nodes["head"]
    calls = [entry["call"] for entry in nodes["blocks.0"]["forward"]["execution_order"]]
    assert calls == ["self.norm", "self.mlp", "self.norm", "self.shared"]


def test_tied_weights_name_the_first(tiny_gpt2: Path) -> None:
    from layerscope.capture.walk.tree import TreeBuilder

    nodes = {n["path"]: n for n in _nodes(TreeBuilder().build(_loaded(tiny_gpt2)))}
    assert nodes["lm_head"]["weights"]["weight"]["tied_to"] == "transformer.wte.weight"
    assert "tied_to" not in nodes["transformer.wte"]["weights"]["weight"]


def test_the_attention_backend_is_the_one_that_was_chosen(tiny_qwen3: Path) -> None:
    from layerscope.capture.walk.tree import TreeBuilder

    model = _loaded(tiny_qwen3)
    nodes = {n["path"]: n for n in _nodes(TreeBuilder().build(model))}
    backend = nodes["model.layers.1.self_attn"]["implementations"]["attn_backend"]
    assert model.config._attn_implementation in backend["evidence"]
    assert backend["class"].endswith("sdpa_attention_forward")
    assert backend["methods"]["forward"]["evidence"] == "source_ast"
    assert nodes["model.layers.1.mlp"]["implementations"] == {}
    assert nodes["model.layers.1.self_attn"]["config"]["head_dim"] == 32


def test_objects_of_an_engine_are_implementations_and_modules_are_not() -> None:
    from torch import nn

    from layerscope.capture.walk.implementations import implementations_of
    from layerscope.capture.walk.source_flow import flow_of

    class Fp8LinearMethod:
        def apply(self, layer: Any, hidden: Any) -> Any:
            return kernel(layer.weight, hidden)

    class Backend: ...

    layer = nn.Linear(1, 1)
    layer.quant_method = Fp8LinearMethod()
    layer.attn_backend = Backend
    layer.impl = nn.Identity()
    found = implementations_of(layer, flow_of)
    assert sorted(found) == ["attn_backend", "quant_method"]
    assert found["quant_method"]["class"].endswith("Fp8LinearMethod")
    assert found["quant_method"]["evidence"] == "loaded_object"
    assert found["quant_method"]["methods"]["apply"]["operations"][0]["calls"] == ["kernel"]
    assert found["attn_backend"]["class"].endswith("Backend")


kernel: Any = None


def test_large_models_keep_one_flow_a_class() -> None:
    from torch import nn

    from layerscope.capture.walk.tree import TreeBuilder

    builder = TreeBuilder(most_full_nodes=3)
    nodes = list(_nodes(builder.build(nn.Sequential(*(nn.Linear(1, 1) for _ in range(4))))))
    assert builder.is_short
    assert nodes[1]["forward"]["evidence"] == "source_ast"
    assert nodes[2]["forward"]["evidence"] == "same_source"
    assert nodes[2]["forward"]["same_as"] == "0"


def test_what_json_cannot_hold_becomes_text() -> None:
    from torch import nn

    from layerscope.capture.output import as_json
    from layerscope.capture.walk.tree import TreeBuilder

    layer = nn.Identity()
    layer.scale, layer.limit, layer.other = float("nan"), float("inf"), object()
    node = TreeBuilder().build(layer)
    assert node["config"]["scale"] == "nan" and node["config"]["limit"] == "inf"
    assert "other" not in node["config"]
    json.dumps(node, allow_nan=False)
    assert as_json({"a": float("-inf"), "b": {1: Path("x")}}) == {"a": "-Infinity", "b": {"1": "x"}}


def test_a_prepacked_weight_still_shows_its_sizes() -> None:
    """vLLM on a CPU leaves Linear weights of shape [0]; print() of the module has the sizes."""
    import torch
    from torch import nn

    from layerscope.capture.walk.tree import TreeBuilder

    layer = nn.Linear(6, 5, bias=False)
    layer.weight = nn.Parameter(torch.empty(0))
    node = TreeBuilder().build(layer)
    assert node["weights"]["weight"]["shape"] == [0]
    assert "in_features=6, out_features=5" in node["extra_repr"]
