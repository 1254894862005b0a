"""Which requests of a workload are fast, typical and slow; expectations counted by hand."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from conftest import Program

from layerscope.capture import workload_file
from layerscope.capture.errors import INVALID_INPUT, CaptureError
from layerscope.capture.workload_file import WorkloadRequest, choose, read_requests


def _write(path: Path, document: Any) -> Path:
    path.write_text(document if isinstance(document, str) else json.dumps(document))
    return path


def _requests(latencies: list[int]) -> list[WorkloadRequest]:
    return [WorkloadRequest(i, 10 + i, 5, ns) for i, ns in enumerate(latencies)]


@pytest.mark.parametrize(
    ("latencies", "expected"),
    [
        ([30, 10, 20], [1, 2, 0]),  # positions 0.2, 1, 1.8
        ([40, 10, 30, 20], [1, 3, 0]),  # 0.3, 1.5 -> 1, 2.7 -> 3
        ([5, 5, 5], [0, 1, 2]),  # equal ones in the order of the file
        (list(range(100, 1200, 100)), [1, 5, 9]),  # eleven: 1, 5, 9
    ],
)
def test_the_request_at_each_percentile_is_chosen(
    latencies: list[int], expected: list[int]
) -> None:
    chosen = choose(_requests(latencies))
    assert [one.request.index for one in chosen] == expected
    assert [(one.label, one.percentile) for one in chosen] == [
        ("Fast", 10),
        ("Typical", 50),
        ("Slow", 90),
    ]


def test_two_requests_are_too_few() -> None:
    with pytest.raises(CaptureError, match="2 complete requests") as refused:
        choose(_requests([1, 2]))
    assert refused.value.code == INVALID_INPUT


def test_a_result_of_vllm_bench_serve_gives_first_token_and_gaps(tmp_path: Path) -> None:
    document = {
        "input_lens": [7, 8, 9, 4],
        "output_lens": [3, 1, 2, 2],
        "ttfts": [0.5, 0.25, 0.1, 0.1],
        "itls": [[0.1, 0.2], [], [0.125], [0.1]],
        "errors": ["", "", "timed out", ""],
    }
    found = read_requests(_write(tmp_path / "bench.json", document))
    assert found == [
        WorkloadRequest(0, 7, 3, 800_000_000),
        WorkloadRequest(1, 8, 1, 250_000_000),
        WorkloadRequest(3, 4, 2, 200_000_000),
    ]


def test_the_files_own_latency_has_precedence(tmp_path: Path) -> None:
    document = {"input_lens": [7], "output_lens": [3], "latencies": [1.5], "ttfts": [9], "itls": []}
    packed = tmp_path / "bench.json.gz"
    packed.write_bytes(gzip.compress(json.dumps(document).encode()))
    assert read_requests(packed) == [WorkloadRequest(0, 7, 3, 1_500_000_000)]


def test_of_several_runs_the_first_with_single_requests_is_read(tmp_path: Path) -> None:
    whole = {"input_lens": [7], "output_lens": [3], "ttfts": [1.0], "itls": [[0.5]]}
    lines = [json.dumps({"duration": 3}), "not JSON", json.dumps(whole)]
    found = read_requests(_write(tmp_path / "sglang.jsonl", "\n".join(lines)))
    assert found == [WorkloadRequest(0, 7, 3, 1_500_000_000)]


def test_workload_data_gives_its_complete_requests(tmp_path: Path) -> None:
    rows = [
        {"index": 0, "input_tokens": 7, "output_tokens": 3, "e2e_ns": 10, "ok": True},
        {"index": 1, "input_tokens": 7, "output_tokens": 0, "e2e_ns": None, "ok": False},
        {"index": 2, "input_tokens": 8, "output_tokens": None, "e2e_ns": 12, "ok": True},
    ]
    document = {"schema": "layerscope/workload/1", "requests": rows}
    assert read_requests(_write(tmp_path / "w.json", document)) == [WorkloadRequest(0, 7, 3, 10)]


@pytest.mark.parametrize(
    "document",
    [
        "",
        "[]",
        "7",
        "{",
        {},
        {"traceEvents": []},
        {"schema": "layerscope/workload/1", "requests": 3},
        {"input_lens": [1], "output_lens": ["x"], "ttfts": [1], "itls": [[]]},
        {"input_lens": [1], "output_lens": [1], "ttfts": [float("nan")], "itls": [[]]},
        {"input_lens": [1], "output_lens": [1], "ttfts": [-1], "itls": [[]]},
        {"input_lens": [1], "output_lens": [1], "ttfts": [1e308], "itls": [[1e308]]},
        {"input_lens": [1], "output_lens": [1], "ttfts": [10**400], "itls": [[]]},
        '{"input_lens": [1' + "0" * 5000 + "]}",
        "[" * 100_000,
        '{"a":' * 100_000,
    ],
)
def test_other_files_are_refused(document: Any, tmp_path: Path) -> None:
    with pytest.raises(CaptureError) as refused:
        read_requests(_write(tmp_path / "x.json", document))
    assert refused.value.code == INVALID_INPUT
    assert "vllm bench serve" in refused.value.hint


@pytest.mark.parametrize(
    "data",
    [gzip.compress(b'{"a": 1}' * 99)[:20], gzip.compress(b"{}")[:-9] + b"x" * 9, b"\xff\xfe"],
)
def test_files_that_are_broken_are_refused(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_bytes(data)
    with pytest.raises(CaptureError) as refused:
        read_requests(tmp_path / "x.json")
    assert refused.value.code == INVALID_INPUT


def test_a_file_without_an_end_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workload_file, "_MOST_BYTES", 1 << 20)
    with pytest.raises(CaptureError, match="larger than"):
        read_requests(Path("/dev/zero"))


def test_a_missing_file_is_invalid_input(tmp_path: Path) -> None:
    with pytest.raises(CaptureError, match="cannot be read") as refused:
        read_requests(tmp_path / "none.json")
    assert refused.value.code == INVALID_INPUT


def test_a_real_result_and_layerscopes_reading_of_it_choose_the_same(
    tmp_path: Path, layerscope_bin: Program, shared_traces: Path
) -> None:
    """20 requests of vllm bench serve: read as they are, and through `layerscope workload`."""
    bench = shared_traces / "cpu" / "vllm_bench_random20.json"
    data = tmp_path / "workload_data.json"
    layerscope_bin.run(["workload", bench, "-o", data])
    ours, theirs = choose(read_requests(bench)), choose(read_requests(data))
    assert [one.request.index for one in ours] == [one.request.index for one in theirs]
    for mine, its in zip(ours, theirs, strict=True):
        assert abs(mine.request.latency_ns - its.request.latency_ns) <= 2  # floats against text
        assert mine.request.prompt_tokens == its.request.prompt_tokens
