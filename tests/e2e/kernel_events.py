"""A small second reader of a Kineto trace for tests of layers: its kernels in ordinal order, and copies
of the trace with names replaced.
"""

import gzip
import json
import re
from decimal import ROUND_HALF_EVEN, Decimal

# What a kernel does by its raw name, written apart from the program's own rules: only names of the real
# traces of layers_golden_test.py need to be right here.
CLASSES = {
    "norm": re.compile(r"rms_?norm|layer_?norm|pow_tensor_scalar|MeanOps|rsqrt_kernel", re.I),
    "mixer": re.compile(r"flash_fwd|fmha|paged_attention|unified_attention|reduce_segments", re.I),
    "GEMM": re.compile(r"gemm|Cijk_|nvjet|^bmm_|matmul_ogs", re.I),
    "FFN": re.compile(r"act_and_mul|silu|swiglu|moe::dev|^bmm_|matmul_ogs|_matmul_scatter|routing|"
                      r"bitmatrix|topk_forward", re.I),
}


# A string under "name" or "kernel" as it stands in the file, escapes and all.
NAMED = re.compile(r'"(?:name|kernel)"\s*:\s*("(?:[^"\\]|\\.)*")')


def read_text(file):
    with gzip.open(file, "rt", encoding="utf-8") as text:
        return text.read()


def events_of(text):
    return [event for event in json.loads(text, parse_float=Decimal)["traceEvents"]
            if event.get("ph") == "X"]


def nanoseconds(microseconds):
    return int((Decimal(microseconds) * 1000).to_integral_value(ROUND_HALF_EVEN))


def kernel_durations(events):
    """Durations in ns of a one-device trace's kernels by ordinal: by ts, then as they stand."""
    kernels = [event for event in events if event.get("cat") == "kernel"]
    kernels.sort(key=lambda event: nanoseconds(event["ts"]))
    return [nanoseconds(event["dur"]) for event in kernels]


def kernel_names(events):
    """Distinct names of kernels that ran and of kernels that captured launches name, in file order."""
    found = {}
    for event in events:
        if event.get("cat") == "kernel":
            found[event["name"]] = True
        elif "Launch" in event.get("name", "") and (event.get("args") or {}).get("kernel"):
            found[event["args"]["kernel"]] = True
    return list(found)


class Template:
    """A trace's text cut at the names of its kernels, so that copies with other names cost little.
    Numbers stay as they stand; ops and ranges that bear a kernel's name are renamed with it."""

    def __init__(self, text):
        self.names = kernel_names(events_of(text))
        wanted = set(self.names)
        decoded = {}
        self.pieces, end = [], 0
        for match in NAMED.finditer(text):
            raw = match.group(1)
            if raw not in decoded:
                decoded[raw] = json.loads(raw, strict=False)
            if decoded[raw] in wanted:
                self.pieces.append((text[end:match.start(1)], decoded[raw], raw))
                end = match.end(1)
        self.rest = text[end:]

    def renamed(self, new_names):
        """The text with every name in the dict `new_names` replaced."""
        quoted = {old: json.dumps(new) for old, new in new_names.items()}
        parts = [part for before, name, raw in self.pieces for part in (before, quoted.get(name, raw))]
        return "".join([*parts, self.rest])
