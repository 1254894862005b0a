"""A plan of another model is refused before an engine starts; a dry run names the plan."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import RunCapture

from layerscope.capture.errors import CaptureError
from layerscope.capture.patches.model_of_plan import plan_for, plan_lines
from layerscope.capture.patches.plan import PatchPlan, RoutingPlan

_QWEN = {"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], "num_hidden_layers": 6}
_GPT2 = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_layer": 6}
_MOE = {**_QWEN, "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 8}


def _model(folder: Path, config: dict[str, Any]) -> Path:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.fixture
def patched(run_capture: RunCapture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of a Qwen3 of which two of six layers compute, named by the environment."""
    out = tmp_path / "patched"
    done = run_capture("config-patch", _model(tmp_path / "q", _QWEN), "--layers", 2, "-o", out)
    assert done.code == 0, done.err
    monkeypatch.setenv("LAYERSCOPE_PATCH", str(out))
    return out


def _commands(model: Path, output: Path) -> list[list[str]]:
    drive = ["--engine", "vllm", "--batch-size", "1", "--input-len", "8", "--milestones", "1"]
    drive.append("--dummy-weights")
    hooks = ["--engine", "vllm", "--backend", "nvtx"]
    return [
        ["drive", str(model), *drive, "-o", str(output)],
        ["hooks", "run", *hooks, "-o", str(output), "--", "vllm", "serve", str(model)],
        ["walk", str(model), "-o", str(output / "tree.json")],
        ["profile", str(model), "-o", str(output)],
        ["serve-bench", str(model), "--engine", "vllm", "--dummy-weights", "-o", str(output)],
    ]


def _dry(words: list[str]) -> list[str]:
    place = words.index("--") if "--" in words else len(words)
    return [*words[:place], "--dry-run", *words[place:]]


@pytest.mark.parametrize("command", range(5))
def test_each_command_refuses_the_plan_of_another_model_at_once(
    command: int, patched: Path, run_capture: RunCapture, tmp_path: Path
) -> None:
    words = _commands(_model(tmp_path / "gpt2", _GPT2), tmp_path / "out")[command]
    for given in (words, _dry(words)):
        done = run_capture(*given)
        assert done.code == 2
        assert f"LAYERSCOPE_PATCH={patched} is the plan of another model" in done.err
        assert f"it is for qwen3, {tmp_path / 'gpt2'} is gpt2" in done.err
        assert "unset LAYERSCOPE_PATCH" in done.err
        assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", range(5))
def test_a_dry_run_names_the_plan(
    command: int, patched: Path, run_capture: RunCapture, tmp_path: Path
) -> None:
    words = _commands(patched, tmp_path / "out")[command]
    done = run_capture(*_dry(words))
    assert done.code == 0, done.err
    assert f"with LAYERSCOPE_PATCH={patched}: 2 of 6 layers compute\n" in done.out


@pytest.mark.parametrize(
    ("config", "says"),
    [
        (_QWEN, ""),
        ({**_QWEN, "vocab_size": 8}, ""),
        ({**_QWEN, "num_hidden_layers": 8}, "it is for 6 layers, X is 8 layers"),
        ({**_QWEN, "architectures": ["Other"]}, "it is for Qwen3ForCausalLM, X is Other"),
        ({"text_config": _QWEN, "model_type": "qwen3_vl"}, "it is for qwen3, X is qwen3_vl"),
        ({"num_hidden_layers": 6}, ""),  # it says nothing that differs
    ],
)
def test_what_tells_models_apart(
    config: dict[str, Any], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = _model(tmp_path / "model", config)
    _name(tmp_path, monkeypatch, plan_for(_QWEN))
    if not says:
        assert plan_lines([str(model)])
        return
    with pytest.raises(CaptureError) as refused:
        plan_lines([str(model)])
    assert says.replace("X", str(model)) in refused.value.message


def test_routing_is_for_as_many_experts_as_the_config_has(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan of rank 0, of 2 experts, is not for the whole model of 8."""
    model = _model(tmp_path / "model", _MOE)
    _name(tmp_path, monkeypatch, PatchPlan(6, routing=RoutingPlan(8, 2)))
    (line,) = plan_lines([str(model)])
    assert line.endswith(": 8 experts get as many tokens each")
    _name(tmp_path, monkeypatch, PatchPlan(6, routing=RoutingPlan(2, 2)))
    with pytest.raises(CaptureError, match="it is for 2 experts, .* has 8"):
        plan_lines([str(model)])


def test_of_a_command_line_one_model_must_fit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    qwen, gpt2 = _model(tmp_path / "q", _QWEN), _model(tmp_path / "g", _GPT2)
    _name(tmp_path, monkeypatch, plan_for(_QWEN))
    assert plan_lines(["vllm", "serve", "org/not-here", "--port", "8000", "x" * 5000, "\0"])
    assert plan_lines(["serve", f"--model={qwen}", "--draft", str(gpt2)])
    with pytest.raises(CaptureError, match="is gpt2"):
        plan_lines(["serve", f"--model={gpt2}"])


def test_a_plan_that_is_not_there_is_named_by_its_variable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAYERSCOPE_PATCH", str(tmp_path / "gone"))
    with pytest.raises(CaptureError, match="LAYERSCOPE_PATCH names .*gone, which is not there"):
        plan_lines(["model"])


def test_without_a_plan_there_is_nothing_to_say(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("LAYERSCOPE_PATCH", raising=False)
    assert plan_lines(["model"]) == []


def _name(folder: Path, monkeypatch: pytest.MonkeyPatch, plan: PatchPlan) -> None:
    (folder / "layerscope_patch.json").write_text(json.dumps(plan.document()))
    monkeypatch.setenv("LAYERSCOPE_PATCH", str(folder))


@pytest.mark.parametrize("command", range(5))
def test_a_plan_that_would_not_be_applied_is_refused(
    command: int,
    patched: Path,
    run_capture: RunCapture,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Six layers would be measured where two were meant."""
    words = _dry(_commands(patched, tmp_path / "out")[command])
    monkeypatch.delenv("LAYERSCOPE_PATCH")
    done = run_capture(*words)
    assert done.code == 2
    assert f"{patched} has a plan that would not be applied: 2 of 6 layers compute" in done.err
    assert f"LAYERSCOPE_PATCH={patched} before the command applies it" in done.err
    monkeypatch.setenv("LAYERSCOPE_PATCH", "off")
    done = run_capture(*words)
    assert done.code == 0, done.err
    assert "LAYERSCOPE_PATCH" not in done.out
