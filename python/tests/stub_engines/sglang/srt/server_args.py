from __future__ import annotations

from dataclasses import dataclass


@dataclass
class ServerArgs:
    """The fields that `drive` sets; SGLang has some hundred more."""

    model_path: str
    skip_tokenizer_init: bool = False
    dtype: str = "auto"
    quantization: str | None = None
    kv_cache_dtype: str = "auto"
    load_format: str = "auto"
    trust_remote_code: bool = False
    tp_size: int = 1
    pp_size: int = 1
    ep_size: int = 1
    max_running_requests: int | None = None
    context_length: int | None = None
    disable_overlap_schedule: bool = False
    random_seed: int | None = None
    cuda_graph_backend_prefill: str | None = None
    cuda_graph_backend_decode: str | None = None
    cuda_graph_bs_decode: list[int] | None = None
    chunked_prefill_size: int = 48
