#!/usr/bin/env python3
"""`--help` of each verb ends with two examples; every one of them runs."""

import pathlib
import re
import shlex
import tempfile

from e2e import ROOT, Parts, program
from view_server import view


def verbs():
    """The verbs that `layerscope --help` lists."""
    done = program.run(["--help"])
    return re.findall(r"^  ([a-z]+)  +\S", done.stdout, re.MULTILINE)


def run_aside(arguments):
    """Runs an example where the files that it writes are in nobody's way: (run, bytes it gave)."""
    with tempfile.TemporaryDirectory(prefix="layerscope-help-") as folder:
        for name in ("examples", "profiles"):
            (pathlib.Path(folder) / name).symlink_to(ROOT / name)
        run = program.run(arguments, cwd=folder)
        files = [pathlib.Path(folder) / arguments[i + 1] for i, word in enumerate(arguments)
                 if word == "-o"]
        return run, len(run.stdout.strip()) + sum(file.stat().st_size for file in files)


def check_view(tally, line, arguments):
    """It serves until it is told to end."""
    with view([], *arguments) as server:
        tally.equal(f"`{line}` answers", server.get("/api/view")[0], 200)
        tally.equal(f"exit of `{line}`", server.stop(), 0)


def check(tally, verb):
    done = program.run([verb, "--help"])
    tally.equal("exit of --help", done.exit, 0)
    tally.equal("stderr of --help", done.stderr, "")
    tally.holds("no line of the help is over 80 columns",
                [line for line in done.stdout.splitlines() if len(line) > 80] == [])
    _, heading, examples = done.stdout.partition("\nexamples:\n")
    lines = re.sub(r" \\\n +", " ", examples.strip()).splitlines()
    tally.holds("the help ends with examples", bool(heading))
    tally.equal("number of examples", len(lines), 2)
    for line in lines:
        words = shlex.split(line)
        tally.equal("an example starts with", words[0], "layerscope")
        if verb == "view":
            check_view(tally, line.strip(), words[2:])
            continue
        run, n_bytes = run_aside(words[1:])
        tally.equal(f"exit of `{line.strip()}` ({run.stderr.strip()[:200]})", run.exit, 0)
        unfit = re.findall(r"\[(\w*(?:not_aligned|mismatch|withheld|needless)\w*)", run.stdout + run.stderr)
        tally.equal(f"files of `{line.strip()}` that do not belong together", unfit, [])
        tally.holds(f"`{line.strip()}` prints or writes something", n_bytes > 0)


if __name__ == "__main__":
    PARTS = Parts("help")
    for VERB in verbs():
        PARTS.run(VERB, check, VERB)
    PARTS.close()
