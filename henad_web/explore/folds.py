"""Streaming arithmetic of reducers: samples go in block by block, one number a reducer comes out.

Results do not depend on where blocks begin: sums are added one sample after another in double precision, and
an extreme keeps its first tick. Samples that are not finite are skipped. Texts and names are `reducers`'
business.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

import numpy as np
from numpy.typing import NDArray

from henad_web.explore.comparisons import Comparison
from henad_web.explore.reducers import Kind, Reduction

__all__ = ["ColumnTotals", "Crossing", "Fold", "WindowMean", "fold_of"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
Ticks = NDArray[np.int64]

_LAST_INT64 = 2**63 - 1
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

    __slots__ = ("_count", "_final", "_high", "_high_tick", "_low", "_low_tick", "_sum")

    def __init__(self, columns: int) -> None:
        """Start with no samples of `columns` columns."""
        self._count: NDArray[np.int64] = np.zeros(columns, np.int64)
        self._sum: Floats = np.zeros(columns)
        self._final: Floats = np.zeros(columns)
        self._low: Floats = np.full(columns, np.inf)
        self._high: Floats = np.full(columns, -np.inf)
        self._low_tick: Ticks = np.zeros(columns, np.int64)
        self._high_tick: Ticks = np.zeros(columns, np.int64)

    def fold(self, ticks: Ticks, values: Floats, finite: Flags) -> None:
        """Take the next samples: ticks ``(n,)``, values and flags ``(n, columns)``, n at least 1."""
        self._count += finite.sum(axis=0)
        # `accumulate` adds one row after another; `sum` would add pairwise and depend on the block's length.
        addends = np.vstack((self._sum[None], np.where(finite, values, 0.0)))
        with np.errstate(over="ignore"):
            self._sum = np.add.accumulate(addends, axis=0)[-1]
        self._fold_final(values, finite)
        self._fold_extremes(ticks, values, finite)

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

    def result(self, kind: Kind, column: int) -> float | None:
        """Return `kind` of column number `column`; None when it never had a finite sample."""
        count = int(self._count[column])
        if count == 0:
            return None
        if kind is Kind.MEAN:
            return float(self._sum[column]) / count
        held: dict[Kind, Floats | Ticks] = {
            Kind.FINAL: self._final,
            Kind.MIN: self._low,
            Kind.MAX: self._high,
            Kind.ARGMIN: self._low_tick,
            Kind.ARGMAX: self._high_tick,
        }
        return float(held[kind][column])


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
        self._start, self._end = min(start, _LAST_INT64), min(end, _LAST_INT64)
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
