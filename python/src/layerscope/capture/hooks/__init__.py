"""Module ranges: each call of an nn.Module's forward says its path while it runs.

`module_ranges` wraps the forwards of a loaded model; a backend writes the range
(`in_engine.range_backends`: NVTX and record_function, `annotation_backend`: PyTorch's graph
annotations). `process_hooks` does
this in the processes of an engine, started by vLLM's plugin entry point (`plugin`) or by the
bootstrap folder that `layerscope-capture hooks run` puts on PYTHONPATH. Where there is no engine,
`with ModuleRanges(model, RecordFunctionBackend()):` is all (docs/capture.md). Nothing here imports
torch or an engine before a model is there.
"""

from layerscope.capture.hooks.module_ranges import ModuleRanges
from layerscope.capture.in_engine.range_backends import NvtxBackend, RecordFunctionBackend

__all__ = ["ModuleRanges", "NvtxBackend", "RecordFunctionBackend"]
