"""Prefill eager, decode as full graphs: what each engine's version is told."""

from __future__ import annotations

import json

import pytest
from conftest import RunCapture

from layerscope.capture.engines import parse_version
from layerscope.capture.errors import CaptureError
from layerscope.capture.hooks.canonical_rule import (
    RULES,
    command_line,
    rule_of,
    with_batches,
)

# From the engines' documentation: which keyword a version knows.
_CASES = [
    ("vllm", "0.10.2", '{"level":0,"cudagraph_mode":"FULL_DECODE_ONLY","cudagraph_capture_sizes":'),
    ("vllm", "0.11.0", '{"level":0,"cudagraph_mode":"FULL_DECODE_ONLY","cudagraph_capture_sizes":'),
    ("vllm", "0.11.1", '{"mode":0,"cudagraph_mode":"FULL_DECODE_ONLY","cudagraph_capture_sizes":'),
    ("vllm", "0.32.0+cu129", '{"mode":0,"cudagraph_mode":"FULL_DECODE_ONLY",'),
    ("sglang", "0.5.2", "--cuda-graph-bs 1 8"),
    ("sglang", "0.5.10.post1", "--disable-piecewise-cuda-graph --cuda-graph-bs 1 8"),
    ("sglang", "0.5.20", "--cuda-graph-backend-prefill disabled"),
]


@pytest.mark.parametrize(("engine", "version", "begin"), _CASES)
def test_a_version_has_the_options_it_knows(engine: str, version: str, begin: str) -> None:
    words = command_line(rule_of(engine, version), [8, 1])
    assert begin in " ".join(words)


def test_batches_are_captured_sorted_and_once() -> None:
    words = command_line(rule_of("vllm", "0.12.0"), [64, 1, 64])
    assert words[0] == "--compilation-config"
    assert json.loads(words[1])["cudagraph_capture_sizes"] == [1, 64]
    generation = with_batches(rule_of("trtllm", "1.2.0rc3").decode, [4])
    assert generation == {
        "cuda_graph_config": {"batch_sizes": [4], "enable_padding": False},
        "torch_compile_config": None,
    }


def test_context_steps_of_tensorrt_llm_have_a_config_without_graphs() -> None:
    assert rule_of("trtllm", "1.0.0").prefill["cuda_graph_config"] is None
    assert with_batches(rule_of("trtllm", "0.21.0").decode, [8, 1]) == {
        "use_cuda_graph": True,
        "cuda_graph_batch_sizes": [1, 8],
        "cuda_graph_padding_enabled": False,
    }


@pytest.mark.parametrize(("engine", "version"), [("vllm", "0.9.1"), ("trtllm", "0.17")])
def test_a_version_that_cannot_is_refused(engine: str, version: str) -> None:
    with pytest.raises(CaptureError, match="full graphs"):
        rule_of(engine, version)


def test_rules_of_an_engine_are_ordered_and_versions_are_numbers() -> None:
    for engine in ("vllm", "sglang", "trtllm"):
        since = [rule.since for rule in RULES if rule.engine == engine]
        assert since == sorted(since) and since
    assert parse_version("v1.2.0rc1") == (1, 2, 0)
    with pytest.raises(CaptureError, match="no version"):
        parse_version("dev")


def test_the_command_prints_what_to_type(run_capture: RunCapture) -> None:
    rule = ["hooks", "rule", "--engine"]
    done = run_capture(*rule, "sglang", "--engine-version", "0.5.20", "--batch-size", "1", "8")
    assert done.code == 0
    assert (
        "command line: --cuda-graph-backend-prefill disabled --cuda-graph-backend-decode full "
        "--cuda-graph-bs-decode 1 8"
    ) in done.out
    done = run_capture(*rule, "trtllm", "--engine-version", "1.2", "--batch-size", "4")
    assert '"batch_sizes": [4]' in done.out and "--config" in done.out
