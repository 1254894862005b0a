"""What must hold in every JSON output, whatever the input: rows sum to total, children to parent,
evidence to what it explains. Each function yields (what, left, right, holds).
"""

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
    return (str(row["key"]), row.get("device"), row.get("rank"), row.get("pid"))


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
    tally.equal("info: by_ph sums to n_events", sum(data["by_ph"].values()), data["n_events"])
    tally.equal("info: by_cat sums to n_events", sum(data["by_cat"].values()), data["n_events"])
    devices = data["devices"]
    streams = [s for device in devices for s in device["streams"]]
    tally.equal("info: streams sum to kernels + copies + sets", sum(s["sum_ns"] for s in streams),
                data["kernel_sum_ns"] + data["memcpy_sum_ns"] + data["memset_sum_ns"])
    tally.equal("info: streams count all activities", sum(s["n"] for s in streams),
                data["n_kernels"] + data["n_memcpy"] + data["n_memset"])
    for device in devices:
        where = f"device {device['device']}"
        tally.at_most(f"{where}: busy <= span", device["busy_ns"],
                      device["last_ns"] - device["first_ns"])
        tally.at_most(f"{where}: busy <= sum of its streams' busy", device["busy_ns"],
                      sum(s["busy_ns"] for s in device["streams"]))
        for stream in device["streams"]:
            tally.at_most(f"{where} stream {stream['stream']}: busy <= sum", stream["busy_ns"],
                          stream["sum_ns"])
    launches = data["launches"]
    tally.at_most("info: graph launches <= launches", launches["graph"], launches["n"])
    tally.at_most("info: idle launches <= launches", launches["without_activity"], launches["n"])
    tally.at_most("info: graph kernels <= kernels", launches["graph_kernel_sum_ns"],
                  data["kernel_sum_ns"])
    tally.at_most("info: kernels without launch <= kernels", data["kernels_without_launch"],
                  data["n_kernels"])


def check_summary(data, coverage, tally):
    gpu = data["gpu"]
    tally.equal("summary: busy + idle = span", gpu["busy_ns"] + gpu["idle_ns"], gpu["span_ns"])
    tally.at_most("summary: busy <= sum", gpu["busy_ns"], gpu["sum_ns"])
    if coverage:
        tally.equal("summary: sum is what coverage covers", gpu["sum_ns"], coverage["total_ns"])


CHECKS = {"info": check_info, "modules": check_modules, "kernels": check_kernels,
          "steps": check_steps, "summary": check_summary}
