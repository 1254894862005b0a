#!/usr/bin/env python3
"""Passes and layers of seven real traces against their structure established by hand
(../shared/golden): (a) told nothing, (b) with the model's config, (c) with each anchor that the golden
names, (d) on copies in which the names of all norms, mixers, GEMMs or FFN kernels are neutral ones,
(e) with a wrong config.

(a) to (c) must be exact; (d) and (e) may abstain or say that they are unsure, but must not be
confidently wrong. What the golden's conventions are: README.md beside it.
"""

import json
import pathlib
import tempfile

import kernel_events
from e2e import Parts, program, shared
from goldens.invariants import Tally
from layers_stats import Stats, outcome

CONFIGS = {"sglang_qwen3-8b": "Qwen--Qwen3-8B_config.json",
           "vllm_gptoss_b200": "openai--gpt-oss-120b_config.json"}
# README.md beside the golden: these open a block, two a layer and one for the final norm.
BOUNDARIES = ("rms_norm_kernel", "Rmsnorm2dFwd", "add_rmsnorm_quant_kernelIDF16bDF16bLi256E")
WRONG_CONFIG = "meta-llama--Meta-Llama-3.1-70B_config.json"  # 80 layers; none of the files has as many


class Golden:
    """A golden file and, from the trace itself, the durations of its kernels by ordinal."""

    def __init__(self, file):
        self.data = json.loads(file.read_text(encoding="utf-8"))
        self.trace = shared("traces/kineto") / self.data["file"]
        text = kernel_events.read_text(self.trace)
        self.template = kernel_events.Template(text)
        self.durations = kernel_events.kernel_durations(kernel_events.events_of(text))
        self.n_layers = self.data["n_layers_true"]
        self.capture = "n_captured_launches" in self.data

    def anchors(self):
        named = self.data["best_anchor"]
        return {named["kernel"]: named["per_layer"], **named.get("alternatives", {})}

    def config(self):
        return next((c for key, c in CONFIGS.items() if key in self.data["file"]), None)


class Answer:
    """What one run of `passes` and of `layers` for each pass said."""

    def __init__(self, file, options):
        self.failed = self.abstained = False
        self.layers = []
        done = program.run(["passes", file, *options, "-n", "0", "--format", "json"])
        if done.exit != 0:
            self.failed = self.abstained = True
            self.message = done.stderr.strip() or done.stdout.strip()
            self.refused = done.exit == 1
            return
        self.passes = program.parse_json(done.stdout)["data"]
        self.confidence = self.passes["anchor"]["confidence"] if self.passes.get("anchor") else None
        self.abstained = bool(self.passes.get("abstained"))
        if self.abstained:
            return
        for row in self.passes["passes"]:
            data = program.run_json("layers", [file], *options, "--pass", str(row["index"]), "-n",
                                    "0")["data"]
            if data.get("abstained"):
                self.abstained = True
                return
            self.layers.append(data)


def compare(tally, golden, answer, with_names):
    """Every figure of the golden against the answer's."""
    wanted, ours = golden.data["passes"], answer.passes
    tally.equal("passes", len(ours["passes"]), len(wanted))
    tally.equal("layers_per_pass", ours["layers_per_pass"], golden.n_layers)
    for want, row, layers in zip(wanted, ours["passes"], answer.layers):
        where = f"pass {want['index']}"
        compare_pass(tally, where, golden, want, row)
        (compare_captured if golden.capture else compare_layers)(tally, where, golden, want, layers)
        if not golden.capture:
            compare_ends(tally, where, want, layers, with_names)
    if not golden.capture:
        inside = sum(want["n_kernels"] for want in wanted)
        tally.equal("outside kernels", ours["outside"]["kernels"], len(golden.durations) - inside)
        if "ordinals_launched_outside_step_annotation" in golden.data:
            tally.equal("outside as listed", ours["outside"]["kernels"],
                        len(golden.data["ordinals_launched_outside_step_annotation"]))


def compare_pass(tally, where, golden, want, row):
    tally.equal(f"{where} index", row["index"], want["index"])
    # A ProfilerStep says no phase; that the golden's author knows it is no fact of the trace.
    if "ProfilerStep" not in want.get("name", ""):
        tally.equal(f"{where} kind", row["kind"], want["kind"])
    tally.equal(f"{where} complete", row["complete"], not want.get("partial", False))
    if golden.capture:
        tally.equal(f"{where} kernels", (row["n_kernels"], row["sum_ns"]), (0, 0))
        tally.equal(f"{where} captured launches", row["n_captured_launches"], want["n_launches"])
        return
    tally.equal(f"{where} kernels", row["n_kernels"], want["n_kernels"])
    tally.equal(f"{where} sum_ns", row["sum_ns"], want["sum_ns"])


