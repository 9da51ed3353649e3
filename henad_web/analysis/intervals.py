"""What the numbers of each group come to: how many, their center and spread, and an interval of the center.

Owns which intervals a question may ask for. The formulas of means, Student's and Wilson's intervals are
`explore.intervals`': those of summary.csv, number after number, hence to the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import NormalDist

import numpy as np

from henad_web.analysis.bootstrap import bootstrap_means
from henad_web.analysis.ordered import Floats, Ints, OrderedGroups, ordered_groups
from henad_web.analysis.pieces import Pieces, stretches
from henad_web.analysis.selection import Selection, chosen, is_whole
from henad_web.errors import UsageError, counted
from henad_web.explore.cell_texts import number_text
from henad_web.explore.intervals import CONFIDENCES, IntervalKind, RunningStatistics, interval_of
from henad_web.model.decimals import whole_text

__all__ = [
    "Center",
    "CenterKind",
    "Interval",
    "IntervalChoice",
    "Means",
    "bootstrap_text",
    "center_and_interval",
    "center_of",
    "check_confidence",
    "check_draws",
    "check_quantiles",
    "interval_choice",
    "means_of",
    "percent_text",
    "rows_of",
]

_PIECE_FOLDS = 1 << 11
"""Numbers that a piece takes one by one: as many, or as many intervals, take 1 to 4 ms in a page."""


_MOST_COUNTED = 500
"""Numbers up to which the interval of a median is counted out."""


class CenterKind(StrEnum):
    """What stands for a group: the mean of its numbers, or their median."""

    MEAN = "mean"
    MEDIAN = "median"


class Interval(StrEnum):
    """How an interval is made: of a mean Student's, Wilson's or a bootstrap, of a median by order statistics."""

    STUDENT = "student"
    WILSON = "wilson"
    BOOTSTRAP = "bootstrap"
    ORDER = "order"


_ALLOWED = {
    CenterKind.MEAN: (Interval.STUDENT, Interval.WILSON, Interval.BOOTSTRAP),
    CenterKind.MEDIAN: (Interval.ORDER,),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalChoice:
    """Which interval of which center is asked for.

    Attributes:
        center: What it is an interval of.
        kind: How it is made.
        confidence: Its level, between 0 and 1.
        resamples: Of a bootstrap: how many.
        seed: Of a bootstrap: what its draws follow from.
    """

    center: CenterKind
    kind: Interval
    confidence: float
    resamples: int
    seed: int

    @property
    def line(self) -> str:
        """How the intervals were made, in words."""
        how = {
            Interval.STUDENT: "Student's",
            Interval.WILSON: "Wilson's score interval",
            Interval.ORDER: "by order statistics",
            Interval.BOOTSTRAP: bootstrap_text(self.resamples, self.seed),
        }
        return f"low and high: {percent_text(self.confidence)} interval of the {self.center}, {how[self.kind]}"


def interval_choice(
    *, center: str, interval: str | None, confidence: float, resamples: int, seed: int
) -> IntervalChoice:
    """Return the choice that the options of a question make.

    Raises:
        UsageError: One of them is not allowed, or two do not go together.
    """
    kind = CenterKind(chosen("center", center, list(CenterKind)))
    made = _ALLOWED[kind][0] if interval is None else Interval(chosen("interval", interval, list(Interval)))
    if made not in _ALLOWED[kind]:
        fitting = ", ".join(f"'{each}'" for each in _ALLOWED[kind])
        raise UsageError(f"interval '{made}' is none of a {kind}; allowed: {fitting}")
    check_confidence(confidence, made)
    check_draws(resamples, seed)
    return IntervalChoice(center=kind, kind=made, confidence=confidence, resamples=resamples, seed=seed)


def check_draws(resamples: int, seed: int) -> None:
    """Make sure that a bootstrap can draw so.

    Raises:
        UsageError: It cannot.
    """
    if not is_whole(resamples, 2):
        raise UsageError(f"resamples is {whole_text(resamples)}; allowed: a whole number from 2 on")
    if not is_whole(seed):
        raise UsageError(f"seed is {whole_text(seed)}; allowed: a whole number")


def percent_text(confidence: float) -> str:
    """Return a level of confidence as people write it, such as ``95 %``."""
    return f"{100 * confidence:.10g} %"


def bootstrap_text(resamples: int, seed: int) -> str:
    """Return how a bootstrap makes its intervals, in words."""
    return f"bootstrap percentiles, {counted(resamples, 'resample', grouped=True)}, seed {seed}"


def check_confidence(confidence: float, interval: str | None = None) -> None:
    """Make sure that there is an `interval` of that `confidence`; None where no other can be asked for.

    Raises:
        UsageError: There is none.
    """
    if interval in (Interval.BOOTSTRAP, Interval.ORDER):
        if not isinstance(confidence, float) or not 0 < confidence < 1:
            raise UsageError(f"confidence is {whole_text(confidence)}; allowed: a number between 0 and 1, such as 0.95")
    elif not isinstance(confidence, float) or confidence not in CONFIDENCES:
        known = ", ".join(map(number_text, CONFIDENCES))
        if interval is not None:
            known = f"{known}, of '{interval}'; interval='bootstrap' takes any between 0 and 1"
        raise UsageError(f"confidence is {whole_text(confidence)}; allowed: {known}")


def check_quantiles(quantiles: Sequence[float]) -> tuple[float, ...]:
    """Return the `quantiles`, each from 0 to 1 and above the one before.

    Raises:
        UsageError: They are something else.
    """
    shares = tuple(quantiles) if isinstance(quantiles, (tuple, list)) else ()
    is_number = [isinstance(share, float | int) and not isinstance(share, bool) and 0 <= share <= 1 for share in shares]
    if not shares or not all(is_number) or list(shares) != sorted(set(shares)):
        raise UsageError(
            f"quantiles are {quantiles!r}; allowed: numbers from 0 to 1, ascending, such as (0.05, 0.5, 0.95)"
        )
    return tuple(map(float, shares))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Means:
    """Mean and spread of groups; every array is ``(groups,)``.

    Attributes:
        folds: The same, one by one.
        n: How many numbers each has.
        mean: Their mean; NaN of none.
        sd: Their standard deviation, with n - 1; NaN of fewer than two.
    """

    folds: list[RunningStatistics]
    n: Ints
    mean: Floats
    sd: Floats


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Center:
    """What groups come to; every array is ``(groups,)``.

    Attributes:
        n: How many numbers each has.
        center: Their mean or median; NaN of a group without any.
        low: Lower end of the interval of the center; NaN where there are too few numbers.
        high: Upper end.
    """

    n: Ints
    center: Floats
    low: Floats
    high: Floats


def rows_of(codes: Ints, values: Floats) -> Iterator[tuple[Ints, Floats]]:
    """Yield `values` with the group of each in bounded stretches."""
    for part in stretches(len(codes)):
        yield codes[part], values[part]


def means_of(codes: Ints, count: int, values: Floats) -> Pieces[Means]:
    """Return mean and spread of each of `count` groups, its numbers taken in their order."""
    folds: list[RunningStatistics] = []
    for part in stretches(count, _PIECE_FOLDS):
        folds += [RunningStatistics() for _ in range(part.start, part.stop)]
        yield
    for part in stretches(len(codes), _PIECE_FOLDS):
        for code, value in zip(codes[part].tolist(), values[part].tolist(), strict=True):
            folds[code].push(value)
        yield
    n, (mean, sd) = np.zeros(count, np.int64), np.full((2, count), np.nan)
    for part in stretches(count, _PIECE_FOLDS):
        n[part] = [fold.count for fold in folds[part]]
        mean[part] = [fold.mean if fold.count else math.nan for fold in folds[part]]
        sd[part] = [math.nan if fold.count < 2 else fold.deviation for fold in folds[part]]
        yield
    return Means(folds=folds, n=n, mean=mean, sd=sd)


def center_and_interval(codes: Ints, count: int, selection: Selection, choice: IntervalChoice) -> Pieces[Center]:
    """Return what each of `count` groups of the runs in `selection` comes to.

    Raises:
        UsageError: Wilson's interval is asked for, and a value is neither 0 nor 1.
    """
    means = yield from means_of(codes, count, selection.y)
    in_order = OrderedGroups(np.zeros(0), np.zeros(0, np.int64))
    if choice.kind in (Interval.BOOTSTRAP, Interval.ORDER):
        in_order = yield from ordered_groups(rows_of(codes, selection.y), means.n)
    return (yield from center_of(means, in_order, selection, choice))


def center_of(means: Means, in_order: OrderedGroups, selection: Selection, choice: IntervalChoice) -> Pieces[Center]:
    """Return the same of groups whose `means` are made, and for a bootstrap or a median their numbers `in_order`.

    Raises:
        UsageError: Wilson's interval is asked for, and a value is neither 0 nor 1.
    """
    if choice.kind is Interval.WILSON:
        _check_shares(selection)
    if choice.kind is Interval.BOOTSTRAP:
        low, high = yield from bootstrap_means(in_order, choice.confidence, choice.resamples, choice.seed)
    elif choice.kind is Interval.ORDER:
        low, high = yield from _median_ends(in_order, choice.confidence)
    else:
        low, high = yield from _ends(means.folds, IntervalKind(choice.kind.value), choice.confidence)
    center = means.mean if choice.center is CenterKind.MEAN else (yield from in_order.quantile(0.5))
    return Center(n=means.n, center=center, low=low, high=high)


def _ends(folds: list[RunningStatistics], kind: IntervalKind, confidence: float) -> Pieces[tuple[Floats, Floats]]:
    ends, nothing = np.full((len(folds), 2), np.nan), (math.nan, math.nan)
    for part in stretches(len(folds), _PIECE_FOLDS):
        ends[part] = [interval_of(kind, fold, confidence) or nothing for fold in folds[part]]
        yield
    return ends[:, 0].copy(), ends[:, 1].copy()


def _median_ends(groups: OrderedGroups, confidence: float) -> Pieces[tuple[Floats, Floats]]:
    """Return the ends of the interval of each median: two of the numbers, as far from either end of them."""
    starts, low, high = groups.starts, np.full(len(groups.counts), np.nan), np.full(len(groups.counts), np.nan)
    for size in np.flatnonzero(np.bincount(groups.counts.astype(np.intp))).tolist():
        left_out = _beyond_median(size, confidence)
        if left_out is not None:
            these = np.flatnonzero(groups.counts == size)
            low[these] = groups.values[starts[these] + left_out]
            high[these] = groups.values[starts[these] + size - 1 - left_out]
        yield
    return low, high


def _beyond_median(size: int, confidence: float) -> int | None:
    """Return how many of `size` numbers lie beyond either end of the interval of their median; None without one.

    The most with which the interval holds the median with `confidence` at least: how many of them are below it is
    binomial (W. Conover, Practical Nonparametric Statistics, 3rd edition, 1999, section 3.2). Of many numbers the
    normal approximation of that.
    """
    if size > _MOST_COUNTED:
        z = NormalDist().inv_cdf((1 + confidence) / 2)
        return math.floor((size - 1 - z * math.sqrt(size)) / 2)
    most = (1 - confidence) / 2 * 2.0**size
    ways, below = 1, 0  # of having so many numbers below the median, and no more than so many
    for count in range(size):
        below += ways
        if below > most:
            return count - 1 if count else None
        ways = ways * (size - count) // (count + 1)
    return None


def _check_shares(selection: Selection) -> None:
    is_other = (selection.y != 0) & (selection.y != 1)
    if is_other.any():
        came = number_text(float(selection.y[np.argmax(is_other)]))
        raise UsageError(
            f"Wilson's interval is one of a share: of values that are 0 or 1; '{selection.axis.name}' has {came}; "
            f"use interval='student'"
        )
