"""What the end-to-end tests share: the program, the real files, a tally and the closing line.

Each test is a plain script: it prints one line a part and closes with `N passed, N failed`. The program
is $LAYERSCOPE_BIN, else build/release/layerscope; the real traces are those of ../shared.
"""

import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

from goldens import program  # noqa: E402
from goldens.invariants import Tally  # noqa: E402

SHARED = program.SHARED
MAX_SHOWN = 12


class Parts:
    """The parts of one test script and how they went."""

    def __init__(self, title):
        self.title = title
        self.passed = self.failed = self.skipped = self.compared = 0
        if not program.binary().is_file():
            sys.exit(f"{title}: no program at {program.binary()}; run `make build`")

    def run(self, name, check, *arguments):
        """Runs check(tally, *arguments) as the part `name`."""
        tally = Tally()
        try:
            check(tally, *arguments)
        except (RuntimeError, KeyError, TypeError, ValueError, program.NotJson, OSError) as error:
            tally.holds(f"{type(error).__name__}: {error}", False)
        self.compared += tally.compared
        if tally.compared == 0:
            tally.holds("nothing was compared; the part proves nothing", False)
        self.passed += not tally.failures
        self.failed += bool(tally.failures)
        print(f"{'FAILED' if tally.failures else 'ok'} {name}: {tally.compared} compared", flush=True)
        for failure in tally.failures[:MAX_SHOWN]:
            print(f"    {failure}")
        if len(tally.failures) > MAX_SHOWN:
            print(f"    … and {len(tally.failures) - MAX_SHOWN} more")

    def skip(self, name, why):
        self.skipped += 1
        print(f"SKIPPED {name}: {why}", flush=True)

    def run_shared(self, path, check, *arguments):
        """Runs check(tally, file, *arguments) on a file of ../shared; says so where it is absent."""
        found = shared(path)
        if found is None:
            self.skip(path, "../shared/traces is absent")
        else:
            self.run(found.name, check, found, *arguments)

    def close(self):
        """Prints the closing line; a run in which nothing was tried fails."""
        print(f"{self.title}: {self.compared} figures compared")
        print(f"{self.passed} passed, {self.failed} failed" +
              (f", {self.skipped} skipped" if self.skipped else ""))
        sys.exit(1 if self.failed or not (self.passed or self.skipped) else 0)


def check_refused(tally, folder, cases):
    """Each of (arguments, exit status, words of the message) is refused and leaves no file behind."""
    before = sorted(folder.iterdir())
    for arguments, status, words in cases:
        done = program.run(arguments)
        what = " ".join(str(a).replace(str(folder), "…") for a in arguments)
        tally.equal(f"{what}: exit", done.exit, status)
        tally.holds(f"{what}: says {words!r}: {done.stderr.strip()[:160]}", words in done.stderr)
        tally.equal(f"{what}: files left", sorted(folder.iterdir()), before)


def shared(path):
    """A file or folder of ../shared, or None when the folder is not there."""
    found = SHARED / path
    return found if found.exists() else None
