"""`walk` in vLLM where its engine fails: one error line, and the one that says why."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fake_vllm
import pytest
from conftest import RunCapture

from layerscope.capture import errors

pytestmark = pytest.mark.torch


def _engine_that_fails(monkeypatch: pytest.MonkeyPatch, *, at_prompt: int) -> None:
    """At a prompt, counted from 0; then it is dead, and every call of it says that alone."""
    fake_vllm.install(monkeypatch)

    class Fails(fake_vllm.LLM):
        is_dead = False

        def generate(self, *args: Any, **keywords: Any) -> Any:
            if len(self.prompts) == at_prompt:
                self.is_dead = True
                raise RuntimeError("CUDA out of memory")
            return super().generate(*args, **keywords)

        def apply_model(self, func: Any) -> Any:
            self._require_alive()
            return super().apply_model(func)

        def stop_profile(self) -> None:
            self._profiler.stop()
            self._require_alive()

        def _require_alive(self) -> None:
            if self.is_dead:
                raise RuntimeError("EngineCore encountered an issue")

    monkeypatch.setattr("vllm.LLM", Fails)


@pytest.fixture
def hooks_end() -> Iterator[None]:
    """Hooks of a recording go with the process of a worker, which is this one here."""
    from layerscope.capture.walk import snapshot

    yield
    for recorder in snapshot._recorders.values():
        recorder.remove()
    snapshot._recorders.clear()


@pytest.mark.usefixtures("hooks_end")
@pytest.mark.parametrize("at_prompt", [0, 1])  # that with hooks, and that with the profiler
def test_an_engine_that_died_does_not_hide_why(
    at_prompt: int,
    tiny_gpt2: Path,
    tmp_path: Path,
    run_capture: RunCapture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    _engine_that_fails(monkeypatch, at_prompt=at_prompt)
    words = ("--profile-dir", tmp_path / "profile", "-o", tmp_path / "tree.json")
    done = run_capture("walk", tiny_gpt2, "--engine", "vllm", *words)
    assert done.code == errors.FAILED
    assert "vLLM failed on a prompt of 16 tokens: CUDA out of memory" in done.err
    assert "EngineCore" not in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("apply_model", "the modules of {model} cannot be read: ValueError: nested"),
        ("start_profile", "vLLM's profiler failed: ValueError: nested"),
        ("stop_profile", "vLLM's profiler failed: ValueError: nested"),
    ],
)
def test_what_a_worker_raises_is_an_error_line(
    method: str,
    said: str,
    tiny_gpt2: Path,
    tmp_path: Path,
    run_capture: RunCapture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fails(llm: fake_vllm.LLM, *_: object) -> None:
        if llm._profiler is not None:
            llm._profiler.stop()
        raise ValueError("nested more than 100 deep")

    monkeypatch.setattr(fake_vllm.install(monkeypatch), method, fails)
    words = ("--profile-dir", tmp_path / "profile", "-o", tmp_path / "tree.json")
    done = run_capture("walk", tiny_gpt2, "--engine", "vllm", *words)
    assert done.code == errors.FAILED
    assert said.format(model=tiny_gpt2) in done.err
