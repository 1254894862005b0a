#!/usr/bin/env python3
"""`workload`: every figure of every real file against workload_facts.py, which reads the files without
layerscope; generated workloads whose truth is known; files of every tool's form by hand; cuts at every
length; size.
"""

import gzip
import json
import pathlib
import random
import tempfile
import time

import workload_facts as facts
import workload_runs as runs
from e2e import ROOT, Parts, program, shared
from schema_test import problems, problems_of, validator

BENCHES = ("bench/datacrunch_h200_sglang_deepseek_dp_mla_output.jsonl",
           "bench/datacrunch_h200_sglang_llama_3_3_70b_online_output.jsonl",
           "bench/datacrunch_h200_sglang_llama_405b_online_output.jsonl",
           "bench/inference-perf_vllm_eagle_stage3_lifecycle.json",
           "bench/inferencex_glm5_fp8_vllm_tp8_conc64.json", "cpu/vllm_bench_random20.json")
KINDS = {"datacrunch": "sglang_bench", "inference-perf": "inference_perf", "inferencex": "inferencex",
         "vllm": "vllm_bench"}
DUMPS = ("prometheus/ahasannn_snapshot_a.prom", "prometheus/ahasannn_vllm_metrics.txt",
         "cpu/vllm_metrics.txt")
MEASURES = ("ttft", "tpot", "itl", "e2e")
SCHEMA = validator("workload_data")


def workload(tally, inputs, *options, cwd=None):
    """The document, valid against its schema."""
    done = program.run(["workload", *inputs, *options], cwd=cwd)
    if done.exit != 0:
        raise RuntimeError(f"workload: exit {done.exit}: {done.stderr.strip()[:300]}")
    document = program.parse_json(done.stdout)
    tally.equal("the document's schema", problems(SCHEMA, document)[:3], [])
    return document


def near(tally, what, ours, exact, least=0):
    """A number that passed through a float: to a millionth of a millionth."""
    if ours is None or exact is None:
        tally.equal(what, ours, exact)
    else:
        tally.holds(f"{what}: {ours} is {float(exact)}",
                    abs(ours - float(exact)) <= max(least, abs(float(exact)) * 1e-12))


def compare_times(tally, what, ours, expected):
    """Each figure of a kind of time; the deviation passes through floats."""
    if not expected:
        tally.equal(what, ours, None)
        return
    for key, value in expected.items():
        if key == "std_ns":
            near(tally, f"{what}.{key}", ours[key], value, least=1)
        else:
            tally.equal(f"{what}.{key}", ours[key], value)
    unknown = {k for k in ("mean_ns", "std_ns", "p50_ns", "p90_ns", "p95_ns", "p99_ns")} - set(expected)
    tally.equal(f"{what}: what nobody says", [k for k in unknown if ours[k] is not None], [])


def compare_run(tally, document, index, run):
    """One run of the document against the same object of the file."""
    entry = document["runs"][index]
    figures, found = facts.file_figures(run), facts.requests(run)
    own = entry["file_summary"] if found else entry["summary"]
    for key, value in facts.counts(run).items():
        tally.equal(f"run {index} {key}", own[key], value)
        if found:
            tally.equal(f"run {index} {key} of requests", entry["summary"][key], value)
    for measure in MEASURES:
        compare_times(tally, f"run {index} file's {measure}", own[measure], figures.get(measure))
    tally.equal(f"run {index} from", entry["summary"]["from"], "requests" if found else "file")
    tally.equal(f"run {index} requests", entry["requests"], len(found))
    throughput = run.get("request_throughput")
    if throughput is None and "duration" in run:
        throughput = facts.Fraction(run["completed"]) / facts.Fraction(run["duration"])
    if throughput is not None:
        near(tally, f"run {index} throughput", own["request_throughput_per_s"], throughput)
    if "output_throughput" in run:
        near(tally, f"run {index} tokens", own["output_token_throughput_per_s"], run["output_throughput"])
    return entry, found


def compare_requests(tally, document, entry, found):
    """Single requests, what they come to, and how many were in flight."""
    for i, (ours, expected) in enumerate(zip(document["requests"], found, strict=True)):
        tally.equal(f"request {i}", {k: ours[k] for k in expected}, expected)
        tally.equal(f"request {i} index", ours["index"], i)
    values = {"itl": [t for r in found for t in r["itl_ns"]], "queue": [r["queue_ns"] for r in found]}
    for measure in (*MEASURES, "queue"):
        times = values.get(measure) or [r[measure + "_ns"] for r in found if measure != "queue"]
        times = [t for t in times if t is not None]
        compare_times(tally, measure, document["summary"][measure], facts.distribution(times))
    tally.equal("concurrency", [(s["t_ns"], s["n"]) for s in document["concurrency"]],
                facts.concurrency(found))
    tally.equal("figures of the file that are not ours",
                [c for c in entry["comparison"] if not c["agrees"]], [])
    tally.holds("figures of the file are compared", len(entry["comparison"]) >= 20)


