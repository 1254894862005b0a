"""Generated traces that the end-to-end tests walk: one feature at a time, then several together."""

import subprocess

from e2e import program

GRID = {
    "eager": "--layers 3 --passes 3 --seed 1",
    "graph": "--layers 3 --passes 4 --seed 2 --launch graph",
    "graph_in_scope": "--layers 2 --passes 3 --seed 3 --launch graph --graph-in-scope",
    "piecewise": "--layers 2 --passes 3 --seed 4 --launch piecewise",
    "stacks": "--layers 2 --passes 2 --seed 5 --stacks --memory",
    "overlaps": "--layers 2 --passes 3 --seed 6 --side-streams 2 --pdl",
    "partial": "--layers 4 --passes 3 --seed 7 --partial-first 20",
    "threads": "--layers 2 --passes 3 --seed 8 --threads 3",
    "dropped": "--layers 4 --passes 3 --seed 9 --drop-activities 500 --drop-launches 700",
    "external_id": "--layers 2 --passes 2 --seed 10 --external-id-is-correlation",
    "odd_names": "--layers 2 --passes 2 --seed 11 --odd-names",
    "shuffled": "--layers 2 --passes 2 --seed 12 --order shuffle",
    "string_times": "--layers 2 --passes 2 --seed 13 --times string",
    "old": "--layers 2 --passes 2 --seed 14 --old --steps profiler",
    "bare_array": "--layers 2 --passes 2 --seed 15 --bare-array --trailing-comma",
    "string_tids": "--layers 2 --passes 2 --seed 16 --string-tids",
    "profiler_steps": "--layers 2 --passes 3 --seed 17 --steps profiler",
    "vllm_old": "--layers 2 --passes 3 --seed 18 --steps vllm-old",
    "vllm_squares": "--layers 2 --passes 3 --seed 19 --steps vllm-sq --annotations",
    "sglang": "--layers 2 --passes 3 --seed 20 --steps sglang --mixed",
    "no_modules": "--layers 2 --passes 2 --seed 21 --no-modules",
    "cpu_only": "--layers 2 --passes 2 --seed 22 --cpu-only",
    "indented": "--layers 2 --passes 2 --seed 23 --layout indent --field-order random --times trimmed",
    "parallel": "--layers 2 --passes 2 --seed 24 --tp 2 --order file --field-order args-first",
    "together": "--layers 3 --passes 4 --seed 25 --stacks --threads 2 --side-streams 1 --pdl "
                "--partial-first 10 --order shuffle --steps sglang --mixed --odd-names",
}


def generate(file, options):
    """Writes the trace that layerscope-gen makes of `options`; raises when it fails."""
    done = subprocess.run([str(program.generator()), *options.split(), "-o", str(file)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"layerscope-gen {options}: {done.stderr.strip()}")
