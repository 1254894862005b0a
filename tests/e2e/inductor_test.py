"""Kernels of torch.compile against an independent reading of Inductor's own files.

The real compiled CPU capture with its provenance map; our own small capture with its whole debug
folder (tests/fixtures/inductor); a real GPU trace by names alone. The expected nodes come from the JSON
maps and the comments of the generated code as read here, the expected operators from a list read by hand
and from the names of the graph's nodes.
"""

import collections
import gzip
import json
import re
import sys

import e2e
from goldens import program

FIXTURE = e2e.ROOT / "tests/fixtures/inductor"
# Operators of the traced graph and what PyTorch's decompositions make of them where the names differ.
DECOMPOSED = {
    "_unsafe_view": {"view"}, "transpose": {"permute"}, "arange": {"iota"}, "_to_copy": {"convert_element_type"},
    "silu": {"neg", "exp", "add", "div"}, "new_ones": {"full", "full_default"}, "scalar_tensor": {"full", "full_default"},
    "clone": {"clone"}, "t": {"permute"},
}


def rows_of(trace, *options):
    data = program.run_json("kernels", [str(trace)], *map(str, options), "-n", "0")["data"]
    return {row["key"]: row for row in data["rows"]}


def events(path):
    text = gzip.open(path) if path.suffix == ".gz" else open(path, "rb")
    with text as file:
        return json.load(file)["traceEvents"]


def operator(node):
    return re.sub(r"_\d+$", "", node)


def sites_of(provenance):
    """kernel -> nodes of each of its calls, in the order of calls."""
    sites = collections.defaultdict(dict)
    for handle, nodes in provenance["cppCodeToPost"].items():
        kernel, _, number = handle.rpartition(":")
        sites[kernel][int(number)] = nodes
    return {kernel: [calls[n] for n in sorted(calls)] for kernel, calls in sites.items()}


def check_row(tally, kernel, row, calls, provenance):
    nodes = [node for call in calls for node in call]
    sources = [s for node in nodes for s in provenance["postToPre"].get(node, [])]
    tally.equal(f"{kernel}: graph nodes", sorted(row["graph_nodes"]), sorted(set(nodes)))
    tally.equal(f"{kernel}: source nodes", sorted(row["source_nodes"]), sorted(set(sources)))
    tally.equal(f"{kernel}: source", row["fused_source"], "provenance")
    # FX names a node after its operator and numbers it.
    tally.equal(f"{kernel}: graph operators", set(row["graph_ops"]), {operator(node) for node in nodes})
    # Inductor names a kernel after operators before decompositions, some of which leave no node in its map,
    # and lists nodes that have no such operator: the two lists meet, neither holds the other.
    made = set().union(*({op} | DECOMPOSED.get(op, set()) for op in row["fused_ops"]))
    tally.holds(f"{kernel}: {row['fused_ops']} meet {row['graph_ops']}", len(made & set(row["graph_ops"])) > 1)


def check_capture(tally, trace, provenance_path, code_path):
    provenance = json.loads(provenance_path.read_text())
    sites = sites_of(provenance)
    fused = {e["name"] for e in events(trace) if e.get("ph") == "X" and "cpp_fused_" in e["name"]}
    rows = rows_of(trace, "--inductor-debug", provenance_path)
    tally.equal("fused kernels", {k for k in rows if rows[k]["fused_source"]}, fused)
    tally.equal("fused kernels of the map", {k.split("graph_0_")[1] for k in fused},
                {k for k in sites if k.startswith("cpp_fused_")})
    for name in fused:
        kernel = name.split("graph_0_")[1]
        check_row(tally, kernel, rows[name], sites[kernel], provenance)
        # The name is "_".join of the operators: nothing is lost between them.
        tally.equal(f"{name}: spelled", "_".join(rows[name]["fused_ops"]),
                    re.fullmatch(r"graph_0_cpp_fused_(.*)_\d+", name)[1])
        tally.equal(f"{name}: sorted", rows[name]["fused_ops"], sorted(set(rows[name]["fused_ops"])))
    # The generated code calls the same kernels at the same places.
    handles = re.findall(r"\[Provenance debug handles\] (cpp_fused_\S+):(\d+)", code_path.read_text())
    tally.equal("calls in the generated code",
                collections.Counter(kernel for kernel, _ in handles),
                collections.Counter({k: len(v) for k, v in sites.items() if k.startswith("cpp_")}))


