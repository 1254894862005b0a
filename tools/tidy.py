#!/usr/bin/env python3
"""clang-tidy over src/**/*.cc and bench/**/*.cc, in parallel; files that passed unchanged are not run
again.

  tools/tidy.py --build build/lint [FILE...]
"""

import argparse
import concurrent.futures
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from checks.compiler import ResultCache, clang_tool, digest, jobs  # noqa: E402
from checks.tree import Tree, is_test  # noqa: E402


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
             and str(f) in database.read_text(encoding="utf-8")
             and (not options.files or str(f) in options.files)]
    if not files:
        print("tidy: no file to look at", file=sys.stderr)
        return 1

    rules = (tree.root / ".clang-tidy").read_text(encoding="utf-8")
    cache = ResultCache(tree.root / "build/check-cache/tidy.json")
    keys = {f: digest(tree, f, tool + rules) for f in files}
    # A run over a few files must not forget the results of the others.
    if options.files:
        cache.used |= cache.passed
    todo = [f for f in files if not cache.has(keys[f])]

    def run(file):
        return subprocess.run([tool, "-p", str(options.build), "--quiet", str(file)], cwd=tree.root,
                              capture_output=True, text=True, check=False)

    failed = []
    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        for file, result in zip(todo, pool.map(run, todo)):
            if result.returncode != 0:
                failed.append(keys[file])
                print(result.stdout.strip() or result.stderr.strip(), flush=True)
    cache.save(failed)
    print(f"tidy: {len(files) - len(failed)} passed, {len(failed)} failed ({len(todo)} run)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
