#!/usr/bin/env python3
"""Every verb's JSON, and every error's, is valid against the published schema in docs/schema."""

import json
import tempfile
import pathlib

import jsonschema
from cut_test import SMALL
from e2e import ROOT, Parts, program, shared

SCHEMAS = ROOT / "docs/schema"
VERBS = ("info", "summary", "modules", "passes", "layers", "kernels", "steps", "overhead", "timeline",
         "ranges", "report")
# Verbs that write a document to -o and say what they wrote, with what they need beside the input.
DOCUMENTS = {"annotate": [[], ["--no-modules"]], "cut": [["--from", "0ms"], ["--device", "0"]],
             "map": [[], ["--no-collapse"]], "requests": [[]]}
# The documents that are one JSON value, by the verb that prints them.
JSON_DOCUMENTS = {"map": "model_execution", "requests": "per_request_profiles"}
# Their inputs are no traces: workload_test.py validates what they print.
WORKLOAD = ("workload", "workload_data")
PROFILES = (["list"], ["show", "generic"], ["show", "mine.toml"], ["infer", "--config", "config.json"],
            ["infer", "--config", "config.json", "--profile", "generic"], ["check", "mine.toml"])
VARIANTS = {
    "kernels": [*(["--by", by] for by in ("op", "op-dims", "module", "layer", "category", "stream")),
                ["--layer", "0"], ["--layer", "0", "--compare-layer", "1"], ["--layer", "tail"]],
    "layers": [["--all-passes"], ["--pass", "0"], ["--num-layers", "7"]],
    "passes": [["--pass", "0"], ["--num-layers", "7"]],
    "ranges": [["--pass", "0"]],
    "report": [["--pass", "0"]],
    "steps": [["--rank-reduce", "sum"]],
    "overhead": [["--rank-reduce", "mean"]],
    "timeline": [["--bins", "3"], ["--device", "0"]],
}
FILES = ("traces/kineto/tracelens_hf_qwen1.5_h100.json.gz",
         "traces/kineto/tracelens_sglang_qwen3-8b_mi300_decode_graph.json.gz",
         "traces/kineto/tracelens_vllm_gptoss_b200_tp8_eager.json.gz",
         "traces/kineto/hta_mtia_inference.json.gz",
         "traces/cpu/vllm_qwen3_tiny_offline_stack.json.gz")
ERRORS = (["info", "absent.json"], ["modules", "small.json", "--sort", "wal"],
          ["summary", "not_a_trace.json"], ["kernels", "small.json", "--by", "nothing"],
          ["layers", "small.json", "--config", "not_a_trace.json"], ["passes", "small.json", "--pass", "99"],
          ["layers", "small.json", "--anchor-kernel", "no_such_kernel"], ["cut", "small.json"],
          ["profiles", "show", "no_such_profile"], ["profiles", "check", "not_a_trace.json"],
          ["profiles", "infer", "--config", "absent.json"])
CONFIG = {"model_type": "qwen3_moe", "num_hidden_layers": 4, "hidden_size": 64, "num_attention_heads": 4,
          "num_key_value_heads": 2, "num_experts": 8, "num_experts_per_tok": 2, "mlp_only_layers": [0]}
PROFILE = """name = "mine"
[anchor]
patterns = ["my_norm"]
given = true
"""


def validator(name):
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text(encoding="utf-8"))
    kind = jsonschema.validators.validator_for(schema)
    kind.check_schema(schema)
    return kind(schema)


def problems_of(document):
    """What the published schemas say against an output, as docs/schema/README.md describes it."""
    if "error" in document:
        return problems(validator("error"), document)
    found = problems(validator("envelope"), document)
    checker = validator(document["command"])
    for _, data in program.data_parts(document):
        found += problems(checker, data)
    return found


def problems(checker, document):
    return [f"{'/'.join(map(str, e.absolute_path))}: {e.message[:160]}"
            for e in checker.iter_errors(document)]


def compare(tally, arguments, cwd):
    done = program.run([*arguments, "--format", "json"], cwd=cwd)
    tally.equal(" ".join(map(str, arguments)), problems_of(program.parse_json(done.stdout))[:5], [])


def compare_verb(tally, verb, files, cwd):
    for file in files:
        for variant in [[], *VARIANTS.get(verb, [])]:
            compare(tally, [verb, file, *variant], cwd)
    if len(files) > 1:
        compare(tally, [verb, files[0], files[1]], cwd)


def compare_document(tally, verb, files, cwd):
    for file in files:
        for variant in DOCUMENTS[verb]:
            compare(tally, [verb, file, *variant, "-o", "written.json.gz"], cwd)
            if verb in JSON_DOCUMENTS:
                document = program.parse_json(program.run([verb, file, *variant], cwd=cwd).stdout)
                found = problems(validator(JSON_DOCUMENTS[verb]), document)
                tally.equal(f"{verb} {file}: the document", found[:5], [])
    if verb in JSON_DOCUMENTS and len(files) > 1:
        compare(tally, [verb, *files[:2], "-o", "written.json"], cwd)


def compare_profiles(tally, cwd):
    for arguments in PROFILES:
        compare(tally, ["profiles", *arguments], cwd)


def compare_errors(tally, cwd):
    for arguments in ERRORS:
        compare(tally, arguments, cwd)


def compare_strictness(tally):
    """A schema that lets anything through proves nothing, and one that no test reads is none."""
    names = ("envelope", "error", *VERBS, *DOCUMENTS, *JSON_DOCUMENTS.values(), *WORKLOAD, "profiles")
    tally.equal("schemas in docs/schema", sorted(names),
                sorted(f.name.removesuffix(".schema.json") for f in SCHEMAS.glob("*.schema.json")))
    readme = (SCHEMAS / "README.md").read_text(encoding="utf-8")
    tally.equal("schemas that README.md does not list",
                [name for name in names if f"`{name}.schema.json`" not in readme], [])
    for name in names:
        tally.holds(f"{name}: an empty object is refused", not validator(name).is_valid({}))


if __name__ == "__main__":
    PARTS = Parts("schema")
    with tempfile.TemporaryDirectory(prefix="layerscope-schema-") as FOLDER:
        CWD = pathlib.Path(FOLDER)
        (CWD / "small.json").write_text(SMALL, encoding="utf-8")
        (CWD / "not_a_trace.json").write_text("[1, 2, 3]", encoding="utf-8")
        (CWD / "config.json").write_text(json.dumps(CONFIG), encoding="utf-8")
        (CWD / "mine.toml").write_text(PROFILE, encoding="utf-8")
        REAL = [FOUND for FOUND in map(shared, FILES) if FOUND]
        if not REAL:
            PARTS.skip("real traces", "../shared/traces is absent")
        PARTS.run("schemas refuse nonsense", compare_strictness)
        for VERB in VERBS:
            PARTS.run(VERB, compare_verb, VERB, ["small.json", *REAL], CWD)
        for VERB in DOCUMENTS:
            PARTS.run(VERB, compare_document, VERB, ["small.json", *REAL], CWD)
        PARTS.run("profiles", compare_profiles, CWD)
        PARTS.run("errors", compare_errors, CWD)
    PARTS.close()
