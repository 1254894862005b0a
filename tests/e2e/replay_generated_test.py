#!/usr/bin/env python3
"""Graph replays of generated serving runs against the generator's truth, to the nanosecond: kernels get
their own module and op from captures, eager runs, graph annotations and model trees that fit, and
nothing from those that do not.

usage: replay_generated_test.py [WORD…]   only cases whose name holds a word
"""

import dataclasses
import pathlib
import sys
import tempfile

import serving_runs as runs
from e2e import Parts, program

CAPTURE = "--capture-trace {run}/capture_traces"
ANNOTATED = "--graph-annotations {run}/annotations"
EAGER = "--eager-trace {run}/eager/rank0.pt.trace.json"
TREE = "--model-tree {run}/model_tree.json"


@dataclasses.dataclass
class Case:
    options: str  # of the run
    given: str = CAPTURE
    other: str = ""  # options of another run: {other} in `given`
    reading: str = "exact"
    evidence: str = "capture_alignment"
    by_path: bool = False
    health: tuple = ()  # codes that must be among the warnings
    loose_passes: tuple = ()
    gzipped: bool = False
    least_share: float = 0  # of the graphs' time, where it may stay without a module


OTHER_CAPTURE = "--capture-trace {other}/capture_traces"

CASES = {
    # Captures that fit.
    "full": Case(""),
    "full_36_layers": Case("--layers 36 --passes 5"),
    "one_pass": Case("--passes 1"),
    "gzipped": Case("--seed 3", gzipped=True),
    "one_file": Case("", "--capture-trace {run}/capture_traces/bs_32_rank0.json"),
    "full_cuda": Case("--vendor cuda --steps vllm"),
    "moe": Case("--family moe"),
    "moe_cuda": Case("--family moe --vendor cuda --layers 6"),
    "piecewise": Case("--launch piecewise --layers 24 --steps vllm"),
    "piecewise_cuda": Case("--launch piecewise --layers 24 --steps vllm --vendor cuda"),
    "piecewise_compiled": Case("--launch piecewise --layers 8 --steps vllm --compiled"),
    "full_compiled": Case("--compiled --steps vllm"),
    "full_compiled_cuda": Case("--compiled --steps vllm --vendor cuda"),
    "own_branches": Case("--family moe --branches own"),
    "own_branches_cuda": Case("--family moe --branches own --vendor cuda"),
    "shared_branches": Case("--branches shared"),
    "shared_branches_cuda": Case("--branches shared --vendor cuda"),
    "shared_branches_moe": Case("--branches shared --family moe"),
    "shared_branches_moe_cuda": Case("--branches shared --family moe --vendor cuda"),
    "two_sizes_same_kernels": Case("--batches 32,8 --serve 32,8 --passes 4"),
    "two_sizes_other_kernels": Case("--batches 32,8 --serve 32,8 --passes 4 --tiles-by-batch"),
    "two_sizes_one_file": Case("--batches 32,8 --serve 32,8 --passes 4 --tiles-by-batch "
                               "--one-capture-file"),
    "padded": Case("--batches 32,16,8 --serve 30,13,2,16 --passes 8 --tiles-by-batch"),
    "padded_cuda": Case("--batches 32,16 --serve 30,13 --passes 4 --vendor cuda"),
    "no_steps": Case("--steps none --batches 32,8 --serve 32,8 --tiles-by-batch"),
    "no_steps_piecewise": Case("--steps none --launch piecewise --layers 6"),
    "capture_thread": Case("--capture-thread"),
    "capture_thread_piecewise": Case("--capture-thread --launch piecewise --one-capture-file"),
    "copies": Case("--copies memcpy"),
    "copy_kernels": Case("--copies kernel"),
    "copies_lost": Case("--copies lost"),
    "copies_cuda": Case("--copies memcpy --vendor cuda"),
    "copy_kernels_cuda": Case("--copies kernel --vendor cuda"),
    "in_wrapper_scope": Case("--scope wrapper"),
    "in_model_scope": Case("--scope model"),
    "pieces_in_model_scope": Case("--scope model --launch piecewise --layers 6"),
    "draft_own_steps": Case("--draft two-steps"),
    "draft_one_step": Case("--draft one-step --batches 32,8 --serve 32,8 --passes 4"),
    "draft_cuda": Case("--draft two-steps --vendor cuda"),
    # Not all of it.
    "few_lost": Case("--layers 8 --lose 2 --passes 4"),
    "few_lost_cuda": Case("--layers 8 --lose 2 --passes 4 --vendor cuda"),
    "few_lost_apart_cuda": Case("--layers 8 --lose 3 --passes 4 --lose-apart --vendor cuda"),
    "lost_in_pieces_cuda": Case("--layers 8 --lose 2 --passes 4 --launch piecewise --steps vllm "
                                "--vendor cuda", reading="never_wrong", least_share=0.9),
    "many_lost_cuda": Case("--layers 8 --lose 13 --passes 4 --vendor cuda", reading="never_wrong"),
    # The same ones every time: no replay shows the whole graph.
    "one_lossy_pass_cuda": Case("--layers 8 --lose 2 --passes 1 --vendor cuda",
                                reading="withheld", health=("capture_withheld",)),
    "many_lost": Case("--layers 8 --lose 13 --passes 4", reading="never_wrong", least_share=0.9),
    "lost_in_pieces": Case("--layers 8 --lose 2 --launch piecewise", reading="never_wrong",
                           least_share=0.9),
    "lost_in_branches": Case("--family moe --branches shared --lose 3", reading="never_wrong"),
    "few_extra": Case("--layers 12 --extra 2"),
    "many_extra": Case("--layers 4 --extra 9", reading="withheld"),
    "burst": Case("--burst --layers 6", reading="never_wrong", health=("graph_burst",)),
    "cut_forward": Case("--launch piecewise --skip-pieces 3 --layers 6", loose_passes=(0,)),
    "cut_forward_no_steps": Case("--launch piecewise --skip-pieces 3 --layers 6 --steps none",
                                 reading="never_wrong"),
    # Captures that do not fit, or were made for something else.
    "other_batch_same_kernels": Case("", OTHER_CAPTURE, "--batches 64 --serve 64",
                                     health=("capture_other_batch",)),
    "other_batch_other_kernels": Case("--tiles-by-batch", OTHER_CAPTURE,
                                      "--tiles-by-batch --batches 64 --serve 64",
                                      reading="withheld", health=("capture_withheld",)),
    "other_batch_beside_right": Case("--tiles-by-batch --batches 32,64",
                                     "--capture-trace {run}/capture_traces"),
    "other_layers": Case("", OTHER_CAPTURE, "--layers 6", reading="withheld",
                         health=("capture_withheld",)),
    "other_layers_cuda": Case("--vendor cuda", OTHER_CAPTURE, "--vendor cuda --layers 5",
                              reading="withheld", health=("capture_withheld",)),
    "other_model": Case("", OTHER_CAPTURE, "--family moe", reading="withheld",
                        health=("capture_withheld",)),
    "other_model_equal_count_cuda": Case("--vendor cuda --layers 17", OTHER_CAPTURE,
                                         "--vendor cuda --layers 13 --family moe",
                                         reading="withheld", health=("capture_withheld",)),
    "pieces_over_full": Case("", OTHER_CAPTURE, "--launch piecewise", reading="withheld",
                             health=("capture_withheld",)),
    "full_over_pieces": Case("--launch piecewise", OTHER_CAPTURE, "", reading="withheld",
                             health=("capture_withheld",)),
    # What is left of a cut forward has as many pieces as this capture's end; whole ones have not.
    "cut_forward_other_layers": Case("--vendor cuda --family moe --layers 9 --launch piecewise "
                                     "--steps none --skip-pieces 2", OTHER_CAPTURE,
                                     "--vendor cuda --family moe --layers 8 --launch piecewise "
                                     "--steps none", reading="withheld"),
    # Graph annotations.
    "annotated": Case("--graph-nodes", ANNOTATED, evidence="graph_node", by_path=True),
    "annotated_cuda_pieces": Case("--graph-nodes --vendor cuda --launch piecewise --layers 6",
                                  ANNOTATED, evidence="graph_node", by_path=True),
    "annotated_branches": Case("--graph-nodes --branches shared", ANNOTATED, evidence="graph_node",
                               by_path=True),
    "annotated_sizes": Case("--graph-nodes --batches 32,8 --serve 32,8 --passes 4 --family moe",
                            ANNOTATED, evidence="graph_node", by_path=True),
    "annotations_of_another_run": Case("--graph-nodes", "--graph-annotations {other}/annotations",
                                       "--graph-nodes --node-base 777", reading="withheld"),
    "annotations_half_of_another_run": Case("--graph-nodes",
                                            "--graph-annotations {other}/annotations",
                                            "--graph-nodes --node-base 20", reading="withheld"),
    "annotations_of_another_model": Case("--graph-nodes",
                                         "--graph-annotations {other}/annotations " + TREE,
                                         "--graph-nodes --family moe", reading="withheld"),
    # An eager run of the same model.
    "eager": Case("", EAGER, evidence="eager_alignment"),
    "eager_cuda": Case("--vendor cuda --steps vllm", EAGER, evidence="eager_alignment"),
    "eager_moe_branches": Case("--family moe --branches own", EAGER, evidence="eager_alignment"),
    "eager_shared_branches": Case("--branches shared", EAGER, evidence="eager_alignment"),
    "eager_other_batch_other_kernels": Case("--tiles-by-batch --eager-batch 8", EAGER,
                                            reading="withheld"),
    "eager_other_model": Case("", "--eager-trace {other}/eager/rank0.pt.trace.json",
                              "--family moe", reading="withheld"),
    "eager_other_layers": Case("", "--eager-trace {other}/eager/rank0.pt.trace.json",
                               "--layers 5", reading="withheld"),
    # The eager run never calls the draft model, whose last piece looks like one of the target's.
    "eager_without_draft": Case("--launch piecewise --draft two-steps --layers 1", EAGER,
                                reading="never_wrong"),
    "eager_without_draft_in_scope": Case("--launch piecewise --draft two-steps --layers 1 "
                                         "--scope model", EAGER, reading="never_wrong"),
    "eager_is_a_capture": Case("", "--eager-trace {run}/capture_traces/bs_32_rank0.json",
                               reading="withheld", health=("eager_withheld",)),
    # The weaker source does not override the stronger; it fills what that leaves.
    "capture_and_eager": Case("", f"{CAPTURE} {EAGER}"),
    "wrong_capture_right_eager": Case("", OTHER_CAPTURE + " " + EAGER, "--layers 6",
                                      evidence="eager_alignment"),
    # Paths.
    "capture_and_tree": Case("--layers 6", f"{CAPTURE} {TREE}", by_path=True),
    "tree_of_another_model": Case("--layers 6", CAPTURE + " --model-tree {other}/model_tree.json",
                                  "--layers 3", health=("model_tree_mismatch",)),
}


