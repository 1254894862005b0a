#!/usr/bin/env python3
"""Every verb's JSON, and every error's, is valid against the published schema in docs/schema."""

import json
import tempfile
import pathlib

import jsonschema
from cut_test import SMALL
from e2e import ROOT, Parts, program, shared

SCHEMAS = ROOT / "docs/schema"
VERBS = ("info", "summary", "modules", "passes", "layers", "kernels", "steps", "ranges", "report")
VARIANTS = {
    "kernels": [*(["--by", by] for by in ("op", "op-dims", "module", "layer", "category", "stream")),
                ["--layer", "0"], ["--layer", "0", "--compare-layer", "1"], ["--layer", "tail"]],
    "layers": [["--all-passes"]],
}
FILES = ("traces/kineto/tracelens_hf_qwen1.5_h100.json.gz",
         "traces/kineto/tracelens_sglang_qwen3-8b_mi300_decode_graph.json.gz",
         "traces/kineto/tracelens_vllm_gptoss_b200_tp8_eager.json.gz",
         "traces/kineto/hta_mtia_inference.json.gz",
         "traces/cpu/vllm_qwen3_tiny_offline_stack.json.gz")
ERRORS = (["info", "absent.json"], ["modules", "small.json", "--sort", "wal"],
          ["summary", "not_a_trace.json"], ["kernels", "small.json", "--by", "nothing"])


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


def compare_errors(tally, cwd):
    for arguments in ERRORS:
        compare(tally, arguments, cwd)


def compare_strictness(tally):
    """A schema that lets anything through proves nothing."""
    for name in ("envelope", "error", *VERBS):
        tally.holds(f"{name}: an empty object is refused", not validator(name).is_valid({}))


if __name__ == "__main__":
    PARTS = Parts("schema")
    with tempfile.TemporaryDirectory(prefix="layerscope-schema-") as FOLDER:
        CWD = pathlib.Path(FOLDER)
        (CWD / "small.json").write_text(SMALL, encoding="utf-8")
        (CWD / "not_a_trace.json").write_text("[1, 2, 3]", encoding="utf-8")
        REAL = [FOUND for FOUND in map(shared, FILES) if FOUND]
        if not REAL:
            PARTS.skip("real traces", "../shared/traces is absent")
        PARTS.run("schemas refuse nonsense", compare_strictness)
        for VERB in VERBS:
            PARTS.run(VERB, compare_verb, VERB, ["small.json", *REAL], CWD)
        PARTS.run("errors", compare_errors, CWD)
    PARTS.close()
