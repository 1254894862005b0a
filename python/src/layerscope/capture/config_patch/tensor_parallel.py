"""Rank 0 of TP=N on one GPU: the config of a model whose layers have the sizes of one rank.

What is divided and what is not follows the engines; docs/new-model.md names the sources. In short:
attention heads, KV heads (one a rank where there are fewer than ranks), the widths of dense MLPs
and experts (or, with experts in parallel, their number), heads and groups of Mamba and of linear
attention, DeepSeek-V4's output groups and the vocabulary are divided. Latent ranks (q_lora_rank,
kv_lora_rank), indexers, routers, norms and hidden_size are whole on every rank. Weights of the
original do not fit such a config: it is for dummy weights, and no collectives run.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Mapping
from typing import Any

from layerscope.capture import engines, errors, model_files, model_sizes
from layerscope.capture.config_patch import alternatives, attention_keys, quant_blocks, token_ids
from layerscope.capture.config_patch.attention_keys import Path
from layerscope.capture.config_patch.changes import Changes
from layerscope.capture.config_patch.mock_options import MockOptions
from layerscope.capture.config_patch.quant_blocks import Block, QuantBlocks
from layerscope.capture.errors import CaptureError
from layerscope.capture.json_values import is_whole
from layerscope.capture.model_sizes import MoeSizes

_VOCAB_PADDING = 64  # vLLM and SGLang pad the vocabulary to this before they divide it
_VOCABULARIES = ("vocab_size", "vocab_size_per_layer_input")
_WHOLE = (
    "q_lora_rank",
    "kv_lora_rank",
    "o_lora_rank",
    "index_n_heads",
    "routed_expert_hidden_size",
    "hc_mult",
)


def mock_rank_zero(
    config: dict[str, Any],
    options: MockOptions,
    changes: Changes,
    hf_quant: Mapping[str, Any] | None = None,
    generation: dict[str, Any] | None = None,
) -> None:
    """Divides the sizes of `config` in place; token ids of `generation` move with the vocabulary.

    `generation` is the document of generation_config.json. Raises CaptureError with every reason
    why not, and with what would do.
    """
    text = model_files.text_config(config)
    heads = text.get("num_attention_heads")
    if not isinstance(heads, int) or heads < 1:
        raise CaptureError(
            "--mock-tp: the config has no num_attention_heads, so nothing says how heads divide",
            "name them as most configs do: --add num_attention_heads=N",
        )
    quant = config.get("quantization_config") or text.get("quantization_config")
    blocks = quant_blocks.read_blocks(quant if isinstance(quant, dict) else None, hf_quant, text)
    rank = _RankZero(config, options, blocks, generation)
    reasons = rank.reasons_against()
    if not reasons:
        rank.commit(config, generation, changes)
        return

    def fits(tried: MockOptions) -> bool:
        return not _RankZero(config, tried, blocks, generation).reasons_against()

    is_moe = model_sizes.moe_sizes(text) is not None
    possible = alternatives.alternatives(options, heads, is_moe=is_moe, fits=fits)
    said = f"no rank 0 of TP={options.ranks}: " + "; ".join(reasons)
    none = f"no number up to {alternatives.most(options)} divides"
    raise CaptureError(
        errors.printable(said, in_one_line=True), f"these divide: {possible}" if possible else none
    )


class _RankZero:
    """One division: copies of the documents, the options, and why it is not possible."""

    def __init__(
        self,
        config: dict[str, Any],
        options: MockOptions,
        blocks: QuantBlocks,
        generation: dict[str, Any] | None,
    ) -> None:
        # The work is done on copies: a refused config stays as it was.
        self.config = copy.deepcopy(config)
        self.generation = copy.deepcopy(generation)
        self.at = ".".join(model_files.text_path(config))
        self.original = model_files.text_config(config)
        self.text = model_files.text_config(self.config)
        self.options = options
        self.blocks = blocks
        self.planned = Changes()
        self.reasons: list[str] = []

    def reasons_against(self) -> list[str]:
        """Divides everything; returns why that is not possible, or nothing."""
        moe = model_sizes.moe_sizes(self.text)
        self._attention()
        self._linear_attention()
        self._dense(moe)
        if moe:
            self._experts(moe)
            self._shared(moe)
        if not self.options.keep_vocab:
            self._vocabulary()
        return self.reasons

    def commit(
        self, config: dict[str, Any], generation: dict[str, Any] | None, changes: Changes
    ) -> None:
        """Puts what was divided into the documents that it was made of."""
        self._notes()
        for document, divided in ((config, self.config), (generation, self.generation)):
            if document is not None and divided is not None:
                document.clear()
                document.update(divided)
        changes.changes.extend(self.planned.changes)
        changes.notes.extend(self.planned.notes)

    def _holder(self, path: Path) -> Any:
        holder: Any = self.text
        for part in path:
            holder = holder[part]
        return holder

    def _set(self, key: str, value: Any, why: str, path: Path = ()) -> None:
        at = ".".join(part for part in (self.at, attention_keys.dotted(path)) if part)
        self.planned.set(self._holder(path), key, value, why, at)

    def _divide(self, key: str, why: str, path: Path = ()) -> int | None:
        """Divides a number, or each of a list of one a layer; absent ones and null stay."""
        value = self._holder(path).get(key)
        values: list[Any] = value if isinstance(value, list) else [value]
        sizes = [v for v in values if v is not None]
        if not sizes:
            return None
        name, n = attention_keys.dotted((*path, key)), self.options.ranks
        if not all(is_whole(v) for v in sizes):
            self.reasons.append(f"{name} {value} is no whole number")
            return None
        if any(v % n for v in sizes):
            self.reasons.append(f"{name} {value} is not divisible by {n}")
            return None
        parts = [None if v is None else v // n for v in values]
        self._set(key, parts if isinstance(value, list) else parts[0], why, path)
        return parts[0]

    # Attention

    def _attention(self) -> None:
        if self.text.get("kv_lora_rank") is None:
            self._explicit_head_dim(self.text["num_attention_heads"])
        n_reasons = len(self.reasons)
        paths = [(), *attention_keys.layer_settings(self.text)]
        for path in paths:
            self._heads(path)
        for name in attention_keys.not_understood(self.text):
            self.reasons.append(f"{name}: no rule for sizes of some layers in such an object")
        self._divide("o_groups", f"output groups / {self.options.ranks}")
        if len(self.reasons) == n_reasons:
            for path in paths:
                before, after = (_merged(text, path) for text in (self.original, self.text))
                self._attention_blocks(before, after, path)
            sliding = [model_sizes.sliding_attention(text) for text in (self.original, self.text)]
            if sliding[0] and sliding[1]:
                self._attention_blocks(sliding[0], sliding[1], ("sliding",))

    def _heads(self, path: Path) -> None:
        n, holder = self.options.ranks, self._holder(path)
        total = holder.get("num_attention_heads")
        is_mla = self.text.get("kv_lora_rank") is not None
        for key in attention_keys.HEADS:
            self._divide(key, f"heads / {n}", path)
        for key in attention_keys.KV_HEADS:
            if not is_mla or holder.get(key) != total:
                self._kv_heads(key, path)
            elif is_whole(total) and total % n == 0:
                self._set(key, total // n, "MLA: as many as heads", path)

    def _explicit_head_dim(self, heads: int) -> None:
        """Without a head_dim it is hidden_size / heads, which fewer heads would change."""
        if isinstance(self.text.get("head_dim"), int):
            return
        given = self.text.get("attention_head_dim")
        hidden = self.text.get("hidden_size")
        if isinstance(given, int):
            self._set("head_dim", given, "attention_head_dim made explicit")
        elif isinstance(hidden, int) and hidden % heads == 0:
            self._set("head_dim", hidden // heads, "hidden_size / heads of the whole model")
            self.planned.notes.append(
                f"head_dim {hidden // heads} is written out: a class that ignores it (in vLLM 0.32"
                " those of Qwen2, Falcon, ChatGLM and others) runs fewer heads, each wider; the"
                " weights' shapes in the tree of `walk` show it"
            )
        else:
            self.reasons.append(f"hidden_size {hidden} / {heads} heads is no head_dim")

    def _kv_heads(self, key: str, path: Path = ()) -> None:
        """A number, or a list of one a layer, with 0 and null for layers without any."""
        value, n = self._holder(path).get(key), self.options.ranks
        values: list[Any] = value if isinstance(value, list) else [value]
        counts = [kv for kv in values if kv is not None]
        if not counts or not all(is_whole(kv) for kv in counts):
            return
        wrong = [kv for kv in counts if kv % n and (kv > n or kv < 1 or n % kv)]
        if wrong:
            how = "is not divisible" if min(wrong) > n else "neither divides nor is divided"
            name = attention_keys.dotted((*path, key))
            self.reasons.append(f"{name} {value} {how} by {n}")
            return
        local = [max(1, kv // n) if kv else kv for kv in values]
        why = f"KV heads / {n}"
        if any(0 < kv < n for kv in counts):
            why = f"{value} KV heads on {n} ranks: one a rank, replicated"
        self._set(key, local if isinstance(value, list) else local[0], why, path)

    def _attention_blocks(
        self, before: Mapping[str, Any], after: Mapping[str, Any], path: Path
    ) -> None:
        block = self.blocks.of("attention")
        if block is None:
            return
        local = {name: width for name, width, _ in model_sizes.attention_widths(after)}
        for name, width, is_input in model_sizes.attention_widths(before):
            size = block.inputs if is_input else block.outputs
            at = attention_keys.dotted((*path, name))
            self._check_block(at, width, local[name], size, block.name)

    # Mamba, gated delta net, KDA

    def _linear_attention(self) -> None:
        n = self.options.ranks
        for key in ("linear_num_key_heads", "linear_num_value_heads", "linear_num_heads"):
            self._divide(key, f"linear-attention heads / {n}")
        if isinstance(self.text.get("linear_attn_config"), dict):
            self._divide("num_heads", f"linear-attention heads / {n}", ("linear_attn_config",))
        for heads, groups in (("mamba_num_heads", "n_groups"), ("mamba_n_heads", "mamba_n_groups")):
            if isinstance(self.text.get(heads), int):
                self._divide(heads, f"Mamba heads / {n}")
                if self.text.get(groups) != 1:  # one group is copied to every rank
                    self._divide(groups, f"Mamba groups / {n}")
                self._divide("mamba_d_ssm", f"Mamba width / {n}")
                if heads == "mamba_n_heads" and self.text.get("mamba_d_ssm") is None:
                    # Their width is mamba_expand * hidden_size, and transformers compares it.
                    self._divide("mamba_expand", f"Mamba width / {n}")

    # MLPs

    def _dense(self, moe: MoeSizes | None) -> None:
        key = model_sizes.dense_width_key(self.text, moe)
        if key is None:
            return
        before = self.text[key]
        self._width(key, before, "dense", f"dense MLP / {self.options.ranks}")

    def _experts(self, moe: MoeSizes) -> None:
        n = self.options.ranks
        if self.options.moe == "tp":
            self._width(
                moe.width_key, self.text[moe.width_key], "experts", f"width of each expert / {n}"
            )
            return
        local = self._divide(moe.count_key, f"experts / {n}")
        if local is None:
            return
        if local < moe.top_k:
            self.reasons.append(f"{local} experts a rank are fewer than the {moe.top_k} of a token")
        elif moe.groups > 1 and (
            local % moe.groups or moe.top_groups * (local // moe.groups) < moe.top_k
        ):
            self.reasons.append(
                f"{local} experts a rank in {moe.groups} groups leave no {moe.top_k} experts"
                f" in {moe.top_groups} groups"
            )
        self.planned.notes.append(
            f"each token takes {moe.top_k} of {local} experts: the tokens an expert gets are those"
            " of N ranks with this batch each (attention data parallel)"
        )

    def _width(self, key: str, before: Any, role: str, why: str) -> None:
        block = self.blocks.of(role)
        if block and block.rounds_up and isinstance(before, int):
            blocks = -(-(before // block.inputs) // self.options.ranks)
            self._set(key, blocks * block.inputs, f"{why}, rounded up to {block.name}")
            return
        is_capped = self.options.engine == engines.TENSORRT_LLM and role != "experts"
        if block and is_capped and isinstance(before, int):
            self._capped_width(key, before, block, role)
            return
        after = self._divide(key, why)
        if after is None or block is None:
            return
        first = before[0] if isinstance(before, list) else before
        self._check_block(key, first, after, math.lcm(block.outputs, block.inputs), block.name)

    def _capped_width(self, key: str, width: int, block: Block, role: str) -> None:
        """TensorRT-LLM: as many parts as the largest common divisor of ranks and blocks."""
        blocks = width // math.lcm(block.outputs, block.inputs)
        parts = math.gcd(blocks, self.options.ranks)
        self._set(key, width // parts, f"{role} width / {parts}, as far as blocks allow")

    def _check_block(self, name: str, before: int, after: int, size: int, block: str) -> None:
        """A width that was whole blocks must be whole blocks on a rank."""
        if size > 1 and before % size == 0 and after % size:
            self.reasons.append(
                f"{name} {before} / {self.options.ranks} = {after} is not whole blocks of {size}"
                f" ({block})"
            )

    def _shared(self, moe: MoeSizes) -> None:
        """Shared experts have a width of their own, or one that follows from the experts' width."""
        n = self.options.ranks
        if moe.shared_width_key:
            self._shared_own_width(moe.shared_width_key)
        elif moe.shared_count_key:
            follows = self.options.moe == "tp"  # their width was divided with the experts'
            if follows and self.options.shared == "whole":
                count = self.text[moe.shared_count_key] * n
                self._set(moe.shared_count_key, count, f"shared experts whole: {n} times the width")
            elif not follows and self.options.shared == "divided":
                self._shared_stay_whole(moe.width_key)
        elif moe.has_unsized_shared and self.options.moe == "ep":
            self._shared_stay_whole(moe.width_key)
        elif moe.has_unsized_shared and self.options.shared == "whole":
            self.reasons.append(
                f"shared experts have the width of {moe.width_key}: they are divided with it"
            )

    def _shared_own_width(self, key: str) -> None:
        if self.options.shared == "whole":
            self.planned.notes.append(f"{key} is whole: each rank holds all of the shared experts")
            return
        width = self.text[key]
        self._width(key, width, "shared", f"shared experts / {self.options.ranks}")

    def _shared_stay_whole(self, width_key: str) -> None:
        self.planned.notes.append(
            "shared experts are not divided: their width follows from"
            f" {width_key}, which --moe ep leaves whole; engines without DeepEP or attention data"
            f" parallelism run 1/{self.options.ranks} of them a rank"
        )

    # Vocabulary

    def _vocabulary(self) -> None:
        n = self.options.ranks
        vocab = self.text.get("vocab_size")
        if not isinstance(vocab, int) or vocab < 1:
            return
        for key in _VOCABULARIES:
            size = self.text.get(key)
            if not isinstance(size, int):
                continue
            padded = -(-size // _VOCAB_PADDING) * _VOCAB_PADDING
            if padded % n:
                self.reasons.append(f"{key} {size}, padded {padded}, is not divisible by {n}")
                return
            self._set(key, padded // n, f"vocabulary, padded to {_VOCAB_PADDING}, / {n}")
        local = self.text["vocab_size"]
        if self.config.get("vocab_size") == vocab:  # a wrapper that repeats it
            self.planned.set(self.config, "vocab_size", local, "as in the text model")
        if not token_ids.move_inside(self.config, self.generation, local, self.planned):
            self.reasons.append(f"a vocabulary of {local} has too few ids for the special tokens")
        self.planned.notes.append(
            f"token ids end at {local - 1}: give prompts as ids, not as text of the tokenizer;"
            " special ids that the config does not state keep the defaults of its class"
        )

    def _notes(self) -> None:
        whole = [key for key in _WHOLE if self.text.get(key) is not None]
        if whole:
            self.planned.notes.append("whole on every rank: " + ", ".join(whole))
        towers = [k for k in ("vision_config", "audio_config") if self.config.get(k)]
        if towers:
            self.planned.notes.append("left as they are: " + ", ".join(towers))


def _merged(text: Mapping[str, Any], path: Path) -> Mapping[str, Any]:
    """The sizes that hold where the object at `path` differs from the whole."""
    inner: Any = text
    for part in path:
        inner = inner[part]
    return {**text, **inner} if path else text
