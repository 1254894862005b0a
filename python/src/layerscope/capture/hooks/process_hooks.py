"""The hooks of one process of an engine: they wait for a model and put ranges into it, once."""

from __future__ import annotations

import atexit
import logging
import weakref
from typing import Any

from layerscope.capture.errors import CaptureError
from layerscope.capture.hooks.annotation_backend import AnnotationBackend
from layerscope.capture.hooks.annotation_file import annotations_name
from layerscope.capture.hooks.hook_report import HookReport
from layerscope.capture.hooks.module_ranges import ModuleRanges
from layerscope.capture.in_engine.compiled_modules import HINT, WHY
from layerscope.capture.in_engine.process_rank import process_rank
from layerscope.capture.in_engine.range_backends import RangeBackend, make_backend
from layerscope.capture.in_engine.settings import ANNOTATIONS, HookSettings
from layerscope.capture.patches.install import applied

_LOG = logging.getLogger("layerscope.hooks")


class ProcessHooks:
    """Ranges for every model that this process loads.

    Never raises into the engine: what cannot be done is logged, and the report says that there is
    no capture. A second model (a draft model) has `loaded_2.` before its paths.
    """

    def __init__(self, settings: HookSettings, engine: str) -> None:
        self.settings = settings
        self._engine = engine
        self._report: HookReport | None = None
        self._backend: RangeBackend | None = None
        self._annotations: AnnotationBackend | None = None
        self._ranges: list[ModuleRanges] = []
        self._models: weakref.WeakSet[Any] = weakref.WeakSet()

    def model_loaded(self, model: Any) -> None:
        """Installs the ranges; a model that has them, or that is none, is left alone."""
        try:
            if model is None or not hasattr(model, "named_modules") or model in self._models:
                return
            self._models.add(model)
            report = self._report_of_process()
            report.models.append(type(model).__name__)
            report.patched = applied(self._engine)  # patches come before
            self._install(model, report)
        except CaptureError as error:
            self._refuse(str(error))
        except Exception as error:  # the engine goes on without hooks
            _LOG.exception("layerscope hooks could not be installed")
            self._refuse(f"{type(error).__name__}: {error}")
        self._write_report()

    def finish(self) -> None:
        """At the end of the process: what was not written yet."""
        if self._annotations is None or self._report is None:
            return
        try:
            self._annotations.finish()
        except Exception:
            _LOG.exception("layerscope hooks could not write the graph annotations")
        self._annotations = None

    def remove(self) -> None:
        """Takes all ranges off."""
        self.finish()
        for ranges in reversed(self._ranges):
            ranges.remove()
        self._ranges.clear()

    def _report_of_process(self) -> HookReport:
        if self._report is None:
            backends = ",".join(self.settings.backends)
            self._report = HookReport(self._engine, backends, process_rank())
        return self._report

    def _install(self, model: Any, report: HookReport) -> None:
        number = len(report.models)
        ranges = ModuleRanges(
            model,
            self._backends(report.rank),
            prefix=f"loaded_{number}." if number > 1 else "",
            on_traced=self._traced,
        )
        self._ranges.append(ranges)
        report.modules += ranges.modules
        report.shared += ranges.shared
        report.deferred += ranges.deferred
        _LOG.warning(
            "layerscope: %d modules of %s have %s ranges (rank %d)",
            ranges.modules,
            type(model).__name__,
            report.backends,
            report.rank,
        )

    def _backends(self, rank: int) -> RangeBackend:
        if self._backend is None:
            others = {ANNOTATIONS: lambda: self._annotate(rank)}
            self._backend = make_backend(self.settings.backends, others)
        return self._backend

    def _annotate(self, rank: int) -> RangeBackend:
        file = self.settings.folder / annotations_name(rank)
        self._annotations = AnnotationBackend(file, self._nodes_named)
        atexit.register(self.finish)
        return self._annotations

    def _nodes_named(self, nodes: int) -> None:
        """At each write: a worker that is killed, or was forked, does not come to its end."""
        if self._report is not None:
            self._report.graph_nodes = nodes
            self._write_report()

    def _traced(self, path: str) -> None:
        self._refuse(f"this is no capture: {path or 'the model'} is compiled, and {WHY}\n  {HINT}")
        self._write_report()

    def _write_report(self) -> None:
        try:
            if self._report is not None:
                self._report.write(self.settings.folder)
        except Exception as error:
            _LOG.error("layerscope hooks: the report cannot be written: %s", error)

    def _refuse(self, reason: str) -> None:
        _LOG.error("layerscope hooks: %s", reason)
        if self._annotations is not None:
            self._annotations.discard()
            self._annotations = None
        if self._report is not None:
            self._report.capture, self._report.reason = False, reason