def compare_bench(tally, file):
    document = workload(tally, [file])
    loaded = facts.load_runs(file)
    tally.equal("runs", len(document["runs"]), len(loaded))
    tally.equal("kind", document["sources"][0]["kind"],
                next(kind for start, kind in KINDS.items() if file.name.startswith(start)))
    for index, run in enumerate(loaded):
        entry, found = compare_run(tally, document, index, run)
        shown = workload(tally, ["--bench", file, "--run", str(index)])
        tally.equal(f"--run {index}", (shown["run"], shown["summary"]), (index, entry["summary"]))
        if found:
            compare_requests(tally, shown, entry, found)
        else:
            tally.equal("requests", (shown["requests"], shown["concurrency"]), ([], []))


def compare_server(tally, document, families):
    tally.equal("metrics", sorted(document["server"]), sorted(families))
    for name, metric in families.items():
        ours = document["server"][name]
        tally.equal(f"{name} type", ours["type"], metric["type"])
        for key, value in facts.metric_figures(name, metric).items():
            if key == "quantile_bounds":
                tally.equal(f"{name} {key}", ours[key], value)
            elif key.endswith("_ns"):
                # Between buckets layerscope computes in floats.
                tally.holds(f"{name} {key}: {ours[key]} is {value}",
                            ours[key] == value or abs((ours[key] or 0) - (value or 0)) <= 1)
            else:
                near(tally, f"{name} {key}", ours[key], value)
        tally.equal(f"{name} series", len(ours.get("series", [])) or 1, len(metric["series"]))
    tally.equal("created", [name for name in document["server"] if name.endswith("_created")], [])


def compare_dump(tally, file):
    document = workload(tally, [file])
    families = facts.load_dump(file)
    compare_server(tally, document, families)
    tally.equal("no benchmark", (document["requests"], document["summary"], document["run"]),
                ([], None, None))
    named = workload(tally, ["--prometheus", file])
    tally.equal("--prometheus", named["server"], document["server"])
    summary = document["server_summary"]
    tally.equal("engine", (summary["engine"], summary["version"], summary["engines"]),
                ("vllm", "V1", ["0"]))
    for role, name in {"ttft": "vllm:time_to_first_token_seconds", "itl": "vllm:inter_token_latency_seconds",
                       "tpot": "vllm:request_time_per_output_token_seconds",
                       "kv_cache_usage": "vllm:kv_cache_usage_perc", "requests": "vllm:request_success_total",
                       "preemptions": "vllm:num_preemptions_total"}.items():
        tally.equal(f"role {role}", summary[role]["metric"], name)


def compare_both(tally, bench, dump):
    """The benchmark and the metrics of one server: what both count, side by side."""
    document = workload(tally, [bench, dump])
    families = facts.load_dump(dump)
    compare_server(tally, document, families)
    rows = {row["what"]: row for row in document["differences"]}
    run = facts.load_runs(bench)[0]
    tally.equal("requests", (rows["requests"]["bench"], rows["requests"]["server"]),
                (run["completed"], int(sum(s["value"] for s in families["vllm:request_success_total"]
                                           ["series"].values()))))
    for row in document["differences"]:
        tally.equal(f"difference of {row['what']}", row["difference"], row["bench"] - row["server"])
    tally.holds("times stand side by side", {"ttft.mean_ns", "e2e.p99_ns", "itl.p50_ns"} <= set(rows))


