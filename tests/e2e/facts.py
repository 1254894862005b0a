"""Compares the program's JSON with the figures of kineto_facts.py, an independent script.

Where the documents define a figure otherwise it is translated here: there, times are relative to the
smallest ts of the X events (`t0_ns`); here, to the envelope's zero (`inputs[0].t0_ns`).
"""

import re
from collections import Counter, defaultdict

from e2e import program

INFO_COUNTS = {  # info: facts
    "n_events": ("n_events_total",), "n_kernels": ("gpu", "n_kernel"),
    "n_memcpy": ("gpu", "n_memcpy"), "n_memset": ("gpu", "n_memset"),
    "kernel_sum_ns": ("gpu", "kernel_ns_sum"), "memcpy_sum_ns": ("gpu", "memcpy_ns_sum"),
    "memset_sum_ns": ("gpu", "memset_ns_sum"), "n_ops": ("ops", "n_cpu_op"),
    "kernels_without_launch": ("launch", "kernels_without_launch"),
}
LAUNCH_COUNTS = {
    "n": "n_launch_like", "graph": "n_graph_launches",
    "without_activity": "launches_without_gpu_event", "max_kernels": "max_kernels_per_correlation",
    "graph_kernel_sum_ns": "kernel_ns_under_graph_launch",
}
MODULE_COUNTS = {"n_scopes": "n_nn_module_events", "n_instances": "n_distinct_module_names",
                 "max_depth": "max_depth"}
FAMILY = re.compile(r"(execute_|step\[|ProfilerStep#|capture_)")


def compare(tally, file, facts):
    """All figures of one file."""
    if "not_a_trace" in facts:
        compare_refusal(tally, file)
        return
    info = program.run_json("info", [file])
    zero_shift = facts["t0_ns"] - int(info["inputs"][0]["t0_ns"])
    compare_info(tally, info["data"], facts, zero_shift)
    compare_modules(tally, program.run_json("modules", [file], "-n", "0")["data"], facts)
    compare_kernels(tally, program.run_json("kernels", [file], "-n", "0")["data"], facts)
    compare_steps(tally, program.run_json("steps", [file], "-n", "0")["data"], facts, zero_shift)


def compare_refusal(tally, file):
    done = program.run(["summary", file, "--format", "json"])
    tally.equal("exit of a refusal", done.exit, 3)
    error = program.parse_json(done.stdout).get("error", {})
    tally.holds(f"a refusal says what the file is: {error}",
                bool(error.get("code")) and bool(error.get("hint")))
    wanted = REFUSED_AS.get(file.name)
    if wanted:
        tally.holds(f"refused as '{wanted}': {error.get('message')}",
                    wanted in str(error.get("message")).lower())
        tally.holds(f"'{wanted}' stands on stderr", wanted in done.stderr.lower())


REFUSED_AS = {"tracelens_rocprofv3_908_results.json.gz": "rocprofv3",
              "hta_execution_trace_et.json.gz": "execution trace"}


def compare_info(tally, data, facts, zero_shift):
    for ours, path in INFO_COUNTS.items():
        wanted = facts
        for key in path:
            wanted = wanted[key]
        tally.equal(f"info.{ours}", data[ours], wanted)
    for ours, theirs in LAUNCH_COUNTS.items():
        tally.equal(f"info.launches.{ours}", data["launches"][ours], facts["launch"][theirs])
    for ours, theirs in MODULE_COUNTS.items():
        tally.equal(f"info.modules.{ours}", data["modules"][ours], facts["modules"][theirs])
    tally.equal("info.by_ph", data["by_ph"], facts["n_by_ph"])
    tally.equal("info.by_cat", data["by_cat"], facts["n_by_cat"])
    compare_devices(tally, data["devices"], facts["gpu"], zero_shift)


def compare_devices(tally, devices, facts, zero_shift):
    ours = {str(d["device"]): d for d in devices}
    tally.equal("devices", sorted(ours), sorted(facts["per_device"]))
    streams = {}
    for name, device in ours.items():
        for stream in device["streams"]:
            streams[f"{name},{stream['stream']}"] = stream
        wanted = facts["per_device"].get(name)
        if wanted:
            where = f"device {name}"
            tally.equal(f"{where} busy", device["busy_ns"], wanted["busy_union_ns"])
            tally.equal(f"{where} first", device["first_ns"], wanted["first_ts_ns"] + zero_shift)
            tally.equal(f"{where} last", device["last_ns"], wanted["last_end_ns"] + zero_shift)
            tally.equal(f"{where} n", sum(s["n"] for s in device["streams"]), wanted["n"])
            tally.equal(f"{where} sum", sum(s["sum_ns"] for s in device["streams"]),
                        wanted["sum_ns"])
    tally.equal("streams", sorted(streams), sorted(facts["streams"]))
    for name, wanted in facts["streams"].items():
        if name in streams:
            tally.equal(f"stream {name} n", streams[name]["n"], wanted["n"])
            tally.equal(f"stream {name} sum", streams[name]["sum_ns"], wanted["sum_ns"])
            tally.equal(f"stream {name} busy", streams[name]["busy_ns"], wanted["union_ns"])


