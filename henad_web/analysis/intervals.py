"""What the numbers of each group come to: how many, their center and spread, and an interval of the center.

Owns which intervals a question may ask for. The formulas of means, Student's and Wilson's intervals are
`explore.intervals`': those of summary.csv, number after number, hence to the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from henad_web.analysis.bootstrap import bootstrap_means, bootstrap_medians
from henad_web.analysis.ordered import Floats, Ints, OrderedGroups, ordered_groups
from henad_web.analysis.pieces import Pieces, stretches
from henad_web.analysis.selection import Selection, chosen
from henad_web.errors import UsageError, counted
from henad_web.explore.cell_texts import number_text
from henad_web.explore.intervals import CONFIDENCES, IntervalKind, RunningStatistics, interval_of
from henad_web.model.decimals import whole_text

__all__ = [
    "Center",
    "CenterKind",
    "IntervalChoice",
    "center_and_interval",
    "center_of",
    "check_confidence",
    "check_draws",
    "check_quantiles",
    "interval_choice",
    "means",
    "percent_text",
    "rows_of",
]

_PIECE_FOLDS = 1 << 12
"""Numbers that a piece takes one by one: as many take 2 ms in a page."""


class CenterKind(StrEnum):
    """What stands for a group: the mean of its numbers, or their median."""

    MEAN = "mean"
    MEDIAN = "median"


_BOOTSTRAP = "bootstrap"


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalChoice:
    """Which interval of which center is asked for.

    Attributes:
        center: What it is an interval of.
        kind: ``student``, ``wilson`` or ``bootstrap``.
        confidence: Its level, between 0 and 1.
        resamples: Of a bootstrap: how many.
        seed: Of a bootstrap: what its draws follow from.
    """

    center: CenterKind
    kind: str
    confidence: float
    resamples: int
    seed: int

    @property
    def line(self) -> str:
        """How the intervals were made, in words."""
        how = {"student": "Student's", "wilson": "Wilson's score interval"}.get(self.kind)
        if how is None:
            how = f"bootstrap percentiles, {counted(self.resamples, 'resample', grouped=True)}, seed {self.seed}"
        return f"low and high: {percent_text(self.confidence)} interval of the {self.center} of each group, {how}"


def interval_choice(
    *, center: str, interval: str | None, confidence: float, resamples: int, seed: int
) -> IntervalChoice:
    """Return the choice that the options of a question make.

    Raises:
        UsageError: One of them is not allowed, or two do not go together.
    """
    kind = CenterKind(chosen("center", center, list(CenterKind)))
    is_mean = kind is CenterKind.MEAN
    allowed = [*(each.value for each in IntervalKind), _BOOTSTRAP] if is_mean else [_BOOTSTRAP]
    if interval is None:
        interval = allowed[0]
    elif not is_mean and interval in list(IntervalKind):
        raise UsageError(f"interval '{interval}' is one of a mean; that of a median is 'bootstrap'")
    chosen("interval", interval, allowed)
    check_confidence(confidence, interval)
    check_draws(resamples, seed)
    return IntervalChoice(center=kind, kind=interval, confidence=confidence, resamples=resamples, seed=seed)


def check_draws(resamples: int, seed: int) -> None:
    """Make sure that a bootstrap can draw so.

    Raises:
        UsageError: It cannot.
    """
    if isinstance(resamples, bool) or not isinstance(resamples, int) or resamples < 2:
        raise UsageError(f"resamples is {whole_text(resamples)}; allowed: a whole number from 2 on")
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise UsageError(f"seed is {whole_text(seed)}; allowed: a whole number")


def percent_text(confidence: float) -> str:
    """Return a level of confidence as people write it, such as ``95 %``."""
    return f"{100 * confidence:.10g} %"


def check_confidence(confidence: float, interval: str | None = None) -> None:
    """Make sure that there is an `interval` of that `confidence`; None where no other can be asked for.

    Raises:
        UsageError: There is none.
    """
    if interval == _BOOTSTRAP:
        if not isinstance(confidence, float) or not 0 < confidence < 1:
            raise UsageError(f"confidence is {whole_text(confidence)}; allowed: a number between 0 and 1, such as 0.95")
    elif confidence not in CONFIDENCES:
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
class Center:
    """What each group comes to; every array is ``(groups,)``.

    Attributes:
        n: How many numbers it has.
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


def center_and_interval(codes: Ints, count: int, selection: Selection, choice: IntervalChoice) -> Pieces[Center]:
    """Return what each of `count` groups of the runs in `selection` comes to.

    Raises:
        UsageError: Wilson's interval is asked for, and a value is neither 0 nor 1.
    """
    folds = yield from means(codes, count, selection.y)
    in_order = OrderedGroups(np.zeros(0), np.zeros(0, np.int64))
    if choice.kind == _BOOTSTRAP:
        n = np.array([fold.count for fold in folds], np.int64)
        in_order = yield from ordered_groups(rows_of(codes, selection.y), n)
    return (yield from center_of(folds, in_order, selection, choice))


def center_of(
    folds: list[RunningStatistics], in_order: OrderedGroups, selection: Selection, choice: IntervalChoice
) -> Pieces[Center]:
    """Return the same of groups whose `folds` are made, and for a bootstrap their numbers `in_order`.

    Raises:
        UsageError: Wilson's interval is asked for, and a value is neither 0 nor 1.
    """
    if choice.kind == IntervalKind.WILSON:
        _check_shares(selection)
    n = np.array([fold.count for fold in folds], np.int64)
    is_mean = choice.center is CenterKind.MEAN
    if choice.kind == _BOOTSTRAP:
        resampled = bootstrap_means if is_mean else bootstrap_medians
        low, high = yield from resampled(in_order, choice.confidence, choice.resamples, choice.seed)
    else:
        low, high = yield from _ends(folds, choice)
    return Center(n=n, center=_means_of(folds) if is_mean else in_order.quantile(0.5), low=low, high=high)


def means(codes: Ints, count: int, values: Floats) -> Pieces[list[RunningStatistics]]:
    """Return mean and spread of each of `count` groups, its numbers taken in their order."""
    folds: list[RunningStatistics] = []
    for part in stretches(count, _PIECE_FOLDS):
        folds += [RunningStatistics() for _ in range(part.start, part.stop)]
        yield
    for part in stretches(len(codes), _PIECE_FOLDS):
        for code, value in zip(codes[part].tolist(), values[part].tolist(), strict=True):
            folds[code].push(value)
        yield
    return folds


def _means_of(folds: list[RunningStatistics]) -> Floats:
    return np.array([fold.mean if fold.count else math.nan for fold in folds], np.float64)


def _ends(folds: list[RunningStatistics], choice: IntervalChoice) -> Pieces[tuple[Floats, Floats]]:
    kind, nothing = IntervalKind(choice.kind), (math.nan, math.nan)
    ends: list[tuple[float, float]] = []
    for part in stretches(len(folds), _PIECE_FOLDS):
        ends += [interval_of(kind, fold, choice.confidence) or nothing for fold in folds[part]]
        yield
    table = np.array(ends, np.float64).reshape(-1, 2)
    return table[:, 0].copy(), table[:, 1].copy()


def _check_shares(selection: Selection) -> None:
    is_other = (selection.y != 0) & (selection.y != 1)
    if is_other.any():
        came = number_text(float(selection.y[np.argmax(is_other)]))
        raise UsageError(
            f"Wilson's interval is one of a share: of values that are 0 or 1; '{selection.axis.name}' has {came}; "
            f"use interval='student'"
        )
