#!/usr/bin/env python3
"""Groups the sources of one target into units that are compiled as one file each (a unity build).

  tools/unity_groups.py --folder DIR [--lines N] FILE...

Prints `FILE GROUP` a line; a file that stands alone has the group `-`. Two files share a unit only where
neither uses a name that the other one, or a header that only the other one includes, declares, so that no
source has to be written with its neighbours in mind. cmake/UnityBuild.cmake calls this.
"""

import argparse
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from checks.layers import closure  # noqa: E402
from checks.tree import Tree, code_only  # noqa: E402

# Lines of source a unit: enough to parse the headers of others seldom, few enough to keep every core
# busy until the end of a build.
DEFAULT_LINES = 2000

NAMESPACE = re.compile(r"^namespace\b[^{;=]*\{", re.MULTILINE)
ANONYMOUS = re.compile(r"\bnamespace\s*\{")
STATIC = re.compile(r"^(?:template\s*<[^;{]*?>\s*)?static\s", re.MULTILINE)
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
# using N = TYPE;  namespace N = PATH;  using PATH::N;
IMPORT = re.compile(r"^(?:using|namespace)\s+(?:(\w+)\s*=\s*([^;]+)|([\w:]*::(\w+)))\s*;", re.MULTILINE)
TYPE = re.compile(r"\b(?:struct|class|enum|union)\s+(?:class\s+)?(?:\[\[\w+\]\]\s*)?(\w+)")
# An identifier that is looked up from where it stands: no member, no qualified name.
WORD = re.compile(r"(?<![\w.:])(?<!->)[A-Za-z_]\w*")
DIRECTIVE = re.compile(r"^[ \t]*#.*$", re.MULTILINE)
DECLARATOR_END = re.compile(r"[(={\[]|(?<!:):(?!:)")
TESTS = {"TEST", "TEST_F", "TEST_P", "INSTANTIATE_TEST_SUITE_P"}


def top_level(text):
    """The statements of `text` outside all braces."""
    depth, start, pieces = 0, 0, []
    for match in re.finditer(r"[{}]", text):
        if match.group() == "{":
            if depth == 0:
                pieces.append(text[start:match.end()])
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                pieces.append(";")
                start = match.end()
    if depth == 0:
        pieces.append(text[start:])
    return [s for s in re.split(r";|(?<=\{)", "".join(pieces)) if s.strip(" \n{")]


def closing(text, start):
    """Where the brace closes whose inside begins at `start`."""
    depth = 1
    for match in re.finditer(r"[{}]", text[start:]):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return start + match.start()
    return len(text)


def declared_name(statement):
    """The name that a statement at namespace scope declares, or None."""
    kind = TYPE.search(statement)
    if kind and "(" not in statement[:kind.start()]:
        return kind.group(1)
    # Template arguments hold commas, parentheses and braces of their own.
    before = None
    while before != statement:
        before, statement = statement, re.sub(r"<[^<>]*>", " ", statement)
    words = re.findall(r"[A-Za-z_]\w*", DECLARATOR_END.split(statement, maxsplit=1)[0])
    return words[-1] if words else None


class File:
    """A source or a header: the names that it declares for others or itself, and those it looks up."""

    def __init__(self, tree, path, folder):
        text = code_only(tree.text(path))
        self.path = path
        self.lines = text.count("\n")
        self.names = set(MACRO.findall(text))
        text = DIRECTIVE.sub("", text)
        self.words = set(WORD.findall(text))
        self.imports = {m[1] or m[4]: m[2] or m[3] for m in IMPORT.finditer(text)}
        # A source's names beyond its anonymous namespaces are those of its header.
        scopes = NAMESPACE if path.suffix == ".h" else ANONYMOUS
        for start in scopes.finditer(text):
            body = text[start.end():closing(text, start.end())]
            self.names |= {declared_name(s) for s in top_level(body)}
        for start in STATIC.finditer(text):
            self.names.add(declared_name(text[start.end():start.end() + 400]))
        self.names -= TESTS | {None} | set(self.imports)
        # Of other folders nothing is looked up unless the namespace is said.
        self.sees = {f for f in closure(tree, path) if folder in f.parents}


class Grouping:
    """Sources in units; first fit in the order given, so that an edit moves few files."""

    def __init__(self, tree, folder, lines):
        self.tree = tree
        self.folder = folder
        self.lines = lines
        self.files = {}
        self.groups = []
        self.pairs = {}

    def file(self, path):
        if path not in self.files:
            self.files[path] = File(self.tree, path, self.folder)
        return self.files[path]

    def disturbs(self, one, other):
        """True where `other` uses a word that `one` declares and that it does not have from there."""
        key = one.path, other.path
        if key not in self.pairs:
            self.pairs[key] = one.path not in other.sees and (
                bool(one.names & other.words) or
                any(n in other.words and other.imports.get(n) != meaning
                    for n, meaning in one.imports.items()))
        return self.pairs[key]

    def clash(self, one, other):
        ours = [self.file(path) for path in one.sees - other.sees]
        theirs = [self.file(path) for path in other.sees - one.sees]
        return any(self.disturbs(a, b) or self.disturbs(b, a) for a in ours for b in theirs)

    def add(self, source):
        for group in self.groups:
            if (sum(s.lines for s in group) + source.lines <= self.lines
                    and not any(self.clash(source, s) for s in group)):
                group.append(source)
                return
        self.groups.append([source])


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--folder", required=True, help="of the target, from the root")
    parser.add_argument("--lines", type=int, default=DEFAULT_LINES, help="of source a unit, at most")
    parser.add_argument("files", nargs="+", help="from the folder")
    options = parser.parse_args(arguments)
    tree = Tree(pathlib.Path(__file__).resolve().parents[1])
    folder = pathlib.PurePosixPath(options.folder)
    grouping = Grouping(tree, folder, options.lines)
    for file in options.files:
        grouping.add(grouping.file(folder / file))
    for number, group in enumerate(grouping.groups):
        for source in group:
            print(source.path.relative_to(folder), number if len(group) > 1 else "-")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
