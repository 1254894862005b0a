#!/usr/bin/env python3
"""`cut`: what it keeps stands in the input byte for byte and in order, and reads back to the figures
that the whole trace gives for the same selection: kernels, modules and steps.
"""

import json
import pathlib
import subprocess
import tempfile
import time

import nsys_runs
from e2e import Parts, check_refused, program
from generated import GRID, generate
from schema_test import problems_of
from trace_text import raw_events, read_text

REAL = ("traces/kineto/tracelens_vllm_gptoss_b200_tp8_eager.json.gz",
        "traces/kineto/tracelens_sglang_qwen3-8b_mi300_extend.json.gz",
        "traces/kineto/tracelens_sglang_qwen3-8b_mi300_decode_graph.json.gz",
        "traces/kineto/tracelens_hf_qwen1.5_h100.json.gz",
        "traces/kineto/hta_v100_cudagraph_train_rank1.json.gz",
        "traces/kineto/kineto_tb_resnet50_workers0.pt.trace.json.gz",
        "traces/cpu/vllm_qwen3_tiny_offline_stack.json.gz")
CAPTURES = ("traces/kineto/tracelens_sglang_qwen3-8b_mi300_capture_bs32.json.gz",
            "traces/kineto/tracelens_vllm_gptoss_mi300_capture_full.json.gz")
NODE = ("gpu_incl_ns", "gpu_excl_ns", "kernel_incl_ns", "kernel_excl_ns", "kernels_incl",
        "kernels_excl", "evidence")
STEP = ("name", "thread", "phase", "requests", "query_tokens", "context_tokens",
        "generation_tokens", "cpu_ns", "wall_ns", "busy_ns", "idle_ns", "sum_ns", "n_kernels",
        "n_launches", "ns_per_token")
STEP_IN_PART = ("name", "thread", "phase", "sum_ns", "n_kernels")


def data_of(verb, file, *options):
    return program.run_json(verb, [file], *options)["data"]


def kernels(data):
    return sorted((row["key"], row["name"], row["category"], row["n"], row["sum_ns"], row["min_ns"],
                   row["max_ns"], json.dumps(row.get("evidence"))) for row in data["rows"])


def modules(data):
    """Modules with GPU time in the selection; others may be listed without any. By path: siblings
    stand in the order of their first call, and the first of the whole trace may not be in the cut."""
    return sorted([node["path"], node["depth"], [node[key] for key in NODE[:-1]],
                   json.dumps(node["evidence"])] for node in data["nodes"]
                  if node["gpu_incl_ns"] or node["kernels_incl"])


def steps(data, keys):
    return [[row.get(key) for key in keys] for row in data["steps"] if row["n_kernels"] or
            keys is STEP]


def compare(tally, file, selection, folder, whole_steps):
    """`whole_steps`: the selection is made of steps, so that their walls and launches are theirs."""
    what = " ".join(selection)
    out = folder / "cut.json"
    done = program.run(["cut", file, *selection, "-o", out, "--format", "json"])
    tally.equal(f"{what}: exit ({done.stderr.strip()[:200]})", done.exit, 0)
    if done.exit != 0:
        return
    document = program.parse_json(done.stdout)
    tally.equal(f"{what}: against docs/schema", problems_of(document)[:3], [])
    data = document["data"]
    compare_events(tally, what, file, out, data)
    tally.equal(f"{what}: kernels", kernels(data_of("kernels", out)),
                kernels(data_of("kernels", file, *selection)))
    before, after = data_of("modules", file, *selection), data_of("modules", out)
    tally.equal(f"{what}: modules", modules(after), modules(before))
    tally.equal(f"{what}: unattributed", after.get("unattributed"), before.get("unattributed"))
    tally.equal(f"{what}: total", after.get("total"), before.get("total"))
    keys = STEP if whole_steps else STEP_IN_PART
    before, after = data_of("steps", file, *selection), data_of("steps", out)
    if "abstained" not in before and "steps" in before:
        tally.equal(f"{what}: steps", steps(after, keys), steps(before, keys))
        tally.equal(f"{what}: outside", after["outside"], before["outside"])


def compare_events(tally, what, file, out, data):
    kept = [raw for raw, _ in raw_events(read_text(out))]
    json.loads(read_text(out))
    tally.equal(f"{what}: events by the envelope", data["events"]["written"], len(kept))
    tally.equal(f"{what}: nothing is added", data["events"]["added"], 0)
    tally.equal(f"{what}: kept by class", sum(row["n_kept"] for row in data["kept"]), len(kept))
    whole = iter(raw for raw, _ in raw_events(read_text(file)))
    tally.holds(f"{what}: every event stands in the input, in order",
                all(any(raw == other for other in whole) for raw in kept))
    tally.holds(f"{what}: something is left out", data["events"]["kept"] <= data["events"]["input"])


