"""The options of commands that load a model: which engine, how, on what."""

from __future__ import annotations

import argparse
import dataclasses
import json
import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from layerscope.capture import dtypes, engines
from layerscope.capture.errors import USAGE, CaptureError
from layerscope.capture.loadable import require_loadable

_MOST = 2**31 - 1
LOADERS = (engines.VLLM, engines.TRANSFORMERS)  # of "auto" the first that is installed


@dataclass(frozen=True)
class ModelOptions:
    """How a model is loaded. `engine` may be "auto" until `resolved`."""

    model: str  # a folder, or a name of the Hugging Face hub
    engine: str = "auto"
    dtype: str = dtypes.AUTO  # as torch calls it
    device: str | None = None  # transformers alone; None: the GPU where there is one
    dummy_weights: bool = False
    trust_remote_code: bool = False
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    engine_args: dict[str, Any] = field(default_factory=dict)

    def resolved(self) -> ModelOptions:
        """The same with the engine chosen; raises what must be mended before a model is loaded."""
        engine = engines.choose(self.engine, LOADERS)
        engines.require(engine)
        chosen = dataclasses.replace(self, engine=engine)
        chosen.check()
        require_loadable(
            self.model,
            self.engine_args,
            dummy_weights=self.dummy_weights,
            reads_tokenizer=engine == engines.VLLM,
        )
        return chosen

    def check(self) -> None:
        """Options that the engine does not have are refused, not ignored."""
        parallel = self.tensor_parallel * self.pipeline_parallel
        if self.engine == engines.TRANSFORMERS and (parallel > 1 or self.engine_args):
            raise CaptureError(
                "--tensor-parallel-size, --pipeline-parallel-size and --engine-arg are vLLM's",
                "add --engine vllm, or leave them out",
                USAGE,
            )
        if self.engine == engines.VLLM and self.device is not None:
            raise CaptureError(
                "--device is of transformers; vLLM takes the platform that it was built for",
                "leave --device out, or add --engine transformers",
                USAGE,
            )

    def described(self) -> str:
        """One line for people: what would be loaded, and how."""
        words = [self.model]
        engine = "vLLM where it is installed, else transformers"
        words.append(f"in {engine if self.engine == 'auto' else self.engine}")
        if self.device:
            words.append(f"on {self.device}")
        if self.dtype != dtypes.AUTO:
            words.append(f"as {self.dtype}")
        if self.dummy_weights:
            words.append("with random weights")
        if self.tensor_parallel * self.pipeline_parallel > 1:
            words.append(f"(tp {self.tensor_parallel}, pp {self.pipeline_parallel})")
        words += [f"{key}={value!r}" for key, value in self.engine_args.items()]
        return " ".join(words)


def positive(text: str) -> int:
    """A whole number above 0, for argparse."""
    number = not_negative(text)
    if number == 0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def positives(text: str) -> tuple[int, ...]:
    """`1,16,128` as whole numbers above 0, for argparse; `1,` of `1, 16` is one, too."""
    return tuple(positive(part) for part in re.split(r"[,\s]+", text.strip(", \t")))


class _Joined(argparse.Action):
    """The numbers of all the words, each once, from the smallest on.

    A word behind them is taken for one of them, and a MODEL that was to come is not there then.
    """

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        numbers: set[int] = set()
        for word in values:
            try:
                numbers.update(positives(word))
            except argparse.ArgumentTypeError as error:
                said = str(error)
                if numbers and any(action.dest == "model" for action in parser._actions):
                    first = ",".join(map(str, sorted(numbers)))
                    said += f"; write MODEL before the numbers: MODEL {option_string} {first}"
                raise argparse.ArgumentError(self, said) from None
        setattr(namespace, self.dest, tuple(sorted(numbers)))


def add_numbers(
    parser: argparse.ArgumentParser,
    option: str,
    *,
    default: tuple[int, ...],
    metavar: str,
    what: str,
) -> None:
    """An option that takes numbers above 0, with commas or with spaces between them."""
    shown = " ".join(map(str, default))
    parser.add_argument(
        option,
        action=_Joined,
        nargs="+",
        default=default,
        metavar=metavar,
        help=f"{what}; one or more (default: {shown})",
    )


