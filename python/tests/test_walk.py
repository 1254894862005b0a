"""`layerscope-capture walk` from the command line to what `layerscope` reads."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fake_vllm
import pytest
from conftest import Program, RunCapture, read_json

from layerscope.capture import errors
from layerscope.capture.walk import command
from layerscope.capture.walk.call_order import OUTSIDE

_WITHOUT_WEIGHTS = ("--engine", "transformers", "--device", "cpu", "--dummy-weights")


@pytest.mark.torch
def test_a_walk_with_a_forward_names_the_modules_of_its_own_trace(
    tiny_qwen3: Path, tmp_path: Path, run_capture: RunCapture, layerscope_bin: Program
) -> None:
    """Qwen3 of 2 layers: 1 + model, embed, rotary, norm, head + 2 × (layer, 2 norms, attention with
    4 projections and 2 norms, MLP with 3 projections and its activation) = 36 modules, and the
    ModuleList, which nobody calls."""
    tree, profile = tmp_path / "model_tree.json", tmp_path / "profile"
    done = run_capture(
        "walk", tiny_qwen3, "--engine", "transformers", "--device", "cpu", "-o", tree,
        "--profile-dir", profile,
    )  # fmt: skip
    assert done.code == errors.OK, done.err
    document = read_json(tree)
    assert document["schema_version"] == 2
    assert document["source"] == "loaded_transformers_model"
    assert document["capture_mode"] == "eager"
    assert document["engine"]["name"] == "transformers"
    assert document["world"] == {"tp": 1, "pp": 1, "dp": 1, "ep": 1}
    assert (document["rank"], document["gpu"]) == (0, None)
    assert document["profile_dir"] == str(profile)
    assert document["config"]["model_type"] == "qwen3"
    assert len(document["call_order"]) == 36
    assert document["call_order"][5]["path"] == "model.layers.0.input_layernorm"
    ids = [record["id"] for record in document["invocations"]]
    assert ids == list(range(36))

    told = layerscope_bin.json(
        "modules", profile / "rank0.pt.trace.json.gz", "--model-tree", tree, "--no-collapse",
        "-n", "0",
    )  # fmt: skip
    paths = [node["path"] for node in told["data"]["nodes"] if node["instance"]]
    assert sorted(paths) == sorted(entry["path"] for entry in document["call_order"])


@pytest.mark.torch
def test_without_a_forward_there_is_no_order_of_calls(
    tiny_qwen3: Path, tmp_path: Path, run_capture: RunCapture
) -> None:
    tree = tmp_path / "tree.json.gz"
    done = run_capture(
        "walk", tiny_qwen3, "--engine", "transformers", "--dummy-weights", "-o", tree
    )
    assert done.code == errors.OK, done.err
    document = read_json(tree)
    assert "call_order" not in document and document["invocations"] == []
    assert any("--with-forward" in line for line in document["limitations"])
    assert any("random" in line for line in document["limitations"])
    assert list(tmp_path.iterdir()) == [tree]


@pytest.mark.torch
def test_dummy_weights_need_the_config_alone(
    tiny_qwen3: Path, tmp_path: Path, run_capture: RunCapture
) -> None:
    model = tmp_path / "model"
    model.mkdir()
    (model / "config.json").write_bytes((tiny_qwen3 / "config.json").read_bytes())
    words = ("walk", model, "--engine", "transformers", "-o", tmp_path / "model_tree.json")
    refused = run_capture(*words)
    assert refused.code == errors.INVALID_INPUT
    assert "--dummy-weights" in refused.err
    assert not (tmp_path / "model_tree.json").exists()
    done = run_capture(*words, "--dummy-weights", "--dtype", "bfloat16")
    assert done.code == errors.OK, done.err
    weights = read_json(tmp_path / "model_tree.json")["tree"]["children"][1]["weights"]
    assert weights["weight"]["dtype"] == "torch.bfloat16"


@pytest.mark.torch
def test_a_model_that_is_none_leaves_nothing(
    tmp_path: Path, run_capture: RunCapture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    done = run_capture("walk", "./none", "--engine", "transformers", "--profile-dir", "profile")
    assert done.code == errors.INVALID_INPUT
    assert "./none is neither a folder nor a file" in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.torch
@pytest.mark.parametrize("model", ["tiny_gpt2", "tiny_qwen3"])
def test_a_prompt_that_is_too_long_is_refused_before_the_model_is_loaded(
    model: str,
    tmp_path: Path,
    run_capture: RunCapture,
    request: pytest.FixtureRequest,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """GPT-2 has no 513th position; a rotary embedding would run on."""
    from layerscope.capture import transformers_model

    monkeypatch.setattr(transformers_model, "load", lambda options: pytest.fail("it is loaded"))
    folder: Path = request.getfixturevalue(model)
    words = ("--engine", "transformers", "--device", "cpu", "-o", tmp_path / "x.json")
    done = run_capture("walk", folder, "--with-forward", "--input-len", "600", *words)
    assert done.code == errors.USAGE
    assert "takes 512" in done.err and "--output-len" not in done.err
    done = run_capture("profile", folder, "--input-len", "500", "--output-len", "13", *words)
    assert done.code == errors.USAGE
    assert "513 tokens" in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.torch
def test_a_model_that_wants_more_than_a_prompt_is_named(
    tmp_path: Path, run_capture: RunCapture
) -> None:
    """An encoder-decoder without the decoder's tokens; its modules can be walked all the same."""
    from transformers import T5Config

    T5Config(
        vocab_size=32, d_model=8, d_kv=4, d_ff=8, num_layers=1, num_heads=2
    ).save_pretrained(tmp_path / "t5")  # fmt: skip
    words = ("walk", tmp_path / "t5", *_WITHOUT_WEIGHTS, "-o", tmp_path / "tree.json")
    done = run_capture(*words, "--with-forward")
    assert done.code == errors.FAILED
    assert "T5Model cannot run 16 tokens" in done.err
    assert run_capture(*words).code == errors.OK


