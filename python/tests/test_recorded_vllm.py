"""Files that real vLLM runs wrote (../shared/traces), through the verbs that capture feeds."""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from conftest import Program, read_json

_DENSE, _MOE = (
    "vllm_qwen3_tiny_offline_stack.json.gz",
    "vllm_qwen3moe_tiny_offline_stack.json.gz",
)


@pytest.fixture
def traces(shared_traces: Path) -> Path:
    return shared_traces / "cpu"


def _own_ns_by_op(execution: dict[str, Any]) -> Counter[str]:
    """Own times of all ops of a model_execution.json, those in modules and those outside."""
    total: Counter[str] = Counter()

    def add(ops: list[dict[str, Any]]) -> None:
        for op in ops:
            total[op["op"]] += op["gpu_own_ns"]
            add(op.get("sub_ops", []))

    def walk(node: dict[str, Any]) -> None:
        add(node["ops"])
        for child in node["children"]:
            walk(child)

    walk(execution["module_tree"])
    add(execution["pre_model_ops"])
    add(execution["post_model_ops"])
    return total


def _own_ns_counted(trace: Path) -> tuple[Counter[str], Counter[str]]:
    """Own times and calls of ops, from the events: an op less those right inside it."""
    text = gzip.decompress(trace.read_bytes())
    threads: dict[Any, list[tuple[int, int, str]]] = {}
    for event in json.loads(text, parse_float=Decimal)["traceEvents"]:
        if event.get("cat") == "cpu_op":
            start, length = (int(Decimal(event[key]) * 1000) for key in ("ts", "dur"))
            threads.setdefault(event["tid"], []).append((start, -length, event["name"]))
    own: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    for ops in threads.values():
        around: list[tuple[int, str]] = []  # end and name of those that run
        for start, minus, name in sorted(ops):
            while around and around[-1][0] <= start:
                around.pop()
            if around:
                own[around[-1][1]] += minus
            own[name] -= minus
            calls[name] += 1
            around.append((start - minus, name))
    return own, calls


def test_map_agrees_with_the_table_that_vllms_profiler_printed(
    traces: Path, tmp_path: Path, layerscope_bin: Program
) -> None:
    """One row for each op and shape, the 50 longest alone: of most ops some shapes are missing.

    Times are rounded to a microsecond. Recorded beside the dense model's trace alone.
    """
    table = (traces / "vllm_qwen3_tiny_offline_stack.key_averages.txt").read_text()
    # name, self %, self, total %, total, average, calls
    row = r"^ *(\S+) +[0-9.]+% +([0-9.]+)(us|ms) +\S+ +\S+ +\S+ +(\d+)"
    rows = [
        (name, float(n) * {"us": 1e3, "ms": 1e6}[unit], int(calls))
        for name, n, unit, calls in re.findall(row, table, re.MULTILINE)
    ]
    shortest = min(own_ns for _, own_ns, _ in rows)
    layerscope_bin.run(["map", traces / _DENSE, "-o", tmp_path / "map.json", "--no-collapse"])
    own = _own_ns_by_op(read_json(tmp_path / "map.json"))
    _, calls = _own_ns_counted(traces / _DENSE)
    whole = set()
    for op in {name for name, _, _ in rows} & set(own):
        of_op = [one for one in rows if one[0] == op]
        missing = calls[op] - sum(one[2] for one in of_op)
        left_ns = own[op] - sum(one[1] for one in of_op)
        assert -500 * len(of_op) <= left_ns <= 500 * len(of_op) + missing * shortest, op
        whole |= {op} if missing == 0 else set()
    # 40 + 4 + 4 calls in three shapes; 324 calls in one.
    assert whole == {"_C::rotary_embedding", "aten::empty"}


@pytest.mark.parametrize("name", [_DENSE, _MOE])
def test_map_has_the_own_time_of_every_op(
    name: str, traces: Path, tmp_path: Path, layerscope_bin: Program
) -> None:
    layerscope_bin.run(["map", traces / name, "-o", tmp_path / "map.json", "--no-collapse"])
    counted, _ = _own_ns_counted(traces / name)
    assert len(counted) == {_DENSE: 48, _MOE: 52}[name]
    assert _own_ns_by_op(read_json(tmp_path / "map.json")) == counted


def _phase(steps: int, tokens: int, gpu_ns: int) -> dict[str, int]:
    return {"steps": steps, "tokens": tokens, "gpu_ns": gpu_ns}


# Counted from the events by another program: the outermost ops of each thread, those that begin in
# a step with the phase that its name says (prompts of 6 and 2 tokens, ten steps of one token).
_COUNTED = {
    _DENSE: (_phase(2, 8, 46_988_143), _phase(10, 10, 356_994_621), 1_138_193),
    _MOE: (_phase(2, 8, 328_667_028), _phase(10, 10, 223_159_042), 640_559),
}


def test_requests_hold_what_the_traces_hold(
    traces: Path, tmp_path: Path, layerscope_bin: Program
) -> None:
    """Two runs beside each other, with metadata as `profile` writes it."""
    rows = [{"file": _MOE, "label": "Slow"}, {"file": _DENSE, "label": "Fast"}]
    for row in rows:
        (tmp_path / row["file"]).symlink_to(traces / row["file"])
    metadata = {"schema": "layerscope/requests/1", "mode": "eager", "requests": rows}
    (tmp_path / "request_metadata.json").write_text(json.dumps(metadata))
    out = tmp_path / "out"
    out.mkdir()
    layerscope_bin.run(["requests", tmp_path, "-o", out / "requests.json"])
    requests = read_json(out / "requests.json")["requests"]
    assert [(row["file"], row["label"]) for row in requests] == [(_MOE, "Slow"), (_DENSE, "Fast")]
    for row in requests:
        prefill, decode, outside_ns = _COUNTED[row["file"]]
        assert sorted(row["phases"]) == ["decode", "prefill"]
        assert row["phases"]["prefill"].items() >= prefill.items()
        assert row["phases"]["decode"].items() >= decode.items()
        assert row["outside_phases_ns"] == outside_ns
        assert row["gpu_ns"] == prefill["gpu_ns"] + decode["gpu_ns"] + outside_ns


def test_a_benchmark_and_its_metrics_are_one_workload(
    traces: Path, tmp_path: Path, layerscope_bin: Program
) -> None:
    """20 requests were sent and came back."""
    layerscope_bin.run(
        ["workload", traces / "vllm_bench_random20.json", traces / "vllm_metrics.txt", "-o",
         tmp_path / "workload_data.json"]
    )  # fmt: skip
    workload = read_json(tmp_path / "workload_data.json")
    assert workload["schema"] == "layerscope/workload/1"
    assert workload["summary"]["completed"] == len(workload["requests"]) == 20
