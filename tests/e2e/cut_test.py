#!/usr/bin/env python3
"""A trace cut anywhere loads or is refused: exit 0 or 3, a message in the second case, no crash, no
hang, never over 1 GB. A small file at every length, plain and compressed; larger ones at many places.
"""

import concurrent.futures
import gzip
import os
import pathlib
import signal
import subprocess
import tempfile
import threading

from e2e import Parts, program, shared

MEMORY_LIMIT_KB = 1 << 20
TIMEOUT_S = 60
PLACES = int(os.environ.get("LAYERSCOPE_CUT_PLACES", "1000"))
JOBS = int(os.environ.get("JOBS", "0")) or os.cpu_count() or 2

SMALL = """{
"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "GPU \\u00e9 \\"x\\""}],
"distributedInfo": {"backend": "nccl", "rank": 1, "world_size": 2},
"traceEvents": [
{"ph": "M", "name": "process_name", "pid": 7, "tid": 0, "ts": 0, "args": {"name": "python"}},
{"ph": "X", "cat": "user_annotation", "name": "step[DECODE bs=4]", "pid": 7, "tid": 7, "ts": 1.000,
 "dur": 90.500},
{"ph": "X", "cat": "python_function", "name": "nn.Module: Linear_0", "pid": 7, "tid": 7,
 "ts": 2.000, "dur": 50, "args": {"Python id": 1, "Python parent id": null, "Python module id": 0}},
{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 7, "tid": 7, "ts": 3.001, "dur": 20.25,
 "args": {"External id": 5, "Input Dims": [[1, 2], [2, 3], []], "Input type": ["float", "float", ""]}},
{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": "7", "ts": 4,
 "dur": 1.5, "args": {"correlation": 9, "External id": 5}},
{"ph": "s", "id": 9, "pid": 7, "tid": 7, "ts": 4, "cat": "ac2g", "name": "ac2g"},
{"ph": "X", "cat": "kernel", "name": "void gemm<float, \\u0041>(int)\\n\\t\\\\", "pid": 0, "tid": 7,
 "ts": 12.345, "dur": 8.001, "args": {"device": 0, "stream": 7, "correlation": 9, "grid": [1, 1, 1]}},
{"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoH", "pid": 0, "tid": 7, "ts": 21, "dur": 1e0,
 "args": {"device": 0, "stream": 7, "correlation": 10}}
], "traceName": "a.json"}
"""


def outcome(raw, name, folder):
    """Runs the program on `raw` and returns what is wrong about how it ended, or None."""
    path = folder / name
    path.write_bytes(raw)
    process = subprocess.Popen([str(program.binary()), "summary", str(path), "--format", "json"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    timer = threading.Timer(TIMEOUT_S, process.send_signal, [signal.SIGKILL])
    timer.start()
    stderr = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    process.stderr.close()
    path.unlink()
    if process.returncode not in (0, 3):
        return f"exit {process.returncode}: {stderr.decode(errors='replace')[:300]}"
    if process.returncode == 3 and not stderr.strip():
        return "refused without a message"
    if usage.ru_maxrss > MEMORY_LIMIT_KB:
        return f"{usage.ru_maxrss} KB resident"
    return None


def check_cuts(tally, raw, lengths, suffix):
    with tempfile.TemporaryDirectory(prefix="layerscope-cut-") as name:
        folder = pathlib.Path(name)
        with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
            results = pool.map(lambda n: (n, outcome(raw[:n], f"cut_{n}{suffix}", folder)), lengths)
            for length, problem in results:
                tally.holds(f"cut at {length} of {len(raw)}: {problem}", problem is None)


def check_loss_is_said(tally, raw, folder):
    """The whole file has no loss; a cut inside the events does, and keeps what stands before it."""
    whole, cut = folder / "whole.json", folder / "cut.json"
    whole.write_bytes(raw)
    cut.write_bytes(raw[:raw.index(b"gpu_memcpy")])
    info = program.run_json("info", [whole])
    tally.equal("whole: kernels, copies", (info["data"]["n_kernels"], info["data"]["n_memcpy"]), (1, 1))
    tally.equal("whole: data loss", losses(info), [])
    info = program.run_json("info", [cut])
    tally.equal("cut: kernels, copies", (info["data"]["n_kernels"], info["data"]["n_memcpy"]), (1, 0))
    tally.holds("cut: data loss is said", bool(losses(info)))
    tally.equal("cut, --strict: exit", program.run(["info", cut, "--strict"]).exit, 3)


def losses(envelope):
    return [entry["code"] for entry in envelope["health"] if entry["severity"] == "data_loss"]


def spread(n_bytes, places):
    """`places` lengths, denser at both ends, where headers and trailers are."""
    step = max(1, n_bytes // places)
    return sorted({*range(0, n_bytes, step), *range(min(64, n_bytes)),
                   *range(max(0, n_bytes - 64), n_bytes)})


if __name__ == "__main__":
    PARTS = Parts("cuts")
    RAW = SMALL.encode()
    PACKED = gzip.compress(RAW[:len(RAW) // 2], mtime=0) + gzip.compress(RAW[len(RAW) // 2:], mtime=0)
    with tempfile.TemporaryDirectory(prefix="layerscope-cut-") as FOLDER:
        PARTS.run("loss is said", check_loss_is_said, RAW, pathlib.Path(FOLDER))
    PARTS.run("small, every length", check_cuts, RAW, range(len(RAW)), ".json")
    PARTS.run("small, gzip of two members, every length", check_cuts, PACKED, range(len(PACKED)),
              ".json.gz")
    LARGE = shared("traces/kineto/tracelens_hf_qwen1.5_h100.json.gz")
    if LARGE is None:
        PARTS.skip("large", "../shared/traces/kineto is absent")
    else:
        PACKED = LARGE.read_bytes()
        RAW = gzip.decompress(PACKED)
        PARTS.run(f"large, {PLACES // 2} places", check_cuts, RAW, spread(len(RAW), PLACES // 2),
                  ".json")
        PARTS.run(f"large gzip, {PLACES // 2} places", check_cuts, PACKED,
                  spread(len(PACKED), PLACES // 2), ".json.gz")
    PARTS.close()
