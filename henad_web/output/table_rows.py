"""Which rows of earlier results are kept, where they stand, and whether their files can be gone on with as they are.

Owns the rule of keeping: a row needs its whole series, and runs that timed out are always done again. Pure functions
over indexes; nothing is read or written.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from henad_web.explore.outcomes import RunStatus
from henad_web.output.record import Counts
from henad_web.output.table_index import STATUSES

if TYPE_CHECKING:
    from henad_web.output.table_index import Ints, RunsIndex, SeriesCadence, SeriesIndex

__all__ = ["KeptRows", "TableEnds", "WrittenSpans", "kept_rows", "rows_to_keep", "whole_series"]

_FAILED = np.array([status.is_failure for status in STATUSES])
_TIMED_OUT = STATUSES.index(RunStatus.TIMED_OUT)
_SHAPE_ERROR = STATUSES.index(RunStatus.SHAPE_ERROR)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class KeptRows:
    """The rows that stay, by ascending run id; every array is int64 ``(rows,)``.

    Attributes:
        run_ids: Id in the plan that goes on.
        written_ids: Id as the files have it.
        run_starts: Offset of the row in runs.csv.
        run_ends: Offset behind it.
        series_starts: Offset of its rows in series.csv.
        series_ends: Offset behind them; the same for a run without any.
        counts: How many there are, by status.
        runs_are_canonical: Whether runs.csv is written as a sweep writes it, so that its rows can be copied as bytes.
        series_are_canonical: The same of series.csv.
    """

    run_ids: Ints
    written_ids: Ints
    run_starts: Ints
    run_ends: Ints
    series_starts: Ints
    series_ends: Ints
    counts: Counts
    runs_are_canonical: bool
    series_are_canonical: bool

    @property
    def last_id(self) -> int:
        """The largest run id, -1 without rows."""
        return int(self.run_ids[-1]) if len(self.run_ids) else -1

    @property
    def has_written_ids(self) -> bool:
        """Whether every id is the one that the files have."""
        return np.array_equal(self.run_ids, self.written_ids)

    @property
    def byte_count(self) -> int:
        """Bytes of the rows in both files."""
        return int(np.sum(self.run_ends - self.run_starts) + np.sum(self.series_ends - self.series_starts))

    @property
    def is_in_order(self) -> bool:
        """Whether both files have the rows in this order."""
        return all(bool(np.all(np.diff(starts) >= 0)) for starts in (self.run_starts, self._series_starts_of_some))

    @property
    def _series_starts_of_some(self) -> Ints:
        return self.series_starts[self.series_ends > self.series_starts]

    def flags(self, run_count: int) -> bytearray:
        """Return one byte a run of the plan, 1 for a kept one."""
        held = np.zeros(run_count, np.uint8)
        held[self.run_ids] = 1
        return bytearray(held.tobytes())


class WrittenSpans:
    """Where a writer put the rows of each run, in the order it wrote them; 24 bytes a run."""

    def __init__(self) -> None:
        self._sizes = array("q")

    def add(self, run_id: int, row_bytes: int, series_bytes: int) -> None:
        """Note that the rows of run `run_id` came next, of so many bytes in each table."""
        self._sizes.extend((run_id, row_bytes, series_bytes))

    def rows(self, runs_header: int, series_header: int, counts: Counts) -> KeptRows:
        """Return the rows by ascending run id, behind headers of so many bytes."""
        run_ids, row_bytes, series_bytes = np.array(self._sizes, np.int64).reshape(-1, 3).T
        run_ends, series_ends = runs_header + np.cumsum(row_bytes), series_header + np.cumsum(series_bytes)
        order = np.argsort(run_ids, kind="stable")
        return KeptRows(
            run_ids=run_ids[order],
            written_ids=run_ids[order],
            run_starts=(run_ends - row_bytes)[order],
            run_ends=run_ends[order],
            series_starts=(series_ends - series_bytes)[order],
            series_ends=series_ends[order],
            counts=counts,
            runs_are_canonical=True,
            series_are_canonical=True,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TableEnds:
    """Offsets at which two tables can be cut so that they hold the kept rows and nothing else."""

    runs: int
    series: int


def whole_series(
    runs: RunsIndex, series: SeriesIndex, cadence: SeriesCadence, *, is_ended: bool = False
) -> tuple[NDArray[np.bool_], Ints]:
    """Return for each row of `runs` whether its whole series is there, and its group in `series` or -1.

    A run that did not fail tells its ticks exactly. One that failed may have done so while the sample of its last tick
    was taken, which then is not there. In tables of a sweep that has ended both are whole; in others only the end of
    the file, which alone can be lost, is held against a failed run.

    Args:
        runs: Index of runs.csv.
        series: Index of series.csv.
        cadence: Which ticks have rows.
        is_ended: Whether the manifest says that the sweep ended, which it does once nothing can be lost any more.
    """
    group, is_single = _groups_of(runs, series)
    # An appended zero stands for the rows of a run without a group.
    rows, last_ticks = (np.append(column, 0)[group] for column in (series.rows, series.last_ticks))
    regular = np.append(series.regular, True)[group]

    def holds_samples_to(ticks: Ints) -> NDArray[np.bool_]:
        last = np.where(runs.unbuilt, -1, cadence.last_samples(ticks))
        expected = cadence.rows(last)
        holds: NDArray[np.bool_] = (rows == expected) & regular & ((expected == 0) | (last_ticks == last))
        return holds

    with_last, without_last = holds_samples_to(runs.ticks), holds_samples_to(runs.ticks - 1)
    exact = np.where(runs.status == _SHAPE_ERROR, without_last, with_last)
    either = with_last | without_last if is_ended else np.zeros_like(exact)
    failed = _FAILED[runs.status]
    return is_single & (exact | (failed & (either | _before_the_end(runs, series)))), group


def _groups_of(runs: RunsIndex, series: SeriesIndex) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the group of each row, -1 for none, and whether it has at most one."""
    order = np.argsort(series.run_ids, kind="stable")
    ids = series.run_ids[order]
    first = np.searchsorted(ids, runs.run_ids, side="left")
    count = np.searchsorted(ids, runs.run_ids, side="right") - first
    group = np.where(count > 0, np.append(order, -1)[np.minimum(first, len(order))], -1)
    return group.astype(np.int64), count <= 1


