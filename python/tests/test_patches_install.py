"""A plan in a process of an engine: from LAYERSCOPE_PATCH to the loaded model."""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from layerscope.capture.errors import CaptureError
from layerscope.capture.hooks import plugin
from layerscope.capture.in_engine.import_watch import ImportWatch
from layerscope.capture.patches import install
from layerscope.capture.patches.plan import PatchPlan

# vLLM's loader with its signature, and layers as far as the patch looks at them.
_LOADER = """
class Layer:
    ran = 0

    def forward(self, positions, hidden_states, residual):
        self.ran += 1
        return hidden_states, residual


class ModuleList(list):
    pass


class Model:
    def __init__(self):
        self.layers = ModuleList([Layer() for _ in range(3)])

    def named_modules(self):
        return [("", self), ("model.layers", self.layers)]


class BaseModelLoader:
    def load_model(self, vllm_config, model_config, prefix=""):
        return Model()
"""


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ImportWatch]:
    """An importable vLLM loader, and a process in which nothing is installed yet."""
    before = set(sys.modules)
    folder = tmp_path / "site" / "vllm" / "model_executor"
    folder.mkdir(parents=True)
    for package in (folder, folder.parent):
        (package / "__init__.py").touch()
    (folder / "model_loader.py").write_text(_LOADER)
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.setattr(install, "_INSTALLED", {})
    monkeypatch.delenv("LAYERSCOPE_HOOKS", raising=False)
    watch = ImportWatch()
    monkeypatch.setattr(plugin, "WATCH", watch)
    yield watch
    watch.stop()
    for name in set(sys.modules) - before:
        if name.split(".")[0] == "vllm":
            del sys.modules[name]


def _plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, plan: PatchPlan) -> None:
    (tmp_path / "layerscope_patch.json").write_text(json.dumps(plan.document()))
    monkeypatch.setenv("LAYERSCOPE_PATCH", str(tmp_path))


def _load() -> Any:
    loader = importlib.import_module("vllm.model_executor.model_loader").BaseModelLoader
    return loader().load_model(None, None)


@pytest.mark.usefixtures("engine")
def test_vllms_plugin_applies_the_plan_without_hooks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _plan(tmp_path, monkeypatch, PatchPlan(3, keep_layers=(0, 2)))
    plugin.install()
    plugin.install()  # vLLM calls it more than once
    model = _load()
    for _ in range(4):
        assert [layer.forward([1], [2.0], [3.0]) for layer in model.layers] == [([2.0], [3.0])] * 3
    assert [layer.ran for layer in model.layers] == [4, 1, 4]


@pytest.mark.usefixtures("engine")
def test_without_a_plan_the_engine_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAYERSCOPE_PATCH", raising=False)
    plugin.install()
    model = _load()
    for _ in range(2):
        model.layers[1].forward([1], [2.0], [3.0])
    assert model.layers[1].ran == 2


@pytest.mark.usefixtures("engine")
def test_a_plan_that_cannot_be_applied_stops_the_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _plan(tmp_path, monkeypatch, PatchPlan(7, keep_layers=(0,)))
    plugin.install()
    with pytest.raises(CaptureError, match="no list of 7 layers in Model: model.layers"):
        _load()
    monkeypatch.setenv("LAYERSCOPE_PATCH", str(tmp_path / "nowhere"))
    monkeypatch.setattr(install, "_INSTALLED", {})
    with pytest.raises(CaptureError, match="cannot read"):
        plugin.install()


@pytest.mark.torch
def test_a_model_that_takes_no_tokens_is_refused_with_what_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As ViT of transformers does: the forward in which identities are learned takes tokens."""
    from torch import nn

    class Pictures(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList([nn.Identity(), nn.ReLU()])

        def forward(self, pixel_values: Any) -> Any:
            raise ValueError("Make sure that the channel dimension matches")

    _plan(tmp_path, monkeypatch, PatchPlan(2, keep_layers=(0,)))
    with pytest.raises(CaptureError) as refused:
        install.apply_to_model(Pictures())
    assert refused.value.message == (
        "LAYERSCOPE_PATCH: Pictures cannot run with identity layers: "
        "ValueError: Make sure that the channel dimension matches"
    )
    assert "--cut" in refused.value.hint


@pytest.mark.torch
def test_a_model_without_parameters_gets_its_patches(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from torch import nn

    class Bare(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = nn.ModuleList([nn.ReLU(), nn.ReLU()])

        def forward(self, x: Any) -> Any:
            return self.layers[1](self.layers[0](x))

    model = Bare()
    _plan(tmp_path, monkeypatch, PatchPlan(2, keep_layers=(0,)))
    install.apply_to_model(model)
    x = object()
    assert model.layers[1].forward(x) is x
