"""The options of commands that load a model: which engine, how, on what."""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass, field
from typing import Any

from layerscope.capture import engines
from layerscope.capture.errors import USAGE, CaptureError

LOADERS = (engines.VLLM, engines.TRANSFORMERS)  # of "auto" the first that is installed


@dataclass(frozen=True)
class ModelOptions:
    """How a model is loaded. `engine` may be "auto" until `resolved`."""

    model: str  # a folder, or a name of the Hugging Face hub
    engine: str = "auto"
    dtype: str = "auto"
    device: str | None = None  # transformers alone; None: the GPU where there is one
    dummy_weights: bool = False
    trust_remote_code: bool = False
    tensor_parallel: int = 1
    pipeline_parallel: int = 1
    engine_args: dict[str, Any] = field(default_factory=dict)

    def resolved(self, wanted_by: str) -> ModelOptions:
        """The same with the engine chosen and installed; raises what must be mended."""
        engine = engines.choose(self.engine, LOADERS, wanted_by)
        engines.require(engine, wanted_by)
        chosen = ModelOptions(**{**self.__dict__, "engine": engine})
        chosen.check()
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
        if self.dtype != "auto":
            words.append(f"as {self.dtype}")
        if self.dummy_weights:
            words.append("with random weights")
        if self.tensor_parallel * self.pipeline_parallel > 1:
            words.append(f"(tp {self.tensor_parallel}, pp {self.pipeline_parallel})")
        words += [f"{key}={value!r}" for key, value in self.engine_args.items()]
        return " ".join(words)


def positive(text: str) -> int:
    """A whole number above 0, for argparse."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def not_negative(text: str) -> int:
    """A whole number from 0 on, for argparse."""
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return number


def engine_arg(text: str) -> tuple[str, Any]:
    """`max_model_len=4096`: a keyword of vllm.LLM; values are JSON, else text."""
    key, equals, value = text.partition("=")
    if not equals or not key.isidentifier():
        raise argparse.ArgumentTypeError(f"'{text}' is not KEY=VALUE")
    try:
        return key, json.loads(value)
    except json.JSONDecodeError:
        return key, value


def add_model_options(parser: argparse.ArgumentParser) -> None:
    """Adds MODEL and the options of `ModelOptions`."""
    parser.add_argument("model", metavar="MODEL", help="a model folder or a name of the hub")
    parser.add_argument(
        "--engine",
        choices=("auto", *LOADERS),
        default="auto",
        help="what loads the model (default: vllm where it is installed, else transformers)",
    )
    parser.add_argument("--dtype", default="auto", help="bfloat16, float16, … (default: auto)")
    parser.add_argument(
        "--device", help="transformers: cuda, cuda:1, cpu (default: the GPU where there is one)"
    )
    parser.add_argument(
        "--dummy-weights",
        action="store_true",
        help="random weights: config.json is enough. Routers of MoE models then send tokens at "
        "random or all to one expert",
    )
    parser.add_argument(
        "--trust-remote-code", action="store_true", help="run code that lies in the model folder"
    )
    parser.add_argument(
        "-tp", "--tensor-parallel-size", type=positive, default=1, metavar="N", help="vLLM"
    )
    parser.add_argument(
        "-pp", "--pipeline-parallel-size", type=positive, default=1, metavar="N", help="vLLM"
    )
    parser.add_argument(
        "--engine-arg",
        type=engine_arg,
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a further keyword of vllm.LLM, as max_model_len=4096; may be given again",
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
