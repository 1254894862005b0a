"""Builds the NVTX recorder of the tests and reads what it wrote."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

_SOURCE = Path(__file__).with_suffix(".c")
_HEADER = "include/nvtx3/nvToolsExt.h"  # of the nvidia-nvtx wheel, which CUDA builds of torch need


def nvtx_include() -> Path | None:
    """The folder that holds nvtx3/nvToolsExt.h; None where no wheel brought it."""
    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations or []) if spec is not None else []:
        for header in sorted(Path(root).glob(f"*/{_HEADER}")):
            return header.parent.parent
    return None


def build_recorder(folder: Path) -> Path | None:
    """The library for NVTX_INJECTION64_PATH; None without a C compiler or the headers."""
    compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
    include = nvtx_include()
    if compiler is None or include is None:
        return None
    library = folder / "libnvtx_recorder.so"
    words = [compiler, "-shared", "-fPIC", "-O1", "-Wall", f"-I{include}"]
    subprocess.run([*words, "-o", str(library), str(_SOURCE), "-lpthread"], check=True)
    return library


@dataclass(frozen=True)
class Push:
    """A range: its text, the texts around it, and the thread."""

    text: str
    around: tuple[str, ...]
    thread: int


def read_pushes(file: Path) -> list[Push]:
    """All ranges in the order in which they began; fails where a thread's are not balanced."""
    open_of: dict[int, list[str]] = {}
    pushes: list[Push] = []
    for line in file.read_text().splitlines():
        sign, thread_text, *rest = line.split(" ", 2)
        thread = int(thread_text)
        stack = open_of.setdefault(thread, [])
        if sign == "+":
            text = rest[0] if rest else ""
            pushes.append(Push(text, tuple(stack), thread))
            stack.append(text)
        else:
            assert stack, f"thread {thread} pops a range that it did not push"
            stack.pop()
    for thread, stack in open_of.items():
        assert not stack, f"thread {thread} left ranges open: {stack}"
    return pushes
