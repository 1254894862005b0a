#!/usr/bin/env python3
"""Passes, layers, types, clusters and the steady pass of generated models against the generator's
truth; rejections and ambiguous sequences. layer_cases.tsv lists the cases.

An "exact" case is run as it says, with the model's config, and with config and the family's anchor:
all must be exact. It is also run told nothing, which may abstain. An "abstain" case has two readings,
or names that say nothing: whatever it is told, it must not be confidently wrong. A "reject" case must
fail with its exit code and say why.
"""

import dataclasses
import json
import pathlib
import shlex
import sys
import tempfile
from collections import Counter

from e2e import Parts, program
from generated import generate
from goldens.invariants import Tally
from layers_stats import CONFIDENT, Stats, outcome

CASES = pathlib.Path(__file__).with_name("layer_cases.tsv")
EXPECTATIONS = ("exact", "abstain", "reject")
PASS = ("index", "kind", "complete", "start_ns", "end_ns", "n_kernels", "sum_ns", "n_copies", "copy_ns")
LAYER = ("index", "first_kernel", "n_kernels", "sum_ns", "n_copies", "copy_ns", "start_ns", "end_ns",
         "wall_ns", "n_foreign", "foreign_ns", "n_allreduce")
MIN_PROFILES = 13


@dataclasses.dataclass
class Case:
    name: str
    generator: str
    expect: str
    exit: int
    options: list


def cases():
    found = []
    for line in CASES.read_text(encoding="utf-8").splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        name, generator, expect, code, options = (line.split("\t") + ["", ""])[:5]
        if expect not in EXPECTATIONS:
            raise ValueError(f"{CASES.name}: {name}: expects {expect!r}")
        words = [] if options.strip() == "-" else shlex.split(options)
        found.append(Case(name, generator, expect, int(code or 0), words))
    return found


class Run:
    """One run of `passes` and, for each pass, `layers`."""

    def __init__(self, file, options):
        self.file, self.options = file, options
        done = program.run(["passes", file, *options, "-n", "0", "--format", "json"])
        self.exit, self.stderr = done.exit, done.stderr.strip()
        said = program.parse_json(done.stdout) if done.exit and done.stdout else {}
        self.error = said.get("error") or {}
        self.passes, self.layers, self.confidence = {}, [], None
        self.abstained = done.exit == 1
        if done.exit == 0:
            self.passes = program.parse_json(done.stdout)["data"]
            self.confidence = (self.passes.get("anchor") or {}).get("confidence")
            self.abstained = bool(self.passes.get("abstained"))
            self._read_layers()

    def _read_layers(self):
        for row in [] if self.abstained else self.passes["passes"]:
            data = self.json("layers", "--pass", str(row["index"]), "-n", "0")
            self.abstained = self.abstained or bool(data.get("abstained"))
            self.layers.append(data)

    def json(self, verb, *more):
        return program.run_json(verb, [self.file], *self.options, *more)["data"]


def compare(tally, truth, run, typed):
    """Every figure of the truth; types by name when the run knew the config, else as a partition."""
    ours, wanted = run.passes, truth["passes"]
    tally.equal("layers_per_pass", ours["layers_per_pass"], truth["layers_per_pass"])
    tally.equal("passes", len(ours["passes"]), len(wanted))
    tally.equal("steady_pass", ours["steady_pass"], truth["steady_pass"])
    tally.equal("outside kernels", ours["outside"]["kernels"], truth["outside_kernels"])
    for want, row, layers in zip(wanted, ours["passes"], run.layers):
        where = f"pass {want['index']}"
        draft = want["kind"] == "draft"
        compare_figures(tally, where, row, want,
                        [key for key in PASS if not draft or key != "complete"])
        if want["note"].startswith("micro-batch"):
            tally.holds(f"{where} is noted as {want['note']}", want["note"] in (row["note"] or ""))
        if draft and not is_sure(row, layers):
            continue
        compare_layers(tally, where, want, layers, typed)
        for part in ("head", "tail"):
            tally.equal(f"{where} {part}", (layers[part]["n_kernels"], layers[part]["sum_ns"]),
                        (want[f"{part}_kernels"], want[f"{part}_sum_ns"]))
        if want["complete"] and not draft:
            compare_clusters(tally, where, truth, layers, typed)


def is_sure(row, layers):
    """A draft model of one layer repeats nothing: to withhold its layer, or to doubt it, is right."""
    return bool(layers["layers"]) and row["confidence"] >= CONFIDENT


def compare_figures(tally, where, row, want, keys):
    for key in keys:
        tally.equal(f"{where} {key}", row.get(key, "(no such key)"), want[key])


