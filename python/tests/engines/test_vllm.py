"""The commands in a real vLLM (its CPU build), on tiny random models: `make test-engines`.

Each test starts an engine, which takes a minute or two.
"""

from __future__ import annotations

import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest
from conftest import Program, read_json
from vllm_commands import Vllm, title, vllm_of_a_test

from layerscope.capture import errors, process_tree

pytestmark = pytest.mark.engine  # not torch: nothing here may be skipped
vllm = pytest.fixture(vllm_of_a_test)

_SMALL = ("--max-model-len", "128", "--dtype", "float32", "--max-num-seqs", "4", "--enforce-eager")
_SMALL_KEYWORDS = ("--engine-arg", "max_model_len=128", "--engine-arg", "max_num_seqs=4")
_LEAVES_ONE = """
import subprocess, sys, time
title = "import setproctitle, time; setproctitle.setproctitle('left by the test'); time.sleep(60)"
subprocess.Popen([sys.executable, "-c", title], stdout=subprocess.DEVNULL,
                 stderr=subprocess.DEVNULL, start_new_session=True)
time.sleep(4)
"""
_PROBE = Path(__file__).parent / "routing_probe.py"


def _node(tree: dict[str, Any], path: str) -> dict[str, Any]:
    """The node of a module tree at a path."""
    while tree["path"] != path:
        tree = next(
            child for child in tree["children"] if f"{path}.".startswith(f"{child['path']}.")
        )
    return tree


def _implementations(tree: dict[str, Any], part: str) -> dict[str, str]:
    """Names of the classes that a part of the first attention chose."""
    found = _node(tree["tree"], f"model.layers.0.self_attn.{part}")["implementations"]
    return {key: entry["class"].split(".")[-1] for key, entry in found.items()}


def _of_each_layer() -> set[str]:
    """Paths that a tiny Qwen3 has in transformers and in vLLM."""
    return {f"model.layers.{i}.{part}" for i in range(2) for part in ("self_attn", "mlp")}


def test_a_process_that_wiped_its_environment_is_seen_when_it_is_left(vllm: Vllm) -> None:
    """As vLLM's do by their titles: it is known by who started it alone."""
    vllm.python("-c", _LEAVES_ONE)
    (left,) = vllm.left()
    assert "left by the test" in left
    seen, vllm.seen = vllm.seen, {}
    assert vllm.left() == []
    (pid,) = (pid for (pid, _), said in seen.items() if "left by the test" in said)
    os.kill(pid, signal.SIGKILL)
    vllm.seen = seen


def test_walk_writes_the_tree_of_every_rank(
    vllm: Vllm, tiny_qwen3: Path, layerscope_bin: Program
) -> None:
    """Two ranks: 4 heads, 2 for keys and 2 for values, of 32 each: 256 rows, half in each."""
    out = vllm.folder / "tree"
    out.mkdir()
    vllm.capture(
        *("walk", tiny_qwen3, "--engine", "vllm", "-tp", "2", "--dtype", "float32"),
        *("-o", out / "model_tree.json", "--with-forward", "--profile-dir", out / "profile"),
        *_SMALL_KEYWORDS,
    )
    trees = [read_json(file) for file in sorted(out.glob("model_tree*.json"))]
    assert [tree["rank"] for tree in trees] == [0, 1]
    for tree in trees:
        assert tree["world"]["tp"] == 2
        qkv = _node(tree["tree"], "model.layers.0.self_attn.qkv_proj")["config"]
        assert (qkv["output_size"], qkv["output_size_per_partition"]) == (256, 128)
        assert qkv["tp_rank"] == tree["rank"]
        assert _implementations(tree, "qkv_proj") == {"quant_method": "UnquantizedLinearMethod"}
        attention = _implementations(tree, "attn")
        assert attention["attn_backend"] == "CPUAttentionBackend"
        assert attention["impl"] == "CPUAttentionBackendImpl"
        paths = {entry["path"] for entry in tree["call_order"]}
        assert paths >= _of_each_layer()
    traces = sorted((out / "profile").glob("*.json*"))
    assert len(traces) == 2
    modules = layerscope_bin.json(
        "modules", traces[0], "--model-tree", sorted(out.glob("model_tree*.json"))[0]
    )
    vllm.say(f"{len(trees)} trees, {len(paths)} modules called")
    nodes = modules["data"]["nodes"]
    times = [node["gpu_incl_ns"] for node in nodes if node["path"] == "model.layers.1.self_attn"]
    assert len(times) == 1 and times[0] > 0


