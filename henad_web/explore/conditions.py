"""Stop conditions: comparisons of a sampled value with a number, and what texts of several of them mean.

Owns the six comparators, their text form and what a threshold may be, which the ``first`` reducer shares; the choice
between one comparison and an expression, and of the latter the canonical text and the evaluation over the columns of a
sample. The grammar is `where`'s. Which columns exist is told by the caller.
"""

from __future__ import annotations

import functools
import math
import operator
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from henad_web.errors import ProblemList
from henad_web.explore.columns import names_a_statistic
from henad_web.explore.spec import StopExpression, StopSpec
from henad_web.explore.spec_kinds import kind_of
from henad_web.explore.spelling import comparator_hint
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
    parse_expression,
)
from henad_web.model.decimals import f64_from_text, f64_text

__all__ = [
    "Comparison",
    "CompoundStop",
    "column_text",
    "condition_text",
    "parse_comparison",
    "parse_condition",
    "parse_threshold",
    "read_condition",
    "understood_stop",
]

_COMPARATOR_RUN = re.compile(r"[<>=!]+")


class Comparison(StrEnum):
    """One of the six comparators, by its text."""

    LESS = "<"
    LESS_EQUAL = "<="
    GREATER = ">"
    GREATER_EQUAL = ">="
    EQUAL = "=="
    NOT_EQUAL = "!="

    @property
    def holds(self) -> Callable[[float, float], bool]:
        """Return the comparison itself; NaN never satisfies it, on either side."""
        return _HOLDS[self]


def _differs(value: float, threshold: float) -> bool:
    return value < threshold or value > threshold


_HOLDS: dict[Comparison, Callable[[float, float], bool]] = {
    Comparison.LESS: operator.lt,
    Comparison.LESS_EQUAL: operator.le,
    Comparison.GREATER: operator.gt,
    Comparison.GREATER_EQUAL: operator.ge,
    Comparison.EQUAL: operator.eq,
    # `operator.ne` would hold for NaN.
    Comparison.NOT_EQUAL: _differs,
}


def parse_threshold(text: str) -> float:
    """Return the finite number that `text` spells.

    Raises:
        ValueError: `text` is not a decimal number, or is not finite.
    """
    trimmed = text.strip()
    number = f64_from_text(trimmed)
    if number is None:
        raise ValueError(f"'{trimmed}' is not a number")
    if not math.isfinite(number):
        raise ValueError(f"'{trimmed}' is not a finite number")
    return number


def parse_comparison(text: str) -> tuple[str, Comparison, float]:
    """Split `text` at its last comparator into what stands before it, the comparator and the number after it.

    Raises:
        ValueError: There is no comparator, it is not one of the six, or no finite number follows it.
    """
    runs = list(_COMPARATOR_RUN.finditer(text))
    if not runs:
        raise ValueError("no comparator found")
    last = runs[-1]
    try:
        comparison = Comparison(last.group())
    except ValueError:
        raise ValueError(f"'{last.group()}' is not a comparator") from None
    return text[: last.start()].strip(), comparison, parse_threshold(text[last.end() :])


CONDITION_FORM = "COLUMN CMP NUMBER with CMP one of < <= > >= == !=, such as 'Infected <= 0'"
_EXPRESSION_FORM = "such as 'Infected <= 0 and (Recovered > 10 or \"Mean age\" < 3)'"

_MEANT_AS_EXPRESSION = re.compile(r"""["'()*/+]|\b(?:and|or|not)\b|[<>=!][^<>=!]+[<>=!]""")
"""What a single comparison rarely has in it: its error would be of no use."""
_JOINED = re.compile(r"\b(?:and|or|not)\b")
_PLAIN_NAME = re.compile(r"[^\W\d]\w*(?:\.\w+)?")
_WORDS = ("and", "or", "not", "true", "false")


