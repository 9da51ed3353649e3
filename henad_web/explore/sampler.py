"""Samples of runs as they are taken, buffered and reduced: of one run, or of several that are stepped together.

A push only appends, since it is on the path of every sampled tick; arithmetic happens in blocks, so memory stays
bounded when no series is kept. Results depend neither on the length of a block nor on how many runs are taken together.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping
from itertools import repeat
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from henad_web.errors import StatsShapeError
from henad_web.explore.outcomes import Series
from henad_web.explore.reducers import ColumnTotals, Fold, fold_of
from henad_web.model.state import shown_value

if TYPE_CHECKING:
    from henad_web.explore.measure import BoundReducer, MeasurePlan

__all__ = ["BatchSampler", "Sampler"]

_BLOCK = 1024
"""Samples folded at once, so that numpy's fixed cost of a fold is shared."""

_BATCH_VALUES = 1 << 16
"""Numbers of a block of several runs, half a megabyte."""

Ticks = NDArray[np.int64]
Values = NDArray[np.float64]
Reduced = tuple[dict[str, float | None], Series]
"""Reducers of a run, None for one that no sample qualified for, and the series rows kept."""


class Sampler:
    """Takes the samples of one run in tick order and reduces them."""

    __slots__ = ("_columns", "_folded", "_has_samples", "_stop_from", "_stops", "_ticks", "_values")

    def __init__(self, plan: MeasurePlan) -> None:
        """Start a run measured as `plan` says."""
        self._columns = plan.columns
        self._stops = None if plan.stop is None else plan.stop.condition()
        self._stop_from = 0 if plan.stop is None else plan.stop.min_tick
        self._has_samples = False
        self._ticks = array("q")
        self._values = array("d")
        self._folded = _FoldedSamples(plan, 1)

    def push(self, tick: int, stats: Mapping[str, float]) -> bool:
        """Take the sample of `tick` and return whether the stop condition holds now.

        Raises:
            StatsShapeError: `stats` is no mapping, has other columns than planned, or a value that is no number;
                the sample is not taken.
        """
        row = self._row(tick, stats)
        self._values.extend(row)
        self._ticks.append(tick)
        if len(self._ticks) >= _BLOCK:
            self._fold()
        return self._stops is not None and tick >= self._stop_from and self._stops(row)

    def _row(self, tick: int, stats: Mapping[str, float]) -> array[float]:
        """Return the sample as a row of its own: whatever a value raises, no part of it has been taken."""
        if type(stats) is not dict and not isinstance(stats, Mapping):  # asking a class of Mapping's takes its time
            came = (type(stats).__name__,)
            raise StatsShapeError(tick, expected=self._columns, came=came, wrong="are no dict")
        names = tuple(stats)
        if names != self._columns:
            wrong = "changed shape" if self._has_samples else "are not those of its columns"
            raise StatsShapeError(tick, expected=self._columns, came=names, wrong=wrong)
        try:
            row = array("d", stats.values())
        except (TypeError, ValueError, OverflowError) as error:
            raise self._no_number(tick, stats) from error
        if len(row) != len(names):
            raise StatsShapeError(tick, expected=self._columns, came=names, wrong="change while they are read")
        self._has_samples = True
        return row

    def _no_number(self, tick: int, stats: Mapping[str, object]) -> StatsShapeError:
        """Return the error of the first value that is no number."""
        for column, value in stats.items():
            try:
                array("d", [cast("float", value)])
            except (TypeError, ValueError, OverflowError):
                shown = f"the text {shown_value(value)}" if isinstance(value, str) else shown_value(value)
                return StatsShapeError(tick, expected=self._columns, came=stats, value=(column, shown))
        wrong = "hold a value that is a number only at times"
        return StatsShapeError(tick, expected=self._columns, came=stats, wrong=wrong)

    @property
    def non_finite(self) -> tuple[str, int] | None:
        """The first value that was NaN or infinite, as ``(column, tick)``; None when there was none."""
        self._fold()
        return self._folded.non_finite(0)

    def finish(self) -> Reduced:
        """Return the reducers and the series rows kept."""
        self._fold()
        return self._folded.result(0)

    def _fold(self) -> None:
        if self._ticks:
            ticks = np.array(self._ticks, np.int64)
            self._folded.fold(ticks, np.array(self._values, np.float64).reshape(len(ticks), 1, len(self._columns)))
            del self._ticks[:], self._values[:]


