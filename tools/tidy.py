#!/usr/bin/env python3
"""clang-tidy over src/**/*.cc and bench/**/*.cc, in parallel; what passed unchanged is not run again.

  tools/tidy.py --build build/lint [FILE...]

Where the build folder is configured with units (LAYERSCOPE_UNITY), a unit is looked at as a whole: most
of the time goes into the headers, which its files share.
"""

import argparse
import concurrent.futures
import hashlib
import json
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from checks.compiler import ResultCache, clang_tool, digest, jobs  # noqa: E402
from checks.tree import Tree, is_test  # noqa: E402

UNIT = re.compile(r"/Unity/unity_\w+\.cxx$")
INCLUDED = re.compile(r'^#include "([^"]+\.cc)"', re.MULTILINE)


def units_of(tree, database, wanted):
    """{what the compiler is given: the files of `wanted` in it}, by the compile commands."""
    found = {}
    for entry in json.loads(database.read_text(encoding="utf-8")):
        source = pathlib.Path(entry["directory"], entry["file"])
        members = [source]
        if UNIT.search(source.as_posix()):
            members = [pathlib.Path(name) for name in INCLUDED.findall(source.read_text(encoding="utf-8"))]
        inside = [pathlib.PurePosixPath(member.relative_to(tree.root).as_posix())
                  for member in members if member.is_relative_to(tree.root)]
        inside = [member for member in inside if member in wanted]
        if inside:
            found[str(source)] = inside
    return found


def unit_digest(tree, members, extra):
    state = hashlib.sha256()
    for member in members:
        state.update(digest(tree, member, extra).encode())
    return state.hexdigest()


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True,
                        help="a configured build folder with compile_commands.json")
    parser.add_argument("files", nargs="*", help="only these")
    options = parser.parse_args(arguments)

    tree = Tree(pathlib.Path(__file__).resolve().parents[1])
    tool = clang_tool(tree.root, "clang-tidy")
    database = options.build / "compile_commands.json"
    if tool is None or not database.is_file():
        print(f"tidy: {'clang-tidy not found; run `make deps`' if tool is None else f'no {database}'}",
              file=sys.stderr)
        return 1
    files = [f for f in tree.cpp_files()
             if f.suffix == ".cc" and f.parts[0] in {"src", "bench"} and not is_test(f)
             and (not options.files or str(f) in options.files)]
    units = units_of(tree, database, set(files))
    if not units:
        print("tidy: no file to look at", file=sys.stderr)
        return 1

    rules = (tree.root / ".clang-tidy").read_text(encoding="utf-8")
    cache = ResultCache(tree.root / "build/check-cache/tidy.json")
    keys = {unit: unit_digest(tree, members, tool + rules) for unit, members in units.items()}
    # A run over a few files must not forget the results of the others.
    if options.files:
        cache.used |= cache.passed
    # The longest first, so that none is left alone at the end.
    todo = sorted((unit for unit in units if not cache.has(keys[unit])),
                  key=lambda unit: -sum(len(tree.text(f)) for f in units[unit]))

    def run(unit):
        return subprocess.run([tool, "-p", str(options.build), "--quiet", unit], cwd=tree.root,
                              capture_output=True, text=True, check=False)

    failed = []
    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        for unit, result in zip(todo, pool.map(run, todo)):
            if result.returncode != 0:
                failed.append(keys[unit])
                print(result.stdout.strip() or result.stderr.strip(), flush=True)
    cache.save(failed)
    n_files = sum(len(members) for members in units.values())
    print(f"tidy: {n_files} files: {len(units) - len(failed)} units passed, {len(failed)} failed "
          f"({len(todo)} run)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
