"""The dtypes that a model can be loaded as, under whatever name people give them."""

from __future__ import annotations

AUTO = "auto"  # that of the config

# The name that torch and all engines have, by the names that are taken for it.
DTYPES = {
    AUTO: AUTO,
    "bfloat16": "bfloat16",
    "bf16": "bfloat16",
    "float16": "float16",
    "fp16": "float16",
    "half": "float16",
    "float32": "float32",
    "fp32": "float32",
    "float": "float32",
}
NAMES = ", ".join(DTYPES)
