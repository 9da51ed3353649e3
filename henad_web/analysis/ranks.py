"""Ranks of two groups against each other: the test of Mann and Whitney, and how often one is above the other.

Owns when the test is exact.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from henad_web.analysis.distributions import normal_tail
from henad_web.analysis.ordered import Floats, distinct
from henad_web.analysis.pieces import PIECE_ROWS, Pieces, stretches

__all__ = ["RankTest", "rank_test"]

_SMALL = 8
"""Numbers of the smaller group up to which the test is exact, as scipy's ``mannwhitneyu`` has it."""

_MOST_EXACT = 20_000
"""Pairs of numbers up to which it is: the counts of an exact test are as many."""


_PIECE = PIECE_ROWS // 4
"""Numbers that a piece looks up: each is found twice among all of a group."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankTest:
    """A rank test of two groups.

    Attributes:
        u: Pairs in which the first is above the second, equal ones half: the statistic U of the first group.
        p: How likely a U as far from its middle is where both groups are alike; two-sided.
        is_exact: Whether that was counted out, and not taken from the normal distribution.
        a12: Share of the pairs in which the first is above: 0.5 where neither is (A. Vargha and H. Delaney, A critique
            and improvement of the CL common language effect size statistics, Journal of Educational and Behavioral
            Statistics 25, 2000).
    """

    u: float
    p: float
    is_exact: bool
    a12: float


def rank_test(first: Floats, second: Floats) -> Pieces[RankTest]:
    """Return the test of two groups, each ascending and not empty.

    H. Mann and D. Whitney, On a test of whether one of two random variables is stochastically larger than the other,
    Annals of Mathematical Statistics 18, 1947. With ties or many numbers the distribution is taken as normal, with the
    correction for ties and that for continuity.
    """
    twice = 0
    for part in stretches(len(first), _PIECE):
        below = np.searchsorted(second, first[part], side="left")
        twice += int(below.sum()) + int(np.searchsorted(second, first[part], side="right").sum())
        yield
    u, pairs = twice / 2.0, len(first) * len(second)
    ties = yield from _ties(first, second)
    is_exact = not ties and min(len(first), len(second)) <= _SMALL and pairs <= _MOST_EXACT
    largest = max(u, pairs - u)
    if is_exact:
        p = yield from _exact(len(first), len(second), int(largest))
    else:
        p = _normal(len(first), len(second), largest, ties)
    return RankTest(u=u, p=min(1.0, p), is_exact=is_exact, a12=u / pairs)


def _ties(first: Floats, second: Floats) -> Pieces[int]:
    """Return the sum of ``t^3 - t`` over all numbers, each of which is there `t` times."""
    levels, total = (yield from distinct(np.concatenate([first, second]))), 0
    for part in stretches(len(levels), _PIECE):
        times = np.zeros(part.stop - part.start, np.int64)
        for group in (first, second):
            times += np.searchsorted(group, levels[part], side="right")
            times -= np.searchsorted(group, levels[part], side="left")
        tied = times[times > 1].astype(object)  # cubes of many equal numbers are longer than 64 bits
        total += int((tied**3 - tied).sum()) if len(tied) else 0
        yield
    return total


def _normal(first: int, second: int, largest: float, ties: int) -> float:
    both = first + second
    variance = first * second / 12.0 * ((both + 1) - ties / (both * (both - 1)))
    if variance <= 0:
        return 1.0
    return 2.0 * normal_tail((largest - first * second / 2.0 - 0.5) / math.sqrt(variance))


def _exact(first: int, second: int, largest: int) -> Pieces[float]:
    """Return twice the share of all orders in which U is `largest` or more."""
    fewer, more = sorted((first, second))
    counts = [1] + [0] * (first * second)  # of orders by their U: a product of polynomials, factor by factor
    for step in range(1, fewer + 1):
        for place in range(len(counts) - 1, more + step - 1, -1):
            counts[place] -= counts[place - more - step]
        for place in range(step, len(counts)):
            counts[place] += counts[place - step]
        yield
    return 2 * sum(counts[largest:]) / math.comb(first + second, first)
