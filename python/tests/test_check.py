"""`check`: each step of the path, found and missing, on machines that are made here."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest
import real_configs
from conftest import Program, RunCapture

from layerscope.capture import engines, model_files, model_values
from layerscope.capture.check import machine_checks, model_checks, profile_checks

_CONFIG = {
    "architectures": ["Qwen3ForCausalLM"],
    "model_type": "qwen3",
    "num_hidden_layers": 6,
    "hidden_size": 64,
    "num_attention_heads": 4,
}
_INFERRED = {
    "data": {
        "profile": "generic_addnorm",
        "why": "the config has num_hidden_layers",
        "num_layers": 6,
        "clusters": [{"type": "FULL", "n": 6, "layers": "0-5"}],
    }
}


def _program(folder: Path, name: str, output: str, code: int = 0) -> Path:
    path = folder / name
    path.write_text(f"#!/bin/sh\ncat <<'END'\n{output}\nEND\nexit {code}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that alone is PATH, but for the shell's own tools."""
    folder = tmp_path / "bin"
    folder.mkdir()
    tools = tmp_path / "tools"
    tools.mkdir()
    for tool in ("cat", "sh"):
        (tools / tool).symlink_to(f"/bin/{tool}")
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{tools}")
    monkeypatch.delenv("LAYERSCOPE_BIN", raising=False)
    return folder


def _model(folder: Path, config: dict[str, Any]) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config))
    return folder


@pytest.fixture
def whole_model(tmp_path: Path) -> Path:
    folder = _model(tmp_path / "model", _CONFIG)
    (folder / "tokenizer.json").write_text('{"model": {}}')
    (folder / "model.safetensors").write_bytes((2).to_bytes(8, "little") + b"{}")  # no tensors
    return folder


