#!/usr/bin/env python3
"""Runs the golden tests of tests/golden; tools/goldens/case.py describes the format of a case.

  tools/golden.py                       all cases, compared; invariants checked after each run
  tools/golden.py PATTERN…              the cases whose file or name contains a pattern
  tools/golden.py --update [PATTERN…]   rewrites what is expected; review the diff
  tools/golden.py --invariants [PATH…]  every verb on every file (default: the real traces)

The program is $LAYERSCOPE_BIN, else build/release/layerscope.
"""

import argparse
import concurrent.futures
import contextlib
import difflib
import gzip
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from goldens import case as cases  # noqa: E402
from goldens import consistency, program  # noqa: E402
from goldens.invariants import Tally  # noqa: E402

CASES = program.ROOT / "tests/golden"
JOBS = int(os.environ.get("JOBS", "0")) or os.cpu_count() or 2
REAL_TRACES = ("traces/kineto", "traces/cpu")


class Skip(Exception):
    pass


class Outcome:
    def __init__(self, case):
        self.case = case
        self.problems = []
        self.skipped = None
        self.compared = 0


def set_up(case, folder):
    """Lays the inputs of a case in `folder`."""
    for section in case.setup:
        words = section.rest.split()
        target = folder / words[0]
        target.parent.mkdir(parents=True, exist_ok=True)
        if section.kind == "input":
            raw = cases.body(section).encode("utf-8")
            if "escaped" in words[1:]:
                # latin-1 keeps the bytes that \xNN escapes name; the rest of the text is ASCII.
                raw = raw.rstrip(b"\n").decode("unicode_escape").encode("latin-1")
            target.write_bytes(gzip.compress(raw, mtime=0) if target.suffix == ".gz" else raw)
        elif section.kind == "sqlite":
            make_database(target, cases.body(section))
        elif section.kind == "generate":
            generate(target, words[1:])
        else:
            source = program.SHARED / words[1]
            if not source.exists():
                raise Skip(f"../shared/{words[1]} is absent")
            target.symlink_to(source)


def make_database(target, statements):
    with contextlib.closing(sqlite3.connect(target)) as database:
        try:
            database.executescript(statements)
        except sqlite3.Error as error:
            raise cases.CaseError(f"{target.name}: {error}") from error


def generate(target, options):
    tool = program.generator()
    if not tool.is_file():
        raise Skip(f"no trace generator at {tool}")
    is_database = options[:1] == ["nsys"]  # which only a file can be
    where = ["-o", str(target)] if is_database else []
    done = subprocess.run([str(tool), *options, *where], capture_output=True, check=False)
    if done.returncode != 0:
        raise cases.CaseError(f"layerscope-gen {' '.join(options)}: {done.stderr.decode().strip()}")
    if is_database:
        return
    packed = gzip.compress(done.stdout, mtime=0) if target.suffix == ".gz" else done.stdout
    target.write_bytes(packed)


def run_case(case, update):
    outcome = Outcome(case)
    with tempfile.TemporaryDirectory(prefix="layerscope-golden-") as name:
        folder = pathlib.Path(name)
        try:
            set_up(case, folder)
            for expected in case.runs:
                compare(expected, folder, outcome, update)
        except Skip as skip:
            outcome.skipped = str(skip)
        except cases.CaseError as error:
            outcome.problems.append(str(error))
    return outcome


def compare(expected, folder, outcome, update):
    arguments, stdin_name = expected.arguments()
    stdin = (folder / stdin_name).read_bytes() if stdin_name else None
    done = program.run(arguments, cwd=folder, stdin=stdin)
    actual = actual_sections(expected, done, folder, outcome)
    if update:
        expected.sections = updated(expected, actual)
        return
    named = {(s.kind, s.rest) for s in expected.sections}
    wanted = expected.sections + [a for a in actual if (a.kind, a.rest) not in named]
    if any(s.kind == "exit" for s in expected.sections):
        wanted = [s for s in wanted if s.kind != "exit" or s in expected.sections]
    for section in wanted:
        got = next((a for a in actual if a.kind == section.kind and
                    (a.rest == section.rest or a.kind == "exit")), None)
        outcome.compared += 1
        problem = difference(section, got, section in expected.sections)
        if problem:
            outcome.problems.append(f"run {expected.command}\n{problem}")
    check_invariants(arguments, done, folder, stdin, outcome)


def actual_sections(expected, done, folder, outcome):
    """The sections that `expected` should hold, filled from the run; order of the case is kept."""
    kinds = [(s.kind, s.rest) for s in expected.sections]
    found = [cases.Section("exit", str(done.exit), [])]
    if any(kind == "stdout" for kind, _ in kinds) or not any(kind == "json" for kind, _ in kinds):
        found.append(cases.text_section("stdout", "", done.stdout))
    for kind, rest in kinds:
        if kind == "json":
            try:
                value = cases.compact(cases.pick(program.parse_json(done.stdout), rest))
            except (program.NotJson, KeyError, IndexError, ValueError, TypeError) as error:
                value = f"no such part of the output: {error!r}\n"
            found.append(cases.text_section("json", rest, value))
        elif kind == "file":
            path = folder / rest
            text = path.read_text(encoding="utf-8") if path.is_file() else "absent\n"
            found.append(cases.text_section("file", rest, text))
    if done.stderr or any(kind == "stderr" for kind, _ in kinds):
        found.append(cases.text_section("stderr", "", done.stderr))
    return found


