#!/usr/bin/env python3
"""Module paths from a model tree, on CPU captures of live models and their named_modules.

The expected path of each Class_k is written down here from how transformers and vLLM call their
modules (their sources; formats/capture.md: RMSNorm_0 is input_layernorm, RMSNorm_1 q_norm).
"""

import json
import pathlib
import tempfile

from e2e import Parts, program, shared

HF = ("traces/cpu/hf_qwen3_tiny_generate_stack.json.gz", "traces/cpu/hf_qwen3_tiny_named_modules.json")
VLLM = ("traces/cpu/vllm_qwen3_tiny_offline_stack.json.gz",
        "traces/cpu/vllm_qwen3_tiny_named_modules.json")
N_LAYERS = 4
PARTS = {  # what a layer calls, in order, by class; "" is the layer itself
    "hf": {
        "Qwen3DecoderLayer": [""],
        "Qwen3Attention": ["self_attn"],
        "Qwen3MLP": ["mlp"],
        "SiLUActivation": ["mlp.act_fn"],
        "Qwen3RMSNorm": ["input_layernorm", "self_attn.q_norm", "self_attn.k_norm",
                         "post_attention_layernorm"],
        "Linear": ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj", "self_attn.o_proj",
                   "mlp.gate_proj", "mlp.up_proj", "mlp.down_proj"],
    },
    "vllm": {
        "Qwen3DecoderLayer": [""],
        "Qwen3Attention": ["self_attn"],
        "Qwen2MLP": ["mlp"],
        "Attention": ["self_attn.attn"],
        "QKVParallelLinear": ["self_attn.qkv_proj"],
        "MergedColumnParallelLinear": ["mlp.gate_up_proj"],
        "SiluAndMul": ["mlp.act_fn"],
        "RowParallelLinear": ["self_attn.o_proj", "mlp.down_proj"],
        "RMSNorm": ["input_layernorm", "self_attn.q_norm", "self_attn.k_norm",
                    "post_attention_layernorm"],
    },
}
OUTSIDE = {  # outside of the layers, or one for all
    "hf": {"Qwen3ForCausalLM_0": "", "Qwen3Model_0": "model", "Embedding_0": "model.embed_tokens",
           "Qwen3RotaryEmbedding_0": "model.rotary_emb", "Qwen3RMSNorm_16": "model.norm",
           "Linear_28": "lm_head"},
    "vllm": {"Qwen3ForCausalLM_0": "", "VocabParallelEmbedding_0": "model.embed_tokens",
             "RotaryEmbedding_0": "model.layers.0.self_attn.rotary_emb",
             "RMSNorm_16": "model.norm", "LogitsProcessor_0": "logits_processor"},
}


def expected_paths(engine):
    paths = dict(OUTSIDE[engine])
    for class_name, parts in PARTS[engine].items():
        for number in range(N_LAYERS * len(parts)):
            layer, part = divmod(number, len(parts))
            paths[f"{class_name}_{number}"] = f"model.layers.{layer}.{parts[part]}".rstrip(".")
    return paths


def modules_of(trace, tree):
    """(nodes, codes of health about the tree)."""
    envelope = program.run_json("modules", [trace], "--no-collapse", "--model-tree", str(tree))
    codes = [e["code"] for e in envelope["health"] if e["code"].startswith("model_tree")]
    return envelope["data"]["nodes"], codes


def check_paths(tally, engine, trace, tree):
    nodes, codes = modules_of(trace, tree)
    expected = expected_paths(engine)
    tally.equal("health of the tree", codes, [])
    seen = set()
    for node in nodes:
        if node["instance"] not in expected:
            continue
        seen.add(node["instance"])
        tally.equal(node["instance"], node["path"], expected[node["instance"]])
        tally.equal(f"class of {node['instance']}", node["class"],
                    node["instance"].rpartition("_")[0])
    tally.equal("modules that were called", sorted(seen), sorted(expected))


