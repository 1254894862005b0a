"""Decode at chosen batch sizes and past lengths, with a range around each such step.

`command` plans and starts `session` (under nsys where it exists); the session runs an engine
through `engine_drivers`; in the engine's own processes `in_engine.step_points` marks the steps that
were asked for, and `in_engine.marked_steps` notes them in bench_steps_rank<r>.jsonl.
"""
