"""Module ranges: each call of an nn.Module's forward says its path while it runs.

`module_ranges` wraps the forwards of a loaded model; a backend writes the range
(`in_engine.range_backends`: NVTX and record_function, `annotation_backend`: PyTorch's graph
annotations). `process_hooks` does
this in the processes of an engine, started by vLLM's plugin entry point (`plugin`) or by the
bootstrap folder that `layerscope-capture hooks run` puts on PYTHONPATH. Nothing here imports torch
or an engine before a model is there.
"""
