"""What benchmark results and Prometheus dumps hold, worked out without layerscope: from the text with
Python's own JSON reader and exact fractions. Times are integer nanoseconds, rounded half to even.
"""

import decimal
import fractions
import json
import re

Decimal, Fraction = decimal.Decimal, fractions.Fraction
PERCENTILES = (50, 90, 95, 99)
# The file's own figures: what they are called, and nanoseconds of their unit.
STATS = {"mean": "mean", "median": "p50", "std": "std", "p90": "p90", "p95": "p95", "p99": "p99",
         "min": "min", "max": "max"}
METRICS = {"ttft": "ttft", "tpot": "tpot", "itl": "itl", "e2el": "e2e", "e2e_latency": "e2e"}
LIFECYCLE = {"request_latency": "e2e", "time_to_first_token": "ttft", "time_per_output_token": "tpot",
             "inter_token_latency": "itl"}


def rounded(number):
    """Half to even, as round() does with fractions."""
    return round(Fraction(number))


def nanoseconds(number, scale=10**9):
    return rounded(Fraction(number) * scale)


def load_runs(path):
    """The objects of a result: one, a list, or one a line. Numbers with a point stay decimal."""
    text = path.read_text(encoding="utf-8")
    read = json.JSONDecoder(parse_float=Decimal).raw_decode
    runs, at = [], 0
    while text[at:].strip():
        at += len(text[at:]) - len(text[at:].lstrip())
        value, at = read(text, at)
        runs += value if isinstance(value, list) else [value]
    return runs


def percentile(ordered, percent):
    place = Fraction((len(ordered) - 1) * percent, 100)
    low = place.numerator // place.denominator
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def distribution(values):
    if not values:
        return None
    ordered = sorted(values)
    mean = Fraction(sum(values), len(values))
    variance = sum((value - mean) ** 2 for value in values) / len(values)
    deviation = (Decimal(variance.numerator) / Decimal(variance.denominator)).sqrt()
    return {"mean_ns": rounded(mean), "std_ns": rounded(deviation), "min_ns": ordered[0],
            "max_ns": ordered[-1], "n": len(values),
            **{f"p{p}_ns": rounded(percentile(ordered, p)) for p in PERCENTILES}}


def file_figures(run):
    """{metric: {stat_ns: value}} of the figures that the file itself gives."""
    figures = {}
    for key, value in run.items():
        stat, _, metric = key.partition("_")
        scale = 10**6 if metric.endswith("_ms") else 10**9
        metric = METRICS.get(metric.removesuffix("_ms"))
        if stat in STATS and metric and isinstance(value, Decimal | int):
            figures.setdefault(metric, {})[STATS[stat] + "_ns"] = nanoseconds(value, scale)
    for name, stats in run.get("successes", {}).get("latency", {}).items():
        if name in LIFECYCLE:
            figures[LIFECYCLE[name]] = {("p50" if stat == "median" else stat) + "_ns": nanoseconds(value)
                                        for stat, value in stats.items()}
    return figures


def counts(run):
    """Whole numbers of the run, by the names of `summary`."""
    if "successes" in run:
        return {"completed": run["successes"]["count"], "failed": run["failures"]["count"],
                "duration_ns": None}
    return {"completed": run.get("completed"), "failed": run.get("failed"),
            "duration_ns": nanoseconds(run["duration"]), "input_tokens": run["total_input_tokens"],
            "output_tokens": run["total_output_tokens"]}


def requests(run):
    """The single requests of a detailed result, none of which failed in the files that we have."""
    found = []
    for i, ttft in enumerate(run.get("ttfts", [])):
        itl = [nanoseconds(t) for t in run["itls"][i]]
        e2e = nanoseconds(run["latencies"][i]) if "latencies" in run else nanoseconds(ttft) + sum(itl)
        decode = e2e - nanoseconds(ttft)
        found.append({"ttft_ns": nanoseconds(ttft), "itl_ns": itl, "e2e_ns": e2e, "decode_ns": decode,
                      "tpot_ns": rounded(Fraction(decode, run["output_lens"][i] - 1)),
                      "start_ns": nanoseconds(run["start_times"][i]),
                      "queue_ns": nanoseconds(run["queue_times"][i]) if "queue_times" in run else None,
                      "input_tokens": run["input_lens"][i], "output_tokens": run["output_lens"][i],
                      "ok": run["errors"][i] == ""})
    first = min((r["start_ns"] for r in found), default=0)
    for request in found:
        request["start_ns"] -= first
    return found


