"""Which subpackage imports which: none of them, by any way round, itself."""

from __future__ import annotations

import ast
from pathlib import Path

import layerscope.capture

_ROOT = Path(layerscope.capture.__file__).parent
_NAME = layerscope.capture.__name__


def _imported(tree: ast.AST) -> set[str]:
    """Modules below the package that a file names in imports, those in functions too."""
    found: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name[len(_NAME) + 1 :] for name in found if name.startswith(f"{_NAME}.")}


def _subpackages() -> dict[str, set[str]]:
    """Each, with those that its files import."""
    folders = {path.parent.name: path.parent for path in _ROOT.glob("*/__init__.py")}
    uses: dict[str, set[str]] = {name: set() for name in folders}
    for name, folder in folders.items():
        for file in folder.rglob("*.py"):
            modules = _imported(ast.parse(file.read_text()))
            uses[name] |= {module.split(".")[0] for module in modules} & set(folders)
        uses[name].discard(name)
    return uses


def test_no_subpackage_comes_back_to_itself() -> None:
    uses = _subpackages()
    assert "hooks" in uses["drive"] and "in_engine" in uses["hooks"]
    while free := [name for name, used in uses.items() if not used]:
        for name in free:
            del uses[name]
        for used in uses.values():
            used.difference_update(free)
    assert uses == {}, "each of these imports itself through the others"


def test_the_readme_says_where_each_module_and_package_lies() -> None:
    text = (Path(__file__).parents[1] / "README.md").read_text()
    modules = {path.stem for path in _ROOT.glob("*.py")} - {"__init__"}
    assert "cli" in modules and "drive/" in text
    names = {*modules, *(f"{name}/" for name in _subpackages())}
    assert [name for name in sorted(names) if f"`{name}`" not in text] == []


def test_what_runs_inside_an_engine_stands_on_no_other_subpackage() -> None:
    assert _subpackages()["in_engine"] == set()