def compare_run(tally, case, trace, truth, given):
    envelope = program.run_json("modules", [trace], "-n", "0", *given)
    data = envelope["data"]
    key = runs.chain_by_path if case.by_path else runs.chain_by_instance
    wanted = runs.expected(truth, case.reading, key, case.loose_passes)
    if case.by_path:
        runs.compare_modules(tally, with_recorded_paths(data), rooted(wanted), by_path=True)
    else:
        runs.compare_modules(tally, data, wanted)
        if case.reading == "exact" and wanted.nothing_open:
            runs.compare_calls(tally, data, truth)
    codes = runs.health_codes(envelope)
    for code in case.health:
        tally.holds(f"health has no {code}, only {sorted(codes)}", code in codes)
    loose = "never_wrong" if case.loose_passes else case.reading
    runs.compare_alignment(tally, data.get("alignment") or [], truth, loose, case.evidence)
    steps = program.run_json("steps", [trace], "-n", "0", *given)["data"]
    tally.equal("alignment in steps", steps.get("alignment"), data.get("alignment"))
    ops = program.run_json("kernels", [trace], "--by", "op", "-n", "0", *given)["data"]
    if case.evidence != "graph_node":
        runs.compare_ops(tally, ops, wanted)
    tally.equal("sum by op", ops["total"]["sum_ns"],
                sum(a["duration_ns"] for a in truth["activities"]))
    by_module = program.run_json("kernels", [trace], "--by", "module", "-n", "0", *given)["data"]
    compare_evidence(tally, case, data, by_module, truth)


