"""`walk` and `profile` of a model with parts that run as TorchScript."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from conftest import Program, RunCapture, read_json

from layerscope.capture import errors

pytestmark = pytest.mark.torch

_ACTIVATION = "model.layers.{}.mlp.act_fn"


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Models are loaded with their activations scripted, that of layer 1 inside another module."""
    import torch
    from torch import nn

    from layerscope.capture import transformers_model

    def load(options: Any, load: Any = transformers_model.load) -> Any:
        model = load(options)
        for layer, whole in enumerate((nn.SiLU(), nn.Sequential(nn.SiLU()))):
            mlp = model.get_submodule(f"model.layers.{layer}.mlp")
            mlp.act_fn = torch.jit.script(whole)
        return model

    monkeypatch.setattr(transformers_model, "load", load)


@pytest.mark.usefixtures("scripted")
def test_scripted_modules_are_walked_without_a_flow_and_have_their_paths_in_a_trace(
    tiny_qwen3: Path, tmp_path: Path, run_capture: RunCapture, layerscope_bin: Program
) -> None:
    """36 modules are called (test_walk.py): two of them are ScriptModules, with a third inside."""
    tree, profile = tmp_path / "model_tree.json", tmp_path / "profile"
    words = ("--engine", "transformers", "--device", "cpu", "-o", tree, "--profile-dir", profile)
    done = run_capture("walk", tiny_qwen3, *words)
    assert done.code == errors.OK, done.err
    document = read_json(tree)
    node = document["tree"]
    for name in _ACTIVATION.format(1).split("."):
        (node,) = [child for child in node["children"] if child["name"] == name]
    assert node["forward"]["evidence"] == "unavailable" and node["forward"]["reason"]
    assert [child["path"] for child in node["children"]] == [f"{_ACTIVATION.format(1)}.0"]

    paths = [entry["path"] for entry in document["call_order"]]
    scripts = [_ACTIVATION.format(layer) for layer in (0, 1)]
    assert len(paths) == 36 and set(scripts) <= set(paths)
    assert {record["module"] for record in document["invocations"]} == set(paths) - set(scripts)
    assert any(line.startswith("3 ScriptModules") for line in document["limitations"])

    told = layerscope_bin.json(
        "modules", profile / "rank0.pt.trace.json.gz", "--model-tree", tree, "--no-collapse",
        "-n", "0",
    )  # fmt: skip
    named = [node["path"] for node in told["data"]["nodes"] if node["instance"]]
    assert sorted(named) == sorted(paths)


@pytest.mark.usefixtures("scripted")
def test_a_model_with_scripted_modules_is_profiled(
    tiny_qwen3: Path, tmp_path: Path, run_capture: RunCapture
) -> None:
    words = ("--engine", "transformers", "--device", "cpu", "--warmup", "0")
    sizes = ("--input-len", "4", "--output-len", "2")
    done = run_capture("profile", tiny_qwen3, *words, *sizes, "-o", tmp_path / "profiles")
    assert done.code == errors.OK, done.err
    assert len(read_json(tmp_path / "profiles" / "model_tree.json")["call_order"]) == 36
