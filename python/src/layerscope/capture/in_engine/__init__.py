"""What the package does inside an engine's own processes, whoever started them.

`settings` is what the environment asks; `import_watch` and `model_loading` tell when an engine has
loaded a model, `process_rank` which rank this is; `forward_wrapping` wraps forwards of modules,
`range_backends` write ranges, and `step_points` puts them around decode steps, noted by
`marked_steps`. `hooks`, `patches` and `drive` stand on
this; it imports none of them, nor torch or an engine.
"""