def test_profile_records_single_requests(
    vllm: Vllm, tiny_qwen3: Path, layerscope_bin: Program
) -> None:
    out = vllm.folder / "profiles"
    vllm.capture(
        *("profile", tiny_qwen3, "--engine", "vllm", "--dtype", "float32", "-o", out),
        *("--num-prompts", "2", "--input-len", "8", "--output-len", "3", "--warmup", "1"),
        *_SMALL_KEYWORDS,
    )
    document = vllm.folder / "requests.json"
    layerscope_bin.run(["requests", out, "-o", document])
    requests = read_json(document)
    assert [(r["prompt_tokens"], r["output_tokens"]) for r in requests["requests"]] == [(8, 3)] * 2
    times = [node["gpu_ns"] for node in requests["nodes"] if node["path"] == "model.layers.1"]
    vllm.say(f"2 requests, {len(requests['nodes'])} modules, layer 1: {times[0]} ns")
    assert all(value > 0 for value in times[0])


def test_serve_bench_with_hooks_of_the_entry_point_in_spawned_workers(
    vllm: Vllm, tiny_qwen3: Path, layerscope_bin: Program
) -> None:
    """LAYERSCOPE_HOOKS alone: no bootstrap folder, so that vLLM's own plugin loading installs it,
    in the workers of two ranks, which are processes below the engine core."""
    out, hooks = vllm.folder / "bench", vllm.folder / "hooks"
    said = vllm.capture(
        *("serve-bench", tiny_qwen3, "--engine", "vllm", "-o", out, "--num-prompts", "12"),
        *("--input-len", "16", "--output-len", "8", "--max-concurrency", "2", "-tp", "2"),
        *("--profile", "--profile-steps", "3", "--profile-requests", "2", "--no-stack"),
        *("--", *_SMALL),
        LAYERSCOPE_HOOKS="record_function",
        LAYERSCOPE_HOOKS_DIR=str(hooks),
    )
    record = read_json(out / "serve_bench.json")
    assert record["requests"] == {"completed": 12, "failed": 0}
    reports = [json.loads(file.read_text()) for file in hooks.glob("*.report")]
    assert sorted(report["rank"] for report in reports) == [0, 1]
    assert all(report["capture"] for report in reports)
    assert [report["models"] for report in reports] == [["Qwen3ForCausalLM"]] * 2
    workers = {report["pid"] for report in reports}
    assert len(workers) == 2
    # The server's own processes have other titles.
    titles = {pid: said for (pid, _), said in vllm.seen.items()}
    assert all("Worker" in titles[pid] for pid in workers), titles
    _follow_hint(said, layerscope_bin, vllm.folder)
    workload = vllm.folder / "workload.json"
    bench: list[str | Path] = [out / "bench.json", out / "metrics_after.txt"]
    before: list[str | Path] = ["--prometheus-before", out / "metrics_before.txt"]
    layerscope_bin.run(["workload", *bench, *before, "-o", workload])
    summary = read_json(workload)["summary"]
    assert summary["completed"] == 12
    names = {
        event.get("name")
        for event in read_json(next((out / "traces").glob("rank0*.gz")))["traceEvents"]
    }
    assert {str({"Module": path}) for path in _of_each_layer()} <= names
    server = read_json(workload)["server"]
    vllm.say(f"ready in {record['server']['ready_s']} s, client {record['client']['seconds']} s")
    vllm.say(f"ttft p50 {summary['ttft']['p50_ns'] / 1e6:.1f} ms, {len(server)} metrics")
    vllm.say(f"hooks: {reports[0]['modules']} modules in each of {sorted(workers)}")