def compare_layers(tally, where, want, layers, typed):
    rows = layers["layers"]
    tally.equal(f"{where} layers", len(rows), len(want["layers"]))
    for row, layer in zip(rows, want["layers"]):
        name = f"{where} layer {layer['index']}"
        compare_figures(tally, name, row, layer, LAYER)
        tally.equal(f"{name} flags", sorted(row["flags"]), sorted(layer["flags"]))
        if typed and want["kind"] != "draft":
            tally.equal(f"{name} type", (row["type"], row["ratio"]), (layer["type"], layer["ratio"]))
    if not typed and want["kind"] != "draft":
        compare_partition(tally, where, rows, want["layers"])


def compare_partition(tally, where, rows, layers):
    """Without a config: layers of one form have one type, and forms of other sizes have others. The
    first and the last layer may differ from their like by a few kernels; cut ones say nothing."""
    types = {}
    for row, layer in zip(rows, layers):
        if not {"FIRST", "FINAL", "CUT"} & set(layer["flags"]):
            types.setdefault(layer["form"], {}).setdefault(row["type"], layer["n_kernels"])
    for form, found in types.items():
        tally.equal(f"{where}: types of the layers of form {form}", len(found), 1)
    sizes = {}
    for form, found in types.items():
        for name, size in found.items():
            known = sizes.setdefault(name, (form, size))
            tally.holds(f"{where}: type {name} is form {known[0]} of {known[1]} kernels and form "
                        f"{form} of {size}", known[0] == form or abs(known[1] - size) <= 1)


def compare_clusters(tally, where, truth, layers, typed):
    ours = Counter({cluster["type"]: cluster["n"] for cluster in layers["clusters"]})
    tally.equal(f"{where} clusters add up", sum(ours.values()), truth["layers_per_pass"])
    if typed:
        wanted = Counter({cluster["type"]: cluster["n"] for cluster in truth["clusters"]})
        # One config type with different kernel sequences is reported as several clusters.
        tally.equal(f"{where} clusters", ours, wanted)


def whole_pass(truth):
    return next((p for p in truth["passes"] if p["complete"] and p["kind"] != "draft"), None)


def compare_ranges(tally, truth, run):
    """`ranges` holds the same passes and layers; of a draft pass the pass alone is compared."""
    drafts = {one["index"] for one in truth["passes"] if one["kind"] == "draft"}
    rows = [row for row in run.json("ranges", "-n", "0")["ranges"]
            if row["kind"] == "pass" or row["pass"] not in drafts]
    wanted = []
    for one in truth["passes"]:
        wanted.append(("pass", one["index"], None, one["start_ns"], one["end_ns"]))
        wanted += [("layer", one["index"], layer["index"], layer["start_ns"], layer["end_ns"])
                   for layer in one["layers"] if one["index"] not in drafts]
    ours = [(row["kind"], row["pass"], row.get("layer"), row["start_ns"], row["end_ns"])
            for row in rows]
    passes = {row[1] for row in ours}
    tally.holds("ranges has a pass", bool(passes))
    tally.equal("ranges", sorted(ours, key=str),
                sorted((row for row in wanted if row[1] in passes), key=str))


def compare_blocks(tally, truth, run):
    """`kernels --pass P --layer L` says which block each of the layer's kernels belongs to."""
    whole = whole_pass(truth)
    if whole is None:
        return
    index = whole["index"]
    for layer in whole["layers"][:3]:
        rows = run.json("kernels", "--pass", str(index), "--layer", str(layer["index"]), "-n",
                        "0")["rows"]
        found = Counter()
        for row in rows:
            found[row["block"]] += row["n"]
        tally.equal(f"pass {index} layer {layer['index']} kernels", sum(found.values()),
                    layer["n_kernels"] + layer["n_copies"])
        if len(layer["blocks"]) > 1 and layer["n_copies"] == 0:
            tally.equal(f"pass {index} layer {layer['index']} blocks",
                        [found[block] for block in range(len(layer["blocks"]))], layer["blocks"])


def compare_profile(tally, truth, config):
    """`profiles infer` from the config alone."""
    done = program.run(["profiles", "infer", "--config", config, "--format", "json"])
    if done.exit != 0:
        tally.holds(f"profiles infer fails: {done.stderr[:200]}", False)
        return
    data = program.parse_json(done.stdout)["data"]
    tally.equal("profile", data["profile"], truth["profile"])
    tally.equal("num_layers", data["num_layers"], truth["layers_per_pass"])
    whole = whole_pass(truth)
    if whole:
        tally.equal("types of the config", [layer["type"] for layer in data["layers"]],
                    [layer["type"] for layer in whole["layers"]])
        tally.equal("ratios of the config", [layer["ratio"] for layer in data["layers"]],
                    [layer["ratio"] for layer in whole["layers"]])