def compare_generated(tally, folder):
    """A simulated server: which requests waited is known, and the split finds them."""
    requests = runs.simulate(n=400, seed=11, slots=8, rate=9.5)
    (folder / "g.json").write_text(json.dumps(runs.bench(requests)), encoding="utf-8")
    (folder / "g.prom").write_text(runs.metrics(requests), encoding="utf-8")
    document = workload(tally, ["g.json", "g.prom"], cwd=folder)
    loaded = facts.load_runs(folder / "g.json")[0]
    entry, found = compare_run(tally, document, 0, loaded)
    compare_requests(tally, document, entry, found)
    for ours, truth in zip(document["requests"], requests, strict=True):
        tally.equal("ttft", ours["ttft_ns"], (truth["queue"] + truth["prefill"]) * 1000)
        tally.equal("start", ours["start_ns"], (truth["start"] - requests[0]["start"]) * 1000)
    compare_server(tally, document, facts.load_dump(folder / "g.prom"))
    plain = json.dumps(runs.bench(requests, detailed=False))
    (folder / "plain.json").write_text(plain, encoding="utf-8")
    aggregates = workload(tally, ["plain.json"], cwd=folder)
    tally.equal("without --save-detailed",
                (aggregates["requests"], aggregates["summary"]["from"], aggregates["queue_threshold_ns"]),
                ([], "file", None))
    for measure in MEASURES:
        for stat in ("mean_ns", "p50_ns", "p99_ns"):
            tally.holds(f"{measure}.{stat} is the same",
                        abs(aggregates["summary"][measure][stat] - document["summary"][measure][stat]) <= 1)


def compare_threshold(tally, folder):
    """Two groups of waiting times, far apart and mixed: the threshold lies between them."""
    rng = random.Random(5)
    short = [20_000 + rng.randrange(8_000) for _ in range(90)]
    long = [400_000 + rng.randrange(300_000) for _ in range(30)]
    result = {"date": "x", "backend": "vllm", "model_id": "m", "completed": 120, "duration": 9.0,
              "ttfts": [runs.seconds(t) for t in short + long], "output_lens": [1] * 120}
    (folder / "two.json").write_text(json.dumps(result), encoding="utf-8")
    document = workload(tally, ["two.json"], cwd=folder)
    threshold = document["queue_threshold_ns"]
    tally.equal("groups", (document["queue_split"]["below"], document["queue_split"]["above"]), (90, 30))
    tally.holds("the threshold lies between them", max(short) * 1000 < threshold < min(long) * 1000)
    result["ttfts"] = [runs.seconds(20_000 + 60 * i) for i in range(120)]
    (folder / "one.json").write_text(json.dumps(result), encoding="utf-8")
    tally.equal("one group has no threshold",
                workload(tally, ["one.json"], cwd=folder)["queue_threshold_ns"], None)


def compare_forms(tally, folder):
    """What other versions and tools write: several files at once, sweeps, packed files, a pipe."""
    run = runs.bench(runs.simulate(n=5))
    (folder / "list.json").write_text(json.dumps([run, run | {"run_number": 1}], indent=4), encoding="utf-8")
    (folder / "lines.jsonl").write_text("\n".join(json.dumps(run | {"request_rate": rate})
                                                  for rate in (1.0, 2.0, float("inf"))), encoding="utf-8")
    (folder / "packed.json.gz").write_bytes(gzip.compress(json.dumps(run).encode()))
    sweep = workload(tally, ["list.json"], cwd=folder)
    tally.equal("a sweep's runs", [r["label"] for r in sweep["runs"]], ["run_number none", "run_number 1"])
    lines = workload(tally, ["lines.jsonl"], cwd=folder)
    tally.equal("appended runs", [r["label"] for r in lines["runs"]],
                ["request_rate 1.0", "request_rate 2.0", "request_rate Infinity"])
    several = workload(tally, ["list.json", "packed.json.gz", "--bench", "lines.jsonl"], cwd=folder)
    tally.equal("several files", [r["source"] for r in several["runs"]], [0, 0, 1, 2, 2, 2])
    twice = workload(tally, ["--bench", "list.json", "--bench", "packed.json.gz"], cwd=folder)
    tally.equal("--bench twice", len(twice["sources"]), 2)
    tally.equal("each run names its file", [r["label"] for r in several["runs"]][1:4],
                ["list.json, run_number 1", "packed.json.gz", "lines.jsonl, request_rate 1.0"])
    tally.equal("--run 1", workload(tally, ["list.json", "--run", "1"], cwd=folder)["run"], 1)
    page = program.run(["report", "list.json", "--run", "1", "-o", "run.html"], cwd=folder)
    if "without the viewer" not in page.stderr:
        tally.holds(f"a page of --run 1: {page.stderr[:200]}",
                    page.exit == 0 and '"run":1,' in (folder / "run.html").read_text(encoding="utf-8"))
    marked = b"\xef\xbb\xbf"
    (folder / "marked.json").write_bytes(marked + json.dumps(run).encode())
    (folder / "marked.prom").write_bytes(marked + b"vllm:num_requests_running 3\n")
    both = workload(tally, ["marked.json", "marked.prom"], cwd=folder)
    tally.equal("a byte order mark", (len(both["requests"]), both["server_summary"]["running"]["value"]), (5, 3))
    (folder / "results").mkdir()
    (folder / "results/a.json").write_text(json.dumps(run), encoding="utf-8")
    (folder / "results/b.txt").write_text("vllm:num_requests_running 3\n", encoding="utf-8")
    (folder / "results/notes.txt").write_text("slow on Monday\n", encoding="utf-8")
    (folder / "results/meta.json").write_text('{"note": "slow on Monday"}', encoding="utf-8")
    whole = workload(tally, ["results"], cwd=folder)
    tally.equal("a directory", [s["path"] for s in whole["sources"]], ["results/a.json", "results/b.txt"])
    piped = program.run(["workload", "-"], stdin=json.dumps(run).encode())
    tally.equal("a pipe", (piped.exit, len(json.loads(piped.stdout or "{}").get("requests", []))), (0, 5))