def parse_condition(text: str, *, min_tick: int = 0) -> StopSpec | StopExpression:
    """Return the stop condition that `text` spells, such as ``Infected <= 0``.

    A text that ends in a comparator and a number is taken as one comparison, whatever stands before: a column may be
    called ``a < b``. Where there is no such column, a plan takes the text as an expression (`understood_stop`).

    Args:
        text: ``COLUMN CMP NUMBER``, or an expression over columns.
        min_tick: First tick at which it may end a run.

    Raises:
        ValueError: `text` has another form; the message says what is wrong with it.
    """
    try:
        column, comparison, threshold = parse_comparison(text)
        if not column:
            raise ValueError("no column stands before the comparator")
    except ValueError:
        try:
            _parse_tree(text)
        except WhereError as error:
            if _MEANT_AS_EXPRESSION.search(text):
                raise error
        else:
            return StopExpression(condition=text.strip(), min_tick=min_tick)
        raise
    return StopSpec(column=column, comparison=comparison.value, threshold=threshold, min_tick=min_tick)


def read_condition(
    text: str, min_tick: int, problems: ProblemList, table: tuple[str | int, ...]
) -> StopSpec | StopExpression | None:
    """Return the stop condition of the key ``condition`` in `table`; None with the problem recorded."""
    try:
        return parse_condition(text, min_tick=min_tick)
    except WhereError as error:
        error.add_to(problems, table, "condition")
    except ValueError as error:
        wrong, hint = f"not a condition, {error}", comparator_hint(text)
        problems.add(table, "condition", wrong, came=kind_of(text), allowed=CONDITION_FORM, hint=hint)
    return None


def condition_text(stop: StopSpec | StopExpression) -> str:
    """Return the text of `stop` that `parse_condition` reads back."""
    if isinstance(stop, StopExpression):
        return stop.condition
    return f"{stop.column} {stop.comparison} {f64_text(float(stop.threshold))}"


@dataclass(frozen=True, slots=True)
class CompoundStop:
    """A stop condition of several comparisons, or of arithmetic.

    Attributes:
        text: Its canonical text: without blanks and parentheses that change nothing, which reads back as the same tree.
        tree: What it says; every quoted text in it is the name of a column.
        min_tick: First tick at which it may end a run.
    """

    text: str
    tree: Expression
    min_tick: int

    @property
    def names(self) -> tuple[Name, ...]:
        """The columns it names, in order."""
        return tuple(_names(self.tree))

    def over(self, positions: Mapping[str, int]) -> Callable[[Sequence[float]], bool]:
        """Return the condition over a row of values.

        `not` turns the comparisons over, ``not (x > 1)`` into ``x <= 1``: a value that is not a number satisfies
        neither. A division by zero is infinite or not a number.

        Args:
            positions: Position in a row of each column, by its name here.
        """
        return _flag_over(self.tree, positions, is_turned=False)


def understood_stop(stop: StopSpec | StopExpression, labels: Sequence[str]) -> StopSpec | CompoundStop:
    """Return what `stop` means for a model whose statistics have `labels`.

    A single comparison with a known column stays one, whatever its label looks like; so does one whose text is no
    expression. An expression that is a single comparison in other words, such as one in parentheses, becomes one.

    Raises:
        WhereError: The text is no expression over columns.
    """
    if isinstance(stop, StopExpression):
        tree = _parse_tree(stop.condition)
    else:
        found = _tree_of(stop, labels)
        if found is None:
            return stop
        tree = found
    return _single(tree, stop.min_tick) or CompoundStop(_text(tree), tree, stop.min_tick)


def _tree_of(stop: StopSpec, labels: Sequence[str]) -> Expression | None:
    """Return the expression that `stop` is; None for a comparison with the column that it names."""
    if stop.column in labels or stop.comparison not in list(Comparison) or not math.isfinite(stop.threshold):
        return None
    text = condition_text(stop)
    # What follows a label and a point may be a column's name, but seldom with a comparison and `and` in it.
    is_part = names_a_statistic(stop.column, labels)
    try:
        tree = _parse_tree(text)
    except WhereError:
        if is_part or not _MEANT_AS_EXPRESSION.search(text):
            return None
        raise
    is_known = all(names_a_statistic(name.name, labels) for name in _names(tree))
    return tree if is_known or not is_part or _JOINED.search(text) else None


