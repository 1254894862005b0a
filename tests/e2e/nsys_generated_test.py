#!/usr/bin/env python3
"""Generated Nsight Systems databases against the generator's truth, to the nanosecond: modules, steps,
steps by module, reductions over ranks, overhead, kernels and counts, of every version of the export.
Then the same runs as Kineto traces, and databases that lack tables.

usage: nsys_generated_test.py [WORD…]   only parts whose name holds a word
"""

import pathlib
import random
import sqlite3
import sys
import tempfile

import nsys_runs as runs
from e2e import Parts, program
from nsys_reduced import compare_reduced, compare_reduced_overhead

CASES = {
    "eager": "--launch eager",
    "graphs": "",
    "whole_graphs": "--launch whole --steps 4",
    "whole_graphs_mixed_ranks": "--launch whole --ranks 2 --all-reduce",
    "two_processes_equal_ids": "--ranks 2 --clones 2 --all-reduce",
    "two_processes_other_ids": "--ranks 2 --no-equal-ids --graph-copies",
    "two_processes_one_device": "--ranks 2 --one-device --launch eager",
    "two_processes_one_gpu": "--ranks 2 --one-gpu --launch eager",
    "two_processes_one_gpu_one_device": "--ranks 2 --one-gpu --one-device",
    "eight_ranks": "--ranks 8 --layers 1 --steps 2 --all-reduce --comm-stream",
    "thousand_steps": "--layers 1 --steps 999",
    "captured_nodes_launched": "--clones 0",
    "clone_chain": "--clones 5 --instantiations 2 --shuffle",
    "instantiated_again": "--instantiations 4 --destructions",
    "other_row_names": "--no-creation-names --clones 2",
    "capture_thread": "--capture-thread --destructions --ranks 2",
    "launch_inside_a_scope": "--launch-scope",
    "lost_nodes": "--lost-nodes 4 --clones 2 --launch-scope",
    "graph_copies": "--graph-copies --branches 2",
    "branches": "--branches 4 --pdl --all-reduce --comm-stream --ranks 2",
    "helper_thread": "--second-thread --launch eager --layers 4",
    "run_ahead": "--run-ahead --launch eager --steps 9",
    "orphans": "--orphans 6",
    "lost_calls": "--drop-calls 800 --launch eager --layers 4 --ranks 2",
    "open_ranges": "--open-ranges --launch eager --ranks 2",
    "open_ranges_graph": "--open-ranges --launch-scope",
    "domains": "--domains --all-reduce --launch eager",
    "start_end": "--start-end --registered",
    "double_quotes": "--quotes double --outputs",
    "colons": "--quotes colon --no-further-keys",
    "plain_ranges": "--quotes plain --launch eager",
    "ops": "--ops --outputs --registered",
    "sampler_module": "--no-sampler-outside",
    "sweep": "--batches 1,8,32 --pasts 128,1024 --steps 2",
    "bench_only": "--markers bench --batches 1,4",
    "vllm_only": "--markers vllm --ranks 2",
    "sglang": "--markers sglang --no-prefill",
    "tensorrt_llm": "--markers trtllm --quotes plain --launch eager",
    "tensorrt_llm_graphs": "--markers trtllm --ranks 2 --batches 1,8",
    "schema_2022": "--schema 2022.2 --clones 2 --graph-copies",
    "schema_2022_whole": "--schema 2022.2 --launch whole",
    "schema_2023": "--schema 2023.3 --ranks 2 --registered",
    "schema_2024": "--schema 2024.5 --no-gpu-info",
    "schema_2025": "--schema 2025.5 --ranks 2 --domains --all-reduce",
    "known_gaps": "--launch eager --launch-gap 50000 --host-wait 80000 --queued-gap 12000 "
                  "--all-reduce --comm-work 33000 --ranks 2",
    "no_gaps": "--launch eager --launch-gap 0 --host-wait 0 --queued-gap 0",
    "shuffled": "--shuffle --ranks 2 --ops --second-thread --domains",
}
N_RANDOM = 24


