"""Capture: from a live model to files that layerscope reads.

One subpackage a command of `layerscope-capture`; `cli` finds them by `cli.COMMANDS`. Nothing here
imports torch or an engine when it is imported: `--help` and `--dry-run` work without them.
"""
