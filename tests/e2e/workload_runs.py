#!/usr/bin/env python3
"""Small workloads whose every figure is known: a server that is simulated request by request, as the
files that a benchmark's client and the server's /metrics would hold of it.

`workload_runs.py FOLDER` writes the two of examples/.
"""

import json
import pathlib
import random
import sys

BOUNDS = {"vllm:time_to_first_token_seconds": (0.01, 0.02, 0.04, 0.08, 0.25, 0.5, 1.0, 2.5),
          "vllm:inter_token_latency_seconds": (0.005, 0.01, 0.02, 0.05, 0.1),
          "vllm:request_time_per_output_token_seconds": (0.005, 0.01, 0.02, 0.05, 0.1),
          "vllm:e2e_request_latency_seconds": (0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 5.0),
          "vllm:request_queue_time_seconds": (0.001, 0.01, 0.1, 0.3, 0.5, 0.8, 1.0, 2.5),
          "vllm:request_prefill_time_seconds": (0.01, 0.02, 0.04, 0.08, 0.3),
          "vllm:request_decode_time_seconds": (0.1, 0.3, 0.5, 0.8, 1.0, 1.5, 2.5)}


def simulate(n=64, seed=7, slots=8, rate=9.0, decode_ms=9.0):
    """Requests that arrive at random and wait until one of `slots` is free. Whole microseconds."""
    rng = random.Random(seed)
    free = [0] * slots
    now = 0
    requests = []
    for _ in range(n):
        now += int(rng.expovariate(rate) * 1e6)
        tokens_in = rng.choice((64, 128, 256, 512, 1024)) + rng.randrange(32)
        tokens_out = rng.choice((32, 64, 96, 128)) + rng.randrange(8)
        slot = min(range(slots), key=lambda s: free[s])
        begin = max(now, free[slot])
        prefill = 9000 + 22 * tokens_in + rng.randrange(2000)
        itl = [int(decode_ms * 1000) + rng.randrange(-1500, 2500) for _ in range(tokens_out - 1)]
        free[slot] = begin + prefill + sum(itl)
        requests.append({"start": now, "queue": begin - now, "prefill": prefill, "itl": itl,
                         "input": tokens_in, "output": tokens_out})
    return requests


def seconds(microseconds):
    return round(microseconds * 1e-6, 6)


