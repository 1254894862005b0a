"""The order of calls gives `Class_k` of a trace its path, as torch.profiler itself numbers them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Program, read_json

pytestmark = pytest.mark.torch

_SCOPE = "nn.Module: "
_RANGE = "here: "

ModelAndRun = tuple[Any, Callable[[Any], Any]]


def _shared_and_repeated() -> ModelAndRun:
    import torch
    from repeated_modules import SharedAndRepeated

    return SharedAndRepeated(), lambda model: model(torch.ones(2, 8))


def _loaded(folder: Path) -> ModelAndRun:
    from layerscope.capture import transformers_model
    from layerscope.capture.model_options import ModelOptions

    model = transformers_model.load(ModelOptions(str(folder), "transformers", device="cpu"))
    prompt = transformers_model.random_prompt(model, 8, seed=0)
    return model, lambda runs: transformers_model.generate(runs, prompt, 2)


def _albert() -> ModelAndRun:
    """One layer of weights that runs four times."""
    import torch
    from transformers import AlbertConfig, AlbertModel

    config = AlbertConfig(
        vocab_size=64,
        embedding_size=16,
        hidden_size=32,
        num_hidden_layers=4,
        num_hidden_groups=1,
        num_attention_heads=2,
        intermediate_size=32,
    )
    return AlbertModel(config).eval(), lambda model: model(torch.ones(1, 4, dtype=torch.long))


@pytest.fixture(params=["shared", "albert", "qwen3", "qwen3_moe", "gpt2"])
def model_and_run(request: pytest.FixtureRequest) -> ModelAndRun:
    if request.param == "shared":
        return _shared_and_repeated()
    if request.param == "albert":
        return _albert()
    folder: Path = request.getfixturevalue(f"tiny_{request.param}")
    return _loaded(folder)


def _trace(model: Any, run: Callable[[Any], Any], path: Path) -> list[dict[str, Any]]:
    """A recording in which each call of a module also opens a range with the module's path.

    The ranges are what the expectation comes from: the profiler names the module, the range its
    path, and both are one call.
    """
    import torch
    from torch.profiler import record_function

    from layerscope.capture.profiler import recording

    open_ranges: list[Any] = []

    def begin(name: str) -> Callable[..., None]:
        def hook(*_: Any) -> None:
            open_ranges.append(record_function(_RANGE + name))
            open_ranges[-1].__enter__()

        return hook

    def end(*_: Any) -> None:
        open_ranges.pop().__exit__(None, None, None)

    handles = []
    for name, module in model.named_modules():
        handles.append(module.register_forward_pre_hook(begin(name)))
        handles.append(module.register_forward_hook(end))
    with recording(path), torch.no_grad():
        run(model)
    for handle in handles:
        handle.remove()
    document = read_json(path)
    events: list[dict[str, Any]] = document["traceEvents"]
    return events


def _paths_of_scopes(events: list[dict[str, Any]]) -> dict[str, str]:
    """{"Norm_1": path}: the k-th scope and the k-th range by start are one call."""

    def started(prefix: str, categories: tuple[str, ...]) -> list[str]:
        found = [
            event
            for event in events
            if event.get("name", "").startswith(prefix) and event.get("cat") in categories
        ]
        found.sort(key=lambda event: event["ts"])
        return [event["name"].removeprefix(prefix) for event in found]

    scopes = started(_SCOPE, ("python_function",))
    ranges = started(_RANGE, ("user_annotation",))
    assert len(scopes) == len(ranges) > 0
    paths: dict[str, str] = {}
    for scope, path in zip(scopes, ranges, strict=True):
        assert paths.setdefault(scope, path) == path, "one instance is one module"
    return paths


def _numbered(order: list[dict[str, str]]) -> dict[str, str]:
    """layerscope's rule: the k-th of a class in call order is Class_k."""
    counts: dict[str, int] = {}
    numbered = {}
    for entry in order:
        k = counts[entry["class"]] = counts.get(entry["class"], -1) + 1
        numbered[f"{entry['class']}_{k}"] = entry["path"]
    return numbered


