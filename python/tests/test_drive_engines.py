"""What `drive` and `matrix` give each engine: the keywords of its own constructor.

Names and meanings are those of the engines' documentation (vLLM's EngineArgs, SGLang's ServerArgs,
TensorRT-LLM's TorchLlmArgs); the values are written down by hand from the command line.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from conftest import RunCapture
from fake_drive import declared_run, runs_of

from layerscope.capture import engines
from layerscope.capture.drive.drive_plan import DrivePlan
from layerscope.capture.drive.engine_drivers import canonical_options
from layerscope.capture.errors import CaptureError
from layerscope.capture.matrix.execution import run_partly

# Prompts of 16 tokens and two that are generated: 18, and 6 that SGLang keeps for itself.
_POINTS = ("--batch-size", "4", "1", "--input-len", "16", "--profiler", "none", "--backend", "nvtx")
_ALL = (
    *("--dtype", "bfloat16", "--kv-cache-dtype", "fp8", "--dummy-weights", "--trust-remote-code"),
    *("-tp", "2", "-pp", "3", "-ep", "2"),
)
# Prefill eager and decode graphs of the batches, as the newest versions are told.
_GRAPHS: dict[str, dict[str, Any]] = {
    "vllm": {
        "compilation_config": {
            "mode": 0,
            "cudagraph_mode": "FULL_DECODE_ONLY",
            "cudagraph_capture_sizes": [1, 4],
        }
    },
    "sglang": {
        "cuda_graph_backend_prefill": "disabled",
        "cuda_graph_backend_decode": "full",
        "cuda_graph_bs_decode": [1, 4],
    },
    "trtllm": {
        "cuda_graph_config": {"batch_sizes": [1, 4], "enable_padding": False},
        "torch_compile_config": None,
    },
}
_PLAIN: dict[str, dict[str, Any]] = {
    "vllm": {
        "model": "m",
        "skip_tokenizer_init": True,
        "dtype": "auto",
        "quantization": None,
        "kv_cache_dtype": "auto",
        "load_format": "auto",
        "trust_remote_code": False,
        "tensor_parallel_size": 1,
        "pipeline_parallel_size": 1,
        "enable_expert_parallel": False,
        "max_num_seqs": 4,
        "max_model_len": 18,
        "enable_prefix_caching": True,
        "disable_log_stats": True,
        "seed": 0,
    },
    "sglang": {
        "model_path": "m",
        "skip_tokenizer_init": True,
        "dtype": "auto",
        "quantization": None,
        "kv_cache_dtype": "auto",
        "load_format": "auto",
        "trust_remote_code": False,
        "tp_size": 1,
        "pp_size": 1,
        "ep_size": 1,
        "max_running_requests": 4,
        "context_length": 24,
        "disable_overlap_schedule": True,
        "random_seed": 0,
    },
    "trtllm": {
        "model": "m",
        "skip_tokenizer_init": True,
        "dtype": "auto",
        "load_format": "auto",
        "trust_remote_code": False,
        "tensor_parallel_size": 1,
        "pipeline_parallel_size": 1,
        "max_batch_size": 4,
        "max_seq_len": 18,
        "kv_cache_config": {"enable_block_reuse": True, "dtype": "auto"},
        "disable_overlap_scheduler": True,
    },
}
_SET = {"dtype": "bfloat16", "load_format": "dummy", "trust_remote_code": True}
# What of the above is another with _ALL.
_CHANGED: dict[str, dict[str, Any]] = {
    "vllm": {
        **_SET,
        "quantization": "fp8",
        "kv_cache_dtype": "fp8",
        "tensor_parallel_size": 2,
        "pipeline_parallel_size": 3,
        "enable_expert_parallel": True,
    },
    "sglang": {
        **_SET,
        "quantization": "fp8",
        "kv_cache_dtype": "fp8",
        "tp_size": 2,
        "pp_size": 3,
        "ep_size": 2,
    },
    "trtllm": {
        **_SET,
        "kv_cache_config": {"enable_block_reuse": True, "dtype": "fp8"},
        "tensor_parallel_size": 2,
        "pipeline_parallel_size": 3,
        "moe_expert_parallel_size": 2,
    },
}
_EAGER: dict[str, dict[str, Any]] = {
    "vllm": {"enforce_eager": True},
    "sglang": {
        "cuda_graph_backend_prefill": "disabled",
        "cuda_graph_backend_decode": "disabled",
    },
    "trtllm": {"cuda_graph_config": None, "torch_compile_config": None},
}
_ENGINES = pytest.mark.parametrize("engine", ["vllm", "sglang", "trtllm"])


@pytest.fixture
def noted(stubs: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file into which a stub writes the keywords that it was made with."""
    # The stub of vLLM has its model in one process, however many ranks it is asked for.
    monkeypatch.setenv("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
    monkeypatch.setenv("STUB_KEYWORDS", str(tmp_path / "keywords.json"))
    return tmp_path / "keywords.json"


def _given(run_capture: RunCapture, noted: Path, engine: str, *words: str) -> Any:
    """The keywords that the engine got from `drive m`."""
    output = noted.parent / "out"
    done = run_capture("drive", "m", "--engine", engine, "-o", output, *_POINTS, *words)
    assert done.code == 0, done.err
    return json.loads(noted.read_text())


@_ENGINES
def test_an_engine_is_told_what_is_measured_and_nothing_else(
    engine: str, run_capture: RunCapture, noted: Path
) -> None:
    given = _given(run_capture, noted, engine)
    assert given == {**_PLAIN[engine], **_GRAPHS[engine]}


@_ENGINES
def test_the_options_of_a_run_reach_the_engine(
    engine: str, run_capture: RunCapture, noted: Path
) -> None:
    """TensorRT-LLM takes the quantisation of the checkpoint. --engine-arg has the last word."""
    quantization = () if engine == "trtllm" else ("--quantization", "fp8")
    own = {"vllm": "seed", "sglang": "random_seed", "trtllm": "max_batch_size"}[engine]
    given = _given(run_capture, noted, engine, *_ALL, *quantization, "--engine-arg", f"{own}=9")
    assert given == {**_PLAIN[engine], **_GRAPHS[engine], **_CHANGED[engine], own: 9}


@_ENGINES
def test_without_graphs_an_engine_is_told_so(
    engine: str, run_capture: RunCapture, noted: Path
) -> None:
    given = _given(run_capture, noted, engine, "--eager")
    assert given == {**_PLAIN[engine], **_EAGER[engine]}


@_ENGINES
def test_precision_and_parallelism_of_a_matrix_reach_the_engine(
    engine: str, noted: Path, tmp_path: Path
) -> None:
    precision = {"name": "mine", "dtype": "bfloat16", "kv_cache_dtype": "fp8"}
    if engine != "trtllm":
        precision["quantization"] = "fp8"
    flags = {"profiler": "none", "dummy_weights": True, "trust_remote_code": True}
    family = [{"name": "small", "model": "m"}]
    (run,) = runs_of(
        declared_run(
            tmp_path,
            **{"engine": engine, "precision": precision, "parallelism": "tp2-pp3-ep2", **flags},
            **{"family": family, "batch": [4, 1], "past": [16], "repeat": 1},
        )
    )
    assert run.name == f"small__{engine}__mine__tp2-pp3-ep2"
    plan = replace(run.plan, backends=("nvtx",))  # spares the test the import of torch
    run_partly(plan, tmp_path / "run")
    expected = {**_PLAIN[engine], **_GRAPHS[engine], **_CHANGED[engine]}
    assert json.loads(noted.read_text()) == expected


# By hand from the versions' documentation, batches of 8 and 1.
_RULES: list[tuple[str, str, dict[str, Any]]] = [
    (
        "vllm",
        "0.10.1",
        {
            "compilation_config": {
                "level": 0,
                "cudagraph_mode": "FULL_DECODE_ONLY",
                "cudagraph_capture_sizes": [1, 8],
            }
        },
    ),
    (
        "vllm",
        "0.11.1",
        {
            "compilation_config": {
                "mode": 0,
                "cudagraph_mode": "FULL_DECODE_ONLY",
                "cudagraph_capture_sizes": [1, 8],
            }
        },
    ),
    ("sglang", "0.5.9", {"cuda_graph_bs": [1, 8]}),
    ("sglang", "0.5.10", {"disable_piecewise_cuda_graph": True, "cuda_graph_bs": [1, 8]}),
    (
        "sglang",
        "0.5.13",
        {
            "cuda_graph_backend_prefill": "disabled",
            "cuda_graph_backend_decode": "full",
            "cuda_graph_bs_decode": [1, 8],
        },
    ),
    (
        "trtllm",
        "0.21.0",
        {
            "use_cuda_graph": True,
            "cuda_graph_batch_sizes": [1, 8],
            "cuda_graph_padding_enabled": False,
        },
    ),
    (
        "trtllm",
        "1.0.0",
        {
            "cuda_graph_config": {"batch_sizes": [1, 8], "enable_padding": False},
            "torch_compile_config": None,
        },
    ),
]


def _options_of(
    engine: str, version: str, monkeypatch: pytest.MonkeyPatch, *, eager: bool = False
) -> dict[str, Any]:
    monkeypatch.setattr(engines, "version_of", lambda engine: version)
    plan = DrivePlan(engine, "m", (8, 1), (16,), 2, (1,), eager=eager)
    return canonical_options(plan, lambda keyword: True)


@pytest.mark.parametrize(("engine", "version", "expected"), _RULES)
def test_each_version_has_its_keywords_for_decode_graphs(
    engine: str, version: str, expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _options_of(engine, version, monkeypatch) == expected


@pytest.mark.parametrize(
    ("engine", "version", "expected"),
    [
        ("vllm", "0.9.2", {"enforce_eager": True}),  # too old for graphs of decode alone
        ("vllm", "0.12.0", {"enforce_eager": True}),
        ("sglang", "0.5.9", {"disable_cuda_graph": True}),
        # Its graphs of prefill have a switch of their own.
        ("sglang", "0.5.10", {"disable_piecewise_cuda_graph": True, "disable_cuda_graph": True}),
        ("sglang", "0.5.13", _EAGER["sglang"]),
        ("trtllm", "0.21.0", {"use_cuda_graph": False}),  # it has no cuda_graph_config
        ("trtllm", "1.0.0", _EAGER["trtllm"]),
    ],
)
def test_each_version_has_its_keywords_for_no_graphs(
    engine: str, version: str, expected: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert _options_of(engine, version, monkeypatch, eager=True) == expected


def test_a_version_without_graphs_of_decode_alone_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with pytest.raises(CaptureError, match=r"vllm 0\.9\.2 cannot run decode as full graphs"):
        _options_of("vllm", "0.9.2", monkeypatch)


def test_a_build_from_source_has_the_newest_rule_whose_keywords_it_knows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """SGLang from a checkout without tags: with the fields of 0.5.10, and with none that count."""
    monkeypatch.setattr(engines, "version_of", lambda engine: "0.1.dev1+g0123456")
    plan = DrivePlan("sglang", "m", (8, 1), (16,), 2, (1,))
    fields = {"disable_cuda_graph", "disable_piecewise_cuda_graph", "cuda_graph_bs"}
    expected = {"disable_piecewise_cuda_graph": True, "cuda_graph_bs": [1, 8]}
    assert canonical_options(plan, fields.__contains__) == expected
    with pytest.raises(CaptureError, match="takes none of the known options"):
        canonical_options(plan, lambda keyword: False)
