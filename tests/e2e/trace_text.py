"""Traces as text: the raw text of every event, and times as exact integers."""

import decimal
import gzip
import json
import re

DECODER = json.JSONDecoder(strict=False, parse_float=decimal.Decimal)


def read_text(path):
    raw = path.read_bytes()
    if raw[:2] == b"\x1f\x8b":
        raw = gzip.decompress(raw)
    return raw.decode("utf-8", errors="surrogateescape")


def raw_events(text):
    """[(text of the event, the event)]: what a strict reader of JSON finds in the list, in order."""
    list_at = 0 if text.lstrip().startswith("[") else re.search(r'"traceEvents"\s*:\s*', text).end()
    at = text.index("[", list_at) + 1
    events = []
    while True:
        at = re.compile(r"[\s,]*").match(text, at).end()
        if at >= len(text) or text[at] == "]":
            return events
        event, end = DECODER.raw_decode(text, at)
        events.append((text[at:end], event))
        at = end


def nanoseconds(value):
    """A ts or dur in microseconds (number or text) as integer nanoseconds."""
    return int((decimal.Decimal(str(value)) * 1000).to_integral_value())
