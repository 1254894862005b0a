"""Finding and running the program and the trace generator under test."""

import dataclasses
import json
import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("LAYERSCOPE_SHARED", ROOT.parent / "shared"))
TIMEOUT_S = float(os.environ.get("LAYERSCOPE_TEST_TIMEOUT", "120"))


def binary():
    return pathlib.Path(os.environ.get("LAYERSCOPE_BIN", ROOT / "build/release/layerscope")).resolve()


def generator():
    """The trace generator: beside the program unless LAYERSCOPE_GEN names it."""
    named = os.environ.get("LAYERSCOPE_GEN")
    return pathlib.Path(named).resolve() if named else binary().parent / "layerscope-gen"


@dataclasses.dataclass
class Run:
    exit: int
    stdout: str
    stderr: str


class NotJson(Exception):
    pass


def run(arguments, cwd=None, stdin=None, timeout=TIMEOUT_S):
    """Runs layerscope; a timeout or a signal is an exit code like 124 or -11, never an exception."""
    environment = {**os.environ, "NO_COLOR": "1", "COLUMNS": "100", "LC_ALL": "C.UTF-8"}
    try:
        done = subprocess.run([str(binary()), *map(str, arguments)], cwd=cwd, env=environment,
                              input=stdin if stdin is not None else b"", capture_output=True,
                              timeout=timeout, check=False)
    except subprocess.TimeoutExpired as late:
        return Run(124, _text(late.stdout), _text(late.stderr) + f"\n[no end after {timeout} s]\n")
    return Run(done.returncode, _text(done.stdout), _text(done.stderr))


def parse_json(text):
    """Strict JSON: no NaN or Infinity, no key twice in an object; integers stay integers."""

    def no_constant(token):
        raise NotJson(f"{token} in JSON output")

    def no_duplicates(pairs):
        keys = [key for key, _ in pairs]
        if len(keys) != len(set(keys)):
            twice = sorted({key for key in keys if keys.count(key) > 1})
            raise NotJson(f"key {twice[0]!r} twice in one object")
        return dict(pairs)

    try:
        return json.loads(text, parse_constant=no_constant, object_pairs_hook=no_duplicates)
    except ValueError as error:
        raise NotJson(f"not JSON: {error}") from error


def run_json(verb, inputs, *options, cwd=None):
    """The parsed envelope of `layerscope VERB INPUT… OPTIONS --format json`; raises on a failure."""
    done = run([verb, *inputs, *options, "--format", "json"], cwd=cwd)
    if done.exit != 0:
        raise RuntimeError(f"layerscope {verb} {' '.join(map(str, inputs))} {' '.join(options)}: "
                           f"exit {done.exit}: {done.stderr.strip()[:400]}")
    return parse_json(done.stdout)


def data_parts(envelope):
    """[(coverage, data)]: one for a single file, one a rank for several."""
    if envelope.get("data") is not None:
        return [(envelope.get("coverage"), envelope["data"])]
    return [(rank.get("coverage"), rank.get("data") or {}) for rank in envelope.get("ranks") or []]


def _text(raw):
    return (raw or b"").decode("utf-8", errors="backslashreplace")