def recorded_name(node):
    """The `Class_k` of a node as the trace has it."""
    instance = node["instance"]
    if instance is None:
        return node["class"]
    return instance if isinstance(instance, str) else f"{node['class']}_{instance}"


def compare_modules(tally, data, facts):
    nodes = {n["id"]: n for n in data["nodes"]}
    exclusive, inclusive, calls, roots = Counter(), Counter(), Counter(), Counter()
    n_exclusive, n_inclusive = Counter(), Counter()
    for node in nodes.values():
        name = recorded_name(node)
        exclusive[name] += node["kernel_excl_ns"]
        n_exclusive[name] += node["kernels_excl"]
        calls[name] += node["calls"]
        if node["parent"] is None:
            roots[name] += node["calls"]
        if name not in ancestors(node, nodes):
            inclusive[name] += node["kernel_incl_ns"]
            n_inclusive[name] += node["kernels_incl"]
    wanted = facts["modules"]
    for name, figures in wanted["all_modules"].items():
        tally.equal(f"module {name} inclusive, exclusive, calls",
                    [inclusive[name], exclusive[name], calls[name]], figures)
    for name in calls.keys() - wanted["all_modules"].keys():
        tally.equal(f"module {name} has no kernel", [inclusive[name], exclusive[name]], [0, 0])
    for name, figures in wanted["by_module_name"].items():
        tally.equal(f"module {name} kernels", [n_inclusive[name], n_exclusive[name]],
                    [figures["inclusive_kernels"], figures["exclusive_kernels"]])
    tally.equal("modules: names", len(calls), wanted["n_distinct_module_names"])
    tally.equal("modules: calls", sum(calls.values()), wanted["n_nn_module_events"])
    tally.equal("modules: root names", len(roots), wanted["n_roots"])
    for name, count in wanted["roots"].items():
        tally.equal(f"root {name} calls", roots[name], count)
    tally.equal("modules: kernels inside", sum(n_exclusive.values()),
                wanted["kernels_inside_a_module"])
    tally.equal("modules: kernel ns inside", sum(exclusive.values()),
                wanted["kernel_ns_inside_a_module"])


def ancestors(node, nodes):
    names = set()
    parent = node["parent"]
    while parent is not None:
        names.add(recorded_name(nodes[parent]))
        parent = nodes[parent]["parent"]
    return names


def compare_kernels(tally, data, facts):
    n, ns = Counter(), Counter()
    for row in data["rows"]:
        n[row["name"]] += row["n"]
        ns[row["name"]] += row["sum_ns"]
    for kernel in facts["top_kernels"]:
        tally.equal(f"kernel {kernel['name'][:60]} n, sum",
                    [n[kernel["name"]], ns[kernel["name"]]], [kernel["n"], kernel["ns"]])


def kept_steps(facts):
    """The annotations of the facts that are steps here, and whether another of them overlaps each."""
    cpu = [s for s in facts["steps"] if s["kind"] == "cpu"]
    for step in cpu:
        step["end"] = step["ts_rel_ns"] + step["dur_ns"]
        step["family"] = FAMILY.match(step["name"]).group(1)
    kept = [s for s in cpu if s["family"] != "capture_" and not
            any(inside(o, s) and o["family"] != s["family"] for o in cpu)]
    for step in kept:
        step["alone"] = not any(o is not step and o["ts_rel_ns"] < step["end"] and
                                step["ts_rel_ns"] < o["end"] for o in kept)
    return kept


def inside(inner, outer):
    return (inner is not outer and outer["ts_rel_ns"] <= inner["ts_rel_ns"] and
            inner["end"] <= outer["end"])


def compare_steps(tally, data, facts, zero_shift):
    wanted = kept_steps(facts)
    ours = defaultdict(list)
    for step in data["steps"]:
        ours[step["name"], step["start_ns"] - zero_shift].append(step)
    old_format = any(key.startswith("X|Operator") for key in facts["n_by_cat"])
    if not old_format:
        tally.equal("number of steps", len(data["steps"]), len(wanted))
    for step in wanted:
        found = ours[step["name"], step["ts_rel_ns"]]
        where = f"step {step['name']} at {step['ts_rel_ns']}"
        tally.holds(f"{where} is there", bool(found))
        if found:
            mine = found.pop(0)
            tally.equal(f"{where} length", mine["cpu_ns"], step["dur_ns"])
            if step["alone"]:
                tally.equal(f"{where} kernels", mine["n_kernels"], step["n_kernels_any_thread"])
            else:  # A launch belongs to one step alone, so the sums of overlapping ones can only shrink.
                tally.at_most(f"{where} kernels", mine["n_kernels"], step["n_kernels_any_thread"])