@pytest.mark.torch
@pytest.mark.parametrize(
    ("option", "value", "said"),
    [
        ("--dtype", "float7", "no dtype 'float7'"),
        ("--dtype", "Tensor", "no dtype 'Tensor'"),
        ("--device", "cuda:99", "no device 'cuda:99' here"),
        ("--device", "gpu", "no device 'gpu' here"),
        ("--device", "meta", "no device 'meta' here"),
    ],
)
def test_what_torch_does_not_have_is_a_usage_error(
    option: str, value: str, said: str, tiny_qwen3: Path, run_capture: RunCapture, tmp_path: Path
) -> None:
    tree = tmp_path / "tree.json"
    done = run_capture("walk", tiny_qwen3, "--engine", "transformers", option, value, "-o", tree)
    assert done.code == errors.USAGE
    assert said in done.err and not tree.exists()


@pytest.mark.torch
def test_a_model_without_tokens_is_walked_without_a_forward(
    tmp_path: Path, run_capture: RunCapture
) -> None:
    from transformers import ViTConfig

    ViTConfig(
        hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=8,
        image_size=8, patch_size=4,
    ).save_pretrained(tmp_path / "vit")  # fmt: skip
    words = ("walk", tmp_path / "vit", *_WITHOUT_WEIGHTS, "-o", tmp_path / "tree.json")
    done = run_capture(*words, "--with-forward")
    assert done.code == errors.INVALID_INPUT
    assert "ViTModel takes no tokens" in done.err
    assert run_capture(*words).code == errors.OK


