"""What must hold in every JSON output, whatever the input: rows sum to total, children to parent,
evidence to what it explains. Each function yields (what, left, right, holds).
"""

import fractions

MODULE_SUMS = (("gpu_incl_ns", "gpu_excl_ns"), ("kernel_incl_ns", "kernel_excl_ns"),
               ("kernels_incl", "kernels_excl"))


class Tally:
    """Counts comparisons and keeps the ones that failed."""

    def __init__(self):
        self.compared = 0
        self.failures = []

    def equal(self, what, left, right):
        self.compared += 1
        if left != right:
            self.failures.append(f"{what}: {left} is not {right}")

    def at_most(self, what, left, right):
        self.compared += 1
        if left > right:
            self.failures.append(f"{what}: {left} is over {right}")

    def holds(self, what, condition):
        self.compared += 1
        if not condition:
            self.failures.append(what)


def check_envelope(envelope, tally):
    tally.equal("schema", envelope.get("schema"), "layerscope/1")
    for key in ("command", "inputs", "options", "health"):
        tally.holds(f"envelope has {key}", key in envelope)
    tally.holds("envelope has data or ranks", "data" in envelope or "ranks" in envelope)
    for entry in envelope.get("health") or []:
        tally.holds(f"health entry has a message: {entry}", bool(entry.get("message")))
        tally.holds(f"severity is known: {entry}", entry.get("severity") in
                    {"info", "warning", "data_loss", "error"})


def check_error(envelope, tally):
    tally.equal("schema", envelope.get("schema"), "layerscope/1")
    error = envelope.get("error") or {}
    tally.holds("error has code", bool(error.get("code")))
    tally.holds("error has message", bool(error.get("message")))
    tally.holds("error has hint", "hint" in error)


def check_coverage(coverage, tally):
    for kind in ("module", "layer"):
        tally.equal(f"coverage.{kind} sums to total_ns", sum(coverage[kind].values()),
                    coverage["total_ns"])
        tally.holds(f"coverage.{kind} has no negative share", min(coverage[kind].values(),
                                                                   default=0) >= 0)


def check_modules(data, coverage, tally):
    nodes = data["nodes"]
    by_id = {node["id"]: node for node in nodes}
    tally.equal("module ids are distinct", len(by_id), len(nodes))
    children = {node_id: [] for node_id in by_id}
    for node in nodes:
        if node.get("parent") is not None:
            tally.holds(f"parent of {node['path']} is listed before it",
                        node["parent"] in by_id and node["parent"] != node["id"])
            children.get(node["parent"], []).append(node)
    for node in nodes:
        where = f"module {node['path']} (id {node['id']})"
        for incl, excl in MODULE_SUMS:
            if node.get(incl) is not None:
                tally.equal(f"{where}: {incl} = {excl} + children", node[incl],
                            node[excl] + sum(child[incl] for child in children[node["id"]]))
        tally.equal(f"{where}: evidence splits gpu_excl_ns", sum(node["evidence"].values()),
                    node["gpu_excl_ns"])
        tally.at_most(f"{where}: busy <= inclusive", node["gpu_busy_ns"], node["gpu_incl_ns"])
    rest, total = data["unattributed"], data["total"]
    tally.equal("modules: exclusive + unattributed = total",
                sum(n["gpu_excl_ns"] for n in nodes) + rest["gpu_ns"], total["gpu_ns"])
    tally.equal("modules: kernels + unattributed = total",
                sum(n["kernels_excl"] for n in nodes) + rest["kernels"], total["kernels"])
    roots = [n for n in nodes if n.get("parent") is None]
    tally.equal("modules: roots' inclusive + unattributed = total",
                sum(n["gpu_incl_ns"] for n in roots) + rest["gpu_ns"], total["gpu_ns"])
    tally.equal("modules: reasons sum to unattributed", sum(rest["by_reason"].values()),
                rest["gpu_ns"])
    if coverage:
        tally.equal("modules: total is what coverage covers", total["gpu_ns"], coverage["total_ns"])
        for evidence, ns in coverage["module"].items():
            found = (rest["gpu_ns"] if evidence == "unresolved" else
                     sum(n["evidence"].get(evidence, 0) for n in nodes))
            tally.equal(f"modules: evidence {evidence} of all nodes = coverage", found, ns)


