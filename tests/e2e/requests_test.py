#!/usr/bin/env python3
"""`requests`: traces of one request each, aligned by module path. Every figure of a request is that of
its own file, as the generator decided it or as `modules` and `layers` give it for the file alone; what a
request does not have is null.
"""

import collections
import gzip
import json
import pathlib
import subprocess
import tempfile

from e2e import Parts, check_refused, program, shared
from generated import generate
from schema_test import problems, problems_of, validator

ARRAYS = ("calls", "gpu_ns", "gpu_self_ns", "cpu_ns", "kernels", "evidence")
UNATTRIBUTED = "[unattributed]"
# One model at three lengths: eager, so that every module is known; 36 layers, as served.
LAYERED = {"b_slow.json.gz": "--layers 36 --passes 6 --seed 71",
           "a_fast.json": "--layers 36 --passes 2 --seed 72",
           "c_shallow.json": "--layers 4 --passes 3 --seed 73"}
CPU = ("traces/cpu/hf_qwen3_tiny_generate_stack.json.gz",
       "traces/cpu/hf_qwen3moe_tiny_generate_stack.json.gz")
MOST_BYTES = 1_000_000


def profiles_of(tally, inputs, *options):
    """The document, valid against its schema."""
    done = program.run(["requests", *inputs, *options])
    if done.exit != 0:
        raise RuntimeError(f"requests: exit {done.exit}: {done.stderr.strip()[:300]}")
    document = program.parse_json(done.stdout)
    tally.equal("the document's schema", problems(validator("per_request_profiles"), document)[:3], [])
    return document, len(done.stdout)


def compare_shape(tally, document):
    """Arrays of one value a request, parents first, null in all arrays of a node or in none."""
    n = len(document["requests"])
    nodes = document["nodes"]
    tally.equal("ids", [node["id"] for node in nodes], list(range(len(nodes))))
    tally.equal("the last node", (nodes[-1]["path"], nodes[-1]["parent"]), (UNATTRIBUTED, None))
    tally.equal("parents that come later",
                [node["path"] for node in nodes if node["parent"] is not None and
                 node["parent"] >= node["id"]], [])
    tally.equal("arrays of another length",
                [(node["path"], key) for node in nodes for key in ARRAYS if len(node[key]) != n] +
                [(layer["index"], key) for layer in document["layers"] for key in ("gpu_ns", "cpu_ns")
                 if len(layer[key]) != n], [])
    tally.equal("nodes that are null in one array and not in another",
                [node["path"] for node in nodes for r in range(n)
                 if len({node[key][r] is None for key in ARRAYS}) != 1], [])
    tally.equal("children without their parent",
                [node["path"] for node in nodes if node["parent"] is not None for r in range(n)
                 if node["calls"][r] is not None and nodes[node["parent"]]["calls"][r] is None], [])


def compare_sums(tally, document):
    """Own times add up to a request's, children to their parents, phases to the whole."""
    nodes = document["nodes"]
    for r, request in enumerate(document["requests"]):
        name = request["file"]
        own = sum(node["gpu_self_ns"][r] or 0 for node in nodes)
        tally.equal(f"{name}: own times", own, request["gpu_ns"])
        roots = [node for node in nodes if node["parent"] is None]
        for key in ("gpu_ns", "cpu_ns", "kernels"):
            tally.equal(f"{name}: {key} of the roots", sum(node[key][r] or 0 for node in roots),
                        request[key])
        below = collections.Counter()
        for node in nodes:
            if node["parent"] is not None:
                below[node["parent"]] += node["gpu_ns"][r] or 0
        tally.equal(f"{name}: parents that are not the sum of their children and themselves",
                    [node["path"] for node in nodes if node["gpu_ns"][r] is not None and
                     node["gpu_ns"][r] != node["gpu_self_ns"][r] + below[node["id"]]], [])
        tally.equal(f"{name}: evidence that does not split the own time",
                    [node["path"] for node in nodes if node["evidence"][r] is not None and
                     sum(node["evidence"][r].values()) != node["gpu_self_ns"][r]], [])
        phases = [phase for phase in request["phases"].values() if phase is not None]
        tally.equal(f"{name}: phases", sum(phase["gpu_ns"] for phase in phases) +
                    request["outside_phases_ns"], request["gpu_ns"])
        if request["phases_from"] != "passes":
            tally.equal(f"{name}: phases of the host", sum(phase["cpu_ns"] for phase in phases) +
                        request["outside_phases_cpu_ns"], request["cpu_ns"])


