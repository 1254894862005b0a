"""Files that real vLLM runs wrote (../shared/traces), through the verbs that capture feeds."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import Engine

_TRACES = Path(__file__).parents[3] / "shared" / "traces" / "cpu"
_DENSE, _MOE = (
    "vllm_qwen3_tiny_offline_stack.json.gz",
    "vllm_qwen3moe_tiny_offline_stack.json.gz",
)


@pytest.fixture
def traces(not_run_here: Callable[[str], None]) -> Path:
    if not _TRACES.is_dir():
        not_run_here("recorded vLLM files: ../shared/traces is absent")
        pytest.skip("../shared/traces is absent")
    return _TRACES


def _read(path: Path) -> dict[str, Any]:
    document = json.loads(path.read_text())
    assert isinstance(document, dict)
    return document


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


def test_map_agrees_with_the_table_that_vllms_profiler_printed(
    traces: Path, tmp_path: Path, layerscope_bin: Engine
) -> None:
    """rotary_embedding has its 48 calls in three rows of the table (one a shape), each rounded to a
    microsecond: 57.715, 4.114 and 3.989 ms."""
    table = (traces / "vllm_qwen3_tiny_offline_stack.key_averages.txt").read_text()
    # name, self %, self, total %, total, average, calls
    row = r"^ *_C::rotary_embedding +\S+ +([0-9.]+)(us|ms) +\S+ +\S+ +\S+ +(\d+)"
    rows = re.findall(row, table, re.MULTILINE)
    assert sum(int(calls) for _, _, calls in rows) == 48
    expected_ns = sum(float(n) * {"us": 1e3, "ms": 1e6}[unit] for n, unit, _ in rows)

    layerscope_bin.run(["map", traces / _DENSE, "-o", tmp_path / "map.json", "--no-collapse"])
    own = _own_ns_by_op(_read(tmp_path / "map.json"))
    assert abs(own["_C::rotary_embedding"] - expected_ns) <= 500 * len(rows)


def test_requests_hold_all_that_map_holds(
    traces: Path, tmp_path: Path, layerscope_bin: Engine
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
    requests = _read(out / "requests.json")["requests"]
    assert [(row["file"], row["label"]) for row in requests] == [(_MOE, "Slow"), (_DENSE, "Fast")]
    for row in requests:
        layerscope_bin.run(["map", traces / row["file"], "-o", out / "map.json"])
        assert row["gpu_ns"] == _read(out / "map.json")["stats"]["total_gpu_ns"]
        parts = [phase["gpu_ns"] for phase in row["phases"].values()]
        assert sum(parts) + row["outside_phases_ns"] == row["gpu_ns"]


def test_a_benchmark_and_its_metrics_are_one_workload(
    traces: Path, tmp_path: Path, layerscope_bin: Engine
) -> None:
    """20 requests were sent and came back."""
    layerscope_bin.run(
        ["workload", traces / "vllm_bench_random20.json", traces / "vllm_metrics.txt", "-o",
         tmp_path / "workload_data.json"]
    )  # fmt: skip
    workload = _read(tmp_path / "workload_data.json")
    assert workload["schema"] == "layerscope/workload/1"
    assert workload["summary"]["completed"] == len(workload["requests"]) == 20
