"""`layerscope-capture profile` from the command line to what `layerscope` reads."""

from __future__ import annotations

import json
import re
import shlex
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from conftest import Program, RunCapture, read_json

from layerscope.capture import errors
from layerscope.capture.model_options import ModelOptions
from layerscope.capture.profile.rank_files import files_by_rank
from layerscope.capture.trace_files import rank_of, traces_below


@pytest.mark.torch
def test_requests_of_exact_sizes_are_read_by_requests_and_map(
    tiny_qwen3: Path, tmp_path: Path, run_capture: RunCapture, layerscope_bin: Program
) -> None:
    folder = tmp_path / "profiles"
    done = run_capture(
        "profile", tiny_qwen3, "--engine", "transformers", "--device", "cpu", "-o", folder,
        "--num-prompts", "2", "--input-len", "6", "--output-len", "3", "--warmup", "1",
    )  # fmt: skip
    assert done.code == errors.OK, done.err
    assert "eager" in done.out
    names = sorted(path.name for path in folder.iterdir())
    assert names == [
        "config.json", "model_tree.json", "request_000.json.gz", "request_001.json.gz",
        "request_metadata.json",
    ]  # fmt: skip
    metadata = read_json(folder / "request_metadata.json")
    assert metadata["schema"] == "layerscope/requests/1"
    assert (metadata["engine"], metadata["mode"]) == ("transformers", "eager")
    for index, row in enumerate(metadata["requests"]):
        assert row["file"] == f"request_00{index}.json.gz"
        assert (row["prompt_tokens"], row["output_tokens"]) == (6, 3)
        assert row["label"] is row["percentile"] is row["source_index"] is None
        assert row["latency_ns"] == row["measured_latency_ns"] > 0

    hint = re.search(r"read it with `layerscope (.+)`", done.out)
    assert hint is not None
    said = layerscope_bin.run(shlex.split(hint[1]), folder=tmp_path)
    assert "{" not in said  # a document of a hundred lines would bury what is said
    requests = read_json(tmp_path / "per_request_profiles.json")
    assert requests["mode"] == "eager"
    for request in requests["requests"]:
        # one prefill and two decode steps give three tokens
        assert request["phases"]["prefill"]["steps"] == 1
        assert request["phases"]["decode"]["steps"] == 2
    calls = {node["path"]: node["calls"] for node in requests["nodes"]}
    assert calls["model.layers.1.mlp.down_proj"] == [3, 3]

    mapped = tmp_path / "map.json"
    layerscope_bin.run(["map", folder / "request_000.json.gz", "-o", mapped])
    execution = read_json(mapped)
    assert (execution["iterations"], execution["layers"]) == (3, 2)


@pytest.mark.torch
def test_figures_agree_with_the_profilers_own_totals(
    tiny_qwen3_moe: Path, tmp_path: Path, layerscope_bin: Program
) -> None:
    """The oracle is key_averages() of the recording itself: self time and number of each op. Its
    times are microseconds with three decimals, so a sum of n is off by n ns at the most. An op that
    only calls an overload of its own name (div_ of a scalar) is one call there: numbers of calls
    are those of the events."""
    from layerscope.capture import profiler, transformers_model

    model = transformers_model.load(ModelOptions(str(tiny_qwen3_moe), device="cpu"))
    prompt = transformers_model.random_prompt(model, 6, seed=1)
    transformers_model.generate(model, prompt, 2)
    trace = tmp_path / "request_000.json.gz"
    with profiler.recording(trace) as recorded:
        transformers_model.generate(model, prompt, 2)
    counts: Counter[str] = Counter()
    self_ns: Counter[str] = Counter()
    for event in recorded.key_averages():  # one a name and overload
        if event.key.startswith("aten::"):
            counts[event.key] += event.count
            self_ns[event.key] += round(event.self_cpu_time_total * 1000)
    events = read_json(trace)["traceEvents"]
    n_events = Counter(event["name"] for event in events if event.get("cat") == "cpu_op")
    told = layerscope_bin.json("kernels", trace, "-n", "0")
    rows = {row["name"]: (row["n"], row["sum_ns"]) for row in told["data"]["rows"]}
    assert len(counts) > 20
    assert counts.keys() == {name for name in rows if name.startswith("aten::")}
    for name, (n, sum_ns) in rows.items():
        if name in counts:
            assert n == n_events[name] >= counts[name], name
            assert abs(sum_ns - self_ns[name]) <= n, name


