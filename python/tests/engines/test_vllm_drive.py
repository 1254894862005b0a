"""`drive` in a real vLLM (its CPU build): marked steps and the modules in them."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Program, read_json
from vllm_commands import Vllm, vllm_of_a_test

from layerscope.capture.in_engine.marked_steps import marked_steps

pytestmark = pytest.mark.engine  # not torch: nothing here may be skipped
vllm = pytest.fixture(vllm_of_a_test)

_INPUT_LEN = 16
# record_function ranges are the default where PyTorch's profiler records.
_OPTIONS = (
    *("--engine", "vllm", "--profiler", "torch", "--dtype", "float32"),
    *("--input-len", str(_INPUT_LEN), "--engine-arg", "gpu_memory_utilization=0.1"),
)


def _trace(folder: Path) -> Path:
    """The only trace of a round."""
    (trace,) = folder.glob("*.trace.json.gz")
    return trace


def _annotations(trace: Path) -> list[str]:
    """Names of all annotations of a trace, in the order of the file."""
    events = read_json(trace)["traceEvents"]
    return [event["name"] for event in events if event.get("cat") == "user_annotation"]


def _of_layer(number: int) -> set[str]:
    """Modules of a tiny Qwen3's layer that compute in vLLM, as it names them."""
    parts = ("qkv_proj", "q_norm", "k_norm", "attn", "o_proj")
    names = ["input_layernorm", "post_attention_layernorm", "mlp.gate_up_proj", "mlp.down_proj"]
    names += [f"self_attn.{part}" for part in parts]
    return {f"model.layers.{number}.{name}" for name in names}


def test_drive_marks_the_steps_that_were_asked_for(
    vllm: Vllm, tiny_qwen3: Path, layerscope_bin: Program
) -> None:
    """Milestones 1 and 4 behind prompts of 16 tokens are at past lengths 16 and 19."""
    out = vllm.folder / "drive"
    vllm.capture(
        *("drive", tiny_qwen3, *_OPTIONS, "--batch-size", "1", "2", "--milestones", "1,4"),
        *("-o", out),
    )
    noted = marked_steps(out)
    expected = [(1, 16), (1, 19), (2, 16), (2, 19)]
    assert [(step.n, *step.point) for step in noted] == [(n, *p) for n, p in enumerate(expected)]
    for batch, first in ((1, 0), (2, 2)):
        trace = _trace(out / f"batch{batch}_input{_INPUT_LEN}")
        marked = [name for name in _annotations(trace) if name.startswith("bench_step")]
        assert sorted(marked) == [
            f"bench_step::{first}::bs::{batch}::past::16::phase::decode",
            f"bench_step::{first + 1}::bs::{batch}::past::19::phase::decode",
        ]
        steps = layerscope_bin.json("steps", trace)["data"]["steps"]
        read = [step for step in steps if step["past"] is not None]
        points = [(step["requests"], step["past"], step["phase"]) for step in read]
        assert points == [(batch, 16, "decode"), (batch, 19, "decode")]
        assert all(step["sum_ns"] > 0 for step in read)
        rows = layerscope_bin.json("steps", trace, "--by", "module")["data"]["sweep"]
        inside = {row["key"] for row in rows if row["past"] == 16}
        assert inside >= _of_layer(0) | _of_layer(1)
    vllm.say(f"host's time of marked steps: {[step.host_ns for step in noted]} ns")


def test_drive_of_fewer_layers_records_those_that_are_left(
    vllm: Vllm, tiny_qwen3: Path, layerscope_bin: Program
) -> None:
    """Ranges go around a layer that is an identity, and show nothing inside of it."""
    patched, out = vllm.folder / "patched", vllm.folder / "drive"
    vllm.capture("config-patch", tiny_qwen3, "--layers", "1", "--link-weights", "-o", patched)
    vllm.capture(
        *("drive", patched, *_OPTIONS, "--batch-size", "2", "-o", out),
        LAYERSCOPE_PATCH=str(patched),
    )
    trace = _trace(out / f"batch2_input{_INPUT_LEN}")
    layer = [name for name in _annotations(trace) if "model.layers.1" in name]
    assert set(layer) == {str({"Module": "model.layers.1"})}
    nodes = layerscope_bin.json("modules", trace)["data"]["nodes"]
    computing = {node["path"] for node in nodes if node["gpu_incl_ns"] > 0}
    assert computing >= _of_layer(0)
    assert not any(path.startswith("model.layers.1") for path in computing)
    vllm.say(f"{len(computing)} modules compute")
