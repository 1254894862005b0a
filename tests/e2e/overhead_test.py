#!/usr/bin/env python3
"""`overhead` against a second, slow implementation (overhead_reference.py): on every real trace that has
steps, and on generated ones, Kineto and Nsight Systems alike; lines sum to wall on all of them.
"""

import pathlib
import tempfile
from collections import defaultdict

import nsys_facts
import nsys_runs
from e2e import Parts, program, shared
from generated import GRID, generate
from overhead_reference import LINES, Budget, Step
from reference import Reference, choose_launch, number

# What the generated traces of other tests leave out: communication, copies, threads that launch
# elsewhere, steps without annotations of an engine, lost launches in graphs.
MORE = {
    "tp_overlap": "--layers 3 --passes 6 --seed 40 --tp 4 --side-streams 1 --steps vllm --launch graph",
    "comm_stream": "--family dsv3_mla --layers 5 --passes 4 --seed 41 --tp 4 --comm-stream --steps sglang",
    "sampler_outside": "--layers 2 --passes 6 --seed 42 --sampler-outside --steps vllm --mixed",
    "foreign": "--family dense --layers 3 --passes 4 --seed 43 --foreign 3 --steps vllm",
    "lost": "--layers 3 --passes 6 --seed 44 --launch graph --drop-activities 800 --drop-launches 900 "
            "--steps profiler",
    "micro_batches": "--family mla_dsa --layers 4 --passes 4 --seed 45 --micro-batches --steps vllm",
}

# Files of ../shared beside the traces, and what they are. Every other file is compared: one that is
# refused is a failure.
NO_TRACES = {
    "hta_execution_trace_et.json.gz": "PyTorch execution trace (Chakra)",
    "tracelens_rocprofv3_908_results.json.gz": "rocprofv3 results",
    "hf_qwen3_tiny_compiled_inductor_provenance.json": "without traceEvents",
    "hf_qwen3_tiny_config.json": "Hugging Face model config",
    "hf_qwen3_tiny_named_modules.json": "not events",
    "hf_qwen3moe_tiny_config.json": "Hugging Face model config",
    "vllm_bench_random20.json": "benchmark's result",
    "vllm_qwen3_tiny_named_modules.json": "not events",
}

# Databases in which each line has some time in one case or another.
NSYS = {
    "nsys_graphs": "--ranks 2 --all-reduce --comm-stream --graph-copies --steps 3",
    "nsys_known_gaps": "--launch eager --launch-gap 50000 --host-wait 80000 --queued-gap 12000 "
                       "--all-reduce --comm-work 33000 --ranks 2 --steps 3",
    "nsys_orphans": "--orphans 6 --steps 3",
    "nsys_lost_calls": "--drop-calls 800 --launch eager --layers 3 --ranks 2 --steps 3",
    "nsys_helper_thread": "--second-thread --launch eager --layers 2 --steps 3 --branches 3 --pdl",
    "nsys_run_ahead": "--run-ahead --launch eager --steps 6",
    "nsys_whole_graphs": "--launch whole --ranks 2 --steps 3 --all-reduce",
}


def compare(tally, file):
    data = program.run_json("overhead", [file], "-n", "0")["data"]
    listed = program.run_json("steps", [file], "-n", "0")["data"].get("steps", [])
    if "abstained" in data:
        reference = Reference(file)
        tally.holds(f"abstains with reason: {data['abstained']['code']}",
                    not listed or not reference.activities or
                    not any(step["n_activities"] for step in listed) or reference.cpu_only)
        return
    check_sums(tally, data)
    reference = Reference(file)
    budget = Budget(steps_of(listed), reference.activities, reference.calls, categories_of(file),
                    lambda activity: "GraphLaunch" in activity.launch.name)
    compare_steps(tally, data["steps"], budget.steps)


def compare_nsys(tally, folder, options):
    file = nsys_runs.generate(folder, options).database
    data = program.run_json("overhead", [file], "-n", "0")["data"]
    check_sums(tally, data)
    compare_database(tally, file, data)


def compare_database(tally, file, data):
    """Process by process; a database's times count from its own start."""
    capture = nsys_facts.Reader(file).read()
    envelope = program.run_json("steps", [file], "-n", "0")
    zero = int(envelope["inputs"][0]["t0_ns"]) - (capture.epoch or 0)
    calls = defaultdict(list)
    for index, call in enumerate(capture.calls):
        call.index = index
        calls[call.thread & ~nsys_facts.LOW_24, call.correlation].append(call)
    for index, activity in enumerate(capture.activities):
        activity.index = index
        same = calls[activity.process, activity.correlation] if activity.correlation > 0 else []
        activity.launch = choose_launch(same, activity.start)
    steps = steps_of(envelope["data"]["steps"])
    processes = {call.thread & ~nsys_facts.LOW_24 for call in capture.calls}
    tally.equal("processes with steps", {step.process for step in steps},
                {process >> 24 & nsys_facts.LOW_24 for process in processes})
    for process in processes:
        pid = process >> 24 & nsys_facts.LOW_24
        own = [step for step in steps if step.process == pid]
        for step in own:
            step.start, step.end = step.start + zero, step.end + zero
            step.thread = process | step.thread[1]
        budget = Budget(own, [a for a in capture.activities if a.process == process],
                        [c for c in capture.calls if c.thread & ~nsys_facts.LOW_24 == process],
                        categories_of(file),
                        lambda activity: bool(activity.node) or "GraphLaunch" in activity.launch.name)
        compare_steps(tally, [step for step in data["steps"] if step["pid"] == pid], budget.steps, zero)


