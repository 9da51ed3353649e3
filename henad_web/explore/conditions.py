"""Comparisons of a sampled value with a number: stop conditions and the ``first`` reducer.

Owns the six comparators, their text form and the text form of a finite threshold. Does not know which columns
exist.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from enum import StrEnum

import numpy as np

from henad_web.explore.spec import StopSpec

__all__ = [
    "Comparison",
    "condition_text",
    "parse_comparison",
    "parse_condition",
    "parse_threshold",
    "threshold_text",
]

CONDITION_FORM = "COLUMN CMP NUMBER with CMP one of < <= > >= == !=, such as 'Infected <= 0'"

_COMPARATOR_RUN = re.compile(r"[<>=!]+")
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_WHOLE_LIMIT = 1e15


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
    if not _NUMBER.fullmatch(trimmed):
        raise ValueError(f"'{trimmed}' is not a number")
    # A negative zero would hash apart from zero and be written as zero.
    number = float(trimmed) + 0.0
    if not math.isfinite(number):
        raise ValueError(f"'{trimmed}' is not a finite number")
    return number


def threshold_text(number: float) -> str:
    """Return the shortest positional text of a finite `number`: ``10``, ``0.25``; -0 is ``0``."""
    if number == int(number) and abs(number) < _WHOLE_LIMIT:
        return str(int(number))
    return np.format_float_positional(number, unique=True, trim="-")


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


def parse_condition(text: str, *, min_tick: int = 0) -> StopSpec:
    """Return the stop condition that `text` spells, such as ``Infected <= 0``.

    Args:
        text: ``COLUMN CMP NUMBER``.
        min_tick: First tick at which it may end a run.

    Raises:
        ValueError: `text` has another form; the message says what is wrong with it.
    """
    column, comparison, threshold = parse_comparison(text)
    if not column:
        raise ValueError("no column stands before the comparator")
    return StopSpec(column=column, comparison=comparison.value, threshold=threshold, min_tick=min_tick)


def condition_text(stop: StopSpec) -> str:
    """Return the text of `stop` that `parse_condition` reads back."""
    return f"{stop.column} {stop.comparison} {threshold_text(stop.threshold)}"
