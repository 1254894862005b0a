#!/usr/bin/env python3
"""The two real pairs of capture and replay against figures of an independent script
(../shared/golden/alignment): every kernel under the graph launch placed, by module instance, class, op
and layer, to the nanosecond; the captures swapped between the two traces are withheld; and with the
model's config alone, or below a compiled module, modules come from a template, marked as such.
"""

import json
import pathlib
import re
import sys
import tempfile
from collections import Counter, defaultdict

from e2e import Parts, program, shared

PAIRS = {
    "sglang": ("tracelens_sglang_qwen3-8b_mi300_decode_graph.json.gz",
               "tracelens_sglang_qwen3-8b_mi300_capture_bs32--decode_graph.json"),
    "vllm": ("tracelens_vllm_gptoss_mi300_decode_fullgraph.json.gz",
             "tracelens_vllm_gptoss_mi300_capture_full--decode_fullgraph.json"),
}
LAYERS = "tracelens_sglang_qwen3-8b_mi300_decode_graph.json.gz.json"
CONFIG = "traces/hf_config/Qwen--Qwen3-8B_config.json"
GPT_OSS = "traces/hf_config/openai--gpt-oss-120b_config.json"
EVIDENCE = ("graph_node", "capture_alignment", "eager_alignment", "template")
# The last part of a module's path in a Qwen3 decoder, and the class that the recording names there.
CLASS_OF_PART = {
    "qkv_proj": "QKVParallelLinear", "o_proj": "RowParallelLinear",
    "gate_up_proj": "MergedColumnParallelLinear", "down_proj": "RowParallelLinear",
    "act_fn": "SiluAndMul", "attn": "RadixAttention", "rotary_emb": "RotaryEmbedding",
    "input_layernorm": "RMSNorm", "post_attention_layernorm": "RMSNorm", "q_norm": "RMSNorm",
    "k_norm": "RMSNorm", "norm": "RMSNorm", "embed_tokens": "VocabParallelEmbedding",
    "lm_head": "LogitsProcessor", "logits_processor": "LogitsProcessor",
}


class Modules:
    """What `modules` says of a trace with what was given beside it."""

    def __init__(self, trace, *given):
        self.envelope = program.run_json("modules", [trace], "-n", "0", "--no-side-files", *given)
        self.data = self.envelope["data"]
        self.nodes = {node["id"]: node for node in self.data["nodes"]}

    def evidence(self, kind, key):
        """Exclusive nanoseconds of one evidence, by a key of the nodes."""
        sums = Counter()
        for node in self.nodes.values():
            sums[node[key]] += node["evidence"].get(kind, 0)
        return +sums

    def inclusive(self):
        """By instance: kernel time of the nodes without an ancestor of the same name."""
        sums = Counter()
        for node in self.nodes.values():
            parent = node["parent"]
            while parent is not None and self.nodes[parent]["instance"] != node["instance"]:
                parent = self.nodes[parent]["parent"]
            if parent is None:
                sums[node["instance"]] += node["kernel_incl_ns"]
        return sums


def given_capture(which):
    golden = json.loads(shared(f"golden/alignment/{PAIRS[which][1]}").read_text(encoding="utf-8"))
    capture = shared(f"traces/kineto/{golden['capture']}")
    return golden, capture, ("--capture-trace", str(capture))


def check_pair(tally, trace, which):
    golden, capture, given = given_capture(which)
    modules = Modules(trace, *given)
    rows = modules.data.get("alignment") or []
    tally.equal("alignment rows", len(rows), 1)
    for row in rows:
        tally.holds(f"withheld: {row['reason']}", not row["withheld"])
        tally.holds(f"capture_file {row['capture_file']}", row["capture_file"].endswith(capture.name))
        tally.equal("matched", row["matched"], golden["n_compared"])
        tally.equal("mismatched", row["mismatched"], golden["n_name_mismatches"])
        tally.equal("launches", row["launches"], 1)
        tally.equal("kernels", row["kernels"], golden["replay"]["n_graph_kernels"])
        tally.holds(f"confidence {row['confidence']} of names that are all equal",
                    row["confidence"] >= 0.9)
    steps = program.run_json("steps", [trace], "--no-side-files", *given)["data"]
    tally.equal("alignment in steps", steps.get("alignment"), rows)
    moved = golden["transferred_module_ns"]
    by_instance = modules.evidence("capture_alignment", "instance")
    tally.equal("attributed ns", sum(by_instance.values()), moved["attributed_ns"])
    for name, ns in moved["exclusive_top"].items():
        tally.equal(f"exclusive {name}", by_instance[name], ns)
    by_class = modules.evidence("capture_alignment", "class")
    tally.equal("exclusive by class", dict(by_class), golden["transferred_exclusive_ns_by_class"])
    inclusive = modules.inclusive()
    for name, ns in moved["inclusive"].items():
        tally.equal(f"inclusive {name}", inclusive[name], ns)
    tally.equal("reason graph_launch", modules.data["unattributed"]["by_reason"]["graph_launch"], 0)
    check_ops(tally, trace, given, golden)


