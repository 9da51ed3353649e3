"""Bands over time: what runs come to tick by tick, by levels of factors.

Owns the ticks of a band, which are those that all runs are sampled at, and what of a run counts once it has stopped.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from henad_web.analysis.curves import CurveTable, Floats, Ints
from henad_web.analysis.grouping import Groups, axes_of, grouped
from henad_web.analysis.intervals import Center, CenterKind, check_confidence, check_quantiles, percent_text
from henad_web.analysis.ordered import distinct, ordered_groups
from henad_web.analysis.pieces import Pieces, piecewise, stretches
from henad_web.analysis.samples import AfterStop, Samples, samples_of
from henad_web.analysis.selection import (
    Held,
    check_different,
    chosen,
    failed_rows,
    find_factor,
    held_rows,
    held_text,
    no_runs_left,
    not_done,
    several,
    stat_column,
)
from henad_web.analysis.tables import Axis, Column, LeftOut
from henad_web.errors import SpecError, UsageError, counted
from henad_web.explore.cell_texts import number_text
from henad_web.explore.intervals import IntervalKind, t_quantile
from henad_web.output.table_index import SeriesCadence
from henad_web.results.recorded import RecordedResults

__all__ = ["Bands", "Spread", "bands"]


class Spread(StrEnum):
    """What the ends of a band are: a standard deviation off the mean, its Student interval, or two quantiles."""

    SD = "sd"
    INTERVAL = "interval"
    QUANTILES = "quantiles"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bands(CurveTable):
    """A statistic over time.

    Attributes:
        tick: Tick of each row, ``(rows,)``, int64.
        spread: What low and high are.
    """

    tick: Ints
    spread: Spread

    def _along(self) -> Mapping[str, Column]:
        return {self.x_axis.name: self.tick}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Choice:
    """Which center, which ends of the band, and how a run that has stopped counts."""

    kind: CenterKind
    spread: Spread
    quantiles: tuple[float, float]
    confidence: float
    after_stop: AfterStop

    @property
    def line(self) -> str:
        """What the band is, in words."""
        if self.spread is Spread.SD:
            return "low and high: one standard deviation below and above the mean"
        if self.spread is Spread.INTERVAL:
            return f"low and high: {percent_text(self.confidence)} interval of the mean, Student's"
        return f"low and high: quantiles {' and '.join(map(number_text, self.quantiles))} of the runs"


@piecewise
def bands(
    results: RecordedResults,
    y: str,
    *,
    by: str | Sequence[str] = (),
    held: Held | None = None,
    center: str = "mean",
    spread: str | None = None,
    quantiles: tuple[float, float] = (0.05, 0.95),
    confidence: float = 0.95,
    after_stop: str = "drop",
) -> Pieces[Bands]:
    """Return what runs come to at each tick that all of them are sampled at, by levels of the factors `by`.

    Args:
        results: The results.
        y: A statistic such as ``Infected``.
        by: Factors whose levels make a band each.
        held: Only runs whose factors have these values.
        center: ``"mean"`` or ``"median"``.
        spread: ``"interval"``, Student's of the mean (the usual one of a mean), ``"sd"``, one standard deviation
            below and above it, or ``"quantiles"`` of the runs (the one of a median).
        quantiles: Which quantiles, from 0 to 1, the lower first.
        confidence: Level of the interval: 0.9, 0.95 or 0.99.
        after_stop: ``"drop"``: a run that has stopped counts no more; ``"hold"``: it counts with its last value.

    Raises:
        UsageError: A name, level or option is none, or no run is left.
        MissingFileError: There is no series.csv.
    """
    choice = _choice_of(center, spread, quantiles, confidence, after_stop)
    column, names = stat_column(results, y), several(by)
    check_different(y=y, by=names)
    factors = [find_factor(results, name) for name in names]
    is_asked = yield from held_rows(results, held)
    has_failed = yield from failed_rows(results)
    rows = np.flatnonzero(is_asked & ~has_failed)
    groups = yield from grouped([factor.taken(rows) for factor in factors], len(rows))
    samples = yield from samples_of(results, column)
    grid = _Grid(samples, (yield from _ticks_of(results, samples)), rows, groups, choice.after_stop)
    cells = yield from _cells(grid, choice)
    left_out = LeftOut(
        held=held_text(held or {}),
        not_done=not_done(results),
        failed=int(np.count_nonzero(is_asked & has_failed)),
        without_value=len(rows) - grid.tally.runs,
        non_finite=int(np.count_nonzero(results.runs.is_non_finite[rows])),
    )
    axis = Axis(name=y, label=y)
    if not grid.tally.runs:
        raise no_runs_left(axis, left_out)
    return _bands(axis, axes_of(factors), groups, grid, cells, choice, left_out)


def _bands(
    axis: Axis,
    by_axes: Mapping[str, Axis],
    groups: Groups,
    grid: _Grid,
    cells: Center,
    choice: _Choice,
    left_out: LeftOut,
) -> Bands:
    shown = np.flatnonzero(cells.n)
    group, tick = np.divmod(shown, len(grid.ticks))
    return Bands(
        left_out=left_out,
        x_axis=Axis(name="tick", label="Tick"),
        y_axis=axis,
        by={name: groups.levels[name][group] for name in by_axes},
        by_axes=by_axes,
        kind=choice.kind,
        spread=choice.spread,
        tick=grid.ticks[tick],
        center=cells.center[shown],
        low=cells.low[shown],
        high=cells.high[shown],
        n=cells.n[shown],
        notes=(choice.line, *grid.lines()),
    )


def _choice_of(
    center: str, spread: str | None, quantiles: tuple[float, float], confidence: float, after_stop: str
) -> _Choice:
    kind = CenterKind(chosen("center", center, list(CenterKind)))
    usual = Spread.INTERVAL if kind is CenterKind.MEAN else Spread.QUANTILES
    ends = usual if spread is None else Spread(chosen("spread", spread, list(Spread)))
    if kind is CenterKind.MEDIAN and ends is not Spread.QUANTILES:
        raise UsageError(f"spread '{ends}' is one of a mean; that of a median is 'quantiles'")
    check_confidence(confidence, IntervalKind.STUDENT)
    shares = check_quantiles(quantiles)
    if len(shares) != 2:
        raise UsageError(f"quantiles are {quantiles!r}; allowed: a lower and an upper one, such as (0.05, 0.95)")
    stop = AfterStop(chosen("after_stop", after_stop, list(AfterStop)))
    return _Choice(kind=kind, spread=ends, quantiles=(shares[0], shares[1]), confidence=confidence, after_stop=stop)


def _ticks_of(results: RecordedResults, samples: Samples) -> Pieces[Ints]:
    """Return the ticks of the cadence at which there is a sample, ascending.

    A run that stops between two of them has its last sample at a tick of its own, where no other run is to be compared
    with. Where the cadence is unknown, every tick counts.
    """
    try:
        cadence = SeriesCadence.of(results.spec)
    except SpecError:
        return np.asarray((yield from distinct(samples.ticks)), np.int64)
    every, first = max(cadence.series_every, 1), cadence.warmup
    has_sample = np.zeros((int(samples.ticks[samples.lasts].max(initial=first)) - first) // every + 1, np.bool_)
    is_last_reached = False
    for part in stretches(len(samples.ticks)):
        place, rest = np.divmod(samples.ticks[part] - first, every)
        has_sample[place[(rest == 0) & (place >= 0)]] = True
        is_last_reached = is_last_reached or bool((samples.ticks[part] == cadence.total).any())
        yield
    ticks = first + np.flatnonzero(has_sample).astype(np.int64) * every
    if is_last_reached and (cadence.total - first) % every:
        ticks = np.append(ticks, cadence.total)
    return ticks


@dataclass(slots=True)
class _Tally:
    """What is counted on the way."""

    runs: int = 0
    stopped: int = 0
    off_cadence: int = 0
    non_finite: int = 0


class _Grid:
    """The samples of the runs that count, as cells: a group at a tick.

    Attributes:
        ticks: Its ticks, ascending.
        count: How many cells there are.
        tally: What was met, known after `rows`.
    """

    def __init__(self, samples: Samples, ticks: Ints, rows: Ints, groups: Groups, after_stop: AfterStop) -> None:
        self._samples, self.ticks, self._after_stop = samples, ticks, after_stop
        self.count, self.tally = groups.count * len(ticks), _Tally()
        code = np.full(int(max(rows.max(initial=-1), samples.rows.max(initial=-1))) + 2, -1, np.int64)
        code[rows] = groups.codes  # the last stays -1: of runs without a row
        self._groups = code[samples.rows]

    def rows(self) -> Iterator[tuple[Ints, Floats]]:
        """Yield the cell and value of every finite sample, in bounded stretches."""
        self.tally = _Tally()
        has_value = np.zeros(len(self._groups), np.bool_)
        for run, part in self._samples.stretches():
            group, ticks, values = self._groups[run], self._samples.ticks[part], self._samples.values[part]
            place = np.minimum(np.searchsorted(self.ticks, ticks), len(self.ticks) - 1)
            is_here, is_finite, counts = self.ticks[place] == ticks, np.isfinite(values), group >= 0
            self.tally.off_cadence += int(np.count_nonzero(counts & ~is_here))
            self.tally.non_finite += int(np.count_nonzero(counts & ~is_finite))
            kept = counts & is_here & is_finite
            has_value[run[kept]] = True
            yield (group * len(self.ticks) + place)[kept], values[kept]
        self.tally.runs = int(np.count_nonzero(has_value))
        yield from self._held()

    def _held(self) -> Iterator[tuple[Ints, Floats]]:
        """Yield the last value of each run that has stopped at every later tick, where that is asked for."""
        samples, counts = self._samples, np.flatnonzero(self._groups >= 0)
        lasts = samples.lasts[counts]
        lacking = len(self.ticks) - np.searchsorted(self.ticks, samples.ticks[lasts], side="right")
        self.tally.stopped = int(np.count_nonzero(lacking))
        if self._after_stop is AfterStop.DROP:
            return
        values, ends = samples.values[lasts], np.cumsum(lacking)
        total = int(ends[-1]) if len(ends) else 0
        for part in stretches(total):
            flat = np.arange(part.start, part.stop)
            run = np.searchsorted(ends, flat, side="right")
            cells = self._groups[counts[run]] * len(self.ticks) + len(self.ticks) - (ends[run] - flat)
            is_finite = np.isfinite(values[run])
            yield cells[is_finite], values[run][is_finite]

    def lines(self) -> Iterator[str]:
        """Yield what to know of the samples."""
        tally = self.tally
        if tally.stopped:
            held = self._after_stop is AfterStop.HOLD
            how = "counted with their last value" if held else "left out from there on: n counts the survivors"
            yield f"{counted(tally.stopped, 'run', grouped=True)} had stopped before tick {self.ticks[-1]}: {how}"
        if tally.off_cadence:
            yield f"{counted(tally.off_cadence, 'sample', grouped=True)} between the ticks of the cadence: left out"
        if tally.non_finite:
            yield f"{counted(tally.non_finite, 'sample', grouped=True)} not finite: left out"


def _cells(grid: _Grid, choice: _Choice) -> Pieces[Center]:
    """Return what the samples of each cell come to."""
    n, mean = yield from _cell_means(grid)
    if choice.spread is Spread.QUANTILES:
        by_cell = yield from ordered_groups(grid.rows(), n)
        low = yield from by_cell.quantile(choice.quantiles[0])
        high = yield from by_cell.quantile(choice.quantiles[1])
        center = mean if choice.kind is CenterKind.MEAN else (yield from by_cell.quantile(0.5))
        return Center(n=n, center=center, low=low, high=high)
    squares = np.zeros(grid.count)
    for cells, values in grid.rows():
        with np.errstate(over="ignore", invalid="ignore"):
            np.add.at(squares, cells, np.square(values - mean[cells]))
        yield
    half = np.sqrt(squares / np.where(n > 1, n - 1, np.nan))
    if choice.spread is Spread.INTERVAL:
        factors = np.zeros(int(n.max(initial=0)) + 1)
        for size in np.flatnonzero(np.bincount(n.astype(np.intp))).tolist():
            factors[size] = t_quantile(size - 1, choice.confidence)
        half *= factors[n] / np.sqrt(np.maximum(n, 1))
    with np.errstate(over="ignore", invalid="ignore"):
        return Center(n=n, center=mean, low=mean - half, high=mean + half)


def _cell_means(grid: _Grid) -> Pieces[tuple[Ints, Floats]]:
    """Return how many samples each cell has and their mean, NaN without any.

    They are summed up as distances from one of them, so that equal ones have themselves as mean.
    """
    n, origin, total = np.zeros(grid.count, np.int64), np.zeros(grid.count), np.zeros(grid.count)
    for cells, values in grid.rows():
        is_first = n[cells] == 0
        origin[cells[is_first]] = values[is_first]
        np.add.at(n, cells, 1)
        with np.errstate(over="ignore", invalid="ignore"):
            np.add.at(total, cells, values - origin[cells])
        yield
    return n, np.where(n > 0, origin + total / np.maximum(n, 1), np.nan)
