"""Tables read back: the rows of runs.csv as typed columns, a batch at a time, and those of series.csv as numbers.

Owns which type each column has and what its cells may hold, for whoever reads a table: opened results, a resume, a
reuse, a merge, a verification. Judges no run, keeps no batch and repairs nothing.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from henad_web.errors import TableDamagedError
from henad_web.explore.columns import LEADING, MEASURED, SERIES_LEADING, TIMINGS
from henad_web.output.cells import NUMBER, Cells, cells_for
from henad_web.output.names import RUNS, SERIES
from henad_web.output.records import RecordReader, TableRecord
from henad_web.output.tables import RunsLayout, check_separator

__all__ = [
    "BATCH",
    "RunsBatch",
    "RunsReader",
    "SeriesReader",
    "SeriesRows",
    "check_width",
    "plain_blocks",
    "series_numbers",
]

BATCH = 16384
"""Records held as text at once."""

_BLOCK_BYTES = 4 << 20
"""Bytes of a table of many rows held at once."""

_KINDS = dict(zip(LEADING, ("count", "count", "count", "count", "seed", "key"), strict=True))
_KINDS |= dict(zip(MEASURED, ("status", "stop_reason", "count", "count", *["number"] * len(TIMINGS)), strict=True))

Int64s = NDArray[np.int64]


def plain_blocks(
    stream: BinaryIO, start: int, table: str, row: str, *, block_bytes: int | None = None
) -> Iterator[tuple[bytes | None, int, int]]:
    """Yield whole lines of a table in blocks, with the offset and the record number of the first; a torn end not.

    A block has nothing quoted, no blank line and no other line ends than LF. From the first one on that has, and so is
    to be read record by record, there is no block: None comes in its place, last.

    Args:
        stream: The file.
        start: Offset behind the header.
        table: Name of the file, for errors.
        row: What a row is, for errors.
        block_bytes: How much is read at once; some megabytes when None.

    Raises:
        TableDamagedError: A line is longer than any row.
    """
    stream.seek(start)
    offset, number, held = start, 2, b""
    while block := stream.read(block_bytes or _BLOCK_BYTES):
        is_plain = b'"' not in block and b"\r" not in block and b"\n\n" not in block
        if not is_plain or (not held and block.startswith(b"\n")):
            yield None, offset, number
            return
        block = held + block
        whole = block.rfind(b"\n") + 1
        held = block[whole:]
        if len(held) > _BLOCK_BYTES:
            came = held[:_BLOCK_BYTES].decode(errors="replace")
            raise TableDamagedError(table, number, came=came, expected=f"a line feed behind {row}")
        if whole:
            lines = block[:whole]
            yield lines, offset, number
            offset, number = offset + whole, number + lines.count(b"\n")


def check_width(record: TableRecord, fields: Sequence[str], width: int) -> None:
    """Make sure that `record` has `width` fields.

    Raises:
        TableDamagedError: It has more or fewer.
    """
    if len(fields) != width:
        expected = f"{width} fields and not {len(fields)}"
        raise TableDamagedError(record.table, record.number, came=",".join(fields), expected=expected)


@dataclass(frozen=True, slots=True, eq=False)
class RunsBatch:
    """Some neighbouring rows of runs.csv.

    Attributes:
        columns: Values of each column, ``(rows,)``, in the order of the header.
        starts: Offset of each row in the file.
        ends: Offset behind it.
    """

    columns: list[NDArray[Any]]
    starts: Int64s
    ends: Int64s


class RunsReader:
    """The runs.csv in a stream, its header read.

    Attributes:
        header: Its columns, None without a whole header.
        header_end: Offset behind the header.
        is_canonical: Whether what was read so far is written as a sweep writes it.
    """

    def __init__(self, stream: BinaryIO, layout: RunsLayout) -> None:
        """Read the header.

        Raises:
            TableDamagedError: It is no record of a table.
        """
        self._records = RecordReader(stream, RUNS)
        self._rest = iter(self._records)
        first = next(self._rest, None)
        self.header = None if first is None else tuple(first.fields)
        check_separator(RUNS, self.header or (), LEADING[0])
        self.header_end, self._layout = self._records.end, layout
        self.is_canonical = first is None or first.is_canonical

    @property
    def torn_bytes(self) -> int:
        """Bytes of the torn tail, known after the last batch."""
        return self._records.torn_bytes

    def layout(self) -> RunsLayout:
        """Return what its columns are, by its header.

        Raises:
            TableDamagedError: The header is not that of the layout it was to have.
        """
        return self._layout if self.header is None else self._layout.checked(self.header)

    def batches(self) -> Iterator[RunsBatch]:
        """Yield the rows in the order of the file; the first batch may be empty.

        Raises:
            TableDamagedError: The header is another one, or a record other than a torn last one is no row.
        """
        cells = _cells_of(self.layout())
        held: list[TableRecord] = []
        yield self._batch(held, cells)
        for record in self._rest:
            held.append(record)
            if len(held) == BATCH:
                yield self._batch(held, cells)
                held = []
        if held:
            yield self._batch(held, cells)

    def _batch(self, records: Sequence[TableRecord], cells: Sequence[Cells]) -> RunsBatch:
        rows = [record.fields for record in records]
        for record, fields in zip(records, rows, strict=True):
            check_width(record, fields, len(cells))
        self.is_canonical = self.is_canonical and all(record.is_canonical for record in records)
        texts = list(zip(*rows, strict=True)) or [()] * len(cells)
        first = records[0].number if records else 0
        return RunsBatch(
            columns=[cell.array(column, first) for cell, column in zip(cells, texts, strict=True)],
            starts=np.array([record.start for record in records], np.int64),
            ends=np.array([record.end for record in records], np.int64),
        )


def _cells_of(layout: RunsLayout) -> list[Cells]:
    kinds = [_KINDS[name] for name in LEADING]
    kinds += [*layout.param_kinds.values(), *["tick"] * len(layout.actions or ())]
    kinds += [*[_KINDS[name] for name in MEASURED], *["number"] * len(layout.reducers), "text"]
    return [cells_for(kind, name, RUNS) for kind, name in zip(kinds, layout.header, strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class SeriesRows:
    """Some neighbouring rows of series.csv; every array is int64 ``(rows,)``.

    Attributes:
        run_ids: Run of each row.
        ticks: Its tick.
        starts: Offset of the row in the file.
        ends: Offset behind it.
    """

    run_ids: Int64s
    ticks: Int64s
    starts: Int64s
    ends: Int64s


class SeriesReader:
    """The series.csv in a stream, its header read.

    Blocks in which nothing is quoted or blank and lines end with LF, as a sweep writes them, are read whole by one
    pattern; from the first other one on, record by record.

    Attributes:
        header: Its columns, None without a whole header.
        header_end: Offset behind the header.
        is_canonical: Whether what was read so far is written as a sweep writes it.
    """

    def __init__(self, stream: BinaryIO) -> None:
        """Read the header.

        Raises:
            TableDamagedError: It is no record of a table.
        """
        records = RecordReader(stream, SERIES)
        first = next(iter(records), None)
        self.header = None if first is None else tuple(first.fields)
        check_separator(SERIES, self.header or (), SERIES_LEADING[0])
        self.header_end, self._stream = records.end, stream
        self.is_canonical = first is None or first.is_canonical

    def rows(self, block_bytes: int | None = None) -> Iterator[SeriesRows]:
        """Yield the rows in the order of the file, of `block_bytes` at once, as `plain_blocks`; a torn last one not.

        Raises:
            TableDamagedError: A record other than a torn last one is no row.
        """
        if self.header is None:
            return
        for block, offset, number in plain_blocks(
            self._stream, self.header_end, SERIES, "a few numbers", block_bytes=block_bytes
        ):
            if block is None:
                yield from self._row_by_row(offset, number)
            else:
                yield _plain_rows(block, self.header, offset, number)

    def _row_by_row(self, offset: int, number: int) -> Iterator[SeriesRows]:
        self._stream.seek(offset)
        header = self.header or ()
        held: list[TableRecord] = []
        for record in RecordReader(self._stream, SERIES, start=offset, number=number, width=len(header)):
            held.append(record)
            if len(held) == BATCH:
                yield self._parsed(held, header)
                held = []
        if held:
            yield self._parsed(held, header)

    def _parsed(self, records: Sequence[TableRecord], header: Sequence[str]) -> SeriesRows:
        self.is_canonical = self.is_canonical and all(record.is_canonical for record in records)
        rows = []
        for record in records:
            fields = record.fields
            check_width(record, fields, len(header))
            _check_fields(record.number, fields, header)
            rows.append((*map(int, fields[: len(SERIES_LEADING)]), record.start, record.end))
        return SeriesRows(*np.array(rows, np.int64).T)


def series_numbers(data: bytes, header: Sequence[str], number: int) -> tuple[Int64s, NDArray[np.float64]]:
    """Return ticks, ``(rows,)``, and values, ``(rows, columns)``, of `data`, whole canonical rows from `number` on.

    An empty cell is NaN.

    Raises:
        TableDamagedError: They are no such rows.
    """
    count = len(header) - len(SERIES_LEADING)
    row = np.dtype([("ids", np.int64, (len(SERIES_LEADING),)), *([("values", np.float64, (count,))] if count else [])])
    try:
        text = io.StringIO(_EMPTY_CELL.sub(b",nan", data).decode("ascii"))
        table = np.loadtxt(text, row, delimiter=",", comments=None, ndmin=1)
    except ValueError as error:
        _plain_rows(data, header, 0, number)
        raise TableDamagedError(SERIES, number, came=None, expected="rows of numbers") from error
    values = table["values"] if count else np.zeros((len(table), 0))
    return table["ids"][:, -1].copy(), np.ascontiguousarray(values)


_EXPECTED = ("a whole number of up to 18 digits", "a number or nothing")
_EMPTY_CELL = re.compile(rb",(?=[,\n])")
_LEAD = re.compile(r"(?:0|[1-9][0-9]{0,17}+)")
_VALUE = re.compile(rf"(?:{NUMBER}|)")


@cache
def _pattern_of(width: int) -> re.Pattern[bytes]:
    # Measured: written out, the cells match twice as fast as repeated.
    cells = ",".join([_LEAD.pattern] * len(SERIES_LEADING) + [_VALUE.pattern] * (width - len(SERIES_LEADING)))
    return re.compile(rf"(?:{cells}\n)*+".encode())


def _plain_rows(block: bytes, header: Sequence[str], offset: int, number: int) -> SeriesRows:
    """Return the rows of `block`, whole lines without quotes, the first of which is the record `number`."""
    found = _pattern_of(len(header)).match(block)
    read = found.end() if found else 0
    if read < len(block):
        line, _, _ = block[read:].partition(b"\n")
        _refuse(line, number + block[:read].count(b"\n"), header)
    letters = np.frombuffer(block, np.uint8)
    separators = np.flatnonzero((letters == ord(",")) | (letters == ord("\n"))).reshape(-1, len(header))
    ends = separators[:, -1] + 1
    starts = np.concatenate([[0], ends[:-1]])
    ids = _numbers(letters, starts, separators[:, 0])
    ticks = _numbers(letters, separators[:, 0] + 1, separators[:, 1])
    return SeriesRows(ids, ticks, (starts + offset).astype(np.int64), (ends + offset).astype(np.int64))


def _numbers(letters: NDArray[np.uint8], starts: NDArray[Any], ends: NDArray[Any]) -> Int64s:
    """Return the whole numbers whose digits stand from `starts` to before `ends`."""
    lengths = ends - starts
    numbers = np.zeros(len(starts), np.int64)
    for position in range(int(lengths.max(initial=0))):
        inside = position < lengths
        numbers[inside] = numbers[inside] * 10 + letters[starts[inside] + position] - ord("0")
    return numbers


def _refuse(line: bytes, number: int, header: Sequence[str]) -> None:
    record = TableRecord(SERIES, number, 0, 0, line + b"\n")
    fields = record.fields
    check_width(record, fields, len(header))
    _check_fields(number, fields, header)


def _check_fields(number: int, fields: Sequence[str], header: Sequence[str]) -> None:
    for position, (field, name) in enumerate(zip(fields, header, strict=True)):
        is_value = position >= len(SERIES_LEADING)
        if (_VALUE if is_value else _LEAD).fullmatch(field) is None:
            raise TableDamagedError(SERIES, number, name, came=field, expected=_EXPECTED[is_value])
