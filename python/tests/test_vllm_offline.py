"""How vLLM is asked: keywords, environment, what is new in the profiler's folder."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fake_vllm
import pytest

from layerscope.capture import vllm_offline, vllm_profiler
from layerscope.capture.errors import CaptureError
from layerscope.capture.model_options import ModelOptions
from layerscope.capture.vllm_offline import llm_keywords
from layerscope.capture.vllm_profiler import VllmProfiler

_TRACE = "rank0.17.pt.trace.json.gz"  # as vLLM names them


class _Silent:
    """An engine whose profiler writes nothing."""

    def start_profile(self) -> None: ...

    def stop_profile(self) -> None: ...


def test_keywords_of_the_command_line_have_the_last_word() -> None:
    options = ModelOptions(
        "m", "vllm", dummy_weights=True, engine_args={"enable_prefix_caching": True, "seed": 3}
    )
    keywords = llm_keywords(options, eager=True)
    assert keywords["load_format"] == "dummy"
    assert keywords["enable_prefix_caching"] is True
    assert keywords["seed"] == 3


def test_prompts_hold_no_token_of_the_first_hundred() -> None:
    """Those of tokenizers that mean something, and those that config-patch moves there."""
    config = SimpleNamespace(get_vocab_size=lambda: 200)
    llm = SimpleNamespace(
        llm_engine=SimpleNamespace(vllm_config=SimpleNamespace(model_config=config))
    )
    drawn = vllm_offline.random_prompt(llm, 1000, seed=0)
    assert (min(drawn), max(drawn), len(drawn)) == (100, 199, 1000)
    assert drawn == vllm_offline.random_prompt(llm, 1000, seed=0)
    assert drawn != vllm_offline.random_prompt(llm, 1000, seed=1)


def test_the_table_that_a_profiler_prints_does_not_bury_what_is_said(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    class Talks(_Silent):
        def stop_profile(self) -> None:
            print("Name  Self CPU %")
            (tmp_path / _TRACE).touch()

    with vllm_offline.profiled(Talks(), VllmProfiler(tmp_path)) as files:
        print("said")
    assert files == [tmp_path / _TRACE]
    assert capsys.readouterr().out == "said\n"


# 0.13.0 replaced the variables by the config; 0.1.dev… is a build of a checkout without tags.
_VERSIONS = [
    ("0.12.3", False),
    ("0.13.0", True),
    ("0.32.0+cpu", True),
    ("0.1.dev1+gabc", True),
    (None, True),
]


@pytest.mark.parametrize(("version", "has_config"), _VERSIONS)
def test_the_profiler_is_asked_for_as_the_version_takes_it(
    version: str | None, has_config: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vllm_profiler, "version_of", lambda engine: version)
    profiler = VllmProfiler(tmp_path, with_stack=False)
    config = {
        "profiler": "torch",
        "torch_profiler_dir": str(tmp_path),
        "torch_profiler_with_stack": False,
        "torch_profiler_record_shapes": True,
        "torch_profiler_dump_cuda_time_total": False,
    }
    variables = {
        "VLLM_TORCH_PROFILER_DIR": str(tmp_path),
        "VLLM_TORCH_PROFILER_WITH_STACK": "0",
        "VLLM_TORCH_PROFILER_RECORD_SHAPES": "1",
        "VLLM_TORCH_PROFILER_DUMP_CUDA_TIME_TOTAL": "0",
    }
    assert profiler.config() == (config if has_config else None)
    assert profiler.environment() == ({} if has_config else variables)


@pytest.mark.torch
def test_the_engine_gets_its_profiler_and_runs_in_this_process(
    tiny_qwen3: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vllm = fake_vllm.install(monkeypatch)
    environment: dict[str, str] = {}
    profiler = VllmProfiler(tmp_path)
    options = ModelOptions(str(tiny_qwen3), "vllm")
    with vllm_offline.offline_llm(options, eager=True, profiler=profiler, environment=environment):
        pass
    assert environment["VLLM_ALLOW_INSECURE_SERIALIZATION"] == "1"
    assert environment["VLLM_ENABLE_V1_MULTIPROCESSING"] == "0"
    assert environment["VLLM_LOGGING_LEVEL"] == "WARNING"
    assert vllm.made[0].keywords["profiler_config"]["torch_profiler_dir"] == str(tmp_path)


@pytest.mark.torch
def test_the_command_line_has_the_last_word_on_profiler_and_ranks(
    tiny_gpt2: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two ranks are not one process."""
    vllm = fake_vllm.install(monkeypatch)
    environment: dict[str, str] = {}
    mine = {"profiler": "cuda"}
    options = ModelOptions(
        str(tiny_gpt2), "vllm", engine_args={"profiler_config": mine, "tensor_parallel_size": 2}
    )
    profiler = VllmProfiler(tmp_path)
    with vllm_offline.offline_llm(options, eager=True, profiler=profiler, environment=environment):
        pass
    assert vllm.made[0].keywords["profiler_config"] == mine
    assert "VLLM_ENABLE_V1_MULTIPROCESSING" not in environment


@pytest.mark.torch
@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="no /proc here")
def test_workers_are_gone_also_where_the_engine_fails_to_load(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that made a session of its own, and an engine that never was."""
    workers: list[subprocess.Popen[bytes]] = []

    def fails(**_: object) -> None:
        workers.append(subprocess.Popen(["sleep", "60"], start_new_session=True))
        raise RuntimeError("Engine core initialization failed")

    fake_vllm.install(monkeypatch)
    monkeypatch.setattr(sys.modules["vllm"], "LLM", fails)
    with (
        pytest.raises(CaptureError, match="Engine core initialization failed"),
        vllm_offline.offline_llm(
            ModelOptions("m", "vllm"), eager=True, profiler=None, environment={}
        ),
    ):
        pytest.fail("it runs")
    assert workers[0].poll() is not None


@pytest.mark.torch
def test_the_engine_is_ended_also_after_an_error(
    tiny_qwen3: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vllm = fake_vllm.install(monkeypatch)
    options = ModelOptions(str(tiny_qwen3), "vllm")
    with (
        pytest.raises(KeyboardInterrupt),
        vllm_offline.offline_llm(options, eager=True, profiler=None, environment={}),
    ):
        raise KeyboardInterrupt
    assert vllm.made[0].was_shut_down


def test_a_profiler_that_writes_nothing_is_an_error(tmp_path: Path) -> None:
    """What hooks write beside traces is none."""
    with (
        pytest.raises(CaptureError, match="wrote no trace"),
        vllm_offline.profiled(_Silent(), VllmProfiler(tmp_path)),
    ):
        (tmp_path / "graph_annotations_rank0.json").touch()


def test_only_what_came_meanwhile_is_of_the_recording(tmp_path: Path) -> None:
    (tmp_path / "rank0.1.pt.trace.json.gz").write_bytes(b"before")

    class Writes(_Silent):
        def stop_profile(self) -> None:
            (tmp_path / "rank0.2.pt.trace.json.gz").write_bytes(b"now")

    engine: Any = Writes()
    with vllm_offline.profiled(engine, VllmProfiler(tmp_path)) as files:
        assert files == []
    assert [path.name for path in files] == ["rank0.2.pt.trace.json.gz"]
