"""What a method calls, reads and writes, read from its source without running it.

The flow is static: branches are all there, loops once, and what a call does inside is not
followed. Names are dotted as in the source; `[*]` stands for any index, `()` for the result of a
call, `(…)` for the value of an expression, and a local name that stands for a part of `self` is
written as that part: `for layer in self.layers: layer(x)` calls `self.layers[*]`.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Sequence
from typing import Any

Flow = dict[str, Any]
# {"evidence": "source_ast" | "unavailable", "operations": [{calls, reads, writes, line}],
#  "execution_order": [{target, call, reads, writes, line}]}; `reason` where unavailable, else
#  `source`: "package.module.Class.forward".

_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")
_NOT_RUN = (*_BLOCKS, "annotation")  # of a statement itself
_NAMES = ("name", "rest")  # that a node binds by their text


def flow_of(function: Callable[..., Any]) -> Flow:
    """The flow of a function or method. Never raises: what has no source says why."""
    try:
        lines, first = inspect.getsourcelines(inspect.unwrap(function))
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError, ValueError) as error:
        return unavailable(f"{type(error).__name__}: {error}")
    definition = tree.body[0] if tree.body else None
    if not isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return unavailable("its source is no function definition")
    operations = _Reader(definition, first - 1).operations()
    return {
        "evidence": "source_ast",
        "source": f"{function.__module__}.{function.__qualname__}",
        "operations": operations,
        "execution_order": _calls_on_self(operations),
    }


def unavailable(reason: str) -> Flow:
    """The flow of what has no source to read."""
    return {
        "evidence": "unavailable",
        "reason": reason,
        "operations": [],
        "execution_order": [],
    }


def _calls_on_self(operations: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The calls of members of `self`, in order; `target` is the member."""
    order = []
    for operation in operations:
        for call in operation["calls"]:
            if not call.startswith("self."):
                continue
            target = call.removeprefix("self.").split(".")[0].split("(")[0].split("[")[0]
            order.append(
                {
                    "target": target,
                    "call": call,
                    "reads": operation["reads"],
                    "writes": operation["writes"],
                    "line": operation["line"],
                }
            )
    return order


class _Reader:
    """Goes over the statements of one function in the order in which they run."""

    def __init__(self, definition: ast.FunctionDef | ast.AsyncFunctionDef, offset: int) -> None:
        self._definition = definition
        self._offset = offset  # of the function in its file, lines
        self._locals = _Locals(_argument_names(definition.args))
        self._operations: list[dict[str, Any]] = []

    def operations(self) -> list[dict[str, Any]]:
        self._read_block(self._definition.body)
        return self._operations

    def _read_block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self._locals.bind(statement.name)
            else:
                self._read_statement(statement)

    def _read_statement(self, statement: ast.AST) -> None:
        """The statement without the blocks in it, then these."""
        operation = _Operation(self._locals)
        operation.read_statement(statement)
        if operation.calls or operation.reads or operation.writes:
            placed: Any = statement.pattern if isinstance(statement, ast.match_case) else statement
            self._operations.append(operation.entry(placed.lineno + self._offset))
        for block in _BLOCKS:
            for inner in getattr(statement, block, None) or []:
                if isinstance(inner, ast.stmt):
                    self._read_block([inner])
                elif isinstance(inner, (ast.ExceptHandler, ast.match_case)):
                    self._read_statement(inner)


class _Locals:
    """Local names at one place of a function, and which of them stand for a part of `self`."""

    def __init__(self, arguments: set[str]) -> None:
        self.known = arguments
        self.inner: set[str] = set()  # those of comprehensions and lambdas around the place
        self.aliases: dict[str, str] = {}

    def bind(self, local: str, name: str = "") -> None:
        """A local gets a value: that of the dotted `name`, else one that is not followed."""
        self.known.add(local)
        if name.startswith("self.") and "(" not in name:
            self.aliases[local] = name
        else:
            self.aliases.pop(local, None)

    def given_by(self, node: ast.AST) -> list[tuple[str, str]]:
        """The locals that a node gives values, each with the dotted name of its value."""
        if isinstance(node, ast.Assign):
            return [one for target in node.targets for one in self._pairs(target, node.value)]
        if isinstance(node, (ast.AnnAssign, ast.NamedExpr)) and node.value is not None:
            return self._pairs(node.target, node.value)
        if isinstance(node, (ast.For, ast.AsyncFor, ast.comprehension)):
            return self._loop_pairs(node.target, node.iter)
        return []

    def _pairs(self, target: ast.expr, value: ast.expr) -> list[tuple[str, str]]:
        """`mlp = self.mlp`, and `norm, mlp = self.norm, self.mlp`."""
        if isinstance(target, ast.Name):
            return [(target.id, _dotted(value, self.aliases))]
        both = (target, value)
        if all(isinstance(one, ast.Tuple) and not _has_star(one) for one in both):
            inner = zip(*(one.elts for one in both if isinstance(one, ast.Tuple)), strict=False)
            return [pair for one in inner for pair in self._pairs(*one)]
        return []

    def _loop_pairs(self, target: ast.expr, over: ast.expr) -> list[tuple[str, str]]:
        """`layer` of `for layer in self.layers`, also counted by enumerate, also of a slice."""
        counted = isinstance(over, ast.Call) and _dotted(over.func, {}) == "enumerate"
        if isinstance(over, ast.Call) and counted and over.args:
            over = over.args[0]
            if isinstance(target, ast.Tuple) and len(target.elts) == 2:
                target = target.elts[1]
        if not isinstance(target, ast.Name):
            return []
        whole = over.value if isinstance(over, ast.Subscript) else over
        return [(target.id, f"{_dotted(whole, self.aliases)}[*]")]

    @contextlib.contextmanager
    def scope(self, names: set[str]) -> Iterator[None]:
        """Names of a comprehension or lambda, which hide those of the function in it."""
        outer, hidden = self.inner, {n: self.aliases.pop(n) for n in names & self.aliases.keys()}
        self.inner = outer | names
        yield
        self.inner = outer
        for name in names:
            self.aliases.pop(name, None)
        self.aliases.update(hidden)


