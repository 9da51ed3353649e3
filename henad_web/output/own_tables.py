"""The files of a model's own tables: their headers, and where the rows of each run stand in them.

A run has any number of rows in such a table, also none, so that nothing in the table tells whether they are all there.
`tables/rows.csv` tells it: one record a run with its number of rows in each table, written behind these rows and before
the run's row in runs.csv. Owns both forms. Reads no cell of a model's column.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
from numpy.typing import NDArray

from henad_web.errors import TableDamagedError
from henad_web.explore.cell_texts import csv_line
from henad_web.explore.columns import SERIES_LEADING
from henad_web.output.cells import cells_for
from henad_web.output.names import TABLE_ROWS, own_table_name
from henad_web.output.records import RecordReader, TableRecord
from henad_web.output.table_index import Groups, opened_or_empty
from henad_web.output.table_reading import BATCH, SeriesRows, check_width, plain_blocks

if TYPE_CHECKING:
    from henad_web.explore.outcomes import RunOutcome
    from henad_web.output.manifest import ColumnsRecord
    from henad_web.output.store import ResultsReader
    from henad_web.output.table_index import Ints

__all__ = [
    "OwnFile",
    "OwnIndex",
    "OwnTables",
    "NO_OWN_TABLES",
    "index_own",
    "own_file_names",
    "own_files",
    "own_rows",
    "read_own_tables",
]

_LONGEST_ID = 18
"""Digits of the longest run id."""


@dataclass(frozen=True, slots=True)
class OwnFile:
    """One file beside the four: a model's own table, or the count of rows of all of them.

    Attributes:
        name: Name of the file, its folder first.
        header: Its columns.
    """

    name: str
    header: tuple[str, ...]

    @property
    def first_line(self) -> bytes:
        """Its header as bytes."""
        return csv_line(self.header)


def own_files(columns: ColumnsRecord) -> tuple[OwnFile, ...]:
    """Return the files of the tables of `columns` in order, the count of their rows last; none without tables."""
    tables = columns.own_tables
    files = [OwnFile(own_table_name(id), (*SERIES_LEADING, *names)) for id, names in tables.items()]
    return (*files, OwnFile(TABLE_ROWS, (SERIES_LEADING[0], *tables))) if files else ()


def own_file_names(tables: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the files of `tables`, ids of a model's own, the count of their rows last; none of none."""
    names = tuple(map(own_table_name, tables))
    return (*names, TABLE_ROWS) if names else ()


def own_rows(outcome: RunOutcome) -> dict[str, bytes]:
    """Return what one run adds to each file of its model's own tables, in the order in which it is to be written."""
    if not outcome.tables:
        return {}
    added = {own_table_name(id): table.data for id, table in outcome.tables.items()}
    counts = ",".join(str(table.rows) for table in outcome.tables.values())
    return {**added, TABLE_ROWS: f"{outcome.run.run_id},{counts}\n".encode()}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OwnIndex:
    """The groups of neighbouring rows of one run id in a file, in the order of the file; arrays int64 ``(groups,)``.

    Attributes:
        header: Columns of the table, None without a whole header.
        header_end: Offset behind the header.
        is_canonical: Whether lines end and fields are quoted as a sweep does it.
        run_ids: Id as written.
        rows: Rows of the group.
        starts: Offset of its first row.
        ends: Offset behind its last row.
    """

    header: tuple[str, ...] | None
    header_end: int
    is_canonical: bool
    run_ids: Ints
    rows: Ints
    starts: Ints
    ends: Ints


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class OwnTables:
    """The files of a model's own tables as they stand.

    Attributes:
        indexes: Index of each file by its name, the count of rows last; empty without tables.
        counts: Rows of each record of the count, int64 ``(records, tables)``.
    """

    indexes: Mapping[str, OwnIndex] = field(default_factory=dict)
    counts: NDArray[np.int64] = field(default_factory=lambda: np.zeros((0, 0), np.int64))


NO_OWN_TABLES = OwnTables()


def read_own_tables(reader: ResultsReader, columns: ColumnsRecord) -> OwnTables:
    """Return the index of every file of `columns` that `reader` reads; one that is missing has no rows.

    A file with another header has no rows either: what its columns are is all there is to say of it.

    Raises:
        TableDamagedError: A record other than a torn last one is no row.
    """
    files = own_files(columns)
    if not files:
        return NO_OWN_TABLES
    indexes = {}
    for file in files:
        with opened_or_empty(reader, file.name) as stream:
            indexes[file.name] = index_own(stream, file)
    with opened_or_empty(reader, TABLE_ROWS) as stream:
        return OwnTables(indexes=indexes, counts=_counts(stream, files[-1]))


