"""Two groups of runs against each other: how far apart they are, how sure that is, and how often one is above.

Owns the difference and its interval. Runs are not paired: each group is taken for itself.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from henad_web.analysis.bootstrap import bootstrap_difference
from henad_web.analysis.curves import Floats
from henad_web.analysis.distributions import student_quantile
from henad_web.analysis.intervals import bootstrap_text, check_confidence, check_draws, means_of, percent_text
from henad_web.analysis.ordered import OrderedGroups, ordered
from henad_web.analysis.pieces import Pieces, piecewise
from henad_web.analysis.ranks import RankTest, rank_test
from henad_web.analysis.selection import (
    Held,
    Selection,
    check_held,
    chosen,
    held_levels,
    held_text,
    levels_text,
    selected,
)
from henad_web.analysis.tables import AnalysisTable, Axis, Column, LeftOut
from henad_web.errors import UsageError, counted
from henad_web.results.recorded import RecordedResults

__all__ = ["Comparison", "GroupSummary", "compare"]

_WELCH, _BOOTSTRAP = "welch", "bootstrap"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupSummary:
    """One of the two groups.

    Attributes:
        shared: What its runs have in common, in words, a factor each.
        n: How many runs it has.
        mean: Their mean.
        median: Their median.
        sd: Their standard deviation, with n - 1; NaN of one run.
        left_out: The runs that would be in it and do not count.
    """

    shared: tuple[str, ...]
    n: int
    mean: float
    median: float
    sd: float
    left_out: LeftOut

    @property
    def label(self) -> str:
        """What its runs have in common, on one line."""
        return ", ".join(self.shared)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Comparison(AnalysisTable):
    """Two groups of runs against each other.

    Attributes:
        y_axis: What is measured.
        a: The first group.
        b: The second.
        difference: Mean of the first less that of the second.
        low: Lower end of the interval of the difference; NaN where a group has one run.
        high: Upper end.
        median_difference: Median of the first less that of the second.
        ranks: The rank test: its U, its p, and how often the first is above.
        interval_line: How the interval was made.
    """

    y_axis: Axis
    a: GroupSummary
    b: GroupSummary
    difference: float
    low: float
    high: float
    median_difference: float
    ranks: RankTest
    interval_line: str

    @property
    def p(self) -> float:
        """How likely ranks as far apart are where both groups are alike; two-sided."""
        return self.ranks.p

    @property
    def a12(self) -> float:
        """Share of the pairs of runs in which that of the first group is above, equal ones half."""
        return self.ranks.a12

    @property
    def title(self) -> str:
        """What the table answers, on one line."""
        return f"{self.y_axis}: {self.a.label} against {self.b.label}"

    @property
    def lines(self) -> tuple[str, ...]:
        """What to know beside the numbers: what was left out, how interval and test were made."""
        return (*self.left_out.lines(), self.interval_line, _told(self.ranks))

    def columns(self) -> Mapping[str, Column]:
        """Return one row: both groups, the difference with its interval, the rank test."""
        groups = {
            f"{name}_{key}": value
            for key in ("n", "mean", "median", "sd")
            for name, value in (("a", getattr(self.a, key)), ("b", getattr(self.b, key)))
        }
        found = {"difference": self.difference, "low": self.low, "high": self.high}
        found |= {"median_difference": self.median_difference}
        found |= {"u": self.ranks.u, "p": self.p, "a12": self.a12}
        return {name: np.array([value]) for name, value in {**groups, **found}.items()}


@piecewise
def compare(
    results: RecordedResults,
    y: str,
    a: Held,
    b: Held,
    *,
    held: Held | None = None,
    at: int | None = None,
    after_stop: str = "drop",
    interval: str = _WELCH,
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
) -> Pieces[Comparison]:
    """Return how the runs of `a` differ from those of `b` in `y`.

    Args:
        results: The results.
        y: A reducer such as ``Infected:max``, or a column of every run; with `at` a statistic such as ``Infected``.
        a: What the runs of the first group have in common: values of factors, or several of one.
        b: The same of the second.
        held: What the runs of both have in common.
        at: Tick of the series that `y` is taken at.
        after_stop: With `at`, of a run that had stopped before: ``"drop"`` leaves it out, ``"hold"`` takes its last
            value.
        interval: ``"welch"`` (B. Welch, The generalization of Student's problem when several different population
            variances are involved, Biometrika 34, 1947) or ``"bootstrap"``.
        confidence: Its level: 0.9, 0.95, 0.99, or with a bootstrap any between 0 and 1.
        resamples: Of a bootstrap: how many.
        seed: Of a bootstrap: what its draws follow from.

    Raises:
        UsageError: A name, level or option is none; both groups are the same or share a run; one has no run.
        MissingFileError: `at` is given, and there is no series.csv.
    """
    check_confidence(confidence, chosen("interval", interval, [_WELCH, _BOOTSTRAP]))
    check_draws(resamples, seed)
    for option, group in (("a", a), ("b", b), ("held", held)):
        check_held(results, group, option)
    _check_apart(a, b, held or {})
    first = yield from selected(results, y, factors=a, held={**(held or {}), **a}, at=at, after_stop=after_stop)
    second = yield from selected(results, y, factors=b, held={**(held or {}), **b}, at=at, after_stop=after_stop)
    is_first = np.zeros(len(results.runs), np.bool_)
    is_first[first.rows] = True
    shared = int(np.count_nonzero(is_first[second.rows]))
    if shared:
        raise UsageError(f"{counted(shared, 'run')} of both groups; give a and b levels that differ")
    choice = _Choice(interval, confidence, resamples, seed)
    return (yield from _comparison((first, a), (second, b), held_text(held or {}), choice))


@dataclass(frozen=True, slots=True)
class _Choice:
    """Which interval of the difference is asked for."""

    interval: str
    confidence: float
    resamples: int
    seed: int

    @property
    def line(self) -> str:
        """How it was made, in words."""
        how = "Welch's" if self.interval == _WELCH else bootstrap_text(self.resamples, self.seed)
        return f"low and high: {percent_text(self.confidence)} interval of the difference of means, {how}"


def _comparison(a: tuple[Selection, Held], b: tuple[Selection, Held], held: str, choice: _Choice) -> Pieces[Comparison]:
    left, sorted_left = yield from _group(*a)
    right, sorted_right = yield from _group(*b)
    ranks = yield from rank_test(sorted_left, sorted_right)
    if choice.interval == _WELCH:
        low, high = _welch(left, right, choice.confidence)
    else:
        low, high = yield from bootstrap_difference(
            sorted_left, sorted_right, choice.confidence, choice.resamples, choice.seed
        )
    return Comparison(
        left_out=_both(left.left_out, right.left_out, held),
        y_axis=a[0].axis,
        a=left,
        b=right,
        difference=left.mean - right.mean,
        low=low,
        high=high,
        median_difference=left.median - right.median,
        ranks=ranks,
        interval_line=choice.line,
    )


def _check_apart(a: Held, b: Held, held: Held) -> None:
    for name, group in (("a", a), ("b", b)):
        if not group:
            raise UsageError(f"{name} is {group!r}; allowed: what its runs have in common, such as {{'rate': 0.2}}")
        twice = sorted(group.keys() & held.keys())
        if twice:
            raise UsageError(f"factor '{twice[0]}' is in held and in {name}; name it once")
    first, second = ({name: held_levels(levels) for name, levels in group.items()} for group in (a, b))
    if first == second:
        raise UsageError("a and b are the same; give them levels that differ")


def _group(selection: Selection, held: Held) -> Pieces[tuple[GroupSummary, Floats]]:
    """Return what a group comes to, and its values in order."""
    means = yield from means_of(np.zeros(len(selection.y), np.int64), 1, selection.y)
    values = np.asarray((yield from ordered(selection.y)), np.float64)
    median = yield from OrderedGroups(values, np.array([len(values)])).quantile(0.5)
    found = GroupSummary(
        shared=tuple(f"{selection.factors[name].axis.label} {levels_text(levels)}" for name, levels in held.items()),
        n=len(values),
        mean=float(means.mean[0]),
        median=float(median[0]),
        sd=float(means.sd[0]),
        left_out=selection.left_out,
    )
    return found, values


def _welch(a: GroupSummary, b: GroupSummary, confidence: float) -> tuple[float, float]:
    """Return the ends of Welch's interval of the difference of means; NaN where a group has one number."""
    difference = a.mean - b.mean
    left, right = a.sd * a.sd / a.n, b.sd * b.sd / b.n
    both = left + right
    if not 0 < both < math.inf:
        return (difference, difference) if both == 0 else (math.nan, math.nan)
    left, right = left / both, right / both  # of the squares of large ones there is no number
    degrees = 1 / (left * left / (a.n - 1) + right * right / (b.n - 1))
    half = student_quantile(degrees, confidence) * math.sqrt(both)
    return difference - half, difference + half


def _both(a: LeftOut, b: LeftOut, held: str) -> LeftOut:
    return LeftOut(
        held=held,
        not_done=a.not_done,  # of the whole plan, hence of both
        failed=a.failed + b.failed,
        without_value=a.without_value + b.without_value,
        non_finite=a.non_finite + b.non_finite,
    )


def _told(ranks: RankTest) -> str:
    how = "exact" if ranks.is_exact else "normal approximation, corrected for ties and continuity"
    return f"u and p: two-sided rank test of Mann and Whitney, {how}; a12: share of pairs with a above b, ties half"
