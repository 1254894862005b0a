"""What every check shares: the files of the project and a place to put complaints."""

import pathlib
import re
import subprocess

CPP_SUFFIXES = {".cc", ".h"}
CPP_ROOTS = ("src", "bench", "tests")
SKIPPED_DIRS = {"build", ".git", "__pycache__", "node_modules"}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^">]+)[">]', re.MULTILINE)


class Report:
    """Collects failures and warnings of the checks; a failure makes the run fail."""

    def __init__(self):
        self.failures = []
        self.warnings = []

    def fail(self, where, message):
        self.failures.append(f"{where}: {message}")

    def warn(self, where, message):
        self.warnings.append(f"{where}: {message}")


class Tree:
    """The source files below `root`, as paths relative to it."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        self._texts = {}

    def files(self):
        """Every tracked or untracked-but-not-ignored file; outside git every file of the tree."""
        # Only a tree that is itself a checkout asks git: a fake tree of a test may lie inside another.
        if (self.root / ".git").exists():
            listing = subprocess.run(
                ["git", "-c", "safe.directory=*", "ls-files", "-co", "--exclude-standard", "-z"],
                cwd=self.root, capture_output=True, text=True, check=False)
            if listing.returncode == 0:
                names = [pathlib.PurePosixPath(n) for n in listing.stdout.split("\0") if n]
                return sorted(n for n in names if (self.root / n).is_file())
        return sorted(
            pathlib.PurePosixPath(path.relative_to(self.root).as_posix())
            for path in self.root.rglob("*")
            if path.is_file() and not SKIPPED_DIRS & set(path.relative_to(self.root).parts))

    def cpp_files(self):
        return [f for f in self.files()
                if f.suffix in CPP_SUFFIXES and f.parts[0] in CPP_ROOTS]

    def text(self, file):
        if file not in self._texts:
            self._texts[file] = (self.root / file).read_text(encoding="utf-8", errors="replace")
        return self._texts[file]

    def includes(self, file):
        """(line, is_system, name) of every include of `file`."""
        text = self.text(file)
        return [(text.count("\n", 0, m.start()) + 1, m.group(1) == "<", m.group(2))
                for m in INCLUDE.finditer(text)]

    def project_includes(self, file):
        """The files of this tree that `file` includes, as the compiler finds them: from the root."""
        names = [pathlib.PurePosixPath(name) for _, is_system, name in self.includes(file)
                 if not is_system]
        return [n for n in names if (self.root / n).is_file()]


def is_test(file):
    return file.stem.endswith("_test") or file.parts[0] == "tests"


def code_only(text):
    """`text` with comments and the insides of string literals blanked; offsets and lines stay."""
    pattern = re.compile(
        r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"'
        r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])*'", re.DOTALL)
    return pattern.sub(lambda m: re.sub(r"[^\n]", " ", m.group(0)), text)