def compare_failed(tally, folder):
    """Requests that failed count as such and are in no figure of time."""
    run = runs.bench(runs.simulate(n=6))
    run["errors"][2] = "Traceback: TimeoutError"
    run["ttfts"][2], run["itls"][2], run["output_lens"][2] = 0.0, [], 0
    (folder / "failed.json").write_text(json.dumps(run), encoding="utf-8")
    document = workload(tally, ["failed.json"], cwd=folder)
    failed = document["requests"][2]
    tally.equal("the failed one", (failed["ok"], failed["error"], failed["ttft_ns"], failed["tpot_ns"]),
                (False, "Traceback: TimeoutError", None, None))
    summary = document["summary"]
    tally.equal("counts", (summary["completed"], summary["failed"], summary["ttft"]["n"]), (5, 1, 5))
    tally.holds("the file's figures no longer are ours",
                not all(c["agrees"] for c in document["runs"][0]["comparison"]))


def compare_links(tally, folder):
    """Steps of a trace are linked where both count time from the same zero; else the reason is said."""
    def trace(zero_us):
        steps = [{"ph": "X", "cat": "user_annotation", "name": f"execute_context_0(0)_generation_1(1)",
                  "pid": 1, "tid": 1, "ts": zero_us + 1000 * i, "dur": 900} for i in range(10)]
        ops = [{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1,
                "ts": zero_us + 1000 * i + 10, "dur": 100} for i in range(10)]
        return json.dumps({"traceEvents": steps + ops})
    run = {"backend": "vllm", "model_id": "m", "completed": 2, "duration": 1.0,
           "ttfts": [0.001, 0.001], "itls": [[0.001], [0.0005]], "output_lens": [2, 2],
           "start_times": [5000.0025, 5000.0201]}
    (folder / "bench.json").write_text(json.dumps(run), encoding="utf-8")
    (folder / "same.json").write_text(trace(5_000_000_000), encoding="utf-8")
    (folder / "epoch.json").write_text(trace(1_772_000_000_000_000), encoding="utf-8")
    (folder / "later.json").write_text(trace(9_000_000_000), encoding="utf-8")
    linked = workload(tally, ["bench.json", "same.json"], cwd=folder)
    # 2.5 to 4.5 ms: steps 2 (2.0 to 2.9), 3 and 4; the second request begins after the last step.
    tally.equal("links", linked["links"], {"linked": 1, "trace": "same.json", "reason": None})
    tally.equal("steps", [r["steps"] for r in linked["requests"]], [{"first": 2, "last": 4, "n": 3}, None])
    for name, words in (("epoch.json", "from 1970"), ("later.json", "no time in common")):
        apart = workload(tally, ["bench.json", name], cwd=folder)
        tally.equal(f"{name}: linked", apart["links"]["linked"], 0)
        tally.holds(f"{name}: says {words}", words in apart["links"]["reason"])
    alone = workload(tally, ["bench.json"], cwd=folder)
    tally.equal("no trace", alone["links"]["reason"], "no trace is given")