def _argument_names(arguments: ast.arguments) -> set[str]:
    return {node.arg for node in ast.walk(arguments) if isinstance(node, ast.arg)}


def _has_star(node: ast.Tuple) -> bool:
    return any(isinstance(one, ast.Starred) for one in node.elts)


class _Operation:
    """One statement: names in the order in which they are evaluated, each once."""

    def __init__(self, names: _Locals) -> None:
        self.calls: list[str] = []
        self.reads: list[str] = []
        self.writes: list[str] = []
        self._names = names

    def entry(self, line: int) -> dict[str, Any]:
        return {"calls": self.calls, "reads": self.reads, "writes": self.writes, "line": line}

    def read_statement(self, statement: ast.AST) -> None:
        """What it evaluates itself, without its blocks."""
        if isinstance(statement, ast.AugAssign):
            self._read_in_place(statement)
        else:
            self._read_parts(statement, _NOT_RUN)

    def _read(self, value: Any) -> None:
        if isinstance(value, list):
            for item in value:
                self._read(item)
        elif isinstance(value, ast.Call):
            self._read_call(value)
        elif isinstance(value, (ast.Name, ast.Attribute, ast.Subscript)):
            self._read_name(value)
        elif isinstance(value, (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)):
            self._read_comprehension(value)
        elif isinstance(value, ast.Lambda):
            self._read(value.args)
            with self._names.scope(_argument_names(value.args)):
                self._read(value.body)
        elif isinstance(value, ast.AST):
            self._read_parts(value)

    def _read_parts(self, node: ast.AST, but: Sequence[str] = ()) -> None:
        """Values before the targets that they are given to."""
        given = self._names.given_by(node)  # by the names that hold before it
        last = ("targets", "target", "optional_vars")
        for field, value in sorted(ast.iter_fields(node), key=lambda pair: pair[0] in last):
            if field in _NAMES and isinstance(value, str) and not isinstance(node, ast.alias):
                self._write(value)  # except … as error, case [first, *rest]
            elif field not in but:
                self._read(value)
        for local, name in given:
            self._names.bind(local, name)

    def _read_in_place(self, statement: ast.AugAssign) -> None:
        self._read_inside(statement.target)
        self._note_read(_dotted(statement.target, self._names.aliases))
        self._read(statement.value)
        self._write(_dotted(statement.target, {}))

    def _read_comprehension(
        self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    ) -> None:
        """Its loops, then the value that it makes of each; its targets are not the function's."""
        targets = [part for loop in node.generators for part in ast.walk(loop.target)]
        with self._names.scope({part.id for part in targets if isinstance(part, ast.Name)}):
            for loop in node.generators:
                self._read(loop.iter)
                for local, name in self._names.given_by(loop):
                    self._names.bind(local, name)
                self._read(loop.ifs)
            parts = (node.key, node.value) if isinstance(node, ast.DictComp) else (node.elt,)
            self._read(list(parts))

    def _read_call(self, call: ast.Call) -> None:
        self._read_inside(call.func)
        self._read(call.args)
        self._read(call.keywords)
        name = _dotted(call.func, self._names.aliases)
        root = name.split(".")[0]
        if root != "self" and root in self._names.known and "." in name:
            self._note_read(root)  # a method of a value: hidden.view
        self.calls.append(name)  # every call counts, also a second one

    def _read_name(self, node: ast.Name | ast.Attribute | ast.Subscript) -> None:
        self._read_inside(node)
        name = _dotted(node, self._names.aliases)
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            self._write(_dotted(node, {}))
        elif name != "self":
            self._note_read(name)

    def _read_inside(self, node: ast.AST) -> None:
        """Calls and indices below a dotted name."""
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            if isinstance(node, ast.Subscript):
                self._read(node.slice)
            node = node.value
        if not isinstance(node, ast.Name):
            self._read(node)

    def _note_read(self, name: str) -> None:
        if "(" not in name:
            self._note(self.reads, name)

    def _write(self, name: str) -> None:
        if "." not in name and "[" not in name:
            self._names.bind(name)
        self._note(self.writes, name)

    def _note(self, names: list[str], name: str) -> None:
        if name not in names and re.split(r"[.[]", name)[0] not in self._names.inner:
            names.append(name)


def _dotted(node: ast.AST, aliases: dict[str, str]) -> str:
    """`self.layers[*].mlp` of a name, attribute, index or call; other expressions are `(…)`."""
    parts: list[str] = []
    while True:
        if isinstance(node, ast.Attribute):
            parts.append(f".{node.attr}")
            node = node.value
        elif isinstance(node, ast.Subscript):
            parts.append("[*]")
            node = node.value
        elif isinstance(node, ast.Call):
            parts.append("()")
            node = node.func
        elif isinstance(node, ast.NamedExpr):
            node = node.value
        elif isinstance(node, ast.Name):
            return aliases.get(node.id, node.id) + "".join(reversed(parts))
        else:
            return "(…)" + "".join(reversed(parts))
