#!/usr/bin/env python3
"""tools/check.py must fail where it should: each case is a tiny tree with one fault in it."""

import pathlib
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
CLEAN = {
    "CMakeLists.txt": "project(layerscope VERSION 1.2.3 LANGUAGES CXX)\n",
    "CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n## 1.2.3\n",
    "src/base/one.h": "#pragma once\n\n#include <string>\n\nstd::string One();\n",
    "src/io/two.h": '#pragma once\n\n#include "src/base/one.h"\n\nint Two();\n',
    "src/io/two.cc": '#include "src/io/two.h"\n\n#include <zstd.h>\n',
}
LONG_BODY = "".join(f"  x += {i};\n" for i in range(101))
# name: (files that replace or join the clean tree, the check, words of the expected complaint)
FAULTS = {
    "an include that points up":
        ({"src/base/one.h": '#pragma once\n#include "src/io/two.h"\n'}, "layers",
         "src/base may not include src/io"),
    "an arrow that is not in the table":
        ({"src/json/a.h": '#pragma once\n#include "src/io/two.h"\n'}, "layers",
         "src/json may not include src/io"),
    "an include cycle between files":
        ({"src/io/three.h": '#pragma once\n#include "src/io/four.h"\n',
          "src/io/four.h": '#pragma once\n#include "src/io/three.h"\n'}, "layers", "include cycle"),
    "a third-party header outside its owner":
        ({"src/base/two.cc": "#include <zstd.h>\n"}, "layers", "belongs to src/io"),
    "a header of no known owner":
        ({"src/base/two.cc": "#include <unknown/lib.h>\n"}, "layers", "has no owner"),
    "gtest outside of a test":
        ({"src/io/two.cc": "#include <gtest/gtest.h>\n"}, "layers", "for tests only"),
    "a relative include":
        ({"src/io/two.cc": '#include "two.h"\n'}, "layers", "write the path from the root"),
    "a folder that the table does not know":
        ({"src/surprise/a.h": "#pragma once\n"}, "layers", "lies in no folder"),
    "no source file at all":
        ({name: None for name in CLEAN if name.startswith("src/")}, "layers",
         "no source file was scanned"),
    "a library that prints":
        ({"src/io/two.cc": "#include <cstdio>\nvoid F() { printf(\"x\"); }\n"}, "calls",
         "may not call printf"),
    "a library that exits":
        ({"src/io/two.cc": "#include <cstdlib>\nvoid F() { std::exit(1); }\n"}, "calls", "exit("),
    "a library that writes to cout":
        ({"src/io/two.cc": "#include <iostream>\nvoid F() { std::cout << 1; }\n"}, "calls", "cout"),
    "a function of more than 100 lines":
        ({"src/io/two.cc": f"int F(int x) {{\n{LONG_BODY}  return x;\n}}\n"}, "lengths",
         "a function of 104 lines"),
    "a file named after nothing":
        ({"src/io/string_utils.h": "#pragma once\n"}, "lengths", "says what is inside"),
    "a using-declaration that nothing uses":
        ({"src/io/two.cc": "#include <string>\nusing std::string;\n"}, "usings", "is not used"),
    "a wrong spelling":
        ({"docs/a.md": "the kernal\n"}, "spelling", "write kernel"),
    "an open end without an issue":
        ({"src/io/two.cc": "// TODO: later\n"}, "spelling", "without an issue number"),
    "a path of one machine":
        ({"docs/a.md": "see /home/someone/trace.json\n"}, "paths", "/home/someone"),
    "a changelog without Unreleased":
        ({"CHANGELOG.md": "# Changelog\n\n## 1.2.3\n"}, "version", "Unreleased"),
    "a changelog of another version":
        ({"CHANGELOG.md": "# Changelog\n\n## Unreleased\n\n## 1.2.2\n"}, "version", "1.2.2"),
    "a header that leans on its includer":
        ({"src/io/three.h": "#pragma once\ninline std::string F() { return {}; }\n"}, "headers",
         "does not compile alone"),
    "a file that is not formatted":
        ({"src/io/two.cc": "int   F( ) {return 1 ;}\n"}, "format", "not formatted"),
    "archives that were not built":
        ({"build/x": ""}, "archives", "no library archive"),
}
PASSES = {
    "the clean tree": ({}, "layers,spelling,paths,calls,usings,lengths,version,headers,format"),
    "printing in a comment or a string":
        ({"src/io/two.cc": '// printf( here\nconst char* k = "std::cout exit(1)";\n'}, "calls"),
    "a using-declaration that something uses":
        ({"src/io/two.cc": "#include <string>\nusing std::string;\nstring F();\n"}, "usings"),
    "an open end with its issue": ({"src/io/two.cc": "// TODO(#12): later\n"}, "spelling"),
    "a test that looks down":
        ({"src/io/two_test.cc": '#include <gtest/gtest.h>\n\n#include "src/base/one.h"\n'}, "layers"),
}


def check(changes, names):
    """Lays the tree and runs the checks `names` on it; (exit, output)."""
    with tempfile.TemporaryDirectory(prefix="layerscope-check-") as name:
        root = pathlib.Path(name)
        (root / "tools").mkdir()
        for kept in ("layers.toml", "clang_version.sh"):
            shutil.copy(ROOT / "tools" / kept, root / "tools" / kept)
        shutil.copy(ROOT / ".clang-format", root)
        for path, text in {**CLEAN, **changes}.items():
            if text is not None:
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text, encoding="utf-8")
        build = ["--build", str(root / "build")] if "archives" in names else []
        done = subprocess.run([sys.executable, str(ROOT / "tools/check.py"), "--root", str(root),
                               "--only", names, *build], capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr


def main():
    passed = failed = 0
    for title, (changes, name, words) in FAULTS.items():
        code, output = check(changes, name)
        ok = code == 1 and words in output
        passed, failed = passed + ok, failed + (not ok)
        print(f"{'ok' if ok else 'FAILED'} {title}: is found" + ("" if ok else f"\n{output}"))
    for title, (changes, names) in PASSES.items():
        code, output = check(changes, names)
        passed, failed = passed + (code == 0), failed + (code != 0)
        print(f"{'FAILED' if code else 'ok'} {title}: passes" + (f"\n{output}" if code else ""))
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
