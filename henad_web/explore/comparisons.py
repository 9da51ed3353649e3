"""Comparisons of a sampled value with a number, as stop conditions and the ``first`` reducer write them.

Owns the six comparators, their text form, and what a threshold may be. Does not know which columns exist.
"""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable
from enum import StrEnum

from henad_web.model.decimals import f64_from_text

__all__ = ["Comparison", "parse_comparison", "parse_threshold"]

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
