"""serve-bench against stand-ins of the engines: the folder that it leaves, and who reads it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path

import fake_engine
import pytest
from bench_process import Bench
from conftest import Program, RunCapture

from layerscope.capture import errors
from layerscope.capture.serve_bench import profile_window


@pytest.mark.parametrize("engine", ["vllm", "sglang", "trtllm"])
def test_a_run_leaves_one_folder_and_no_process(
    engine: str, bench: Bench, not_run_here: Callable[[str], None]
) -> None:
    if engine != "vllm":
        not_run_here(f"serve-bench: not run with the real {engine}, but with its command lines")
    code, out, err = bench.run("--engine", engine)
    assert code == errors.OK, err
    assert bench.work() == {"out"}
    names = {file.name for file in bench.output.iterdir()}
    expected = {
        "bench.json",
        "metrics_before.txt",
        "metrics_after.txt",
        "server.log",
        "client.log",
        "config.json",
        "serve_bench.json",
    }
    assert names == expected | ({"engine_config.yaml"} if engine == "trtllm" else set())
    record = json.loads((bench.output / "serve_bench.json").read_text())
    assert record["schema"] == "layerscope/serve-bench/1"
    assert record["requests"] == {"completed": 4, "failed": 0}
    assert record["load"]["input_len"] == 16
    assert str(bench.output) in " ".join(record["client"]["command"])
    # 4 requests of 16 tokens came between.
    assert (bench.output / "metrics_before.txt").read_text().split()[-1] == "0"
    assert (bench.output / "metrics_after.txt").read_text().split()[-1] == "64"
    assert "layerscope workload" in out


@pytest.mark.parametrize("engine", ["vllm", "sglang"])
def test_a_profile_leaves_its_traces_in_a_folder_of_their_own(engine: str, bench: Bench) -> None:
    code, _, err = bench.run("--engine", engine, "--profile", "--profile-requests", "2")
    assert code == errors.OK, err
    traces = [file.name for file in (bench.output / "traces").iterdir()]
    traces.remove("config.json")
    assert len(traces) == 1 and traces[0].endswith(".trace.json.gz")
    record = json.loads((bench.output / "serve_bench.json").read_text())
    assert record["profile"]["files"] == [f"traces/{traces[0]}"]
    # Requests of the profile come after the metrics were taken.
    assert (bench.output / "metrics_after.txt").read_text().split()[-1] == "64"


def test_what_stands_behind_the_dashes_goes_to_the_server(bench: Bench) -> None:
    code, _, err = bench.run(
        *("--engine", "vllm", "--client-arg=--temperature", "--client-arg=0.5"),
        *("--", "--enforce-eager"),
    )
    assert code == errors.OK, err
    record = json.loads((bench.output / "serve_bench.json").read_text())
    assert record["server"]["command"][-1] == "--enforce-eager"
    assert record["client"]["command"][-2:] == ["--temperature", "0.5"]


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ("--num-promts", "did you mean '--num-prompts'?; options of the server stand behind --"),
        ("--kv-cache-dtype", "'--kv-cache-dtype'; options of the server stand behind --"),
    ],
)
def test_an_option_of_another_is_told_from_one_that_is_misspelt(
    run_capture: RunCapture, option: str, said: str
) -> None:
    done = run_capture("serve-bench", "m", option)
    assert done.code == errors.USAGE
    assert said in done.err


def test_the_record_names_the_final_place_whatever_its_name_is(bench: Bench) -> None:
    """A word of the server's is JSON itself, in which quotes and umlauts stand in other letters."""
    bench.output = bench.folder / 'wör"k' / "out"
    code, _, err = bench.run("--engine", "vllm", "--profile", "--hooks", "nvtx", faults="hooked")
    assert code == errors.OK, err
    record = json.loads((bench.output / "serve_bench.json").read_text())
    server, client = record["server"], record["client"]["command"]
    profiler = json.loads(server["command"][server["command"].index("--profiler-config") + 1])
    traces = str(bench.output / "traces")
    assert profiler["torch_profiler_dir"] == traces
    assert server["environment"]["LAYERSCOPE_HOOKS_DIR"] == traces
    assert client[client.index("--result-dir") + 1] == str(bench.output)


def test_an_option_that_the_server_does_not_have_shows_what_it_said(bench: Bench) -> None:
    code, _, err = bench.run("--engine", "vllm", "--", "--no-such-thing")
    assert code == errors.FAILED
    assert "unrecognized arguments: --no-such-thing" in err
    assert "does this version have that option" in err


def test_a_server_without_metrics_is_still_benchmarked(bench: Bench) -> None:
    code, out, err = bench.run("--engine", "vllm", faults="no_metrics")
    assert code == errors.OK, err
    assert "no metrics" in out and "--prometheus-before" not in out
    assert not (bench.output / "metrics_after.txt").exists()
    assert json.loads((bench.output / "serve_bench.json").read_text())["metrics"] is None