def compare_evidence(tally, case, data, by_module, truth):
    """Evidence nanoseconds over all rows are those of the truth."""
    found = {}
    for row in by_module["rows"]:
        for kind, ns in row["evidence"].items():
            found[kind] = found.get(kind, 0) + ns
    launched = sum(a["duration_ns"] for a in truth["activities"]
                   if a["graph"] < 0 and a["modules"])
    if case.reading == "withheld":
        for kind in ("graph_node", "capture_alignment", "eager_alignment", "template"):
            tally.equal(f"evidence {kind}", found.get(kind, 0), 0)
    elif case.reading == "exact" and not case.loose_passes:
        rows = [a for a in truth["activities"] if a["graph"] >= 0 and not a["unplaced"]]
        least = sum(a["duration_ns"] for a in rows if not a["uncertain"] and not runs.is_copy(a))
        most = sum(a["duration_ns"] for a in rows)
        ns = found.get(case.evidence, 0)
        tally.holds(f"evidence {case.evidence}: {ns} ns, truth {least} to {most}",
                    least <= ns <= most)
        stay = sum(a["duration_ns"] for a in truth["activities"] if a["graph"] >= 0 and a["around"])
        ns = found.get("launch_correlation", 0)
        tally.holds(f"evidence launch_correlation: {ns} ns, truth {launched}, {stay} ns in scopes",
                    launched <= ns <= launched + stay)
    elif case.reading == "never_wrong":
        graph_ns = sum(a["duration_ns"] for a in truth["activities"] if a["graph"] >= 0)
        share = found.get(case.evidence, 0) / graph_ns
        print(f"    {case.evidence}: {100 * share:.1f} % of the graphs' time")
        tally.holds(f"only {share:.3f} of the graphs' time is placed", share >= case.least_share)
    tally.holds("listed modules hold time", bool(data["nodes"]) or case.reading == "withheld")