def check_kernels(data, coverage, tally):
    if "kernel_diff" in data:
        check_layer_diff(data, tally)
        return
    rows, total = data["rows"], data["total"]
    tally.equal("kernels: rows sum to total", sum(r["sum_ns"] for r in rows), total["sum_ns"])
    tally.equal("kernels: counts sum to total", sum(r["n"] for r in rows), total["n"])
    for row in rows:
        where = f"kernels row {row['key']!r}"
        tally.at_most(f"{where}: min <= max", row["min_ns"], row["max_ns"])
        tally.at_most(f"{where}: max <= sum", row["max_ns"], row["sum_ns"])
        tally.at_most(f"{where}: n * min <= sum", row["n"] * row["min_ns"], row["sum_ns"])
    tally.equal("kernels: keys are distinct", len({_key_of(r) for r in rows}), len(rows))
    if coverage:
        tally.equal("kernels: total is what coverage covers", total["sum_ns"], coverage["total_ns"])


def _key_of(row):
    """With --layer a row is one activity: its place tells it from others of its name."""
    place = tuple(row.get(key) for key in ("pass", "layer", "part", "index"))
    return (str(row["key"]), row.get("device"), row.get("rank"), row.get("pid"), *place)


def check_layer_diff(data, tally):
    """kernels --compare-layer: what the layers share and what only one has is all of each."""
    diff = data["kernel_diff"]
    for side in ("primary", "comparison"):
        layer = data[side]
        alone, shared = diff[f"only_{side}"], diff["both"]
        tally.equal(f"compare: kernels of {side}", sum(r["n"] for r in alone) +
                    sum(r[f"n_{side}"] for r in shared), layer["n_kernels"] + layer["n_copies"])
        tally.equal(f"compare: time of {side}", sum(r["sum_ns"] for r in alone) +
                    sum(r[f"{side}_ns"] for r in shared), layer["sum_ns"] + layer["copy_ns"])
        _check_categories(f"compare: {side}", layer, tally)
    for row in diff["both"]:
        tally.equal(f"compare: delta of {row['name']}", row["delta_ns"],
                    row["comparison_ns"] - row["primary_ns"])


def check_steps(data, coverage, tally):
    steps, outside = data["steps"], data["outside"]
    for step in steps:
        where = f"step {step['index']} {step['name']}"
        if step["wall_ns"] is not None:
            tally.equal(f"{where}: idle = wall - busy", step["idle_ns"],
                        step["wall_ns"] - step["busy_ns"])
            tally.at_most(f"{where}: busy <= wall", step["busy_ns"], step["wall_ns"])
        tally.at_most(f"{where}: busy <= sum", step["busy_ns"] or 0, step["sum_ns"])
    if coverage:
        tally.equal("steps: sums + outside = total",
                    sum(s["sum_ns"] for s in steps) + outside["gpu_ns"], coverage["total_ns"])


def check_info(data, _coverage, tally):
    if data["by_ph"]:  # of a database nothing
        tally.equal("info: by_ph sums to n_events", sum(data["by_ph"].values()), data["n_events"])
    tally.equal("info: by_cat sums to n_events", sum(data["by_cat"].values()), data["n_events"])
    devices = data["devices"]
    streams = [s for device in devices for s in device["streams"]]
    tally.equal("info: streams sum to all activities", sum(s["sum_ns"] for s in streams),
                data["kernel_sum_ns"] + data["memcpy_sum_ns"] + data["memset_sum_ns"]
                + data["graph_sum_ns"])
    tally.equal("info: streams count all activities", sum(s["n"] for s in streams),
                data["n_kernels"] + data["n_memcpy"] + data["n_memset"] + data["n_graphs"])
    for device in devices:
        where = f"device {device['device']}"
        tally.at_most(f"{where}: busy <= span", device["busy_ns"],
                      device["last_ns"] - device["first_ns"])
        tally.at_most(f"{where}: busy <= sum of its streams' busy", device["busy_ns"],
                      sum(s["busy_ns"] for s in device["streams"]))
        for stream in device["streams"]:
            tally.at_most(f"{where} stream {stream['stream']}: busy <= sum", stream["busy_ns"],
                          stream["sum_ns"])
    check_launches(data, tally)


def check_launches(data, tally):
    """Figures of launches; null where a table of a database that would tell is lost."""
    launches = data["launches"]
    for what, figure, most in (
            ("graph launches <= launches", launches["graph"], launches["n"]),
            ("idle launches <= launches", launches["without_activity"], launches["n"]),
            ("graph kernels <= kernels", launches["graph_kernel_sum_ns"], data["kernel_sum_ns"]),
            ("kernels without launch <= kernels", data["kernels_without_launch"], data["n_kernels"])):
        if figure is not None:
            tally.at_most(f"info: {what}", figure, most)


