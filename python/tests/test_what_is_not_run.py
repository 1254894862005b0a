"""What the tests say of themselves where something is not there."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import end_for_want, program_under_test


def test_what_is_absent_is_said_and_fails_where_ci_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception):
        end_for_want("no C compiler", said.append)
    assert said == ["no C compiler"]
    monkeypatch.setenv("CI", "true")
    with pytest.raises(pytest.fail.Exception, match="not run: no C compiler"):
        end_for_want("no C compiler", said.append)


def test_no_program_of_path_stands_for_the_one_that_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "layerscope"
    program.touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("LAYERSCOPE_BIN", raising=False)
    assert program_under_test() == str(program)
    for named in (str(tmp_path / "gone"), ""):
        monkeypatch.setenv("LAYERSCOPE_BIN", named)
        assert program_under_test() is None
