"""The tests of `make test-engines` themselves: what they do where their engine is missing."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from layerscope.capture import engines


def test_without_vllm_its_tests_fail(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broken environment would else pass, with every test skipped."""
    monkeypatch.syspath_prepend(str(Path(__file__).parent / "engines"))
    commands = importlib.import_module("vllm_commands")
    monkeypatch.setattr(engines, "is_installed", lambda engine: False)
    with pytest.raises((pytest.fail.Exception, pytest.skip.Exception)) as ended:
        next(commands.vllm_of_a_test(tmp_path, capsys))
    assert ended.type is pytest.fail.Exception
    assert "vLLM is not installed" in str(ended.value)
