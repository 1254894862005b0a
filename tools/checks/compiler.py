"""Checks that run a tool on each file: clang-format, self-contained headers, symbols of archives."""

import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shutil
import subprocess

from checks.layers import closure

# What a library archive must not call. write() to a descriptor is left to io's own tests.
BANNED_SYMBOLS = {
    "printf", "fprintf", "puts", "putchar", "fputs", "exit", "_exit", "quick_exit", "abort",
    "__printf_chk", "__fprintf_chk", "vprintf", "vfprintf", "_ZSt4cout", "_ZSt4cerr", "_ZSt4clog",
    "_ZSt9terminatev",
}
# LS_CHECK's abort and message live here; std::terminate is what the compiler emits for noexcept.
ALLOWED_SYMBOLS = {"layerscope_base": {"abort", "fprintf", "__fprintf_chk", "fputs"}}
COMPILER_MADE = {"_ZSt9terminatev"}
SYSTEM_INCLUDES_ARE_WARNINGS_OFF = ["-Wno-unused-command-line-argument"]


def jobs():
    return int(os.environ.get("JOBS", "0")) or os.cpu_count() or 2


def clang_tool(root, name):
    """`name-N` for the N of tools/clang_version.sh, or plain `name`, or None."""
    version = subprocess.run(["sh", str(root / "tools/clang_version.sh")], capture_output=True,
                             text=True, check=False).stdout.strip()
    return shutil.which(f"{name}-{version}") or shutil.which(name)


def check_format(tree, report, fix=False):
    tool = clang_tool(tree.root, "clang-format")
    if tool is None:
        report.fail("clang-format", "not found; run `make deps`")
        return "no tool"
    files = [str(f) for f in tree.cpp_files()]
    if not files:
        report.fail("clang-format", "no file was looked at")
        return "0 files"
    mode = ["-i"] if fix else ["--dry-run", "-Werror"]
    chunks = [files[i::jobs()] for i in range(jobs()) if files[i::jobs()]]
    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        runs = list(pool.map(lambda chunk: subprocess.run(
            [tool, *mode, *chunk], cwd=tree.root, capture_output=True, text=True, check=False), chunks))
    for run in runs:
        errors = [line.split(":")[:2] for line in run.stderr.splitlines() if ": error:" in line]
        for name in dict.fromkeys(name for name, _ in errors):
            lines = [line for other, line in errors if other == name]
            report.fail(f"{name}:{lines[0]}",
                        f"not formatted, {len(lines)} places; `make format` mends it")
        if run.returncode != 0 and not errors:
            report.fail("clang-format", run.stderr.strip() or f"exit {run.returncode}")
    return f"{len(files)} files"


class ResultCache:
    """Remembers which inputs passed, by a digest of all that the result depends on."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        try:
            self.passed = set(json.loads(self.path.read_text(encoding="utf-8")))
        except (OSError, ValueError):
            self.passed = set()
        self.used = set()

    def has(self, key):
        self.used.add(key)
        return key in self.passed

    def save(self, failed_keys):
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(json.dumps(sorted(self.used - set(failed_keys))), encoding="utf-8")


def digest(tree, file, extra):
    state = hashlib.sha256(extra.encode())
    for dependency in closure(tree, file):
        state.update(str(dependency).encode())
        state.update((tree.root / dependency).read_bytes())
    return state.hexdigest()


def proved_by_source(tree, header):
    """True where a source file includes `header` before all else: then the build compiles it alone."""
    for source in (header.with_suffix(".cc"), header.with_name(header.stem + "_test.cc")):
        if (tree.root / source).is_file():
            includes = tree.includes(source)
            if includes and includes[0][2] == str(header):
                return True
    return False


def check_headers(tree, report, cache_dir):
    """Each header compiles alone: what it uses, it includes."""
    compiler = clang_tool(tree.root, "clang++")
    if compiler is None:
        report.fail("headers", "clang++ not found; run `make deps`")
        return "no tool"
    every = [f for f in tree.cpp_files() if f.suffix == ".h"]
    if not every:
        report.fail("headers", "no header was looked at")
        return "0 headers"
    headers = [h for h in every if not proved_by_source(tree, h)]
    flags = ["-std=c++20", "-fsyntax-only", "-I.", "-xc++", *SYSTEM_INCLUDES_ARE_WARNINGS_OFF]
    cache = ResultCache(cache_dir / "headers.json")
    keys = {h: digest(tree, h, compiler + " ".join(flags)) for h in headers}
    todo = [h for h in headers if not cache.has(keys[h])]

    def compile_alone(header):
        # Compiled through an including file, so that `#pragma once` is not at the top of a main file.
        return subprocess.run([compiler, *flags, "-"], cwd=tree.root, input=f'#include "{header}"\n',
                              capture_output=True, text=True, check=False)

    failed = []
    with concurrent.futures.ThreadPoolExecutor(jobs()) as pool:
        for header, run in zip(todo, pool.map(compile_alone, todo)):
            if run.returncode != 0:
                failed.append(keys[header])
                first = next((l for l in run.stderr.splitlines() if "error:" in l), run.stderr.strip())
                report.fail(header, f"does not compile alone: {first}")
    cache.save(failed)
    return (f"{len(every)} headers, {len(every) - len(headers)} open a source file of the build, "
            f"{len(todo)} compiled")


def check_archives(tree, report, build):
    """No library archive refers to printing or ending functions; proves first that it saw them all."""
    archives = sorted(pathlib.Path(build).rglob("liblayerscope_*.a"))
    folders = sorted({str(pathlib.PurePosixPath(f).parent) for f in tree.cpp_files()
                      if f.parts[0] == "src" and f.suffix == ".cc" and not f.stem.endswith("_test")})
    expected = {f"layerscope_{f[4:].replace('/', '_')}" for f in folders if _has_library(tree, f)}
    seen = {a.stem[3:] for a in archives}
    for name in sorted(expected - seen):
        report.fail(build, f"archive lib{name}.a was not built; its symbols cannot be checked")
    if not archives:
        report.fail(build, "no library archive found")
    for archive in archives:
        name = archive.stem[3:]
        if name == "layerscope_cli" or name.startswith("layerscope_test"):
            continue
        run = subprocess.run(["nm", "-A", str(archive)], capture_output=True, text=True, check=False)
        lines = run.stdout.splitlines()
        if not any(re.search(r" [TW] ", line) for line in lines):
            report.fail(archive.name, "nm shows no defined symbol")
        undefined = {line.split()[-1].split("@")[0] for line in lines if " U " in line}
        banned = undefined & BANNED_SYMBOLS - COMPILER_MADE - ALLOWED_SYMBOLS.get(name, set())
        for symbol in sorted(banned):
            objects = sorted({line.split(":")[1] for line in lines
                              if " U " in line and line.split()[-1].split("@")[0] == symbol})
            report.fail(archive.name, f"refers to {symbol} in {', '.join(objects)}")
    return f"{len(archives)} archives"


def _has_library(tree, folder):
    cmake = tree.root / folder / "CMakeLists.txt"
    return cmake.is_file() and "layerscope_library(" in cmake.read_text(encoding="utf-8")
