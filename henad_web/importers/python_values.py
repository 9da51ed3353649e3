"""Values that the text of a Python program writes down: literals, names assigned to them, and calls of ranges.

Owns which expressions have a value without running anything: literals, `dict`, `list`, `tuple` and `np.array` around
them, `range(...)`, and numpy's `arange(...)` and `linspace(...)` with literal arguments. Everything else is `Code`,
kept as its text. What the values mean is the importers' business.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction

from henad_web.explore.spec import RangeLevels
from henad_web.importers.imported import Notes
from henad_web.importers.variables import MOST_VALUES, whole_if_exact

__all__ = ["Code", "PythonProgram", "RangeCall", "code_in"]

_CHANGING = (
    "append",
    "clear",
    "extend",
    "insert",
    "pop",
    "popitem",
    "remove",
    "reverse",
    "setdefault",
    "sort",
    "update",
)
"""Methods that change a list or dict."""

_NUMPY = ("np", "numpy")


@dataclass(frozen=True, slots=True)
class Code:
    """An expression that would have to be run to have a value.

    Attributes:
        source: Its text.
        line: Line it starts in.
    """

    source: str
    line: int

    def __repr__(self) -> str:
        """Return its text."""
        return self.source


@dataclass(frozen=True, slots=True)
class RangeCall:
    """A call of a range, by its values.

    Attributes:
        source: Text of the call.
        values: The values, None for more than are written out one by one.
        levels: The same as a range, None where they do not rise in equal steps.
        count: How many there are.
    """

    source: str
    count: int
    values: tuple[int | float, ...] | None = None
    levels: RangeLevels | None = None

    def __repr__(self) -> str:
        """Return the text of the call."""
        return self.source


def code_in(value: object) -> Code | None:
    """Return the first `Code` inside `value`, None when all of it has a value."""
    if isinstance(value, Code):
        return value
    inner: Sequence[object] = ()
    if isinstance(value, Mapping):
        inner = tuple(value.values())
    elif isinstance(value, list | tuple | set):
        inner = tuple(value)
    return next((found for found in map(code_in, inner) if found is not None), None)


@dataclass(slots=True)
class PythonProgram:
    """The text of a program, read and never run.

    Attributes:
        tree: Its syntax.
        notes: Where is told which of several values was taken, and what changes one afterwards.
    """

    tree: ast.Module
    notes: Notes
    _bindings: dict[str, list[tuple[int, ast.expr | None]]] = field(default_factory=dict)
    _imported: dict[str, str] = field(default_factory=dict)
    _open: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        """Note what is bound to which name, and where."""
        for node in ast.walk(self.tree):
            for name, value in _bound_by(node):
                self._bindings.setdefault(name, []).append((getattr(node, "lineno", 0), value))
            if isinstance(node, ast.Import | ast.ImportFrom):
                self._imported.update(_names_imported(node))
        for found in self._bindings.values():
            found.sort(key=lambda binding: binding[0])

    def dicts(self) -> dict[str, ast.expr]:
        """Return the dicts assigned to names at the top of the program, the last one of each name."""
        return {
            name: value
            for statement in self.tree.body
            for name, value in _bound_by(statement)
            if isinstance(value, ast.Dict) or (isinstance(value, ast.Call) and self._called(value) == "dict")
        }

    def calls_of(self, function: str) -> list[ast.Call]:
        """Return the calls of `function`, however it was imported, in the order of the text."""
        calls = [node for node in ast.walk(self.tree) if isinstance(node, ast.Call)]
        return sorted(
            (call for call in calls if self._called(call).rpartition(".")[2] == function),
            key=lambda call: (call.lineno, call.col_offset),
        )

    def value(self, node: ast.expr) -> object:
        """Return the value of `node`; `Code` for itself or the parts of it that have none."""
        match node:
            case ast.Constant(value=found):
                return found
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                return self._sequence(node, parts)
            case ast.Dict():
                return self._dict(node)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=operand):
                number = self.value(operand)
                if isinstance(number, int | float | complex):
                    return -number if isinstance(node.op, ast.USub) else number
                return self._code(node)
            case ast.Name(id=name):
                return self._named(name, node)
            case ast.Call():
                return self._result(node)
        return self._code(node)

    def _code(self, node: ast.expr) -> Code:
        return Code(ast.unparse(node), node.lineno)

    def _sequence(self, node: ast.expr, parts: Sequence[ast.expr]) -> object:
        values: list[object] = []
        for part in parts:
            value = self.value(part.value if isinstance(part, ast.Starred) else part)
            if not isinstance(part, ast.Starred):
                values.append(value)
            elif isinstance(value, RangeCall) and value.values is not None:
                values += value.values
            elif isinstance(value, list | tuple):
                values += value
            else:
                return self._code(node)
        if isinstance(node, ast.Set):
            try:
                return set(values)
            except TypeError:
                return self._code(node)
        return values if isinstance(node, ast.List) else tuple(values)

    def _dict(self, node: ast.Dict) -> object:
        found: dict[object, object] = {}
        lines: dict[object, int] = {}
        for key_node, value_node in zip(node.keys, node.values, strict=True):
            value = self.value(value_node)
            if key_node is None:
                if not isinstance(value, Mapping):
                    return self._code(node)
                found.update(value)
                continue
            key = self.value(key_node)
            if not isinstance(key, str | int | float | None):
                return self._code(node)
            if key in lines:
                self.notes.add(
                    f"{key!r} is given twice, in lines {lines[key]} and {key_node.lineno}; the last was taken."
                )
            found[key], lines[key] = value, key_node.lineno
        return found

    def _named(self, name: str, node: ast.expr) -> object:
        bindings = self._bindings.get(name, [])
        before = [binding for binding in bindings if binding[0] < node.lineno] or bindings
        if not before or name in self._open:
            return self._code(node)
        line, bound = before[-1]
        if bound is None:
            return self._code(node)
        if len(bindings) > 1:
            lines = ", ".join(str(each) for each, _ in bindings)
            self.notes.add(f"'{name}' is assigned in lines {lines}; what line {line} assigns was taken.")
        self._open.add(name)
        try:
            value = self.value(bound)
        finally:
            self._open.discard(name)
        return self._changed(name, value, line, node.lineno) if isinstance(value, dict | list) else value

    def _changed(
        self, name: str, value: dict[object, object] | list[object], first: int, last: int
    ) -> dict[object, object] | list[object]:
        """Return `value` with what lines between `first` and `last` set in it; other changes are told and not made."""
        for node in _changes_of(self.tree, name):
            if not first <= node.lineno <= last:
                continue
            match node:
                case ast.Assign([ast.Subscript(ast.Name(), ast.Constant(str(key)))]) if isinstance(value, dict):
                    value[key] = self.value(node.value)
                    self.notes.add(f"Line {node.lineno} sets '{key}' of '{name}', which was taken.")
                case _:
                    self.notes.add(f"Line {node.lineno} changes '{name}' and was not run: {ast.unparse(node)}.")
        return value

    def _called(self, call: ast.Call) -> str:
        """Return the dotted name of what `call` calls, with the names that imports stand for; empty for none."""
        parts: list[str] = []
        function: ast.expr = call.func
        while isinstance(function, ast.Attribute):
            parts.append(function.attr)
            function = function.value
        if not isinstance(function, ast.Name):
            return ""
        first = function.id
        if first in self._bindings and first not in self._imported:
            return ""  # a function or a value of the program's own
        return ".".join([self._imported.get(first, first), *reversed(parts)])

    def _result(self, call: ast.Call) -> object:
        if isinstance(call.func, ast.Attribute) and call.func.attr == "tolist" and not (call.args or call.keywords):
            return self.value(call.func.value)
        name = self._called(call)
        module, _, function = name.rpartition(".")
        positional = [self.value(each) for each in call.args]
        named = {each.arg or "**": self.value(each.value) for each in call.keywords}
        if name == "dict" and not positional and "**" not in named:
            return named
        numpy_name = f"numpy.{function}" if module in _NUMPY else name
        if numpy_name in ("list", "tuple", "numpy.array") and len(positional) == 1 and not named:
            only = positional[0]
            return only if isinstance(only, list | tuple | RangeCall) else self._code(call)
        make = _RANGES.get(numpy_name)
        return (make and make(ast.unparse(call), positional, named)) or self._code(call)


def _bound_by(node: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """Yield the names that `node` binds, with the expression of each; None for what no expression tells."""
    match node:
        case ast.Assign(targets=targets, value=value):
            for target in targets:
                plain = isinstance(target, ast.Name)
                for each in ast.walk(target):
                    if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store):
                        yield each.id, value if plain else None
        case ast.AnnAssign(target=ast.Name(id=name), value=value) if value is not None:
            yield name, value
        case ast.NamedExpr(target=ast.Name(id=name), value=value):
            yield name, value
        case ast.AugAssign(target=ast.Name(id=name)):
            yield name, None
        case ast.For(target=target) | ast.comprehension(target=target):
            for each in ast.walk(target):
                if isinstance(each, ast.Name):
                    yield each.id, None
        case ast.arg(arg=name):
            yield name, None
        case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
            yield name, None


def _changes_of(tree: ast.Module, name: str) -> list[ast.stmt | ast.expr]:
    """Return what changes the value of `name` without binding it anew, in the order of the text."""
    found: list[ast.stmt | ast.expr] = []
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=targets) | ast.Delete(targets=targets):
                changed = targets
            case ast.AugAssign(target=target):
                changed = [target]
            case ast.Call(func=ast.Attribute(value=part, attr=method)) if method in _CHANGING:
                found += [node] if _name_of(part) == name else []
                continue
            case _:
                continue
        # What stands in brackets is only looked at: `other[name[0]] = 1` changes another value.
        parts = [each for target in changed for each in ast.walk(target) if isinstance(each, ast.Subscript)]
        found += [node] if any(_name_of(each) == name for each in parts if not isinstance(each.ctx, ast.Load)) else []
    return sorted(found, key=lambda node: node.lineno)


def _name_of(part: ast.expr) -> str | None:
    """Return the name of what `part`, such as ``name["key"][0]``, is a part of; None for what has none."""
    while isinstance(part, ast.Subscript):
        part = part.value
    return part.id if isinstance(part, ast.Name) else None


def _names_imported(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[str, str]]:
    """Yield each name that `node` binds to a module or to something of one, with the dotted name of that."""
    for alias in node.names:
        if isinstance(node, ast.ImportFrom):
            yield alias.asname or alias.name, f"{node.module or ''}.{alias.name}"
        elif alias.asname:
            yield alias.asname, alias.name
        else:
            first = alias.name.partition(".")[0]
            yield first, first


_Make = Callable[[str, Sequence[object], Mapping[str, object]], RangeCall | None]


def _range(source: str, positional: Sequence[object], named: Mapping[str, object]) -> RangeCall | None:
    ends = [each for each in positional if type(each) is int]
    if named or len(ends) != len(positional) or not 1 <= len(ends) <= 3 or ends[2:] == [0]:
        return None
    found = range(*ends)
    return _stepped(source, found.start, found.step, _length(found))


def _length(found: range) -> int:
    # `len` knows no number past the machine's.
    return max(0, -((found.start - found.stop) // found.step))


def _arange(source: str, positional: Sequence[object], named: Mapping[str, object]) -> RangeCall | None:
    given = _arguments(positional, named, ("start", "stop", "step"))
    if given is None:
        return None
    if len(positional) == 1 and "stop" not in given:
        given = {**given, "start": 0, "stop": given["start"]}
    start, stop, step = given.get("start", 0), given.get("stop"), given.get("step", 1)
    if stop is None or step == 0:
        return None
    if all(isinstance(each, int) for each in (start, stop, step)):
        return _range(source, (start, stop, step), {})
    count = (stop - start) / step  # in double precision, as numpy counts
    return _stepped(source, start, step, max(0, math.ceil(count))) if math.isfinite(count) else None


def _linspace(source: str, positional: Sequence[object], named: Mapping[str, object]) -> RangeCall | None:
    named = dict(named)
    endpoint = named.pop("endpoint", True)
    given = _arguments(positional, named, ("start", "stop", "num"))
    if given is None or not {"start", "stop"} <= given.keys() or not isinstance(endpoint, bool):
        return None
    count = given.get("num", 50)
    if not isinstance(count, int) or count < 0:
        return None
    if count > MOST_VALUES:
        return RangeCall(source, count)
    first, last = (Fraction(Decimal(repr(given[end]))) for end in ("start", "stop"))
    parts = max(count - 1 if endpoint else count, 1)
    values = (float(first + (last - first) * position / parts) for position in range(count))
    return RangeCall(source, count, tuple(map(whole_if_exact, values)))


def _arguments(
    positional: Sequence[object], named: Mapping[str, object], names: Sequence[str]
) -> dict[str, int | float] | None:
    """Return finite numbers by the names of the arguments they are given for; None for anything else."""
    if len(positional) > len(names) or not named.keys() <= set(names[len(positional) :]):
        return None
    given = {**dict(zip(names, positional, strict=False)), **named}
    numbers = {name: value for name, value in given.items() if isinstance(value, int | float)}
    is_plain = all(type(value) in (int, float) and math.isfinite(value) for value in numbers.values())
    return numbers if len(numbers) == len(given) and is_plain else None


def _stepped(source: str, start: float, step: float, count: int) -> RangeCall:
    """Return the `count` numbers from `start` by `step`, counted in decimals, so that 0.1 thrice is 0.3."""
    first, by = (Fraction(Decimal(repr(number))) for number in (start, step))
    unit = math.lcm(first.denominator, by.denominator)
    is_whole = isinstance(start, int) and isinstance(step, int)

    def value(position: int) -> int | float:
        units = int(first * unit) + position * int(by * unit)
        return units if is_whole else whole_if_exact(units / unit)

    levels = None
    if step > 0 and count > 1:
        levels = RangeLevels(min=value(0), max=value(count - 1), step=step if is_whole else whole_if_exact(float(step)))
    return RangeCall(source, count, tuple(map(value, range(count))) if count <= MOST_VALUES else None, levels)


_RANGES: dict[str, _Make] = {"range": _range, "numpy.arange": _arange, "numpy.linspace": _linspace}