def rooted(wanted):
    """The root's path is empty in a tree; its row and what serves the model are compared apart."""
    named = {name for name in wanted.certain if name not in ("", "?")}
    return dataclasses.replace(wanted, certain={name: wanted.certain[name] for name in named},
                               possible={k: v for k, v in wanted.possible.items()
                                         if k[0] not in ("", "?")})


def with_recorded_paths(data):
    """Without what has no path of the model: `Sampler_0` stays an instance."""
    nodes = [node for node in data["nodes"] if not node["path"].startswith("Sampler")]
    nothing = {"gpu_ns": 0, "activities": 0}
    return {**data, "nodes": nodes, "unattributed": nothing}


def check_case(tally, case):
    with tempfile.TemporaryDirectory() as folder:
        run, other = pathlib.Path(folder, "run_a"), pathlib.Path(folder, "run_b")
        runs.generate(run, case.options)
        if "{other}" in case.given:
            runs.generate(other, case.other)
        if case.gzipped:
            runs.compress(run / "capture_traces")
        given = case.given.format(run=run, other=other).split() + ["--no-side-files"]
        compare_run(tally, case, runs.trace_of(run), runs.truth_of(run), given)


def check_ranks(tally):
    """Each rank takes the capture of its own number, each file alone and both together."""
    case = Case("--ranks 2 --batches 32,8 --serve 32,8 --tiles-by-batch --passes 4")
    with tempfile.TemporaryDirectory() as folder:
        run = runs.generate(pathlib.Path(folder), case.options)
        given = ["--capture-trace", str(run / "capture_traces"), "--no-side-files"]
        for rank in (0, 1):
            trace = runs.trace_of(run, rank)
            compare_run(tally, case, trace, runs.truth_of(run, rank=rank), given)
            data = program.run_json("modules", [trace], *given)["data"]
            for row in data.get("alignment") or []:
                tally.holds(f"rank {rank} is read from {row['capture_file']}",
                            f"rank{rank}" in row["capture_file"])


def check_found_beside(tally):
    """Captures that lie beside the trace by their names are found, and not asked for twice."""
    with tempfile.TemporaryDirectory() as folder:
        run = runs.generate(pathlib.Path(folder), "--batches 32,8 --serve 32,8")
        runs.compress(runs.put_beside(run, "capture_traces"))
        compare_run(tally, Case(""), runs.trace_of(run), runs.truth_of(run), [])
        data = program.run_json("modules", [runs.trace_of(run)], "-n", "0", "--no-side-files")["data"]
        runs.compare_modules(tally, data, runs.expected(runs.truth_of(run), "withheld"))


def check_nothing_given(tally):
    """Without any source nothing is guessed and the way out is named."""
    with tempfile.TemporaryDirectory() as folder:
        run = runs.generate(pathlib.Path(folder), "--layers 6")
        trace = runs.trace_of(run)
        envelope = program.run_json("modules", [trace], "-n", "0", "--no-side-files")
        runs.compare_modules(tally, envelope["data"], runs.expected(runs.truth_of(run), "withheld"))
        text = program.run(["modules", trace, "--no-side-files"])
        said = text.stdout + text.stderr
        tally.holds("the way out is not named", "--capture-trace" in said)


def check_eager_paths(tally):
    """On a run without graphs the model tree turns instances into paths."""
    with tempfile.TemporaryDirectory() as folder:
        for options in ("--layers 5", "--layers 3 --family moe --branches own"):
            run = runs.generate(pathlib.Path(folder, options.replace(" ", "_")), options)
            trace = run / "eager/rank0.pt.trace.json"
            data = program.run_json("modules", [trace], "-n", "0", "--model-tree",
                                    run / "model_tree.json", "--no-side-files")["data"]
            wanted = runs.expected(runs.truth_of(run, "eager"), "exact", runs.chain_by_path)
            runs.compare_modules(tally, with_recorded_paths(data), rooted(wanted), by_path=True)


