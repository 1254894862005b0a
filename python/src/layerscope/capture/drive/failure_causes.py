"""Why a session ended early, and what to do about it, told by what its log says last.

Each cause has the words with which vLLM, SGLang, TensorRT-LLM or a library below them names it.
"""

from __future__ import annotations

import re
import shutil
import signal
from pathlib import Path

from layerscope.capture import engines, processes

OWN_ERROR = "layerscope error: "  # before what the session itself says at its end

# The cause stands above the messages of the processes that end because of it.
_LINES = 300

_LESS = "give a smaller --batch-size, --input-len or --output-len, or"
_MEMORY_SHARE = {  # of the GPU, for weights and KV cache
    engines.VLLM: "gpu_memory_utilization=F",
    engines.SGLANG: "mem_fraction_static=F",
    engines.TENSORRT_LLM: """'kv_cache_config={"free_gpu_memory_fraction":F}'""",
}
_FULL = "the disk is full: -o on another one; engines also write to HOME and /tmp"
_FULL_BYTES = 4096  # free, or fewer: nothing more is written, not even why
_KILLED = (-signal.SIGKILL, 128 + signal.SIGKILL)  # itself, or below nsys

# Words of a message, and the hint; {share} is the engine's of `_MEMORY_SHARE`.
_CAUSES = (
    (
        r"memory for the cache blocks|KV cache is needed|available KV cache memory"
        r"|Not enough memory|Memory pool size is too small"
        r"|[Ii]nsufficient (GPU )?memory .*KV cache|must be large enough to process at least 1",
        f"the KV cache does not fit: {_LESS} a larger --engine-arg {{share}}",
    ),
    (
        r"is less than desired GPU memory utilization",
        "another process has a part of the GPU's memory: end it, or give a smaller --engine-arg "
        "{share}",
    ),
    (
        r"out of memory|OutOfMemoryError",
        f"the GPU's memory is not enough: {_LESS} a smaller --engine-arg {{share}}, or more GPUs "
        "(-tp)",
    ),
    (
        r"RepositoryNotFoundError|LocalEntryNotFoundError|not a valid model identifier"
        r"|Repository Not Found|does not appear to have a file named config\.json",
        "the model is not there: is its name right, is it in the local cache (hf download), "
        "and may it be fetched?",
    ),
    (
        r"GatedRepoError|gated repo|401 Client Error|403 Client Error",
        "the hub does not give the model: accept its terms there, and hf auth login",
    ),
    (
        r"any model weights with|no .*safetensors.* found|[Nn]o file named .*safetensors",
        "the folder has no weights: add --dummy-weights, or fetch them",
    ),
    (
        r"greater than the derived (max_model_len|context_length)"
        r"|longer than the maximum model length"
        r"|exceeds? the (maximum|model's) (allowed |context )?length",
        "prompt and output are too long for the model: give a smaller --input-len or --output-len",
    ),
    (
        r"should not exceed max_num_tokens",
        "the prompt does not fit one step: --engine-arg enable_chunked_prefill=true, or "
        "max_num_tokens=N",
    ),
    (
        r"trust_remote_code=True` |option `trust_remote_code",
        "the model brings code of its own: add --trust-remote-code if you trust it",
    ),
    (
        r"[Uu]nknown architecture|[Aa]rchitectures? .*not supported|has no vLLM implementation"
        r"|does not recognize this architecture|not supported for now",
        "this version of the engine does not know the model: take a newer one",
    ),
    (
        r"unexpected keyword argument",
        "the engine has no such option: is each --engine-arg one of its constructor?",
    ),
    (
        r"Address already in use|EADDRINUSE",
        "a port of the engine is taken: end what holds it, or start again",
    ),
    (
        r"No space left on device",
        _FULL,
    ),
    (
        r"Permission denied|PermissionError|Read-only file system",
        "a file may not be read or written: the log says which",
    ),
    (
        r"No CUDA GPUs are available|Found no NVIDIA driver|Failed to infer device type"
        r"|larger than the number of available GPUs|invalid device ordinal",
        "the engine sees too few GPUs: nvidia-smi and CUDA_VISIBLE_DEVICES say which; a "
        "smaller -tp or -pp needs fewer",
    ),
    (
        r"stream is capturing|cudaErrorStreamCapture",
        "capturing CUDA graphs failed: add --eager to decode without",
    ),
)


def failure_cause(log: Path, engine: str, code: int) -> tuple[str, str]:
    """The line of the log that says why, and what to do; empty where nothing is known of it.

    Of several causes that are known the last counts; without one, what the session itself says.
    `code` is that of the process: negative where a signal ended it.
    """
    own = ""
    for line in reversed(processes.tail_of(log, _LINES).splitlines()):
        if "error" not in line.lower():  # settings and progress have the same words
            continue
        said = line.strip().removeprefix(OWN_ERROR)
        for words, hint in _CAUSES:
            if re.search(words, line):
                return said, hint.replace("{share}", _MEMORY_SHARE[engine])
        if line.startswith(OWN_ERROR):
            own = own or said
    if code in _KILLED:
        return own, "it was killed: often the memory of the machine, or of its container, is full"
    is_full = shutil.disk_usage(log.parent).free < _FULL_BYTES
    return own, _FULL if is_full else ""