def check_same_sums(tally, trace, provenance_path):
    """What the option adds changes no figure."""
    figures = ("n", "sum_ns", "min_ns", "max_ns", "category")
    for by in ("name", "op", "module"):
        plain = rows_of(trace, "--by", by)
        resolved = rows_of(trace, "--by", by, "--inductor-debug", provenance_path)
        tally.equal(f"by {by}", {k: [r[f] for f in figures] for k, r in plain.items()},
                    {k: [r[f] for f in figures] for k, r in resolved.items()})
    for row in rows_of(trace).values():
        expected = "name" if "cpp_fused_" in row["key"] else None
        tally.equal(f"{row['key']}: without the map", (row["fused_source"], row["source_nodes"]), (expected, None))


def check_fixture(tally, trace):
    folder = FIXTURE / "torch_compile_debug"
    rows = rows_of(trace, "--inductor-debug", folder)
    for path in sorted(folder.glob("run_0/torchinductor/model__*")):
        provenance = json.loads((path / "inductor_provenance_tracking_node_mappings.json").read_text())
        graph = path.name.rpartition(".")[2]
        for kernel, calls in sites_of(provenance).items():
            if kernel.startswith("cpp_fused_"):
                check_row(tally, kernel, rows[f"graph_{graph}_{kernel}"], calls, provenance)
    # By hand, from the model of capture_compiled.py.
    modules = {row["key"]: row["source_modules"] for row in rows.values() if row["fused_source"]}
    tally.equal("modules", modules, {
        "graph_0_cpp_fused_add_mean_mul_pow_rsqrt_0": ["layers.0.norm", "layers.1.norm"],
        "graph_0_cpp_fused_mul_silu_1": [],
        "graph_0_cpp_fused_add_mean_mul_pow_rsqrt_2": ["norm"],
        "graph_1_cpp_fused_add_mean_mul_pow_rsqrt_0": ["norm"],
        "graph_1_cpp_fused_mul_silu_1": [],
        "graph_2_cpp_fused_add_mean_mul_pow_rsqrt_0": [],
    })


def check_regions(tally, trace):
    """Compiled regions: their time, and the modules that nodes name, against the trace's own events."""
    done = program.run_json("modules", [str(trace)], "--inductor-debug", str(FIXTURE / "torch_compile_debug"))
    regions = done["data"]["compiled_regions"]
    ops = [e for e in events(trace) if e.get("cat") == "cpu_op"]
    spans = collections.Counter(e["name"] for e in ops if e["name"].startswith("Torch-Compiled Region"))
    tally.equal("regions", {r["region"] for r in regions}, set(spans))
    calls = collections.Counter()
    for row in regions:
        calls[row["region"]] += row["calls"]
    tally.equal("calls", calls, spans)
    tally.equal("fused kernels", sum(r["n_fused"] for r in regions),
                sum("cpp_fused_" in e["name"] for e in ops))
    named = set().union(*(r["by_module"] for r in regions))
    # By hand, from the maps: the last product of an MLP became an addmm that stands for the addition behind it,
    # which reads no parameter. Graph 2 is a norm alone: its own parameter names no module below it.
    layer = ("norm", "mlp.gate_proj", "mlp.up_proj")
    tally.equal("modules by nodes", named, {f"layers.{i}.{m}" for i in (0, 1) for m in layer} | set(layer))
    codes = {entry["code"] for entry in done["health"]}
    tally.holds(f"health: {codes}", {"compiled_regions", "inductor_provenance"} <= codes)


def check_names(tally, trace, expected):
    rows = rows_of(trace)
    found = {k: (r["fused_ops"], r["fused_source"]) for k, r in rows.items() if r["fused_source"]}
    tally.equal("operators by name", found, {k: (v, "name") for k, v in expected.items()})


