"""Floors: which folder may include which, who owns which third-party header, no include cycles."""

import re
import tomllib

from checks.tree import is_test

STANDARD_HEADER = re.compile(r"^[a-z_0-9]+$")


class Layers:
    def __init__(self, table):
        self.folders = table["folders"]
        self.third_party = table.get("third_party", {})
        self.test_only = table.get("test_only", {"headers": [], "folders": []})
        self.system = table.get("system", {})

    def folder_of(self, file):
        """The longest folder of the table that holds `file`, or None."""
        name = str(file)
        owners = [f for f in self.folders if name.startswith(f + "/")]
        return max(owners, key=len, default=None)

    def may_include(self, source, target, test):
        if source == target:
            return True
        rule = self.folders[source]
        below = self.folders[target]["floor"] < rule["floor"]
        if test:  # A test may look at any lower floor too, and at what exists for tests.
            return below or target in rule.get("may", []) + self.test_only["folders"]
        return below if rule.get("below") else target in rule["may"]


def prefix_owner(name, table):
    """The entry of `table` whose key is a path prefix of the header `name`: (key, folders) or None."""
    for key, folders in table.items():
        if name == key or name.startswith(key + "/") or name.startswith(key + ".") or (
                key.endswith("/") and name.startswith(key)):
            return key, folders
    return None


def load(root):
    return Layers(tomllib.loads((root / "tools/layers.toml").read_text(encoding="utf-8")))


def check_layers(tree, report):
    layers = load(tree.root)
    scanned = 0
    for file in tree.cpp_files():
        folder = layers.folder_of(file)
        if folder is None:
            report.fail(file, "lies in no folder of tools/layers.toml")
            continue
        scanned += 1
        for line, is_system, name in tree.includes(file):
            where = f"{file}:{line}"
            if is_system:
                _check_system(layers, folder, file, where, name, report)
            else:
                _check_project(tree, layers, folder, file, where, name, report)
    if scanned == 0:
        report.fail("tools/layers.toml", "no source file was scanned; the check would prove nothing")
    _check_floors(layers, report)
    _check_cycles(tree, report)
    return f"{scanned} files"


def _check_project(tree, layers, folder, file, where, name, report):
    if not (tree.root / name).is_file():
        report.fail(where, f'"{name}" is not a file of the tree; write the path from the root')
        return
    target = layers.folder_of(name)
    if target is None:
        report.fail(where, f'"{name}" lies in no folder of tools/layers.toml')
    elif not layers.may_include(folder, target, is_test(file)):
        report.fail(where, f"{folder} may not include {target} (tools/layers.toml)")


def _check_system(layers, folder, file, where, name, report):
    if STANDARD_HEADER.match(name):
        return
    owner = prefix_owner(name, dict.fromkeys(layers.test_only["headers"], []))
    if owner:
        if not (is_test(file) or folder in layers.test_only["folders"]):
            report.fail(where, f"<{name}> is for tests only")
        return
    owner = prefix_owner(name, layers.third_party) or prefix_owner(name, layers.system)
    if owner is None:
        report.fail(where, f"<{name}> has no owner in tools/layers.toml")
    elif "*" not in owner[1] and folder not in owner[1] and not is_test(file):
        report.fail(where, f"<{name}> belongs to {', '.join(owner[1])}, not to {folder}")


def _check_floors(layers, report):
    """The table itself must point down: a folder may list only folders of lower or equal floors."""
    for name, rule in layers.folders.items():
        for target in rule.get("may", []):
            if target not in layers.folders:
                report.fail("tools/layers.toml", f"{name} lists unknown folder {target}")
            elif layers.folders[target]["floor"] > rule["floor"]:
                report.fail("tools/layers.toml", f"{name} points up to {target}")


def _check_cycles(tree, report):
    graph = {file: tree.project_includes(file) for file in tree.cpp_files()}
    state = {}  # missing: not seen, 1: on the path, 2: done
    for start in graph:
        path = []
        _visit(start, graph, state, path, report)


def _visit(file, graph, state, path, report):
    if state.get(file) == 2:
        return
    if state.get(file) == 1:
        cycle = path[path.index(file):] + [file]
        report.fail(file, "include cycle: " + " -> ".join(map(str, cycle)))
        return
    state[file] = 1
    path.append(file)
    for target in graph.get(file, []):
        _visit(target, graph, state, path, report)
    path.pop()
    state[file] = 2


def closure(tree, file):
    """All files of the tree that `file` includes, directly or not, itself among them; sorted."""
    seen, todo = set(), [file]
    while todo:
        current = todo.pop()
        if current not in seen:
            seen.add(current)
            todo.extend(tree.project_includes(current))
    return sorted(seen)
