"""Whether the model has the tokens of the benchmark's prompts.

The clients draw them from the tokenizer's vocabulary. Where the model's is smaller, as that of one
rank is (config-patch --mock-tp), the engine reads its embedding beyond the end, and dies.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from layerscope.capture.errors import USAGE, CaptureError
from layerscope.capture.json_values import is_whole
from layerscope.capture.loadable import OTHER_TOKENIZER
from layerscope.capture.model_files import ModelFiles, load_config, locate, text_config


def require_vocabulary(
    model: str, server_keywords: Mapping[str, Any], client_args: Sequence[str]
) -> None:
    """Raises CaptureError (USAGE) where the tokenizer has tokens that the model has not.

    Nothing is refused where one of them does not say, or another tokenizer is given.
    """
    given = {*server_keywords, *(word.partition("=")[0].lstrip("-") for word in client_args)}
    if given & OTHER_TOKENIZER:
        return
    try:
        files = locate(model)
        size = text_config(load_config(files.config)).get("vocab_size")
    except CaptureError:  # of the hub and not here, or what the engine will say better
        return
    tokens = _tokens(files)
    if is_whole(size) and tokens > size:
        raise CaptureError(
            f"the tokenizer in {files.folder} has {tokens} tokens, and the model {size}: prompts of"
            " the benchmark would hold tokens that it has not",
            "one rank of several, as config-patch --mock-tp writes it, needs --keep-vocab, too",
            USAGE,
        )


def _tokens(files: ModelFiles) -> int:
    """One more than the highest id of the vocabulary, without added tokens; 0: it is not known.

    Those that are added stand behind it, and random prompts hold none of them.
    """
    sizes = [0]
    for path in files.vocabularies():
        if path.suffix == ".json":
            vocabulary = _vocabulary(path)
            if isinstance(vocabulary, list):  # of Unigram: a token's place is its id
                sizes.append(len(vocabulary))
            elif isinstance(vocabulary, dict):
                sizes += [1 + token for token in vocabulary.values() if is_whole(token)]
    return max(sizes)


def _vocabulary(path: Path) -> Any:
    try:
        document = json.loads(path.read_bytes())
        return document["model"]["vocab"] if path.name == "tokenizer.json" else document
    except (OSError, ValueError, RecursionError, LookupError, TypeError):
        return None