def compare_envelope(tally, folder):
    """-o writes the document; the envelope and CSV say the same figures."""
    bench, dump = ROOT / "examples/vllm_bench.json", ROOT / "examples/vllm_metrics.txt"
    for inputs in ([bench], [bench, dump]):
        envelope = program.run_json("workload", inputs, "-o", "out.json", cwd=folder)
        tally.equal("the envelope", problems_of(envelope)[:3], [])
        document = program.parse_json((folder / "out.json").read_text(encoding="utf-8"))
        tally.equal("the document", problems(SCHEMA, document)[:3], [])
        findings = envelope["data"] or envelope["reduced"]
        tally.equal("its summary", findings["summary"], document["summary"])
        rows = {row["metric"]: row for row in findings["percentiles"]}
        for measure in MEASURES:
            tally.equal(f"{measure} of the table",
                        {k: rows[measure][k] for k in rows[measure] if k != "metric"},
                        {k: document["summary"][measure][k] for k in rows[measure] if k != "metric"})
        printed = program.run(["workload", *inputs], cwd=folder)
        tally.equal("standard output", printed.stdout, (folder / "out.json").read_text(encoding="utf-8"))
    csv = program.run(["workload", bench, "-o", "out.json", "--format", "csv"], cwd=folder)
    lines = csv.stdout.splitlines()
    tally.equal("csv", (csv.exit, lines[0].split(",")[:3], len(lines)), (0, ["metric", "n", "mean_ns"], 5))
    table = program.run(["workload", bench, dump, "-o", "out.json"], cwd=folder)
    for words in ("ttft", "p99", "64 completed", "benchmark and server", "workload", "KV cache in use",
                  "preemptions", "prefix cache hits", "running", "waiting", "server times", "no trace is given",
                  "≈ "):
        tally.holds(f"the table says {words}", words in table.stdout)


def compare_cuts(tally, folder):
    """Cut at every length a file is refused with a reason, or read with what is lost said."""
    requests = runs.simulate(n=2, seed=1)
    texts = {"bench": json.dumps(runs.bench(requests)),
             "lines": "\n".join([json.dumps(runs.bench(requests, detailed=False))] * 2),
             "dump": runs.metrics(requests)[:1500]}
    for name, text in texts.items():
        step = max(1, len(text) // 120)
        for n in [*range(0, 40), *range(40, len(text), step)]:
            (folder / "cut").write_text(text[:n], encoding="utf-8")
            option = "--prometheus" if name == "dump" else "--bench"
            done = program.run(["workload", option, "cut"], cwd=folder)
            tally.holds(f"{name} cut at {n}: exit {done.exit}: {done.stderr[:120]}",
                        done.exit == 0 or (done.exit == 3 and done.stderr.startswith("layerscope: error: ")))
            if done.exit == 0:
                tally.equal(f"{name} cut at {n}", problems(SCHEMA, program.parse_json(done.stdout))[:1], [])


def compare_size(tally, folder):
    """100,000 requests: linear time and a whole document."""
    n, rng = 100_000, random.Random(1)
    run = {"date": "x", "backend": "vllm", "model_id": "m", "completed": n, "duration": 100.0,
           "ttfts": [round(rng.random(), 6) for _ in range(n)],
           "itls": [[0.01, 0.02, 0.015]] * n, "input_lens": [7] * n, "output_lens": [4] * n,
           "start_times": [i * 1e-3 for i in range(n)], "errors": [""] * n}
    (folder / "large.json").write_text(json.dumps(run), encoding="utf-8")
    begin = time.monotonic()
    program.run_json("workload", ["large.json"], "-o", "out.json", cwd=folder)
    took = time.monotonic() - begin
    document = json.loads((folder / "out.json").read_text(encoding="utf-8"))
    tally.equal("requests", len(document["requests"]), n)
    tally.equal("times between tokens", document["summary"]["itl"]["n"], 3 * n)
    tally.holds(f"under half a minute ({took:.1f} s)", took < 30)


if __name__ == "__main__":
    PARTS = Parts("workload")
    for PATH in BENCHES:
        PARTS.run_shared(f"traces/{PATH}", compare_bench)
    for PATH in DUMPS:
        PARTS.run_shared(f"traces/{PATH}", compare_dump)
    BENCH, DUMP = shared("traces/cpu/vllm_bench_random20.json"), shared("traces/cpu/vllm_metrics.txt")
    if BENCH and DUMP:
        PARTS.run("benchmark and server", compare_both, BENCH, DUMP)
    for CHECK in (compare_generated, compare_threshold, compare_forms, compare_failed, compare_links,
                  compare_envelope, compare_cuts, compare_size):
        with tempfile.TemporaryDirectory(prefix="layerscope-workload-") as FOLDER:
            PARTS.run(CHECK.__name__.removeprefix("compare_"), CHECK, pathlib.Path(FOLDER))
    PARTS.close()
