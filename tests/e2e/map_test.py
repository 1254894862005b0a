#!/usr/bin/env python3
"""`map`: model_execution.json against independent figures, its schema, and the points in which the
public writer of this document falls short (formats/outputs.md): GPU time, all kernels, threads, forwards and
ranks, layers with their values, roles by the kernel's own name, device and mode of the trace.

Figures: ../shared/golden/facts, written by another program; sums of the trace's events made here.
"""

import collections
import gzip
import json
import pathlib
import re
import tempfile

from e2e import Parts, program, shared
from generated import generate
from schema_test import problems, validator

MAX_BYTES = 1_000_000
EAGER = {  # file: layers, device, mode, class of the layers
    "tracelens_sglang_qwen3-8b_mi300_extend.json.gz": (36, "hip", "prefill", "Qwen3DecoderLayer"),
    "tracelens_vllm_gptoss_b200_tp8_eager.json.gz": (36, "cuda", "prefill", "TransformerBlock"),
    "tracelens_hf_qwen1.5_h100.json.gz": (24, "cuda", None, "Qwen2DecoderLayer"),
}
CPU = ("vllm_qwen3_tiny_offline_stack.json.gz", "hf_qwen3_tiny_generate_stack.json.gz",
       "hf_qwen3_tiny_forward_nostack.json.gz")
ROLES = {  # kernel: part of a role it must, or must not, have
    "void vllm::reshape_and_cache_flash_kernel<__nv_bfloat16, __nv_bfloat16>(x)": ("attention", False),
    "void flashinfer::sampling::TopPSamplingFromProbKernel<1024u>(float*)": ("sampl", True),
    "void flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<64, cutlass::bfloat16_t>, false>(p)":
        ("attention", True),
}


def document(file, *options):
    done = program.run(["map", file, *options])
    if done.exit != 0:
        raise RuntimeError(f"map {file}: {done.stderr.strip()[:300]}")
    return program.parse_json(done.stdout), len(done.stdout.encode())


def modules_of(node):
    yield node
    for child in node["children"]:
        yield from modules_of(child)


def ops_of(ops):
    for op in ops:
        yield op
        yield from ops_of(op.get("sub_ops", []))


def compare_sums(tally, data):
    """Children and own ops add up to each node, the document to the trace."""
    for node in modules_of(data["module_tree"]):
        where = node["path"] or node["class"]
        own = sum(op["gpu_ns"] for op in node["ops"])
        below = sum(child["gpu_ns"] for child in node["children"])
        tally.equal(f"{where}: children and ops", own + below, node["gpu_ns"])
        tally.equal(f"{where}: own", own, node["gpu_own_ns"])
        tally.equal(f"{where}: evidence", sum(node["evidence"].values()), node["gpu_ns"])
        if "all_layer_gpu_ns" in node:
            tally.equal(f"{where}: layers", sum(ns or 0 for ns in node["all_layer_gpu_ns"]),
                        node["gpu_ns"])
        for op in ops_of(node["ops"]):
            below = sum(sub["gpu_ns"] for sub in op.get("sub_ops", []))
            tally.equal(f"{where} {op['op']}: ops below", below + op["gpu_own_ns"], op["gpu_ns"])
            if "all_layer_gpu_ns" in op:
                tally.equal(f"{where} {op['op']}: layers",
                            sum(ns or 0 for ns in op["all_layer_gpu_ns"]), op["gpu_ns"])
    outside = sum(op["gpu_ns"] for op in data["pre_model_ops"] + data["post_model_ops"])
    rest = data["unattributed"]
    tally.equal("unattributed", outside + rest["without_op_ns"], rest["gpu_ns"])
    tally.equal("total", data["module_tree"]["gpu_ns"] + rest["gpu_ns"], data["stats"]["total_gpu_ns"])
    tally.equal("forwards", sum(p["gpu_ns"] for p in data["passes"]), data["stats"]["total_gpu_ns"])


