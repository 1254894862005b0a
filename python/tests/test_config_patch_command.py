"""`config-patch` as a command: the folder it writes, its files, its refusals."""

from __future__ import annotations

import json
import shlex
import sys
import types
from pathlib import Path
from typing import Any

import pytest
import real_configs
from conftest import RunCapture

from layerscope.capture import errors
from layerscope.capture.patches.plan import PatchPlan, RoutingPlan, load_plan

_CONFIG = {
    "architectures": ["Qwen3MoeForCausalLM"],
    "model_type": "qwen3_moe",
    "num_hidden_layers": 6,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "head_dim": 16,
    "intermediate_size": 128,
    "moe_intermediate_size": 32,
    "num_experts": 8,
    "num_experts_per_tok": 2,
    "vocab_size": 512,
    "time_step_limit": [0.0, float("inf")],
}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    folder = tmp_path / "model"
    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(_CONFIG))
    for name in ("tokenizer.json", "generation_config.json", "modeling_x.py", "notes.txt"):
        (folder / name).write_text("{}")
    (folder / "model.safetensors").write_bytes(b"weights")
    (folder / "model.safetensors.index.json").write_text("{}")
    return folder


def _config(folder: Path) -> dict[str, Any]:
    document = json.loads((folder / "config.json").read_text())
    assert isinstance(document, dict)
    return document


