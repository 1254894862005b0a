"""Loading and running models in plain transformers."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator
from typing import Any

from layerscope.capture.dtypes import AUTO
from layerscope.capture.engines import parse_version
from layerscope.capture.errors import INVALID_INPUT, USAGE, CaptureError, of_foreign_code
from layerscope.capture.model_options import ModelOptions
from layerscope.capture.patches import install as patches
from layerscope.capture.random_prompts import prompts_of, tokens_within

# Of the keys and values so far: transformers from 5.2x on, before, and of state-space models.
_CACHE_NAMES = ("cache", "past_key_values", "cache_params")
# With a head of text; the third was the second's name before transformers 5.
_AUTO_CLASSES = (
    "AutoModelForCausalLM",
    "AutoModelForMultimodalLM",
    "AutoModelForImageTextToText",
    "AutoModelForVision2Seq",
)


def load(options: ModelOptions) -> Any:
    """The model, on its device, in inference mode.

    Errors: a folder or name that transformers cannot load (INVALID_INPUT), a device that is not
    there (USAGE).
    """
    import torch
    import transformers

    device = _device(options.device)
    dtype = AUTO if options.dtype == AUTO else getattr(torch, options.dtype)
    with of_foreign_code(
        f"transformers cannot load {options.model}",
        "give a folder with config.json (and weights, or --dummy-weights), or a name of the "
        "hub; models with code of their own want --trust-remote-code",
        INVALID_INPUT,
    ):
        config = transformers.AutoConfig.from_pretrained(
            options.model, trust_remote_code=options.trust_remote_code
        )
        cls = _class_of(config, trust_remote_code=options.trust_remote_code)
        if options.dummy_weights:
            keywords = {} if dtype == AUTO else {_dtype_keyword(): dtype}  # else the config's
            made_by = "from_config" if hasattr(cls, "from_config") else "_from_config"
            if made_by == "from_config":  # of an auto class
                keywords["trust_remote_code"] = options.trust_remote_code
            with torch.device(device):
                model = getattr(cls, made_by)(config, **keywords)
        else:
            model = cls.from_pretrained(
                options.model,
                config=config,
                trust_remote_code=options.trust_remote_code,
                **{_dtype_keyword(): dtype},
            )
        model = model.to(device).eval()
    patches.apply_to_model(model)  # LAYERSCOPE_PATCH
    return model


def _class_of(config: Any, *, trust_remote_code: bool) -> Any:
    """The class that `architectures` names, as in an engine; else the first auto class for it."""
    import transformers

    remote = getattr(config, "auto_map", None) or {}
    names = getattr(config, "architectures", None) or []
    for name in [] if remote and trust_remote_code else names:
        cls: Any = getattr(transformers, str(name), None)
        is_model = isinstance(cls, type) and issubclass(cls, transformers.PreTrainedModel)
        if is_model and isinstance(config, cls.config_class or ()):
            return cls
    for name in _AUTO_CLASSES:
        auto = getattr(transformers, name, None)
        if auto and (name in remote or type(config) in auto._model_mapping):
            return auto
    return transformers.AutoModel


def _device(name: str | None) -> Any:
    """Errors: there is no such device here (USAGE)."""
    import torch

    with of_foreign_code(  # each backend has its own errors
        f"torch has no device '{name}' here", "as cuda, cuda:1, cpu", USAGE
    ):
        device = torch.device(name or ("cuda" if torch.cuda.is_available() else "cpu"))
        torch.zeros(1, device=device).item()  # "meta" has no values
    return device


def _dtype_keyword() -> str:
    """`torch_dtype` was renamed in transformers 4.56."""
    import transformers

    return "dtype" if parse_version(transformers.__version__) >= (4, 56) else "torch_dtype"


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
    device = None
    with contextlib.suppress(Exception):  # a model without parameters has none
        device = model.device
    return torch.tensor(prompts_of(1, length, tokens_within(size), seed), device=device)


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
            with _step_range(step, n_past, phase), _errors_of_forward(model, tokens):
                output = model(tokens, **_keywords(model, cache))
                cache = _cache_of(output)
                if step + 1 < output_len:
                    tokens = _logits(model, output, cache)[:, -1:].argmax(-1)
            n_past += prompt.shape[1] if step == 0 else 1
    return output_len


def _errors_of_forward(model: Any, tokens: Any) -> contextlib.AbstractContextManager[None]:
    return of_foreign_code(
        f"{type(_module_of(model)).__name__} cannot run {tokens.shape[1]} tokens",
        "models that want more than a prompt of text (pictures, an encoder's states) are not "
        "run here; walk without --with-forward shows their modules",
    )


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
