"""The file that declares a matrix, TOML (Python 3.11 or later) or JSON.

Its keys are in the help of the command. A family may narrow any list; a run that matches all keys
of an [[exclude]] table is left out.
"""

from __future__ import annotations

import difflib
import importlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from layerscope.capture.drive.profilers import PROFILERS
from layerscope.capture.dtypes import AUTO, DTYPES, NAMES
from layerscope.capture.engines import SERVING
from layerscope.capture.errors import INVALID_INPUT, CaptureError
from layerscope.capture.json_values import decoder_said, is_whole, shown
from layerscope.capture.small_files import read_small

# That one file declares: weeks of runs, of which each loads a model; days of points of a second.
_MOST_RUNS = 10_000
_MOST_POINTS = 1_000_000
_MOST = 2**31 - 1  # engines keep batches and lengths in 32 bits
_LISTS = ("engine", "batch", "past", "precision", "parallelism")
_FLAGS = {
    "dummy_weights": False,
    "trust_remote_code": False,
    "eager": False,
    "isolate": False,  # a run of its own for each batch and past length
    "modules": False,  # results of each module, too
}
_KNOWN = {*_LISTS, *_FLAGS, "output", "repeat", "profiler", "engine_args", "family", "exclude"}

# What a precision means as keywords of DrivePlan.
_PRECISIONS: dict[str, dict[str, str]] = {
    **{name: {"dtype": dtype} for name, dtype in DTYPES.items()},
    AUTO: {},
    "fp8": {"quantization": "fp8"},
}
_PRECISION_KEYS = {"dtype", "quantization", "kv_cache_dtype"}

# Keywords of the engines for what rows are told apart by.
_DECLARED = {
    *_PRECISION_KEYS,
    *("model", "model_path"),
    *("tensor_parallel_size", "pipeline_parallel_size", "enable_expert_parallel"),
    *("tp_size", "pp_size", "ep_size", "moe_expert_parallel_size"),
}


@dataclass(frozen=True)
class Precision:
    """A name and the keywords of DrivePlan that it stands for."""

    name: str
    keywords: Mapping[str, str]


@dataclass(frozen=True)
class Parallelism:
    """`tp4-ep4`: GPUs of tensor, pipeline and expert parallelism."""

    name: str
    tensor: int
    pipeline: int
    expert: int


@dataclass(frozen=True)
class Family:
    """One model with the lists that hold for it."""

    name: str
    model: str
    engines: tuple[str, ...]
    batches: tuple[int, ...]
    pasts: tuple[int, ...]
    precisions: tuple[Precision, ...]
    parallelisms: tuple[Parallelism, ...]


@dataclass(frozen=True)
class Declaration:
    """A matrix as its file says it."""

    output: Path
    families: tuple[Family, ...]
    excluded: tuple[Mapping[str, str], ...] = ()
    repeat: int = 1
    profiler: str = "auto"
    engine_args: Mapping[str, Any] = field(default_factory=dict)
    flags: Mapping[str, bool] = field(default_factory=dict)


def _refuse(message: str, hint: str = "layerscope-capture matrix --help shows a file") -> Exception:
    return CaptureError(message, hint, INVALID_INPUT)


def _refuse_unknown(where: str, given: Mapping[str, Any], known: set[str]) -> None:
    for key in sorted(given.keys() - known):
        near = difflib.get_close_matches(key, known, 1)
        hint = (f"did you mean '{near[0]}'?",) if near else ()
        raise _refuse(f"{where} knows no '{key}'", *hint)


def _document(file: Path) -> dict[str, Any]:
    text = read_small(file, "the declaration of a matrix")
    try:
        document = json.loads(text) if file.suffix == ".json" else _toml(text, file)
    except (ValueError, RecursionError) as error:  # both decoders' errors; too deep
        raise _refuse(f"{file}: {decoder_said(error)}") from None
    _require_plain(document, str(file))
    if not isinstance(document, dict):
        raise _refuse(f"{file} is not a table of settings")
    return document