def test_call_order_numbers_modules_as_the_profiler_does(
    model_and_run: ModelAndRun, tmp_path: Path
) -> None:
    import torch

    from layerscope.capture.walk.call_order import CallRecorder

    model, run = model_and_run
    with CallRecorder(model) as recorder, torch.no_grad():
        run(model)
    expected = _paths_of_scopes(_trace(model, run, tmp_path / "trace.json.gz"))
    assert _numbered(recorder.call_order()) == expected
    assert set(expected.values()) <= dict(model.named_modules()).keys()


def test_layerscope_gives_every_module_of_a_trace_its_path(
    model_and_run: ModelAndRun, tmp_path: Path, layerscope_bin: Program
) -> None:
    """End to end: what was walked, read with a trace that knows only `Class_k`."""
    import torch

    from layerscope.capture.output import write_json
    from layerscope.capture.walk.call_order import CallRecorder
    from layerscope.capture.walk.document import Run, document
    from layerscope.capture.walk.snapshot import calls_of, snapshot

    model, run = model_and_run
    seen = snapshot(model)
    with CallRecorder(model) as recorder, torch.no_grad():
        run(model)
    seen["calls"] = calls_of(recorder)
    about = Run("m", "test", "0", {"name": "torch", "version": None}, None, {}, False)
    write_json(tmp_path / "tree.json", document(about, seen))
    events = _trace(model, run, tmp_path / "trace.json.gz")
    expected = _paths_of_scopes(events)
    told = layerscope_bin.json(
        "modules",
        tmp_path / "trace.json.gz",
        "--model-tree",
        tmp_path / "tree.json",
        "--no-collapse",
        "-n",
        "0",
    )
    nodes = [node for node in told["data"]["nodes"] if node["instance"]]
    assert {node["instance"]: node["path"] for node in nodes} == expected


def test_a_module_outside_of_the_model_keeps_its_number() -> None:
    """A sampler of a class that the model has too, called in between, is Linear_1."""
    import torch
    from torch import nn

    from layerscope.capture.walk.call_order import OUTSIDE, CallRecorder
    from layerscope.capture.walk.snapshot import calls_of

    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 2))
    outside = nn.Linear(2, 2)
    with CallRecorder(model, invocations=False) as recorder:
        outside(model[0](torch.ones(1, 2)))
        model[2](nn.Tanh()(torch.ones(1, 2)))
    assert recorder.call_order() == [
        {"path": "0", "class": "Linear"},
        {"path": f"{OUTSIDE}.Linear.0", "class": "Linear"},
        {"path": "2", "class": "Linear"},
    ]
    assert any(line.startswith(OUTSIDE) for line in calls_of(recorder)["limitations"])
    assert recorder.invocations == []


def _scopes(run: Callable[[], Any], path: Path) -> list[str]:
    """`Class_k` of each call in a recording, by start."""
    from layerscope.capture.profiler import recording

    with recording(path):
        run()
    events = read_json(path)["traceEvents"]
    scopes = [event for event in events if event.get("name", "").startswith(_SCOPE)]
    return [e["name"].removeprefix(_SCOPE) for e in sorted(scopes, key=lambda e: e["ts"])]


@pytest.mark.parametrize("began", ["before", "meanwhile"])
def test_calls_in_other_threads_count_where_the_profiler_sees_the_thread(
    began: str, tmp_path: Path
) -> None:
    """The second module is called first, in a thread; the first and the third then here."""
    from concurrent.futures import ThreadPoolExecutor

    import torch
    from torch import nn

    from layerscope.capture.walk.call_order import CallRecorder
    from layerscope.capture.walk.snapshot import calls_of

    model = nn.Sequential(*(nn.Linear(2, 2) for _ in range(3)))
    x = torch.ones(1, 2)
    with ThreadPoolExecutor(1) as threads:
        if began == "before":
            threads.submit(int).result()

        def run() -> None:
            with ThreadPoolExecutor(1) as fresh:
                (threads if began == "before" else fresh).submit(model[1], x).result()
            model[2](model[0](x))

        with CallRecorder(model) as recorder:
            run()
        scopes = _scopes(run, tmp_path / "trace.json")
    calls = calls_of(recorder)
    paths = ["1", "0", "2"] if began == "before" else ["0", "2"]
    assert [entry["path"] for entry in calls["call_order"]] == paths
    assert scopes == [f"Linear_{k}" for k in range(len(paths))]
    assert [record["module"] for record in calls["invocations"]] == ["1", "0", "2"]
    said = [line for line in calls["limitations"] if "threads that began" in line]
    assert [": 1." in line for line in said] == ([True] if began == "meanwhile" else [])