def _follow_hint(said: str, layerscope_bin: Program, folder: Path) -> None:
    """Runs, in `folder`, the commands with which serve-bench says that its folder is read."""
    commands = [line.split()[1:] for line in said.splitlines() if line.startswith("  layerscope ")]
    assert [words[0] for words in commands if "/" not in words[0]] == ["workload", "map", "view"]
    for words in commands:
        if words[0] == "view":
            assert len(layerscope_bin.view(words[1:])["inputs"]) > 0
        else:
            layerscope_bin.run(words, folder=folder)
    assert (folder / "model_execution.json").is_file()


@pytest.mark.parametrize("victim", ["server", "worker"])
def test_a_server_killed_midway_leaves_nothing(vllm: Vllm, tiny_qwen3: Path, victim: str) -> None:
    """The API server, or its engine core, dies by SIGKILL while requests run."""
    out = vllm.folder / "bench"
    process = vllm.start(
        *("-m", "layerscope.capture", "serve-bench", tiny_qwen3, "--engine", "vllm"),
        *("-o", out, "--num-prompts", "100000", "--input-len", "16", "--output-len", "64"),
        *("--max-concurrency", "4", "--", *_SMALL),
        PYTHONUNBUFFERED="1",
    )
    assert process.stdout is not None
    lines = []
    for line in process.stdout:
        lines.append(line)
        if line.startswith("sending"):
            break
    else:
        pytest.fail("".join(lines))
    _wait_for_requests(vllm.folder)
    vllm.watch(process.pid)
    below = process_tree.descendants([process.pid], process_tree.read_table())
    worker = next(one for one in below if "EngineCore" in title(one.pid))
    chosen = worker.parent if victim == "server" else worker.pid
    vllm.say(f"{len(below)} processes; killing {title(chosen)[-60:]}")
    os.kill(chosen, signal.SIGKILL)
    began = time.monotonic()
    rest, _ = process.communicate(timeout=120)
    vllm.say(f"ended {time.monotonic() - began:.1f} s later with {process.returncode}")
    assert process.returncode == errors.FAILED, rest[-3000:]
    assert "the server" in rest and "while the benchmark ran" in rest
    assert vllm.left() == []
    assert not out.exists()


def _wait_for_requests(folder: Path) -> None:
    """Until the server's log, in the folder that is not yet at its place, names one."""
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        logs = [file.read_text(errors="replace") for file in folder.glob(".bench.*/server.log")]
        if any("POST /v1/completions" in log for log in logs):
            return
        time.sleep(0.5)
    pytest.fail("no request came")


def test_fewer_layers_and_balanced_routing_hold_in_the_engine(
    vllm: Vllm, tiny_qwen3_moe: Path
) -> None:
    """16 tokens of 2 experts each over 4 experts: 8 each; then steps of one token: 2 experts
    once. Of two layers one computes: one call of a router a step."""
    patched = vllm.folder / "patched"
    vllm.capture(
        *("config-patch", tiny_qwen3_moe, "--layers", "1", "--balanced-routing"),
        *("--link-weights", "-o", patched),
    )
    plain = json.loads(vllm.python(_PROBE, tiny_qwen3_moe).splitlines()[-1])
    balanced = json.loads(
        vllm.python(_PROBE, patched, LAYERSCOPE_PATCH=str(patched)).splitlines()[-1]
    )
    vllm.say(f"router calls of two layers {plain}; of one, balanced {balanced}")
    assert [tokens for tokens, _ in plain] == [16, 16, 1, 1, 1, 1]
    assert [tokens for tokens, _ in balanced] == [16, 1, 1]
    assert balanced[0][1] == [8, 8, 8, 8]
    assert all(sorted(loads) == [0, 0, 1, 1] for _, loads in balanced[1:])