def random_options(seed):
    """Options by chance: each switch on its own, sizes small."""
    chance = random.Random(seed)
    options = [f"--seed {seed}"]
    for switch in ("capture-thread", "launch-scope", "graph-copies", "all-reduce", "comm-stream", "pdl",
                   "second-thread", "run-ahead", "outputs", "ops", "registered", "start-end", "domains",
                   "open-ranges", "destructions", "shuffle", "no-prefill", "no-gpu-info",
                   "no-equal-ids", "no-sampler-outside", "no-further-keys"):
        if chance.random() < 0.35:
            options.append(f"--{switch}")
    for name, values in (("launch", ("eager", "nodes", "nodes", "whole")), ("ranks", (1, 2, 3)),
                         ("quotes", ("single", "double", "colon")), ("layers", (1, 2, 3)),
                         ("schema", ("2022.2", "2023.3", "2024.5", "2025.5", "2026.2")),
                         ("markers", ("bench", "both", "both")), ("clones", (0, 1, 2, 4)),
                         ("instantiations", (1, 2, 3)), ("branches", (0, 0, 1, 3)),
                         ("orphans", (0, 0, 4)), ("lost-nodes", (0, 0, 3)), ("steps", (1, 2, 5)),
                         ("batches", ("8", "1,4", "2,16")), ("pasts", ("1024", "64,512"))):
        options.append(f"--{name} {chance.choice(values)}")
    return " ".join(options)


def compare(tally, folder, options):
    run = runs.generate(folder, options)
    compare_info(tally, run)
    compare_modules(tally, run)
    compare_steps(tally, run)
    compare_step_modules(tally, run)
    compare_reduced(tally, run)
    compare_reduced_overhead(tally, run)
    compare_overhead(tally, run)
    compare_kernels(tally, run)


def compare_info(tally, run):
    data = program.run_json("info", [run.database])["data"]
    ranks = run.ranks
    for kind in ("kernel", "memcpy", "memset"):
        tally.equal(f"info.n_{kind}", data[f"n_{kind}s" if kind == "kernel" else f"n_{kind}"],
                    sum(rank[kind]["activities"] for rank in ranks))
        tally.equal(f"info.{kind}_sum_ns", data[f"{kind}_sum_ns"],
                    sum(rank[kind]["gpu_ns"] for rank in ranks))
    launches = data["launches"]
    for key, wanted in (("n", "launches"), ("graph", "graph_launches"),
                        ("without_activity", "without_activity")):
        tally.equal(f"info.launches.{key}", launches[key], sum(rank[wanted] for rank in ranks))
    tally.equal("info.n_ops", data["n_ops"], sum(rank["ops"] for rank in ranks))
    tally.equal("info.n_steps", data["n_steps"], sum(len(rank["steps"]) for rank in ranks))
    tally.equal("info.modules.n_scopes", data["modules"]["n_scopes"],
                sum(rank["scopes"] for rank in ranks))


def compare_modules(tally, run):
    data = program.run_json("modules", [run.database], "-n", "0")["data"]
    compare_module_rows(tally, data, run.ranks)
    if len(run.ranks) == 1:
        return
    for rank in run.ranks:
        data = program.run_json("modules", [run.database], "-n", "0", "--pid", str(rank["pid"]))["data"]
        compare_module_rows(tally, data, [rank])


def compare_module_rows(tally, data, ranks):
    """A selection of processes has all of their modules and calls."""
    wanted = runs.module_truth(ranks)
    ours = runs.module_rows(data)
    tally.equal("modules", sorted(ours), sorted(wanted))
    for path, row in ours.items():
        tally.equal(f"module {path}", row, wanted.get(path))
    for key, figure in (("gpu_ns", 0), ("activities", 1), ("kernels", 2)):
        tally.equal(f"unattributed.{key}", data["unattributed"][key],
                    sum(runs.sums_of(sums)[figure] for rank in ranks
                        for sums in rank["unattributed"].values()))
    for reason in ("graph_launch", "no_launch", "outside_scopes"):
        tally.equal(f"unattributed.{reason}", data["unattributed"]["by_reason"].get(reason, 0),
                    sum(rank["unattributed"][reason]["gpu_ns"] for rank in ranks))