def _single(tree: Expression, min_tick: int) -> StopSpec | None:
    match tree:
        case Comparisons(Name(column, _), ((comparison, Literal(float(threshold), _)),), _):
            return StopSpec(column=column, comparison=comparison, threshold=threshold + 0.0, min_tick=min_tick)
        case Comparisons(Name(column, _), ((comparison, Negative(Literal(float(threshold), _), _)),), _):
            return StopSpec(column=column, comparison=comparison, threshold=0.0 - threshold, min_tick=min_tick)
    return None


def _parse_tree(text: str) -> Expression:
    try:
        return _flag(parse_expression(text, _EXPRESSION_FORM))
    except WhereError as error:
        if error.hint is None and _PLAIN_NAME.match(text, error.at):
            error.hint = "a column of several words stands in quotes"
        raise


def _flag(tree: Expression) -> Expression:
    """Return `tree` with columns for quoted texts and without nesting that changes nothing.

    Raises:
        WhereError: It is no comparison.
    """
    match tree:
        case Not(inner, at):
            return Not(_flag(inner), at)
        case AllOf(parts, at):
            return AllOf(tuple(_flattened(AllOf, map(_flag, parts))), at)
        case AnyOf(parts, at):
            return AnyOf(tuple(_flattened(AnyOf, map(_flag, parts))), at)
        case Comparisons(first, rest, at):
            return Comparisons(_side(first), tuple((sign, _side(part)) for sign, part in rest), at)
    hint = "compare it, such as Infected <= 0"
    raise WhereError("no comparator found" if isinstance(tree, Name) else "no comparison", tree.at, hint=hint)


def _flattened(kind: type[AllOf | AnyOf], parts: Iterator[Expression]) -> Iterator[Expression]:
    for part in parts:
        yield from part.parts if isinstance(part, kind) else (part,)


def _side(tree: Expression) -> Expression:
    side = _number(tree)
    # A single comparison's text has no -0, and no comparison tells it from 0; a division does.
    is_zero = isinstance(side, Negative) and isinstance(side.inner, Literal) and side.inner.value == 0
    return Literal(0.0, side.at) if is_zero else side


def _number(tree: Expression) -> Expression:
    match tree:
        case Literal(int(value) | float(value), at) if not isinstance(value, bool):
            return Literal(float(value), at)  # a sample's values are doubles
        case Name():
            return tree
        case Literal(str(column), at):
            return Name(column, at)
        case Negative(inner, at):
            return Negative(_number(inner), at)
        case Arithmetic(first, rest, at):
            start, steps = _number(first), tuple((sign, _number(part)) for sign, part in rest)
            if isinstance(start, Arithmetic) and _is_sum(start) is (steps[0][0] in "+-"):
                return Arithmetic(start.first, (*start.rest, *steps), at)
            return Arithmetic(start, steps, at)
    hint = "a column of that name stands in quotes" if isinstance(tree, Literal) else None
    came = None if hint is None else f"'{'true' if tree == Literal(True, tree.at) else 'false'}'"
    raise WhereError("true or false where a number is needed", tree.at, came=came, hint=hint)


def _is_sum(tree: Arithmetic) -> bool:
    return tree.rest[0][0] in "+-"


_OR, _AND, _NOT, _COMPARISON, _SUM, _PRODUCT, _SIGN, _ATOM = range(8)
"""How tightly a part holds together."""


