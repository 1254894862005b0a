"""serve-bench: what it refuses before anything starts, and the command lines it would run."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import RunCapture

from layerscope.capture import engines, errors, vllm_profiler
from layerscope.capture.serve_bench import engine_servers
from layerscope.capture.serve_bench.bench_plan import BenchPlan, Load, ProfileWindow


@pytest.fixture(autouse=True)
def in_an_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def _plan(engine: str, **changes: object) -> BenchPlan:
    plan = BenchPlan(model="org/model", engine=engine, output=Path("out"))
    return BenchPlan(**{**vars(plan), **changes})


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--request-rate", "0"), "not above 0"),
        (("--num-prompts", "0"), "not above 0"),
        (("--ready-timeout", "inf"), "no time in seconds"),
        (("--port", "70000"), "no port"),
        (("--port", "http"), "'http' is no whole number"),
        (("--request-rate", "fast"), "'fast' is no number"),
        (("--request-rate", "nan"), "not above 0"),
        (("--hooks", "nvtz"), "no range backend 'nvtz'"),
        (("--engine", "trtllm", "--profile"), "has no /start_profile"),
        (("--dry-run", "--", "--port", "8000"), "--port behind --"),
        (("--profile", "--dry-run", "--", "--profiler-config={}"), "where the traces go"),
        (("--dry-run", "--", "--host=0.0.0.0"), "--host=0.0.0.0 behind --"),
        (("--dry-run", "--", "--eager", "--model", "m"), "--model behind --: client and server"),
        (("--dry-run", "--", "--model_path=m"), "--model_path=m behind --: client and server"),
    ],
)
def test_what_cannot_be_is_a_usage_error(
    words: tuple[str, ...], said: str, run_capture: RunCapture
) -> None:
    extra = () if "--dry-run" in words else ("--dry-run",)
    done = run_capture("serve-bench", "org/model", *extra, *words)
    assert done.code == errors.USAGE
    assert said in done.err


def test_an_option_of_the_server_says_where_it_belongs(run_capture: RunCapture) -> None:
    words = ("serve-bench", "org/model", "--dry-run", "--max-model-len", "8192")
    done = run_capture(*words)
    assert done.code == errors.USAGE
    assert "options of the server stand behind --: layerscope-capture serve-bench … -- " in done.err
    assert done.err.splitlines()[0].endswith("-- --max-model-len 8192")
    dry = run_capture(*words[:3], "--", *words[3:])
    assert dry.code == errors.OK
    server = dry.out.split("would start: ")[1].splitlines()[0].split()
    assert "--" not in server and server[-2:] == ["--max-model-len", "8192"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ((), {}),
        (("--max-model-len", "9", "--eager"), {"max_model_len": "9", "eager": ""}),
        (("--a", "--b=--c", "--d=", "x"), {"a": "", "b": "--c", "d": ""}),
        (("-tp", "2", "--rope", '{"a": 1}'), {"rope": '{"a": 1}'}),
    ],
)
def test_words_of_the_server_are_read_as_keywords(
    words: tuple[str, ...], expected: dict[str, str]
) -> None:
    assert engine_servers.server_keywords(words) == expected


def test_an_engine_that_is_not_installed_is_named_before_a_folder_is_made(
    run_capture: RunCapture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(engines._MODULES, engines.SGLANG, "no_such_module")
    done = run_capture("serve-bench", "org/model", "--engine", "sglang", "-o", tmp_path / "out")
    assert done.code == errors.FAILED
    assert "sglang[all]" in done.err
    assert list(tmp_path.iterdir()) == []


def test_options_left_out_are_left_out_of_the_clients_words() -> None:
    words = engine_servers.client_words(_plan("vllm"), Path("/f"), 5)
    assert "--max-concurrency" not in words
    assert words[words.index("--request-rate") + 1] == "inf"
    load = Load(request_rate=2.5, max_concurrency=8)
    words = engine_servers.client_words(_plan("vllm", load=load), Path("/f"), 5)
    assert words[words.index("--max-concurrency") + 1] == "8"
    assert words[words.index("--request-rate") + 1] == "2.5"


@pytest.mark.parametrize(
    ("engine", "expected"),
    [
        ("vllm", "--tensor-parallel-size 4 --load-format dummy --trust-remote-code"),
        ("sglang", "--tp-size 4 --load-format dummy --trust-remote-code"),
        ("trtllm", "--tp_size 4 --trust_remote_code --extra_llm_api_options /f/engine_config.yaml"),
    ],
)
def test_each_engine_names_the_same_things_its_own_way(engine: str, expected: str) -> None:
    """Names as in the engines' documentation."""
    plan = _plan(engine, tensor_parallel=4, dummy_weights=True, trust_remote_code=True)
    assert " ".join(engine_servers.server_words(plan, Path("/f"), 5)).endswith(expected)


def test_a_configuration_file_of_the_users_replaces_ours() -> None:
    """TensorRT-LLM takes random weights and metrics from that file."""
    plan = _plan("trtllm", dummy_weights=True)
    assert engine_servers.config_text(plan) == "return_perf_metrics: true\nload_format: dummy\n"
    own = _plan("trtllm", server_args=("--config=mine.yaml",))
    assert engine_servers.config_text(own) == ""
    assert engine_servers.server_words(own, Path("/f"), 5)[-1] == "--config=mine.yaml"
    both = _plan("trtllm", dummy_weights=True, server_args=("--config", "mine.yaml"))
    with pytest.raises(errors.CaptureError, match="the file is yours"):
        engine_servers.check(both)


@pytest.mark.parametrize(
    ("version", "has_option"), [(None, True), ("0.32.0+cpu", True), ("0.12.0", False)]
)
def test_vllm_gets_its_profiler_as_its_version_takes_it(
    version: str | None, has_option: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An option since 0.13; variables of the environment before."""
    monkeypatch.setattr(vllm_profiler, "version_of", lambda engine: version)
    plan = _plan("vllm", profile=ProfileWindow(steps=3))
    words = engine_servers.server_words(plan, Path("/f"), 5)
    variables = engine_servers.added_variables(plan, Path("/f"))
    assert ("--profiler-config" in words) is has_option
    assert (variables.get("VLLM_TORCH_PROFILER_DIR") == "/f/traces") is not has_option
    config = engine_servers.profiler_config(plan, Path("/f"))
    assert (config is not None) is has_option
    assert config is None or config["max_iterations"] == 3