def check_template(tally):
    """With the model's config alone: by template, marked, and no path holds more than its own."""
    with tempfile.TemporaryDirectory() as folder:
        for options in ("--layers 8 --passes 4", "--layers 8 --passes 4 --family moe"):
            run = runs.generate(pathlib.Path(folder, options.replace(" ", "_")), options)
            truth = runs.truth_of(run)
            data = program.run_json("modules", [runs.trace_of(run)], "-n", "0", "--no-side-files",
                                    "--config", run / "config.json")["data"]
            of_path = {}
            for activity in truth["activities"]:
                if activity["graph"] >= 0:
                    of_path[activity["path"]] = of_path.get(activity["path"], 0) + \
                        activity["duration_ns"]
            placed = 0
            for node in data["nodes"]:
                ns = node["evidence"].get("template", 0)
                placed += ns
                if ns and node["path"] in of_path:
                    tally.holds(f"{options}: template gives {node['path']} {ns} ns, truth "
                                f"{of_path[node['path']]}", ns <= of_path[node["path"]])
                for kind in ("graph_node", "capture_alignment", "eager_alignment"):
                    tally.equal(f"evidence {kind}", node["evidence"].get(kind, 0), 0)
            tally.holds(f"{options}: template placed {placed} of {sum(of_path.values())} ns",
                        placed > sum(of_path.values()) / 2)


def check_requests(tally):
    """`requests` on three requests: arrays aligned by path, sums exact, what is absent is null."""
    with tempfile.TemporaryDirectory() as folder:
        for options in ("--layers 3", "--layers 2 --family moe"):
            run = runs.generate(pathlib.Path(folder, options.replace(" ", "_")), options, "requests")
            out = run / "profiles.json"
            done = program.run(["requests", run, "-o", out])
            tally.equal(f"{options}: exit", done.exit, 0)
            document = program.parse_json(out.read_text(encoding="utf-8"))
            metadata = program.parse_json((run / "request_metadata.json").read_text(encoding="utf-8"))
            compare_requests(tally, run, document, metadata)


def compare_requests(tally, run, document, metadata):
    files = [request["file"] for request in metadata["requests"]]
    listed = document["requests"]
    tally.equal("files", [pathlib.Path(r["file"]).name for r in listed], files)
    for request, wanted in zip(listed, metadata["requests"]):
        for key in ("label", "percentile", "prompt_tokens", "output_tokens", "latency_ns"):
            tally.equal(f"{wanted['file']}: {key}", request[key], wanted[key])
    truths = [program.parse_json((run / "truth" / file).read_text(encoding="utf-8"))
              for file in files]
    for request, truth in zip(listed, truths):
        tally.equal(f"{request['file']}: gpu_ns", request["gpu_ns"],
                    sum(a["duration_ns"] for a in truth["activities"]))
    chains = [inclusive(truth) for truth in truths]
    seen = set()
    for node in document["nodes"]:
        name = node["path"]
        if name == "[unattributed]":
            continue
        seen.add(name)
        figures = [chain.get(name) for chain in chains]
        tally.equal(f"{name}: gpu_ns", node["gpu_ns"], [f and f[0] for f in figures])
        tally.equal(f"{name}: kernels", node["kernels"], [f and f[1] for f in figures])
    tally.equal("modules missing or too many", seen ^ set().union(*chains), set())


def inclusive(truth):
    """{chain: (ns, activities)} of each module and all below it."""
    sums = {}
    for activity in truth["activities"]:
        for depth in range(1, len(activity["modules"]) + 1):
            name = ".".join(activity["modules"][:depth])
            ns, n = sums.get(name, (0, 0))
            sums[name] = (ns + activity["duration_ns"], n + 1)
    return sums


def main():
    parts = Parts("generated replays")
    words = sys.argv[1:]
    checks = {"ranks": check_ranks, "found_beside": check_found_beside,
              "nothing_given": check_nothing_given, "eager_paths": check_eager_paths,
              "template": check_template, "requests": check_requests}
    for name, case in CASES.items():
        if not words or any(word in name for word in words):
            parts.run(name, check_case, case)
    for name, check in checks.items():
        if not words or any(word in name for word in words):
            parts.run(name, check)
    parts.close()


if __name__ == "__main__":
    main()