def concurrency(found):
    """[(time, requests in flight from then on)], by looking at every moment anew."""
    moments = sorted({r["start_ns"] for r in found} | {r["start_ns"] + r["e2e_ns"] for r in found})
    steps, before = [], 0
    for moment in moments:
        n = sum(r["start_ns"] <= moment < r["start_ns"] + r["e2e_ns"] for r in found)
        if n != before:
            steps.append((moment, n))
        before = n
    return steps


SAMPLE = re.compile(r'^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$')
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"')


def load_dump(path):
    """{family: {"type", "series": {labels: {…}}}} of the engine's metrics, without _created."""
    types, families = {}, {}
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            types[name] = kind
        match = SAMPLE.match(line)
        if line.startswith("#") or not match or not match[1].startswith(("vllm:", "sglang:")):
            continue
        name, labels, value = match[1], dict(LABEL.findall(match[2] or "")), match[3]
        if name.endswith("_created"):
            continue
        bound = labels.pop("le", None)
        family, part = name, "value"
        for suffix in ("_bucket", "_count", "_sum"):
            if name.endswith(suffix) and types.get(name.removesuffix(suffix)) == "histogram":
                family, part = name.removesuffix(suffix), suffix[1:]
        metric = families.setdefault(family, {"type": types[family], "series": {}})
        series = metric["series"].setdefault(tuple(sorted(labels.items())), {"buckets": []})
        if part == "bucket":
            series["buckets"].append((bound, Decimal(value)))
        else:
            series[part] = Decimal(value)
    return families


def quantile(buckets, share):
    """Prometheus's histogram_quantile of [(upper bound as text, cumulative count)], in the bounds' unit."""
    finite = [(Fraction(Decimal(bound)), Fraction(n)) for bound, n in buckets if bound != "+Inf"]
    total = Fraction(dict(buckets)["+Inf"])
    if not total:
        return None
    rank, below, start = share * total, Fraction(0), Fraction(0)
    for bound, n in finite:
        if n >= rank:
            return start + (bound - start) * (rank - below) / (n - below)
        below, start = n, bound
    return finite[-1][0]


def bounded(buckets, share, mean):
    """A quantile of a histogram and what it is: the estimate, or the limit that it would cross. Of values that are
    not negative no more than `mean / x` of them reach x; the same holds of their distances from the highest bound. In
    the first bucket there is no estimate but its bound."""
    estimate = quantile(buckets, share)
    if estimate is None:
        return None, None
    finite = [(Fraction(Decimal(bound)), Fraction(n)) for bound, n in buckets if bound != "+Inf"]
    total = Fraction(dict(buckets)["+Inf"])
    if share * total > finite[-1][1]:
        return estimate, "at_least"
    most = mean / (1 - share)
    if estimate > most * (1 + Fraction(1, 10**9)):
        return most, "at_most"
    highest = next((bound for bound, n in finite if n >= total), None)
    if highest is not None:
        least = highest - (highest - mean) / share
        if estimate < least * (1 - Fraction(1, 10**9)):
            return least, "at_least"
    first, inside = finite[0]
    if first > 0 and share * total <= inside:
        return min(first, most), "at_most"
    return estimate, None


def metric_figures(name, metric):
    """What `server` says of one metric, all series added up."""
    series = list(metric["series"].values())
    if metric["type"] == "counter":
        return {"count": sum(s["value"] for s in series)}
    if metric["type"] == "gauge":
        alone = len(series) == 1 or "num_" in name
        return {"value": sum(s["value"] for s in series) if alone else None}
    figures = {"count": sum(s["count"] for s in series)}
    buckets = {}
    for one in series:
        for bound, n in one["buckets"]:
            buckets[bound] = buckets.get(bound, 0) + n
    total, in_seconds = sum(s["sum"] for s in series), name.endswith("_seconds")
    figures |= {"sum_ns": nanoseconds(total)} if in_seconds else {"sum": total}
    figures["quantile_bounds"] = {}
    mean = Fraction(total) / Fraction(figures["count"]) if figures["count"] else None
    for percent in PERCENTILES:
        value, limit = bounded(list(buckets.items()), Fraction(percent, 100), mean)
        key = f"p{percent}_ns" if in_seconds else f"p{percent}"
        if limit:
            figures["quantile_bounds"][key] = limit
        figures[key] = value if value is None or not in_seconds else nanoseconds(value)
    return figures
