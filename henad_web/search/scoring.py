"""How replicates become one number, and which of two numbers is the better one (reference engine, section 10.3).

Pure functions of numbers. Sums are added one after the other, so that a mean does not depend on the interpreter.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from henad_web.explore.search_spec import Aggregate, Goal, ObjectiveSpec

__all__ = ["aggregated", "failed_count", "finite", "is_better", "median", "objective_of", "objectives_of", "rank_of"]

_LARGE = 2.0**1023
_SMALL = 2.0**-1021


def finite(values: Iterable[float | None]) -> list[float]:
    """Return those of `values` that are there and finite, in order."""
    return [value for value in values if value is not None and math.isfinite(value)]


def failed_count(replicates: Iterable[Sequence[float | None]]) -> int:
    """Return how many of `replicates` have a value that is missing or not finite."""
    return sum(any(value is None or not math.isfinite(value) for value in each) for each in replicates)


def median(values: Iterable[float]) -> float:
    """Return the middle of `values`, or the midpoint of the two in the middle; at least one.

    They are in total order: -0 before 0, no number after everything.
    """
    ordered = sorted(values, key=lambda value: (math.isnan(value), value, math.copysign(1.0, value)))
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else _midpoint(ordered[middle - 1], ordered[middle])


def _midpoint(first: float, second: float) -> float:
    """Return the number half-way between two, without an overflow and without losing the last bit of a small one."""
    one, other = abs(first), abs(second)
    if one < _LARGE and other < _LARGE:
        return (first + second) / 2.0
    if one < _SMALL:
        return first + second / 2.0
    return first / 2.0 + second if other < _SMALL else first / 2.0 + second / 2.0


def aggregated(values: Sequence[float], aggregate: Aggregate) -> float:
    """Return what `aggregate` makes of `values`, at least one."""
    if aggregate is Aggregate.MEDIAN:
        return median(values)
    total = 0.0
    for value in values:
        total += value
    return total / len(values)


def objective_of(values: Iterable[float | None], objective: ObjectiveSpec) -> float:
    """Return the objective of the replicates with `values`, at least one.

    A replicate without a finite value counts as the worst there is. The objective may be infinite, and no number where
    the worst and an overflow meet.
    """
    worst = -math.inf if objective.goal is Goal.MAXIMIZE else math.inf
    known = [worst if value is None or not math.isfinite(value) else value for value in values]
    return aggregated(known, objective.aggregate)


def objectives_of(
    replicates: Sequence[Sequence[float | None]], objectives: Sequence[ObjectiveSpec]
) -> tuple[float, ...]:
    """Return each objective of `replicates`, at least one, each with a value for each objective."""
    return tuple(
        [objective_of([values[position] for values in replicates], each) for position, each in enumerate(objectives)]
    )


def rank_of(objective: float, goal: Goal) -> float:
    """Return a number that is the smaller the better `objective` is; no number ranks with the worst."""
    if math.isnan(objective):
        return math.inf
    return -objective if goal is Goal.MAXIMIZE else objective


def is_better(objective: float, other: float, goal: Goal) -> bool:
    """Return whether `objective` is strictly better than `other`; no number is neither better nor worse."""
    return objective > other if goal is Goal.MAXIMIZE else objective < other