def not_negative(text: str) -> int:
    """A whole number from 0 on, for argparse; engines keep them in 32 bits."""
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"'{text[:40]}' is no whole number") from None
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    if number > _MOST:
        raise argparse.ArgumentTypeError(f"{text[:40]} is above {_MOST}")
    return number


def engine_arg(text: str) -> tuple[str, Any]:
    """`max_model_len=4096`: a keyword of an engine's constructor; values are JSON, else text."""
    key, equals, value = text.partition("=")
    if not equals or not key.isidentifier():
        raise argparse.ArgumentTypeError(f"'{text}' is not KEY=VALUE")
    try:
        return key, json.loads(value)
    except (ValueError, RecursionError):
        return key, value


def dtype(text: str) -> str:
    """The dtype as engines call it, for argparse."""
    if text not in dtypes.DTYPES:
        raise argparse.ArgumentTypeError(f"no dtype '{text[:40]}'; use one of {dtypes.NAMES}")
    return dtypes.DTYPES[text]


# Options that several commands have: words, and keywords of add_argument.
_SHARED: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "model": (("model",), {"metavar": "MODEL", "help": "a model folder or a name of the hub"}),
    "dtype": (
        ("--dtype",),
        {
            "type": dtype,
            "default": dtypes.AUTO,
            "metavar": "T",
            "help": f"{dtypes.NAMES} (default: {dtypes.AUTO})",
        },
    ),
    "dummy_weights": (
        ("--dummy-weights",),
        {
            "action": "store_true",
            "help": "random weights: config.json is enough. Routers of MoE models then send almost "
            "all tokens to the same experts (docs/capture.md)",
        },
    ),
    "trust_remote_code": (
        ("--trust-remote-code",),
        {"action": "store_true", "help": "run code that lies in the model folder"},
    ),
    "tensor_parallel": (
        ("-tp", "--tensor-parallel-size"),
        {"type": positive, "default": 1, "metavar": "N", "help": "GPUs that share each layer"},
    ),
    "pipeline_parallel": (
        ("-pp", "--pipeline-parallel-size"),
        {"type": positive, "default": 1, "metavar": "N", "help": "stages"},
    ),
    "engine_arg": (
        ("--engine-arg",),
        {
            "type": engine_arg,
            "action": "append",
            "default": [],
            "metavar": "KEY=VALUE",
            "help": "a further keyword of the engine's constructor, as max_model_len=4096; may be "
            "given again",
        },
    ),
}


def add_shared_options(parser: argparse._ActionsContainer, *names: str) -> None:
    """Adds the options of these names, which are those of `_SHARED`."""
    for name in names:
        words, keywords = _SHARED[name]
        parser.add_argument(*words, **keywords)


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Adds MODEL and the options of `ModelOptions`."""
    add_shared_options(parser, "model")
    parser.add_argument(
        "--engine",
        choices=("auto", *LOADERS),
        default="auto",
        help="what loads the model (default: vllm where it is installed, else transformers)",
    )
    parser.add_argument(
        "--device", help="transformers: cuda, cuda:1, cpu (default: the GPU where there is one)"
    )
    add_shared_options(parser, "dtype", "dummy_weights", "trust_remote_code")
    vllm = parser.add_argument_group("vLLM alone")
    add_shared_options(vllm, "tensor_parallel", "pipeline_parallel", "engine_arg")


def add_output(parser: argparse.ArgumentParser, default: str, metavar: str, what: str) -> None:
    """Adds -o, whose help is `what` with the default behind it."""
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        default=Path(default),
        metavar=metavar,
        help=f"{what} (default: {default})",
    )


def model_options(options: argparse.Namespace) -> ModelOptions:
    """What `add_model_options` read; nothing is looked up."""
    chosen = ModelOptions(
        model=options.model,
        engine=options.engine,
        dtype=options.dtype,
        device=options.device,
        dummy_weights=options.dummy_weights,
        trust_remote_code=options.trust_remote_code,
        tensor_parallel=options.tensor_parallel_size,
        pipeline_parallel=options.pipeline_parallel_size,
        engine_args=dict(options.engine_arg),
    )
    chosen.check()
    return chosen