def steps_of(listed):
    """The steps that `steps` lists, by start; one that ran on several devices has several rows."""
    steps, seen = [], set()
    for row in listed:
        key = (row["pid"], row["index"], row["start_ns"])
        if key not in seen:
            seen.add(key)
            process = number(row["pid"])
            steps.append(Step(process, (process, number(row["thread"])), row["start_ns"], row["cpu_ns"]))
    return steps


def categories_of(file):
    return {row["name"]: row["category"]
            for row in program.run_json("kernels", [file], "-n", "0")["data"]["rows"]}


def compare_steps(tally, ours, wanted, zero=0):
    tally.equal("number of steps", len(ours), len(wanted))
    for row, step in zip(ours, wanted):
        name = f"step {row['index']}"
        tally.equal(f"{name}: start", row["start_ns"] + zero, step.start)
        tally.equal(f"{name}: from", row["from_ns"] + zero, step.window[0])
        tally.equal(f"{name}: wall", row["wall_ns"], step.wall)
        tally.equal(f"{name}: busy", row["busy_ns"], step.busy)
        tally.equal(f"{name}: activities", row["n_activities"], len(step.members))
        tally.equal(f"{name}: lines", row["lines"], step.lines)


def check_sums(tally, data):
    for step in data["steps"]:
        tally.equal(f"step {step['index']}: keys", list(step["lines"]), list(LINES))
        tally.equal(f"step {step['index']}: lines sum to wall", sum(step["lines"].values()),
                    step["wall_ns"])
        tally.equal(f"step {step['index']}: gap", step["gap_ns"], step["host_wall_ns"] - step["busy_ns"])
        tally.holds(f"step {step['index']}: no line is negative", min(step["lines"].values()) >= 0)
        tally.equal(f"step {step['index']}: comm_wait", step["lines"]["comm_wait"], 0)
    walls = sum(step["wall_ns"] for step in data["steps"])
    tally.equal("groups hold all wall time", sum(g["sum_wall_ns"] for g in data["median"]), walls)
    for group in data["median"]:
        of_group = sorted(s["wall_ns"] for s in data["steps"] if s["wall_ns"] > 0 and
                          (s["phase"], s["requests"]) == (group["phase"], group["requests"]) and
                          (s["phase"] or s["launch_mode"] == group["launch_mode"]))
        tally.equal("steps of a group", len(of_group), group["n_steps"])
        tally.equal("median of a group", of_group[(len(of_group) - 1) // 2], group["wall_ns"])


def compare_generated(tally, name, options):
    with tempfile.TemporaryDirectory(prefix="layerscope-overhead-") as folder:
        file = pathlib.Path(folder) / f"{name}.json"
        generate(file, options)
        compare(tally, file)


def real_traces():
    folder = shared("traces/kineto")
    if folder is None:
        return []
    return sorted([*folder.iterdir(), *shared("traces/cpu").glob("*.json*")])


def check_no_trace(tally, file, words):
    """What lies beside the traces and is none is refused, saying what it is."""
    done = program.run(["overhead", file, "--format", "json"])
    tally.equal("exit", done.exit, 3)
    message = program.parse_json(done.stdout)["error"]["message"]
    tally.holds(f"says {words!r}: {message}", words in message)


def real_databases():
    folder = shared("traces/nsys")
    return sorted(folder.glob("*.sqlite")) if folder else []


def check_database(tally, file):
    """One that marks steps is compared; another must say that it has none, or no GPU work in them."""
    data = program.run_json("overhead", [file], "-n", "0")["data"]
    if "abstained" in data:
        listed = program.run_json("steps", [file], "-n", "0")["data"].get("steps", [])
        tally.holds(f"abstains with reason: {data['abstained']['code']}",
                    not any(step["n_activities"] for step in listed))
        return
    check_sums(tally, data)
    compare_database(tally, file, data)


def check_selections(tally):
    """What --step, --phase and --pid show are rows of the whole, unchanged."""
    with tempfile.TemporaryDirectory(prefix="layerscope-overhead-") as folder:
        file = pathlib.Path(folder) / "trace.json"
        generate(file, MORE["tp_overlap"])
        whole = program.run_json("overhead", [file], "-n", "0")["data"]["steps"]
        one = program.run_json("overhead", [file], "--step", "2")["data"]["steps"]
        tally.equal("--step 2", one, [step for step in whole if step["index"] == 2])
        decode = program.run_json("overhead", [file], "--phase", "decode")["data"]["steps"]
        tally.equal("--phase decode", decode, [step for step in whole if step["phase"] == "decode"])
        longest = program.run_json("overhead", [file], "--sort", "compute", "-n", "1")["data"]["steps"]
        tally.equal("--sort compute -n 1", longest[0]["lines"]["compute"],
                    max(step["lines"]["compute"] for step in whole))


def main():
    parts = Parts("overhead")
    files = real_traces()
    if not files:
        parts.skip("real traces", "../shared/traces is absent")
    for file in files:
        if file.name in NO_TRACES:
            parts.run(f"{file.name} is refused", check_no_trace, file, NO_TRACES[file.name])
        else:
            parts.run(file.name, compare, file)
    if files:
        parts.run("files that are no traces", lambda tally: tally.equal(
            "are there", sorted(NO_TRACES.keys() - {file.name for file in files}), []))
    for name, options in {**GRID, **MORE}.items():
        parts.run(f"generated {name}", compare_generated, name, options)
    with tempfile.TemporaryDirectory(prefix="layerscope-overhead-") as folder:
        for name, options in NSYS.items():
            parts.run(f"generated {name}", compare_nsys, pathlib.Path(folder) / name, options)
    for file in real_databases():
        parts.run(file.name, check_database, file)
    parts.run("selections", check_selections)
    parts.close()


if __name__ == "__main__":
    main()
