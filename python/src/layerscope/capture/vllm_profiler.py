"""How vLLM is told to write traces: by `profiler_config`, before 0.13 by variables."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layerscope.capture.engines import VLLM, parse_version, version_of

_CONFIG_SINCE = (0, 13)
_UNTAGGED = "0.1.dev"  # of a build from a checkout without tags


@dataclass(frozen=True)
class VllmProfiler:
    """Where vLLM's torch profiler writes, and what it records."""

    folder: Path
    with_stack: bool = True
    with_shapes: bool = True

    def config(self) -> dict[str, Any] | None:
        """`profiler_config` for the installed version; None: it reads `environment` instead."""
        if not _has_config():
            return None
        return {
            "profiler": "torch",
            "torch_profiler_dir": str(self.folder.resolve()),
            "torch_profiler_with_stack": self.with_stack,
            "torch_profiler_record_shapes": self.with_shapes,
            "torch_profiler_dump_cuda_time_total": False,  # a table on the terminal
        }

    def environment(self) -> dict[str, str]:
        """The variables for the installed version; none where it takes `config`."""
        if _has_config():
            return {}
        return {
            "VLLM_TORCH_PROFILER_DIR": str(self.folder.resolve()),
            "VLLM_TORCH_PROFILER_WITH_STACK": str(int(self.with_stack)),
            "VLLM_TORCH_PROFILER_RECORD_SHAPES": str(int(self.with_shapes)),
            "VLLM_TORCH_PROFILER_DUMP_CUDA_TIME_TOTAL": "0",
        }


def _has_config() -> bool:
    """Where no version is known, the newest is meant."""
    version = version_of(VLLM)
    if version is None or version.startswith(_UNTAGGED):
        return True
    return parse_version(version) >= _CONFIG_SINCE
