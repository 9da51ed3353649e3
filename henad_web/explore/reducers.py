"""Reducers: how the samples of one column become one number of a run's row.

Owns the kinds, their text, and the streaming arithmetic: samples go in block by block, and results do not depend on
where blocks begin. Sums are added one sample after another in double precision, an extreme keeps its first tick, and
samples that are not finite are skipped. Which columns exist is `measure`'s business.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from henad_web.explore.conditions import Comparison, parse_comparison
from henad_web.model.decimals import f64_text

__all__ = [
    "ColumnTotals",
    "Crossing",
    "DEFAULT_KINDS",
    "Fold",
    "KIND_FORMS",
    "Kind",
    "Reduction",
    "WindowMean",
    "fold_of",
    "parse_kind",
]

KIND_FORMS = "final, min, max, mean, argmax, argmin, first<=NUMBER, mean@START..END"

_WINDOW = re.compile(r"mean@\s*0*(\d{1,99})\s*\.\.\s*0*(\d{1,99})", re.ASCII)
_LAST_TICK = 2**64 - 1


class Kind(StrEnum):
    """The family of a reducer."""

    FINAL = "final"
    MIN = "min"
    MAX = "max"
    MEAN = "mean"
    ARGMAX = "argmax"
    ARGMIN = "argmin"
    FIRST = "first"
    WINDOW = "mean@"


DEFAULT_KINDS = (Kind.FINAL, Kind.MIN, Kind.MAX, Kind.MEAN)
"""Kinds every column gets unless a spec turns them off, in the order of their columns."""


@dataclass(frozen=True, slots=True)
class Reduction:
    """A reducer's kind with its numbers.

    Attributes:
        kind: The family.
        comparison: Comparator of `Kind.FIRST`, else None.
        threshold: Number of `Kind.FIRST`, finite.
        start: First tick of `Kind.WINDOW`, included.
        end: Last tick of `Kind.WINDOW`, included, not below `start`.
    """

    kind: Kind
    comparison: Comparison | None = None
    threshold: float = 0.0
    start: int = 0
    end: int = 0

    @property
    def text(self) -> str:
        """The canonical text: what files call it and what hashes see."""
        if self.kind is Kind.FIRST and self.comparison is not None:
            return f"first{self.comparison}{f64_text(self.threshold)}"
        if self.kind is Kind.WINDOW:
            return f"mean@{self.start}..{self.end}"
        return self.kind.value


def parse_kind(text: str) -> Reduction:
    """Return the reduction that `text` spells.

    Raises:
        ValueError: `text` is no kind, its number is not finite, or its window is reversed.
    """
    trimmed = text.strip()
    if trimmed.startswith("first"):
        before, comparison, threshold = parse_comparison(trimmed)
        if before != "first":
            raise ValueError("'first' is followed by a comparator and a number, such as first<=10")
        return Reduction(Kind.FIRST, comparison=comparison, threshold=threshold)
    if trimmed.startswith("mean@"):
        return _parse_window(trimmed)
    if trimmed in (Kind.FIRST, Kind.WINDOW) or trimmed not in list(Kind):
        raise ValueError("the word is not one of them")
    return Reduction(Kind(trimmed))


def _parse_window(text: str) -> Reduction:
    window = _WINDOW.fullmatch(text)
    if window is None:
        raise ValueError("'mean@' is followed by two whole ticks, such as mean@200..600")
    start, end = int(window[1]), int(window[2])
    if max(start, end) > _LAST_TICK:
        raise ValueError("a tick of the window is above 2^64 - 1")
    if start > end:
        raise ValueError(f"the window is reversed: {start} is after {end}")
    return Reduction(Kind.WINDOW, start=start, end=end)


Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ticks = NDArray[np.int64]

_COMPARE: dict[Comparison, Callable[[Floats, float], Flags]] = {
    Comparison.LESS: np.less,
    Comparison.LESS_EQUAL: np.less_equal,
    Comparison.GREATER: np.greater,
    Comparison.GREATER_EQUAL: np.greater_equal,
    Comparison.EQUAL: np.equal,
    Comparison.NOT_EQUAL: np.not_equal,
}


class Fold(Protocol):
    """A streaming reducer of one column."""

    def fold(self, ticks: Ticks, values: Floats, finite: Flags) -> None:
        """Take the next samples: ticks ``(n,)``, values ``(n,)`` and which of them are finite ``(n,)``."""

    def result(self) -> float | None:
        """Return the number, None when no sample qualified."""


class ColumnTotals:
    """Final, mean and extremes with their ticks, of every column at once."""

    __slots__ = (
        "_begun",
        "_columns",
        "_count",
        "_final",
        "_high",
        "_high_tick",
        "_low",
        "_low_tick",
        "_results",
        "_sum",
    )

    def __init__(self, columns: int) -> None:
        """Start with no samples of `columns` columns."""
        self._columns = columns
        self._begun: tuple[int, list[float]] | None = None
        self._results: dict[Kind, list[float | None]] | None = None
        self._count: NDArray[np.int64] | None = None
        self._sum = self._final = self._low = self._high = _NOTHING
        self._low_tick = self._high_tick = _NO_TICKS

    @property
    def has_begun(self) -> bool:
        """Whether samples were taken."""
        return self._begun is not None or self._count is not None

    def fold(self, ticks: Ticks, values: Floats, finite: Flags) -> None:
        """Take the next samples: ticks ``(n,)``, values and flags ``(n, columns)``, n at least 1."""
        self._go_on()
        self._results = None
        if self._count is None:
            self._begin_with_none()
        self._count += finite.sum(axis=0)
        # `accumulate` adds one row after another; `sum` would add pairwise and depend on the block's length.
        addends = np.vstack((self._sum[None], np.where(finite, values, 0.0)))
        with np.errstate(over="ignore"):
            self._sum = np.add.accumulate(addends, axis=0)[-1]
        self._fold_final(values, finite)
        self._fold_extremes(ticks, values, finite)

    def begin(self, ticks: Ticks, values: Floats) -> None:
        """Take the first samples, all of them finite: mostly a whole run, hence its results are made at once."""
        with np.errstate(over="ignore"):  # the zero is what a sum of negative zeros has been added to
            totals = (np.add.accumulate(values, axis=0)[-1] + 0.0).tolist()
        lows, highs = values.argmin(axis=0).tolist(), values.argmax(axis=0).tolist()
        self._begun = len(ticks), totals
        self._results = {
            Kind.FINAL: values[-1].tolist(),
            Kind.MIN: [values.item(low, column) for column, low in enumerate(lows)],
            Kind.MAX: [values.item(high, column) for column, high in enumerate(highs)],
            Kind.MEAN: [total / len(ticks) for total in totals],
            Kind.ARGMIN: [float(ticks.item(low)) for low in lows],
            Kind.ARGMAX: [float(ticks.item(high)) for high in highs],
        }

    def _go_on(self) -> None:
        """Take the results that `begin` made for what more samples are folded into."""
        if self._begun is None or self._results is None:
            return
        (count, totals), results = self._begun, self._results
        self._begun = None
        self._count, self._sum = np.full(self._columns, count, np.int64), np.array(totals, np.float64)
        self._final, self._low, self._high = (
            np.array(results[kind], np.float64) for kind in (Kind.FINAL, Kind.MIN, Kind.MAX)
        )
        self._low_tick, self._high_tick = (
            np.array(results[kind]).astype(np.int64) for kind in (Kind.ARGMIN, Kind.ARGMAX)
        )

    def _begin_with_none(self) -> None:
        columns = self._columns
        self._count = np.zeros(columns, np.int64)
        self._sum, self._final = np.zeros(columns), np.zeros(columns)
        self._low, self._high = np.full(columns, np.inf), np.full(columns, -np.inf)
        self._low_tick, self._high_tick = np.zeros(columns, np.int64), np.zeros(columns, np.int64)

    def _fold_final(self, values: Floats, finite: Flags) -> None:
        last = len(values) - 1 - np.argmax(finite[::-1], axis=0)
        picked = values[last, np.arange(values.shape[1])]
        self._final = np.where(finite.any(axis=0), picked, self._final)

    def _fold_extremes(self, ticks: Ticks, values: Floats, finite: Flags) -> None:
        columns = np.arange(values.shape[1])
        lows, highs = np.where(finite, values, np.inf), np.where(finite, values, -np.inf)
        at_low, at_high = np.argmin(lows, axis=0), np.argmax(highs, axis=0)
        low, high = lows[at_low, columns], highs[at_high, columns]
        self._low_tick = np.where(low < self._low, ticks[at_low], self._low_tick)
        self._high_tick = np.where(high > self._high, ticks[at_high], self._high_tick)
        self._low, self._high = np.minimum(low, self._low), np.maximum(high, self._high)

    def keep(self, columns: NDArray[np.intp]) -> None:
        """Go on with `columns` alone; they are numbered anew, from 0."""
        self._go_on()
        self._columns, self._results = len(columns), None
        if self._count is not None:
            self._count, self._sum, self._final = self._count[columns], self._sum[columns], self._final[columns]
            self._low, self._high = self._low[columns], self._high[columns]
            self._low_tick, self._high_tick = self._low_tick[columns], self._high_tick[columns]

    def result(self, kind: Kind, column: int) -> float | None:
        """Return `kind` of column number `column`; None when it never had a finite sample."""
        if self._results is None:
            self._results = self._all_results()
        return self._results[kind][column]

    def _all_results(self) -> dict[Kind, list[float | None]]:
        if self._count is None:
            return dict.fromkeys(Kind, [None] * self._columns)
        counts = self._count.tolist()
        held: dict[Kind, list[float | None]] = {
            Kind.FINAL: self._final.tolist(),
            Kind.MIN: self._low.tolist(),
            Kind.MAX: self._high.tolist(),
            Kind.MEAN: [
                total / count if count else None for total, count in zip(self._sum.tolist(), counts, strict=True)
            ],
            Kind.ARGMIN: self._low_tick.astype(np.float64).tolist(),
            Kind.ARGMAX: self._high_tick.astype(np.float64).tolist(),
        }
        for column, count in enumerate(counts):
            if not count:
                for results in held.values():
                    results[column] = None
        return held


_NOTHING: Floats = np.zeros(0)
_NO_TICKS: Ticks = np.zeros(0, np.int64)


class Crossing:
    """The first tick at which `comparison` with `threshold` holds."""

    __slots__ = ("_compare", "_threshold", "_tick")

    def __init__(self, comparison: Comparison, threshold: float) -> None:
        self._compare = _COMPARE[comparison]
        self._threshold = threshold
        self._tick: int | None = None

    def fold(self, ticks: Ticks, values: Floats, finite: Flags) -> None:
        """Take the next samples; does nothing once the comparison has held."""
        if self._tick is not None:
            return
        holds = self._compare(values, self._threshold) & finite
        if holds.any():
            self._tick = int(ticks[int(np.argmax(holds))])

    def result(self) -> float | None:
        """Return the tick, None when the comparison never held."""
        return None if self._tick is None else float(self._tick)


class WindowMean:
    """The mean of the samples with ``start <= tick <= end``."""

    __slots__ = ("_count", "_end", "_start", "_sum")

    def __init__(self, start: int, end: int) -> None:
        self._start, self._end = start, end
        self._sum, self._count = 0.0, 0

    def fold(self, ticks: Ticks, values: Floats, finite: Flags) -> None:
        """Take the next samples."""
        inside = values[(ticks >= self._start) & (ticks <= self._end) & finite]
        # Python adds one after another, as `ColumnTotals` does.
        for value in inside.tolist():
            self._sum += value
        self._count += len(inside)

    def result(self) -> float | None:
        """Return the mean, None when no finite sample fell inside the window."""
        return self._sum / self._count if self._count else None


def fold_of(reduction: Reduction) -> Fold | None:
    """Return a fresh fold for `reduction`, None for the kinds that `ColumnTotals` keeps."""
    if reduction.kind is Kind.FIRST and reduction.comparison is not None:
        return Crossing(reduction.comparison, reduction.threshold)
    if reduction.kind is Kind.WINDOW:
        return WindowMean(reduction.start, reduction.end)
    return None


if TYPE_CHECKING:
    _crossing: type[Fold] = Crossing
    _window: type[Fold] = WindowMean
