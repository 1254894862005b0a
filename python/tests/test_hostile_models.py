"""Models whose code does what no model's code should: each is an error line, or is walked."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import RunCapture

from layerscope.capture import errors, transformers_model

pytestmark = pytest.mark.torch

Forward = Callable[[Any], Any]


class NoTextError(Exception):
    def __str__(self) -> str:
        raise ValueError("it says nothing")


class NotOrdinary(BaseException):
    pass


def _raises(error: BaseException) -> Forward:
    def forward(_: Any) -> Any:
        raise error

    return forward


def _gives(logits: Any) -> Forward:
    return lambda _: SimpleNamespace(logits=logits, past_key_values=1)


class OutputThatRaises:
    @property
    def cache(self) -> Any:
        raise RuntimeError("no cache to see")


@pytest.fixture
def run_model(
    tiny_gpt2: Path, tmp_path: Path, run_capture: RunCapture, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Any]:
    """Runs a command on a model that is made by the test instead of the one that is loaded."""

    def run(verb: str, model: Any) -> Any:
        monkeypatch.setattr(transformers_model, "load", lambda options: model)
        words = ["--engine", "transformers", "--device", "cpu", "-o", tmp_path / "out.json"]
        words += ["--with-forward"] if verb == "walk" else ["--input-len", "4", "--no-stack"]
        return run_capture(verb, tiny_gpt2, *words)

    return run


def _model(forward: Forward | None = None) -> Any:
    """Two linear modules below a root, with the config of a language model of 8 tokens."""
    import torch
    from torch import nn

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = nn.Linear(2, 2), nn.Linear(2, 2)
            text = SimpleNamespace(vocab_size=8)
            self.config = SimpleNamespace(get_text_config=lambda: text, to_dict=dict)

        def forward(self, input_ids: Any) -> Any:
            hidden = self.second(self.first(torch.zeros(1, 2)))
            return hidden if forward is None else forward(hidden)

    return Model()


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SystemExit(0), "SystemExit: 0"),
        (SystemExit("bye"), "SystemExit: bye"),
        (NotOrdinary("b"), "NotOrdinary: b"),
        (GeneratorExit(), "GeneratorExit"),
        (StopIteration(), "StopIteration"),
        (NoTextError(), "NoTextError"),
    ],
)
@pytest.mark.parametrize("verb", ["walk", "profile"])
def test_what_a_forward_raises_is_a_failure_of_the_command(
    verb: str, error: BaseException, said: str, run_model: Callable[..., Any], tmp_path: Path
) -> None:
    done = run_model(verb, _model(_raises(error)))
    assert done.code == errors.FAILED
    assert "Model cannot run" in done.err and said in done.err
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_ends_the_program_while_it_is_made_is_a_failure(
    tmp_path: Path, run_capture: RunCapture
) -> None:
    (tmp_path / "m").mkdir()
    config = {"model_type": "ends", "auto_map": {"AutoConfig": "code.Config"}}
    (tmp_path / "m" / "config.json").write_text(json.dumps(config))
    (tmp_path / "m" / "code.py").write_text("import sys\nsys.exit(0)\n")
    words = ("--engine", "transformers", "--device", "cpu", "--dummy-weights")
    done = run_capture(
        "walk", tmp_path / "m", *words, "--trust-remote-code", "-o", tmp_path / "t.json"
    )
    assert done.code == errors.INVALID_INPUT
    assert "SystemExit" in done.err and not (tmp_path / "t.json").exists()


@pytest.mark.parametrize(
    ("logits", "code", "said"),
    [
        ("text", errors.FAILED, "Model cannot run 4 tokens: TypeError"),
        (7, errors.FAILED, "Model cannot run 4 tokens: TypeError"),
        (None, errors.INVALID_INPUT, "Model does not generate text"),  # as an encoder's output
    ],
)
def test_logits_that_are_none_are_a_failure(
    logits: Any, code: int, said: str, run_model: Callable[..., Any]
) -> None:
    done = run_model("profile", _model(_gives(logits)))
    assert done.code == code
    assert said in done.err


def test_logits_of_one_dimension_are_a_failure(run_model: Callable[..., Any]) -> None:
    import torch

    done = run_model("profile", _model(_gives(torch.zeros(5))))
    assert done.code == errors.FAILED
    assert "Model cannot run 4 tokens: IndexError" in done.err


@pytest.mark.parametrize("verb", ["walk", "profile"])
def test_an_output_whose_attributes_raise_is_a_failure(
    verb: str, run_model: Callable[..., Any]
) -> None:
    done = run_model(verb, _model(lambda _: OutputThatRaises()))
    assert done.code == errors.FAILED
    assert "no cache to see" in done.err


def _paths(node: dict[str, Any]) -> Iterator[str]:
    yield node["path"]
    for child in node["children"]:
        yield from _paths(child)


def test_modules_of_any_name_have_their_place(
    run_model: Callable[..., Any], tmp_path: Path
) -> None:
    model = _model()
    for name in ("a.b", 5, "", "\ud800"):
        model.second._modules[name] = type(model.first)(1, 1)
    done = run_model("walk", model)
    assert done.code == errors.OK, done.err
    tree = json.loads((tmp_path / "out.json").read_text())["tree"]
    paths = list(_paths(tree))
    assert paths[:-1] == ["", "first", "second", "second.a.b", "second.5", "second."]
    assert [child["name"] for child in tree["children"][1]["children"]][:2] == ["a.b", "5"]


def test_modules_that_nest_without_end_are_refused(run_model: Callable[..., Any]) -> None:
    from torch import nn

    model = _model()
    model.first.inner = nn.Linear(1, 1)
    inner = model.first.inner
    for _ in range(600):
        inner.add_module("c", nn.Identity())
        inner = inner.c
    done = run_model("walk", model)
    assert done.code == errors.FAILED
    assert "nested more than 100 deep: first.inner.c.c" in done.err


def test_what_raises_or_has_no_end_is_left_out_of_a_node() -> None:
    from torch import nn

    from layerscope.capture.walk.tree import TreeBuilder

    class Hostile(nn.Linear):
        @property
        def impl(self) -> Any:
            raise ValueError("not to be seen")

        def named_parameters(self, prefix: str = "", recurse: bool = True) -> Any:
            raise RuntimeError("nor these")

    class Unnamed(nn.Identity):
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError(name)

    module = Hostile(2, 2)
    module.__dict__[7] = "by number"  # type: ignore[index]
    module.most, module.large, module.endless = 2**63 - 1, 2**63, 10**5000
    node = TreeBuilder().build(nn.Sequential(module, Unnamed()))["children"][0]
    assert node["weights"]["weight"]["shape"] == [2, 2]
    assert node["config"]["most"] == 2**63 - 1
    assert not {7, "large", "endless"} & node["config"].keys()
    json.dumps(node)


def test_a_model_without_parameters_is_walked(run_model: Callable[..., Any]) -> None:
    from torch import nn

    model = _model(lambda _: None)
    model.first, model.second = nn.Identity(), nn.Identity()
    done = run_model("walk", model)
    assert done.code == errors.OK, done.err


def test_whatever_else_cannot_be_read_is_an_error_line(run_model: Callable[..., Any]) -> None:
    model = _model()
    model.config.to_dict = lambda: sys.exit(0)
    done = run_model("walk", model)
    assert done.code == errors.FAILED
    assert f"the modules of {os.sep}" in done.err and "SystemExit" in done.err