def _text(tree: Expression, least: int = _OR) -> str:
    """Return the shortest text of `tree`, in parentheses where it holds together less than `least`."""
    match tree:
        case AnyOf(parts, _):
            text, tightness = " or ".join(_text(part, _AND) for part in parts), _OR
        case AllOf(parts, _):
            text, tightness = " and ".join(_text(part, _NOT) for part in parts), _AND
        case Not(inner, _):
            text, tightness = f"not {_text(inner, _NOT)}", _NOT
        case Comparisons(first, rest, _):
            text, tightness = _joined(first, rest, _SUM), _COMPARISON
        case Arithmetic(first, rest, _):
            tightness = _SUM if _is_sum(tree) else _PRODUCT
            text = _joined(first, rest, tightness + 1)
        case Negative(inner, _):
            text, tightness = f"-{_text(inner, _SIGN)}", _SIGN
        case Name(name, _):
            text, tightness = column_text(name), _ATOM
        case Literal(value, _):
            text, tightness = f64_text(float(value)), _ATOM
    return text if tightness >= least else f"({text})"


def _joined(first: Expression, rest: Sequence[tuple[str, Expression]], least: int) -> str:
    return " ".join([_text(first, least), *(f"{sign} {_text(part, least)}" for sign, part in rest)])


def column_text(name: str) -> str:
    """Return the column `name` as an expression writes it."""
    if _PLAIN_NAME.fullmatch(name) and name not in _WORDS:
        return name
    return f"'{name}'" if '"' in name else f'"{name}"'


def _names(tree: Expression) -> Iterator[Name]:
    match tree:
        case Name():
            yield tree
        case Not(inner, _) | Negative(inner, _):
            yield from _names(inner)
        case AllOf(parts, _) | AnyOf(parts, _):
            for part in parts:
                yield from _names(part)
        case Comparisons(first, rest, _) | Arithmetic(first, rest, _):
            for part in (first, *(part for _, part in rest)):
                yield from _names(part)


_Row = Sequence[float]
_OPPOSITE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}


def _flag_over(tree: Expression, positions: Mapping[str, int], *, is_turned: bool) -> Callable[[_Row], bool]:
    match tree:
        case Not(inner, _):
            return _flag_over(inner, positions, is_turned=not is_turned)
        case AllOf(parts, _) | AnyOf(parts, _):
            holds = [_flag_over(part, positions, is_turned=is_turned) for part in parts]
        case Comparisons(first, rest, _):
            holds, left = [], _number_over(first, positions)
            for sign, part in rest:
                right = _number_over(part, positions)
                holds.append(_compared(left, Comparison(_OPPOSITE[sign] if is_turned else sign), right))
                left = right
    if isinstance(tree, AnyOf) is is_turned:
        return lambda row: all(part(row) for part in holds)
    return lambda row: any(part(row) for part in holds)


def _compared(
    left: Callable[[_Row], float], comparison: Comparison, right: Callable[[_Row], float]
) -> Callable[[_Row], bool]:
    compare = comparison.holds
    return lambda row: compare(left(row), right(row))


def _number_over(tree: Expression, positions: Mapping[str, int]) -> Callable[[_Row], float]:
    match tree:
        case Name(name, _):
            return operator.itemgetter(positions[name])
        case Negative(inner, _):
            number = _number_over(inner, positions)
            return lambda row: -number(row)
        case Arithmetic(first, rest, _):
            start = _number_over(first, positions)
            steps = [(_CALCULATE[sign], _number_over(part, positions)) for sign, part in rest]
            return lambda row: functools.reduce(lambda total, step: step[0](total, step[1](row)), steps, start(row))
        case Literal(value, _):
            constant = float(value)
            return lambda row: constant
    raise TypeError(f"no number: {tree}")


def _divided(number: float, by: float) -> float:
    if by:
        return number / by
    return math.nan if number == 0 or math.isnan(number) else math.copysign(math.inf, number) * math.copysign(1.0, by)


_CALCULATE: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": _divided,
}
"""Of doubles, as `where` calculates."""
