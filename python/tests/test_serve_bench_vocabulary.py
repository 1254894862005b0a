"""serve-bench of a model that lacks tokens of its tokenizer, and of one that is patched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from bench_process import Bench
from conftest import RunCapture, read_json

from layerscope.capture import errors
from layerscope.capture.errors import CaptureError
from layerscope.capture.serve_bench.vocabulary import require_vocabulary

_BPE = {"model": {"vocab": {"a": 0, "b": 99}}, "added_tokens": [{"id": 120}]}
_UNIGRAM = {"model": {"vocab": [["a", -1.0], ["b", -2.0], ["c", -3.0]]}, "added_tokens": []}


def _model(folder: Path, vocab_size: int, name: str, tokenizer: Any) -> str:
    folder.mkdir()
    config = {"model_type": "qwen3", "num_hidden_layers": 2, "vocab_size": vocab_size}
    (folder / "config.json").write_text(json.dumps(config))
    (folder / name).write_text(json.dumps(tokenizer))
    return str(folder)


@pytest.mark.parametrize(
    ("name", "tokenizer", "tokens"),
    [
        ("tokenizer.json", _BPE, 100),  # its highest id is 99; what is added does not count
        ("tokenizer.json", _UNIGRAM, 3),  # three entries
        ("vocab.json", {"a": 0, "b": 7}, 8),
    ],
)
def test_a_tokenizer_with_more_tokens_than_the_model_is_refused(
    name: str, tokenizer: Any, tokens: int, tmp_path: Path
) -> None:
    require_vocabulary(_model(tmp_path / "fits", tokens, name, tokenizer), {}, ())
    model = _model(tmp_path / "model", tokens - 1, name, tokenizer)
    with pytest.raises(CaptureError) as refused:
        require_vocabulary(model, {}, ())
    assert f"has {tokens} tokens, and the model {tokens - 1}" in refused.value.message
    assert "--keep-vocab" in refused.value.hint
    require_vocabulary(model, {"tokenizer": "other"}, ())
    require_vocabulary(model, {}, ("--tokenizer", "other"))
    require_vocabulary(model, {}, ("--tokenizer=other",))


@pytest.mark.parametrize("tokenizer", [{}, {"model": {}}, {"model": {"vocab": 7}}, []])
def test_a_tokenizer_that_does_not_say_is_left_to_the_server(
    tokenizer: Any, tmp_path: Path
) -> None:
    require_vocabulary(_model(tmp_path / "m", 1, "tokenizer.json", tokenizer), {}, ())
    require_vocabulary("no/such-model", {}, ())


def test_no_server_is_started_for_one_rank_with_the_tokenizer_of_all(bench: Bench) -> None:
    model = bench.folder / "model"
    config = {**read_json(model / "config.json"), "vocab_size": 99}
    (model / "config.json").write_text(json.dumps(config))
    (model / "tokenizer.json").write_text(json.dumps(_BPE))
    code, _, err = bench.run("--engine", "vllm")
    assert (code, bench.work()) == (errors.USAGE, set())
    assert "has 100 tokens, and the model 99" in err


def test_of_a_server_whose_engine_died_the_first_error_is_shown(bench: Bench) -> None:
    """The client ends with 0 and no request; thirty lines stand behind the cause."""
    code, _, err = bench.run("--engine", "vllm", faults="engine_dies")
    assert code == errors.FAILED
    assert "the server ended with 0 while the benchmark ran" in err
    assert "the first error: IndexError: index out of range in self; its last words:" in err
    assert "[shutdown] step 29" in err
    assert "--keep-vocab" in err


def test_what_is_patched_stands_in_the_record_and_is_said(
    bench: Bench, run_capture: RunCapture
) -> None:
    plan = bench.folder / "plan"
    done = run_capture("config-patch", bench.folder / "model", "--layers", 1, "-o", plan)
    assert done.code == 0, done.err
    bench.env["LAYERSCOPE_PATCH"] = str(plan)
    code, out, err = bench.run("--engine", "vllm")
    assert code == errors.OK, err
    assert f"with LAYERSCOPE_PATCH={plan}: 1 of 2 layers computes\n" in out
    patches = read_json(bench.output / "serve_bench.json")["patches"]
    assert (patches["num_layers"], patches["keep_layers"]) == (2, [0])
    del bench.env["LAYERSCOPE_PATCH"]
    assert bench.run("--engine", "vllm", "--force")[0] == errors.OK
    assert read_json(bench.output / "serve_bench.json")["patches"] is None


def test_the_log_of_the_start_is_named_before_it_is_waited_for(bench: Bench) -> None:
    _, out, _ = bench.run("--engine", "vllm")
    first = out.splitlines()[0]
    assert "starting the server of" in first and first.endswith("server.log")
