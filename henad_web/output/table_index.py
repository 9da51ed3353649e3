"""Where the rows of every run stand in runs.csv and series.csv, as columns of numbers.

Owns one pass over each table that fits any size of sweep into a few bytes a run. Judges nothing: which rows are kept
is `resume.kept_runs`' business.
"""

from __future__ import annotations

import io
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray

from henad_web.explore.columns import LEADING, MEASURED
from henad_web.explore.outcomes import RunStatus
from henad_web.output.manifest import layout_of
from henad_web.output.names import RUNS, SERIES
from henad_web.output.table_reading import Int64s, RunsReader, SeriesReader, SeriesRows
from henad_web.output.tables import RunsLayout, check_header, series_header

if TYPE_CHECKING:
    from henad_web.explore.spec import SweepSpec
    from henad_web.output.manifest import Manifest
    from henad_web.output.store import ResultsReader

__all__ = [
    "Groups",
    "IS_FAILURE",
    "STATUSES",
    "Ints",
    "RunsIndex",
    "SeriesCadence",
    "SeriesIndex",
    "index_runs",
    "index_series",
    "opened_or_empty",
    "read_indexes",
    "recorded_indexes",
    "series_indexing",
]

STATUSES = tuple(RunStatus)
"""Statuses by the number an index gives them."""

IS_FAILURE = np.array([status.is_failure for status in STATUSES])
"""Whether each of `STATUSES` is a failure."""

_BUILD_FAULT = "while building the model"

Ints = Int64s


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RunsIndex:
    """The rows of runs.csv in the order of the file; every array is ``(rows,)``.

    Attributes:
        header: Columns of the table, None without a whole header.
        header_end: Offset behind the header.
        is_canonical: Whether every byte is as a sweep writes it.
        run_ids: Id as written.
        config_ids: Config.
        reps: Replicate.
        keys: Run key, uint64.
        status: Position of the status in `STATUSES`.
        ticks: Last tick reached.
        unbuilt: Whether the model was not built, so that there is no series.
        starts: Offset of the row.
        ends: Offset behind it.
    """

    header: tuple[str, ...] | None
    header_end: int
    is_canonical: bool
    run_ids: Ints
    config_ids: Ints
    reps: Ints
    keys: NDArray[np.uint64]
    status: Ints
    ticks: Ints
    unbuilt: NDArray[np.bool_]
    starts: Ints
    ends: Ints


def index_runs(stream: BinaryIO, layout: RunsLayout) -> RunsIndex:
    """Return the index of the runs.csv that `stream` reads; a torn tail is left out.

    A table whose header is not that of `layout` has no rows here: what its columns are is all there is to say of it.

    Raises:
        TableDamagedError: A record other than a torn last one is no row.
    """
    reader = RunsReader(stream, layout)
    parts = []
    for batch in reader.batches() if reader.header in (None, layout.header) else ():
        leading = dict(zip(LEADING, batch.columns, strict=False))
        measured = dict(zip(MEASURED, batch.columns[layout.measured :], strict=False))
        status = _codes(measured["status"])
        keys = np.array([int(key, 16) for key in leading["run_key"].tolist()], np.uint64)
        unbuilt = _unbuilt(status, measured["ticks"], batch.columns[-1])
        ids = (leading["run_id"], leading["config_id"], leading["rep"])
        parts.append((*ids, keys, status, measured["ticks"], unbuilt, batch.starts, batch.ends))
    columns = [np.concatenate(column) for column in zip(*parts, strict=True)] or [np.zeros(0, np.int64)] * 9
    names = ("run_ids", "config_ids", "reps", "keys", "status", "ticks", "unbuilt", "starts", "ends")
    return RunsIndex(
        header=reader.header,
        header_end=reader.header_end,
        is_canonical=reader.is_canonical,
        **dict(zip(names, columns, strict=True)),
    )


def _codes(texts: NDArray[np.str_]) -> Ints:
    """Return the position in `STATUSES` of each status."""
    codes = np.zeros(len(texts), np.int64)
    for code, status in enumerate(STATUSES):
        codes[texts == status.value] = code
    return codes