def percentile(values, percent):
    """numpy's linear one."""
    ordered = sorted(values)
    place = (len(ordered) - 1) * percent / 100
    low = int(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (place - low)


def statistics_of(name, values):
    mean = sum(values) / len(values)
    deviation = (sum((v - mean) ** 2 for v in values) / len(values)) ** 0.5
    figures = {"mean": mean, "median": percentile(values, 50), "std": deviation,
               "p99": percentile(values, 99)}
    return {f"{stat}_{name}_ms": figure / 1000 for stat, figure in figures.items()}


def bench(requests, detailed=True):
    """The result of `vllm bench serve --save-result [--save-detailed]`."""
    ttfts = [r["queue"] + r["prefill"] for r in requests]
    e2es = [t + sum(r["itl"]) for t, r in zip(ttfts, requests)]
    duration = max(r["start"] + e for r, e in zip(requests, e2es))
    tokens_in, tokens_out = (sum(r[k] for r in requests) for k in ("input", "output"))
    result = {"date": "20260301-120000", "endpoint_type": "openai", "backend": "openai", "label": None,
              "model_id": "Qwen/Qwen3-8B", "tokenizer_id": "Qwen/Qwen3-8B",
              "num_prompts": len(requests), "request_rate": 9.0, "burstiness": 1.0,
              "max_concurrency": None, "duration": seconds(duration), "completed": len(requests),
              "failed": 0, "total_input_tokens": tokens_in, "total_output_tokens": tokens_out,
              "request_throughput": len(requests) / seconds(duration), "request_goodput": None,
              "output_throughput": tokens_out / seconds(duration),
              "total_token_throughput": (tokens_in + tokens_out) / seconds(duration)}
    if detailed:
        result |= {"input_lens": [r["input"] for r in requests],
                   "output_lens": [r["output"] for r in requests],
                   "ttfts": [seconds(t) for t in ttfts],
                   "itls": [[seconds(i) for i in r["itl"]] for r in requests],
                   "start_times": [seconds(5_000_000_000 + r["start"]) for r in requests],
                   "generated_texts": ["" for _ in requests], "errors": ["" for _ in requests]}
    tpots = [(e - t) / (r["output"] - 1) for e, t, r in zip(e2es, ttfts, requests)]
    for name, values in (("ttft", ttfts), ("tpot", tpots), ("e2el", e2es),
                         ("itl", [i for r in requests for i in r["itl"]])):
        result |= statistics_of(name, values)
    return result


def histogram(name, values, labels):
    lines = [f"# HELP {name} Histogram of {name.split(':')[1]}.", f"# TYPE {name} histogram"]
    for bound in (*BOUNDS[name], float("inf")):
        le = "+Inf" if bound == float("inf") else repr(bound)
        below = sum(v <= bound for v in values)
        lines.append(f'{name}_bucket{{{labels},le="{le}"}} {float(below)}')
    lines.append(f"{name}_count{{{labels}}} {float(len(values))}")
    lines.append(f"{name}_sum{{{labels}}} {round(sum(values), 6)!r}")
    lines += [f"# TYPE {name}_created gauge", f"{name}_created{{{labels}}} 1.772e+09"]
    return lines


def single(name, kind, value, labels):
    return [f"# HELP {name} Value of {name.split(':')[1]}.", f"# TYPE {name} {kind}",
            f"{name}{{{labels}}} {float(value)}"]


def metrics(requests, engine="0", kv_usage=0.0, preemptions=2):
    """The answer of vLLM's /metrics after these requests: the server does not see the client's side."""
    labels = f'engine="{engine}",model_name="Qwen/Qwen3-8B"'
    decodes = [sum(r["itl"]) for r in requests]
    values = {"vllm:time_to_first_token_seconds": [r["queue"] + r["prefill"] - 900 for r in requests],
              "vllm:inter_token_latency_seconds": [i for r in requests for i in r["itl"]],
              "vllm:request_time_per_output_token_seconds":
                  [d // (r["output"] - 1) for d, r in zip(decodes, requests)],
              "vllm:e2e_request_latency_seconds":
                  [r["queue"] + r["prefill"] - 900 + d for d, r in zip(decodes, requests)],
              "vllm:request_queue_time_seconds": [r["queue"] for r in requests],
              "vllm:request_prefill_time_seconds": [r["prefill"] - 900 for r in requests],
              "vllm:request_decode_time_seconds": decodes}
    lines = single("vllm:num_requests_running", "gauge", 0, labels)
    lines += single("vllm:num_requests_waiting", "gauge", 0, labels)
    lines += single("vllm:kv_cache_usage_perc", "gauge", kv_usage, labels)
    queries = sum(r["input"] for r in requests)
    for name, value in (("vllm:prefix_cache_queries", queries), ("vllm:prefix_cache_hits", queries // 4),
                        ("vllm:num_preemptions", preemptions), ("vllm:prompt_tokens", queries),
                        ("vllm:generation_tokens", sum(r["output"] for r in requests))):
        lines += single(name + "_total", "counter", value, labels)
    lines += single("vllm:request_success_total", "counter", len(requests),
                    labels + ',finished_reason="length"')
    for name, times in values.items():
        lines += histogram(name, [seconds(t) for t in times], labels)
    return "\n".join(lines) + "\n"


def write_examples(folder):
    requests = simulate()
    (folder / "vllm_bench.json").write_text(json.dumps(bench(requests)) + "\n", encoding="utf-8")
    (folder / "vllm_metrics.txt").write_text(metrics(requests, kv_usage=0.0625), encoding="utf-8")


if __name__ == "__main__":
    write_examples(pathlib.Path(sys.argv[1]))
