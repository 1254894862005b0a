"""Token ids in a config, and their place in a vocabulary that became smaller.

Ids stand beside the vocabulary's size, in wrappers of multimodal models (`image_token_id`), in
lists (`eos_token_id`) and in generation_config.json. Engines look them up in the embedding, where
an id beyond its end is a crash or another's memory.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from typing import Any

from layerscope.capture import model_files
from layerscope.capture.config_patch.changes import Changes
from layerscope.capture.json_values import is_whole

_KEY = re.compile(
    r"(token_ids?|token_index)$|^(bos|eos|pad|unk|sep|cls|mask|eod)_(id|idx)$"
    r"|^(begin_)?suppress_tokens$|^bad_words_ids$"
)
_VOCABULARY = "vocab_size"
# The first place that is given away: engines pad with 0, and random prompts begin far above.
_FIRST_FREE = 1


def is_token_key(key: str) -> bool:
    """Whether a key of a config holds token ids."""
    return _KEY.search(key) is not None


def ids_beyond(config: Mapping[str, Any], size: int) -> dict[str, list[int]]:
    """The ids of each key (by its dotted path) that a vocabulary of `size` does not have."""
    found = {}
    for at, holder in _holders(config):
        for key, value in holder.items():
            beyond = [i for i in _numbers(value) if i >= size] if is_token_key(key) else []
            if beyond:
                found[model_files.dotted(at, key)] = beyond
    return found


def move_inside(
    config: dict[str, Any], generation: dict[str, Any] | None, size: int, changes: Changes
) -> bool:
    """Moves ids beyond a vocabulary of `size` to ids that nothing else has; the others stay.

    The smallest gets the first free place from 1 on, and so forth, so that different ids stay
    different and none lies where random prompts take their tokens. `generation` is the document of
    generation_config.json. False, with nothing moved, where there are not enough places.
    """
    sites = [(holder, key, at) for at, holder in _holders(config) for key in holder]
    if generation is not None:
        sites += [(generation, key, model_files.GENERATION_CONFIG) for key in generation]
    sites = [site for site in sites if is_token_key(site[1])]
    ids = {i for holder, key, _ in sites for i in _numbers(holder[key])}
    beyond = sorted(i for i in ids if i >= size)
    free = (i for i in range(_FIRST_FREE, size) if i not in ids)
    places = dict(zip(beyond, free, strict=False))
    if len(places) < len(beyond):
        return False
    for holder, key, at in sites:
        changes.set(holder, key, _moved(holder[key], places), "inside the vocabulary", at)
    return True


def _holders(config: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """The objects whose ids are of the text model's vocabulary, with their dotted paths.

    An object with a vocabulary of its own (a talker's codec), and all that it holds, is left out.
    """
    path = model_files.text_path(config)
    of_text = {path[:length] for length in range(len(path) + 1)}

    def walk(node: Any, at: tuple[str, ...]) -> Iterator[tuple[str, Any]]:
        if isinstance(node, dict):
            if at not in of_text and isinstance(node.get(_VOCABULARY), int):
                return
            yield ".".join(at), node
        inner = node.items() if isinstance(node, dict) else enumerate(node)
        for key, value in inner:
            if isinstance(value, (dict, list)):
                yield from walk(value, (*at, str(key)))

    return walk(config, ())


def _numbers(value: Any) -> Iterator[int]:
    if isinstance(value, list):
        yield from itertools.chain.from_iterable(map(_numbers, value))
    elif is_whole(value):
        yield value


def _moved(value: Any, places: Mapping[int, int]) -> Any:
    if isinstance(value, list):
        return [_moved(one, places) for one in value]
    return places.get(value, value) if is_whole(value) else value