def compare_steps(tally, run):
    data = program.run_json("steps", [run.database], "-n", "0")["data"]
    pairs = runs.steps_in_order(run.ranks)
    tally.equal("steps", len(data["steps"]), len(pairs))
    for ours, (rank, step) in zip(data["steps"], pairs):
        wanted = runs.step_truth(step)
        tally.equal(f"step {step['name']}", {key: ours[key] for key in wanted}, wanted)
        if len(run.ranks) > 1:
            tally.equal(f"step {step['name']} rank", ours["rank"], rank["rank"])
    for key, figure in (("gpu_ns", 0), ("activities", 1), ("kernels", 2)):
        tally.equal(f"outside.{key}", data["outside"][key],
                    sum(runs.sums_of(rank["outside"])[figure] for rank in run.ranks))
    if len(run.ranks) > 1:
        last = run.ranks[-1]
        rows = program.run_json("steps", [run.database], "-n", "0", "--pid", str(last["pid"]))
        rows = rows["data"]["steps"]
        tally.equal("steps --pid", [row["sum_ns"] for row in rows], [s["gpu_ns"] for s in last["steps"]])


def compare_step_modules(tally, run):
    rows = program.run_json("steps", [run.database], "--by", "module", "-n", "0")["data"]["rows"]
    wanted = []
    for rank, step in runs.steps_in_order(run.ranks):
        for path, figures in step["modules"].items():
            wanted.append((rank["rank"] if len(run.ranks) > 1 else None, step["number"],
                           step["requests"], step["past"], path, figures["gpu_ns"], figures["kernels"]))
    numbered = all(step["number"] is not None for _, step in runs.steps_in_order(run.ranks))
    ours = [(row["rank"], row["step"] if numbered else None, row["batch"], row["past"], row["key"],
             row["sum_ns"], row["n_kernels"]) for row in rows]
    tally.equal("steps --by module rows", len(ours), len(wanted))
    for mine, theirs in zip(sorted(ours, key=str), sorted(wanted, key=str)):
        tally.equal("steps --by module", mine, theirs)


def compare_overhead(tally, run):
    rows = program.run_json("overhead", [run.database], "-n", "0")["data"]["steps"]
    pairs = runs.steps_in_order(run.ranks)
    tally.equal("overhead steps", len(rows), len(pairs))
    for ours, (rank, step) in zip(rows, pairs):
        wanted = runs.overhead_truth(step)
        tally.equal(f"overhead {step['name']} {rank['rank']}", {key: ours[key] for key in wanted}, wanted)


def compare_kernels(tally, run):
    rows = program.run_json("kernels", [run.database], "-n", "0")["data"]["rows"]
    ours = {}
    for row in rows:  # one a device
        ours.setdefault(row["name"], []).append(row)
    for name, figures in run.truth["kernels"].items():
        if name.startswith("[graph]"):
            continue
        found = ours.get(name, [])
        tally.equal(f"kernel {name[:60]}", found and {
            "n": sum(row["n"] for row in found), "sum_ns": sum(row["sum_ns"] for row in found),
            "min_ns": min(row["min_ns"] for row in found),
            "max_ns": max(row["max_ns"] for row in found)}, figures)


# ---- the same run in both formats

BOTH = {
    "eager": "--launch eager --all-reduce --branches 2",
    "eager_ops": "--launch eager --ops --outputs --domains --all-reduce --comm-stream",
    "eager_gaps": "--launch eager --orphans 3 --drop-calls 500 --layers 4 --run-ahead",
    "eager_threads": "--launch eager --second-thread --pdl --markers vllm",
    "eager_ranks": "--launch eager --ranks 3 --all-reduce",
    "eager_colons": "--launch eager --quotes colon --schema 2022.2 --batches 1,8 --pasts 64,128",
    "graphs": "--graph-copies --clones 2 --branches 2 --all-reduce",
    "graph_ranks": "--ranks 2 --capture-thread --batches 1,8",
    "graphs_in_scope": "--launch-scope --clones 3",
}
# What tells nothing about the run but how it was written.
NOT_COMPARED = {"name", "thread", "rank", "pid", "device", "evidence", "category", "short_name", "id",
                "parent", "class", "instance", "calls", "stream"}


