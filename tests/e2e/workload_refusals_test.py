#!/usr/bin/env python3
"""What `workload` refuses, and what other verbs say of files that are `workload`'s: by what a file is, with what reads
it.
"""

import gzip
import pathlib
import tempfile

from e2e import Parts, check_refused


def compare_refusals(tally, folder):
    files = {"config.json": '{"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"]}',
             "trace.json": '{"traceEvents": []}', "empty.json": "", "text.txt": "hello\nworld\n",
             "latency.json": '{"avg_latency": 1.0, "latencies": [1.0], "percentiles": {}}',
             "bracket.json": "[", "list.json": "[]", "cut.json": '[{"stNaNart_time": "", "info": d',
             "node.prom": "# TYPE node_load1 gauge\nnode_load1 0.5\n",
             "good.prom": "vllm:num_requests_running 1\n",
             "good.json": '{"completed": 1, "duration": 1, "num_prompts": 1}'}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "some.trace.json").write_text(
        '{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "pid": 0, "tid": 7, "ts": 1, "dur": 2}]}',
        encoding="utf-8")
    (folder / "cut.json.gz").write_bytes(gzip.compress(files["good.json"].encode() * 50)[:-20])
    (folder / "results").mkdir(exist_ok=True)
    (folder / "results/a.json").write_text(files["good.json"], encoding="utf-8")
    where = lambda name: str(folder / name)  # noqa: E731
    check_refused(tally, folder, [
        (["workload"], 2, "no benchmark and no metrics given"),
        (["workload", where("bracket.json")], 3, "bracket.json: this is a JSON list without objects"),
        (["workload", where("list.json")], 3, "list.json: this is a JSON list without objects"),
        (["workload", where("list.json"), where("good.json")], 3, "this is a JSON list without objects"),
        (["workload", where("cut.json")], 3, "cut.json: this is a JSON of another kind"),
        (["workload", where("config.json")], 3, "config.json: this is a Hugging Face config.json"),
        (["workload", where("text.txt")], 3, "SGLang's bench_serving"),
        (["workload", where("some.trace.json")], 2, "some.trace.json is a trace"),
        (["workload", where("cut.json.gz")], 3, "copy it again"),
        (["layers", where("good.json")], 3, "this is a benchmark's result (vllm_bench), no trace"),
        (["layers", where("good.prom")], 3, "this is Prometheus text (metrics), no trace"),
        (["layers", where("good.prom")], 3, "`layerscope workload"),
        (["layers", where("results")], 3, "`layerscope workload"),
        (["workload", "--bench", where("config.json")], 3, "a Hugging Face config.json"),
        (["workload", "--bench", where("trace.json")], 3, "this is a profiler trace"),
        (["workload", "--bench", where("empty.json")], 3, "this is empty"),
        (["workload", "--bench", where("text.txt")], 3, "neither JSON nor Prometheus"),
        (["workload", "--bench", where("latency.json")], 3, "vllm bench latency"),
        (["workload", "--bench", where("good.prom")], 3, "give it with --prometheus"),
        (["workload", "--bench", where("absent.json")], 3, "no such file"),
        (["workload", "--prometheus", where("node.prom")], 3, "neither vLLM nor SGLang"),
        (["workload", "--prometheus", where("good.json")], 3, "give it with --bench"),
        (["workload", "--prometheus-before", where("good.prom")], 2, "--prometheus-before goes with"),
        (["workload", where("node.prom")], 3, "node_load1"),
        (["workload", where("good.json"), "--run", "3"], 1, "there is run 0 alone"),
        (["workload", where("good.json"), "-o", where("good.json")], 2, "would overwrite the input"),
        (["workload", "--bench", where("good.json"), "-o", where("good.json")], 2, "would overwrite"),
        (["workload", where("good.prom"), "--run", "0"], 1, "no runs"),
        (["workload", where("good.json"), "--format", "csv"], 2, "goes with -o"),
    ])


if __name__ == "__main__":
    PARTS = Parts("workload_refusals")
    with tempfile.TemporaryDirectory(prefix="layerscope-refusals-") as FOLDER:
        PARTS.run("refusals", compare_refusals, pathlib.Path(FOLDER))
    PARTS.close()
