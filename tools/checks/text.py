"""Checks that read text: spelling, machine paths, lengths, output calls in libraries, version."""

import pathlib
import re

from checks.tree import code_only, is_test

# One spelling a word (docs/design.md). Pattern, and what to write instead. Case matters.
SPELLINGS = [
    (r"\b[Kk]ernal\b", "kernel"),
    (r"\bN[Ss]ight [Ss]ystem\b", "Nsight Systems"),
    (r"\bNSight\b", "Nsight"),
    (r"\b[Cc]hrome [Tt]races? phase\b", "ph (a trace event's type letter)"),
    (r"\bph (?:code|phase)\b", "ph"),
    (r"\bwall[- ]?clock_ns\b", "wall_ns"),
    (r"\bPy[Tt]orch [Pp]rofiler'?s? phase\b", "ph"),
    (r"\bsub-?layer\b", "block"),
    (r"\bmem-?copy\b", "memcpy or copy"),
    (r"\bHuggingface\b|\bHuggingFace\b", "Hugging Face"),
    (r"\b[Tt]ime ?stamp_us\b", "ts"),
    (r"\bseperat", "separat"),
    (r"\boccured\b", "occurred"),
    (r"\brecieve", "receive"),
]
PROSE_SUFFIXES = {".cc", ".h", ".py", ".md", ".toml", ".txt", ".sh", ".cmake", ".golden"}
# The table above and the test of it hold the wrong spellings on purpose.
SPELLING_EXEMPT = {"tools/checks/text.py", "tests/e2e/check_test.py"}

MACHINE_PATH = re.compile(r"(?<![\w.$}/<>-])/(?:home|root|work|Users|private|mnt)/[\w.-]+")
NO_TODO = re.compile(r"\b(?:TODO|FIXME|XXX)\b(?!\(#\d+\))")
BANNED_CALL = re.compile(
    r"(?<![\w:.>])(?:std::)?(printf|fprintf|puts|putchar|exit|_exit|quick_exit|abort|terminate)\s*\("
    r"|\bstd::(cout|cerr|clog)\b|\bfmt::print\b")
DIRECTIVE = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
USING = re.compile(r"^[ \t]*using\s+(?:\w+::)+(\w+);", re.MULTILINE)
BANNED_FILE_NAME = re.compile(r"(?:^|_)(?:utils?|common|helpers?|managers?)(?:_|$)")
# The one place that ends the program on a bug, and the program itself.
MAY_ABORT = {"src/base/check.h", "src/base/check.cc"}
MAY_PRINT_FOLDERS = ("src/cli/",)

MAX_FILE_LINES = 400
MAX_FUNCTION_LINES = 100


def check_spelling(tree, report):
    seen = 0
    rules = [(re.compile(pattern), instead) for pattern, instead in SPELLINGS]
    for file in tree.files():
        if file.suffix not in PROSE_SUFFIXES or str(file) in SPELLING_EXEMPT:
            continue
        seen += 1
        text = tree.text(file)
        for rule, instead in rules:
            for match in rule.finditer(text):
                report.fail(_at(file, text, match), f"'{match.group(0)}': write {instead}")
        for match in NO_TODO.finditer(text):
            report.fail(_at(file, text, match), f"{match.group(0)} without an issue number")
    return _proved(report, "spelling", seen)


def check_machine_paths(tree, report):
    seen = 0
    for file in tree.files():
        if file.suffix in PROSE_SUFFIXES or file.name in {"Makefile", "CMakeLists.txt", "run"}:
            seen += 1
            text = tree.text(file)
            for match in MACHINE_PATH.finditer(text):
                if str(file) not in SPELLING_EXEMPT:
                    report.fail(_at(file, text, match), f"a path of one machine: {match.group(0)}")
    return _proved(report, "machine paths", seen)


def check_library_calls(tree, report):
    """Libraries hand out results; only src/cli prints, and only LS_CHECK ends the process."""
    seen = 0
    for file in tree.cpp_files():
        name = str(file)
        if file.parts[0] != "src" or is_test(file) or name.startswith(MAY_PRINT_FOLDERS):
            continue
        seen += 1
        text = code_only(tree.text(file))
        for match in BANNED_CALL.finditer(text):
            if name not in MAY_ABORT:
                report.fail(_at(file, text, match), f"a library may not call {match.group(0)}")
    return _proved(report, "library calls", seen)