@pytest.mark.torch
def test_a_workload_gives_its_fast_typical_and_slow_request(
    tiny_gpt2: Path, tmp_path: Path, run_capture: RunCapture, layerscope_bin: Program
) -> None:
    bench = {
        "input_lens": [5, 9, 3, 7],
        "output_lens": [2, 3, 1, 2],
        "ttfts": [0.2, 0.4, 0.1, 0.3],
        "itls": [[0.1], [0.2, 0.2], [], [0.1]],
    }  # latencies 0.3, 0.8, 0.1, 0.4 s: fast is the third, typical the first, slow the second
    workload = tmp_path / "bench.json"
    workload.write_text(json.dumps(bench))
    folder = tmp_path / "profiles"
    done = run_capture(
        "profile", tiny_gpt2, "--engine", "transformers", "--device", "cpu", "-o", folder,
        "--workload-json", workload, "--warmup", "0",
    )  # fmt: skip
    assert done.code == errors.OK, done.err
    out = tmp_path / "requests.json"
    layerscope_bin.run(["requests", folder, "-o", out])
    rows = read_json(out)["requests"]
    keys = ("label", "percentile", "prompt_tokens", "output_tokens", "latency_ns", "source_index")
    assert [tuple(row[key] for key in keys) for row in rows] == [
        ("Fast", 10, 3, 1, 100_000_000, 2),
        ("Typical", 50, 5, 2, 300_000_000, 0),
        ("Slow", 90, 9, 3, 800_000_000, 1),
    ]
    metadata = read_json(folder / "request_metadata.json")
    assert [row["measured_latency_ns"] for row in metadata["requests"]] == [None] * 3