def check_ops(tally, trace, given, golden):
    rows = program.run_json("kernels", [trace], "--by", "op", "-n", "0", "--no-side-files",
                            *given)["data"]["rows"]
    placed, count = Counter(), Counter()  # an op has one row for kernels and one for copies
    for row in rows:
        placed[row["op"]] += row["evidence"].get("capture_alignment", 0)
        count[row["op"]] += row["n"]
    for op, wanted in golden["transferred_op_ns_innermost"].items():
        tally.equal(f"op {op}: ns", placed[op], wanted["ns"])
        # A row also counts what the same op launched outside of the graph.
        tally.holds(f"op {op}: {count[op]} activities, at least {wanted['n']} wanted",
                    count[op] >= wanted["n"])
    tally.equal("ns by op", sum(placed.values()),
                golden["transferred_module_ns"]["attributed_ns"])


def check_layers(tally, trace):
    """The module Qwen3DecoderLayer_i holds what the structure found by hand has in layer i."""
    _, _, given = given_capture("sglang")
    wanted = json.loads(shared(f"golden/layers/{LAYERS}").read_text(encoding="utf-8"))
    found = {node["instance"]: node for node in Modules(trace, *given).nodes.values()
             if node["class"] == "Qwen3DecoderLayer"}
    layers = wanted["passes"][0]["layers"]
    tally.equal("layers", len(found), len(layers))
    for layer in layers:
        node = found.get(f"Qwen3DecoderLayer_{layer['index']}", {})
        tally.equal(f"layer {layer['index']}: (kernels, ns)",
                    (node.get("kernels_incl"), node.get("kernel_incl_ns")),
                    (layer["n_kernels"], layer["sum_ns"]))


def check_swapped(tally, trace, other):
    """The other pair's capture: another model; nothing is taken from it, and that is said."""
    _, _, given = given_capture(other)
    modules = Modules(trace, *given)
    for kind in EVIDENCE:
        tally.equal(f"evidence {kind}", sum(modules.evidence(kind, "instance").values()), 0)
    rows = modules.data.get("alignment") or []
    tally.holds("no alignment is shown", bool(rows))
    for row in rows:
        tally.holds("not withheld", row["withheld"] and bool(row["reason"]))
    codes = {entry["code"] for entry in modules.envelope["health"]}
    tally.holds(f"health has no capture_withheld, only {sorted(codes)}", "capture_withheld" in codes)
    nothing = Modules(trace)
    tally.equal("sums", {n["instance"]: n["gpu_incl_ns"] for n in modules.nodes.values()},
                {n["instance"]: n["gpu_incl_ns"] for n in nothing.nodes.values()})
    tally.equal("unattributed", modules.data["unattributed"], nothing.data["unattributed"])


def check_both_in_one_folder(tally, trace, which):
    """Of a folder with both captures the one that fits is taken."""
    golden, capture, _ = given_capture(which)
    with tempfile.TemporaryDirectory() as folder:
        for name in PAIRS:
            file = given_capture(name)[1]
            (pathlib.Path(folder) / file.name).symlink_to(file)
        modules = Modules(trace, "--capture-trace", folder)
    rows = [row for row in modules.data.get("alignment") or [] if not row["withheld"]]
    tally.equal("files used", [row["capture_file"].endswith(capture.name) for row in rows], [True])
    tally.equal("attributed ns", sum(modules.evidence("capture_alignment", "class").values()),
                golden["transferred_module_ns"]["attributed_ns"])


