"""Where rows of runs stand in runs.csv and series.csv, for whoever copies them or goes on behind them.

Owns these positions as values, and finding them by the indexes of the tables or while they are written. Judges no row:
which ones a resume keeps is `resume.kept_runs`' business.
"""

from __future__ import annotations

from array import array
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from henad_web.explore.outcomes import RunStatus
from henad_web.output.record import Counts
from henad_web.output.table_index import IS_FAILURE, STATUSES, recorded_indexes

if TYPE_CHECKING:
    from henad_web.output.manifest import Manifest
    from henad_web.output.store import ResultsReader, Stamp
    from henad_web.output.table_index import Ints, RunsIndex, SeriesCadence, SeriesIndex

__all__ = ["KeptTables", "TableEnds", "TableRows", "WrittenRows", "all_rows", "rows_at", "series_groups"]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TableRows:
    """Rows of two tables, by ascending run id; every array is int64 ``(rows,)``.

    Attributes:
        run_ids: Id in the plan they are for.
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
        """Return one byte a run of the plan, 1 for one whose rows these are."""
        held = np.zeros(run_count, np.uint8)
        held[self.run_ids] = 1
        return bytearray(held.tobytes())


class WrittenRows:
    """Where a writer put the rows of each run, in the order it wrote them; 24 bytes a run."""

    def __init__(self) -> None:
        self._sizes = array("q")

    def add(self, run_id: int, row_bytes: int, series_bytes: int) -> None:
        """Note that the rows of run `run_id` came next, of so many bytes in each table."""
        self._sizes.extend((run_id, row_bytes, series_bytes))

    def in_order(self, runs_header: int, series_header: int, counts: Counts) -> TableRows:
        """Return the rows by ascending run id, behind headers of so many bytes."""
        run_ids, row_bytes, series_bytes = np.array(self._sizes, np.int64).reshape(-1, 3).T
        run_ends, series_ends = runs_header + np.cumsum(row_bytes), series_header + np.cumsum(series_bytes)
        order = np.argsort(run_ids, kind="stable")
        return TableRows(
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
    """Offsets at which two tables can be cut so that they hold certain rows and nothing else."""

    runs: int
    series: int


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class KeptTables:
    """Rows that stand in tables already, for a sweep to begin its own with.

    Attributes:
        reader: Where they stand.
        rows: Which they are, and the ids they get.
        ends: Where the tables can be cut to go on with them as they are; None when they are written anew.
        stamp: State of the files when they were read, where the sweep writes to these files; None for those of another
            folder, from which rows are copied.
    """

    reader: ResultsReader
    rows: TableRows
    ends: TableEnds | None
    stamp: Stamp | None

    @property
    def is_own(self) -> bool:
        """Whether the sweep writes to the files that hold the rows."""
        return self.stamp is not None


def all_rows(reader: ResultsReader, manifest: Manifest, cadence: SeriesCadence) -> TableRows:
    """Return every row of the tables that `reader` reads, those of `manifest`, in the order of its plan."""
    runs, series = recorded_indexes(reader, manifest, cadence)
    group, _ = series_groups(runs, series)
    return rows_at(runs, series, group, np.arange(len(runs.run_ids)), runs.run_ids)


def rows_at(runs: RunsIndex, series: SeriesIndex, group: Ints, positions: Ints, run_ids: Ints) -> TableRows:
    """Return the rows at `positions` of `runs`, by their new `run_ids`.

    Args:
        runs: Index of runs.csv.
        series: Index of series.csv.
        group: Group of each row of `runs` in `series`, -1 for none.
        positions: Which rows of `runs`, in any order, perhaps repeated.
        run_ids: Id that each of them gets.
    """
    order = np.argsort(run_ids, kind="stable")
    positions, run_ids = positions[order], run_ids[order]
    groups = group[positions]
    return TableRows(
        run_ids=run_ids,
        written_ids=runs.run_ids[positions],
        run_starts=runs.starts[positions],
        run_ends=runs.ends[positions],
        series_starts=np.append(series.starts, 0)[groups],
        series_ends=np.append(series.ends, 0)[groups],
        counts=_counts(runs.status[positions]),
        runs_are_canonical=runs.is_canonical,
        series_are_canonical=series.is_canonical,
    )


def series_groups(runs: RunsIndex, series: SeriesIndex) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the group of each row of `runs` in `series`, -1 for none, and whether it has at most one."""
    order = np.argsort(series.run_ids, kind="stable")
    ids = series.run_ids[order]
    first = np.searchsorted(ids, runs.run_ids, side="left")
    count = np.searchsorted(ids, runs.run_ids, side="right") - first
    group = np.where(count > 0, np.append(order, -1)[np.minimum(first, len(order))], -1)
    return group.astype(np.int64), count <= 1


def _counts(status: Ints) -> Counts:
    by_status = np.bincount(status, minlength=len(STATUSES))
    failed = int(by_status[IS_FAILURE].sum())
    ok, non_finite = (int(by_status[STATUSES.index(kind)]) for kind in (RunStatus.OK, RunStatus.NON_FINITE))
    return Counts(rows=len(status), ok=ok, non_finite=non_finite, failed=failed)