def judge(tally, stats, group, case, truth, run, typed, strict):
    """Compares one run, counts its outcome, and fails it when it had to be exact or is surely wrong."""
    found = Tally()
    if run.exit not in (0, 1):
        tally.holds(f"{case.name} {' '.join(run.options)}: exit {run.exit}: {run.stderr[:200]}", False)
        return
    if run.abstained:
        why = run.stderr or json.dumps(run.passes.get("abstained"))
        found.holds(f"gives no layers: {why[:300]}", False)
    else:
        compare(found, truth, run, typed)
    result = outcome(not found.failures, run.abstained, run.confidence)
    what = f"{case.name} [{' '.join(run.options)}]: {'; '.join(found.failures[:3])[:600]}"
    stats.add(group, what, result, None if run.abstained else run.confidence)
    tally.compared += found.compared
    if strict or result == "confidently wrong":
        tally.failures += [f"{group}: {result}: {failure}" for failure in found.failures]


def exact(tally, stats, case, file, truth, config):
    knows = "--config" in case.options
    has_config = truth.get("config") is not None and config.exists()
    told = [*case.options, "--config", str(config)] if has_config and not knows else case.options
    judge(tally, stats, "as the case says", case, truth, Run(file, case.options), knows, strict=True)
    if has_config:
        compare_profile(tally, truth, config)
        run = Run(file, told)
        if not knows:
            judge(tally, stats, "with the config", case, truth, run, True, strict=True)
        if run.exit == 0 and not run.abstained:
            compare_ranges(tally, truth, run)
            compare_blocks(tally, truth, run)
    if truth.get("anchor") and "--anchor-kernel" not in case.options:
        judge(tally, stats, "with config and anchor", case, truth,
              Run(file, [*told, "--anchor-kernel", truth["anchor"]]), has_config, strict=True)
    if case.options:
        judge(tally, stats, "told nothing", case, truth, Run(file, keep_selection(case.options)), False,
              strict=False)


def keep_selection(options):
    """Only what chooses among devices, ranks and processes."""
    kept = []
    for option, value in zip(options, options[1:]):
        if option in ("--pid", "--rank", "--device", "--stream"):
            kept += [option, value]
    return kept


def abstain(tally, stats, case, file, truth, config):
    """No confident answer, right or wrong, is founded when there are two readings."""
    run = Run(file, case.options)
    knows = "--config" in case.options
    judge(tally, stats, "two readings, or names that say nothing", case, truth, run, knows,
          strict=False)
    if truth.get("ambiguous") and not knows:
        sure = not run.abstained and (run.confidence is None or run.confidence >= CONFIDENT)
        tally.holds(f"is sure ({run.confidence}) where two readings explain the trace", not sure)
    if truth.get("config") is not None and config.exists() and not knows:
        judge(tally, stats, "the same, with the config", case, truth,
              Run(file, [*case.options, "--config", str(config)]), True, strict=False)


def reject(tally, stats, case, file, _truth, _config):
    run = Run(file, case.options)
    stats.add("rejections (abstained: rejected)", case.name,
              outcome(False, run.exit == case.exit, run.confidence))
    tally.equal("exit code", run.exit, case.exit)
    tally.holds("says why on stderr", bool(run.stderr))
    tally.holds("JSON error has code, message and hint",
                all(run.error.get(key) for key in ("code", "message", "hint")))
    layers = program.run(["layers", file, *case.options, "--format", "json"])
    tally.equal("layers: exit code", layers.exit, case.exit)


def run_case(tally, stats, case, folder):
    file, config = folder / f"{case.name}.json", folder / f"{case.name}.config.json"
    generate(file, f"{case.generator} --truth {file}.truth --config {config}")
    truth = json.loads(pathlib.Path(f"{file}.truth").read_text(encoding="utf-8"))["structure"]
    tally.equal("the generator expects the same", truth["expect"], case.expect)
    options = [str(config) if option in ("{config}", "CONFIG") else option for option in case.options]
    case = dataclasses.replace(case, options=options)
    check = {"exact": exact, "abstain": abstain, "reject": reject}[case.expect]
    check(tally, stats, case, file, truth, config)
    return truth["profile"]


def main():
    parts, stats, profiles = Parts("layers of generated traces"), Stats(), set()
    if not program.generator().is_file():
        parts.skip("all", f"no trace generator at {program.generator()}")
        parts.close()
    chosen = [case for case in cases() if not sys.argv[1:] or case.name in sys.argv[1:]]
    with tempfile.TemporaryDirectory(prefix="layerscope-layers-") as folder:
        for case in chosen:
            parts.run(case.name, lambda tally, case=case: profiles.add(
                run_case(tally, stats, case, pathlib.Path(folder))))
    if not sys.argv[1:]:
        parts.run("profiles covered", lambda tally: tally.at_most(
            f"profiles {sorted(profiles)}", MIN_PROFILES, len(profiles)))
    stats.print("Runs on generated traces")
    parts.close()


if __name__ == "__main__":
    main()
