"""series.csv read back run by run: where each run's rows stand, and the rows as arrays.

Owns the index of the file and the parsing of its rows. Keeps nothing but the index: a caller decides what stays in
memory. Knows nothing of rows that runs.csv lacks.
"""

from __future__ import annotations

import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from henad_web.output.names import SERIES
from henad_web.output.table_reading import RecordReader
from henad_web.results.errors import BadFieldError, MissingColumnError, MissingFileError

__all__ = ["RecordedSeries", "SeriesFile", "SeriesIndex"]

_BLOCK_BYTES = 4 << 20
"""Bytes read at once."""

_NEWLINE, _COMMA, _ZERO = 10, 44, 48
_MOST_DIGITS = 18
_EMPTY_CELL = re.compile(rb",(?=[,\n])")

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
class SeriesIndex:
    """Where the rows of each run stand, in the order of the file.

    Attributes:
        run_ids: Run of each stretch, int64 ``(runs,)``.
        starts: Offset of its first byte.
        ends: Offset behind its last line feed.
        rows: Number of its rows.
    """

    run_ids: Int64s
    starts: Int64s
    ends: Int64s
    rows: Int64s

    @property
    def places(self) -> dict[int, int]:
        """Position of each run."""
        return {run_id: place for place, run_id in enumerate(self.run_ids.tolist())}


class SeriesFile:
    """series.csv behind an opener, its header checked.

    Args:
        open_file: Opens the file; None for a folder without one.
        columns: Stat columns it must have.

    Raises:
        MissingColumnError: It has no run_id or tick.
        BadFieldError: Its stat columns are others.
    """

    def __init__(self, open_file: Callable[[], BinaryIO] | None, columns: tuple[str, ...]) -> None:
        self._open, self.columns = open_file, columns
        self._start = self._check_header()

    @cached_property
    def index(self) -> SeriesIndex:
        """Where each run's rows stand; the first access reads the file once. A torn last row is left out.

        Raises:
            BadFieldError: A row has no run id, or the rows of a run stand in two places.
        """
        parts = list(self._stretches())
        if not parts:
            return SeriesIndex(*[np.zeros(0, np.int64)] * 4)
        ids, starts, ends, rows = map(np.concatenate, zip(*parts, strict=True))
        # A run whose rows pass the end of a block stands there in two parts.
        first = np.concatenate([[True], ids[1:] != ids[:-1]])
        last = np.concatenate([first[1:], [True]])
        group = np.flatnonzero(first)
        index = SeriesIndex(ids[first], starts[first], ends[last], np.add.reduceat(rows, group))
        _refuse_scattered(index)
        return index

    def read(self, place: int) -> RecordedSeries:
        """Return the rows of the run at `place` of the index.

        Raises:
            BadFieldError: A field is no number.
        """
        return next(self.read_stretch(place, place + 1))

    def read_stretch(self, first: int, end: int) -> Iterator[RecordedSeries]:
        """Yield the rows of each run at the places `first` to `end` - 1, reading a few megabytes at a time.

        Raises:
            BadFieldError: A field is no number.
        """
        index = self.index
        while first < end:
            limit = int(index.starts[first]) + _BLOCK_BYTES
            after = max(first + 1, min(end, int(np.searchsorted(index.ends, limit, side="right"))))
            start, stop = int(index.starts[first]), int(index.ends[after - 1])
            before = int(index.rows[:first].sum())
            ticks, values = self._parse(self._bytes(start, stop), before + 2)
            cuts = np.cumsum(index.rows[first : after - 1])
            for part_ticks, part_values in zip(np.split(ticks, cuts), np.split(values, cuts), strict=True):
                yield RecordedSeries(part_ticks, part_values, self.columns)
            first = after

    def _bytes(self, start: int, stop: int) -> bytes:
        with self._opened() as stream:
            stream.seek(start)
            return stream.read(stop - start)

    def _opened(self) -> BinaryIO:
        if self._open is None:
            raise MissingFileError([SERIES], [])
        return self._open()

    def _check_header(self) -> int:
        if self._open is None:
            return 0
        with self._open() as stream:
            header = next(iter(RecordReader(stream)), None)
        if header is None:
            return 0
        names = header.fields
        for name in ("run_id", "tick"):
            if name not in names:
                raise MissingColumnError(SERIES, name, names)
        expected = ["run_id", "tick", *self.columns]
        for position in range(max(len(names), len(expected))):
            came = names[position] if position < len(names) else None
            wanted = expected[position] if position < len(expected) else None
            if came != wanted:
                allowed = "no further column" if wanted is None else f"the column '{wanted}'"
                raise BadFieldError(SERIES, 1, wanted or came or "", came=came, expected=allowed)
        return header.end

    def _stretches(self) -> Iterator[tuple[Int64s, Int64s, Int64s, Int64s]]:
        """Yield ids, starts, ends and row counts of the stretches of equal run ids, block by block."""
        if not self._start:
            return
        with self._opened() as stream:
            stream.seek(self._start)
            offset, held, record = self._start, b"", 2
            while block := stream.read(_BLOCK_BYTES):
                block = held + block
                whole = block.rfind(b"\n") + 1
                held = block[whole:]
                if whole:
                    ids, starts, ends = _rows_of(block[:whole], record)
                    first = np.flatnonzero(np.concatenate([[True], ids[1:] != ids[:-1]])).astype(np.int64)
                    last = np.concatenate([first[1:], [len(ids)]]) - 1
                    yield ids[first], starts[first] + offset, ends[last] + offset, last - first + 1
                    offset, record = offset + whole, record + len(ids)

    def _parse(self, data: bytes, record: int) -> tuple[Int64s, NDArray[np.float64]]:
        filled = _EMPTY_CELL.sub(b",nan", data)
        count = len(self.columns)
        row = np.dtype(
            [("run_id", np.int64), ("tick", np.int64), *([("values", np.float64, (count,))] if count else [])]
        )
        try:
            table = np.loadtxt(io.StringIO(filled.decode("ascii")), row, delimiter=",", comments=None, ndmin=1)
        except (ValueError, UnicodeDecodeError):
            self._refuse(data, record)
            raise
        values = table["values"] if count else np.zeros((len(table), 0))
        return table["tick"].copy(), np.ascontiguousarray(values)

    def _refuse(self, data: bytes, record: int) -> None:
        """Name the first field of `data` that is none."""
        names = ("run_id", "tick", *self.columns)
        for number, line in enumerate(data.decode(errors="replace").splitlines(), start=record):
            fields = line.split(",")
            if len(fields) != len(names):
                place = min(len(fields), len(names) - 1)
                came = fields[len(names)] if len(fields) > len(names) else None
                raise BadFieldError(SERIES, number, names[place], came=came, expected=f"{len(names)} fields")
            _refuse_fields(fields, names, number)


