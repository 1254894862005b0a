"""`python routing_probe.py MODEL`: which experts vLLM's router chose, as JSON on the last line.

A list of calls, each [tokens, tokens of each expert], of the second prompt; in one process. The
patches come by vLLM's own plugins where LAYERSCOPE_PATCH names them.
"""

from __future__ import annotations

import collections
import importlib
import json
import os
import sys
from typing import Any

EXPERTS = 4
PROMPT_TOKENS = 16
OUTPUT_TOKENS = 3
_PLACES = (
    "vllm.model_executor.layers.fused_moe.router.base_router",
    "vllm.model_executor.layers.fused_moe.base_router",
)


def _router() -> Any:
    for place in _PLACES:
        try:
            return importlib.import_module(place).BaseRouter
        except ImportError:
            continue
    raise SystemExit("this vLLM has no BaseRouter")


def main(model: str) -> None:
    """Loads, watches, generates."""
    os.environ["VLLM_ENABLE_V1_MULTIPROCESSING"] = "0"
    import vllm

    llm = vllm.LLM(model, dtype="float32", enforce_eager=True, max_model_len=128, max_num_seqs=4)
    router = _router()
    original = router.select_experts
    calls: list[tuple[int, list[int]]] = []

    def select_experts(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = original(self, *args, **kwargs)
        loads = collections.Counter(result[1].flatten().tolist())
        calls.append((int(result[1].shape[0]), [loads[expert] for expert in range(EXPERTS)]))
        return result

    router.select_experts = select_experts
    sampling = vllm.SamplingParams(temperature=0.0, max_tokens=OUTPUT_TOKENS, ignore_eos=True)
    for first in (10, 40):  # a patched layer still runs in its first call
        calls.clear()
        prompt = {"prompt_token_ids": list(range(first, first + PROMPT_TOKENS))}
        llm.generate(prompt, sampling, use_tqdm=False)
    print(json.dumps(calls))


if __name__ == "__main__":
    main(sys.argv[1])