def _before_the_end(runs: RunsIndex, series: SeriesIndex) -> NDArray[np.bool_]:
    """Return which rows come before the row of the run whose series is the last one of its file."""
    positions = np.arange(len(runs.run_ids))
    if not len(series.run_ids):
        return np.zeros(len(positions), np.bool_)
    owner = np.flatnonzero(runs.run_ids == series.run_ids[-1])
    # A series whose run has no row was being written last of all.
    return positions < (owner[-1] if len(owner) else len(positions))


def rows_to_keep(runs: RunsIndex, whole: NDArray[np.bool_], *, retry_failed: bool) -> NDArray[np.bool_]:
    """Return which rows of `runs` stay: `whole` ones that did not time out and, to retry, did not fail."""
    again = _FAILED[runs.status] if retry_failed else np.equal(runs.status, _TIMED_OUT)
    keep: NDArray[np.bool_] = whole & ~again
    return keep


def kept_rows(
    runs: RunsIndex, series: SeriesIndex, group: Ints, rows: Ints, run_ids: Ints
) -> tuple[KeptRows, TableEnds | None]:
    """Return the kept `rows` of `runs` under their new `run_ids`, and where the tables can be cut.

    Args:
        runs: Index of runs.csv.
        series: Index of series.csv.
        group: Group of each row of `runs` in `series`, -1 for none.
        rows: Positions of the rows that stay, in any order, perhaps repeated.
        run_ids: Id that the plan gives each of them.

    Returns:
        The rows, and the ends; None when the tables have to be written anew because rows in the middle go, ids change,
        a header is missing, or another program left quotes, line ends or a mark that no sweep writes.
    """
    order = np.argsort(run_ids, kind="stable")
    rows, run_ids = rows[order], run_ids[order]
    groups = group[rows]
    kept = KeptRows(
        run_ids=run_ids,
        written_ids=runs.run_ids[rows],
        run_starts=runs.starts[rows],
        run_ends=runs.ends[rows],
        series_starts=np.append(series.starts, 0)[groups],
        series_ends=np.append(series.ends, 0)[groups],
        counts=_counts(runs.status[rows]),
        runs_are_canonical=runs.is_canonical,
        series_are_canonical=series.is_canonical,
    )
    ends = None
    are_whole = all(table.header is not None and table.is_canonical for table in (runs, series))
    if are_whole and kept.has_written_ids:
        ends = _ends(runs, series, rows, groups[groups >= 0])
    return kept, ends


def _ends(runs: RunsIndex, series: SeriesIndex, rows: Ints, groups: Ints) -> TableEnds | None:
    ends = []
    for table, kept, header_end in ((runs, rows, runs.header_end), (series, groups, series.header_end)):
        count = len(kept)
        if not np.array_equal(np.sort(kept), np.arange(count)):
            return None
        ends.append(int(table.ends[count - 1]) if count else header_end)
    return TableEnds(runs=ends[0], series=ends[1])


def _counts(status: Ints) -> Counts:
    by_status = np.bincount(status, minlength=len(STATUSES))
    failed = int(by_status[_FAILED].sum())
    ok, non_finite = (int(by_status[STATUSES.index(kind)]) for kind in (RunStatus.OK, RunStatus.NON_FINITE))
    return Counts(rows=len(status), ok=ok, non_finite=non_finite, failed=failed)
