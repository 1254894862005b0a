#!/usr/bin/env python3
"""Checks of the tree that no compiler makes. Exit 0 when all pass.

  tools/check.py                     all checks that need no build
  tools/check.py --build DIR         the archives of a build as well
  tools/check.py --only layers,...   some of them; --list names them
  tools/check.py --fix-format        rewrite the sources as clang-format wants them
"""

import argparse
import pathlib
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from checks import compiler, layers, text  # noqa: E402
from checks.tree import Report, Tree  # noqa: E402


def checks_of(tree, cache_dir, build):
    """name -> function(report) -> one line on what was looked at."""
    found = {
        "layers": lambda report: layers.check_layers(tree, report),
        "spelling": lambda report: text.check_spelling(tree, report),
        "paths": lambda report: text.check_machine_paths(tree, report),
        "calls": lambda report: text.check_library_calls(tree, report),
        "usings": lambda report: text.check_usings(tree, report),
        "lengths": lambda report: text.check_lengths(tree, report),
        "version": lambda report: text.check_versions(tree, report),
        "format": lambda report: compiler.check_format(tree, report),
        "headers": lambda report: compiler.check_headers(tree, report, cache_dir),
    }
    if build:
        found["archives"] = lambda report: compiler.check_archives(tree, report, build)
    return found


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[1])
    parser.add_argument("--build", type=pathlib.Path, help="a build folder whose archives are checked")
    parser.add_argument("--only", help="names of checks, separated by commas")
    parser.add_argument("--list", action="store_true", help="print the names of the checks")
    parser.add_argument("--fix-format", action="store_true")
    options = parser.parse_args(arguments)

    tree = Tree(options.root)
    if options.fix_format:
        report = Report()
        print(compiler.check_format(tree, report, fix=True))
        return 1 if report.failures else 0
    checks = checks_of(tree, tree.root / "build/check-cache", options.build)
    if options.list:
        print("\n".join(checks))
        return 0
    names = options.only.split(",") if options.only else list(checks)
    unknown = [name for name in names if name not in checks]
    if unknown or not names:
        print(f"check: no check named {', '.join(unknown)}; there are {', '.join(checks)}",
              file=sys.stderr)
        return 2

    failed = 0
    for name in names:
        report = Report()
        started = time.monotonic()
        looked_at = checks[name](report)
        took = time.monotonic() - started
        verdict = "FAIL" if report.failures else "ok"
        print(f"check {name:<10} {verdict:<4} {looked_at} ({took:.1f} s)", flush=True)
        for line in report.warnings:
            print(f"  warning: {line}")
        for line in report.failures:
            print(f"  {line}")
        failed += bool(report.failures)
    print(f"checks: {len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