def with_call_order(trace, named, drop=None):
    """The tree as our capture writes it, its calls in the order of the trace."""
    rows = json.loads(named.read_text(encoding="utf-8"))
    rows = rows[0] if isinstance(rows[0][0], list) else rows
    classes = {row[0]: row[1] for row in rows}
    engine = "vllm" if "vllm" in trace.name else "hf"
    paths = sorted(expected_paths(engine).items(), key=lambda item: int(item[0].rpartition("_")[2]))
    order = [{"path": path, "class": classes[path]} for _, path in paths if path != drop]
    return {"schema_version": 2, "tree": [row[:2] for row in rows], "call_order": order}


def check_call_order(tally, engine, trace, named, folder):
    tree = folder / "model_tree.json"
    tree.write_text(json.dumps(with_call_order(trace, named)), encoding="utf-8")
    check_paths(tally, engine, trace, tree)


def check_short_of_a_norm(tally, engine, trace, named, folder):
    """One norm too few in the order, as of a norm that the forward makes itself: which of the class are the
    tree's cannot be told, so they keep their class, and all others have their paths."""
    tree = folder / "model_tree.json"
    lacking = with_call_order(trace, named, drop="model.layers.1.input_layernorm")
    tree.write_text(json.dumps(lacking), encoding="utf-8")
    nodes, codes = modules_of(trace, tree)
    tally.equal("health of the tree", codes, ["model_tree_partial"])
    norm = "RMSNorm" if engine == "vllm" else "Qwen3RMSNorm"
    expected = expected_paths(engine)
    for node in nodes:
        if node["class"] == norm:
            tally.equal(node["instance"], node["path"].rpartition(".")[2], node["instance"])
        elif node["instance"] in expected:
            tally.equal(node["instance"], node["path"], expected[node["instance"]])


def check_misfit(tally, trace, named, folder):
    """One layer too few in the order: every later one has a wrong number, and the last none."""
    tree = folder / "model_tree.json"
    lacking = with_call_order(trace, named, drop="model.layers.1")
    tree.write_text(json.dumps(lacking), encoding="utf-8")
    nodes, codes = modules_of(trace, tree)
    tally.equal("health of the tree", codes, ["model_tree_mismatch"])
    untouched = program.run_json("modules", [trace], "--no-collapse")["data"]["nodes"]
    tally.equal("paths", [n["path"] for n in nodes], [n["path"] for n in untouched])


def check_other_engine(tally, trace, named):
    """transformers' modules of the model that vLLM ran: shared class names must not be half used."""
    nodes, codes = modules_of(trace, named)
    tally.equal("health of the tree", codes, ["model_tree_mismatch"])
    untouched = program.run_json("modules", [trace], "--no-collapse")["data"]["nodes"]
    tally.equal("paths", [n["path"] for n in nodes], [n["path"] for n in untouched])
    strict = program.run(["modules", trace, "--model-tree", named, "--strict"])
    tally.equal("exit under --strict", strict.exit, 3)


def main():
    parts = Parts("model trees")
    for engine, (trace, named) in (("hf", HF), ("vllm", VLLM)):
        trace_file, named_file = shared(trace), shared(named)
        if trace_file is None or named_file is None:
            parts.skip(trace, "../shared/traces is absent")
            continue
        parts.run(f"{engine}: named_modules", check_paths, engine, trace_file, named_file)
        with tempfile.TemporaryDirectory() as folder:
            folder = pathlib.Path(folder)
            parts.run(f"{engine}: call order", check_call_order, engine, trace_file, named_file, folder)
            parts.run(f"{engine}: an order that lacks a norm", check_short_of_a_norm, engine, trace_file, named_file,
                      folder)
            parts.run(f"{engine}: an order that lacks a layer", check_misfit, trace_file, named_file, folder)
    vllm_trace, hf_named = shared(VLLM[0]), shared(HF[1])
    if vllm_trace is not None and hf_named is not None:
        parts.run("vllm: the tree of another engine", check_other_engine, vllm_trace, hf_named)
    parts.close()


if __name__ == "__main__":
    main()