def _unbuilt(status: Ints, ticks: Ints, notes: NDArray[np.str_]) -> NDArray[np.bool_]:
    refused = (status == STATUSES.index(RunStatus.REFUSED)) & (ticks == 0)
    return np.asarray(IS_FAILURE[status] & (refused | np.char.startswith(notes, _BUILD_FAULT)))


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesCadence:
    """Which ticks of a run have a row in series.csv.

    Attributes:
        warmup: Tick of the first sample.
        stats_every: Ticks between samples.
        series_every: Ticks between rows, 0 for no rows.
        total: Last tick of a run.
    """

    warmup: int
    stats_every: int
    series_every: int
    total: int

    @classmethod
    def of(cls, spec: SweepSpec) -> SeriesCadence:
        """Return that of the runs of `spec`."""
        run, measure = spec.run, spec.measure
        return cls(
            warmup=run.warmup,
            stats_every=measure.stats_every,
            series_every=measure.series_cadence,
            total=run.warmup + run.steps,
        )

    def last_samples(self, ticks: Ints) -> Ints:
        """Return the last sample tick at or before each of `ticks`, -1 where there is none."""
        on_cadence = self.warmup + (ticks - self.warmup) // self.stats_every * self.stats_every
        last: Ints = np.where(ticks >= self.total, self.total, on_cadence)
        return np.where(ticks < self.warmup, -1, last)

    def rows(self, last_samples: Ints) -> Ints:
        """Return how many rows a run has whose last sample is at each of `last_samples`, -1 for no sample."""
        if not self.series_every:
            return np.zeros_like(last_samples)
        steps = last_samples - self.warmup
        rows: Ints = steps // self.series_every + 1 + (steps % self.series_every > 0)
        return np.where(last_samples < self.warmup, 0, rows)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SeriesIndex:
    """The groups of neighbouring rows of one run id in series.csv, in the order of the file; arrays ``(groups,)``.

    Attributes:
        header: Columns of the table, None without a whole header.
        header_end: Offset behind the header.
        is_canonical: Whether every byte is as a sweep writes it.
        run_ids: Id as written.
        rows: Rows of the group.
        last_ticks: Tick of its last row.
        regular: Whether all rows but the last stand at the warm-up and every `series_every` ticks from there, and the
            last behind them; without a cadence, whether each stands behind the one before.
        starts: Offset of its first row.
        ends: Offset behind its last row.
    """

    header: tuple[str, ...] | None
    header_end: int
    is_canonical: bool
    run_ids: Ints
    rows: Ints
    last_ticks: Ints
    regular: NDArray[np.bool_]
    starts: Ints
    ends: Ints

    @classmethod
    def of(cls, reader: SeriesReader, groups: Groups) -> SeriesIndex:
        """Return the index of a table that `reader` has read into `groups`."""
        return cls(
            header=reader.header,
            header_end=reader.header_end,
            is_canonical=reader.is_canonical,
            regular=groups.regular(),
            **groups.columns(),
        )

    @property
    def positions(self) -> dict[int, int]:
        """Position of the group of each run; of a run with several groups, the last."""
        return {run_id: position for position, run_id in enumerate(self.run_ids.tolist())}


def index_series(stream: BinaryIO, header: Sequence[str], cadence: SeriesCadence | None = None) -> SeriesIndex:
    """Return the index of the series.csv that `stream` reads; a torn tail is left out.

    A table with another header than `header` has no rows here: what its columns are is all there is to say of it.

    Raises:
        TableDamagedError: A record other than a torn last one is no row.
    """
    reader, groups = SeriesReader(stream), Groups(cadence)
    for rows in reader.rows() if reader.header == tuple(header) else ():
        groups.add(rows)
    return SeriesIndex.of(reader, groups)


def series_indexing(stream: BinaryIO, header: Sequence[str], block_bytes: int) -> Generator[None, None, SeriesIndex]:
    """Return what `index_series` does without a cadence, having yielded behind each `block_bytes` of the file.

    Raises:
        TableDamagedError: A record other than a torn last one is no row.
    """
    reader, groups = SeriesReader(stream), Groups(None)
    for rows in reader.rows(block_bytes) if reader.header == tuple(header) else ():
        groups.add(rows)
        yield
    return SeriesIndex.of(reader, groups)


def read_indexes(
    reader: ResultsReader, layout: RunsLayout, stats: Sequence[str], cadence: SeriesCadence
) -> tuple[RunsIndex, SeriesIndex]:
    """Return the indexes of the tables that `reader` reads; a table that is missing has no rows.

    Neither has one whose header is another one than `layout` and `stats` say: that is the caller's to refuse.

    Raises:
        TableDamagedError: A record other than a torn last one is no row.
    """
    with opened_or_empty(reader, RUNS) as stream:
        runs = index_runs(stream, layout)
    with opened_or_empty(reader, SERIES) as stream:
        return runs, index_series(stream, series_header(stats), cadence)


