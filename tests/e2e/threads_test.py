#!/usr/bin/env python3
"""The output is the same, byte for byte, for every --threads and every chunk size."""

import os
import pathlib
import tempfile

from e2e import Parts, program
from generated import generate

THREADS = (1, 2, 3, 8)
CHUNK_SIZES = ("4096", "65537", "1048576", "16777216")
# A sanitized build is ten times slower: one verb that runs everything, and fewer files, serve there.
SANITIZED = bool(os.environ.get("LAYERSCOPE_SANITIZED"))
VERBS = ("modules",) if SANITIZED else ("info", "modules", "steps", "kernels", "summary")
FILES = ("traces/kineto/tracelens_hf_qwen1.5_h100.json.gz",
         "traces/kineto/tracelens_sglang_qwen3-8b_mi300_extend.json.gz",
         "traces/kineto/hta_v100_cudagraph_train_rank1.json.gz",
         "traces/kineto/kineto_tb_resnet50_workers0.pt.trace.json.gz",
         "traces/cpu/vllm_qwen3_tiny_offline_stack.json.gz")[:2 if SANITIZED else None]
GENERATED = "--layers 8 --passes 20 --seed 31 --stacks --threads 3 --side-streams 2 --order shuffle"


def compare(tally, file):
    for verb in VERBS:
        arguments = [verb, file, "--format", "json"]
        wanted = normal(program.run([*arguments, "--threads", "1"]))
        tally.equal(f"{verb}: exit", wanted[0], 0)
        for threads in THREADS[1:]:
            got = normal(program.run([*arguments, "--threads", str(threads)]))
            tally.holds(f"{verb} --threads {threads} differs from --threads 1", got == wanted)
        for size in CHUNK_SIZES if verb == "modules" else ():
            got = normal(program.run([*arguments, "--threads", "2", "--chunk-size", size]))
            tally.holds(f"{verb} --chunk-size {size} differs: exit {got[0]}", got == wanted)


def normal(done):
    """What must not differ: everything but the echo of the two options themselves."""
    lines = done.stdout.splitlines()
    return done.exit, [l for l in lines if '"threads"' not in l and '"chunk_size"' not in l] if (
        len(lines) > 1) else without_options(done.stdout), done.stderr


def without_options(text):
    try:
        envelope = program.parse_json(text)
    except program.NotJson:
        return text
    for key in ("threads", "chunk_size"):
        (envelope.get("options") or {}).pop(key, None)
    return envelope


def compare_generated(tally, folder):
    file = folder / "generated.json"
    generate(file, GENERATED)
    compare(tally, file)


if __name__ == "__main__":
    PARTS = Parts("threads")
    for NAME in FILES:
        PARTS.run_shared(NAME, compare)
    with tempfile.TemporaryDirectory(prefix="layerscope-threads-") as FOLDER:
        if program.generator().is_file():
            PARTS.run("generated", compare_generated, pathlib.Path(FOLDER))
        else:
            PARTS.skip("generated", f"no trace generator at {program.generator()}")
    PARTS.close()