def test_a_part_that_is_compiled_runs_past_the_recording() -> None:
    """It is traced in one graph all the same; its wrapper and what is around it are called."""
    import torch
    from torch import nn

    from layerscope.capture.walk.call_order import CallRecorder

    part = torch.compile(nn.Sequential(nn.ReLU()), backend="eager", fullgraph=True)
    model = nn.Sequential(nn.Tanh(), part)
    with CallRecorder(model) as recorder:
        for _ in range(2):
            model(torch.ones(1))
    classes = [entry["class"] for entry in recorder.call_order()]
    assert classes == ["Sequential", "Tanh", "OptimizedModule"]


def test_classes_that_share_a_name_are_left_out_and_said() -> None:
    """The profiler numbers each type from 0: two different modules would be Block_0."""
    import torch
    from torch import nn

    from layerscope.capture.walk.call_order import CallRecorder
    from layerscope.capture.walk.snapshot import calls_of

    def block(base: type) -> Any:
        return type("Block", (base,), {})

    model = nn.Sequential(block(nn.ReLU)(), block(nn.Tanh)(), nn.Identity())
    with CallRecorder(model) as recorder:
        model(torch.ones(1))
    calls = calls_of(recorder)
    assert [entry["class"] for entry in calls["call_order"]] == ["Sequential", "Identity"]
    assert any("called Block" in line for line in calls["limitations"])


def test_hooks_are_gone_after_the_recording_also_when_the_forward_fails() -> None:
    import torch
    from torch import nn

    from layerscope.capture.walk.call_order import CallRecorder

    class Fails(nn.Module):
        def forward(self, _: Any) -> Any:
            raise RuntimeError("no memory")

    model = nn.Sequential(nn.Identity(), Fails())
    recorder = CallRecorder(model)
    with pytest.raises(RuntimeError), recorder:
        model(torch.ones(1))
    assert all(not m._forward_pre_hooks and not m._forward_hooks for m in model.modules())
    assert [record["module"] for record in recorder.invocations] == ["", "0", "1"]
    n_calls = len(recorder.call_order())
    model[0](torch.ones(1))
    assert len(recorder.call_order()) == n_calls
    with CallRecorder(model) as again:
        model[0](torch.ones(1))
    assert again.invocations[0]["parent"] is None


def test_invocations_hold_metadata_and_no_values() -> None:
    import torch
    from torch import nn

    from layerscope.capture.walk.call_order import CallRecorder

    class Scale(nn.Module):
        def forward(self, pair: Any, *, by: float, name: str) -> Any:
            return {"out": pair[0] * by}

    model = Scale()
    with CallRecorder(model) as recorder:
        model((torch.full((2, 3), 7.5), None), by=4321.0, name="secret")
    (record,) = recorder.invocations
    tensor = {
        "shape": [2, 3],
        "dtype": "torch.float32",
        "device": "cpu",
        "stride": [3, 1],
        "storage_offset": 0,
    }
    assert record["inputs"] == [[tensor, {"type": "NoneType"}]]
    assert record["kwargs"] == {"by": {"type": "float"}, "name": {"type": "str"}}
    assert record["outputs"] == {"out": tensor}
    text = json.dumps(record)
    assert "secret" not in text and "4321" not in text and "7.5" not in text