def compare_facts(tally, file, facts):
    """Kernel time by module name; every module on its own."""
    data, _ = document(file, "--no-collapse")
    compare_sums(tally, data)
    inclusive, exclusive, calls = collections.Counter(), collections.Counter(), collections.Counter()

    def walk(node, above):
        name = node["name"]
        if name != "[forward]":
            calls[name] += node["calls"]
            exclusive[name] += sum(op["kernel_ns"] for op in node["ops"])
            if name not in above:
                inclusive[name] += node["kernel_ns"]
        for child in node["children"]:
            walk(child, above | {name})

    walk(data["module_tree"], frozenset())
    for name, figures in facts["modules"]["all_modules"].items():
        tally.equal(f"{name}: inclusive, exclusive, calls",
                    [inclusive[name], exclusive[name], calls[name]], figures)
    kernels = data["kernel_summary"]
    tally.equal("kernels", sum(k["count"] for k in kernels.values()), facts["gpu"]["n_kernel"])
    tally.equal("kernel time", sum(k["gpu_ns"] for k in kernels.values()),
                facts["gpu"]["kernel_ns_sum"])


def compare_eager(tally, file, facts):
    layers, device, mode, class_name = EAGER[file.name]
    data, size = document(file)
    tally.equal("schema", problems(validator("model_execution"), data)[:5], [])
    tally.at_most("size", size, MAX_BYTES)
    compare_sums(tally, data)
    tally.equal("device, mode", [data["device"], data["mode"]], [device, mode])
    tally.equal("layers", [data["layers"], len(data["per_layer"])], [layers, layers])
    for key in ("layer_template", "pre_layers", "post_layers"):
        tally.holds(f"{key} is filled", bool(data[key]))
    tally.equal("ops_per_layer", data["ops_per_layer"], len(data["layer_template"]))
    names = collections.Counter()
    for name, figures in facts["modules"]["all_modules"].items():
        if re.fullmatch(rf"{class_name}_\d+", name):
            names[name] = figures[0]
    for layer in data["per_layer"]:
        tally.equal(layer["path"], layer["kernel_ns"], names[layer["path"].split(".")[-1]])
    folds = [n for n in modules_of(data["module_tree"]) if n["class"] == class_name]
    tally.equal("folded layers keep their sum", sum(n["kernel_ns"] for n in folds), sum(names.values()))
    tally.equal("members", sum(n.get("repeat", 1) for n in folds), layers)
    for fold in folds:
        tally.equal("kernels of the layers", fold["kernels"],
                    sum(x["kernels"] for x in data["per_layer"] if x["class"] == class_name))
    compare_facts(tally, file, facts)


def compare_cpu(tally, file):
    data, _ = document(file)
    tally.equal("schema", problems(validator("model_execution"), data)[:5], [])
    compare_sums(tally, data)
    tally.equal("device", data["device"], "cpu")
    tally.holds("ops have CPU time", any(op["dur_us"] > 0 for node in modules_of(data["module_tree"])
                                         for op in ops_of(node["ops"] + data["pre_model_ops"] +
                                                          data["post_model_ops"])))
    info = program.run_json("modules", [file], "-n", "0")["data"]
    tally.equal("total", data["stats"]["total_gpu_ns"], info["total"]["gpu_ns"])


class Events:
    """A small trace; times in microseconds."""

    def __init__(self):
        self.rows, self.correlation = [], 0

    def add(self, cat, name, start, dur, tid=1, pid=1, **args):
        self.rows.append({"ph": "X", "cat": cat, "name": name, "pid": pid, "tid": tid, "ts": start,
                          "dur": dur, "args": args})
        return self

    def scope(self, name, start, dur, tid=1):
        return self.add("python_function", f"nn.Module: {name}", start, dur, tid)

    def kernel(self, name, launched, dur, tid=1):
        self.correlation += 1
        self.add("cuda_runtime", "cudaLaunchKernel", launched, 1, tid, correlation=self.correlation)
        return self.add("kernel", name, launched + 1000, dur, 7, 0, device=0, stream=7,
                        correlation=self.correlation)

    def write(self, file, **members):
        file.write_text(json.dumps({"traceEvents": self.rows, **members}), encoding="utf-8")
        return file


