"""Ranges of modules inside this process: paths, copies, compiled models, PyTorch's profiler."""

from __future__ import annotations

import copy
import importlib.util
import inspect
import pickle
import re
from pathlib import Path
from typing import Any

import pytest
from conftest import Program

if importlib.util.find_spec("torch") is None:
    pytest.skip("torch is not installed", allow_module_level=True)

import torch
from torch import nn

from layerscope.capture.hooks.module_ranges import ModuleRanges, RangedForward
from layerscope.capture.in_engine.compiled_modules import CompiledModelError
from layerscope.capture.in_engine.range_backends import (
    RecordFunctionBackend,
    SeveralBackends,
    module_text,
)

pytestmark = pytest.mark.torch


class Listed:
    """A backend that keeps what it is told."""

    def __init__(self) -> None:
        self.opened: list[str] = []
        self.open_now: list[str] = []
        self.errors: list[BaseException | None] = []

    def open(self, text: str, path: str) -> str:
        self.opened.append(text)
        self.open_now.append(text)
        return text

    def close(self, token: str, error: BaseException | None) -> None:
        assert self.open_now.pop() == token
        self.errors.append(error)


class Twice(nn.Module):
    """Calls one block two times, as models with shared layers do."""

    def __init__(self) -> None:
        super().__init__()
        self.block = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        self.tied = self.block[0]

    def forward(self, x: Any, *, scale: float = 1.0) -> Any:
        return self.tied(self.block(self.block(x))) * scale


_X = torch.ones(1, 4)


def _texts(*paths: str) -> list[str]:
    return [module_text(path) for path in paths]


def test_a_shared_module_has_the_first_of_its_paths() -> None:
    model, backend = Twice(), Listed()
    with ModuleRanges(model, backend) as ranges:
        model(_X)
        assert (ranges.modules, ranges.shared) == (4, 1)
    block = ["block", "block.0", "block.1"]
    assert backend.opened == _texts("", *block, *block, "block.0")
    assert [name for name, _ in model.named_modules()] == ["", *block]


def test_a_call_of_forward_itself_has_a_range() -> None:
    # Engines do this, and forward hooks would not run.
    model, backend = Twice(), Listed()
    with ModuleRanges(model, backend):
        model.forward(_X)
    assert backend.opened[0] == module_text("")


def test_an_overridden_call_has_a_range() -> None:
    class Direct(nn.Module):
        def __call__(self, x: Any) -> Any:  # as vLLM's compilable classes when nothing is compiled
            return self.forward(x)

        def forward(self, x: Any) -> Any:
            return x

    backend = Listed()
    model = nn.Sequential(Direct())
    with ModuleRanges(model, backend) as ranges:
        assert ranges.modules == 2
        model(_X)
    assert backend.opened == _texts("", "0")


def test_ranges_end_with_the_exception_that_leaves_them() -> None:
    model, backend = Twice(), Listed()
    with ModuleRanges(model, backend), pytest.raises(RuntimeError):
        model(torch.ones(1, 5))
    assert backend.open_now == []
    assert [type(error) for error in backend.errors] == [RuntimeError] * 3


def test_a_second_installation_adds_nothing_and_removal_puts_the_forward_back() -> None:
    model = Twice()
    own = nn.ReLU()
    model.block[1] = own
    own.forward = plain = lambda x: x
    first, second = Listed(), Listed()
    outer = ModuleRanges(model, first)
    inner = ModuleRanges(model, second)
    assert inner.modules == 0
    model(_X)
    inner.remove()
    outer.remove()
    assert second.opened == []
    assert own.__dict__["forward"] is plain
    assert all("forward" not in m.__dict__ for m in model.modules() if m is not own)


def test_a_forward_that_is_an_object_keeps_its_own_attributes() -> None:
    """A layer that a patch made an identity: its range stands, its modules do not run."""

    class Replacement:
        def __init__(self, forward: Any) -> None:
            self._forward, self._text = forward, "elsewhere"

        def __call__(self, x: Any) -> Any:
            return x

    model = nn.Sequential(nn.Linear(2, 2))
    model[0].__dict__["forward"] = Replacement(model[0].forward)
    backend = Listed()
    x = torch.ones(1, 2)
    with ModuleRanges(model, backend):
        assert model(x) is x
    assert backend.opened == [module_text(""), module_text("0")]


