"""NVTX ranges as a tool receives them: a recorder in C, loaded as Nsight Systems would be."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from nvtx_recorder import Push, read_pushes

# A model with a module that raises, one that stands in two places and one that is called twice.
_MODEL = """
import threading
import torch
from torch import nn
from layerscope.capture.hooks.module_ranges import ModuleRanges
from layerscope.capture.in_engine.range_backends import NvtxBackend

class Maybe(nn.Module):
    fail = False
    def forward(self, x):
        if Maybe.fail:
            raise ValueError('no')
        return x

class Block(nn.Module):
    def __init__(self, rope):
        super().__init__()
        self.rope = rope
        self.proj = nn.Linear(4, 4)
        self.maybe = Maybe()
    def forward(self, x):
        return self.maybe(self.proj(self.rope(self.rope(x))))

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        rope = nn.Identity()
        self.layers = nn.ModuleList([Block(rope), Block(rope)])
    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

def case(name):
    torch.cuda.nvtx.range_push('case ' + name)
    torch.cuda.nvtx.range_pop()

model = Model()
x = torch.ones(1, 4)
ranges = ModuleRanges(model, NvtxBackend())

case('forward')
model(x)

case('raises')
Maybe.fail = True
try:
    model(x)
    raise SystemExit('it did not raise')
except ValueError:
    Maybe.fail = False
model(x)

case('threads')
threads = [threading.Thread(target=model, args=(x,)) for _ in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]

case('removed')
ranges.remove()
model(x)
model.layers[0](x)
"""

# Without torch's own: the package nvtx, which registers its strings and has a domain.
_PACKAGE = """
import sys
sys.modules['torch'] = sys.modules['torch._C'] = None
from layerscope.capture.in_engine.range_backends import NvtxBackend, module_text
backend = NvtxBackend()
outer = backend.open(module_text('model'), 'model')
inner = backend.open(module_text('model.norm'), 'model.norm')
backend.close(inner, None)
backend.close(outer, ValueError())
"""


def _record(recorder: Path, script: str) -> list[Push]:
    file = recorder.with_name("pushes")
    file.unlink(missing_ok=True)
    environment = {
        **os.environ,
        "NVTX_INJECTION64_PATH": str(recorder),
        "NVTX_RECORDER_FILE": str(file),
    }
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    return read_pushes(file)  # fails itself where pushes and pops do not match


@pytest.fixture(scope="module")
def cases(nvtx_recorder: Path) -> dict[str, list[Push]]:
    """The ranges of each case of `_MODEL`, which runs once: importing torch is slow."""
    found: dict[str, list[Push]] = {}
    for push in _record(nvtx_recorder, _MODEL):
        if push.text.startswith("case "):
            found[push.text[5:]] = []
        else:
            found[list(found)[-1]].append(push)
    return found


def _module(path: str) -> str:
    return f"{{'Module': '{path}'}}"


def _texts(pushes: list[Push]) -> list[str]:
    return [push.text for push in pushes]


# Counted by hand from the forwards above. rope is layers.0.rope wherever it is called.
_BLOCK_0 = ["layers.0", "layers.0.rope", "layers.0.rope", "layers.0.proj", "layers.0.maybe"]
_BLOCK_1 = ["layers.1", "layers.0.rope", "layers.0.rope", "layers.1.proj", "layers.1.maybe"]
_FORWARD = [_module(path) for path in ["", *_BLOCK_0, *_BLOCK_1]]


@pytest.mark.torch
def test_a_forward_pushes_every_module_with_its_path(cases: dict[str, list[Push]]) -> None:
    pushes = cases["forward"]
    assert _texts(pushes) == _FORWARD
    assert pushes[0].around == ()
    assert pushes[1].around == (_module(""),)
    assert all(push.around == (_module(""), _module("layers.0")) for push in pushes[2:6])


@pytest.mark.torch
def test_ranges_are_balanced_where_a_module_raises(cases: dict[str, list[Push]]) -> None:
    pushes = cases["raises"]
    assert _texts(pushes) == _FORWARD[:6] + _FORWARD
    assert pushes[6].around == ()


@pytest.mark.torch
def test_threads_have_their_own_ranges(cases: dict[str, list[Push]]) -> None:
    by_thread: dict[int, list[Push]] = {}
    for push in cases["threads"]:
        by_thread.setdefault(push.thread, []).append(push)
    assert [_texts(pushes) for pushes in by_thread.values()] == [_FORWARD] * 4


@pytest.mark.torch
def test_nothing_is_pushed_after_the_ranges_are_removed(cases: dict[str, list[Push]]) -> None:
    assert cases["removed"] == []


def test_without_torch_the_package_nvtx_pushes(nvtx_recorder: Path, nvtx_package: None) -> None:
    pushes = _record(nvtx_recorder, _PACKAGE)
    assert _texts(pushes) == [_module("model"), _module("model.norm")]
    assert pushes[1].around == (_module("model"),)