def check_summary(data, coverage, tally):
    gpu = data["gpu"]
    tally.equal("summary: busy + idle = span", gpu["busy_ns"] + gpu["idle_ns"], gpu["span_ns"])
    tally.at_most("summary: busy <= sum", gpu["busy_ns"], gpu["sum_ns"])
    if coverage:
        tally.equal("summary: sum is what coverage covers", gpu["sum_ns"], coverage["total_ns"])


def _check_confidence(where, confidence, tally):
    if confidence is not None:
        tally.holds(f"{where}: confidence {confidence} is from 0 to 1", 0 <= confidence <= 1)


def _check_categories(where, row, tally):
    tally.equal(f"{where}: categories sum to sum + copies", sum(row["by_category"].values()),
                row["sum_ns"] + row["copy_ns"])
    tally.holds(f"{where}: no negative category", min(row["by_category"].values(), default=0) >= 0)


def _check_interval(where, row, tally):
    """A pass or layer: wall is the interval, busy fits into it and into the sum."""
    tally.holds(f"{where}: no negative sum", min(row["sum_ns"], row["copy_ns"], row["n_kernels"],
                                                 row["n_copies"]) >= 0)
    if row["n_captured_launches"] and row["n_kernels"] + row["n_copies"] == 0:
        return  # a capture: its calls ran, its kernels did not
    tally.equal(f"{where}: wall = end - start", row["wall_ns"], row["end_ns"] - row["start_ns"])
    tally.at_most(f"{where}: busy <= wall", row["busy_ns"], row["wall_ns"])
    tally.at_most(f"{where}: busy <= sum + copies", row["busy_ns"], row["sum_ns"] + row["copy_ns"])


def _check_rising(what, values, tally):
    tally.holds(f"{what} are not strictly rising: {values[:20]}",
                all(left < right for left, right in zip(values, values[1:])))


def _check_anchor(anchor, tally):
    if anchor is None:
        return
    _check_confidence("anchor", anchor["confidence"], tally)
    level = ("high" if anchor["confidence"] >= 0.7 else "low" if anchor["confidence"] >= 0.4 else None)
    tally.equal(f"anchor: level of confidence {anchor['confidence']}", anchor["level"], level)


def check_passes(data, coverage, tally):
    passes, outside = data["passes"], data["outside"]
    _check_anchor(data["anchor"], tally)
    _check_rising("pass indices", [p["index"] for p in passes], tally)
    for row in passes:
        where = f"pass {row['index']}"
        _check_interval(where, row, tally)
        _check_confidence(where, row["confidence"], tally)
        if row["kind"] == "capture":
            tally.equal(f"{where}: a capture ran no kernel", (row["n_kernels"], row["sum_ns"]), (0, 0))
        else:
            tally.equal(f"{where}: an average layer is known when layers are",
                        row["avg_layer_ns"] is None, row["n_layers"] == 0)
        if row["complete"] and row["kind"] not in ("draft", "capture"):
            tally.equal(f"{where}: a whole pass has all layers", row["n_layers"],
                        data["layers_per_pass"])
    starts = [p["start_ns"] for p in passes if p["kind"] != "capture"]
    tally.equal("passes stand in time order", starts, sorted(starts))
    steady = [p for p in passes if p["index"] == data["steady_pass"]]
    tally.holds("the steady pass is a whole one", all(p["complete"] for p in steady))
    if coverage:
        tally.equal("passes + outside = total", sum(p["sum_ns"] + p["copy_ns"] for p in passes) +
                    outside["gpu_ns"], coverage["total_ns"])


def check_layers(data, coverage, tally):
    _check_anchor(data.get("anchor"), tally)
    if "rows" in data:
        _check_variance(data, tally)
        return
    layers, parts = data["layers"], [data["head"], data["tail"]]
    for key in ("sum_ns", "n_kernels", "copy_ns", "n_copies"):
        tally.equal(f"head + layers + tail = pass: {key}",
                    sum(row[key] for row in [*layers, *parts]), data["total"][key])
    tally.equal("total counts the layers", data["total"]["n_layers"], len(layers))
    for name in ("head", "tail"):
        part, named = data[name], data[name]["kernels"]
        tally.equal(f"{name}: its activities sum to it", sum(k["sum_ns"] for k in named),
                    part["sum_ns"] + part["copy_ns"])
        tally.equal(f"{name}: its activities count to it", sum(k["n"] for k in named),
                    part["n_kernels"] + part["n_copies"])
    _check_layer_rows(layers, tally)
    _check_clusters(data["clusters"], layers, tally)
    if coverage:
        tally.equal("layers: the pass is what coverage covers",
                    data["total"]["sum_ns"] + data["total"]["copy_ns"], coverage["total_ns"])


