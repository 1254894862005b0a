"""Graph annotations as a range backend: names what is captured, costs nothing at replay."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from layerscope.capture.errors import CaptureError
from layerscope.capture.hooks.annotation_api import AnnotationApi
from layerscope.capture.hooks.annotation_file import write_annotations
from layerscope.capture.hooks.graph_captures import GraphCaptures

_LOG = logging.getLogger("layerscope.hooks")
_QUIET_S = 0.5  # engines capture their graphs one after another, without replays between


class AnnotationBackend:
    """Opens `mark_kernels` scopes while graphs are captured, and writes the map of the nodes.

    The map is taken at the first replay after a capture, while the graph lives: torch forgets the
    nodes of a graph that is destroyed, and engines destroy theirs when they end. The file has all
    that were taken. It is written then, later captures some time after the last of them; `finish`
    writes what is left. `on_written` is told the number of nodes each time.
    """

    def __init__(self, file: Path, on_written: Callable[[int], None] | None = None) -> None:
        self._api = AnnotationApi()
        self._api.require()
        self._file: Path | None = file
        self._on_written = on_written
        self._nodes: dict[int, Any] = {}  # all that were taken, by id
        self._taken = 0  # changes that are among them, and when they were new
        self._last_change_s = 0.0
        self._written = 0  # changes that the file knows
        self.captures = GraphCaptures(self._api, self._replayed)

    def open(self, text: str, path: str) -> AbstractContextManager[None] | None:
        """Enters a scope, for a module and inside a capture: eager calls need no name."""
        if not self.captures.capturing or not path:
            return None
        scope = self._api.scope(path)
        scope.__enter__()
        return scope

    def close(
        self, token: AbstractContextManager[None] | None, error: BaseException | None
    ) -> None:
        """Leaves it. With an error it records nothing: the capture is void, too.

        Where a caller catches the error inside the capture, the kernels so far are the caller's.
        """
        if token is None:
            return
        if error is None:
            token.__exit__(None, None, None)
        else:
            token.__exit__(type(error), error, error.__traceback__)

    def finish(self) -> None:
        """Writes the last state, and takes the watch off torch's classes."""
        self._take()
        self._write()
        self.captures.remove()
        if without := self.captures.not_annotated:
            of = self.captures.captured
            _LOG.warning("layerscope: %d of %d graph captures could not be annotated", without, of)

    def discard(self) -> None:
        """Takes the watch off, and the file away: what was recorded is no capture."""
        self.captures.remove()
        if self._file is not None:
            self._file.unlink(missing_ok=True)
        self._file = None

    def _replayed(self) -> None:
        changes = self.captures.changes
        if changes == self._written:
            return
        self._take()
        now = time.monotonic()
        if self._written and now - self._last_change_s < _QUIET_S:
            return
        self._write()

    def _take(self) -> None:
        if self._taken != self.captures.changes:
            self._taken, self._last_change_s = self.captures.changes, time.monotonic()
            self._nodes.update(self._api.snapshot())

    def _write(self) -> None:
        if self._file is None or self.captures.changes == self._written:
            return
        self._written = self.captures.changes
        try:
            n_nodes = write_annotations(self._file, self._nodes)
        except CaptureError as error:  # the engine is replaying a graph, and goes on
            _LOG.error("layerscope hooks: %s", error)
            self._file = None
            return
        if self._on_written is not None:
            self._on_written(n_nodes)
