"""Other ways to spread a model, for the refusal of one that does not divide."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from layerscope.capture.config_patch.mock_options import MockOptions

_NODE = 8  # GPUs


def alternatives(
    given: MockOptions, heads: int, *, is_moe: bool, fits: Callable[[MockOptions], bool]
) -> str:
    """The numbers of ranks up to `most(given)` that do, by the options that they need, as text.

    Each is tried with `fits`; only divisors of `heads`, the attention heads, can do. Options that
    add no number to those before them are left out.
    """
    numbers = [n for n in range(2, most(given) + 1) if heads % n == 0]
    ways: list[str] = []
    found: set[int] = set()
    for way in _ways(given, is_moe=is_moe):
        good = [n for n in numbers if fits(replace(way, ranks=n))]
        if not found.issuperset(good):
            found.update(good)
            ways.append(", ".join(map(str, good)) + _options_of(way, given, is_moe=is_moe))
    return "; ".join(ways)


def most(given: MockOptions) -> int:
    """The most ranks that are tried: the next power of two, and no less than a node has."""
    return max(_NODE, 1 << (given.ranks - 1).bit_length())


def _ways(given: MockOptions, *, is_moe: bool) -> list[MockOptions]:
    """The given options, then those that differ in more and more of them."""
    ways = [given]
    if is_moe:
        ways.append(replace(given, moe="ep" if given.moe == "tp" else "tp"))
        shared = "whole" if given.shared == "divided" else "divided"
        ways += [replace(way, shared=shared) for way in ways]
    if not given.keep_vocab:
        ways += [replace(way, keep_vocab=True) for way in ways]
    return ways


def _options_of(way: MockOptions, given: MockOptions, *, is_moe: bool) -> str:
    """` with --moe ep --shared-experts whole`: the options of `way` on the command line."""
    words = []
    if is_moe:
        words.append(f"--moe {way.moe}")
        if "whole" in (way.shared, given.shared):
            words.append(f"--shared-experts {way.shared}")
    if way.keep_vocab:
        words.append("--keep-vocab")
    return f" with {' '.join(words)}" if words else ""