def _require_plain(value: Any, place: str) -> None:
    """Raises CaptureError for what can be no name, or is in no JSON of others: dates of TOML.

    `place` is the file and the key at which the value stands.
    """
    if isinstance(value, dict):
        for key, part in value.items():
            _require_plain(key, place)
            _require_plain(part, f"{place}: {key}")
    elif isinstance(value, list):
        for part in value:
            _require_plain(part, place)
    elif isinstance(value, str):
        if "\0" in value or any("\ud800" <= character <= "\udfff" for character in value):
            raise _refuse(f"{place}: {value[:40]!r} holds what is no character")
    elif not isinstance(value, (int, float, type(None))):
        raise _refuse(f"{place}: {value} is neither text nor a number")
    elif isinstance(value, int) and value.bit_length() > 63:
        raise _refuse(f"{place}: {shown(value)} is no number of 64 bits")


def _toml(text: str, file: Path) -> Any:
    try:
        tomllib: Any = importlib.import_module("tomllib")
    except ImportError:
        raise _refuse(f"{file}: TOML needs Python 3.11", "write the same as JSON") from None
    return tomllib.loads(text)


def _values(fields: Mapping[str, Any], key: str, common: Mapping[str, Any]) -> list[Any]:
    found = fields.get(key, common.get(key))
    values = found if isinstance(found, list) else [] if found is None else [found]
    if not values:
        raise _refuse(f"no {key} is given for {fields.get('name', 'the matrix')}")
    return values


def _counts(values: list[Any], key: str) -> tuple[int, ...]:
    for value in values:
        if not is_whole(value) or value < 1:
            raise _refuse(f"{key}: {shown(value)} is no whole number above 0")
        if value > _MOST:
            raise _refuse(f"{key}: {value} is above {_MOST}")
    return tuple(sorted(set(values)))


def precision_of(value: Any) -> Precision:
    """A known name, or a table with a name and keywords."""
    if isinstance(value, str) and value in _PRECISIONS:
        return Precision(value, _PRECISIONS[value])
    if isinstance(value, dict) and isinstance(value.get("name"), str):
        keywords = {key: part for key, part in value.items() if key != "name"}
        if set(keywords) <= _PRECISION_KEYS and all(isinstance(v, str) for v in keywords.values()):
            dtype = keywords.get("dtype", AUTO)
            if dtype not in DTYPES:
                raise _refuse(f"precision {shown(value)}: no such dtype", f"use one of {NAMES}")
            return Precision(value["name"], {**keywords, "dtype": DTYPES[dtype]})
    raise _refuse(
        f"precision {shown(value)} is not known",
        f"use one of {', '.join(_PRECISIONS)}, or a table with name and "
        f"{', '.join(sorted(_PRECISION_KEYS))}",
    )


def parallelism_of(value: Any) -> Parallelism:
    """`tp1`, `tp4-ep4`, `tp2-pp2`."""
    text = value if isinstance(value, str) else ""
    sizes: dict[str, int] = {}
    for part in text.split("-"):
        found = re.fullmatch(r"(tp|pp|ep)([1-9][0-9]{0,5})", part)
        if not found or found.group(1) in sizes:
            raise _refuse(f"parallelism {shown(value)} is not written as tp4, tp2-pp2 or tp4-ep4")
        sizes[found.group(1)] = int(found.group(2))
    return Parallelism(text, *(sizes.get(kind, 1) for kind in ("tp", "pp", "ep")))


def _family(fields: Any, common: Mapping[str, Any]) -> Family:
    if not isinstance(fields, dict) or not fields.get("model"):
        raise _refuse("a [[family]] has no model")
    _refuse_unknown("[[family]]", fields, {*_LISTS, "name", "model"})
    engines = _values(fields, "engine", common)
    for engine in engines:
        if engine not in SERVING:
            raise _refuse(f"no engine {shown(engine)}", f"use one of {', '.join(SERVING)}")
    precisions = [precision_of(value) for value in _values(fields, "precision", common)]
    parallelisms = [parallelism_of(value) for value in _values(fields, "parallelism", common)]
    _require_distinct("precisions", [precision.name for precision in precisions])
    _require_distinct("parallelisms", [parallelism.name for parallelism in parallelisms])
    model = _text(fields, "model", "")
    return Family(
        name=_text(fields, "name", model),
        model=model,
        engines=tuple(dict.fromkeys(engines)),
        batches=_counts(_values(fields, "batch", common), "batch"),
        pasts=_counts(_values(fields, "past", common), "past"),
        precisions=tuple(precisions),
        parallelisms=tuple(parallelisms),
    )


