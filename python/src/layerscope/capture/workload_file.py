"""Requests of a benchmark, and which of them stand for the fast, the typical and the slow ones.

Read are layerscope's own workload_data.json (`layerscope workload`) and the results of
`vllm bench serve --save-detailed` and of SGLang's bench_serving with --output-details (one run a
line; the first with single requests). Times become integer nanoseconds.
"""

from __future__ import annotations

import gzip
import json
import math
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from layerscope.capture.errors import INVALID_INPUT, CaptureError
from layerscope.capture.json_values import is_number, is_whole

_SCHEMA = "layerscope/workload/"
_NS = 1_000_000_000
_MOST_SECONDS = 9_000_000_000  # as nanoseconds in 64 bits
_MOST_BYTES = 1 << 30  # 100,000 requests of 500 tokens, with the time of each
_HINT = (
    "it wants workload_data.json, or the result of vllm bench serve --save-detailed or of SGLang's "
    "bench_serving with --output-details"
)
PERCENTILES = {"Fast": 10, "Typical": 50, "Slow": 90}


@dataclass(frozen=True)
class WorkloadRequest:
    """One request that came back whole."""

    index: int  # in the file, failed ones counted
    prompt_tokens: int
    output_tokens: int
    latency_ns: int  # from sending to the last token


@dataclass(frozen=True)
class ChosenRequest:
    """A request that stands for a percentile of the latencies; label and percentile may be None."""

    label: str | None
    percentile: int | None
    request: WorkloadRequest


def choose(requests: Sequence[WorkloadRequest]) -> list[ChosenRequest]:
    """Fast p10, Typical p50, Slow p90 by latency: three real requests, in this order.

    Of n sorted latencies the one at position (n - 1) * p / 100, rounded half down. Fewer than three
    requests have no such three: INVALID_INPUT.
    """
    if len(requests) < len(PERCENTILES):
        raise CaptureError(
            f"the workload has {len(requests)} complete requests; fast, typical and slow want "
            "three at least",
            "run a longer benchmark, or give --num-prompts, --input-len and --output-len",
            INVALID_INPUT,
        )
    ordered = sorted(requests, key=lambda request: (request.latency_ns, request.index))
    chosen = []
    for label, percentile in PERCENTILES.items():
        # ceil(x - 1/2) in whole numbers
        position = math.ceil((2 * (len(ordered) - 1) * percentile - 100) / 200)
        chosen.append(ChosenRequest(label, percentile, ordered[max(position, 0)]))
    return chosen


def read_requests(path: Path) -> list[WorkloadRequest]:
    """The complete requests of a file. Errors: unreadable, of another kind, without requests."""
    for document in _documents(path):
        if str(document.get("schema", "")).startswith(_SCHEMA):
            found = _of_workload_data(document)
        else:
            found = _of_benchmark(document)
        if found:
            return found
    raise CaptureError(
        f"{path}: there are no single requests with tokens and latency in it", _HINT, INVALID_INPUT
    )


def _documents(path: Path) -> list[dict[str, Any]]:
    """The object of a JSON file, or those of its lines."""
    text = _text(path)
    whole = _parsed(text)
    documents = [whole] if whole is not None else map(_parsed, text.splitlines())
    objects = [one for one in documents if isinstance(one, dict)]
    if not objects:
        raise CaptureError(f"{path} is no JSON object", _HINT, INVALID_INPUT)
    return objects


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            is_packed = file.peek(2)[:2] == b"\x1f\x8b"  # a pipe cannot be read again
            whole = gzip.GzipFile(fileobj=file) if is_packed else file
            data = whole.read(_MOST_BYTES + 1)
        text = data.decode()
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise CaptureError(f"{path} cannot be read: {error}", _HINT, INVALID_INPUT) from error
    if len(data) > _MOST_BYTES:
        raise CaptureError(f"{path} is larger than {_MOST_BYTES} bytes", _HINT, INVALID_INPUT)
    return text


def _parsed(text: str) -> Any:
    """None where it is no JSON, or none that can be read: numbers of thousands of digits, depth."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _of_workload_data(document: Mapping[str, Any]) -> list[WorkloadRequest]:
    found: list[WorkloadRequest] = []
    rows = document.get("requests")
    for position, row in enumerate(rows if isinstance(rows, list) else []):
        if not isinstance(row, dict) or row.get("ok") is False:
            continue
        index = row.get("index", position)
        _add(found, index, row.get("input_tokens"), row.get("output_tokens"), row.get("e2e_ns"))
    return found


def _of_benchmark(document: Mapping[str, Any]) -> list[WorkloadRequest]:
    """Lists with one entry a request; a failed one has an entry in `errors`."""
    found: list[WorkloadRequest] = []
    inputs, outputs = _list(document, "input_lens"), _list(document, "output_lens")
    errors = _list(document, "errors")
    for index, (n_in, n_out) in enumerate(zip(inputs, outputs, strict=False)):
        if index < len(errors) and errors[index]:
            continue
        _add(found, index, n_in, n_out, _latency_ns(document, index))
    return found


def _latency_ns(document: Mapping[str, Any], index: int) -> int | None:
    """The file's own latency, else the first token and all times between tokens (s)."""
    latencies = _list(document, "latencies")
    if index < len(latencies):
        return _ns(latencies[index])
    first, between = _list(document, "ttfts"), _list(document, "itls")
    if index >= len(first) or index >= len(between) or not isinstance(between[index], list):
        return None
    parts = [_ns(first[index]), *(_ns(value) for value in between[index])]
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def _list(document: Mapping[str, Any], key: str) -> list[Any]:
    value = document.get(key)
    return value if isinstance(value, list) else []


def _ns(seconds: Any) -> int | None:
    return round(seconds * _NS) if is_number(seconds) and 0 <= seconds < _MOST_SECONDS else None


def _add(found: list[WorkloadRequest], index: Any, n_in: Any, n_out: Any, latency_ns: Any) -> None:
    """Adds a request where all that a profile of it needs is known."""
    numbers = (index, n_in, n_out, latency_ns)
    whole = all(is_whole(n) for n in numbers)
    if whole and n_in > 0 and n_out > 0 and latency_ns > 0:
        found.append(WorkloadRequest(index, n_in, n_out, latency_ns))