def spread(n):
    return sorted({0, n // 2, n - 1}) if n else []


def selections(file):
    """[(options, made of steps?)]: single steps, a range, times in thirds, single passes."""
    found = []
    listed = program.run(["steps", file, "--format", "json"])
    rows = program.parse_json(listed.stdout)["data"].get("steps", []) if listed.exit == 0 else []
    indices = sorted({row["index"] for row in rows})
    found += [((f"--step={indices[i]}",), True) for i in spread(len(indices))]
    if len(indices) > 2:
        found.append(((f"--step={indices[0]}..{indices[1]}",), True))
    info = data_of("info", file)
    if info["devices"] and info["n_kernels"]:
        first = min(d["first_ns"] for d in info["devices"])
        third = (max(d["last_ns"] for d in info["devices"]) - first) // 3
        edges = (first, first + third, first + 2 * third)
        found.append(((f"--to={edges[1]}ns",), False))
        found.append(((f"--from={edges[1]}ns", f"--to={edges[2]}ns"), False))
        found.append(((f"--device={info['devices'][0]['device']}",), False))
    listed = program.run(["passes", file, "--format", "json"])
    if listed.exit == 0:
        passes = program.parse_json(listed.stdout)["data"].get("passes", [])
        ran = [row["index"] for row in passes if row["n_kernels"]]
        found += [((f"--pass={ran[i]}",), False) for i in spread(len(ran))]
    return found


def check(tally, file, folder):
    for selection, whole_steps in selections(file):
        chosen = [option for option in selection
                  if not (option.startswith("--from") or option.startswith("--to"))
                  or in_range(file, selection)]
        if chosen:
            compare(tally, file, selection, folder, whole_steps)


def in_range(file, selection):
    """A time in which no activity starts is refused, by every verb."""
    return program.run(["kernels", file, *selection]).exit == 0


def check_passes(tally, folder):
    """A pass that was cut out is the only pass, with the same layers."""
    file, out = folder / "trace.json", folder / "cut.json.gz"
    generate(file, "--layers 6 --passes 4 --seed 31")
    before = data_of("layers", file, "--pass", "2")
    program.run_json("cut", [file], "--pass", "2", "-o", str(out))
    after = data_of("layers", out, "--pass", "0")
    tally.equal("layers", [(r["index"], r["n_kernels"], r["sum_ns"]) for r in after["layers"]],
                [(r["index"], r["n_kernels"], r["sum_ns"]) for r in before["layers"]])
    passes = data_of("passes", out)["passes"]
    tally.equal("passes", len(passes), 1)


def check_captures(tally, file, folder):
    """A capture that was cut out is found again, with the same layers."""
    out = folder / "cut.json.gz"
    before = data_of("passes", file)["passes"]
    index = next(p["index"] for p in before if p["kind"] == "capture")
    events = program.run_json("cut", [file], "--pass", str(index), "-o", str(out))["data"]["events"]
    tally.holds("something is left out", 0 < events["kept"] < events["input"])
    after = data_of("passes", out)["passes"]
    tally.equal("passes", [(p["kind"], p["n_layers"], p["n_captured_launches"]) for p in after],
                [(p["kind"], p["n_layers"], p["n_captured_launches"]) for p in before
                 if p["index"] == index])
    keys = ("index", "type", "first_captured_launch", "n_captured_launches")
    rows = [[[row[key] for key in keys] for row in data_of("layers", where, "--pass", which)["layers"]]
            for where, which in ((file, str(index)), (out, "0"))]
    tally.holds("it has layers", len(rows[0]) > 1)
    tally.equal("layers", rows[1], rows[0])


def check_changes(tally, folder):
    """An input that changes between the two reads: exit 0 before or after it, else 1 or 3 and no
    file; never a signal."""
    small, large = folder / "small.json", folder / "large.json"
    generate(small, "--layers 6 --passes 24 --seed 34 --steps sglang")
    generate(large, "--layers 12 --passes 40 --seed 35 --steps sglang")
    file, out = folder / "trace.json", folder / "out.json"
    contents = {"longer": large.read_bytes(), "cut off": small.read_bytes()[:1000],
                "other times": small.read_bytes().replace(b'"dur": 1', b'"dur": 2')}
    for verb, options in (("cut", ("--step", "1")), ("annotate", ())):
        for name, content in contents.items():
            for delay in (0.0, 0.01, 0.02, 0.03, 0.05):
                file.write_bytes(small.read_bytes())
                out.unlink(missing_ok=True)
                process = subprocess.Popen([program.binary(), verb, file, *options, "-o", out],
                                           stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                time.sleep(delay)
                file.write_bytes(content)
                _, stderr = process.communicate(timeout=60)
                what = f"{verb}, {name} after {delay} s ({stderr.decode()[:100].strip()})"
                tally.holds(f"{what}: exit {process.returncode}", process.returncode in (0, 1, 3))
                tally.equal(f"{what}: the file", out.exists(), process.returncode == 0)
                tally.equal(f"{what}: left over", sorted(folder.glob("*.tmp")), [])


def check_twice(tally, folder):
    """Cutting a cut by all that it holds changes nothing."""
    file, once, again = folder / "trace.json", folder / "once.json", folder / "again.json"
    generate(file, "--layers 3 --passes 4 --seed 32 --steps sglang --stacks")
    program.run_json("cut", [file], "--step", "1", "-o", str(once))
    program.run_json("cut", [once], "--step", "0", "-o", str(again))
    tally.equal("events", [raw for raw, _ in raw_events(read_text(again))],
                [raw for raw, _ in raw_events(read_text(once))])


def check_lost_launches(tally, folder):
    """A cut of a database has the calls of modules that the selection has, also those whose launch was
    lost: with them a module's own time on the host is what its children leave."""
    out = folder / "cut.json"
    run = nsys_runs.generate(folder / "run", "--seed 8 --launch eager --ranks 2 --steps 4 --drop-calls 400")
    keys = ("path", "rank", "depth", "calls", "cpu_ns", "cpu_self_ns", "gpu_incl_ns", "kernels_incl")
    for selection in (("--step", "1..2"), ("--phase", "decode"), ("--from", "400us", "--to", "900us")):
        what = " ".join(selection)
        program.run_json("cut", [run.database], *selection, "-o", str(out))
        before, after = (sorted([[node[key] for key in keys] for node in data_of("modules", *of)["nodes"]])
                         for of in ((run.database, *selection), (out,)))
        tally.equal(f"{what}: modules", after, before)
        tally.holds(f"{what}: a call that lost its launch is listed",
                    any(row[keys.index("calls")] > row[keys.index("kernels_incl")] for row in before))


def check_refusals(tally, folder):
    file, out = folder / "trace.json", folder / "cut.json"
    generate(file, "--layers 2 --passes 2 --seed 33 --steps sglang")
    cases = ((["cut", file, "-o", out], 2, "nothing says what to keep"),
             (["cut", file, "--step", "99", "-o", out], 1, "no step '99'"),
             (["cut", file, "--pass", "99", "-o", out], 1, "pass"),
             (["cut", file, "--step", "0", "--pass", "1", "-o", out], 1, "the rest of the selection"),
             (["cut", file, "--from", "5ms", "--to", "1ms", "-o", out], 2, "is not before"),
             (["cut", file, "--from", "5", "-o", out], 2, "has no unit"),
             (["cut", "-", "--step", "0", "-o", out], 2, "standard input can be read once"),
             (["cut", file, "--step", "0", "-o", file], 2, "would overwrite the input"))
    check_refused(tally, folder, cases)


if __name__ == "__main__":
    PARTS = Parts("cut documents")
    with tempfile.TemporaryDirectory(prefix="layerscope-cut-documents-") as FOLDER:
        HERE = pathlib.Path(FOLDER)
        for PATH in REAL:
            PARTS.run_shared(PATH, check, HERE)
        for PATH in CAPTURES:
            PARTS.run_shared(PATH, check_captures, HERE)
        for NAME, OPTIONS in GRID.items():
            FILE = HERE / f"{NAME}.json"
            generate(FILE, OPTIONS)
            PARTS.run(f"generated {NAME}", check, FILE, HERE)
            FILE.unlink()
        for NAME, CHECK in (("a pass", check_passes), ("twice", check_twice),
                            ("changes", check_changes), ("lost launches", check_lost_launches),
                            ("refusals", check_refusals)):
            with tempfile.TemporaryDirectory(prefix="layerscope-cut-documents-") as OWN:
                PARTS.run(NAME, CHECK, pathlib.Path(OWN))
    PARTS.close()
