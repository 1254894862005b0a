"""Graph annotations of a process of an engine: its file, its report, and what is judged of them."""

from __future__ import annotations

import atexit
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

if importlib.util.find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

import fake_graphs
import torch
from torch import nn

from layerscope.capture.errors import FAILED, OK
from layerscope.capture.hooks.hook_report import HookReport, read_reports
from layerscope.capture.hooks.process_hooks import ProcessHooks
from layerscope.capture.hooks.run import judge
from layerscope.capture.in_engine.settings import HookSettings

pytestmark = pytest.mark.torch


class Kernel(nn.Module):
    def forward(self, x: Any) -> Any:
        fake_graphs.GPU.launch("k")
        return x


@pytest.fixture
def hooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ProcessHooks:
    """Those of rank 3, in a process that does not come to its end."""
    fake_graphs.use_public(monkeypatch)
    monkeypatch.setattr(atexit, "register", lambda run: run)
    monkeypatch.setenv("RANK", "3")
    return ProcessHooks(HookSettings(("annotations",), tmp_path), "vllm")


def _model() -> Any:
    return nn.Sequential(Kernel(), Kernel())


def _capture(model: Any) -> Any:
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        model(1)
    return graph


def _judged(folder: Path, *, has_run: bool) -> int:
    return judge(read_reports(folder), folder, "vllm", has_run=has_run)


def test_a_process_leaves_the_nodes_of_its_rank_at_the_first_replay(
    hooks: ProcessHooks, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Workers that are killed, or were forked, run nothing at their end."""
    model = _model()
    hooks.model_loaded(model)
    _capture(model).replay()
    (report,) = read_reports(tmp_path)
    assert (report.rank, report.graph_nodes, report.capture) == (3, 2, True)
    document = json.loads((tmp_path / "graph_annotations_rank3.json").read_text())
    assert [entry for (entry,) in document.values()] == [{"name": "0"}, {"name": "1"}]
    assert _judged(tmp_path, has_run=True) == OK
    assert "rank 3: 2 graph nodes named" in capsys.readouterr().out
    hooks.remove()


def test_nodes_that_were_captured_later_are_in_the_report_of_the_end(
    hooks: ProcessHooks, tmp_path: Path
) -> None:
    model = _model()
    hooks.model_loaded(model)
    kept = [_capture(model)]
    kept[0].replay()
    kept.append(_capture(model))
    hooks.finish()
    (report,) = read_reports(tmp_path)
    assert report.graph_nodes == 4
    assert len(json.loads((tmp_path / "graph_annotations_rank3.json").read_text())) == 4
    hooks.remove()


def test_the_end_of_the_process_writes_what_is_left(
    hooks: ProcessHooks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at_the_end: list[Any] = []
    monkeypatch.setattr(atexit, "register", at_the_end.append)
    model = _model()
    hooks.model_loaded(model)
    kept = _capture(model)
    (finish,) = at_the_end
    finish()
    (report,) = read_reports(tmp_path)
    assert kept and report.graph_nodes == 2
    hooks.remove()


def test_a_model_that_is_compiled_later_leaves_no_annotations(
    hooks: ProcessHooks, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = _model()
    hooks.model_loaded(model)
    _capture(model).replay()
    assert (tmp_path / "graph_annotations_rank3.json").exists()
    compiled = nn.Sequential(nn.ReLU())
    hooks.model_loaded(compiled)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)  # the fake cannot compile
    torch.compile(compiled, backend="eager")(torch.ones(1))
    assert not list(tmp_path.glob("graph_annotations*"))
    _capture(model).replay()
    hooks.finish()
    assert not list(tmp_path.glob("graph_annotations*"))
    assert _judged(tmp_path, has_run=False) == FAILED
    hooks.remove()


@pytest.mark.parametrize("way", ["eager", "captures that torch does not annotate"])
def test_annotations_that_name_nothing_are_no_capture(
    way: str, hooks: ProcessHooks, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = _model()
    hooks.model_loaded(model)
    if way == "eager":
        model(1)
    else:
        graph = torch.cuda.CUDAGraph()
        graph.capture_begin()
        model(1)
        graph.capture_end()
        graph.replay()
    hooks.finish()
    assert _judged(tmp_path, has_run=False) == OK  # a server that is only just up
    assert _judged(tmp_path, has_run=True) == FAILED
    said = capsys.readouterr().err
    assert "rank 3: annotations named no node of a CUDA graph" in said and "hooks rule" in said
    hooks.remove()


def test_other_backends_have_no_nodes_to_name(tmp_path: Path) -> None:
    HookReport("vllm", "nvtx,record_function", 0, models=["M"], modules=1).write(tmp_path)
    assert _judged(tmp_path, has_run=True) == OK
