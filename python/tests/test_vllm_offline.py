"""How vLLM is asked: keywords, environment, what is new in the profiler's folder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fake_vllm
import pytest

from layerscope.capture import vllm_offline
from layerscope.capture.errors import CaptureError
from layerscope.capture.model_options import ModelOptions
from layerscope.capture.vllm_offline import ProfilerPlan, llm_keywords


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


@pytest.mark.torch
@pytest.mark.parametrize("new", [True, False])
def test_the_profiler_is_asked_for_as_the_version_takes_it(
    new: bool, tiny_qwen3: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = fake_vllm.EngineArgs if new else fake_vllm.OldEngineArgs
    vllm = fake_vllm.install(monkeypatch, arguments)
    environment: dict[str, str] = {}
    plan = ProfilerPlan(tmp_path, with_stack=False)
    with vllm_offline.offline_llm(
        ModelOptions(str(tiny_qwen3), "vllm"), eager=True, plan=plan, environment=environment
    ):
        pass
    keywords = vllm.made[0].keywords
    assert environment["VLLM_ALLOW_INSECURE_SERIALIZATION"] == "1"
    assert environment["VLLM_ENABLE_V1_MULTIPROCESSING"] == "0"
    if new:
        assert keywords["profiler_config"] == {
            "profiler": "torch",
            "torch_profiler_dir": str(tmp_path),
            "torch_profiler_with_stack": False,
            "torch_profiler_record_shapes": True,
        }
    else:
        assert "profiler_config" not in keywords
        assert environment["VLLM_TORCH_PROFILER_DIR"] == str(tmp_path)
        assert environment["VLLM_TORCH_PROFILER_WITH_STACK"] == "0"


@pytest.mark.torch
def test_the_engine_is_ended_also_after_an_error(
    tiny_qwen3: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vllm = fake_vllm.install(monkeypatch)
    options = ModelOptions(str(tiny_qwen3), "vllm")
    with (
        pytest.raises(KeyboardInterrupt),
        vllm_offline.offline_llm(options, eager=True, plan=None, environment={}),
    ):
        raise KeyboardInterrupt
    assert vllm.made[0].was_shut_down


def test_a_profiler_that_writes_nothing_is_an_error(tmp_path: Path) -> None:
    with (
        pytest.raises(CaptureError, match="wrote no trace"),
        vllm_offline.profiled(_Silent(), ProfilerPlan(tmp_path)),
    ):
        pass


def test_only_what_came_meanwhile_is_of_the_recording(tmp_path: Path) -> None:
    (tmp_path / "rank0.1.pt.trace.json.gz").write_bytes(b"before")

    class Writes(_Silent):
        def stop_profile(self) -> None:
            (tmp_path / "rank0.2.pt.trace.json.gz").write_bytes(b"now")

    engine: Any = Writes()
    with vllm_offline.profiled(engine, ProfilerPlan(tmp_path)) as files:
        assert files == []
    assert [path.name for path in files] == ["rank0.2.pt.trace.json.gz"]
