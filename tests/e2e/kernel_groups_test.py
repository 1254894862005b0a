#!/usr/bin/env python3
"""The categories of real kernels against a list judged by hand (kernel_groups.tsv), and the share of
`other` on every LLM trace.

Names that stand in files which the program does not read as kernels (Nsight Systems exports, launches
of a graph capture) are put into a trace written here, one kernel a name.
"""

import gzip
import json
import pathlib
import sqlite3
import tempfile
import tomllib
from collections import Counter, defaultdict

from e2e import ROOT, Parts, program, shared

LIST = pathlib.Path(__file__).with_name("kernel_groups.tsv")
MIN_NAMES = 300
MAX_OTHER_PERCENT = 5
# Traces of language models; the rest are recommendation, vision and toy programs.
LLM_PREFIXES = ("tracelens_hf_", "tracelens_sglang_", "tracelens_vllm_", "tracelens_torch_compile_",
                "hf_qwen3", "vllm_qwen3")


def judged():
    """{name: (group, category or "-")}."""
    rows = {}
    for line in LIST.read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or not line:
            continue
        name, group, category = line.split("\t")
        if name in rows:
            raise ValueError(f"{LIST.name} holds {name[:80]} twice")
        rows[name] = (group, category)
    return rows


def groups():
    """{category: group} as the universal rules say: the first rule of a category that names one."""
    with (ROOT / "profiles" / "universal.toml").open("rb") as file:
        rules = tomllib.load(file)["rule"]
    found = {}
    for rule in rules:
        if "group" in rule:
            found.setdefault(rule["category"], rule["group"])
    return found


def categories(file):
    """{name: category} of a trace's kernels, copies and sets."""
    rows = program.run_json("kernels", [file], "-n", "0")["data"]["rows"]
    return {row["name"]: row["category"] for row in rows}


def names_of_exports(folder):
    """Kernel names of Nsight Systems exports."""
    names = set()
    for file in sorted(folder.glob("*.sqlite")):
        with sqlite3.connect(f"file:{file}?mode=ro&immutable=1", uri=True) as database:
            names.update(name for (name,) in database.execute(
                "SELECT DISTINCT value FROM CUPTI_ACTIVITY_KIND_KERNEL k "
                "JOIN StringIds s ON s.id = k.demangledName"))
    return names


def names_of_captures(folder):
    """Kernels that launches name which were captured into a graph and ran in no trace of ours."""
    names = set()
    for file in sorted(folder.glob("*capture*.json.gz")):
        with gzip.open(file, "rt", encoding="utf-8") as text:
            events = json.load(text)["traceEvents"]
        names.update(event["args"]["kernel"] for event in events
                     if event.get("ph") == "X" and "Launch" in event.get("name", "")
                     and (event.get("args") or {}).get("kernel"))
    return names


def write_trace(file, names):
    events = [{"ph": "X", "cat": "kernel", "name": name, "pid": 0, "tid": 7, "ts": 10 * index,
               "dur": 5, "args": {"device": 0, "stream": 7, "correlation": index + 1}}
              for index, name in enumerate(sorted(names))]
    file.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")


def compare_list(tally, kineto, nsys, folder):
    wanted, group_of, seen = judged(), groups(), defaultdict(set)
    made = folder / "names.json"
    write_trace(made, names_of_exports(nsys) | names_of_captures(kineto))
    files = [made, *(f for f in sorted(kineto.iterdir()) if readable(f))]
    for file in files:
        for name, category in categories(file).items():
            seen[name].add(category)
    compared = 0
    for name, (group, category) in wanted.items():
        tally.holds(f"no file holds the listed name {name[:100]}", name in seen)
        for ours in seen.get(name, ()):
            compared += 1
            tally.equal(f"group ({ours}) of {name[:160]}", group_of.get(ours, "other"), group)
            if category != "-":
                tally.equal(f"category of {name[:160]}", ours, category)
    distinct = sum(name in seen for name in wanted)
    tally.at_most(f"distinct names compared ({distinct}) reach {MIN_NAMES}", MIN_NAMES, distinct)
    print(f"{distinct} distinct names compared, by group: " + ", ".join(
        f"{group} {n}" for group, n in Counter(g for g, _ in wanted.values()).most_common()))


def readable(file):
    """Whether the program takes it as a trace; file_kinds.golden has what is refused."""
    return program.run(["info", file, "--format", "json"]).exit == 0


def compare_other(tally, file):
    rows = program.run_json("kernels", [file], "--by", "category", "-n", "0")["data"]["rows"]
    total = sum(row["sum_ns"] for row in rows)
    other = sum(row["sum_ns"] for row in rows if row["category"] == "other")
    tally.holds("the trace has time", total > 0)
    tally.holds(f"other is {100 * other / max(total, 1):.2f} % of the time",
                100 * other < MAX_OTHER_PERCENT * total)
    print(f"    other: {100 * other / max(total, 1):.2f} %")


if __name__ == "__main__":
    PARTS = Parts("kernel groups")
    KINETO, NSYS, CPU = shared("traces/kineto"), shared("traces/nsys"), shared("traces/cpu")
    if KINETO and NSYS:
        with tempfile.TemporaryDirectory(prefix="layerscope-names-") as FOLDER:
            PARTS.run("names", compare_list, KINETO, NSYS, pathlib.Path(FOLDER))
        FILES = [f for folder in (KINETO, CPU) if folder for f in sorted(folder.glob("*.json.gz"))
                 if f.name.startswith(LLM_PREFIXES)]
        for FILE in FILES:
            PARTS.run(f"other {FILE.name}", compare_other, FILE)
    else:
        PARTS.skip("all", "no real traces in ../shared")
    PARTS.close()