def _refuse_fields(fields: Sequence[str], names: Sequence[str], record: int) -> None:
    for place, (field, name) in enumerate(zip(fields, names, strict=True)):
        read, expected = (int, "a whole number") if place < 2 else (float, "a number or nothing")
        try:
            read(field or "nan" if place >= 2 else field)
        except ValueError as error:
            raise BadFieldError(SERIES, record, name, came=field, expected=expected) from error


def _rows_of(block: bytes, record: int) -> tuple[Int64s, Int64s, Int64s]:
    """Return run id, start and end of each row of `block`, whole rows the first of which is `record`."""
    letters = np.frombuffer(block, np.uint8)
    ends = np.flatnonzero(letters == _NEWLINE).astype(np.int64) + 1
    starts = np.concatenate([[0], ends[:-1]]).astype(np.int64)
    commas = np.append(np.flatnonzero(letters == _COMMA), len(letters)).astype(np.int64)
    lengths = commas[np.searchsorted(commas, starts)] - starts
    wrong = (lengths < 1) | (lengths > _MOST_DIGITS) | (starts + lengths >= ends)
    ids = np.zeros(len(starts), np.int64)
    for place in range(int(lengths[~wrong].max(initial=0))):
        inside = ~wrong & (place < lengths)
        digits = letters[starts[inside] + place].astype(np.int64) - _ZERO
        ids[inside] = ids[inside] * 10 + digits
        wrong[inside] |= (digits < 0) | (digits > 9)
    if wrong.any():
        row = int(np.argmax(wrong))
        line = block[starts[row] : ends[row] - 1].decode(errors="replace")
        raise BadFieldError(SERIES, record + row, "run_id", came=line.split(",")[0], expected="a whole number")
    return ids, starts, ends


def _refuse_scattered(index: SeriesIndex) -> None:
    _, first = np.unique(index.run_ids, return_index=True)
    if len(first) == len(index.run_ids):
        return
    is_again = np.ones(len(index.run_ids), bool)
    is_again[first] = False
    place = int(np.argmax(is_again))
    record = int(index.rows[:place].sum()) + 2
    came = str(index.run_ids[place])
    raise BadFieldError(SERIES, record, "run_id", came=came, expected="the rows of each run in one place")