def check_usings(tree, report):
    """A using-declaration of a source that nothing uses. clang-tidy sees these in main files alone, and
    a unit is the main file there."""
    seen = 0
    for file in tree.cpp_files():
        if file.suffix != ".cc":
            continue
        seen += 1
        code = DIRECTIVE.sub("", code_only(tree.text(file)))
        for match in USING.finditer(code):
            if len(re.findall(rf"\b{match.group(1)}\b", code)) == 1:
                report.fail(_at(file, code, match), f"{match.group(0).strip()} is not used")
    return _proved(report, "using-declarations", seen)


def check_lengths(tree, report):
    seen = 0
    for file in tree.cpp_files() + [f for f in tree.files() if f.suffix == ".py"]:
        seen += 1
        text = tree.text(file)
        lines = text.count("\n")
        if lines > MAX_FILE_LINES:
            report.warn(file, f"{lines} lines; over {MAX_FILE_LINES} wants a split")
        if BANNED_FILE_NAME.search(file.stem):
            report.fail(file, "a file name says what is inside, not utils, common, helpers, manager")
        if file.suffix in {".cc", ".h"}:
            for line, length in function_lengths(text):
                if length > MAX_FUNCTION_LINES:
                    report.fail(f"{file}:{line}", f"a function of {length} lines; the limit is "
                                                  f"{MAX_FUNCTION_LINES}")
    return _proved(report, "lengths", seen)


def function_lengths(text):
    """(first line, number of lines) of each outermost block that is a function body.

    clang-format's shape is relied on: a body opens with `) {`-like text and closes with the brace that
    matches it. Namespaces, classes and enums are looked into, not counted.
    """
    code = code_only(text)
    found, stack = [], []
    statement_start = 0
    for match in re.finditer(r"[{};]", code):
        char, at = match.group(0), match.start()
        inside_function = any(kind == "function" for kind, _ in stack)
        if char == "{":
            head = code[statement_start:at]
            kind = "function" if not inside_function and _opens_function(head) else "other"
            stack.append((kind, at))
        elif char == "}" and stack:
            kind, start = stack.pop()
            if kind == "function":
                first = code.count("\n", 0, start) + 1
                found.append((first, code.count("\n", start, at) + 1))
        statement_start = at + 1
    return found


def _opens_function(head):
    head = re.sub(r"^\s*#.*$", "", head, flags=re.MULTILINE)
    if re.search(r"\b(?:namespace|class|struct|enum|union)\b[^()]*$", head):
        return False
    return ")" in head and "=" not in head.rsplit(")", 1)[1]


def check_versions(tree, report):
    """One version, in project(VERSION); the CHANGELOG opens with Unreleased and knows the version."""
    cmake = re.search(r"project\(layerscope VERSION (\d+\.\d+\.\d+)",
                      (tree.root / "CMakeLists.txt").read_text(encoding="utf-8"))
    if cmake is None:
        report.fail("CMakeLists.txt", "no project(layerscope VERSION x.y.z)")
        return "no version"
    changelog = tree.root / "CHANGELOG.md"
    text = changelog.read_text(encoding="utf-8") if changelog.is_file() else ""
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    if not headings or not headings[0].startswith("Unreleased"):
        report.fail("CHANGELOG.md", "must open with '## Unreleased'")
    released = [h.split()[0].strip("[]") for h in headings[1:]]
    if released and released[0] != cmake.group(1):
        report.fail("CHANGELOG.md", f"latest release {released[0]} is not version {cmake.group(1)}")
    for file in tree.files():
        if file.suffix in {".cc", ".h"} and re.search(
                rf'"{re.escape(cmake.group(1))}"', tree.text(file)):
            report.fail(file, "the version is written in project(VERSION) alone")
    return f"version {cmake.group(1)}"


def _at(file, text, match):
    return f"{pathlib.PurePosixPath(file)}:{text.count(chr(10), 0, match.start()) + 1}"


def _proved(report, what, seen):
    if seen == 0:
        report.fail(what, "no file was looked at; the check would prove nothing")
    return f"{seen} files"
