"""A benchmark of a real vLLM and its server's metrics, through `workload`.

Every expected value is taken from the recorded files here: times from their decimal text, figures
as vLLM itself computed them.
"""

from __future__ import annotations

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from conftest import Program, read_json

_SERVER = {
    "ttft": "vllm:time_to_first_token_seconds",
    "tpot": "vllm:request_time_per_output_token_seconds",
    "itl": "vllm:inter_token_latency_seconds",
    "e2e": "vllm:e2e_request_latency_seconds",
}


@pytest.fixture
def bench(shared_traces: Path) -> Path:
    return shared_traces / "cpu" / "vllm_bench_random20.json"


@pytest.fixture
def metrics(shared_traces: Path) -> Path:
    return shared_traces / "cpu" / "vllm_metrics.txt"


def _ns(seconds: Decimal) -> int:
    return round(seconds * 10**9)


def _recorded(bench: Path) -> dict[str, Any]:
    """The file with its numbers as they stand in it."""
    document: dict[str, Any] = json.loads(bench.read_text(), parse_float=Decimal)
    return document


def _sum_of(metrics: Path, name: str) -> Decimal:
    """Over all series of a metric."""
    values = re.findall(rf"^{name}\{{.*\}} (\S+)$", metrics.read_text(), re.MULTILINE)
    assert values, name
    return sum((Decimal(value) for value in values), Decimal())


def _workload(program: Program, folder: Path, *words: str | Path) -> dict[str, Any]:
    program.run(["workload", *words, "-o", folder / "workload_data.json"])
    return read_json(folder / "workload_data.json")


def test_each_request_has_the_times_and_tokens_of_the_file(
    bench: Path, tmp_path: Path, layerscope_bin: Program
) -> None:
    made = _workload(layerscope_bin, tmp_path, bench)
    file = _recorded(bench)
    assert len(made["requests"]) == 20
    begin = min(file["start_times"])
    for n, request in enumerate(made["requests"]):
        first, latency = file["ttfts"][n], file["latencies"][n]
        assert request["index"] == n and request["ok"] and request["error"] is None
        assert request["input_tokens"] == file["input_lens"][n]
        assert request["output_tokens"] == file["output_lens"][n] == 16
        assert (request["ttft_ns"], request["e2e_ns"]) == (_ns(first), _ns(latency))
        assert request["itl_ns"] == [_ns(gap) for gap in file["itls"][n]]
        assert request["start_ns"] == _ns(file["start_times"][n] - begin)
        assert request["queue_ns"] == _ns(file["queue_times"][n])
        decode_ns = _ns(latency) - _ns(first)
        assert request["decode_ns"] == decode_ns
        assert request["tpot_ns"] == round(Decimal(decode_ns) / 15)


def test_figures_are_those_that_vllm_computed(
    bench: Path, tmp_path: Path, layerscope_bin: Program
) -> None:
    """In milliseconds in the file; ours are of whole nanoseconds."""
    summary = _workload(layerscope_bin, tmp_path, bench)["summary"]
    file = _recorded(bench)
    assert (summary["completed"], summary["failed"]) == (file["completed"], file["failed"])
    assert summary["duration_ns"] == _ns(file["duration"])
    assert summary["input_tokens"] == file["total_input_tokens"] == 641
    assert summary["output_tokens"] == file["total_output_tokens"] == 320
    a_second = pytest.approx(float(file["request_throughput"]), rel=1e-9)
    assert summary["request_throughput_per_s"] == a_second
    for ours, theirs in {"ttft": "ttft", "tpot": "tpot", "itl": "itl", "e2e": "e2el"}.items():
        for key, name in {"mean": "mean", "std": "std", "p50": "median", "p99": "p99"}.items():
            in_file = int(file[f"{name}_{theirs}_ms"] * 10**6)
            assert abs(summary[ours][f"{key}_ns"] - in_file) <= 1, (ours, key)
        assert summary[ours]["n"] == (300 if ours == "itl" else 20)