def check_template(tally, trace):
    """With the config alone: modules by template, marked, and none holds more than the truth."""
    golden, _, _ = given_capture("sglang")
    wanted = golden["transferred_exclusive_ns_by_class"]
    modules = Modules(trace, "--config", str(shared(CONFIG)))
    by_path = modules.evidence("template", "path")
    total = sum(by_path.values())
    share = 100 * total / golden["replay"]["graph_kernel_ns"]
    print(f"    by template: {total} ns, {share:.1f} % of the graph")
    tally.holds("nothing is placed by template", share > 50)
    by_class = defaultdict(int)
    layers = set()
    for path, ns in by_path.items():
        part = path.rsplit(".", 1)[-1]
        by_class[CLASS_OF_PART.get(part, part)] += ns
        layers.update(map(int, re.findall(r"layers\.(\d+)", path)))
    for name, ns in sorted(by_class.items()):
        if name in wanted:
            tally.holds(f"template {name}: {ns} ns, the recording has {wanted[name]}",
                        ns <= wanted[name])
    known = sum(ns for name, ns in by_class.items() if name in wanted)
    tally.holds(f"{known} of {total} ns are in classes of the recording", known > total * 0.9)
    tally.equal("layers", sorted(layers), list(range(36)))
    for kind in ("graph_node", "capture_alignment", "eager_alignment"):
        tally.equal(f"evidence {kind}", sum(modules.evidence(kind, "path").values()), 0)


def check_template_below_capture(tally, trace):
    """vLLM's capture ends at one compiled module. With the config (this model has 24 layers) its kernels
    go on below it by template; which op each is, the golden says still."""
    golden, _, given = given_capture("vllm")
    config = json.loads(shared(GPT_OSS).read_text(encoding="utf-8"))
    layers = len(golden["capture_layers_by_captured_launch_index"])
    config["num_hidden_layers"] = layers
    config["layer_types"] = config["layer_types"][:layers]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "config.json"
        file.write_text(json.dumps(config), encoding="utf-8")
        modules = Modules(trace, *given, "--config", str(file))
    ops = golden["transferred_op_ns_innermost"]
    sums, kernels, places = Counter(), Counter(), defaultdict(set)
    for node in modules.nodes.values():
        layer = re.fullmatch(r"(?:.*\.)?layers\.(\d+)\.(.*)", node["path"])
        if layer is None:
            continue
        sums[layer[2]] += node["gpu_excl_ns"]
        kernels[layer[2]] += node["kernels_excl"]
        places[layer[2]].add(int(layer[1]))
    experts = ops["vllm::moe_forward"]
    attention = [ops["vllm::unified_attention_with_output"], ops["_C_cache_ops::reshape_and_cache_flash"]]
    tally.equal("experts (kernels, ns)", (kernels["mlp.experts"], sums["mlp.experts"]),
                (experts["n"], experts["ns"]))
    tally.equal("attention (kernels, ns)", (kernels["self_attn.attn"], sums["self_attn.attn"]),
                (sum(op["n"] for op in attention), sum(op["ns"] for op in attention)))
    for part in ("mlp.experts", "self_attn.attn"):
        tally.equal(f"layers of {part}", sorted(places[part]), list(range(layers)))
    placed = sum(modules.evidence("template", "path").values()) + sum(
        modules.evidence("capture_alignment", "path").values())
    tally.equal("attributed ns", placed, golden["transferred_module_ns"]["attributed_ns"])
    inside = [node for node in modules.nodes.values() if node["class"] == "GraphModule"]
    tally.equal("compiled modules with time", sum(node["gpu_incl_ns"] > 0 for node in inside), 1)


def main():
    parts = Parts("alignment of real pairs")
    if shared("golden/alignment") is None or shared("traces/kineto") is None:
        parts.skip("all pairs", "../shared is absent")
        parts.close()
    words = sys.argv[1:]
    traces = {which: shared(f"traces/kineto/{trace}") for which, (trace, _) in PAIRS.items()}
    checks = {
        "sglang pair": (check_pair, traces["sglang"], "sglang"),
        "vllm pair": (check_pair, traces["vllm"], "vllm"),
        "sglang layers": (check_layers, traces["sglang"]),
        "vllm capture over sglang": (check_swapped, traces["sglang"], "vllm"),
        "sglang capture over vllm": (check_swapped, traces["vllm"], "sglang"),
        "sglang of both": (check_both_in_one_folder, traces["sglang"], "sglang"),
        "vllm of both": (check_both_in_one_folder, traces["vllm"], "vllm"),
        "sglang template": (check_template, traces["sglang"]),
        "vllm template below capture": (check_template_below_capture, traces["vllm"]),
    }
    for name, (check, *arguments) in checks.items():
        if not words or any(word in name for word in words):
            parts.run(name, check, *arguments)
    parts.close()


if __name__ == "__main__":
    main()