def test_a_forward_that_was_replaced_since_is_left_alone() -> None:
    model = Twice()
    ranges = ModuleRanges(model, Listed())
    model.tied.forward = replaced = lambda x: x
    ranges.remove()
    assert model.tied.__dict__["forward"] is replaced


def test_the_wrapper_has_the_signature_of_the_forward() -> None:
    model = Twice()
    before = inspect.signature(model.forward)
    with ModuleRanges(model, Listed()):
        assert inspect.signature(model.forward) == before


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda model: pickle.loads(pickle.dumps(model))]
)
def test_a_copy_runs_its_own_weights_and_has_no_ranges(duplicate: Any) -> None:
    model, backend = Twice(), Listed()
    with ModuleRanges(model, backend):
        twin = duplicate(model)
        with torch.no_grad():
            twin.tied.weight.zero_()
            twin.tied.bias.zero_()
        assert twin(_X).abs().sum() == 0
        assert backend.opened == []
        assert model(_X).abs().sum() != 0


@pytest.mark.parametrize("compiled", ["torch.compile", "module.compile", "vllm"])
def test_a_compiled_model_is_refused(compiled: str) -> None:
    model = Twice()
    holder = nn.Sequential(model)
    if compiled == "torch.compile":
        holder = nn.Sequential(torch.compile(model, backend="eager"))
    elif compiled == "module.compile":
        model.compile(backend="eager")
    else:
        model.do_not_compile = False
    with pytest.raises(CompiledModelError, match="no capture.*only while the model is traced"):
        ModuleRanges(holder, Listed())
    forwards = [module.forward for module in holder.modules()]
    assert not any(isinstance(forward, RangedForward) for forward in forwards)


def test_a_model_that_is_compiled_later_is_noticed_while_it_is_traced() -> None:
    model, backend = Twice(), Listed()
    seen: list[str] = []
    with ModuleRanges(model, backend, on_traced=seen.append):
        compiled = torch.compile(model.block, backend="eager", fullgraph=True)
        compiled(_X)
        compiled(_X)
        compiled(torch.ones(1, 1, 4))  # traced again
        assert seen == ["block"]
        assert backend.opened == []  # and the compiled code holds none


def test_a_second_model_that_is_compiled_in_one_graph_is_noticed_too() -> None:
    """Dynamo takes what changes from one trace to the next for unknown, and must not fail on it."""
    seen: list[str] = []
    for number in range(3):
        model = Twice()
        with ModuleRanges(model, Listed(), prefix=f"loaded_{number}.", on_traced=seen.append):
            torch.compile(model.block, backend="eager", fullgraph=True)(_X)
    assert seen == ["loaded_0.block", "loaded_1.block", "loaded_2.block"]


class Told:
    """One of several backends, which say in one list what they are told, in order."""

    def __init__(self, name: str, said: list[str], fails_to: str = "") -> None:
        self._name, self._said, self._fails_to = name, said, fails_to

    def open(self, text: str, path: str) -> str:
        self._say("open")
        return self._name

    def close(self, token: str, error: BaseException | None) -> None:
        assert token == self._name
        self._say("close")

    def _say(self, what: str) -> None:
        self._said.append(f"{what} {self._name}")
        if what == self._fails_to:
            raise RuntimeError(f"{self._name} does not {what}")


def _told_of_a_call(*fails_to: str) -> list[str]:
    """Backends a, b, … that fail so, in one call of a module; what it raises stands behind."""
    said: list[str] = []
    backends = [Told(name, said, fails) for name, fails in zip("abc", fails_to, strict=False)]
    model = nn.Identity()
    with ModuleRanges(model, SeveralBackends(backends)):
        try:
            model(_X)
        except RuntimeError as error:
            said.append(str(error))
    return said