def recorded_indexes(
    reader: ResultsReader, manifest: Manifest, cadence: SeriesCadence
) -> tuple[RunsIndex, SeriesIndex]:
    """Return the indexes of the tables that `reader` reads, whose headers are those that `manifest` tells.

    Raises:
        TableDamagedError: A header is another one, or a record other than a torn last one is no row.
    """
    layout, stats = layout_of(manifest), manifest.columns.stats
    runs, series = read_indexes(reader, layout, stats, cadence)
    if runs.header is not None:
        layout.checked(runs.header)
    if series.header is not None:
        check_header(SERIES, series.header, series_header(stats))
    return runs, series


@contextmanager
def opened_or_empty(reader: ResultsReader, name: str) -> Iterator[BinaryIO]:
    """Open the file `name` of `reader`; one that is missing is empty."""
    if not reader.holds(name):
        yield io.BytesIO()
        return
    with reader.reader(name) as stream:
        yield stream


class Groups:
    """Gathers rows into groups of neighbouring rows of one run, some at a time.

    Args:
        cadence: Where the ticks of a group must stand; None for one behind the other.
    """

    def __init__(self, cadence: SeriesCadence | None) -> None:
        self._cadence = cadence
        self._parts: list[tuple[NDArray[np.int64], ...]] = []
        self._id, self._rows, self._tick = -1, 0, -1  # of the group that the next rows may go on with

    def add(self, rows: SeriesRows) -> None:
        """Take the next rows of the table."""
        ids, ticks = rows.run_ids, rows.ticks
        if not len(ids):
            return
        is_first = np.concatenate([[ids[0] != self._id], ids[1:] != ids[:-1]])
        firsts = np.flatnonzero(np.concatenate([[True], is_first[1:]]))
        counts = np.diff(np.append(firsts, len(ids))).astype(np.intp)
        before = 0 if is_first[0] else self._rows
        position = np.arange(len(ids), dtype=np.int64) - np.repeat(firsts, counts)
        position[: counts[0]] += before
        previous = np.concatenate([[-1 if is_first[0] else self._tick], ticks[:-1]])
        previous[firsts[1:]] = -1
        is_regular = np.logical_and.reduceat(self._fits(position, ticks, previous), firsts)
        lasts = np.append(firsts[1:], len(ids)) - 1
        columns = (counts.astype(np.int64), ticks[lasts], is_regular.astype(np.int64))
        self._parts.append((ids[firsts], *columns, rows.starts[firsts], rows.ends[lasts]))
        self._id, self._rows, self._tick = int(ids[-1]), int(position[-1]) + 1, int(ticks[-1])

    def _fits(self, position: Ints, ticks: Ints, previous: Ints) -> NDArray[np.bool_]:
        """Return whether each row, the `position`-th of its group, stands behind the `previous` one as it must."""
        behind = np.asarray(ticks > previous)
        if self._cadence is None:
            return behind
        # Only the last row may be off the cadence: each row answers for the one before it.
        expected = self._cadence.warmup + (position - 1) * self._cadence.series_every
        return np.asarray(behind & ((position == 0) | (previous == expected)))

    def columns(self) -> dict[str, NDArray[np.int64]]:
        """Return the columns of an index, the parts of groups that stood in several blocks joined."""
        ids, rows, ticks, _, starts, ends = self._joined()
        firsts, lasts = _edges(ids)
        return {
            "run_ids": ids[firsts],
            "rows": np.add.reduceat(rows, firsts) if len(firsts) else rows,
            "last_ticks": ticks[lasts],
            "starts": starts[firsts],
            "ends": ends[lasts],
        }

    def regular(self) -> NDArray[np.bool_]:
        """Return whether all parts of each group are regular."""
        ids, _, _, regular, _, _ = self._joined()
        firsts, _ = _edges(ids)
        return np.minimum.reduceat(regular, firsts) > 0 if len(firsts) else np.zeros(0, np.bool_)

    def _joined(self) -> list[Ints]:
        return [np.concatenate([np.zeros(0, np.int64), *column]) for column in zip(*self._parts, strict=True)] or [
            np.zeros(0, np.int64)
        ] * 6


def _edges(ids: Ints) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the positions of the first and the last of each group of neighbouring equal `ids`.

    Positions are as wide as the platform's: `reduceat` takes no others.
    """
    firsts = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]])[: len(ids)])
    return firsts, (np.append(firsts[1:], len(ids))[: len(firsts)] - 1).astype(np.intp)