def compare_with_modules(tally, document, folder):
    """What `modules` says of each file alone, and nothing else."""
    for r, request in enumerate(document["requests"]):
        data = program.run_json("modules", [folder / request["file"]], "--no-collapse", "-n",
                                "0")["data"]
        keys = ("calls", "cpu_ns", "gpu_incl_ns", "gpu_excl_ns", "kernels_incl")
        wanted = {node["path"]: tuple(node[key] for key in keys) for node in data["nodes"]}
        ours_of = {"gpu_incl_ns": "gpu_ns", "gpu_excl_ns": "gpu_self_ns", "kernels_incl": "kernels"}
        actual = {node["path"]: tuple(node[ours_of.get(key, key)][r] for key in keys)
                  for node in document["nodes"][:-1] if node["calls"][r] is not None}
        tally.equal(f"{request['file']}: modules", sorted(actual), sorted(wanted))
        tally.equal(f"{request['file']}: figures that differ",
                    [(path, actual[path], wanted[path]) for path in wanted
                     if actual.get(path) != wanted[path]][:3], [])
        tally.equal(f"{request['file']}: unattributed", document["nodes"][-1]["gpu_ns"][r],
                    data["unattributed"]["gpu_ns"])


def compare_truth(tally, folder):
    """Three requests of which the generator says every kernel's modules; one has a vision tower."""
    done = subprocess.run([str(program.generator()), "requests", "-o", str(folder)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"layerscope-gen requests: {done.stderr.strip()}")
    document, _ = profiles_of(tally, [folder])
    compare_shape(tally, document)
    compare_sums(tally, document)
    compare_with_modules(tally, document, folder)
    metadata = json.loads((folder / "request_metadata.json").read_text(encoding="utf-8"))
    for key in ("model", "engine", "mode"):
        tally.equal(key, document[key], metadata[key])
    for request, entry in zip(document["requests"], metadata["requests"], strict=True):
        tally.equal(f"{entry['file']}: as the metadata has it",
                    {key: request[key] for key in entry}, entry)
    seen = [set() for _ in document["requests"]]
    for r, request in enumerate(document["requests"]):
        truth = json.loads((folder / "truth" / request["file"]).read_text(encoding="utf-8"))
        own = collections.Counter()
        for activity in truth["activities"]:
            own[".".join(activity["modules"]) or UNATTRIBUTED] += activity["duration_ns"]
            seen[r].update(".".join(activity["modules"][:i + 1])
                           for i in range(len(activity["modules"])))
        tally.equal(f"{request['file']}: own time by module",
                    {node["path"]: node["gpu_self_ns"][r] for node in document["nodes"]
                     if node["gpu_self_ns"][r]}, {path: ns for path, ns in own.items() if ns})
        tally.equal(f"{request['file']}: prefill and decode steps",
                    [request["phases"][phase]["steps"] for phase in ("prefill", "decode")],
                    [1, request["output_tokens"] - 1])
    only_slow = seen[2] - seen[0] - seen[1]
    tally.holds("the slow request alone has some modules", bool(only_slow))
    for node in document["nodes"]:
        if node["path"] in only_slow:
            tally.equal(f"{node['path']}: null where it is absent", node["gpu_ns"][:2], [None, None])


def compare_layers(tally, folder):
    """Layers by index, from the kernels; a request of a shallower model has none of the deeper."""
    for name, options in LAYERED.items():
        generate(folder / name, options)
    document, n_bytes = profiles_of(tally, [folder])
    compare_shape(tally, document)
    compare_sums(tally, document)
    compare_with_modules(tally, document, folder)
    tally.holds(f"36 layers in {n_bytes} bytes", n_bytes < MOST_BYTES)
    tally.equal("without metadata the order is that of the names",
                [(r["file"], r["label"]) for r in document["requests"]],
                [(name, None) for name in sorted(LAYERED)])
    layers = document["layers"]
    tally.equal("layers", [layer["index"] for layer in layers], list(range(36)))
    tally.equal("layers without a path", [layer["index"] for layer in layers if not layer["path"]], [])
    tally.equal("layers of the shallow model", [layer["index"] for layer in layers
                                                if layer["gpu_ns"][2] is not None], list(range(4)))
    by_path = {node["path"]: node for node in document["nodes"]}
    tally.equal("CPU times that are not the module's",
                [layer["path"] for layer in layers
                 if layer["cpu_ns"] != by_path[layer["path"]]["cpu_ns"]], [])
    for r, request in enumerate(document["requests"]):
        tally.equal(f"{request['file']}: layers come from", request["layers_from"], "kernels")
        wanted = collections.Counter()
        envelope = program.run_json("passes", [folder / request["file"]])
        for row in envelope["data"]["passes"]:
            data = program.run_json("layers", [folder / request["file"]], "--pass",
                                    str(row["index"]))["data"]
            for layer in data["layers"]:
                wanted[layer["index"]] += layer["sum_ns"] + layer["copy_ns"]
        tally.equal(f"{request['file']}: layer times", {layer["index"]: layer["gpu_ns"][r]
                                                        for layer in layers
                                                        if layer["gpu_ns"][r] is not None},
                    dict(wanted))


def compare_cpu(tally, folder, files):
    """Two models on the CPU: what both have stands in one row, the rest is null in the other."""
    for file in files:
        (folder / file.name).symlink_to(file)
    document, _ = profiles_of(tally, [folder])
    compare_shape(tally, document)
    compare_sums(tally, document)
    compare_with_modules(tally, document, folder)
    tally.equal("kernels", [request["kernels"] for request in document["requests"]], [0, 0])
    tally.holds("self times of ops", all(request["gpu_ns"] > 0 for request in document["requests"]))
    tally.holds("CPU time", all(request["cpu_ns"] > 0 for request in document["requests"]))
    tally.holds("both models have layers, by their modules",
                all(request["layers_from"] == "modules" for request in document["requests"]))
    present = [[node["calls"][r] is not None for r in range(2)] for node in document["nodes"][:-1]]
    tally.holds("modules of one alone", [True, False] in present and [False, True] in present)


def compare_envelope(tally, folder):
    """With -o: what was written, one part a request, and the whole in `reduced`."""
    for name, options in list(LAYERED.items())[:2]:
        generate(folder / name, options)
    out = folder / "per_request_profiles.json.gz"
    for _ in range(2):  # the second time the first one's document lies among the traces
        done = program.run(["requests", folder, "-o", out, "--format", "json"])
        tally.equal(f"exit ({done.stderr.strip()[:200]})", done.exit, 0)
        envelope = program.parse_json(done.stdout)
        tally.equal("the envelope's schema", problems_of(envelope)[:3], [])
        tally.equal("requests", [(row["request"], row["file"]) for row in
                                 envelope["reduced"]["requests"]],
                    [(part["data"]["request"], part["data"]["file"]) for part in envelope["ranks"]])
        tally.equal("bytes", {part["data"]["bytes"] for part in envelope["ranks"]}, {out.stat().st_size})
        tally.equal("health", [e for e in envelope["health"] if e["severity"] == "data_loss"], [])
    written = json.loads(gzip.decompress(out.read_bytes()))
    printed, _ = profiles_of(tally, [folder])
    tally.equal("what is written and what is printed", written, printed)
    parts = {(part["data"]["request"], part["data"]["gpu_ns"]) for part in envelope["ranks"]}
    tally.equal("requests of the envelope", parts,
                {(r["index"], r["gpu_ns"]) for r in written["requests"]})
    single, _ = profiles_of(tally, [folder / "a_fast.json"])
    tally.equal("one file is one request", [r["file"] for r in single["requests"]], ["a_fast.json"])


def compare_refused(tally, folder):
    generate(folder / "a.json", "--layers 2 --passes 1 --seed 1")
    generate(folder / "b.json", "--layers 2 --passes 1 --seed 2")
    (folder / "request_metadata.json").write_text('{"requests": [{"file": "a.json"}]}', encoding="utf-8")
    check_refused(tally, folder, (
        (["requests", folder, "-o", folder / "a.json"], 2, "would overwrite the input"),
        (["requests", folder, "-o", folder / "request_metadata.json"], 2, "would overwrite the input"),
        (["requests", folder, "-o", folder / "out.json.zst"], 2, "not written as zstd"),
        (["requests", folder, "--format", "csv"], 2, "goes with -o FILE"),
        (["requests", folder / "absent"], 3, "absent"),
    ))
    (folder / "b.json").write_text("[1, 2", encoding="utf-8")
    (folder / "gone").mkdir()
    check_refused(tally, folder, (
        (["requests", folder, "-o", folder / "out.json", "--strict"], 3, "b.json was left out"),
        (["requests", folder / "gone"], 3, "holds no trace"),
    ))


if __name__ == "__main__":
    PARTS = Parts("requests")
    with tempfile.TemporaryDirectory(prefix="layerscope-requests-") as FOLDER:

        def folder_of(name):
            folder = pathlib.Path(FOLDER) / name
            folder.mkdir()
            return folder

        PARTS.run("truth", compare_truth, folder_of("truth"))
        PARTS.run("layers", compare_layers, folder_of("layers"))
        PARTS.run("envelope", compare_envelope, folder_of("envelope"))
        PARTS.run("refused", compare_refused, folder_of("refused"))
        FILES = [FILE for FILE in map(shared, CPU) if FILE]
        if len(FILES) == len(CPU):
            PARTS.run("cpu", compare_cpu, folder_of("cpu"), FILES)
        else:
            PARTS.skip("cpu", "../shared/traces is absent")
    PARTS.close()
