"""How a range is written: NVTX for Nsight Systems, record_function for PyTorch's profiler."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from layerscope.capture.errors import CaptureError
from layerscope.capture.in_engine.settings import NVTX, RECORD_FUNCTION


class RangeBackend(Protocol):
    """Opens and closes ranges on the calling thread; the last opened is closed first.

    `open` returns what `close` needs to end this very range. `close` gets the exception that leaves
    the range, or None.
    """

    def open(self, text: str, path: str) -> Any:
        """Begins a range. `text` is its name; `path` that of the module, of the root its class.

        "": the range is no module's.
        """

    def close(self, token: Any, error: BaseException | None) -> None:
        """Ends the range that `open` returned."""


def module_text(path: str) -> str:
    """The name of a module's range, as vLLM's and PyTorch's own NVTX hooks begin theirs."""
    return repr({"Module": path})


NvtxFunctions = tuple[Callable[[str], object], Callable[[], object]]


def _nvtx_of_torch() -> NvtxFunctions | None:
    try:
        from torch._C import _nvtx  # absent in builds without CUDA; the public wrapper then raises
    except ImportError:
        return None
    return _nvtx.rangePushA, _nvtx.rangePop


def _nvtx_of_package() -> NvtxFunctions | None:
    try:
        import nvtx
    except ImportError:
        return None
    return nvtx.push_range, nvtx.pop_range


def _nvtx_functions() -> NvtxFunctions:
    """Push and pop of torch's CUDA build, or of the package `nvtx`; torch is not imported if that
    can be avoided.
    """
    sources = [_nvtx_of_torch, _nvtx_of_package]
    if "torch" not in sys.modules:
        sources.reverse()
    for source in sources:
        functions = source()
        if functions is not None:
            return functions
    raise CaptureError(
        "NVTX ranges need a CUDA build of torch or the package nvtx; neither is installed",
        "pip install nvtx, or choose --backend record_function",
    )


class NvtxBackend:
    """`{'Module': 'path'}` as NVTX push/pop ranges of the calling thread."""

    def __init__(self) -> None:
        self._push, self._pop = _nvtx_functions()

    def open(self, text: str, path: str) -> None:
        """Pushes."""
        self._push(text)

    def close(self, token: None, error: BaseException | None) -> None:
        """Pops."""
        self._pop()


class RecordFunctionBackend:
    """The same text as an annotation of PyTorch's profiler (`user_annotation` in the trace).

    Only while a profiler runs on the thread: a record_function costs some 10 us also without one,
    and servers run for long before and after they are profiled.
    """

    def __init__(self) -> None:
        try:
            import torch
            from torch.autograd.profiler import record_function
        except ImportError:
            raise CaptureError(
                "record_function ranges need torch, which is not installed", "pip install torch"
            ) from None
        self._record_function = record_function
        self._enabled: Callable[[], bool] = getattr(
            torch.autograd, "_profiler_enabled", lambda: True
        )

    def open(self, text: str, path: str) -> Any:
        """Enters a record_function."""
        if not self._enabled():
            return None
        scope = self._record_function(text)
        scope.__enter__()
        return scope

    def close(self, token: Any, error: BaseException | None) -> None:
        """Leaves it; torch wants no exception here and ignores it."""
        if token is not None:
            token.__exit__(None, None, None)


class SeveralBackends:
    """Writes each range with all of its backends, and closes them in the opposite order."""

    def __init__(self, backends: Sequence[RangeBackend]) -> None:
        self._backends = tuple(backends)

    def open(self, text: str, path: str) -> Any:
        """Opens all, or, if one fails, none."""
        tokens: list[Any] = []
        try:
            for backend in self._backends:
                tokens.append(backend.open(text, path))
        except BaseException as error:
            self.close(tokens, error)
            raise
        return tokens

    def close(self, token: Any, error: BaseException | None) -> None:
        """Closes those that were opened, also when one of them fails."""
        failed: BaseException | None = None
        for backend, opened in reversed(list(zip(self._backends, token, strict=False))):
            try:
                backend.close(opened, error)
            except Exception as problem:
                failed = failed or problem
        if failed is not None:
            raise failed


MakeBackend = Callable[[], RangeBackend]
_BACKENDS: dict[str, MakeBackend] = {NVTX: NvtxBackend, RECORD_FUNCTION: RecordFunctionBackend}


def make_backend(
    names: Sequence[str], others: Mapping[str, MakeBackend] | None = None
) -> RangeBackend:
    """The one of this name, or several as one; `others` makes those that are not of this file.

    Raises CaptureError where one cannot write ranges here.
    """
    known = {**_BACKENDS, **(others or {})}
    made = [known[name]() for name in names]
    return made[0] if len(made) == 1 else SeveralBackends(made)