def test_hooks_are_asked_for_in_the_server_and_judged(bench: Bench) -> None:
    code, out, err = bench.run("--engine", "vllm", "--hooks", "nvtx", faults="hooked")
    assert code == errors.OK, err
    assert "rank 0: 7 modules of Qwen3 (nvtx)" in out
    assert [file.suffix for file in (bench.output / "traces").iterdir()] == [".report"]
    record = json.loads((bench.output / "serve_bench.json").read_text())
    assert record["hooks"] == ["nvtx"]
    assert record["server"]["environment"]["LAYERSCOPE_HOOKS_DIR"] == str(bench.output / "traces")


def test_annotations_that_name_no_node_are_said_and_the_benchmark_kept(bench: Bench) -> None:
    code, out, err = bench.run("--engine", "vllm", "--hooks", "annotations", faults="hooked")
    assert code == errors.OK, err
    assert "the benchmark stands, its module ranges do not: rank 0: " in out
    (fault,) = json.loads((bench.output / "serve_bench.json").read_text())["hook_faults"]
    assert fault.startswith("rank 0: ") and fault in out


def test_a_plan_of_patches_goes_into_the_server_of_every_engine(bench: Bench) -> None:
    """Only vLLM has a plugin that would apply it anyway."""
    plan = bench.folder / "layerscope_patch.json"
    plan.write_text('{"schema": "layerscope_patch/1", "num_layers": 2, "keep_layers": [0]}')
    bench.env["LAYERSCOPE_PATCH"] = str(plan)
    bench.env["LAYERSCOPE_HOOKS"] = "off"  # what the user says of hooks stays
    code, _, err = bench.run("--engine", "sglang")
    assert code == errors.OK, err
    started = json.loads(bench.state("environment"))
    assert started["LAYERSCOPE_HOOKS"] == "off"
    assert "bootstrap" in started["PYTHONPATH"].split(os.pathsep)[0]


@pytest.mark.parametrize(
    ("fault", "said"),
    [("", "no process of the command loaded a model"), ("compiled", "the model is compiled")],
)
def test_hooks_that_capture_nothing_end_the_run_before_the_benchmark(
    fault: str, said: str, bench: Bench
) -> None:
    code, out, err = bench.run("--engine", "vllm", "--hooks", "nvtx", faults=fault)
    assert code == errors.FAILED
    assert said in err
    assert "sending" not in out
    assert bench.work() == {"out.server.log"}


def test_a_folder_with_files_is_not_replaced(bench: Bench) -> None:
    bench.output.mkdir()
    (bench.output / "mine").write_text("mine")
    code, _, err = bench.run("--engine", "vllm")
    assert code == errors.FAILED
    assert "has files already" in err
    assert [file.name for file in bench.output.iterdir()] == ["mine"]


def test_layerscope_reads_a_folder_of_recorded_files(
    bench: Bench, shared_traces: Path, tmp_path: Path, layerscope_bin: Program
) -> None:
    """What a real vLLM 0.32 wrote, through the stand-ins: 20 requests, 641 input tokens."""
    recorded = shared_traces / "cpu"
    bench.env |= {
        fake_engine.BENCH: str(recorded / "vllm_bench_random20.json"),
        fake_engine.METRICS: str(recorded / "vllm_metrics.txt"),
        fake_engine.TRACE: str(recorded / "vllm_qwen3_tiny_serve_nostack.json.gz"),
    }
    code, out, err = bench.run("--engine", "vllm", "--profile", "--no-stack")
    assert code == errors.OK, err
    read = [line.split() for line in out.splitlines() if line.startswith("  layerscope ")]
    traces = str(bench.output / "traces")
    assert [words[1] for words in read] == ["workload", traces, "map", "view"]
    documents = {}
    for words in (read[0][:-2], read[2][:-2], ["layerscope", "requests", traces]):
        file = tmp_path / f"{words[1]}.json"
        layerscope_bin.run([*words[1:], "-o", file])
        documents[words[1]] = json.loads(file.read_text())
    workload = documents["workload"]
    assert workload["summary"]["completed"] == len(workload["requests"]) == 20
    assert sum(row["input_tokens"] for row in workload["requests"]) == 641
    assert {source["kind"] for source in workload["sources"]} >= {"vllm_bench", "prometheus"}
    # Counted from the events by another program, as in test_recorded_vllm.
    (request,) = documents["requests"]["requests"]
    assert request["gpu_ns"] == documents["map"]["stats"]["total_gpu_ns"] == 172_155_747
    steps = {name: (one["steps"], one["tokens"]) for name, one in request["phases"].items()}
    assert steps == {"prefill": (4, 129), "decode": (28, 52), "mixed": (4, 132)}


def test_an_answer_that_is_late_is_not_waited_for_and_errors_are_not_hidden() -> None:
    """On Python 3.10 the time-out of a future is not the built-in TimeoutError, which is an error
    of the call itself."""
    future: Future[None] = Future()
    profile_window._wait_for(future, 0.01)
    future.set_exception(TimeoutError("of the call"))
    with pytest.raises(TimeoutError, match="of the call"):
        profile_window._wait_for(future, 0.01)