def difference(section, got, was_named):
    """What is wrong with a section, as text for people, or None."""
    if section.kind == "exit":
        wanted = section.rest if was_named else "0"
        return None if got.rest == wanted else f"exit {got.rest}, expected {wanted}"
    wanted = cases.body(section) if was_named else ""
    actual = cases.body(got) if got else ""
    label = f"{section.kind} {section.rest}".strip()
    if section.kind == "json":
        problems = cases.json_difference(wanted, actual)
        return f"{label}:\n  " + "\n  ".join(problems) if problems else None
    if wanted == actual:
        return None
    return "".join(difflib.unified_diff(wanted.splitlines(True), actual.splitlines(True),
                                        f"expected {label}", f"actual {label}"))


def updated(expected, actual):
    """The new sections of a run; a part of the JSON that still holds stays as it was written."""
    old = {(s.kind, s.rest): s for s in expected.sections}
    return [old[a.kind, a.rest] if a.kind == "json" and
            difference(old[a.kind, a.rest], a, True) is None else a for a in actual]


def check_invariants(arguments, done, folder, stdin, outcome):
    """The run's own selection, asked for as JSON with all rows, must reconcile."""
    if done.exit != 0 or not arguments or "--help" in arguments:
        return
    verb = arguments[0] if arguments[0] in consistency.VERBS else None
    if verb is None and (folder / arguments[0]).exists():
        verb, arguments = "summary", ["summary", *arguments]
    if verb is None:
        return
    tally = Tally()
    consistency.check_verb(verb, consistency.selection_of(arguments[1:]), tally, cwd=folder,
                           stdin=stdin)
    outcome.compared += tally.compared
    outcome.problems += [f"invariant: {failure}" for failure in tally.failures]


def load(patterns):
    chosen = []
    for path in sorted(CASES.glob("*.golden")):
        case = cases.parse(path)
        if not patterns or any(p in path.name or p in case.name for p in patterns):
            chosen.append(case)
    return chosen


def report(outcomes):
    failed = skipped = 0
    for outcome in outcomes:
        if outcome.skipped:
            skipped += 1
            print(f"SKIPPED {outcome.case.path.name}: {outcome.skipped}")
        for problem in outcome.problems:
            print(f"FAILED {outcome.case.path.name}: {problem.rstrip()}")
        failed += bool(outcome.problems)
    compared = sum(outcome.compared for outcome in outcomes)
    print(f"golden: compared {compared} sections and invariants in {len(outcomes)} cases")
    print(f"{len(outcomes) - failed - skipped} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or len(outcomes) == skipped else 0


def check_cases(patterns, update):
    try:
        chosen = load(patterns)
    except cases.CaseError as error:
        print(f"golden: {error}", file=sys.stderr)
        return 1
    if not chosen:
        print("golden: no case matches; a run without a case proves nothing", file=sys.stderr)
        return 1
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        outcomes = list(pool.map(lambda case: run_case(case, update), chosen))
    if not update:
        return report(outcomes)
    for outcome in outcomes:
        text = cases.render(outcome.case)
        if outcome.skipped or outcome.problems:
            print(f"not updated: {outcome.case.path.name}: {outcome.skipped or outcome.problems}")
        elif text != outcome.case.path.read_text(encoding="utf-8"):
            outcome.case.path.write_text(text, encoding="utf-8")
            print(f"updated {outcome.case.path.name}")
    return 0


def trace_files(paths):
    for path in paths:
        found = sorted(path.iterdir()) if path.is_dir() else [path]
        yield from (f for f in found if f.name.endswith((".json", ".json.gz")))


def check_real_files(paths):
    paths = paths or [program.SHARED / p for p in REAL_TRACES if (program.SHARED / p).is_dir()]
    if not paths:
        print("SKIPPED: ../shared/traces is absent; no real trace was looked at")
        print("0 passed, 0 failed, 1 skipped")
        return 0

    def check(file):
        tally = Tally()
        read = consistency.check_input([file], tally)
        return file, tally, read

    files = list(trace_files(paths))
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        results = list(pool.map(check, files))
    for file, tally, read in results:
        word = "reconciles" if read else "is refused"
        print(f"{'FAILED' if tally.failures else 'ok'} {file.name}: {word}, {tally.compared} compared")
        for failure in tally.failures[:20]:
            print(f"  {failure}")
        if len(tally.failures) > 20:
            print(f"  … and {len(tally.failures) - 20} more")
    failed = sum(bool(tally.failures) for _, tally, _ in results)
    print(f"invariants: compared {sum(t.compared for _, t, _ in results)} figures in {len(files)} files")
    print(f"{len(files) - failed} passed, {failed} failed")
    return 1 if failed or not files else 0


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--invariants", action="store_true")
    parser.add_argument("patterns", nargs="*")
    options = parser.parse_args(arguments)
    if shutil.which(str(program.binary())) is None:
        print(f"golden: no program at {program.binary()}; run `make build`", file=sys.stderr)
        return 1
    if options.invariants:
        return check_real_files([pathlib.Path(p) for p in options.patterns])
    return check_cases(options.patterns, options.update)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
