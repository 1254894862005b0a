"""Python runs this when it starts, in every process that inherits PYTHONPATH from `hooks run`.

It puts the hooks in place and then runs the `sitecustomize` that would have run without it.
"""

import importlib.machinery
import importlib.util
import os
import sys


def _run_the_other() -> None:
    here = os.path.dirname(os.path.abspath(__file__))  # noqa: PTH100, PTH120 - before pathlib
    others = [path for path in sys.path if os.path.abspath(path) != here]  # noqa: PTH100
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(importlib.util.module_from_spec(spec))


def _install() -> None:
    try:
        from layerscope.capture.errors import CaptureError, say
        from layerscope.capture.hooks.plugin import install_all
    except ImportError as error:  # a Python that does not see the package: not the engine's
        print(f"layerscope hooks: {error}", file=sys.stderr)
        return
    try:
        install_all()
    except CaptureError as error:
        # A run without the patches would be taken for one with them, and other errors than this
        # exit are only printed at this point.
        say(f"layerscope: {error}", to=sys.stderr, in_one_line=False)
        raise SystemExit(error.code) from None
    except Exception as error:
        say(f"layerscope: {type(error).__name__}: {error}", to=sys.stderr)
        if os.environ.get("LAYERSCOPE_PATCH"):
            raise SystemExit(1) from None


if os.environ.get("LAYERSCOPE_HOOKS") or os.environ.get("LAYERSCOPE_PATCH"):
    _install()
_run_the_other()
