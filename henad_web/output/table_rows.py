"""Where rows of runs stand in the tables of a sweep, for whoever copies them or goes on behind them.

Owns these positions as values, and finding them by the indexes of the tables or while they are written. Judges no row:
which ones a resume keeps is `resume.kept_runs`' business.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from henad_web.explore.outcomes import RunStatus
from henad_web.output.names import RUNS, SERIES
from henad_web.output.own_tables import read_own_tables
from henad_web.output.record import Counts
from henad_web.output.table_index import IS_FAILURE, STATUSES, recorded_indexes

if TYPE_CHECKING:
    from henad_web.output.manifest import Manifest
    from henad_web.output.own_tables import OwnIndex, OwnTables
    from henad_web.output.store import ResultsReader, Stamp
    from henad_web.output.table_index import Ints, RunsIndex, SeriesCadence, SeriesIndex

__all__ = [
    "KeptTables",
    "Stretches",
    "TableEnds",
    "TableRows",
    "WrittenRows",
    "all_rows",
    "rows_at",
    "run_groups",
    "whole_tables",
]


@dataclass(frozen=True, slots=True, eq=False)
class Stretches:
    """Where the rows of some runs stand in one file; arrays int64 ``(runs,)``.

    Attributes:
        starts: Offset of the first.
        ends: Offset behind the last; the same for a run without any.
        is_canonical: Whether the file is written as a sweep writes it, so that its rows can be copied as bytes.
    """

    starts: Ints
    ends: Ints
    is_canonical: bool

    @property
    def is_in_order(self) -> bool:
        """Whether the file has the rows in this order."""
        return bool(np.all(np.diff(self.starts[self.ends > self.starts]) >= 0))


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class TableRows:
    """Rows of all tables of a sweep, by ascending run id; every array is int64 ``(rows,)``.

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
        own: Where the rows stand in the files of the model's own tables, by the name of the file.
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
    own: Mapping[str, Stretches] = field(default_factory=dict)

    def stretches(self, name: str) -> Stretches:
        """Return where the rows stand in the file `name`; those of a file that is not there are none."""
        if name == RUNS:
            return Stretches(self.run_starts, self.run_ends, self.runs_are_canonical)
        if name == SERIES:
            return Stretches(self.series_starts, self.series_ends, self.series_are_canonical)
        nowhere = np.zeros(len(self.run_ids), np.int64)
        return self.own.get(name, Stretches(nowhere, nowhere, True))

    @property
    def _all_stretches(self) -> list[Stretches]:
        return [self.stretches(name) for name in (RUNS, SERIES, *self.own)]

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
        """Bytes of the rows in all files."""
        return sum(int(np.sum(found.ends - found.starts)) for found in self._all_stretches)

    @property
    def is_in_order(self) -> bool:
        """Whether every file has the rows in this order."""
        return all(found.is_in_order for found in self._all_stretches)

    def flags(self, run_count: int) -> bytearray:
        """Return one byte a run of the plan, 1 for one whose rows these are."""
        held = np.zeros(run_count, np.uint8)
        held[self.run_ids] = 1
        return bytearray(held.tobytes())


