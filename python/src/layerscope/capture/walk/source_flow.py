"""What a method calls, reads and writes, read from its source without running it.

The flow is static: branches are all there, loops once, and what a call does inside is not
followed. Names are dotted as in the source; `[*]` stands for any index, `()` for the result of a
call, `(…)` for the value of an expression, and a local name that stands for a part of `self` is
written as that part: `for layer in self.layers: layer(x)` calls `self.layers[*]`.
"""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Callable
from typing import Any

Flow = dict[str, Any]
# {"evidence": "source_ast" | "unavailable", "operations": [{calls, reads, writes, line}],
#  "execution_order": [{target, call, reads, writes, line}]}; `reason` where unavailable, else
#  `source`: "package.module.Class.forward".

_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")
_NOT_RUN = (*_BLOCKS, "annotation")  # of a statement itself


def flow_of(function: Callable[..., Any]) -> Flow:
    """The flow of a function or method. Never raises: what has no source says why."""
    try:
        lines, first = inspect.getsourcelines(inspect.unwrap(function))
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError, ValueError) as error:
        return _unavailable(f"{type(error).__name__}: {error}")
    definition = tree.body[0] if tree.body else None
    if not isinstance(definition, (ast.FunctionDef, ast.AsyncFunctionDef)):
        return _unavailable("its source is no function definition")
    operations = _Reader(definition, first - 1).operations()
    return {
        "evidence": "source_ast",
        "source": f"{function.__module__}.{function.__qualname__}",
        "operations": operations,
        "execution_order": _calls_on_self(operations),
    }


def _unavailable(reason: str) -> Flow:
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
        self._aliases: dict[str, str] = {}  # local name -> the part of self that it stands for
        arguments = definition.args
        named = arguments.posonlyargs + arguments.args + arguments.kwonlyargs
        extra = [a for a in (arguments.vararg, arguments.kwarg) if a is not None]
        self._locals = {argument.arg for argument in named + extra}
        self._operations: list[dict[str, Any]] = []

    def operations(self) -> list[dict[str, Any]]:
        self._read_block(self._definition.body)
        return self._operations

    def _read_block(self, statements: list[ast.stmt]) -> None:
        for statement in statements:
            if not isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
                self._read_statement(statement)

    def _read_statement(self, statement: ast.AST) -> None:
        """The statement without the blocks in it, then these."""
        operation = _Operation(self._aliases, self._locals)
        for field, value in self._in_order_of_evaluation(statement):
            if field not in _NOT_RUN:
                operation.read(value)
        self._note_aliases(statement, operation)
        if operation.calls or operation.reads or operation.writes:
            line = getattr(statement, "lineno", 1) + self._offset
            self._operations.append(operation.entry(line))
        for block in _BLOCKS:
            for inner in getattr(statement, block, None) or []:
                if isinstance(inner, ast.stmt):
                    self._read_block([inner])
                elif isinstance(inner, (ast.ExceptHandler, ast.match_case)):
                    self._read_statement(inner)

    @staticmethod
    def _in_order_of_evaluation(statement: ast.AST) -> list[tuple[str, Any]]:
        """Values come before the targets that they are given to."""
        fields = list(ast.iter_fields(statement))
        last = ("targets", "target", "optional_vars")
        return sorted(fields, key=lambda pair: pair[0] in last)

    def _note_aliases(self, statement: ast.AST, operation: _Operation) -> None:
        """`layer` of `for layer in self.layers`, `mlp` of `mlp = self.mlp`."""
        if isinstance(statement, (ast.For, ast.AsyncFor)):
            self._note_loop(statement.target, statement.iter)
        elif isinstance(statement, ast.Assign) and len(statement.targets) == 1:
            target = statement.targets[0]
            if isinstance(target, ast.Name):
                name = _dotted(statement.value, self._aliases)
                self._alias(target.id, name)
        for name in operation.writes:
            if "." not in name and "[" not in name:
                self._locals.add(name)

    def _note_loop(self, target: ast.expr, over: ast.expr) -> None:
        counted = isinstance(over, ast.Call) and _dotted(over.func, {}) == "enumerate"
        if isinstance(over, ast.Call) and counted and over.args:
            over = over.args[0]
            if isinstance(target, ast.Tuple) and len(target.elts) == 2:
                target = target.elts[1]
        if not isinstance(target, ast.Name):
            return
        whole = over.value if isinstance(over, ast.Subscript) else over
        name = _dotted(whole, self._aliases)
        self._alias(target.id, f"{name}[*]")

    def _alias(self, local: str, name: str) -> None:
        if name.startswith("self.") and "(" not in name:
            self._aliases[local] = name
        else:
            self._aliases.pop(local, None)


class _Operation:
    """One statement: names in the order in which they are evaluated, each once."""

    def __init__(self, aliases: dict[str, str], known: set[str]) -> None:
        self.calls: list[str] = []
        self.reads: list[str] = []
        self.writes: list[str] = []
        self._aliases = aliases
        self._known = known

    def entry(self, line: int) -> dict[str, Any]:
        return {"calls": self.calls, "reads": self.reads, "writes": self.writes, "line": line}

    def read(self, value: Any) -> None:
        if isinstance(value, list):
            for item in value:
                self.read(item)
        elif isinstance(value, ast.Call):
            self._read_call(value)
        elif isinstance(value, (ast.Name, ast.Attribute, ast.Subscript)):
            self._read_name(value)
        elif isinstance(value, ast.AST):
            for field in ast.iter_child_nodes(value):
                self.read(field)

    def _read_call(self, call: ast.Call) -> None:
        self._read_inside(call.func)
        self.read(call.args)
        self.read(call.keywords)
        name = _dotted(call.func, self._aliases)
        root = name.split(".")[0]
        if root != "self" and root in self._known and "." in name:
            self._note(self.reads, root)  # a method of a value: hidden.view
        self.calls.append(name)  # every call counts, also a second one

    def _read_name(self, node: ast.Name | ast.Attribute | ast.Subscript) -> None:
        self._read_inside(node)
        name = _dotted(node, self._aliases)
        if isinstance(node.ctx, (ast.Store, ast.Del)):
            self._note(self.writes, _dotted(node, {}))
        elif name != "self" and "(" not in name:
            self._note(self.reads, name)

    def _read_inside(self, node: ast.AST) -> None:
        """Calls and indices below a dotted name."""
        while isinstance(node, (ast.Attribute, ast.Subscript)):
            if isinstance(node, ast.Subscript):
                self.read(node.slice)
            node = node.value
        if not isinstance(node, ast.Name):
            self.read(node)

    @staticmethod
    def _note(names: list[str], name: str) -> None:
        if name not in names:
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
        elif isinstance(node, ast.Name):
            return aliases.get(node.id, node.id) + "".join(reversed(parts))
        else:
            return "(…)" + "".join(reversed(parts))