def test_the_server_counts_what_its_metrics_say(
    metrics: Path, bench: Path, tmp_path: Path, layerscope_bin: Program
) -> None:
    made = _workload(layerscope_bin, tmp_path, bench, metrics)
    server = made["server"]
    for name in ("prompt_tokens_total", "generation_tokens_total", "request_success_total"):
        assert server[f"vllm:{name}"]["count"] == _sum_of(metrics, f"vllm:{name}")
    for key, name in _SERVER.items():
        total, count = _sum_of(metrics, f"{name}_sum"), int(_sum_of(metrics, f"{name}_count"))
        for figures in (server[name], made["server_summary"][key]):
            assert (figures["sum_ns"], figures["count"]) == (_ns(total), count)
            assert abs(figures["mean_ns"] - _ns(total) / count) <= 1


def test_differences_are_the_clients_figures_less_the_servers(
    metrics: Path, bench: Path, tmp_path: Path, layerscope_bin: Program
) -> None:
    made = _workload(layerscope_bin, tmp_path, bench, metrics)
    found = {row["what"]: row for row in made["differences"]}
    file = _recorded(bench)
    counts = {
        "requests": (file["completed"], "vllm:request_success_total"),
        "input_tokens": (file["total_input_tokens"], "vllm:prompt_tokens_total"),
        "output_tokens": (file["total_output_tokens"], "vllm:generation_tokens_total"),
    }
    for what, (count, metric) in counts.items():
        theirs = _sum_of(metrics, metric)
        expected = (metric, count, theirs, "exact", count - theirs)
        keys = ("metric", "bench", "server", "server_is", "difference")
        assert tuple(found[what][key] for key in keys) == expected
    for key, metric in _SERVER.items():
        row = found[f"{key}.mean_ns"]
        mean = _sum_of(metrics, f"{metric}_sum") / _sum_of(metrics, f"{metric}_count")
        in_file = file[f"mean_{'e2el' if key == 'e2e' else key}_ms"] / 1000
        assert (row["metric"], row["server_is"]) == (metric, "exact")
        assert abs(row["bench"] - in_file * 10**9) <= 1
        assert abs(row["server"] - mean * 10**9) <= 1
        assert row["difference"] == row["bench"] - row["server"]


def test_of_two_dumps_only_what_came_between_counts(
    metrics: Path, bench: Path, tmp_path: Path, layerscope_bin: Program
) -> None:
    """The earlier one is the recorded one before its last two requests, written by hand."""

    def less(text: str, name: str, by: str) -> str:
        pattern = rf"(?m)^({name}\{{.*\}}) (\S+)$"
        changed, n = re.subn(pattern, lambda m: f"{m[1]} {Decimal(m[2]) - Decimal(by)}", text)
        assert n == 1, name
        return changed

    text = less(metrics.read_text(), "vllm:prompt_tokens_total", "64")
    text = less(text, "vllm:generation_tokens_total", "32")
    first = _SERVER["ttft"]
    text = less(less(text, f"{first}_count", "2"), f"{first}_sum", "0.15")
    # The last two took 75 ms each: no bucket holds more than the 18 before them.
    text = re.sub(
        rf"(?m)^({first}_bucket\{{.*\}}) (\S+)$",
        lambda m: f"{m[1]} {min(Decimal(m[2]), Decimal(18))}",
        text,
    )
    before = tmp_path / "before.txt"
    before.write_text(text)
    made = _workload(layerscope_bin, tmp_path, bench, metrics, "--prometheus-before", before)
    server = made["server"]
    assert server["vllm:prompt_tokens_total"]["count"] == 64
    assert server["vllm:generation_tokens_total"]["count"] == 32
    assert server["vllm:request_success_total"]["count"] == 0
    ttft = server[first]
    assert (ttft["count"], ttft["sum_ns"], ttft["mean_ns"]) == (2, 150_000_000, 75_000_000)
    found = {row["what"]: row["difference"] for row in made["differences"]}
    # The benchmark's 20 requests, 641 and 320 tokens less these.
    assert (found["requests"], found["input_tokens"], found["output_tokens"]) == (20, 577, 288)
    assert made["server_summary"]["covers"] == "between_dumps"
