"""A function that runs when a module is imported: when, how often, and what it leaves alone."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from layerscope.capture.in_engine.import_watch import ImportWatch


@pytest.fixture
def watch() -> Iterator[ImportWatch]:
    one = ImportWatch()
    yield one
    one.stop()
    assert one not in sys.meta_path


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """The file of a module `watched_here`."""
    monkeypatch.syspath_prepend(str(tmp_path))
    file = tmp_path / "watched_here.py"
    file.write_text("value = 1\n")
    yield file
    sys.modules.pop("watched_here", None)


def test_a_watched_module_is_told_once_and_keeps_its_loader(
    watch: ImportWatch, module: Path
) -> None:
    told: list[object] = []
    watch.on_import("watched_here", lambda module: told.append(module.value))
    watch.on_import("not_there_at_all", lambda module: told.append("wrong"))
    watched = importlib.import_module("watched_here")
    watch.on_import("watched_here", lambda module: told.append("again"))
    with pytest.raises(ImportError):
        importlib.import_module("not_there_at_all")
    assert told == [1, "again"]
    assert type(watched.__loader__).__name__ == "SourceFileLoader"


def test_who_only_asks_where_a_module_is_ends_no_watch(watch: ImportWatch, module: Path) -> None:
    """As libraries do, to know whether an engine is installed."""
    told: list[object] = []
    watch.on_import("watched_here", lambda module: told.append(module.value))
    for _ in range(2):
        spec = importlib.util.find_spec("watched_here")
        assert spec is not None and spec.origin == str(module)
    importlib.import_module("watched_here")
    assert told == [1]


def test_an_import_that_fails_is_watched_when_it_is_tried_again(
    watch: ImportWatch, module: Path
) -> None:
    told: list[object] = []
    watch.on_import("watched_here", lambda module: told.append(module.value))
    module.write_text("raise OSError('no GPU')  # longer than before: no cached code fits\n")
    importlib.invalidate_caches()
    with pytest.raises(OSError, match="no GPU"):
        importlib.import_module("watched_here")
    assert told == []
    module.write_text("value = 2\n")
    importlib.invalidate_caches()
    importlib.import_module("watched_here")
    assert told == [2]


def test_a_module_whose_patches_failed_is_not_imported_without_them(
    watch: ImportWatch, module: Path
) -> None:
    def refuse(module: object) -> None:
        raise ValueError("no patches")

    watch.on_import("watched_here", refuse)
    for _ in range(2):
        with pytest.raises(ValueError, match="no patches"):
            importlib.import_module("watched_here")


def test_two_that_watch_one_module_are_told_once_each(watch: ImportWatch, module: Path) -> None:
    """Each asks all other finders, and so the other one."""
    other, told = ImportWatch(), []
    try:
        for one in (watch, other):
            one.on_import("watched_here", lambda module: told.append(module.value))
        watched = importlib.import_module("watched_here")
    finally:
        other.stop()
    assert told == [1, 1]
    assert type(watched.__loader__).__name__ == "SourceFileLoader"