@pytest.mark.torch
def test_a_compiled_recording_says_so_and_keeps_the_outer_modules(
    tiny_gpt2: Path, tmp_path: Path, run_capture: RunCapture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Dynamo traces for real; its code runs without Inductor, which would take half a minute."""
    import torch

    compile_ = torch.compile
    monkeypatch.setattr(torch, "compile", lambda model: compile_(model, backend="eager"))
    folder = tmp_path / "profiles"
    done = run_capture(
        "profile", tiny_gpt2, "--engine", "transformers", "--device", "cpu", "-o", folder,
        "--input-len", "4", "--output-len", "2", "--warmup", "1", "--compiled",
    )  # fmt: skip
    assert done.code == errors.OK, done.err
    assert "compiled" in done.out
    assert read_json(folder / "request_metadata.json")["mode"] == "compiled"
    assert not (folder / "model_tree.json").exists()
    trace = read_json(folder / "request_000.json.gz")
    names = {event.get("name", "") for event in trace["traceEvents"]}
    assert "nn.Module: OptimizedModule_0" in names
    assert any(name.startswith("Torch-Compiled Region") for name in names)


@pytest.mark.torch
def test_prompts_are_random_but_the_same_for_the_same_seed(tiny_qwen3: Path) -> None:
    from layerscope.capture import transformers_model

    model = transformers_model.load(ModelOptions(str(tiny_qwen3), device="cpu"))
    draw = [transformers_model.random_prompt(model, 32, seed).tolist() for seed in (0, 0, 1)]
    assert draw[0] == draw[1] != draw[2]
    assert all(64 <= token < 128 for token in draw[0][0]) and len(draw[0][0]) == 32


@pytest.mark.torch
def test_prompts_hold_no_token_of_the_first_hundred() -> None:
    """Those of tokenizers that mean something, and those that config-patch moves there."""
    from layerscope.capture import transformers_model

    config = SimpleNamespace(get_text_config=lambda: SimpleNamespace(vocab_size=200))
    model = SimpleNamespace(config=config, device="cpu")
    drawn = transformers_model.random_prompt(model, 1000, seed=0)
    assert drawn.shape == (1, 1000)
    assert (int(drawn.min()), int(drawn.max())) == (100, 199)


@pytest.mark.torch
def test_a_folder_with_files_is_kept(
    tiny_qwen3: Path, tmp_path: Path, run_capture: RunCapture
) -> None:
    (tmp_path / "mine.txt").write_text("keep")
    words = ("--engine", "transformers", "--input-len", "4", "-o", tmp_path)
    done = run_capture("profile", tiny_qwen3, *words)
    assert done.code == errors.FAILED
    assert "--force" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


@pytest.mark.torch
def test_a_model_that_generates_nothing_is_refused_and_leaves_nothing(
    tmp_path: Path, run_capture: RunCapture
) -> None:
    from transformers import AlbertConfig

    model = tmp_path / "albert"
    AlbertConfig(
        vocab_size=64, embedding_size=8, hidden_size=8, num_hidden_layers=1,
        num_attention_heads=1, intermediate_size=8,
    ).save_pretrained(model)  # fmt: skip
    done = run_capture(
        "profile", model, "--engine", "transformers", "--device", "cpu", "--dummy-weights",
        "-o", tmp_path / "out", "--input-len", "4", "--output-len", "2",
    )  # fmt: skip
    assert done.code == errors.INVALID_INPUT
    assert "does not generate text" in done.err
    assert [path.name for path in tmp_path.iterdir()] == ["albert"]


@pytest.mark.torch
def test_a_model_that_does_not_take_its_cache_again_is_refused() -> None:
    import torch
    from torch import nn

    from layerscope.capture import transformers_model

    class Forgets(nn.Module):
        def forward(self, tokens: Any) -> Any:
            logits = torch.zeros(*tokens.shape, 4)
            return SimpleNamespace(logits=logits, past_key_values=object())

    assert transformers_model.generate(Forgets(), torch.zeros(1, 3, dtype=torch.long), 1) == 1
    with pytest.raises(errors.CaptureError, match="Forgets does not generate text"):
        transformers_model.generate(Forgets(), torch.zeros(1, 3, dtype=torch.long), 2)


@pytest.mark.torch
def test_a_disk_that_is_full_names_the_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from layerscope.capture import profiler

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(torch.profiler.profile, "export_chrome_trace", full)
    trace = tmp_path / "request_000.json.gz"
    with (
        pytest.raises(errors.CaptureError, match=f"cannot write {trace}: No space left"),
        profiler.recording(trace),
    ):
        pass


def test_sizes_beside_a_workload_are_a_usage_error(run_capture: RunCapture) -> None:
    done = run_capture("profile", "m", "--workload-json", "w.json", "--input-len", "3")
    assert done.code == errors.USAGE
    assert "--input-len" in done.err


@pytest.mark.parametrize("option", ["--input-len", "--num-prompts", "-tp"])
@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("0", "0 is not above 0"),
        ("-3", "-3 is below 0"),
        ("many", "'many' is no whole number"),
        ("1e3", "'1e3' is no whole number"),
        ("9" * 12, "is above"),
        ("9" * 5000, "is no whole number"),  # more digits than Python reads
    ],
)
def test_sizes_are_whole_numbers_above_zero(
    option: str, word: str, said: str, run_capture: RunCapture
) -> None:
    done = run_capture("profile", "m", option, word, "--dry-run")
    assert done.code == errors.USAGE
    assert said in done.err and len(done.err) < 3000


def test_files_are_told_apart_by_the_rank_in_their_names(tmp_path: Path) -> None:
    """Names as vLLM writes them: dense, mixture of experts, front end."""
    names = [
        "dp0_pp0_tp1_dcp0_ep1_rank1.17.pt.trace.json.gz",
        "rank0.17.pt.trace.json.gz",
        "host_44.async_llm.17.pt.trace.json.gz",
    ]
    for name in names:
        (tmp_path / name).write_bytes(b"x")
    found = files_by_rank(tmp_path / name for name in names)
    assert {rank: path.name for rank, path in found.items()} == {0: names[1], 1: names[0]}


@pytest.mark.parametrize(
    ("name", "is_one", "rank"),
    [
        ("rank3.17.pt.trace.json.gz", True, 3),
        ("dp0_pp0_tp1_dcp0_ep1_rank12.17.pt.trace.json.zst", True, 12),
        ("170-TP-0.trace.json.gz", True, None),
        ("frank1.17.pt.trace.json", True, None),  # of a front end on that host
        ("graph_annotations_rank0.json", False, 0),
        ("config.json", False, None),
        ("rank0.17.pt.trace.json.gz.tmp", False, 0),
    ],
)
def test_traces_and_their_ranks_are_told_by_name(
    name: str, is_one: bool, rank: int | None, tmp_path: Path
) -> None:
    file = tmp_path / "below" / name
    file.parent.mkdir()
    file.write_bytes(b"x")
    assert traces_below(tmp_path) == ([file] if is_one else [])
    assert rank_of(file) == rank


def test_files_without_a_rank_are_an_error_that_names_them(tmp_path: Path) -> None:
    with pytest.raises(errors.CaptureError, match=r"other\.json"):
        files_by_rank([tmp_path / "other.json"])
