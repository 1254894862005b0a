"""Loading and running models in plain transformers."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any

from layerscope.capture.errors import INVALID_INPUT, USAGE, CaptureError, first_line
from layerscope.capture.model_options import ModelOptions
from layerscope.capture.patches import install as patches

# Of the keys and values so far: transformers from 5.2x on, before, and of state-space models.
_CACHE_NAMES = ("cache", "past_key_values", "cache_params")


def load(options: ModelOptions) -> Any:
    """The model, on its device, in inference mode.

    Errors: a folder or name that transformers cannot load (INVALID_INPUT), an unknown dtype or
    device (USAGE).
    """
    import torch
    import transformers

    device = _device(options.device)
    dtype = _dtype(options.dtype)
    try:
        config = transformers.AutoConfig.from_pretrained(
            options.model, trust_remote_code=options.trust_remote_code
        )
        auto = _auto_class(config)
        if options.dummy_weights:
            keywords = {} if dtype == "auto" else {_dtype_keyword(): dtype}  # else the config's
            with torch.device(device):
                model = auto.from_config(
                    config, trust_remote_code=options.trust_remote_code, **keywords
                )
        else:
            model = auto.from_pretrained(
                options.model,
                config=config,
                trust_remote_code=options.trust_remote_code,
                **{_dtype_keyword(): dtype},
            )
        model = model.to(device).eval()
    except Exception as error:  # whatever parsers, libraries and a model's own code raise
        raise CaptureError(
            f"transformers cannot load {options.model}: {_said(error)}",
            "give a folder with config.json (and weights, or --dummy-weights), or a name of the "
            "hub; models with code of their own want --trust-remote-code",
            INVALID_INPUT,
        ) from error
    patches.apply_to_model(model)  # LAYERSCOPE_PATCH
    return model


def _said(error: Exception) -> str:
    """With its class: a KeyError says nothing but the key."""
    return f"{type(error).__name__}: {first_line(error)}"


def _auto_class(config: Any) -> Any:
    """Causal language models with their head, all else without."""
    import transformers

    causal = transformers.AutoModelForCausalLM
    remote = "AutoModelForCausalLM" in getattr(config, "auto_map", {})
    known = type(config) in causal._model_mapping
    return causal if remote or known else transformers.AutoModel


def _device(name: str | None) -> Any:
    """Errors: there is no such device here (USAGE)."""
    import torch

    try:
        device = torch.device(name or ("cuda" if torch.cuda.is_available() else "cpu"))
        torch.zeros(1, device=device).item()  # "meta" has no values
    except Exception as error:  # each backend has its own
        raise CaptureError(
            f"torch has no device '{name}' here: {_said(error)}", "as cuda, cuda:1, cpu", USAGE
        ) from error
    return device


def _dtype(name: str) -> Any:
    import torch

    if name == "auto":
        return "auto"
    dtype = getattr(torch, name, None)
    if not isinstance(dtype, torch.dtype):
        raise CaptureError(f"torch has no dtype '{name}'", "as bfloat16, float16, float32", USAGE)
    return dtype


def _dtype_keyword() -> str:
    """`torch_dtype` was renamed in transformers 4.56."""
    import transformers

    major, minor = (int(part) for part in transformers.__version__.split(".")[:2])
    return "dtype" if (major, minor) >= (4, 56) else "torch_dtype"


def random_prompt(model: Any, length: int, seed: int) -> Any:
    """Token ids [1, length], the same for the same seed. Errors: the model takes no tokens."""
    import torch

    size = getattr(model.config.get_text_config(), "vocab_size", None)
    if not isinstance(size, int) or size < 1:
        raise CaptureError(
            f"{type(model).__name__} takes no tokens: its config has no vocab_size",
            "walk without --with-forward shows its modules",
            INVALID_INPUT,
        )
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, size, (1, length), generator=generator).to(model.device)


def generate(model: Any, prompt: Any, output_len: int) -> int:
    """Greedy decoding of exactly `output_len` tokens: one prefill, then single-token steps.

    Each step is a range `bench_step::N::bs::1::past::P::phase::prefill` (or decode), which the
    engine reads as a step. An end-of-text token does not end it. Returns the number of forwards.
    """
    import torch

    cache, tokens, n_past = None, prompt, 0
    with torch.inference_mode():
        for step in range(output_len):
            phase = "decode" if step else "prefill"
            with _step_range(step, n_past, phase):
                output = _forward(model, tokens, _keywords(model, cache))
                cache = _cache_of(output)
                if step + 1 < output_len:
                    tokens = _logits(model, output, cache)[:, -1:].argmax(-1)
            n_past += prompt.shape[1] if step == 0 else 1
    return output_len


def _forward(model: Any, tokens: Any, keywords: dict[str, Any]) -> Any:
    try:
        return model(tokens, **keywords)
    except Exception as error:  # whatever a model's code raises; also out of memory
        raise CaptureError(
            f"{type(_module_of(model)).__name__} cannot run {tokens.shape[1]} tokens: "
            f"{_said(error)}",
            "models that want more than a prompt of text (pictures, an encoder's states) are not "
            "run here; walk without --with-forward shows their modules",
        ) from error


def _cache_of(output: Any) -> Any:
    values = (getattr(output, name) for name in _CACHE_NAMES if hasattr(output, name))
    return next(values, None)


def _keywords(model: Any, cache: Any) -> dict[str, Any]:
    """The forward's own keywords, as far as the model has them."""
    known = inspect.signature(_module_of(model).forward).parameters
    keywords: dict[str, Any] = {"use_cache": True} if "use_cache" in known else {}
    if "logits_to_keep" in known:
        keywords["logits_to_keep"] = 1  # as generate() does: the head sees the last token alone
    if cache is not None:
        name = next((name for name in _CACHE_NAMES if name in known), None)
        if name is None:
            raise _no_text(model)
        keywords[name] = cache
    return keywords


def _module_of(model: Any) -> Any:
    """The model inside of torch.compile's OptimizedModule."""
    return getattr(model, "_orig_mod", model)


def _logits(model: Any, output: Any, cache: Any) -> Any:
    logits = getattr(output, "logits", None)
    if logits is None or cache is None:
        raise _no_text(model)
    return logits


def _no_text(model: Any) -> CaptureError:
    return CaptureError(
        f"{type(_module_of(model)).__name__} does not generate text: it has no logits, or gives "
        "back no cache of keys and values that it takes again",
        "profile wants a causal language model; walk --profile-dir records one forward of any",
        INVALID_INPUT,
    )


@contextlib.contextmanager
def _step_range(step: int, past: int, phase: str) -> Iterator[None]:
    from torch.profiler import record_function

    with record_function(f"bench_step::{step}::bs::1::past::{past}::phase::{phase}"):
        yield