def compare_gpu_time(tally, folder):
    """A module's rank is by GPU time, not by how long the host took."""
    events = Events().scope("Model_0", 0, 18)
    events.add("cpu_op", "aten::mm", 1, 10).kernel("gemm", 2, 70).kernel("splitK_reduce", 5, 3)
    data, _ = document(events.write(folder / "gpu_time.json"))
    tree = data["module_tree"]
    tally.equal("host and GPU", [tree["dur_us"], tree["gpu_ns"], tree["kernels"]], [18.0, 73_000, 2])
    op = tree["ops"][0]
    tally.equal("all kernels of an op", [k["name"] for k in op["gpu_kernels"]],
                ["gemm", "splitK_reduce"])
    tally.equal("their time", [op["gpu_dur_us"], op["kernels"]], [73.0, 2])


def compare_threads_and_forwards(tally, folder):
    events = Events()
    for forward in range(3):
        at = forward * 5000
        events.scope("Model_0", at + 10, 50).add("cpu_op", "aten::mm", at + 12, 10)
        events.kernel("gemm", at + 13, 10 + forward)
        events.scope("Sampler_0", at + 70, 20, tid=2).add("cpu_op", "aten::sort", at + 71, 9, 2)
        events.kernel("sort", at + 72, 5, tid=2)
    data, _ = document(events.write(folder / "forwards.json"))
    tally.equal("forwards", [data["iterations"], len(data["passes"])], [3, 3])
    model, sampler = data["module_tree"]["children"]
    tally.equal("model", [model["gpu_ns"], model["passes"]],
                [33_000, {"n": 3, "avg_gpu_ns": 11_000, "min_gpu_ns": 10_000, "max_gpu_ns": 12_000}])
    tally.equal("the other thread", [sampler["class"], sampler["gpu_ns"]], ["Sampler", 15_000])
    tally.equal("of each forward", [p["gpu_ns"] for p in data["passes"]], [15_000, 16_000, 17_000])


def compare_ranks(tally, folder):
    files = []
    for rank in range(2):
        events = Events().scope("Model_0", 10, 50).add("cpu_op", "aten::mm", 12, 10)
        events.kernel("gemm", 13, 10 + rank)
        if rank == 1:
            events.scope("Extra_0", 100, 10).kernel("k", 101, 1)
        file = folder / f"rank{rank}.json"
        files.append(events.write(file, distributedInfo={"rank": rank, "world_size": 2}))
    done = program.run(["map", *files])
    data = program.parse_json(done.stdout)
    tally.equal("ranks", [[r["rank"], r["gpu_ns"]] for r in data["ranks"]], [[0, 10_000], [1, 12_000]])
    tally.equal("by path", data["module_tree"]["rank_gpu_ns"], [10_000, 11_000])
    tally.equal("schema", problems(validator("model_execution"), data)[:3], [])


def compare_roles(tally, folder):
    events = Events().scope("Model_0", 0, 500)
    for i, name in enumerate(ROLES):
        events.kernel(name, 10 + i * 10, 5)
    data, _ = document(events.write(folder / "roles.json"))
    for name, (word, wanted) in ROLES.items():
        role = data["kernel_summary"][name]["role"]
        tally.equal(f"{name[:50]} is {role}: {word}", word in role, wanted)


def compare_patterns(tally, folder):
    """Attention and Mamba in turn: a pattern ×N, each kept apart with each layer's values."""
    events = Events().scope("Model_0", 0, 900)
    for i in range(8):
        kind = "Mamba" if i % 2 else "Attention"
        events.scope(f"{kind}Layer_{i // 2}", 10 + i * 100, 90)
        events.scope(f"{kind}_{i // 2}", 15 + i * 100, 80)
        events.add("cpu_op", "op", 20 + i * 100, 50).kernel("k", 30 + i * 100, 1 + i)
    data, _ = document(events.write(folder / "pattern.json"))
    tally.equal("pattern", [data["layers"], data["layer_pattern"]], [8, "(A B)×4"])
    tally.equal("values", [c["all_layer_gpu_ns"] for c in data["module_tree"]["children"]],
                [[1_000, 3_000, 5_000, 7_000], [2_000, 4_000, 6_000, 8_000]])
    tally.equal("templates", [[t["class"], t["layers"]] for t in data["layer_templates"]],
                [["AttentionLayer", [0, 2, 4, 6]], ["MambaLayer", [1, 3, 5, 7]]])