class WrittenRows:
    """Where a writer put the rows of each run, in the order it wrote them; 8 bytes a run and 8 more a file.

    Args:
        files: Names of the files: runs.csv, series.csv, then those of the model's own tables.
    """

    def __init__(self, files: Sequence[str]) -> None:
        self._files, self._sizes = tuple(files), array("q")

    def add(self, run_id: int, sizes: Iterable[int]) -> None:
        """Note that the rows of run `run_id` came next, of so many bytes in each file."""
        self._sizes.append(run_id)
        self._sizes.extend(sizes)

    def in_order(self, headers: Sequence[int], counts: Counts) -> TableRows:
        """Return the rows by ascending run id, behind headers of so many bytes in each file."""
        run_ids, *columns = np.array(self._sizes, np.int64).reshape(-1, len(self._files) + 1).T
        order = np.argsort(run_ids, kind="stable")
        found = {}
        for name, header, sizes in zip(self._files, headers, columns, strict=True):
            ends = header + np.cumsum(sizes)
            found[name] = Stretches((ends - sizes)[order], ends[order], True)
        runs, series = found.pop(RUNS), found.pop(SERIES)
        return TableRows(
            run_ids=run_ids[order],
            written_ids=run_ids[order],
            run_starts=runs.starts,
            run_ends=runs.ends,
            series_starts=series.starts,
            series_ends=series.ends,
            counts=counts,
            runs_are_canonical=True,
            series_are_canonical=True,
            own=found,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TableEnds:
    """Offsets at which tables can be cut so that they hold certain rows and nothing else.

    Attributes:
        runs: That of runs.csv.
        series: That of series.csv.
        own: Those of the files of the model's own tables, by name.
    """

    runs: int
    series: int
    own: Mapping[str, int] = field(default_factory=dict)


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
    own = read_own_tables(reader, manifest.columns)
    return rows_at(runs, series, own, np.arange(len(runs.run_ids)), runs.run_ids)


def rows_at(runs: RunsIndex, series: SeriesIndex, own: OwnTables, positions: Ints, run_ids: Ints) -> TableRows:
    """Return the rows at `positions` of `runs`, by their new `run_ids`.

    Args:
        runs: Index of runs.csv.
        series: Index of series.csv.
        own: Indexes of the files of the model's own tables.
        positions: Which rows of `runs`, in any order, perhaps repeated.
        run_ids: Id that each of them gets.
    """
    order = np.argsort(run_ids, kind="stable")
    positions, run_ids = positions[order], run_ids[order]
    samples = _stretches(runs, series, positions)
    return TableRows(
        run_ids=run_ids,
        written_ids=runs.run_ids[positions],
        run_starts=runs.starts[positions],
        run_ends=runs.ends[positions],
        series_starts=samples.starts,
        series_ends=samples.ends,
        counts=_counts(runs.status[positions]),
        runs_are_canonical=runs.is_canonical,
        series_are_canonical=series.is_canonical,
        own={name: _stretches(runs, index, positions) for name, index in own.indexes.items()},
    )


def _stretches(runs: RunsIndex, index: SeriesIndex | OwnIndex, positions: Ints) -> Stretches:
    groups = run_groups(runs, index)[0][positions]
    return Stretches(np.append(index.starts, 0)[groups], np.append(index.ends, 0)[groups], index.is_canonical)


def run_groups(runs: RunsIndex, index: SeriesIndex | OwnIndex) -> tuple[Ints, NDArray[np.bool_]]:
    """Return the group of each row of `runs` in `index`, -1 for none, and whether it has at most one."""
    order = np.argsort(index.run_ids, kind="stable")
    ids = index.run_ids[order]
    first = np.searchsorted(ids, runs.run_ids, side="left")
    count = np.searchsorted(ids, runs.run_ids, side="right") - first
    group = np.where(count > 0, np.append(order, -1)[np.minimum(first, len(order))], -1)
    return group.astype(np.int64), count <= 1


def whole_tables(runs: RunsIndex, own: OwnTables) -> NDArray[np.bool_]:
    """Return for each row of `runs` whether all rows of the model's own tables are there that its run has reported."""
    whole = np.ones(len(runs.run_ids), np.bool_)
    if not own.indexes:
        return whole
    *tables, counted = own.indexes.values()
    record, is_single = run_groups(runs, counted)
    whole &= is_single & (record >= 0) & (np.append(counted.rows, 0)[record] == 1)
    # A run with several records has none that counts: the groups of such a table are no positions of its records.
    position = np.append(np.cumsum(counted.rows) - counted.rows, 0)[record]
    for column, index in enumerate(tables):
        group, is_single = run_groups(runs, index)
        expected = np.append(own.counts[:, column], -1)[position]
        whole &= is_single & (np.append(index.rows, 0)[group] == expected)
    return whole


def _counts(status: Ints) -> Counts:
    by_status = np.bincount(status, minlength=len(STATUSES))
    failed = int(by_status[IS_FAILURE].sum())
    ok, non_finite = (int(by_status[STATUSES.index(kind)]) for kind in (RunStatus.OK, RunStatus.NON_FINITE))
    return Counts(rows=len(status), ok=ok, non_finite=non_finite, failed=failed)
