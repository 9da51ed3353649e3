"""One-line mutants of a module, as edits of its text.

Owns which mutants there are. Leaves alone what no test can tell: docstrings, annotations, decorators, `__all__`, the
words of messages, and what only a type checker runs.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Mutant", "mutants_of"]

_COMPARISONS = {
    ast.Lt: "<=",
    ast.LtE: "<",
    ast.Gt: ">=",
    ast.GtE: ">",
    ast.Eq: "!=",
    ast.NotEq: "==",
    ast.Is: "is not",
    ast.IsNot: "is",
    ast.In: "not in",
    ast.NotIn: "in",
}
_OPERATIONS = {
    ast.Add: "-",
    ast.Sub: "+",
    ast.Mult: "//",
    ast.Div: "*",
    ast.FloorDiv: "*",
    ast.Mod: "//",
    ast.Pow: "*",
    ast.LShift: ">>",
    ast.RShift: "<<",
    ast.BitAnd: "|",
    ast.BitOr: "&",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Mutant:
    """One edit of a module.

    Attributes:
        path: The module, from the root of the project.
        line: First line of the edit, from 1.
        lines: First and last line of the statement it is in.
        kind: What is done.
        start: Offset of the edit in the module's UTF-8 bytes.
        before: What stands there.
        after: What comes there.
    """

    path: str
    line: int
    lines: tuple[int, int]
    kind: str
    start: int
    before: str
    after: str

    def __str__(self) -> str:
        """Return its place and what it does: the name by which results know it."""
        before, after = (" ".join(text.split()) for text in (self.before, self.after))
        return f"{self.path}:{self.line}:{self.start} {self.kind}: {before} -> {after}"

    def applied(self, source: bytes) -> bytes:
        """Return `source` with the edit."""
        end = self.start + len(self.before.encode())
        return source[: self.start] + self.after.encode() + source[end:]


def mutants_of(path: str, source: bytes) -> list[Mutant]:
    """Return the mutants of the module at `path` whose text is `source`, in its order."""
    found = _Finder(path, source)
    found.visit(ast.parse(source))
    return sorted(found.mutants, key=lambda mutant: (mutant.start, mutant.kind, mutant.after))


class _Finder(ast.NodeVisitor):
    """Walks a module and gathers its mutants."""

    def __init__(self, path: str, source: bytes) -> None:
        self.mutants: list[Mutant] = []
        self._path, self._source = path, source
        lengths = [len(line) for line in source.splitlines(keepends=True)]
        self._starts = [sum(lengths[:place]) for place in range(len(lengths) + 1)]
        self._statement: ast.stmt | None = None

    def visit(self, node: ast.AST) -> None:
        """Gather the mutants of `node` and of what is in it."""
        if _is_for_readers(node):
            return
        outer, self._statement = self._statement, node if isinstance(node, ast.stmt) else self._statement
        for kind, target, after in _edits(node):
            self._add(kind, target, after)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            self._replace_between("comparison", node.left, node.comparators[0], _COMPARISONS[type(node.ops[0])])
        elif isinstance(node, ast.BinOp) and type(node.op) in _OPERATIONS and not _is_text(node):
            self._replace_between("operator", node.left, node.right, _OPERATIONS[type(node.op)])
        elif isinstance(node, ast.BoolOp):
            word = "or" if isinstance(node.op, ast.And) else "and"
            self._replace_between("connective", node.values[0], node.values[1], word)
        elif isinstance(node, ast.Call) and _can_swap(node):
            self._swap(node.args[0], node.args[1])
        for child in _children(node):
            self.visit(child)
        self._statement = outer

    def _span(self, node: ast.expr | ast.stmt) -> tuple[int, int]:
        end_line, end_column = node.end_lineno or node.lineno, node.end_col_offset or 0
        return self._starts[node.lineno - 1] + node.col_offset, self._starts[end_line - 1] + end_column

    def _text(self, start: int, end: int) -> str:
        return self._source[start:end].decode()

    def _add(self, kind: str, node: ast.expr | ast.stmt, after: str) -> None:
        start, end = self._span(node)
        before = self._text(start, end)
        self._put(kind, start, before, after.replace("{}", before))

    def _put(self, kind: str, start: int, before: str, after: str) -> None:
        statement = self._statement
        line = self._source.count(b"\n", 0, start) + 1
        lines = (line, line) if statement is None else _lines_of(statement)
        self.mutants.append(
            Mutant(path=self._path, line=line, lines=lines, kind=kind, start=start, before=before, after=after)
        )

    def _replace_between(self, kind: str, left: ast.expr, right: ast.expr, word: str) -> None:
        """Replace the operator between two operands, whose text may hold brackets of theirs and blanks."""
        start, end = self._span(left)[1], self._span(right)[0]
        between = self._text(start, end)
        stripped = between.strip(" ()\n\\")
        if not stripped or "#" in between:
            return
        self._put(kind, start + len(between[: between.index(stripped)].encode()), stripped, word)

    def _swap(self, first: ast.expr, second: ast.expr) -> None:
        (start, middle), (behind, end) = self._span(first), self._span(second)
        one, comma, other = self._text(start, middle), self._text(middle, behind), self._text(behind, end)
        if one != other:
            self._put("swapped arguments", start, one + comma + other, other + comma + one)


def _edits(node: ast.AST) -> Iterator[tuple[str, ast.expr | ast.stmt, str]]:
    """Yield kind, place and text of the edits that replace a whole node; ``{}`` stands for what was there."""
    match node:
        case ast.Constant(value=bool(value)):
            yield "constant", node, str(not value)
        case ast.Constant(value=int(value)):
            yield "constant", node, str(value + 1)
            yield "constant", node, f"({value - 1})"
        case ast.Constant(value=float(value)):
            yield "constant", node, f"({value!r} + 1.0)"
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield "negation", node, f"bool({ast.unparse(operand)})"
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            yield "condition", test, "(not ({}))"
        case ast.comprehension(ifs=[test, *_]):
            yield "condition", test, "(not ({}))"
        case ast.Return(value=ast.expr() as value) if not _is_none(value):
            yield "return", value, "None"
        case ast.Expr(value=ast.Call() | ast.Await()) | ast.Raise() | ast.Continue() | ast.Break() | ast.AugAssign():
            yield "statement", node, "pass"
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield "statement", node, "pass"


def _children(node: ast.AST) -> Iterator[ast.AST]:
    skipped: list[ast.AST | None] = []
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            skipped = [*node.decorator_list, node.returns]
        case ast.ClassDef():
            skipped = [*node.decorator_list, *node.bases]
        case ast.arg():
            skipped = [node.annotation]
        case ast.AnnAssign():
            skipped = [node.annotation]
        case ast.Call(func=ast.Name(id="cast" | "TypeVar")):
            skipped = list(node.args[:1])
    return (child for child in ast.iter_child_nodes(node) if child not in skipped)


def _is_for_readers(node: ast.AST) -> bool:
    """Return whether `node` is nothing a test could tell: docstrings, exports, unions and checks of types, `strict`."""
    match node:
        case ast.Expr(value=ast.Constant()) | ast.JoinedStr():
            return True
        case ast.If(test=ast.Name(id="TYPE_CHECKING")):
            return True
        case ast.Assign(targets=[ast.Name(id="__all__")]) | ast.Assign(value=ast.BinOp(op=ast.BitOr())):
            return True
        case ast.keyword(arg="strict"):
            return True
    return False


def _lines_of(statement: ast.stmt) -> tuple[int, int]:
    """Return the lines of a statement, of a compound one those of its head."""
    last = statement.end_lineno or statement.lineno
    body = getattr(statement, "body", None)
    return statement.lineno, (max(statement.lineno, body[0].lineno - 1) if body else last)


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _can_swap(call: ast.Call) -> bool:
    """Return whether a call has two places to swap, and an order of them that counts."""
    if isinstance(call.func, ast.Name) and call.func.id in ("min", "max", "isinstance"):
        return False
    return len(call.args) > 1 and not any(isinstance(arg, ast.Starred) for arg in call.args[:2])


def _is_text(node: ast.BinOp) -> bool:
    sides = (node.left, node.right)
    return any(isinstance(side, ast.JoinedStr) or _is_constant_text(side) for side in sides)


def _is_constant_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str | bytes)