def compare_paths(tally, folder):
    """Scopes that name modules by path fold by their list's index, whatever their classes."""
    events = Events().add("user_annotation", "Module:model", 0, 900)
    for i in range(4):
        events.add("user_annotation", f"Module:model.layers.{i}", 10 + i * 100, 90)
        events.add("user_annotation", f"Module:model.layers.{i}.mlp", 15 + i * 100, 80)
        events.add("cpu_op", "aten::mm", 20 + i * 100, 50).kernel("gemm", 30 + i * 100, 1 + i)
    data, _ = document(events.write(folder / "paths.json"))
    fold = data["module_tree"]["children"][0]
    tally.equal("path", [fold["path"], fold.get("repeat")], ["model.layers.*", 4])
    tally.equal("below", fold["children"][0]["path"], "model.layers.*.mlp")
    tally.equal("layers", [(x["index"], x["path"]) for x in data["per_layer"]],
                [(i, f"model.layers.{i}") for i in range(4)])


def compare_large(tally, folder):
    """A generated model of 36 layers over many forwards stays under 1 MB."""
    file = folder / "large.json"
    generate(file, "--layers 36 --passes 20 --steps vllm")
    data, size = document(file)
    tally.equal("schema", problems(validator("model_execution"), data)[:3], [])
    tally.at_most("size", size, MAX_BYTES)
    compare_sums(tally, data)
    tally.equal("layers", data["layers"], 36)


def compare_written(tally, folder):
    events = Events().scope("Model_0", 0, 18).kernel("gemm", 2, 70)
    file = events.write(folder / "written.json")
    printed = program.run(["map", file]).stdout
    out = folder / "model_execution.json.gz"
    done = program.run(["map", file, "-o", out, "--format", "json"])
    tally.equal("exit", done.exit, 0)
    envelope = program.parse_json(done.stdout)
    tally.equal("counts", {key: envelope["data"][key] for key in
                           ("gpu_ns", "kernels", "modules", "layers", "passes", "ops")},
                {"gpu_ns": 70_000, "kernels": 1, "modules": 1, "layers": None, "passes": 1, "ops": 0})
    tally.equal("the file is what is printed", gzip.decompress(out.read_bytes()).decode(), printed)


if __name__ == "__main__":
    PARTS = Parts("map")
    for NAME in EAGER:
        FILE, FACTS = shared(f"traces/kineto/{NAME}"), shared(f"golden/facts/{NAME}.json")
        if FILE and FACTS:
            PARTS.run(NAME, compare_eager, FILE, json.loads(FACTS.read_text(encoding="utf-8")))
        else:
            PARTS.skip(NAME, "../shared is absent")
    for NAME in CPU:
        PARTS.run_shared(f"traces/cpu/{NAME}", compare_cpu)
    with tempfile.TemporaryDirectory(prefix="layerscope-map-") as WHERE:
        FOLDER = pathlib.Path(WHERE)
        PARTS.run("GPU time and all kernels of an op", compare_gpu_time, FOLDER)
        PARTS.run("all threads, every forward", compare_threads_and_forwards, FOLDER)
        PARTS.run("each rank", compare_ranks, FOLDER)
        PARTS.run("layers in a pattern", compare_patterns, FOLDER)
        PARTS.run("layers by path", compare_paths, FOLDER)
        PARTS.run("roles", compare_roles, FOLDER)
        PARTS.run("-o", compare_written, FOLDER)
        if program.generator().is_file():
            PARTS.run("36 layers", compare_large, FOLDER)
        else:
            PARTS.skip("36 layers", f"no {program.generator()}")
    PARTS.close()
