"""Which engine is used, and what is said where it is missing."""

from __future__ import annotations

import argparse
import importlib.util
from typing import Any

import pytest

from layerscope.capture import engines
from layerscope.capture.errors import USAGE, CaptureError
from layerscope.capture.model_options import ModelOptions, engine_arg


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The modules that can be imported, as far as `engines` sees."""
    names: set[str] = set()
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: name if name in names else None)
    return names


def test_auto_takes_vllm_first_and_transformers_else(installed: set[str]) -> None:
    among = (engines.VLLM, engines.TRANSFORMERS)
    installed |= {"transformers", "torch"}
    assert engines.choose("auto", among) == engines.TRANSFORMERS
    installed.add("vllm")
    assert engines.choose("auto", among) == engines.VLLM
    assert engines.choose("transformers", among) == engines.TRANSFORMERS


@pytest.mark.parametrize(
    ("engine", "named"),
    [("vllm", "pip install vllm"), ("sglang", "sglang[all]"), ("trtllm", "tensorrt-llm")],
)
def test_a_missing_engine_is_named_with_its_installation(
    engine: str, named: str, installed: set[str]
) -> None:
    with pytest.raises(CaptureError) as missing:
        engines.require(engine)
    assert "is not installed in this Python environment" in missing.value.message
    assert named in missing.value.hint


def test_transformers_without_torch_is_not_enough(installed: set[str]) -> None:
    installed.add("transformers")
    with pytest.raises(CaptureError, match="torch is not installed"):
        engines.require(engines.TRANSFORMERS)


@pytest.mark.parametrize(
    ("among", "ways"),
    [
        (("vllm", "transformers"), ("pip install vllm", "layerscope[transformers]")),
        (engines.SERVING, ("pip install vllm", "sglang[all]", "pip install tensorrt-llm")),
    ],
)
def test_nothing_installed_says_every_way_to_install_something(
    among: tuple[str, ...], ways: tuple[str, ...], installed: set[str]
) -> None:
    with pytest.raises(CaptureError, match="none of vllm, ") as missing:
        engines.choose("auto", among)
    assert [way for way in ways if way not in missing.value.hint] == []


@pytest.mark.parametrize(
    "options",
    [
        ModelOptions("m", engine="transformers", tensor_parallel=2),
        ModelOptions("m", engine="transformers", engine_args={"max_model_len": 8}),
        ModelOptions("m", engine="vllm", device="cpu"),
    ],
)
def test_options_of_the_other_engine_are_refused(options: ModelOptions) -> None:
    with pytest.raises(CaptureError) as refused:
        options.check()
    assert refused.value.code == USAGE


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("max_model_len=4096", ("max_model_len", 4096)),
        ("kv_cache_dtype=fp8", ("kv_cache_dtype", "fp8")),
        ('hf_overrides={"a": 1}', ("hf_overrides", {"a": 1})),
    ],
)
def test_engine_arguments_are_json_else_text(text: str, expected: tuple[str, Any]) -> None:
    assert engine_arg(text) == expected


@pytest.mark.parametrize("text", ["max_model_len", "=3", "max-len=3"])
def test_other_engine_arguments_are_refused(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        engine_arg(text)
