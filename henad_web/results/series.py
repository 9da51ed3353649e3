"""series.csv read back run by run.

Owns the reading of a run's rows at the position that the index of the file tells. Keeps nothing but the index: a caller
decides what stays in memory. Knows nothing of rows that runs.csv lacks.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from io import BytesIO
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from henad_web.errors import TableDamagedError
from henad_web.output.names import SERIES
from henad_web.output.records import canonical_records
from henad_web.output.table_index import SeriesIndex, index_series, series_indexing
from henad_web.output.table_reading import SeriesReader, series_numbers
from henad_web.output.tables import check_header, series_header
from henad_web.results.errors import MissingColumnError

__all__ = ["RecordedSeries", "SeriesBlock", "SeriesColumns", "SeriesFile"]

_BLOCK_BYTES = 4 << 20
"""Bytes read at once."""

_PIECE_BYTES = 1 << 16
"""Bytes read at once for columns of all runs, between two of which a page can draw a frame."""

Int64s = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class RecordedSeries:
    """The samples kept of one run; ``series["Infected"]`` is one column.

    Attributes:
        ticks: Tick of each row, ascending, int64 ``(n,)``.
        values: Value of each stat column at it, float64 ``(n, columns)``; NaN where it was not finite.
        columns: Names of the stat columns.
    """

    ticks: Int64s
    values: NDArray[np.float64]
    columns: tuple[str, ...]

    def __repr__(self) -> str:
        """Return the facts on one line."""
        return f"<RecordedSeries of {len(self)} samples x {len(self.columns)} statistics>"

    @classmethod
    def empty(cls, columns: tuple[str, ...]) -> RecordedSeries:
        """Return a series of no rows."""
        return cls(np.zeros(0, np.int64), np.zeros((0, len(columns)), np.float64), columns)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.ticks)

    def __getitem__(self, column: str) -> NDArray[np.float64]:
        """Return the values of `column`, ``(n,)``.

        Raises:
            MissingColumnError: There is no such column.
        """
        if column not in self.columns:
            raise MissingColumnError(SERIES, column, self.columns)
        return self.values[:, self.columns.index(column)]


@dataclass(frozen=True, slots=True, eq=False)
class SeriesBlock:
    """The samples kept of several runs, one run after the other.

    Attributes:
        run_ids: Run of each row, int64 ``(n,)``.
        ticks: Its tick, int64 ``(n,)``; ascending within a run.
        values: Value of each stat column at it, float64 ``(n, columns)``; NaN where it was not finite.
    """

    run_ids: Int64s
    ticks: Int64s
    values: NDArray[np.float64]

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.ticks)

    def only(self, wanted: NDArray[np.bool_]) -> SeriesBlock:
        """Return the rows that are `wanted`, ``(n,)``; this block where all are."""
        if wanted.all():
            return self
        return SeriesBlock(self.run_ids[wanted], self.ticks[wanted], self.values[wanted])


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SeriesColumns:
    """Some stat columns of all runs, run after run in the order of the file.

    Attributes:
        run_ids: Id of each run that has rows, ``(runs,)``, also of those that have no row in runs.csv.
        counts: Rows of each, ``(runs,)``.
        ticks: Tick of each row, int64 ``(rows,)``.
        values: Values of each column asked for, float64 ``(rows,)``, NaN where they were not finite; by its name.
    """

    run_ids: Int64s
    counts: Int64s
    ticks: Int64s
    values: Mapping[str, NDArray[np.float64]]


class SeriesFile:
    """series.csv behind an opener, its header checked.

    Args:
        open_file: Opens the file; None for results without one, which have no rows then.
        columns: Stat columns it must have.

    Attributes:
        is_there: Whether there is such a file.

    Raises:
        TableDamagedError: Its columns are others.
    """

    def __init__(self, open_file: Callable[[], BinaryIO] | None, columns: tuple[str, ...]) -> None:
        self.is_there = open_file is not None
        self._open, self.columns = open_file or BytesIO, columns
        self._header = series_header(columns)
        self._ticks: Int64s | None = None
        self._kept: dict[str, NDArray[np.float64]] = {}
        if open_file is not None:
            with open_file() as stream:
                header = SeriesReader(stream).header
            if header is not None:
                check_header(SERIES, header, self._header)

    @cached_property
    def index(self) -> SeriesIndex:
        """Where each run's rows stand; the first access reads the file once. A torn last row is left out.

        Raises:
            TableDamagedError: A record is no row, or the rows of a run stand in two places.
        """
        with self._open() as stream:
            index = index_series(stream, self._header)
        _refuse_scattered(index)
        return index

    def indexing(self) -> Generator[None, None, SeriesIndex]:
        """Return the index, having yielded between bounded pieces of the file where it is read for the first time.

        Raises:
            TableDamagedError: A record is no row, or the rows of a run stand in two places.
        """
        if "index" not in self.__dict__:  # where `cached_property` keeps it
            with self._open() as stream:
                index = yield from series_indexing(stream, self._header, _PIECE_BYTES)
            _refuse_scattered(index)
            self.__dict__["index"] = index
        return self.index

    def read(self, position: int) -> RecordedSeries:
        """Return the rows of the run at `position` of the index.

        Raises:
            TableDamagedError: The file has changed since it was indexed.
        """
        return next(self.read_stretch(position, position + 1))

    def read_stretch(self, first: int, end: int) -> Iterator[RecordedSeries]:
        """Yield the rows of each run at the positions `first` to `end` - 1, reading a few megabytes at a time.

        Raises:
            TableDamagedError: The file has changed since it was indexed.
        """
        for start, after in self._stretches(first, end):
            ticks, values = self._parsed(start, after)
            cuts = np.cumsum(self.index.rows[start : after - 1])
            for part_ticks, part_values in zip(np.split(ticks, cuts), np.split(values, cuts), strict=True):
                yield RecordedSeries(part_ticks, part_values, self.columns)

    def read_blocks(self) -> Iterator[SeriesBlock]:
        """Yield every row of the file, a few megabytes of it at a time.

        Raises:
            TableDamagedError: The file has changed since it was indexed.
        """
        index = self.index
        for first, after in self._stretches(0, len(index.run_ids)):
            run_ids = np.repeat(index.run_ids[first:after], index.rows[first:after].astype(np.intp))
            yield SeriesBlock(run_ids, *self._parsed(first, after))

    def _stretches(self, first: int, end: int) -> Iterator[tuple[int, int]]:
        index = self.index
        while first < end:
            limit = int(index.starts[first]) + _BLOCK_BYTES
            after = max(first + 1, min(end, int(np.searchsorted(index.ends, limit, side="right"))))
            yield first, after
            first = after

    def read_columns(self, names: Sequence[str], budget: int | None = None) -> Generator[None, None, SeriesColumns]:
        """Return the columns `names` of all runs, having yielded between bounded pieces of the file.

        They stay in memory for the next call where all that was read so fits `budget`: 8 bytes a row for the ticks and
        for each column.

        Raises:
            TableDamagedError: The file has changed since it was indexed.
        """
        index, lacking = (yield from self.indexing()), [name for name in names if name not in self._kept]
        ticks, kept = self._ticks, dict(self._kept)
        if ticks is None or lacking:
            ticks, values = yield from self._read_all([self.columns.index(name) for name in lacking])
            kept |= dict(zip(lacking, values, strict=True))
        if budget is None or ticks.nbytes * (len(kept) + 1) <= budget:
            self._ticks, self._kept = ticks, kept
        found = {name: kept[name] for name in names}
        return SeriesColumns(run_ids=index.run_ids, counts=index.rows, ticks=ticks, values=found)

    def _read_all(self, places: Sequence[int]) -> Generator[None, None, tuple[Int64s, list[NDArray[np.float64]]]]:
        """Return the ticks of all rows and the columns at `places`."""
        index = self.index
        count = int(index.rows.sum())
        ticks, columns, done = np.empty(count, np.int64), [np.empty(count) for _ in places], 0
        for lines in self._pieces():
            number = done + 2
            data = lines if index.is_canonical else canonical_records(lines, SERIES, number)
            if not data:  # blank lines of a table that someone else has written
                continue
            part_ticks, part_values = series_numbers(data, self._header, number)
            stretch = slice(done, done + len(part_ticks))
            if stretch.stop > count:
                break
            ticks[stretch] = part_ticks
            for column, place in zip(columns, places, strict=True):
                column[stretch] = part_values[:, place]
            done = stretch.stop
            yield
        if done != count:
            raise TableDamagedError(SERIES, done + 2, came=None, expected="the rows that stood there a moment ago")
        return ticks, columns

    def _pieces(self) -> Iterator[bytes]:
        """Yield whole rows of all runs, a few at a time."""
        index = self.index
        if not len(index.starts):
            return
        left = int(index.ends[-1] - index.starts[0])
        with self._open() as stream:
            stream.seek(int(index.starts[0]))
            while left > 0:
                lines = stream.read(min(_PIECE_BYTES, left))
                left -= len(lines)
                if left and not lines.endswith(b"\n"):
                    rest = stream.readline()
                    lines, left = lines + rest, left - len(rest)
                if not lines:
                    return
                yield lines

    def _parsed(self, first: int, after: int) -> tuple[Int64s, NDArray[np.float64]]:
        index = self.index
        start, stop = int(index.starts[first]), int(index.ends[after - 1])
        with self._open() as stream:
            stream.seek(start)
            data = stream.read(stop - start)
        number = int(index.rows[:first].sum()) + 2
        if not index.is_canonical:
            data = canonical_records(data, SERIES, number)
        ticks, values = series_numbers(data, self._header, number)
        if len(ticks) != int(index.rows[first:after].sum()):
            raise TableDamagedError(SERIES, number, came=None, expected="the rows that stood there a moment ago")
        return ticks, values


def _refuse_scattered(index: SeriesIndex) -> None:
    _, first = np.unique(index.run_ids, return_index=True)
    if len(first) == len(index.run_ids):
        return
    is_again = np.ones(len(index.run_ids), bool)
    is_again[first] = False
    position = int(np.argmax(is_again))
    record = int(index.rows[:position].sum()) + 2
    came = str(index.run_ids[position])
    raise TableDamagedError(SERIES, record, "run_id", came=came, expected="the rows of each run in one place")