@pytest.fixture
def transformers_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An installed transformers that knows Qwen3, as far as `check` looks."""
    package = tmp_path / "site" / "transformers" / "models" / "auto"
    package.mkdir(parents=True)
    lists = 'MODEL_FOR_CAUSAL_LM_MAPPING_NAMES = [("qwen3", "Qwen3ForCausalLM")]'
    (package / "modeling_auto.py").write_text(lists)
    (tmp_path / "site" / "transformers" / "__init__.py").touch()
    spec = type("Spec", (), {"submodule_search_locations": [str(tmp_path / "site/transformers")]})
    monkeypatch.setattr(engines, "is_installed", lambda engine: engine == engines.TRANSFORMERS)
    monkeypatch.setattr(engines, "require", lambda engine: None)
    monkeypatch.setattr(engines, "version_of", lambda engine: "5.0.0")
    monkeypatch.setattr("importlib.util.find_spec", lambda name: spec)


@pytest.mark.usefixtures("transformers_here")
def test_nothing_is_missing_on_a_machine_that_has_all(
    run_capture: RunCapture, whole_model: Path, programs: Path
) -> None:
    _program(programs, "layerscope", json.dumps(_INFERRED))
    _program(programs, "nvidia-smi", "GPU 0: NVIDIA B200 (UUID: GPU-1)")
    done = run_capture("check", whole_model, "--engine", "transformers")
    assert done.code == 0, done.out
    assert "MISSING" not in done.out
    assert "ok      profile     generic_addnorm" in done.out
    assert "ok      layers      6: 6 FULL (0-5)" in done.out
    assert "ok      engine      transformers 5.0.0" in done.out
    assert "ok      class       transformers has Qwen3ForCausalLM, which generates text" in done.out
    assert "ok      gpu         1 x NVIDIA B200" in done.out
    # A tree without a forward has no order of calls; what lies beside a trace needs no options.
    assert f"layerscope-capture walk {whole_model} -o model_tree.json --with-forward" in done.out
    assert "layerscope layers profiles/request_000.json.gz\n" in done.out


@pytest.mark.usefixtures("transformers_here")
def test_each_missing_thing_is_named_with_what_mends_it(
    run_capture: RunCapture, tmp_path: Path, programs: Path
) -> None:
    model = _model(tmp_path / "model", {**_CONFIG, "architectures": ["NewForCausalLM"]})
    done = run_capture("check", model)
    assert done.code == 1
    assert "MISSING profile     the program layerscope is not on PATH" in done.out
    assert f"config-patch {model} --aux-from ORGANISATION/MODEL -o DIR" in done.out
    assert "transformers 5.0.0 does not name NewForCausalLM" in done.out
    assert "note    tokenizer" in done.out and "note    gpu" in done.out
    assert "missing: profile, class\n" in done.out


@pytest.mark.usefixtures("transformers_here")
def test_without_a_gpu_transformers_gives_modules(
    run_capture: RunCapture, whole_model: Path, programs: Path
) -> None:
    _program(programs, "layerscope", json.dumps(_INFERRED))
    (whole_model / "tokenizer.json").unlink()
    done = run_capture("check", whole_model)
    assert done.code == 0, done.out
    assert "note    tokenizer   none beside" in done.out
    assert "ok      weights     1 file, 10 B\n" in done.out
    assert "layerscope modules profiles/request_000.json.gz\n" in done.out


@pytest.mark.parametrize(
    ("size", "said"), [(999, "999 B"), (2_500_000, "2.50 MB"), (7e9, "7.00 GB")]
)
def test_sizes_have_the_unit_that_shows_them(size: int, said: str) -> None:
    assert model_checks._bytes(size) == said


def test_a_file_of_weights_is_named_for_what_it_is(
    run_capture: RunCapture, whole_model: Path
) -> None:
    done = run_capture("check", whole_model / "model.safetensors")
    assert "model.safetensors is a file of weights\n" in done.out
    assert f"give its folder: {whole_model}\n" in done.out


def test_a_model_that_is_not_there_ends_the_walk(
    run_capture: RunCapture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    done = run_capture("check", "org/name")
    assert done.code == 1
    assert done.out.startswith("MISSING config")
    assert "-> get it: hf download org/name" in done.out
    assert done.out.endswith("missing: config\n")


@pytest.mark.usefixtures("transformers_here")
def test_a_hub_id_is_found_in_the_cache(
    run_capture: RunCapture, tmp_path: Path, programs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("HF_HUB_CACHE", raising=False)
    hub = tmp_path / "home" / "hub" / "models--org--name"
    for revision in ("old", "new"):
        (hub / "snapshots" / revision).mkdir(parents=True)
        _model(hub / "snapshots" / revision, {**_CONFIG, "model_type": revision})
    (hub / "refs").mkdir()
    (hub / "refs" / "main").write_text("old")
    assert "config.json: old," in run_capture("check", "org/name").out


@pytest.mark.usefixtures("transformers_here")
def test_a_config_without_a_layer_count_blocks(
    run_capture: RunCapture,
    tmp_path: Path,
    layerscope_bin: Program,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LAYERSCOPE_BIN", layerscope_bin.program)
    config = {"model_type": "new", "text_config": {"model_type": "new_text", "hidden_size": 8}}
    done = run_capture("check", _model(tmp_path / "model", config))
    assert done.code == 1
    assert "no layer count (text model: text_config)" in done.out
    assert "--add text_config.num_hidden_layers=N" in done.out
    assert "MISSING profile" in done.out  # the program's own words follow


def test_a_program_that_is_named_and_not_there_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAYERSCOPE_BIN", str(tmp_path / "gone"))
    (found,) = profile_checks.check_profile(tmp_path / "config.json")
    assert f"{tmp_path / 'gone'}, which is no program" in found.text


@pytest.mark.parametrize("program", ["/bin/false", "/bin/true", "/bin/echo", "/bin/ls"])
def test_a_program_that_is_another_one_is_said(
    program: str, whole_model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAYERSCOPE_BIN", program)
    (found,) = profile_checks.check_profile(whole_model / "config.json")
    assert found.state == "MISSING"
    assert f"{program} is not the program layerscope of this version: status " in found.text
    assert "LAYERSCOPE_BIN=build/release/layerscope" in found.mend


@pytest.mark.parametrize(
    ("keys", "says"),
    [
        ({"num_hidden_layers": -3}, "num_hidden_layers is -3, no number of things"),
        ({"num_hidden_layers": "x"}, "num_hidden_layers is 'x', no number of things"),
        ({"num_hidden_layers": 10**6}, "1000000 layers, more than 10000"),
        ({"num_attention_heads": 0}, "num_attention_heads is 0, not 1 or more"),
        ({"num_key_value_heads": 3}, "4 attention heads are not divisible by 3 KV heads"),
        ({"max_position_embeddings": 0}, "max_position_embeddings is 0, not 1 or more"),
        ({"rope_theta": float("nan")}, "rope_theta is nan, not more than 0"),
        ({"rms_norm_eps": -1e-6}, "rms_norm_eps is -1e-06, not more than 0"),
        ({"layer_types": ["a"] * 5}, "layer_types has 5 entries for 6 layers"),
        ({"rope_scaling": 3}, "rope_scaling is 3, no object"),
        ({"model_type": "a b"}, "model_type is 'a b', no name"),
        (
            {"num_experts": 8, "moe_intermediate_size": 8, "num_experts_per_tok": 9},
            "a token takes 9 of 8 experts",
        ),
        ({"vision_config": {"num_heads": -1}}, "vision_config.num_heads is -1"),
    ],
)
def test_a_config_of_no_possible_model_blocks(
    keys: dict[str, Any], says: str, tmp_path: Path
) -> None:
    files = model_files.locate(str(_model(tmp_path / "model", _CONFIG)))
    (found,) = model_checks.check_config(files, {**_CONFIG, **keys})
    assert found.state == "MISSING"
    assert f"no such model: {says}" in found.text


@pytest.mark.usefixtures("real_configs_here")
def test_every_real_config_is_a_possible_model() -> None:
    for name in real_configs.names():
        assert not model_values.impossible_values(real_configs.read(name)), name


_FIELDS = (  # every field of docs/profiles.md whose words or numbers give other types
    ("compress_ratios", [0, 1, 2, 4, 128]),
    ("hybrid_override_pattern", "M*-EM"),
    (
        "layer_types",
        [
            *(
                "full_attention",
                "sliding_attention",
                "linear_attention",
                "conv",
                "sparse_attention",
            ),
            *("chunked_attention", "local", "recurrent", "mamba"),
        ],
    ),
    ("layers_block_type", ["mamba", "attention", "moe", "mlp"]),
)


def test_the_known_types_are_those_of_layerscope(layerscope_bin: Program, tmp_path: Path) -> None:
    given = set()
    for field, words in _FIELDS:
        config = {"model_type": "x", "num_hidden_layers": len(words), field: words}
        path = _model(tmp_path / "model", config) / "config.json"
        document = layerscope_bin.json("profiles", "infer", "--config", path)
        given |= {layer["type"] for layer in document["data"]["layers"]}
    assert given == profile_checks.KNOWN_BASES


def test_a_word_that_layerscope_does_not_know_is_noted(
    layerscope_bin: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAYERSCOPE_BIN", layerscope_bin.program)
    config = {**_CONFIG, "layer_types": ["full_attention"] * 5 + ["retention"]}
    found = profile_checks.check_profile(_model(tmp_path / "model", config) / "config.json")
    assert found[-1].text == "words of the config taken as they stand: RETENTION"


@pytest.mark.usefixtures("real_configs_here")
def test_layerscope_gives_every_real_config_a_profile_and_layer_types(
    layerscope_bin: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LAYERSCOPE_BIN", layerscope_bin.program)
    for name in real_configs.names():
        found = profile_checks.check_profile(real_configs.path_of(name))
        assert {one.step for one in found if one.state == "ok"} == {"profile", "layers"}, name
        assert not [one for one in found if one.state == "MISSING"], name


@pytest.mark.usefixtures("real_configs_here")
def test_an_hf_quant_config_is_named_for_what_it_is(run_capture: RunCapture) -> None:
    for path in real_configs.hf_quant_files():
        done = run_capture("check", path)
        assert done.code == 1
        assert "this is an hf_quant_config" in done.out


@pytest.mark.usefixtures("real_configs_here")
@pytest.mark.parametrize(
    ("name", "caveats"),
    [
        ("Qwen--Qwen3-8B", []),
        ("Qwen--Qwen3-30B-A3B", ["gate collapses: nearly all tokens take the same 8 of 128"]),
        ("deepseek-ai--DeepSeek-V3.2", ["same 8 of 256", "fp8 KV cache", "drafted tokens"]),
        (
            "deepseek-ai--DeepSeek-V4-Flash",
            ["same 6 of 256", "first 3 layers choose experts by a table", "fp8 KV", "drafted"],
        ),
        ("moonshotai--Kimi-K3", ["same 16 of 896"]),
    ],
)
def test_dummy_weights_have_the_caveats_of_the_config(name: str, caveats: list[str]) -> None:
    files = model_files.locate(str(real_configs.path_of(name)))
    said = [text for text, _ in model_checks.dummy_caveats(files, real_configs.read(name))]
    assert len(said) == len(caveats)
    for text, part in zip(said, caveats, strict=True):
        assert part in text


@pytest.mark.parametrize(
    ("version", "bindings", "driver", "state", "says"),
    [
        ((2, 13), (13, 1), (13, 1), "ok", "torch 2.13, CUDA driver 13.1"),
        ((2, 9), (13, 1), (13, 1), "note", "torch 2.9 has no graph annotations"),
        ((2, 13), (12, 9), (13, 1), "note", "lacks cuda-bindings >= 13.1"),
        ((2, 13), None, (12, 8), "note", "cuda-bindings >= 13.1 and a driver for CUDA >= 13.1"),
        (None, None, None, "note", "torch is not installed"),
    ],
)
def test_graph_annotations_need_torch_bindings_and_driver(
    version: tuple[int, int] | None,
    bindings: tuple[int, int] | None,
    driver: tuple[int, int] | None,
    state: str,
    says: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    versions = {"torch": version, "cuda-bindings": bindings}
    monkeypatch.setattr(machine_checks, "_version", versions.get)
    monkeypatch.setattr(machine_checks, "_driver_cuda", lambda: driver)
    found = machine_checks.check_annotations()
    assert (found.state, says in found.text) == (state, True), found


def test_gpus_are_counted_and_a_machine_without_one_blocks(programs: Path) -> None:
    assert machine_checks.check_gpu(engines.VLLM).state == "MISSING"
    assert machine_checks.check_gpu(engines.TRANSFORMERS).state == "note"
    _program(
        programs,
        "nvidia-smi",
        "GPU 0: NVIDIA H200 (UUID: GPU-1)\nGPU 1: NVIDIA H200 (UUID: GPU-2)",
    )
    assert machine_checks.check_gpu(engines.VLLM).text == "2 x NVIDIA H200"


def test_nsys_is_named_with_its_version(programs: Path) -> None:
    assert machine_checks.check_nsys().state == "note"
    _program(programs, "nsys", "NVIDIA Nsight Systems version 2025.5.1")
    assert machine_checks.check_nsys().text == "NVIDIA Nsight Systems version 2025.5.1"