def test_several_backends_close_in_the_opposite_order() -> None:
    assert _told_of_a_call("", "") == ["open a", "open b", "close b", "close a"]


def test_a_backend_that_does_not_open_leaves_none_open() -> None:
    said = _told_of_a_call("", "", "open")
    opened = ["open a", "open b", "open c"]
    assert said == [*opened, "close b", "close a", "c does not open"]


def test_a_backend_that_does_not_close_keeps_none_from_it_and_the_first_is_said() -> None:
    said = _told_of_a_call("close", "", "close")
    closed = ["close c", "close b", "close a"]
    assert said[3:] == [*closed, "c does not close"]


@pytest.mark.parametrize("by", [torch.jit.script, lambda module: torch.jit.trace(module, _X)])
def test_modules_in_a_script_have_no_range(by: Any) -> None:
    """TorchScript calls them, and no forward of Python; the ScriptModule itself has one."""
    model, backend = nn.Sequential(by(Twice().block), nn.ReLU()), Listed()
    with ModuleRanges(model, backend) as ranges:
        model(_X)
        assert ranges.modules == 3
        assert ModuleRanges(by(Twice().block), Listed()).modules == 1
    assert backend.opened == _texts("", "0", "1")


def test_forwards_that_only_make_what_works_later_are_counted() -> None:
    class Generates(nn.Module):
        def forward(self, x: Any) -> Any:
            yield x

    class Awaited(nn.Module):
        async def forward(self, x: Any) -> Any:
            return x

    class GeneratesAsync(nn.Module):
        async def forward(self, x: Any) -> Any:
            yield x

    kinds = [Generates(), Awaited(), GeneratesAsync()]
    assert ModuleRanges(nn.Sequential(*kinds, nn.ReLU()), Listed()).deferred == 3


def test_without_a_profiler_no_record_function_is_entered() -> None:
    backend = RecordFunctionBackend()
    assert backend.open(module_text("a"), "a") is None
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler:
        token = backend.open(module_text("b"), "b")
        backend.close(token, None)
    backend.close(None, None)
    assert [event.name for event in profiler.events()] == [module_text("b")]


def test_the_documented_lines_record_a_model_of_transformers(
    tiny_qwen3: Path, layerscope_bin: Program, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those of docs/capture.md, of a Qwen3 of 2 layers: 35 modules below the root are called, as
    test_walk.py counts them."""
    document = Path(__file__).parents[2] / "docs" / "capture.md"
    (lines,) = re.findall(r"```python\n(.*?)```", document.read_text(), re.DOTALL)
    monkeypatch.chdir(tmp_path)
    exec(lines.replace("MODEL", str(tiny_qwen3)), {})
    nodes = layerscope_bin.json("modules", "trace.json.gz", "--no-collapse", "-n", "0")["data"]
    paths = {node["path"] for node in nodes["nodes"]} - {""}
    assert len(paths) == 35 and "model.layers.1.mlp.down_proj" in paths


@pytest.mark.parametrize("family", ["tiny_qwen3", "tiny_qwen3_moe", "tiny_gpt2"])
def test_layerscope_reads_the_paths_of_named_modules(
    family: str, request: pytest.FixtureRequest, layerscope_bin: Program, tmp_path: Path
) -> None:
    from transformers import AutoModelForCausalLM

    model = AutoModelForCausalLM.from_pretrained(request.getfixturevalue(family)).eval()
    called: set[str] = set()
    hooks = [
        module.register_forward_pre_hook(lambda _m, _a, name=name: called.add(name))
        for name, module in model.named_modules()
    ]
    tokens = torch.tensor([[5, 6, 7, 8]])
    with (
        torch.no_grad(),
        ModuleRanges(model, RecordFunctionBackend()),
        torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as profiler,
    ):
        model(tokens)
    for hook in hooks:
        hook.remove()
    trace = tmp_path / "trace.json"
    profiler.export_chrome_trace(str(trace))
    nodes = layerscope_bin.json("modules", trace)["data"]["nodes"]
    assert {node["path"] for node in nodes} - {""} == called - {""}