def test_the_folder_holds_config_plan_and_auxiliary_files(
    run_capture: RunCapture, model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = run_capture(
        "config-patch", model, "--set", "num_experts_per_tok=4", "--layers", 2,
        "--balanced-routing", "--ep-ranks", 4, "-o", out,
    )  # fmt: skip
    assert done.code == 0, done.err
    assert sorted(path.name for path in out.iterdir()) == [
        "config.json",
        "generation_config.json",
        "layerscope_patch.json",
        "modeling_x.py",
        "tokenizer.json",
    ]
    assert _config(out) == {**_CONFIG, "num_experts_per_tok": 4}  # Infinity and layer count too
    assert load_plan(out) == PatchPlan(
        6, (0, 1), RoutingPlan(8, 4, ep_ranks=4), "qwen3_moe", ("Qwen3MoeForCausalLM",)
    )
    plan = json.loads((out / "layerscope_patch.json").read_text())
    assert plan["changes"] == [
        {"key": "num_experts_per_tok", "why": "--set", "before": 2, "after": 4}
    ]
    assert plan["needs_dummy_weights"] is False
    assert "num_experts_per_tok: 2 -> 4" in done.out
    assert f"LAYERSCOPE_PATCH={out} layerscope-capture drive" in done.out


def test_mock_and_cut_say_that_they_need_dummy_weights(
    run_capture: RunCapture, model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = run_capture(
        "config-patch", model, "--mock-tp", 2, "--layers", 3, "--cut", "--no-aux", "-o", out
    )
    assert done.code == 0, done.err
    plan = json.loads((out / "layerscope_patch.json").read_text())
    assert plan["mock"] == {"tp": 2, "moe": "tp", "shared_experts": "divided"}
    assert plan["needs_dummy_weights"] is True
    assert plan["keep_layers"] is None
    assert load_plan(out).is_empty()
    assert _config(out)["num_hidden_layers"] == 3
    assert "--dummy-weights" in done.out
    assert sorted(p.name for p in out.iterdir()) == ["config.json", "layerscope_patch.json"]


def test_a_folder_without_weights_is_driven_with_dummy_ones(
    run_capture: RunCapture, model: Path, tmp_path: Path
) -> None:
    for name, option, says in (("a b", "--no-aux", ""), ("linked", "--link-weights", "linked")):
        out = tmp_path / name
        done = run_capture("config-patch", model, "--layers", 1, option, "-o", out)
        assert done.code == 0, done.err
        has_weights = bool(list(out.glob("*.safetensors")))
        assert ("--dummy-weights" in done.out) is not has_weights
        assert f"vllm {shlex.quote(str(out))} " in done.out
        assert says in done.out


def test_weights_are_linked_not_copied(
    run_capture: RunCapture, model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    done = run_capture("config-patch", model, "--layers", 2, "--link-weights", "-o", out)
    assert done.code == 0, done.err
    assert (out / "model.safetensors").resolve() == (model / "model.safetensors").resolve()
    assert (out / "model.safetensors.index.json").is_symlink()
    assert "linked 1 weight file\n" in done.out


@pytest.mark.parametrize(
    ("words", "code", "says"),
    [
        (["--cut"], 2, "--cut without --layers"),
        (["--keep-layers", "0,2", "--cut"], 2, "--cut without --layers"),
        (["--mock-tp", "1"], 2, "--mock-tp 1"),
        (["--mock-tp", "2", "--link-weights"], 2, "weights do not fit"),
        (["--layers", "2", "--cut", "--link-weights"], 2, "weights do not fit"),
        (["--layers", "7"], 2, "the model has 6 layers"),
        (["--layers", "2", "--keep-layers", "0"], 2, "not allowed with"),
        (["--no-aux", "--aux-from", "x"], 2, "give one of them"),
        (["--ep-ranks", "0"], 2, "0 is not above 0"),
        (["--ep-ranks", "2"], 2, "--ep-ranks 2 without --balanced-routing"),
        (["--ep-ranks", "3", "--balanced-routing"], 2, "these divide: 1, 2, 4, 8"),
        (["--moe", "ep"], 2, "--moe ep without --mock-tp"),
        (["--shared-experts", "whole"], 2, "--shared-experts whole without --mock-tp"),
        (["--keep-vocab"], 2, "--keep-vocab without --mock-tp"),
        (["--model-type", ""], 2, "'' is no name"),
        (["--architectures", "A,,B"], 2, "'' is no name"),
        (["--layers", "0"], 2, "0 is not above 0"),
        (["--keep-layers", "0-" + "9" * 5000], 2, "is outside of layers 0 to 5"),
        (["--set", "num_hidden_layers=0"], 2, "num_hidden_layers is 0, not 1 or more"),
        (["--set", "num_hidden_layers=-3"], 2, "6 stands there"),
        (["--set", "num_attention_heads=0"], 2, "num_attention_heads is 0, not 1 or more"),
        (["--set", "num_attention_heads=5"], 2, "5 attention heads are not divisible by 2"),
        (["--set", "num_experts_per_tok=9"], 2, "a token takes 9 of 8 experts"),
        (["--set", "vocab_size=10000000000"], 2, "vocab_size is 10000000000, no number"),
        (["--set", "model_type="], 2, "model_type is '', no name"),
        (["--add", "layer_types=[1]"], 2, "layer_types is 1, no name"),
        (["--add", 'layer_types=["a"]'], 2, "layer_types has 1 entries for 6 layers"),
        (["--add", "n_layer=x"], 2, "n_layer is 'x', no number"),
        (["--add", "rope_scaling=3"], 2, "rope_scaling is 3, no object"),
        (["--add", "rms_norm_eps=-1"], 2, "rms_norm_eps is -1, not more than 0"),
        (["--add", "x=" + "[" * 40 + "]" * 40], 3, "nested more than 32 deep"),
        (["--set", "num_hidden_layer=2"], 2, "did you mean num_hidden_layers?"),
        (["--mock-tp", "3"], 1, "num_attention_heads 4 is not divisible by 3"),
        (["--aux-from", "nowhere"], 2, "neither a folder nor a hub id"),
        (["--unset", "num_experts", "--balanced-routing"], 1, "the config has no experts"),
    ],
)
def test_what_cannot_be_is_refused_and_nothing_is_written(
    words: list[str], code: int, says: str, run_capture: RunCapture, model: Path, tmp_path: Path
) -> None:
    done = run_capture("config-patch", model, *words, "-o", tmp_path / "out")
    assert done.code == code
    assert says in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_what_the_model_itself_says_is_not_refused(
    run_capture: RunCapture, model: Path, tmp_path: Path
) -> None:
    """Its own config may be odd; what is asked for may not."""
    (model / "config.json").write_text(json.dumps({**_CONFIG, "num_experts_per_tok": 9}))
    assert run_capture("config-patch", model, "-o", tmp_path / "out").code == 0
    done = run_capture("config-patch", model, "--set", "vocab_size=0", "--dry-run")
    assert (done.code, "vocab_size is 0" in done.err) == (2, True)


def test_a_key_may_be_removed_and_made_anew_at_once(run_capture: RunCapture, model: Path) -> None:
    words = ("--unset", "vocab_size", "--add", "vocab_size=7", "--dry-run")
    done = run_capture("config-patch", model, *words)
    assert done.code == 0, done.err
    assert "vocab_size: absent -> 7  (--add)" in done.out


def test_text_that_is_no_unicode_is_written_as_json_has_it(
    run_capture: RunCapture, model: Path, tmp_path: Path
) -> None:
    """Half of a surrogate pair is what a byte of the command line that is no UTF-8 becomes."""
    out = tmp_path / "out"
    done = run_capture("config-patch", model, "--add", "hidden_act=\udcff", "-o", out)
    assert done.code == 0, done.err
    assert '"hidden_act": "\\udcff"' in (out / "config.json").read_text()


def test_the_models_own_folder_is_never_replaced(run_capture: RunCapture, model: Path) -> None:
    for out in (model, model.parent):
        done = run_capture("config-patch", model, "--layers", 2, "--force", "-o", out)
        assert done.code == 1
        assert "which is read" in done.err
    assert (model / "model.safetensors").exists()


def test_a_folder_with_files_is_replaced_only_with_force(
    run_capture: RunCapture, model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "kept").touch()
    assert run_capture("config-patch", model, "-o", out).code == 1
    assert (out / "kept").exists()
    assert run_capture("config-patch", model, "--force", "-o", out).code == 0
    assert not (out / "kept").exists()


def test_a_dry_run_shows_the_changes_and_writes_nothing(
    run_capture: RunCapture, model: Path, tmp_path: Path
) -> None:
    done = run_capture("config-patch", model, "--mock-tp", 2, "--dry-run", "-o", tmp_path / "out")
    assert done.code == 0
    assert "num_attention_heads: 4 -> 2" in done.out
    assert not (tmp_path / "out").exists()


def test_files_come_from_another_folder_and_win(
    run_capture: RunCapture, model: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / "tokenizer.json").write_text("the other tokenizer")
    out = tmp_path / "out"
    assert run_capture("config-patch", model, "--aux-from", other, "-o", out).code == 0
    assert (out / "tokenizer.json").read_text() == "the other tokenizer"
    assert (out / "generation_config.json").exists()


def test_offline_the_hub_is_not_asked_but_the_cache_is(
    run_capture: RunCapture, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    words = ("config-patch", model, "--aux-from", "org/name", "-o", tmp_path / "out")
    done = run_capture(*words)
    assert done.code == 1
    assert "told to stay offline" in done.err
    assert "--aux-from DIR" in done.err
    snapshot = tmp_path / "hub" / "models--org--name" / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (snapshot / "config.json").write_text("{}")
    (snapshot / "tokenizer.json").write_text("from the cache")
    assert run_capture(*words).code == 0
    assert (tmp_path / "out" / "tokenizer.json").read_text() == "from the cache"


def _hub(monkeypatch: pytest.MonkeyPatch, download: Any) -> None:
    monkeypatch.delenv("HF_HUB_OFFLINE", raising=False)
    monkeypatch.delenv("TRANSFORMERS_OFFLINE", raising=False)
    hub = types.ModuleType("huggingface_hub")
    hub.snapshot_download = download  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)


def test_online_auxiliary_files_are_fetched_by_name(
    run_capture: RunCapture, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fetched = tmp_path / "fetched"
    fetched.mkdir()
    (fetched / "tokenizer.json").write_text("fetched")
    asked = []

    def download(name: str, *, allow_patterns: list[str]) -> str:
        asked.append((name, allow_patterns))
        return str(fetched)

    _hub(monkeypatch, download)
    out = tmp_path / "out"
    assert run_capture("config-patch", model, "--aux-from", "org/name", "-o", out).code == 0
    assert (out / "tokenizer.json").read_text() == "fetched"
    assert asked[0][0] == "org/name"
    assert {"tokenizer.json", "generation_config.json", "*.py"} <= set(asked[0][1])
    assert not any("safetensors" in pattern for pattern in asked[0][1])


def test_a_hub_that_does_not_answer_is_an_error_of_one_line(
    run_capture: RunCapture, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def download(name: str, *, allow_patterns: list[str]) -> str:
        raise OSError("no route to host\nmany more lines")

    _hub(monkeypatch, download)
    done = run_capture("config-patch", model, "--aux-from", "org/name", "-o", tmp_path / "out")
    assert done.code == 1
    assert "the hub gave no files: no route to host\n" in done.err
    assert not (tmp_path / "out").exists()


def test_a_missing_model_says_where_was_looked(
    run_capture: RunCapture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
    done = run_capture("config-patch", "org/name", "-o", tmp_path / "out")
    assert done.code == errors.INVALID_INPUT
    assert f"nor in the local cache ({tmp_path / 'hub'})" in done.err
    assert "hf download org/name" in done.err


def test_what_is_said_behind_a_folder_fits_its_model(
    run_capture: RunCapture, tmp_path: Path
) -> None:
    """A command that would be refused helps nobody, nor one whose times mean nothing."""
    model = tmp_path / "moe"
    model.mkdir()
    config = {
        "model_type": "qwen3_moe",
        "num_hidden_layers": 4,
        "max_position_embeddings": 256,
        "num_experts": 8,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 64,
    }
    (model / "config.json").write_text(json.dumps(config))
    (model / "model.safetensors").write_bytes(b"")
    done = run_capture("config-patch", model, "--layers", 2, "-o", tmp_path / "out")
    assert "--input-len 224 " in done.out  # 256 less room for the steps behind the prompt
    assert "no weights are in it: --link-weights" in done.out
    assert "send" in done.out and "--balanced-routing" in done.out
    done = run_capture("config-patch", model, "--layers", 2, "--link-weights", "-o", tmp_path / "b")
    assert "note: no weights" not in done.out and "--balanced-routing" not in done.out


@pytest.mark.parametrize(
    ("key", "value", "said"),
    [
        ("num_experts_per_tok", 9, "a token takes 9 of 8 experts"),
        ("n_group", -1, "n_group is -1"),
        ("num_hidden_layers", -1, "num_hidden_layers is -1"),
        ("num_hidden_layers", 10**30, "num_hidden_layers is 1000"),
        ("num_hidden_layers", 2**31 - 1, "2147483647 layers, more than 10000"),
    ],
)
@pytest.mark.parametrize(
    "option", [("--balanced-routing",), ("--layers", "999999999"), ("--keep-layers", "0-999999999")]
)
def test_nothing_is_computed_from_a_model_that_cannot_be(
    key: str,
    value: int,
    said: str,
    option: tuple[str, ...],
    run_capture: RunCapture,
    model: Path,
    tmp_path: Path,
) -> None:
    """Of 8 experts no token takes 9; layers beyond memory would be listed one by one."""
    (model / "config.json").write_text(json.dumps({**_CONFIG, key: value}))
    done = run_capture("config-patch", model, *option, "-o", tmp_path / "out")
    assert done.code == errors.INVALID_INPUT
    assert said in done.err and not (tmp_path / "out").exists()
    assert run_capture("config-patch", model, "-o", tmp_path / "out").code == errors.OK


@pytest.mark.usefixtures("real_configs_here")
def test_the_first_example_of_the_help_changes_its_model(run_capture: RunCapture) -> None:
    shown = run_capture("config-patch", "--help").out.split("Examples:")[1]
    words = shlex.split(next(line for line in shown.splitlines() if line.strip()))
    name, *options = words[words.index("config-patch") + 1 :]
    config = real_configs.path_of(name.replace("/", "--"))
    done = run_capture("config-patch", config, *options, "--dry-run")
    assert done.code == 0, done.err
    assert "no key is changed" not in done.out
    assert "  (--set)" in done.out