def check_refused(tally, trace, other):
    cases = [
        (["kernels", str(trace), "--inductor-debug", "no/such"], 3, "--inductor-debug"),
        (["kernels", str(trace), "--inductor-debug", str(e2e.ROOT / "docs")], 3, "no debug output"),
        (["kernels", str(trace), "--inductor-debug", str(e2e.ROOT / "README.md")], 3, "names no kernel"),
    ]
    for arguments, status, words in cases:
        done = program.run(arguments)
        tally.equal(f"{arguments[-1]}: exit", done.exit, status)
        tally.holds(f"{arguments[-1]}: {done.stderr.strip()[:200]}", words in done.stderr)
    # Of another model: used for what it knows, and said.
    for verb in ("kernels", "modules", "summary"):
        health = program.run_json(verb, [str(trace)], "--inductor-debug", str(other))["health"]
        tally.holds(f"{verb}: another model is said", any(e["code"].startswith("inductor_") for e in health))


def check_nothing_known(tally, trace, code, words, *options):
    """The debug output gives nothing: it is said, and what the names tell stays."""
    done = program.run(["kernels", str(trace), *options])
    tally.equal("exit", done.exit, 0)
    tally.holds(f"said: {done.stderr.strip()[:300]}", words in " ".join((done.stderr + done.stdout).split()))
    answer = program.run_json("kernels", [str(trace)], *options)
    tally.holds(f"{code} in health", code in {e["code"] for e in answer["health"]})
    tally.equal("no provenance", {r["fused_source"] for r in answer["data"]["rows"]} - {None, "name"}, set())


def check_shown(tally, trace, provenance_path):
    """The asked-for column stays where room is scarce, and no name takes the whole line."""
    for width in (80, 100):
        shown = program.run(["kernels", str(trace), "--inductor-debug", str(provenance_path), "--width", str(width)])
        head = shown.stdout.splitlines()[1]
        tally.holds(f"{width} columns: {head}", "from nodes" in head and "sum" in head)
    piped = program.run(["kernels", str(trace)])
    widest = max(map(len, piped.stdout.splitlines()))
    tally.holds(f"piped: {widest} wide", widest < 160)


MI300 = {  # names of the trace, split by hand
    "triton_red_fused_add_mean_mul_pow_rsqrt_0": ["add", "mean", "mul", "pow", "rsqrt"],
    "triton_red_fused__unsafe_view_add_mean_mul_pow_rsqrt_1": ["_unsafe_view", "add", "mean", "mul", "pow", "rsqrt"],
    "triton_poi_fused__unsafe_view_mul_silu_2": ["_unsafe_view", "mul", "silu"],
    "triton_poi_fused__unsafe_view_add_3": ["_unsafe_view", "add"],
}


def main():
    parts = e2e.Parts("torch.compile")
    fixture = FIXTURE / "trace.json.gz"
    parts.run("own capture with its debug folder", check_fixture, fixture)
    parts.run("own capture's regions", check_regions, fixture)
    cpu = e2e.SHARED / "traces/cpu"
    trace = cpu / "hf_qwen3_tiny_compiled.json.gz"
    if e2e.shared("traces/cpu") is None:
        parts.skip("hf_qwen3_tiny_compiled", "../shared/traces is absent")
    else:
        provenance = cpu / "hf_qwen3_tiny_compiled_inductor_provenance.json"
        parts.run("compiled capture and its map", check_capture, trace, provenance,
                  cpu / "hf_qwen3_tiny_compiled_output_code.py.txt")
        parts.run("figures stay", check_same_sums, trace, provenance)
        parts.run("refusals", check_refused, trace, FIXTURE / "torch_compile_debug")
        parts.run("what people see", check_shown, trace, provenance)
        parts.run("generated code without nodes", check_nothing_known, trace, "inductor_no_nodes",
                  "no source nodes in", "--inductor-debug", str(cpu / "hf_qwen3_tiny_compiled_output_code.py.txt"))
        parts.run("a trace without names of Inductor", check_nothing_known,
                  cpu / "vllm_qwen3_tiny_offline_compiled.json.gz", "inductor_mismatch",
                  "no kernel of this trace is in", "--inductor-debug", str(provenance))
    parts.run_shared("traces/kineto/tracelens_torch_compile_triton_mi300.json.gz", check_names, MI300)
    parts.close()


if __name__ == "__main__":
    sys.exit(main())