def compare_layers(tally, where, golden, want, layers):
    """Whole layers, then the cut one of a partial pass, which the golden's head repeats."""
    cut = want.get("partial_layer")
    expected = {layer["index"]: layer for layer in want["layers"]}
    rows = layers["layers"]
    tally.equal(f"{where} layer indices", [row["index"] for row in rows],
                sorted([*expected, *([cut["index"]] if cut else [])]))
    for row in rows:
        name = f"{where} layer {row['index']}"
        if cut and row["index"] == cut["index"]:
            first, last = cut["ordinals"]
            tally.holds(f"{name} is CUT", "CUT" in row["flags"])
            tally.equal(f"{name} kernels", (row["first_kernel"], row["n_kernels"]),
                        (first, last - first + 1))
            tally.equal(f"{name} sum_ns", row["sum_ns"], sum(golden.durations[first:last + 1]))
        elif row["index"] in expected:
            compare_layer(tally, name, golden, expected[row["index"]], row)


def compare_layer(tally, name, golden, want, row):
    foreign = want["foreign_ordinals"]
    tally.holds(f"{name} is not CUT", "CUT" not in row["flags"])
    tally.equal(f"{name} first_kernel", row["first_kernel"], want["first_kernel_ordinal"])
    tally.equal(f"{name} n_kernels", row["n_kernels"], want["n_kernels"])
    tally.equal(f"{name} sum_ns", row["sum_ns"], want["sum_ns"])
    tally.equal(f"{name} start_ns", row["start_ns"], want["start_ns"])
    if row["n_copies"] == 0:
        tally.equal(f"{name} end_ns", row["end_ns"], want["end_ns"])
    tally.equal(f"{name} foreign", (row["n_foreign"], row["foreign_ns"]),
                (len(foreign), sum(golden.durations[ordinal] for ordinal in foreign)))


def compare_captured(tally, where, golden, want, layers):
    """A capture's layers count launches, not kernels; its head and tail follow from them."""
    rows = layers["layers"]
    tally.equal(f"{where} layer indices", [row["index"] for row in rows],
                [layer["index"] for layer in want["layers"]])
    for row, layer in zip(rows, want["layers"]):
        name = f"{where} layer {row['index']}"
        tally.equal(f"{name} launches", (row["first_captured_launch"], row["n_captured_launches"]),
                    (layer["first_captured_launch"], layer["n_captured_launches"]))
        tally.equal(f"{name} start_ns", row["start_ns"], layer["first_launch_ts_rel_ns"])
        tally.equal(f"{name} kernels", (row["n_kernels"], row["sum_ns"]), (0, 0))
    if rows:
        end = rows[-1]["first_captured_launch"] + rows[-1]["n_captured_launches"]
        tally.equal(f"{where} head launches", rows[0]["first_captured_launch"],
                    len(want["head_launches"]))
        tally.equal(f"{where} tail launches", want["n_launches"] - end, len(want["tail_launches"]))


def compare_ends(tally, where, want, layers, with_names):
    """Head and tail. A partial pass begins inside a layer: its head is empty."""
    head = [] if want.get("partial_layer") else want["head_kernels"]
    for part, kernels in (("head", head), ("tail", want["tail_kernels"])):
        ours = layers[part]
        tally.equal(f"{where} {part}", (ours["n_kernels"], ours["sum_ns"]),
                    (len(kernels), sum(kernel["ns"] for kernel in kernels)))
        if with_names:
            compare_names(tally, f"{where} {part}", ours["kernels"], kernels)


def compare_names(tally, where, rows, wanted):
    """The program lists each name once, with how often, and copies too; the golden lists kernels alone
    and shortens names in the middle."""
    rows = [row for row in rows if not row["name"].startswith(("Memcpy ", "Memset "))]
    tally.equal(f"{where}: kernels listed", sum(row["n"] for row in rows), len(wanted))
    for short in {kernel["name"] for kernel in wanted}:
        tally.holds(f"{where}: lists {short}", any(shortens(short, row["name"]) for row in rows))
    for row in rows:
        tally.holds(f"{where}: {row['name'][:120]} is in the golden",
                    any(shortens(kernel["name"], row["name"]) for kernel in wanted))


def shortens(short, name):
    start, _, end = short.partition("\u2026")
    return name.startswith(start) and name.endswith(end)


