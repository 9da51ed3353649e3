"""The configs of a block that an expression keeps, and what it means over the parameters and actions of a spec.

Owns the names and kinds of a `where` and its evaluation over columns of numbers, flags, options' names and texts, in
double precision; and the walk over a block, in columns of a bounded number of configs. A value counts as the number its
text shows, so that ``rate <= 0.3`` holds for the single-precision 0.3.
"""

from __future__ import annotations

import operator
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import accumulate

import numpy as np
from numpy.typing import NDArray

from henad_web.errors import near_miss
from henad_web.explore.designs import CHUNK, Column, Design, Row, TableLevels
from henad_web.explore.factors import Target, Targets
from henad_web.explore.levels import ContinuousDomain, Domain, Levels, WholeDomain
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
from henad_web.model.decimals import EXACT_LIMIT, shown_number, shown_numbers
from henad_web.model.params import ParamValue

__all__ = [
    "FilteredDesign",
    "Lookup",
    "Values",
    "Where",
    "bind_where",
]

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


class FilteredDesign(Design):
    """The configs of another design that an expression keeps, in their order.

    Args:
        inner: All configs.
        kept: For each stretch of `CHUNK` configs, which of them are kept, a bit each as `numpy.packbits` packs them.
    """

    def __init__(self, inner: Design, kept: Sequence[NDArray[np.uint8]]) -> None:
        self._inner, self._kept = inner, tuple(kept)
        self._starts = [0, *accumulate(len(_set_bits(flags)) for flags in self._kept)]
        self._held = (-1, np.empty(0, np.intp))  # read and replaced as one: another thread may look meanwhile

    @classmethod
    def of(cls, inner: Design, varied: Sequence[Target], where: Where, base: Mapping[Target, ParamValue]) -> Design:
        """Return the configs of `inner` that `where` keeps; takes time in proportion to all of them.

        Args:
            inner: All configs.
            varied: What `inner` varies, in its order.
            where: Which to keep.
            base: The value of everything that a block may leave alone.

        Raises:
            WhereError: Something is to be calculated with a number that double precision does not hold.
        """
        fixed = {target: _values(target, [base[target]]) for target in where.targets if target not in varied}
        named = [
            (position, target, _reader(target, inner.domains[position]))
            for position, target in enumerate(varied)
            if target in where.targets
        ]
        kept = []
        for first in range(0, inner.config_count, CHUNK):
            last = min(first + CHUNK, inner.config_count)
            columns = inner.columns(first, last) if named else []
            values = {**fixed, **{target: read(columns[position]) for position, target, read in named}}
            kept.append(np.packbits(where.holds(values, last - first)))
        return cls(inner, kept)

    @property
    def domains(self) -> tuple[Domain, ...]:
        """Those of the other design."""
        return self._inner.domains

    @property
    def config_count(self) -> int:
        """Number of configs kept."""
        return self._starts[-1]

    def row(self, position: int) -> Row:
        """Return the values of the kept config at `position`."""
        stretch = bisect_right(self._starts, position) - 1
        return self._inner.row(stretch * CHUNK + int(self._positions_in(stretch)[position - self._starts[stretch]]))

    def columns(self, first: int, last: int) -> list[Column]:
        """Return the columns of the kept configs `first` to ``last - 1``."""
        parts = [[column] for column in self._inner.columns(0, 0)]
        for stretch in range(bisect_right(self._starts, first) - 1, bisect_left(self._starts, last)):
            start = self._starts[stretch]
            positions = self._positions_in(stretch)[max(first - start, 0) : last - start]
            if not len(positions):
                continue
            # Only what lies between the first and the last of them is computed.
            begin, end = stretch * CHUNK + int(positions[0]), stretch * CHUNK + int(positions[-1]) + 1
            for part, column in zip(parts, self._inner.columns(begin, end), strict=True):
                part.append(column[positions - positions[0]])
        return [np.concatenate(part) for part in parts]

    def _positions_in(self, stretch: int) -> NDArray[np.intp]:
        held, positions = self._held
        if stretch != held:
            positions = _set_bits(self._kept[stretch])
            self._held = stretch, positions
        return positions


def _set_bits(flags: NDArray[np.uint8]) -> NDArray[np.intp]:
    """Return the positions of the bits that are set; bits past the last config never are."""
    return np.flatnonzero(np.unpackbits(flags))


def _values(target: Target, levels: Sequence[ParamValue]) -> Values:
    """Return the numbers, flags, names or texts that `levels` of `target` stand for, ``(n,)``."""
    if not target.is_number:
        return np.asarray(levels)
    if target.is_real and not target.is_double:
        return np.asarray([shown_number(float(level)) for level in levels], np.float64)
    return _narrowed(np.asarray(levels, object))


def _narrowed(numbers: Values) -> Values:
    """Return `numbers`, Python's own, as doubles where these hold every one of them."""
    is_exact = all(float(number) == number for number in numbers.tolist())
    return numbers.astype(np.float64) if is_exact else numbers


def _reader(target: Target, domain: Domain) -> Callable[[Column], Values]:
    """Return what turns a column of `domain` into what its entries stand for, as `_values` does."""
    if isinstance(domain, ContinuousDomain):
        if domain.is_double:
            return lambda column: column
        return lambda column: shown_numbers(column.astype(np.float32))
    if isinstance(domain, WholeDomain):
        if max(abs(domain.low), abs(domain.high)) > EXACT_LIMIT:
            return lambda column: _narrowed(column.astype(object) + domain.low)
        low = float(domain.low)
        return lambda column: column.astype(np.float64) + low
    if isinstance(domain, TableLevels):
        return _table_reader(target, domain)
    if len(domain) > CHUNK:
        return lambda column: _levels_met(target, domain, column)
    levels = _values(target, [domain[position] for position in range(len(domain))])
    return lambda column: levels[column.astype(np.intp)]


def _table_reader(target: Target, levels: TableLevels) -> Callable[[Column], Values]:
    entries = levels.entries
    if levels.values is not None:
        values = _values(target, levels.values)
        return lambda column: values[entries[column.astype(np.intp)].astype(np.intp)]
    if target.is_double:
        return lambda column: entries[column.astype(np.intp)]
    if target.is_real:
        return lambda column: shown_numbers(entries[column.astype(np.intp)].astype(np.float32))
    return lambda column: _narrowed(entries[column.astype(np.intp)].astype(object))


def _levels_met(target: Target, domain: Levels, column: Column) -> Values:
    # Many levels are never listed together: only those of this stretch are looked at, each once.
    entries, positions = np.unique(column, return_inverse=True)
    return _values(target, [domain[int(entry)] for entry in entries])[positions]