class BatchSampler:
    """Takes the samples of several runs that are stepped together, a row each, and reduces those of each run."""

    __slots__ = ("_columns", "_count", "_folded", "_rows", "_stop_from", "_stops", "_ticks", "_values")

    def __init__(self, plan: MeasurePlan, rows: int) -> None:
        """Start `rows` runs measured as `plan` says."""
        self._columns = plan.columns
        self._stops = None if plan.stop is None else plan.stop.condition()
        self._stop_from = 0 if plan.stop is None else plan.stop.min_tick
        self._folded = _FoldedSamples(plan, rows)
        self._allot(rows)

    def _allot(self, rows: int) -> None:
        numbers = max(1, rows * len(self._columns))
        self._rows, self._count = rows, 0
        self._ticks = np.empty(max(1, min(_BLOCK, _BATCH_VALUES // numbers)), np.int64)
        self._values = np.empty((len(self._ticks), rows, len(self._columns)))

    def push(self, tick: int, stats: Mapping[str, NDArray[np.float64]]) -> list[int]:
        """Take the samples of `tick`, and return the rows for which the stop condition holds now.

        Raises:
            StatsShapeError: `stats` is no mapping, has other columns than planned, or one that is not a number a row.
        """
        if not isinstance(stats, Mapping) or tuple(stats) != self._columns:
            raise StatsShapeError(tick, expected=self._columns, came=tuple(stats), wrong="are not those of its columns")
        sample = self._values[self._count]
        for position, column in enumerate(stats.values()):
            numbers = np.asarray(column)
            if numbers.shape != (self._rows,) or numbers.dtype.kind not in "biuf":
                raise StatsShapeError(tick, expected=self._columns, came=tuple(stats), wrong="are not a number a row")
            sample[:, position] = numbers
        self._ticks[self._count] = tick
        self._count += 1
        stops = self._stops if tick >= self._stop_from else None
        stopped = [] if stops is None else [row for row, values in enumerate(sample.tolist()) if stops(values)]
        if self._count == len(self._ticks):
            self._fold()
        return stopped

    def keep(self, rows: NDArray[np.intp]) -> None:
        """Go on with `rows` alone, which rise; they are numbered anew, from 0."""
        self._fold()
        self._folded.keep(rows)
        self._allot(len(rows))

    def non_finite(self, row: int) -> tuple[str, int] | None:
        """Return the first value of a row that was NaN or infinite, as ``(column, tick)``; None when there was none."""
        self._fold()
        return self._folded.non_finite(row)

    def finish(self, row: int) -> Reduced:
        """Return the reducers and the series rows kept of the run in `row`, as `Sampler.finish` does."""
        self._fold()
        return self._folded.result(row)

    def _fold(self) -> None:
        if self._count:
            self._folded.fold(self._ticks[: self._count].copy(), self._values[: self._count])
            self._count = 0


class _FoldedSamples:
    """What is known of the samples of some runs, a row each, that were folded.

    Rows of blocks that are kept stay where they are when others leave: each run has a seat, its first row.
    """

    __slots__ = ("_folds", "_kept", "_last", "_non_finite", "_plan", "_seats", "_totals")

    def __init__(self, plan: MeasurePlan, rows: int) -> None:
        self._plan, self._seats = plan, list(range(rows))
        folds = [fold_of(bound.reduction) for bound in plan.reducers]
        self._totals = ColumnTotals(rows * len(plan.columns)) if None in folds else None
        self._folds: list[list[Fold | None]] = []  # a list a row, none where the totals are all there is to know
        if folds.count(None) < len(folds):
            self._folds = [folds, *([fold_of(bound.reduction) for bound in plan.reducers] for _ in range(rows - 1))]
        self._non_finite: list[tuple[str, int] | None] = [None] * rows
        self._kept: list[tuple[list[int], Ticks, Values]] = []
        self._last: tuple[Ticks, Values] | None = None

    def fold(self, ticks: Ticks, values: Values) -> None:
        """Take the next samples, n at least 1: int64 ``(n,)`` and float64 ``(n, rows, columns)``."""
        finite, totals = np.isfinite(values), self._totals
        is_finite = finite.all()
        if not is_finite:
            self._find_non_finite(ticks, finite)
        if totals is not None and is_finite and not totals.has_begun:
            totals.begin(ticks, values.reshape(len(ticks), -1))
        elif totals is not None:
            totals.fold(ticks, values.reshape(len(ticks), -1), finite.reshape(len(ticks), -1))
        for row, folds in enumerate(self._folds):
            for bound, fold in zip(self._plan.reducers, folds, strict=True):
                if fold is not None:
                    fold.fold(ticks, values[:, row, bound.column], finite[:, row, bound.column])
        self._keep_series(ticks, values)

    def _find_non_finite(self, ticks: Ticks, finite: NDArray[np.bool_]) -> None:
        for row in np.flatnonzero(~finite.all(axis=(0, 2))).tolist():
            if self._non_finite[row] is None:
                sample, column = divmod(int(np.argmin(finite[:, row])), len(self._plan.columns))
                self._non_finite[row] = (self._plan.columns[column], int(ticks[sample]))

    def _keep_series(self, ticks: Ticks, values: Values) -> None:
        every = self._plan.series_every
        if not every:
            return
        on_cadence = (ticks - self._plan.warmup) % every == 0
        self._kept.append((self._seats, ticks[on_cadence], values[on_cadence]))
        # A run's last sample is a row whether or not it is on the cadence, and only its end shows which is last.
        self._last = (ticks[-1:], values[-1].copy())

    def keep(self, rows: NDArray[np.intp]) -> None:
        """Go on with `rows` alone."""
        kept = rows.tolist()
        self._seats = [self._seats[row] for row in kept]
        self._folds = [self._folds[row] for row in kept] if self._folds else []
        self._non_finite = [self._non_finite[row] for row in kept]
        if self._totals is not None:
            width = len(self._plan.columns)
            self._totals.keep((rows[:, np.newaxis] * width + np.arange(width)).reshape(-1))
        if self._last is not None:
            self._last = (self._last[0], self._last[1][rows])

    def non_finite(self, row: int) -> tuple[str, int] | None:
        """Return the first value of `row` that was NaN or infinite, as ``(column, tick)``."""
        return self._non_finite[row]

    def result(self, row: int) -> Reduced:
        """Return the reducers and the series of `row`."""
        first, folds = row * len(self._plan.columns), self._folds[row] if self._folds else repeat(None)
        results = {
            bound.name: self._total(bound, first) if fold is None else fold.result()
            for bound, fold in zip(self._plan.reducers, folds, strict=False)
        }
        return results, self._series(row)

    def _total(self, bound: BoundReducer, first: int) -> float | None:
        return None if self._totals is None else self._totals.result(bound.reduction.kind, first + bound.column)

    def _series(self, row: int) -> Series:
        if self._last is None:
            return Series.empty(len(self._plan.columns))
        seat = self._seats[row]
        ticks = [ticks for _, ticks, _ in self._kept]
        values = [values[:, seats.index(seat)] for seats, _, values in self._kept]
        last_ticks, last_values = self._last
        if (last_ticks[0] - self._plan.warmup) % self._plan.series_every:
            ticks.append(last_ticks)
            values.append(last_values[row : row + 1])
        return Series(np.concatenate(ticks), np.concatenate(values))
