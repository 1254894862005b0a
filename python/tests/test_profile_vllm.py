"""`profile` in vLLM, against a stand-in for its offline interface."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import fake_vllm
import pytest
from conftest import Program, RunCapture, read_json

from layerscope.capture import errors
from layerscope.capture.model_options import ModelOptions
from layerscope.capture.profile.plan import ProfilePlan, synthetic
from layerscope.capture.profile.request_runs import record_requests


@pytest.mark.torch
def test_in_vllm_each_request_is_recorded_alone_on_every_rank(
    tiny_qwen3: Path,
    tmp_path: Path,
    run_capture: RunCapture,
    monkeypatch: pytest.MonkeyPatch,
    not_run_here: Callable[[str], None],
    layerscope_bin: Program,
) -> None:
    not_run_here("profile in vLLM: not run with the real engine (make test-engines does)")
    vllm = fake_vllm.install(monkeypatch)
    folder = tmp_path / "profiles"
    done = run_capture(
        "profile", tiny_qwen3, "--engine", "vllm", "-tp", "2", "-o", folder, "--num-prompts", "2",
        "--input-len", "5", "--output-len", "2", "--warmup", "1",
    )  # fmt: skip
    assert done.code == errors.OK, done.err
    (llm,) = vllm.made
    assert llm.was_shut_down
    assert llm.keywords["enable_prefix_caching"] is False, "a warm-up would else fill the cache"
    assert llm.keywords["enforce_eager"] is True
    # the model tree's forward, no longer than a prompt; each prompt once to warm up, once recorded;
    # the first once more, as the first recording is thrown away
    assert llm.prompts == [(6, 1)] + [(5, 2)] * 5
    assert Counter(path.name for path in folder.rglob("*.json*")) == {
        "config.json": 2,
        "model_tree.json": 2,
        "request_000.json.gz": 2,
        "request_001.json.gz": 2,
        "request_metadata.json": 2,
    }
    assert read_json(folder / "request_metadata.json")["engine"] == "vllm"
    out = tmp_path / "requests.json"
    layerscope_bin.run(["requests", folder, "-o", out])
    assert [row["file"] for row in read_json(out)["requests"]] == [
        "request_000.json.gz",
        "request_001.json.gz",
    ]


@pytest.mark.torch
def test_compiled_in_vllm_has_no_model_tree_and_says_compiled(
    tiny_qwen3: Path, tmp_path: Path, run_capture: RunCapture, monkeypatch: pytest.MonkeyPatch
) -> None:
    vllm = fake_vllm.install(monkeypatch)
    done = run_capture(
        "profile", tiny_qwen3, "--engine", "vllm", "--compiled", "-o", tmp_path / "out",
        "--input-len", "5", "--output-len", "1", "--warmup", "0",
    )  # fmt: skip
    assert done.code == errors.OK, done.err
    assert vllm.made[0].keywords["enforce_eager"] is False
    assert read_json(tmp_path / "out" / "request_metadata.json")["mode"] == "compiled"
    assert not (tmp_path / "out" / "model_tree.json").exists()


class _Engine:
    """Notes what it is asked to run and record, as (file, tokens)."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int]] = []

    def config(self) -> dict[str, Any]:
        return {}

    def trees(self, input_len: int) -> list[dict[str, Any]]:
        return []

    def prompt(self, length: int, seed: int) -> None: ...

    def run(self, prompt: Any, output_len: int) -> None:
        self.asked.append(("", output_len))

    def record(self, prompt: Any, output_len: int, name: str) -> None:
        self.asked.append((name, output_len))


@pytest.mark.parametrize(
    ("warmup", "tokens", "asked"),
    [
        (0, 9, [("request_000.json.gz", 9), ("request_001.json.gz", 9)]),
        (
            1,
            9,
            [
                *[("", 9), ("request_000.json.gz", 2), ("request_000.json.gz", 9)],
                *[("", 9), ("request_001.json.gz", 9)],
            ],
        ),
        (
            1,
            1,
            [
                *[("", 1), ("request_000.json.gz", 1), ("request_000.json.gz", 1)],
                *[("", 1), ("request_001.json.gz", 1)],
            ],
        ),
    ],
)
def test_the_first_recording_of_a_warm_engine_is_replaced(
    warmup: int, tokens: int, asked: list[tuple[str, int]], tmp_path: Path
) -> None:
    """The first forwards under a profiler are slower, on a GPU by the start of CUPTI."""
    plan = ProfilePlan(
        model=ModelOptions("m"),
        output=tmp_path,
        requests=synthetic(2, 5, tokens),
        compiled=False,
        warmup=warmup,
        with_stack=False,
        with_shapes=False,
        seed=0,
        force=False,
    )
    engine = _Engine()
    recorded = record_requests(plan, engine, tmp_path, lambda line: None)
    assert engine.asked == asked
    assert [one.file for one in recorded] == ["request_000.json.gz", "request_001.json.gz"]
