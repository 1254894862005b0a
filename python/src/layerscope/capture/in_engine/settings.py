"""What the environment asks of hooks: it is what reaches the processes that an engine spawns."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from layerscope.capture.errors import USAGE, CaptureError
from layerscope.capture.output import write_bytes

HOOKS = "LAYERSCOPE_HOOKS"  # backends: nvtx, record_function, annotations; several with commas
FOLDER = "LAYERSCOPE_HOOKS_DIR"  # where files go; the working directory without it
STEPS = "LAYERSCOPE_HOOKS_STEPS"  # JSON: which decode steps get a bench_step range (`drive`)
ARMED = ".armed"  # steps are marked only while this file, of a Round, is in the folder
NVTX, RECORD_FUNCTION, ANNOTATIONS = "nvtx", "record_function", "annotations"
BACKENDS = (NVTX, RECORD_FUNCTION, ANNOTATIONS)

Point = tuple[int, int]  # of a decode step: batch, past length


@dataclass(frozen=True)
class StepSettings:
    """The decode steps to mark: (batch, past length) each.

    A step is marked only while the file `ARMED` lies in the folder, and only of the batch that it
    names: `drive` puts it there after its warm-up, and all processes see it.
    """

    points: frozenset[Point]

    def to_json(self) -> str:
        """The value of LAYERSCOPE_HOOKS_STEPS."""
        return json.dumps({"points": sorted(self.points)})

    @staticmethod
    def from_json(text: str) -> StepSettings:
        """Reads the variable; raises CaptureError."""
        try:
            points = [(batch, past) for batch, past in json.loads(text)["points"]]
            if any(type(count) is not int or count < 1 for point in points for count in point):
                raise ValueError("a batch or a past length is no count")
            return StepSettings(frozenset(points))
        except (ValueError, KeyError, TypeError, RecursionError):
            raise CaptureError(
                f"{STEPS} is no list of steps: {text[:80]}",
                'it reads {"points": [[batch, past length], …]}',
                USAGE,
            ) from None


@dataclass(frozen=True)
class Round:
    """What runs while steps are marked: `batch` prompts of `input_len` tokens."""

    batch: int
    input_len: int

    def arm(self, folder: Path) -> None:
        """Writes ARMED. Raises CaptureError."""
        write_bytes(folder / ARMED, json.dumps(asdict(self)).encode())

    @staticmethod
    def armed(folder: Path) -> Round | None:
        """That of ARMED; None where there is none."""
        try:
            return Round(**json.loads((folder / ARMED).read_text()))
        except OSError:
            return None


@dataclass(frozen=True)
class HookSettings:
    """Backends by name, the folder of what they write, and the steps to mark, if any."""

    backends: tuple[str, ...]
    folder: Path
    steps: StepSettings | None = None

    def environment(self) -> dict[str, str]:
        """The variables that say the same."""
        values = {HOOKS: ",".join(self.backends), FOLDER: str(self.folder)}
        if self.steps is not None:
            values[STEPS] = self.steps.to_json()
        return values


def backend_names(text: str) -> tuple[str, ...]:
    """`nvtx,annotations` as names, each once; raises CaptureError for one that is none."""
    names = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    for name in names:
        if name not in BACKENDS:
            raise CaptureError(
                f"no range backend '{name}'", f"choose of: {', '.join(BACKENDS)}", USAGE
            )
    if not names:
        raise CaptureError("no range backend named", f"choose of: {', '.join(BACKENDS)}", USAGE)
    return names


def settings_of(environment: Mapping[str, str] | None = None) -> HookSettings | None:
    """What the environment asks; None where it asks nothing. Raises CaptureError."""
    values = os.environ if environment is None else environment
    text = values.get(HOOKS, "").strip()
    if text in ("", "0", "off", "none"):
        return None
    backends, steps = backend_names(text), values.get(STEPS)
    try:
        folder = Path(values.get(FOLDER) or ".").absolute()
    except OSError as error:
        raise CaptureError(
            f"the working folder is not there any more: {error.strerror}",
            f"set {FOLDER} to an absolute path",
            USAGE,
        ) from None
    return HookSettings(backends, folder, StepSettings.from_json(steps) if steps else None)