def compare_types(tally, golden, answer, config):
    """Layers with one kernel sequence are of one type; layer 0 differs in its norm alone."""
    signatures = golden.data.get("signatures") or []
    alike = [set(s["layers"]) - {0} for s in signatures]
    for layers in answer.layers:
        types = {row["index"]: row["type"] for row in layers["layers"]}
        if any("CUT" in row["flags"] for row in layers["layers"]):
            continue
        for group in filter(None, alike):
            tally.equal(f"types of layers {min(group)}, …", len({types.get(i) for i in group}), 1)
        firsts = [types.get(min(group)) for group in alike if group]
        tally.equal("types differ between sequences", len(set(firsts)), len(firsts))
        if alike and not config:
            tally.holds(f"type of layer 0 ({types.get(0)}) is one of the others",
                        types.get(0) in firsts)
        if config and "gpt-oss" in config:
            tally.equal("types from the config", [types.get(i) for i in range(golden.n_layers)],
                        ["SWA+MOE", "FULL+MOE"] * (golden.n_layers // 2))
        elif config:
            tally.equal("types from the config", set(types.values()), {"FULL"})


def run(tally, stats, group, golden, what, file=None, options=(), must_be_exact=True, config=None):
    """One run and its outcome in `stats`; wrong figures fail it unless a doubtful answer is allowed."""
    answer = Answer(file or golden.trace, options)
    found = Tally()
    if answer.failed and not answer.refused:
        found.holds(f"fails: {answer.message[:300]}", False)
        tally.failures += found.failures
    elif answer.abstained:
        found.holds(f"abstains: {getattr(answer, 'message', '')[:300]}", False)
    else:
        compare(found, golden, answer, with_names=file is None)
        if must_be_exact:
            compare_types(found, golden, answer, config)
    result = outcome(not found.failures, answer.abstained, None if answer.failed else answer.confidence)
    stats.add(group, f"{golden.data['file']} {what}: {'; '.join(found.failures[:3])}", result,
              None if answer.failed or answer.abstained else answer.confidence)
    tally.compared += found.compared
    if must_be_exact or result == "confidently wrong":
        tally.failures += [f"{what}: {result}: {failure}" for failure in found.failures]


def plain(tally, stats, golden):
    run(tally, stats, "no anchor, no config", golden, "alone")
    run(tally, stats, "number of layers given", golden, "--num-layers",
        options=["--num-layers", str(golden.n_layers)])


def with_config(tally, stats, golden, folder):
    run(tally, stats, "config given", golden, golden.config(),
        options=["--config", str(folder / golden.config())], config=golden.config())


def with_anchor(tally, stats, golden, anchor, per_layer):
    given = ["--anchor-kernel", anchor]
    run(tally, stats, "anchor given", golden, anchor, options=given)
    if anchor in BOUNDARIES:
        for more in (["--anchor-boundary"], ["--blocks-per-layer", str(per_layer)],
                     ["--anchor-boundary", "--blocks-per-layer", str(per_layer)]):
            run(tally, stats, "boundary anchor given", golden, f"{anchor} {' '.join(more)}",
                options=[*given, *more])


def neutral(tally, stats, golden, folder):
    """Copies without the names of one class, or of all four: one neutral name, or one for each."""
    kernels = golden.template.names
    hidden = {title: [name for name in kernels if pattern.search(name)]
              for title, pattern in kernel_events.CLASSES.items()}
    hidden["all four"] = sorted(set().union(*hidden.values()))
    for title, names in hidden.items():
        tally.holds(f"{golden.data['file']} has {title} names to hide", bool(names))
        for style, renamed in (("one name", {name: "neutral" for name in names}),
                               ("a name each", {name: f"k{i}_main" for i, name in enumerate(names)})):
            copy = folder / "neutral.json"
            copy.write_text(golden.template.renamed(renamed), encoding="utf-8")
            run(tally, stats, f"neutral {title} names", golden, f"without {title} names, {style}",
                file=copy, must_be_exact=False)


def wrong_config(tally, stats, golden, folder):
    run(tally, stats, "wrong config given", golden, WRONG_CONFIG,
        options=["--config", str(folder / WRONG_CONFIG)], must_be_exact=False)
    run(tally, stats, "wrong number of layers given", golden, "--num-layers",
        options=["--num-layers", str(golden.n_layers // 2)], must_be_exact=False)


def main():
    parts, stats = Parts("layers of real traces"), Stats()
    goldens, configs = shared("golden/layers"), shared("traces/hf_config")
    if not goldens or not configs:
        parts.skip("all", "no real traces in ../shared")
        parts.close()
    with tempfile.TemporaryDirectory(prefix="layerscope-layers-") as folder:
        for file in sorted(goldens.glob("*.json")):
            golden = Golden(file)
            title = golden.data["file"].removesuffix(".json.gz")
            parts.run(f"{title} alone", plain, stats, golden)
            if golden.config():
                parts.run(f"{title} config", with_config, stats, golden, configs)
            for anchor, per_layer in golden.anchors().items():
                parts.run(f"{title} anchor {anchor}", with_anchor, stats, golden, anchor, per_layer)
            parts.run(f"{title} neutral names", neutral, stats, golden, pathlib.Path(folder))
            parts.run(f"{title} wrong config", wrong_config, stats, golden, configs)
    stats.print("Runs on real traces")
    parts.close()


if __name__ == "__main__":
    main()
