#!/usr/bin/env python3
"""`workload` of a server's metrics: what came between two dumps, whichever spelling and order they have; dumps of two
servers; figures that cannot be; limits in place of estimates that contradict the mean.
"""

import pathlib
import tempfile

import workload_runs as runs
from e2e import Parts, program
from workload_test import workload


def compare_difference(tally, folder):
    """Two dumps of one server: what came between, whichever is named first."""
    early = runs.simulate(n=20, seed=3)
    late = early + runs.simulate(n=30, seed=4)
    (folder / "a.prom").write_text(runs.metrics(early, preemptions=1), encoding="utf-8")
    (folder / "b.prom").write_text(runs.metrics(late, preemptions=5, kv_usage=0.5), encoding="utf-8")
    (folder / "only.prom").write_text(runs.metrics(late[20:], preemptions=4, kv_usage=0.5), encoding="utf-8")
    between = workload(tally, ["--prometheus", "b.prom", "--prometheus-before", "a.prom"], cwd=folder)
    only = workload(tally, ["only.prom"], cwd=folder)
    tally.equal("covers", between["server_summary"]["covers"], "between_dumps")
    tally.equal("between = the second half alone", between["server"], only["server"])
    for order in (["a.prom", "b.prom"], ["b.prom", "a.prom"]):
        found = workload(tally, order, cwd=folder)
        tally.equal(f"{order} finds the order", found["server"], only["server"])
        roles = {source["path"]: source["role"] for source in found["sources"]}
        tally.equal(f"{order} roles", roles, {"a.prom": "server_before", "b.prom": "server"})
    reset = program.run(["workload", "--prometheus", "a.prom", "--prometheus-before", "b.prom"], cwd=folder)
    tally.holds("a reset is said", reset.exit == 0 and "counter_reset" in reset.stderr)
    strict = program.run(["workload", "--prometheus", "a.prom", "--prometheus-before", "b.prom",
                          "--strict"], cwd=folder)
    tally.equal("a reset is data loss", (strict.exit, strict.stdout), (3, ""))
    said = program.run(["workload", "b.prom", "a.prom", "-o", "out.json"], cwd=folder).stdout
    tally.holds("people are told which is earlier", "a.prom (taken as the earlier dump) to b.prom" in said)


def compare_spellings(tally, folder):
    """A counter is one with and without _total; dumps of two servers have no difference."""
    (folder / "declared.prom").write_text("# TYPE vllm:prompt_tokens counter\n"
                                          'vllm:prompt_tokens_total{e="0"} 100\n', encoding="utf-8")
    (folder / "plain.prom").write_text('vllm:prompt_tokens_total{e="0"} 150\n', encoding="utf-8")
    between = workload(tally, ["--prometheus", "plain.prom", "--prometheus-before", "declared.prom"], cwd=folder)
    tally.equal("150 - 100", between["server_summary"]["prompt_tokens"]["value"], 50)
    (folder / "new.prom").write_text('vllm:prompt_tokens_total{e="0"} 150\nvllm:generation_tokens_total 7\n',
                                     encoding="utf-8")
    new = workload(tally, ["new.prom", "declared.prom"], cwd=folder)
    tally.equal("what the earlier one lacks", [(h["code"], h["severity"]) for h in new["health"]],
                [("no_earlier_value", "warning")])
    for name, model in (("one.prom", "a"), ("other.prom", "b")):
        (folder / name).write_text(f'vllm:x_total{{model_name="{model}"}} 1\n', encoding="utf-8")
    for order in (["one.prom", "other.prom"], ["other.prom", "one.prom"]):
        done = program.run(["workload", *order], cwd=folder)
        tally.holds(f"{order}: {done.stderr[:200]}", done.exit == 3 and "of different models" in done.stderr)


def compare_impossible(tally, folder):
    """Figures that cannot be are null and said; a guess from buckets never contradicts the mean."""
    queue = "vllm:request_queue_time_seconds"
    lines = ["vllm:kv_cache_usage_perc 1e300", "vllm:num_preemptions_total -5", "vllm:prompt_tokens_total 1e19",
             "vllm:generation_tokens_total 7"]
    (folder / "odd.prom").write_text("\n".join(lines) + "\n", encoding="utf-8")
    odd = workload(tally, ["odd.prom"], cwd=folder)
    tally.equal("impossible", [(h["code"], h["severity"], h["count"]) for h in odd["health"]],
                [("impossible_value", "data_loss", 3)])
    summary = odd["server_summary"]
    tally.equal("null", [summary[role]["value"] for role in ("kv_cache_usage", "preemptions", "prompt_tokens")],
                [None] * 3)
    # 20 requests that waited 70.94 µs in the mean, all below the first bound of 0.3 s.
    (folder / "queue.prom").write_text(f'{queue}_bucket{{le="0.3"}} 20\n{queue}_bucket{{le="+Inf"}} 20\n'
                                       f"{queue}_count 20\n{queue}_sum 0.0014188\n", encoding="utf-8")
    found = workload(tally, ["queue.prom"], cwd=folder)["server"][queue]
    tally.equal("mean and quantiles", [found[k] for k in ("mean_ns", "p50_ns", "p90_ns", "p99_ns")],
                [70_940, 141_880, 709_400, 7_094_000])
    tally.equal("all are bounds", found["quantile_bounds"],
                dict.fromkeys(("p50_ns", "p90_ns", "p95_ns", "p99_ns"), "at_most"))
    said = program.run(["workload", "queue.prom", "-o", "out.json"], cwd=folder).stdout
    tally.holds(f"people see a limit: {said}", "≤ 142 us" in said and "server queue" in said)


if __name__ == "__main__":
    PARTS = Parts("workload_metrics")
    for CHECK in (compare_difference, compare_spellings, compare_impossible):
        with tempfile.TemporaryDirectory(prefix="layerscope-metrics-") as FOLDER:
            PARTS.run(CHECK.__name__.removeprefix("compare_"), CHECK, pathlib.Path(FOLDER))
    PARTS.close()