def _text(fields: Mapping[str, Any], key: str, default: str) -> str:
    value = fields.get(key, default)
    if not isinstance(value, str) or not value.strip():
        raise _refuse(f"{key}: {shown(value)} is no text")
    return value


def _require_distinct(what: str, names: Sequence[str]) -> None:
    """Results are told apart by names."""
    for name, times in Counter(names).items():
        if times > 1:
            raise _refuse(f"two {what} are called '{name}'", "give each a name of its own")


def _require_few(file: Path, families: Sequence[Family]) -> None:
    """Before any is made: they multiply."""
    runs = points = 0
    for family in families:
        of_it = len(family.engines) * len(family.precisions) * len(family.parallelisms)
        runs += of_it
        points += of_it * len(family.batches) * len(family.pasts)
    for count, most, what in ((runs, _MOST_RUNS, "runs"), (points, _MOST_POINTS, "points")):
        if count > most:
            raise _refuse(
                f"{file} declares {count} {what}, more than {most}",
                "divide it into files, each with an output of its own",
            )


def _excluded(
    document: Mapping[str, Any], families: Sequence[Family]
) -> tuple[Mapping[str, str], ...]:
    """The [[exclude]] tables, of which each value is one that some run has."""
    known = {
        "family": dict.fromkeys(family.name for family in families),
        "engine": dict.fromkeys(engine for family in families for engine in family.engines),
        "precision": dict.fromkeys(p.name for family in families for p in family.precisions),
        "parallelism": dict.fromkeys(p.name for family in families for p in family.parallelisms),
    }
    tables = document.get("exclude", [])
    if not isinstance(tables, list):
        raise _refuse("exclude is no list of tables")
    for table in tables:
        if not isinstance(table, dict) or not table or set(table) - known.keys():
            raise _refuse(f"[[exclude]] takes {', '.join(known)}")
        for key, value in table.items():
            if not isinstance(value, str) or value not in known[key]:
                raise _refuse(
                    f"[[exclude]] {key} = {shown(value)}: no run has it",
                    f"of: {', '.join(known[key])}",
                )
    return tuple(tables)


def load_declaration(file: Path) -> Declaration:
    """Reads and checks a file; raises CaptureError (code 3) with what is wrong in it."""
    document = _document(file)
    _refuse_unknown(str(file), document, _KNOWN)
    common = {"precision": ["auto"], "parallelism": ["tp1"], **document}
    families = document.get("family")
    if not isinstance(families, list) or not families:
        raise _refuse(f"{file} has no [[family]]")
    flags = {key: document.get(key, default) for key, default in _FLAGS.items()}
    for key, value in flags.items():
        if not isinstance(value, bool):
            raise _refuse(f"{key}: {shown(value)} is neither true nor false")
    profiler = document.get("profiler", "auto")
    if profiler not in PROFILERS:
        raise _refuse(f"no profiler {shown(profiler)}", f"use one of {', '.join(PROFILERS)}")
    found = tuple(_family(fields, common) for fields in families)
    _require_distinct("families", [family.name for family in found])
    _require_few(file, found)
    engine_args = document.get("engine_args", {})
    if not isinstance(engine_args, dict):
        raise _refuse("engine_args is no table of keywords")
    if declared := sorted(_DECLARED & engine_args.keys()):
        raise _refuse(
            f"engine_args has '{declared[0]}', by which results are told apart",
            "declare it: model of a [[family]], precision, parallelism",
        )
    return Declaration(
        output=file.absolute().parent / _text(document, "output", file.stem + "_runs"),
        families=found,
        excluded=_excluded(document, found),
        repeat=_counts([document.get("repeat", 1)], "repeat")[0],
        profiler=profiler,
        engine_args=engine_args,
        flags=flags,
    )