@pytest.mark.torch
@pytest.mark.parametrize("place", ["file/tree.json", "folder.json", "/proc/none/tree.json"])
def test_a_place_that_cannot_be_written_is_refused_before_the_model_is_loaded(
    place: str,
    tiny_gpt2: Path,
    tmp_path: Path,
    run_capture: RunCapture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from layerscope.capture import transformers_model

    monkeypatch.setattr(transformers_model, "load", lambda options: pytest.fail("it is loaded"))
    (tmp_path / "file").write_text("mine")
    (tmp_path / "folder.json").mkdir()
    done = run_capture("walk", tiny_gpt2, "--engine", "transformers", "-o", tmp_path / place)
    assert done.code == errors.FAILED
    assert place in done.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder.json"]


@pytest.mark.torch
def test_the_place_of_every_rank_is_asked_for_before_the_model_is_loaded(
    tiny_qwen3: Path, tmp_path: Path, run_capture: RunCapture, monkeypatch: pytest.MonkeyPatch
) -> None:
    vllm = fake_vllm.install(monkeypatch)
    (tmp_path / "t_rank1.json").mkdir()
    words = ("walk", tiny_qwen3, "--engine", "vllm", "-tp", "2", "-o", tmp_path / "t.json")
    done = run_capture(*words)
    assert done.code == errors.FAILED
    assert "t_rank1.json is a folder" in done.err
    assert vllm.made == [] and [path.name for path in tmp_path.iterdir()] == ["t_rank1.json"]


@pytest.mark.torch
def test_without_its_document_there_is_no_profile(
    tiny_gpt2: Path, tmp_path: Path, run_capture: RunCapture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: Path, document: Any) -> None:
        raise errors.CaptureError(f"cannot write {path}: No space left on device")

    monkeypatch.setattr(command, "write_json", full)
    words = ("--engine", "transformers", "--device", "cpu", "-o", tmp_path / "t.json")
    done = run_capture("walk", tiny_gpt2, *words, "--profile-dir", tmp_path / "profile")
    assert done.code == errors.FAILED
    assert "No space left" in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.torch
@pytest.mark.parametrize("has_files", [False, True])
def test_a_tree_in_the_folder_of_its_profile_appears_with_it(
    has_files: bool, tiny_gpt2: Path, tmp_path: Path, run_capture: RunCapture
) -> None:
    folder = tmp_path / "profile"
    if has_files:
        folder.mkdir()
        (folder / "model_tree.json").write_text("of before")
    words = ("--engine", "transformers", "--device", "cpu", "--profile-dir", folder)
    done = run_capture("walk", tiny_gpt2, *words, "-o", folder / "model_tree.json", "--force")
    assert done.code == errors.OK, done.err
    assert len(read_json(folder / "model_tree.json")["call_order"]) > 0
    trace = folder / "rank0.pt.trace.json.gz"
    assert sorted(path.name for path in folder.iterdir()) == ["model_tree.json", trace.name]
    assert f"{trace}: " in done.out and f"layerscope modules {trace}" in done.out
    assert list(tmp_path.iterdir()) == [folder]


@pytest.mark.torch
@pytest.mark.parametrize("profile", ["t.json", "t.json/profile", "x/../t.json"])
def test_a_profile_folder_where_the_document_goes_is_refused_before_the_model_is_loaded(
    profile: str,
    tiny_gpt2: Path,
    tmp_path: Path,
    run_capture: RunCapture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from layerscope.capture import transformers_model

    monkeypatch.setattr(transformers_model, "load", lambda options: pytest.fail("it is loaded"))
    words = ("--engine", "transformers", "-o", tmp_path / "t.json")
    done = run_capture("walk", tiny_gpt2, *words, "--profile-dir", tmp_path / profile)
    assert done.code == errors.USAGE
    assert "are one place" in done.err and list(tmp_path.iterdir()) == []


@pytest.mark.torch
def test_a_tree_never_takes_the_place_of_a_trace(
    tiny_gpt2: Path, tmp_path: Path, run_capture: RunCapture
) -> None:
    folder = tmp_path / "p"
    words = ("--engine", "transformers", "--device", "cpu", "--profile-dir", folder)
    done = run_capture("walk", tiny_gpt2, *words, "-o", folder / "rank0.pt.trace.json.gz")
    assert done.code == errors.FAILED
    assert "the name of a trace" in done.err and list(tmp_path.iterdir()) == []


@pytest.mark.torch
def test_a_tree_that_is_there_is_replaced_only_when_told_so(
    tiny_gpt2: Path, tmp_path: Path, run_capture: RunCapture
) -> None:
    tree, link = tmp_path / "t.json", tmp_path / "link.json"
    link.symlink_to(tree)
    tree.write_text("mine")
    words = ("walk", tiny_gpt2, "--engine", "transformers", "--device", "cpu", "-o")
    for place in (tree, link):
        done = run_capture(*words, place)
        assert (done.code, tree.read_text()) == (errors.FAILED, "mine")
        assert f"{place} is there already" in done.err and "--force" in done.err
    assert run_capture(*words, link, "--force").code == errors.OK
    assert link.is_symlink() and read_json(tree)["schema_version"] == 2


@pytest.mark.torch
def test_a_pipe_is_no_place_for_a_tree(
    tiny_gpt2: Path, tmp_path: Path, run_capture: RunCapture
) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    words = ("walk", tiny_gpt2, "--engine", "transformers", "-o", tmp_path / "pipe.json")
    done = run_capture(*words, "--force")
    assert done.code == errors.FAILED
    assert "pipe.json is no regular file" in done.err
    assert (tmp_path / "pipe.json").is_fifo()


@pytest.mark.torch
def test_a_launcher_does_not_say_which_rank_a_model_of_transformers_is(
    tiny_gpt2: Path, tmp_path: Path, run_capture: RunCapture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_PROCID", "3")
    words = ("--engine", "transformers", "--device", "cpu", "-o", tmp_path / "t.json")
    assert run_capture("walk", tiny_gpt2, *words).code == errors.OK
    assert read_json(tmp_path / "t.json")["rank"] == 0


def test_an_output_that_is_no_json_is_refused(run_capture: RunCapture) -> None:
    done = run_capture("walk", "m", "-o", "tree.csv")
    assert done.code == errors.USAGE
    assert "model_tree.json" in done.err


def test_a_dry_run_names_the_file_of_each_rank(run_capture: RunCapture) -> None:
    done = run_capture("walk", "m", "--engine", "vllm", "-tp", "2", "-o", "t.json", "--dry-run")
    assert "t_rank0.json" in done.out and "t_rank1.json" in done.out


@pytest.mark.torch
def test_every_rank_of_vllm_writes_its_own_document(
    tiny_qwen3: Path,
    tmp_path: Path,
    run_capture: RunCapture,
    monkeypatch: pytest.MonkeyPatch,
    not_run_here: Callable[[str], None],
) -> None:
    not_run_here("walk in vLLM: not run with the real engine (make test-engines does)")
    vllm = fake_vllm.install(monkeypatch)
    done = run_capture(
        "walk", tiny_qwen3, "--engine", "vllm", "-tp", "2", "-o", tmp_path / "model_tree.json",
        "--profile-dir", tmp_path / "profile", "--engine-arg", "max_model_len=64",
    )  # fmt: skip
    assert done.code == errors.OK, done.err
    (llm,) = vllm.made
    assert llm.was_shut_down
    assert llm.keywords["enforce_eager"] is True
    assert llm.keywords["max_model_len"] == 64
    trees = [read_json(tmp_path / f"model_tree_rank{rank}.json") for rank in (0, 1)]
    assert [tree["rank"] for tree in trees] == [0, 1]
    assert trees[1]["source"] == "loaded_vllm_worker"
    assert trees[1]["world"] == {"tp": 2, "pp": 1, "dp": 1, "ep": 1}
    # Both stand-ins for ranks are in this process: of the other's calls the model says "outside".
    order = [e for e in trees[1]["call_order"] if not e["path"].startswith(OUTSIDE)]
    assert len(order) == 36
    assert trees[0]["run_id"] == trees[1]["run_id"]
    names = sorted(path.name.split(".")[0] for path in (tmp_path / "profile").iterdir())
    assert names == ["host_1", "rank0", "rank1"]
    assert not (tmp_path / "model_tree.json").exists()


@pytest.mark.torch
def test_what_vllm_says_of_its_failure_is_passed_on(
    tmp_path: Path, run_capture: RunCapture, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake_vllm.install(monkeypatch)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HF_HUB_OFFLINE")
    done = run_capture("walk", "org/none", "--engine", "vllm", "-o", "t.json")
    assert done.code == errors.FAILED
    assert "org/none is no model" in done.err
    assert list(tmp_path.iterdir()) == []