def index_own(stream: BinaryIO, file: OwnFile) -> OwnIndex:
    """Return the index of the `file` that `stream` reads; a torn tail is left out.

    Raises:
        TableDamagedError: A record other than a torn last one has another number of fields, or no run id.
    """
    reader, groups = _Reader(stream, file), Groups(None)
    if reader.header == file.header:
        for rows in reader.rows():
            groups.add(rows)
    found = groups.columns()
    return OwnIndex(
        header=reader.header,
        header_end=reader.header_end,
        is_canonical=reader.is_canonical,
        run_ids=found["run_ids"],
        rows=found["rows"],
        starts=found["starts"],
        ends=found["ends"],
    )


class _Reader:
    """The rows of a file: run id and place of each.

    Blocks in which nothing is quoted or blank and lines end with LF are read whole; from the first other one on, record
    by record.
    """

    def __init__(self, stream: BinaryIO, file: OwnFile) -> None:
        records = RecordReader(stream, file.name)
        first = next(iter(records), None)
        self.header = None if first is None else tuple(first.fields)
        self.header_end, self._stream, self._file = records.end, stream, file
        self.is_canonical = first is None or first.is_canonical
        self._id = cells_for("count", SERIES_LEADING[0], file.name)

    def rows(self) -> Iterator[SeriesRows]:
        for block, offset, number in plain_blocks(self._stream, self.header_end, self._file.name, "a row"):
            if block is None:
                yield from self._row_by_row(offset, number)
            else:
                yield self._plain_rows(block, offset, number)

    def _plain_rows(self, block: bytes, offset: int, number: int) -> SeriesRows:
        letters = np.frombuffer(block, np.uint8)
        ends = np.flatnonzero(letters == ord("\n"))
        starts = np.concatenate([[0], ends[:-1] + 1])
        commas = np.flatnonzero(letters == ord(","))
        first = np.searchsorted(commas, starts)
        width = np.diff(np.append(first, len(commas))) + 1
        wrong = np.flatnonzero(width != len(self._file.header))
        if len(wrong):
            self._refuse(block, starts, ends, int(wrong[0]), number)
        run_ids, is_id = _whole_numbers(letters, starts, commas[first])
        if not is_id.all():
            self._refuse(block, starts, ends, int(np.argmin(is_id)), number)
        places = ((starts + offset).astype(np.int64), (ends + 1 + offset).astype(np.int64))
        return SeriesRows(run_ids, np.arange(len(run_ids)), *places)

    def _refuse(
        self, block: bytes, starts: NDArray[np.intp], ends: NDArray[np.intp], position: int, number: int
    ) -> None:
        raw = block[int(starts[position]) : int(ends[position]) + 1]
        self._run_id(TableRecord(self._file.name, number + position, 0, len(raw), raw))

    def _run_id(self, record: TableRecord) -> int:
        fields = record.fields
        check_width(record, fields, len(self._file.header))
        if len(fields[0]) > _LONGEST_ID:
            raise TableDamagedError(
                self._file.name, record.number, self._id.column, came=fields[0], expected=self._id.expected
            )
        return int(self._id.value(fields[0], record.number))

    def _row_by_row(self, offset: int, number: int) -> Iterator[SeriesRows]:
        self._stream.seek(offset)
        held: list[tuple[int, int, int]] = []
        reader = RecordReader(self._stream, self._file.name, start=offset, number=number, width=len(self._file.header))
        for record in reader:
            self.is_canonical = self.is_canonical and record.is_canonical
            held.append((self._run_id(record), record.start, record.end))
            if len(held) == BATCH:
                yield _batch(held)
                held = []
        if held:
            yield _batch(held)


def _batch(rows: Sequence[tuple[int, int, int]]) -> SeriesRows:
    run_ids, starts, ends = np.array(rows, np.int64).T
    return SeriesRows(run_ids, np.arange(len(rows)), starts, ends)


def _whole_numbers(
    letters: NDArray[np.uint8], starts: NDArray[np.intp], ends: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Return the numbers whose digits stand from `starts` to before `ends`, and which of them are whole numbers."""
    lengths = ends - starts
    numbers = np.zeros(len(starts), np.int64)
    are_whole = (lengths >= 1) & (lengths <= _LONGEST_ID)
    are_whole &= (letters[starts] != ord("0")) | (lengths == 1)
    for position in range(min(int(lengths.max(initial=0)), _LONGEST_ID)):
        inside = position < lengths
        digits = letters[starts[inside] + position].astype(np.int64) - ord("0")
        numbers[inside] = numbers[inside] * 10 + digits
        are_whole[inside] &= (digits >= 0) & (digits <= 9)
    return numbers, are_whole


def _counts(stream: BinaryIO, file: OwnFile) -> NDArray[np.int64]:
    cells = [cells_for("count", name, file.name) for name in file.header[1:]]
    rows = []
    for record in RecordReader(stream, file.name):
        fields = record.fields
        if record.number == 1 and tuple(fields) != file.header:
            break
        if record.number > 1:
            rows.append([cell.value(text, record.number) for cell, text in zip(cells, fields[1:], strict=True)])
    return np.array(rows, np.int64).reshape(len(rows), len(cells))