def plain(rows):
    return [{key: value for key, value in row.items() if key not in NOT_COMPARED} for row in rows]


def compare_formats(tally, folder, options):
    run = runs.generate(folder, options, kineto=True)
    graphs = "--launch eager" not in options
    for index, rank in enumerate(run.ranks):
        one_rank = len(run.ranks) == 1
        pid = [] if one_rank else ["--pid", str(rank["pid"])]
        for verb, table, more in (("steps", "steps", []), ("steps", "rows", ["--by", "module"]),
                                  ("overhead", "steps", []), ("kernels", "rows", [])):
            if graphs and table == "rows" and verb == "steps":
                continue
            nsys = program.run_json(verb, [run.database], "-n", "0", *pid, *more)["data"][table]
            kineto = kineto_data(run, verb, index, more)[table]
            nsys_rows, kineto_rows = plain(nsys), plain(kineto)
            tally.equal(f"{verb} {more}: rows", len(nsys_rows), len(kineto_rows))
            for ours, theirs in zip(nsys_rows, kineto_rows):
                tally.equal(f"{verb} {more}", ours, theirs)
        nsys = program.run_json("modules", [run.database], "-n", "0", *pid)["data"]
        annotations = ["--graph-annotations", str(folder / "annotations")] if graphs else []
        kineto = kineto_data(run, "modules", index, annotations)
        tally.equal("paths, each once in both", paths_of(kineto), paths_of(nsys))
        nsys, kineto = runs.module_rows(nsys), runs.module_rows(kineto)
        for path, row in kineto.items():
            # What a path says is the module's place, whatever is open at the launch.
            keys = ("excl", "incl", "kernel_incl_ns")
            tally.equal(f"module {path}", {key: nsys.get(path, {}).get(key) for key in keys},
                        {key: row[key] for key in keys})


def paths_of(data):
    return sorted(node["path"] for node in data["nodes"] if node["gpu_incl_ns"])


def kineto_data(run, verb, rank, more):
    envelope = program.run_json(verb, run.kineto, "-n", "0", *more)
    return program.data_parts(envelope)[rank][1]


# ---- databases that lack tables

def without(run, folder, *tables):
    """A copy of the database without these tables."""
    folder.mkdir(parents=True, exist_ok=True)
    copy = folder / "run.sqlite"
    copy.write_bytes(run.database.read_bytes())
    with sqlite3.connect(copy) as connection:
        for table in tables:
            connection.execute(f"DROP TABLE {table}")
    connection.close()
    return copy


def module_sums(file):
    data = program.run_json("modules", [file], "-n", "0")["data"]
    return {path: row["excl"] for path, row in runs.module_rows(data).items()}, data


def check_no_node_table(tally, folder):
    """Replayed kernels stay unattributed, although a module is open at the launch."""
    run = runs.generate(folder, "--launch-scope --no-prefill")
    ours, data = module_sums(without(run, folder / "cut", "CUDA_GRAPH_NODE_EVENTS"))
    tally.equal("modules with time", {path: row for path, row in ours.items() if row[1]}, {})
    graphs = sum(figures["gpu_ns"] for step in run.ranks[0]["steps"]
                 for path, figures in step["modules"].items() if path != runs.UNATTRIBUTED)
    tally.equal("graph_launch", data["unattributed"]["by_reason"]["graph_launch"], graphs)


def check_no_node_table_eager_steps(tally, folder):
    """Eager steps of the same file are like the replays, which is no reason to give those a module."""
    run = runs.generate(folder, "--launch-scope --batches 1,8 --capture-thread")
    cut = without(run, folder / "cut", "CUDA_GRAPH_NODE_EVENTS")
    ours, data = module_sums(cut)
    truth = runs.module_truth(run.ranks)
    for path, figures in ours.items():
        for mine, all_of_it in zip(figures, truth[path]["excl"]):
            tally.at_most(f"module {path}", mine, all_of_it)
    coverage = program.run_json("modules", [cut])["coverage"]["module"]
    tally.equal("evidence", sorted(coverage), ["launch_correlation", "unresolved"])
    tally.holds("replays are without modules", data["unattributed"]["by_reason"]["graph_launch"] > 0)


