"""What an expression means over the parameters and actions of a spec.

Owns the names and kinds of a `where`, and its evaluation over columns of numbers, flags, options' names and texts;
arithmetic is in double precision. Where the columns come from is `filtered_design`'s business.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from henad_web.errors import near_miss
from henad_web.explore.factors import Target, Targets
from henad_web.explore.where import (
    AllOf,
    AnyOf,
    Arithmetic,
    Comparisons,
    Expression,
    Literal,
    Name,
    Negative,
    Not,
    WhereError,
)

__all__ = ["Lookup", "Values", "Where", "bind_where"]

Values = NDArray[np.generic]
Lookup = Mapping[Target, Values]
_Evaluate = Callable[[Lookup], Values]

_COMPARE: dict[str, Callable[[Values, Values], Values]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_CALCULATE: dict[str, Callable[[Values, Values], Values]] = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": np.divide,
}


class _Kind(StrEnum):
    NUMBER = "a number"
    FLAG = "true or false"
    OPTION = "an option"
    TEXT = "a text"


@dataclass(frozen=True, slots=True)
class _Bound:
    """A part whose names are known: its kind, and how it is evaluated over columns of the same length."""

    kind: _Kind
    evaluate: _Evaluate
    options: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Where:
    """An expression over known names.

    Attributes:
        targets: What it names.
    """

    targets: tuple[Target, ...]
    _evaluate: _Evaluate

    def holds(self, values: Lookup, count: int) -> NDArray[np.bool_]:
        """Return for which of `count` configs it holds, bool ``(count,)``.

        Args:
            values: For each of `targets` its numbers, flags, options' names or texts, ``(count,)`` or a single one.
                Numbers are doubles, or Python's integers (dtype object) where a double does not hold one of them.
            count: Number of configs.

        Raises:
            WhereError: Something is to be calculated with a number that double precision does not hold.
        """
        # A division by zero is infinite or not a number, which compares like one.
        with np.errstate(all="ignore"):
            return np.broadcast_to(np.asarray(self._evaluate(values), np.bool_), (count,))


def bind_where(tree: Expression, targets: Targets) -> Where:
    """Return `tree` with its names found among `targets`.

    Raises:
        WhereError: A name is unknown, or kinds are mixed up.
    """
    binder = _Binder(targets)
    bound = binder.bind(tree)
    if bound.kind is not _Kind.FLAG:
        wrong = f"{bound.kind} where something true or false is needed"
        raise WhereError(wrong, tree.at, hint="compare it, such as rate < 0.5")
    return Where(tuple(binder.named), bound.evaluate)


class _Binder:
    def __init__(self, targets: Targets) -> None:
        self._known = {target.column: target for target in (*targets.params.values(), *targets.actions.values())}
        self.named: dict[Target, None] = {}

    def bind(self, tree: Expression) -> _Bound:
        match tree:
            case Literal():
                return _literal(tree)
            case Name():
                return self._name(tree)
            case Negative(inner, _):
                number = self._of_kind(inner, _Kind.NUMBER)
                return _Bound(_Kind.NUMBER, lambda values: np.negative(number(values)))
            case Arithmetic(first, rest, _):
                return self._arithmetic(first, rest)
            case Comparisons(first, rest, _):
                return self._comparisons(first, rest)
            case Not(inner, _):
                flag = self._of_kind(inner, _Kind.FLAG)
                return _Bound(_Kind.FLAG, lambda values: np.logical_not(flag(values)))
            case AllOf(parts, _):
                return self._joined(parts, np.logical_and)
            case AnyOf(parts, _):
                return self._joined(parts, np.logical_or)

    def _of_kind(self, tree: Expression, kind: _Kind) -> _Evaluate:
        bound = self.bind(tree)
        if bound.kind is not kind:
            raise WhereError(f"{bound.kind} where {kind} is needed", tree.at)
        return bound.evaluate

    def _name(self, tree: Name) -> _Bound:
        target = self._known.get(tree.name)
        if target is None:
            known, hint = ", ".join(self._known), near_miss(tree.name, self._known)
            if hint is None and any(tree.name in each.param.options for each in self._known.values() if each.param):
                hint = f"an option is written in quotes: '{tree.name}'"
            elif hint is None and any(each.is_text for each in self._known.values()):
                hint = f"a text is written in quotes: '{tree.name}'"
            raise WhereError("no such parameter or action", tree.at, came=f"'{tree.name}'", allowed=known, hint=hint)
        self.named[target] = None
        options = () if target.param is None else target.param.options
        if target.is_number:
            kind = _Kind.NUMBER
        else:
            kind = _Kind.TEXT if target.is_text else _Kind.OPTION if options else _Kind.FLAG
        return _Bound(kind, lambda values: values[target], options)

    def _arithmetic(self, first: Expression, rest: Sequence[tuple[str, Expression]]) -> _Bound:
        start = self._double(first)
        steps = [(_CALCULATE[sign], self._double(part)) for sign, part in rest]

        def evaluate(values: Lookup) -> Values:
            total = start(values)
            for calculate, part in steps:
                total = calculate(total, part(values))
            return total

        return _Bound(_Kind.NUMBER, evaluate)

    def _double(self, tree: Expression) -> _Evaluate:
        number = self._of_kind(tree, _Kind.NUMBER)
        return lambda values: _as_doubles(number(values), tree)

    def _comparisons(self, first: Expression, rest: Sequence[tuple[str, Expression]]) -> _Bound:
        left, left_tree = self._beside(first, rest[0][1]), first
        steps = []
        for comparator, tree in rest:
            right = self._beside(tree, left_tree)
            _check_comparable(left, left_tree, comparator, right, tree)
            steps.append((_COMPARE[comparator], left.evaluate, right.evaluate))
            left, left_tree = right, tree

        def evaluate(values: Lookup) -> Values:
            holds: Values = np.asarray(True)
            for compare, one, other in steps:
                holds = np.logical_and(holds, compare(one(values), other(values)))
            return holds

        return _Bound(_Kind.FLAG, evaluate)

    def _beside(self, tree: Expression, other: Expression) -> _Bound:
        """Bind `tree`, which is compared with `other`: an unknown name beside a text was to be one."""
        try:
            return self.bind(tree)
        except WhereError as error:
            target = self._known.get(other.name) if isinstance(other, Name) else None
            if isinstance(tree, Name) and target is not None and target.param is not None and target.is_worded:
                error.hint = f"{'a text' if target.is_text else 'an option'} is written in quotes: '{tree.name}'"
            raise

    def _joined(self, parts: Sequence[Expression], join: Callable[[Values, Values], Values]) -> _Bound:
        flags = [self._of_kind(part, _Kind.FLAG) for part in parts]

        def evaluate(values: Lookup) -> Values:
            holds = flags[0](values)
            for flag in flags[1:]:
                holds = join(holds, flag(values))
            return holds

        return _Bound(_Kind.FLAG, evaluate)


def _as_doubles(numbers: Values, tree: Expression) -> Values:
    if numbers.dtype != object:
        return numbers
    came = next(number for number in numbers.ravel().tolist() if float(number) != number)
    wrong = "calculating with a number that double precision does not hold"
    hint = "compare it as it is, which is exact"
    raise WhereError(wrong, tree.at, came=str(came), hint=hint)


def _literal(tree: Literal) -> _Bound:
    # An array of objects holds Python's integers, which compare exactly with any number; alone they would be cast.
    constant = np.array([tree.value], object) if type(tree.value) is int else np.asarray(tree.value)
    if isinstance(tree.value, bool):
        return _Bound(_Kind.FLAG, lambda _: constant)
    if isinstance(tree.value, str):
        return _Bound(_Kind.OPTION, lambda _: constant, (tree.value,))
    return _Bound(_Kind.NUMBER, lambda _: constant)


def _check_comparable(
    left: _Bound, left_tree: Expression, comparator: str, right: _Bound, right_tree: Expression
) -> None:
    if _Kind.TEXT in (left.kind, right.kind):
        _check_text(left, left_tree, right, right_tree)
    elif left.kind is not right.kind:
        for one, tree, other in ((left, left_tree, right), (right, right_tree, left)):
            if isinstance(tree, Literal) and one.kind is _Kind.OPTION:
                wrong = f"{other.kind} compared with a text in quotes"
                raise WhereError(wrong, tree.at, came=f"'{tree.value}'", hint=f"write {other.kind}, without quotes")
        hint = "an option is compared with its name in quotes" if _Kind.OPTION in (left.kind, right.kind) else None
        raise WhereError(f"{left.kind} compared with {right.kind}", right_tree.at, hint=hint)
    if left.kind is not _Kind.NUMBER and comparator not in ("==", "!="):
        raise WhereError(f"{left.kind} has no order", left_tree.at, came=f"'{comparator}'", allowed="== and !=")
    if _Kind.TEXT in (left.kind, right.kind):
        return
    for one, tree, other in ((left, left_tree, right), (right, right_tree, left)):
        if isinstance(tree, Literal) and isinstance(tree.value, str) and tree.value not in other.options:
            allowed, hint = f"one of {', '.join(other.options)}", near_miss(tree.value, other.options)
            raise WhereError("no such option", tree.at, came=f"'{one.options[0]}'", allowed=allowed, hint=hint)


def _check_text(left: _Bound, left_tree: Expression, right: _Bound, right_tree: Expression) -> None:
    for one, tree in ((left, left_tree), (right, right_tree)):
        if one.kind is not _Kind.TEXT and not (isinstance(tree, Literal) and isinstance(tree.value, str)):
            came = f"{_text_of(tree.value)}" if isinstance(tree, Literal) else None
            hint = "a text is compared with a text in quotes" if came is None else f"write '{came}' in quotes"
            raise WhereError(f"{one.kind} compared with a text", tree.at, hint=hint)


def _text_of(value: float | str | bool) -> str:
    return str(value).lower() if isinstance(value, bool) else f"{value:g}"
