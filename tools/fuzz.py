#!/usr/bin/env python3
"""Runs every fuzz target of a build for a while, from its corpus in tests/fuzz/corpus.

  tools/fuzz.py --build build/fuzz --seconds 600 --jobs 2

New inputs go to build/fuzz/corpus/<target>, findings to build/fuzz/findings.
"""

import argparse
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
MEMORY_LIMIT_MB = 1024  # what a hostile file may cost (docs/design.md)
TIMEOUT_S = 20          # for one input, with the sanitizer's slowdown


def corpora():
    """target -> folder of its corpus, as tests/fuzz/CMakeLists.txt says."""
    text = (ROOT / "tests/fuzz/CMakeLists.txt").read_text(encoding="utf-8")
    return dict(re.findall(r"^layerscope_fuzz\((\w+) CORPUS (\w+)", text, re.MULTILINE))


def run(target, seconds, jobs, build):
    found = build / "corpus" / target.name
    found.mkdir(parents=True, exist_ok=True)
    findings = build / "findings"
    findings.mkdir(exist_ok=True)
    seeds = ROOT / "tests/fuzz/corpus" / corpora()[target.name.removesuffix("_fuzz")]
    command = [str(target), str(found), str(seeds),
               f"-max_total_time={seconds}", f"-rss_limit_mb={2 * MEMORY_LIMIT_MB}",
               f"-malloc_limit_mb={MEMORY_LIMIT_MB}", f"-timeout={TIMEOUT_S}", f"-fork={jobs}",
               f"-artifact_prefix={findings}/{target.name}-"]
    print(f"fuzz: {target.name} for {seconds} s", flush=True)
    return subprocess.run(command, cwd=ROOT, check=False).returncode == 0


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args(arguments)
    build = options.build.resolve()
    targets = sorted(build.glob("*_fuzz"))
    if not targets:
        print(f"fuzz: no target in {build}", file=sys.stderr)
        return 1
    failed = sum(not run(target, options.seconds, options.jobs, build) for target in targets)
    print(f"{len(targets) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
