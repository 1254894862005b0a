#!/usr/bin/env python3
"""The output blocks of README.md and docs/*.md are what the program prints.

A block is a comment and the fenced block after it:

    <!-- output: layerscope modules examples/trace.json.gz --depth 2 -->
    ```text
    …
    ```

  tools/readme_blocks.py --check    compares them (exit 1 on a difference)
  tools/readme_blocks.py --update   rewrites them
"""

import argparse
import difflib
import pathlib
import re
import shlex
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from goldens import program  # noqa: E402

BLOCK = re.compile(
    r"(<!-- output: layerscope (?P<command>[^\n]*?) -->\n```[^\n]*\n)(?P<body>.*?)(?=^```$)",
    re.DOTALL | re.MULTILINE)


def output_of(command):
    done = program.run(shlex.split(command), cwd=program.ROOT)
    if done.exit != 0:
        raise RuntimeError(f"layerscope {command}: exit {done.exit}: {done.stderr.strip()}")
    return done.stdout.rstrip("\n") + "\n"


def documents():
    return [program.ROOT / "README.md", *sorted((program.ROOT / "docs").glob("*.md"))]


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument("--check", action="store_true")
    mode.add_argument("--update", action="store_true")
    options = parser.parse_args(arguments)

    passed = failed = 0
    for path in documents():
        if not path.is_file():
            continue
        text = path.read_text(encoding="utf-8")
        fresh = BLOCK.sub(lambda m: m.group(1) + output_of(m["command"]), text)
        n_blocks = len(BLOCK.findall(text))
        if n_blocks != text.count("<!-- output: layerscope"):
            print(f"FAILED {path.name}: an output comment without a fenced block after it")
            failed += 1
        elif fresh != text and options.check:
            print(f"FAILED {path.name}: run tools/readme_blocks.py --update")
            sys.stdout.writelines(difflib.unified_diff(
                text.splitlines(True), fresh.splitlines(True), path.name, "fresh"))
            failed += 1
        elif n_blocks:
            path.write_text(fresh, encoding="utf-8")
            print(f"ok {path.name}: {n_blocks} blocks")
            passed += 1
    if passed + failed == 0:
        print("FAILED README.md: no output block found; the check would prove nothing")
        failed = 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
