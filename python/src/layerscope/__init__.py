"""layerscope: which part of a model does this GPU time belong to.

This package holds what runs on the GPU host (`layerscope.capture`). The version is that of the
engine (`project(VERSION)` in CMakeLists.txt; a test compares them).
"""

__version__ = "0.1.0"