def check_no_ranges(tally, folder):
    run = runs.generate(folder, "")
    cut = without(run, folder / "cut", "NVTX_EVENTS")
    done = program.run(["modules", str(cut), "--format", "json"])
    tally.equal("exit", done.exit, 0)
    data = program.parse_json(done.stdout)["data"]
    tally.equal("nodes", data["nodes"], [])
    total = sum(rank[kind]["gpu_ns"] for rank in run.ranks for kind in ("kernel", "memcpy", "memset"))
    tally.equal("unattributed", data["unattributed"]["gpu_ns"], total)
    for verb in ("steps", "overhead"):
        rows = program.run_json(verb, [cut])["data"]
        tally.equal(f"{verb}: rows", rows["steps"], [])


def check_no_calls(tally, folder):
    """Without calls nothing eager has a module; replayed nodes keep theirs or lose it, never another."""
    run = runs.generate(folder, "--launch-scope")
    ours, data = module_sums(without(run, folder / "cut", "CUPTI_ACTIVITY_KIND_RUNTIME"))
    truth = runs.module_truth(run.ranks)
    for path, figures in ours.items():
        for mine, all_of_it in zip(figures, truth[path]["excl"]):
            tally.at_most(f"module {path}", mine, all_of_it)
    tally.equal("total", data["unattributed"]["gpu_ns"] + sum(figures[0] for figures in ours.values()),
                data["total"]["gpu_ns"])


def check_no_machine(tally, folder):
    run = runs.generate(folder, "--ranks 2")
    cut = without(run, folder / "cut", "TARGET_INFO_GPU", "TARGET_INFO_CUDA_DEVICE",
                  "TARGET_INFO_SYSTEM_ENV", "TARGET_INFO_SESSION_START_TIME", "META_DATA_EXPORT",
                  "META_DATA_CAPTURE", "ANALYSIS_DETAILS", "PROCESSES", "ThreadNames")
    data = program.run_json("modules", [cut], "-n", "0")["data"]
    compare_module_rows(tally, data, run.ranks)


def check_no_activities(tally, folder):
    run = runs.generate(folder, "--no-prefill")
    cut = without(run, folder / "cut", "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY")
    for verb in ("info", "modules", "steps", "overhead", "kernels", "summary"):
        done = program.run([verb, str(cut), "--format", "json"])
        tally.holds(f"{verb}: exit {done.exit}: {done.stderr[:200]}", done.exit in (0, 1))
        tally.holds(f"{verb}: JSON", bool(program.parse_json(done.stdout)))


MISSING = {
    "no_node_table": check_no_node_table,
    "no_node_table_eager_steps": check_no_node_table_eager_steps,
    "no_ranges": check_no_ranges,
    "no_calls": check_no_calls,
    "no_machine": check_no_machine,
    "no_activities": check_no_activities,
}


def main():
    parts = Parts("generated Nsight Systems databases")
    words = sys.argv[1:]

    def wanted(name):
        return not words or any(word in name for word in words)

    with tempfile.TemporaryDirectory(prefix="layerscope-nsys-") as folder:
        root = pathlib.Path(folder)
        for name, options in CASES.items():
            if wanted(name):
                parts.run(name, compare, root / name, options)
        for seed in range(1, N_RANDOM + 1):
            if wanted(f"random_{seed}"):
                options = random_options(seed)
                parts.run(f"random_{seed}: {options}", compare, root / f"random_{seed}", options)
        for name, options in BOTH.items():
            if wanted(f"both_{name}"):
                parts.run(f"both_{name}", compare_formats, root / f"both_{name}", options)
        for name, check in MISSING.items():
            if wanted(name):
                parts.run(name, check, root / f"missing_{name}")
    parts.close()


if __name__ == "__main__":
    main()
