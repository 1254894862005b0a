"""What `drive` is asked to run: its options, its plan, its prompts."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import RunCapture

from layerscope.capture import errors
from layerscope.capture.drive.drive_plan import DrivePlan
from layerscope.capture.drive.engine_drivers import vllm_block_tokens
from layerscope.capture.errors import CaptureError
from layerscope.capture.in_engine.settings import StepSettings
from layerscope.capture.random_prompts import prompts_of, token_range


def _plan(**changes: Any) -> DrivePlan:
    fields: dict[str, Any] = {
        "engine": "vllm",
        "model": "m",
        "batch_sizes": (1, 8),
        "input_lens": (1024,),
        "output_len": 129,
        "milestones": (1, 16, 128),
    }
    return DrivePlan(**{**fields, **changes})


@pytest.mark.parametrize(
    "numbers", [("1,16,8",), ("8", "1", "16"), ("16,", "1", ",8"), ("16 8 ,1",)]
)
def test_lists_of_numbers_have_commas_or_spaces(
    run_capture: RunCapture, numbers: tuple[str, ...]
) -> None:
    """(batch, past) of two batches and three milestones; step m has past length 4 + m - 1."""
    words = ("--engine", "vllm", "--dry-run", "--input-len", "4", "--batch-size", "2,1")
    done = run_capture("drive", "m", *words, "--milestones", *numbers)
    assert "(1, 4), (1, 11), (1, 19), (2, 4), (2, 11), (2, 19)" in done.out
    refused = run_capture("drive", "m", *words, "--milestones", "1,x")
    assert refused.code == errors.USAGE
    assert "'x' is no whole number" in refused.err


def test_a_model_behind_a_list_of_numbers_is_said_to_stand_before_it(
    run_capture: RunCapture,
) -> None:
    done = run_capture("drive", "--engine", "vllm", "--batch-size", "1", "2,1", "org/model")
    assert done.code == errors.USAGE
    said = "'org/model' is no whole number; write MODEL before the numbers: MODEL --batch-size 1,2"
    assert said in done.err
    rule = ("hooks", "rule", "--engine", "vllm", "--batch-size", "1", "x")  # takes no MODEL
    assert "'x' is no whole number\n" in run_capture(*rule).err


def test_more_steps_than_reach_an_engine_are_refused_before_they_are_made() -> None:
    """Of 20000 x 20000 only the product is made; 5000 at the most that a length can be fit."""
    many = tuple(range(1, 20_001))
    with pytest.raises(CaptureError, match="400000000 steps to mark, more than the 5000") as caught:
        _plan(batch_sizes=many, input_lens=many, milestones=(1,)).check()
    assert caught.value.code == errors.USAGE
    longest = frozenset((2**31 - 1 - n, 2**31 - 1) for n in range(5000))
    assert len(StepSettings(longest).to_json()) < 128 << 10  # MAX_ARG_STRLEN of Linux


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[]", "holds no JSON object"),
        ("[" * 100_000, "recursion"),
        ('{"model": "\xff', "not UTF-8"),
        ('{"model": "m"}', "is no drive plan"),
        ('{"output_len": %s}' % ("9" * 5000), "a number has thousands of digits"),
    ],
)
def test_a_plan_that_is_damaged_is_an_error(text: str, said: str, tmp_path: Path) -> None:
    file = tmp_path / "drive.plan"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(CaptureError, match=said) as caught:
        DrivePlan.load(file)
    assert str(file) in caught.value.message
    file.write_text(_plan(model="\ud800").to_json(), errors="surrogatepass")
    with pytest.raises(CaptureError):
        DrivePlan.load(file)
    file.write_text(_plan().to_json())
    assert DrivePlan.load(file) == _plan()


def test_milestones_are_decode_steps_behind_the_prompt() -> None:
    assert _plan().points == {(batch, past) for batch in (1, 8) for past in (1024, 1039, 1151)}
    _plan().check()
    with pytest.raises(CaptureError, match="milestone 128 is not reached") as caught:
        _plan(output_len=128).check()
    assert "--output-len 129" in caught.value.hint


@pytest.mark.parametrize(
    ("tensor", "expert", "keywords", "said"),
    [
        (4, 4, {}, None),
        (4, 1, {}, None),
        (2, 4, {"data_parallel_size": 2}, None),
        (4, 2, {}, "among 2 GPUs of 4"),
        (1, 8, {}, "among 8 GPUs of 1"),
        (2, 2, {"data_parallel_size": 2}, "among 2 GPUs of 4"),
    ],
)
def test_vllm_shares_the_experts_among_all_gpus_or_none(
    tensor: int, expert: int, keywords: dict[str, Any], said: str | None
) -> None:
    """Its size of expert parallelism is that of tensor times data parallelism."""
    plan = _plan(tensor_parallel=tensor, expert_parallel=expert, engine_args=keywords)
    replace(plan, engine="sglang").check()  # which takes a size
    if said is None:
        plan.check()
        return
    with pytest.raises(CaptureError, match=said):
        plan.check()


def test_annotations_of_steps_without_graphs_are_refused() -> None:
    _plan(backends=("annotations",)).check()
    with pytest.raises(CaptureError, match="decode runs without them"):
        _plan(backends=("annotations",), eager=True).check()


@pytest.mark.parametrize(
    ("config", "keywords", "tokens"),
    [
        ({}, {}, 16),
        ({"kv_lora_rank": 512}, {}, 128),
        ({"text_config": {"kv_lora_rank": 512}}, {}, 128),
        ({"kv_lora_rank": 512}, {"block_size": 64}, 64),
    ],
)
def test_blocks_of_latent_attention_are_taken_for_the_largest(
    config: dict[str, Any], keywords: dict[str, Any], tokens: int, tmp_path: Path
) -> None:
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "x", **config}))
    assert vllm_block_tokens(_plan(model=str(tmp_path), engine_args=keywords)) == tokens


def test_a_plan_is_read_as_it_was_written(tmp_path: Path) -> None:
    plan = _plan(engine_args={"max_model_len": 4096}, quantization="fp8")
    (tmp_path / "drive.plan").write_text(plan.to_json())
    assert DrivePlan.load(tmp_path / "drive.plan") == plan
    (tmp_path / "drive.plan").write_text("{}")
    with pytest.raises(CaptureError, match="no drive plan"):
        DrivePlan.load(tmp_path / "drive.plan")


def test_prompts_are_distinct_and_the_same_again(tiny_config: Path) -> None:
    first, again = prompts_of(64, 32, (100, 20_000)), prompts_of(64, 32, (100, 20_000))
    assert first == again
    assert len({tuple(prompt[:4]) for prompt in first}) == 64
    low, high = token_range(str(tiny_config))
    assert 0 < low < high < 128
    assert token_range("no/such-model") == (100, 20_000)
