"""Samples of a statistic over time, of the runs that count: which rows of the series are whose, and one tick of each.

Owns which ticks belong to all runs, and what becomes of a run that had stopped before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from henad_web.analysis.pieces import Pieces, stretches
from henad_web.errors import UsageError
from henad_web.results.recorded import RecordedResults
from henad_web.results.series import SeriesColumns

__all__ = ["AfterStop", "Samples", "samples_of", "values_at"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class AfterStop(StrEnum):
    """What of a run that has stopped counts at later ticks: nothing, or its last value."""

    DROP = "drop"
    HOLD = "hold"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Samples:
    """The samples of one statistic, run after run.

    Attributes:
        rows: Where each run with samples stands in ``results.runs``, ``(groups,)``; -1 without a row there.
        starts: Where its samples begin, ``(groups + 1,)``; the last is their number.
        ticks: Tick of each sample, ascending in a run, ``(samples,)``.
        values: Its value; NaN where it was not finite.
    """

    rows: Ints
    starts: Ints
    ticks: Ints
    values: Floats

    @property
    def lasts(self) -> Ints:
        """Where the last sample of each run stands, ``(groups,)``."""
        return self.starts[1:] - 1

    def stretches(self) -> Iterator[tuple[Ints, slice]]:
        """Yield bounded stretches of samples: which of the runs with samples each is of, and where they stand."""
        for part in stretches(len(self.ticks)):
            first = int(np.searchsorted(self.starts, part.start, side="right")) - 1
            end = int(np.searchsorted(self.starts, part.stop, side="left"))
            cuts = np.clip(self.starts[first : end + 1], part.start, part.stop)
            yield np.repeat(np.arange(first, end), np.diff(cuts).astype(np.intp)), part


def samples_of(results: RecordedResults, column: str) -> Pieces[Samples]:
    """Return the samples of the stat column `column` of all runs.

    Raises:
        MissingFileError: There is no series.csv.
        TableDamagedError: A record of it is none.
    """
    found: SeriesColumns = yield from results.series_columns([column])
    rows = results.runs.places(found.run_ids)
    starts = np.concatenate([[0], np.cumsum(found.counts)])
    return Samples(rows=rows, starts=starts, ticks=found.ticks, values=found.values[column])


def values_at(results: RecordedResults, column: str, tick: int, after_stop: AfterStop) -> Pieces[Floats]:
    """Return the value of `column` at `tick` of each row of ``results.runs``; NaN where there is none.

    Raises:
        UsageError: No run was sampled at that tick.
        MissingFileError: There is no series.csv.
    """
    samples = yield from samples_of(results, column)
    values = np.full(len(results.runs) + 1, np.nan)  # the last is for runs without a row
    is_there, below, above = False, -1, -1
    for group, part in samples.stretches():
        ticks = samples.ticks[part]
        at = np.flatnonzero(ticks == tick)
        is_there = is_there or len(at) > 0
        values[samples.rows[group[at]]] = samples.values[part][at]
        before, behind = ticks[ticks < tick], ticks[ticks > tick]
        below = max(below, int(before.max(initial=-1)))
        above = int(behind.min()) if len(behind) and (above < 0 or behind.min() < above) else above
        yield
    if not is_there:
        near = " and ".join(str(found) for found in (below, above) if found >= 0)
        raise UsageError(
            f"no run has a sample at tick {tick}; " + (f"the nearest are {near}" if near else "there is none")
        )
    if after_stop is AfterStop.HOLD and len(samples.rows):
        had_stopped = samples.ticks[samples.lasts] < tick
        values[samples.rows[had_stopped]] = samples.values[samples.lasts[had_stopped]]
    return values[:-1]