def _check_layer_rows(layers, tally):
    _check_rising("layer indices", [row["index"] for row in layers], tally)
    _check_rising("first kernels of layers",
                  [row["first_kernel"] for row in layers if row["first_kernel"] is not None], tally)
    starts = [row["start_ns"] for row in layers if row["start_ns"] is not None]
    tally.equal("layers stand in time order", starts, sorted(starts))
    for row in layers:
        where = f"layer {row['index']}"
        _check_interval(where, row, tally)
        _check_categories(where, row, tally)
        tally.holds(f"{where}: foreign kernels have time", row["foreign_ns"] >= row["n_foreign"] >= 0)
        tally.at_most(f"{where}: all-reduces <= kernels", row["n_allreduce"],
                      max(row["n_kernels"], row["n_captured_launches"] or 0))
        tally.holds(f"{where}: has a type", bool(row["type"]))


def _check_clusters(clusters, layers, tally):
    whole = [row for row in layers if "CUT" not in row["flags"] and row["wall_ns"] is not None]
    tally.equal("clusters hold the whole layers", sum(c["n"] for c in clusters), len(whole))
    tally.equal("clusters: types are distinct", len({c["type"] for c in clusters}), len(clusters))
    for cluster in clusters:
        mine = [row for row in whole if row["type"] == cluster["type"]]
        where = f"cluster {cluster['type']}"
        for average, key in (("avg_wall_ns", "wall_ns"), ("avg_sum_ns", "sum_ns")):
            if mine:
                tally.equal(f"{where}: {average}", cluster[average],
                            round(fractions.Fraction(sum(row[key] for row in mine), len(mine))))
        tally.equal(f"{where}: categories sum to its layers", sum(cluster["by_category"].values()),
                    sum(row["sum_ns"] + row["copy_ns"] for row in mine))


def _check_variance(data, tally):
    for row in data["rows"]:
        where = f"layer {row['layer']} over passes"
        times = [ns for ns in row["by_pass"] if ns is not None]
        tally.equal(f"{where}: a time a pass", len(row["by_pass"]), len(data["passes"]))
        mean = round(fractions.Fraction(sum(times), len(times))) if times else None
        tally.equal(f"{where}: min, max, mean", (row["min_ns"], row["max_ns"], row["mean_ns"]),
                    (min(times, default=None), max(times, default=None), mean))
    _check_rising("layers over passes", [row["layer"] for row in data["rows"]], tally)


def check_ranges(data, _coverage, tally):
    inside = None
    for row in data["ranges"]:
        where = f"range of pass {row['pass']}, layer {row['layer']}"
        tally.equal(f"{where}: wall = end - start", row["wall_ns"], row["end_ns"] - row["start_ns"])
        tally.holds(f"{where}: ends after it starts", row["end_ns"] >= row["start_ns"])
        for key in ("start", "end"):
            seconds, _, nanoseconds = row[f"{key}_s"].partition(".")
            tally.equal(f"{where}: {key}_s is {key}_ns", (len(nanoseconds), int(seconds + nanoseconds)),
                        (9, row[f"{key}_ns"]))
        if row["kind"] == "pass":
            inside = row
        else:
            tally.holds(f"{where}: follows its pass and lies in it",
                        inside is not None and inside["pass"] == row["pass"] and
                        inside["start_ns"] <= row["start_ns"] and row["end_ns"] <= inside["end_ns"])


def check_report(data, coverage, tally):
    _check_anchor(data.get("anchor"), tally)
    check_ranges(data, coverage, tally)
    _check_layer_rows(data["layers"], tally)
    _check_clusters(data["clusters"], data["layers"], tally)


CHECKS = {"info": check_info, "modules": check_modules, "kernels": check_kernels,
          "steps": check_steps, "summary": check_summary, "passes": check_passes,
          "layers": check_layers, "ranges": check_ranges, "report": check_report}
