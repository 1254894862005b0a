"""Lists of a config that have an entry for each layer, told by their length.

Public configs have dozens of names for them: `layer_types`, `compress_ratios`, `swiglu_limits`, …
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from layerscope.capture import model_files
from layerscope.capture.json_values import is_whole

# Of these the name tells it, whatever their length.
NAMED = ("layer_types", "mlp_layer_types", "hybrid_override_pattern")
# Lists of the numbers of some layers.
NUMBER_LISTS = (
    "mlp_only_layers",
    "attn_layer_indices",
    "full_attn_idxs",
    "local_layer_ids",
    "moe_layers",
)
# Lists that may have as many entries as there are layers by chance.
_NOT_BY_LAYER = (
    *NUMBER_LISTS,
    *("architectures", "bos_token_id", "eos_token_id", "pad_token_id"),
)


def draft_layers(text: Mapping[str, Any]) -> int:
    """The layers behind the last, which draft tokens: a list may have entries for them too."""
    count = text.get("num_nextn_predict_layers")
    return max(count, 0) if is_whole(count) else 0


def by_layer(text: Mapping[str, Any]) -> dict[str, Any]:
    """Those of a text model's config: lists, and patterns of one letter a layer."""
    count = model_files.layer_count(text)
    lengths = (count, (count or 0) + draft_layers(text))
    return {
        name: value
        for name, value in text.items()
        if name not in _NOT_BY_LAYER
        and (
            (isinstance(value, list) and len(value) in lengths)
            or (isinstance(value, str) and name.endswith("_pattern") and len(value) == count)
        )
    }
