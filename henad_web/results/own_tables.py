"""A model's own table read back: the rows of each run, and all of them for other libraries.

Owns the reading of a run's rows at the position that the index of the file tells. Keeps nothing but the index. Rows of
runs that runs.csv lacks count for nothing.
"""

from __future__ import annotations

import io
import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from henad_web.errors import TableDamagedError
from henad_web.explore.columns import SERIES_LEADING
from henad_web.output.cells import cells_for
from henad_web.output.names import own_table_name
from henad_web.output.own_tables import OwnFile, OwnIndex, index_own
from henad_web.output.records import RecordReader
from henad_web.output.tables import check_header
from henad_web.results import frames
from henad_web.results.errors import MissingColumnError
from henad_web.results.table_columns import Columns, free_name, run_keys

if TYPE_CHECKING:
    from henad_web.results.recorded import RecordedResults

__all__ = ["RecordedRows", "RecordedTable", "field_columns"]

_BLOCK_BYTES = 4 << 20
"""Bytes read at once."""

_CELLS = {"f64": "number", "f32": "number", "i64": "i64", "bool": "bool", "text": "text"}
"""Type of the cells of each kind of column: a number that was not finite is an empty one."""


@dataclass(frozen=True, slots=True, eq=False)
class RecordedRows:
    """The rows that one run reported of a table; ``rows["wealth"]`` is one column.

    Attributes:
        table: Id of the table.
        ticks: Tick of each row, ascending, int64 ``(n,)``.
        values: Values of each column by name, ``(n,)`` each: float64 with NaN where a number was not finite, int64,
            bool or text.
    """

    table: str
    ticks: NDArray[np.int64]
    values: Mapping[str, NDArray[Any]]

    def __repr__(self) -> str:
        """Return the facts on one line."""
        return f"<RecordedRows of '{self.table}': {len(self)} rows x {len(self.values)} columns>"

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self.ticks)

    def __getitem__(self, column: str) -> NDArray[Any]:
        """Return the values of `column`, ``(n,)``.

        Raises:
            MissingColumnError: There is no such column.
        """
        if column not in self.values:
            raise MissingColumnError(own_table_name(self.table), column, self.values)
        return self.values[column]


class RecordedTable:
    """A table of a model's own in a result set. Made by `RecordedResults.table`.

    Attributes:
        id: Its id.
        kinds: Kind of each column by name.
        file: Its file.

    Raises:
        TableDamagedError: The file has other columns.
    """

    def __init__(
        self, id: str, kinds: Mapping[str, str], open_file: Callable[[], BinaryIO], results: RecordedResults
    ) -> None:
        self.id, self.kinds = id, dict(kinds)
        self.file = OwnFile(own_table_name(id), (*SERIES_LEADING, *kinds))
        self._open, self._results = open_file, results
        with open_file() as stream:
            first = next(iter(RecordReader(stream, self.file.name)), None)
        if first is not None:
            check_header(self.file.name, first.fields, self.file.header)

    def __repr__(self) -> str:
        """Return the facts on one line."""
        return f"<RecordedTable '{self.id}': {', '.join(f'{name} {kind}' for name, kind in self.kinds.items())}>"

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of its columns."""
        return tuple(self.kinds)

    def __len__(self) -> int:
        """Return the number of rows, all runs together."""
        return int(sum(self._index.rows[position] for position in self._held))

    def run(self, run_id: int) -> RecordedRows:
        """Return the rows of the run `run_id`, empty where it reported none.

        Raises:
            UnknownRunError: There is no row of that run in runs.csv.
            TableDamagedError: A record is not one that a sweep writes, or the rows of a run stand in two places.
        """
        if not self._results.runs.holds(run_id):
            self._results.runs.run(run_id)
        position = self._positions.get(run_id)
        return self._rows_of(b"", 2) if position is None else self._rows_at(position, position + 1)

    def texts_of(self, run_id: int) -> list[list[str]]:
        """Return the cells of the run `run_id` as they are written, a list a column, run id and tick first."""
        position = self._positions.get(run_id)
        return field_columns(self._bytes_at(position, position + 1) if position is not None else b"", self.file)

    def runs(self) -> Iterator[tuple[int, RecordedRows]]:
        """Yield id and rows of every run that has some, in the order of the file, a few megabytes in memory at a time.

        Raises:
            TableDamagedError: A record is not one that a sweep writes, or the rows of a run stand in two places.
        """
        for first, after in self._stretches():
            rows, counts = self._rows_at(first, after), self._index.rows[first:after]
            ends = np.cumsum(counts)
            for run_id, start, end in zip(self._index.run_ids[first:after].tolist(), ends - counts, ends, strict=True):
                if self._results.runs.holds(run_id):
                    values = {name: column[start:end] for name, column in rows.values.items()}
                    yield run_id, RecordedRows(self.id, rows.ticks[start:end], values)

    def to_pandas(self, *, params: bool = False) -> frames.DataFrame:
        """Return the table as a `pandas.DataFrame` in long form: run_id, config_id, rep, tick, then its columns.

        Args:
            params: Whether parameters and action ticks of its run stand before the columns of each row.

        Raises:
            NeedsExtraError: pandas is not installed.
            TableDamagedError: As `runs` says.
        """
        return frames.own_frame(self._results, self, params=params)

    def to_arrow(self, *, params: bool = False) -> frames.ArrowTable:
        """Return the same as a `pyarrow.Table` with the provenance in its metadata.

        Raises:
            NeedsExtraError: pyarrow is not installed.
            TableDamagedError: As `runs` says.
        """
        return frames.own_arrow(self._results, self, params=params)

    def to_parquet(self, path: str | os.PathLike[str], *, params: bool = False) -> None:
        """Write the same to the Parquet file `path`, a few megabytes of the table in memory at a time.

        Raises:
            NeedsExtraError: pyarrow is not installed.
            TableDamagedError: As `runs` says.
            OSError: The file cannot be written.
        """
        frames.write_own_parquet(self._results, self, path, params=params)

    def blocks(self, *, params: bool = False) -> Iterator[Columns]:
        """Yield the table in long form, columns by name, some megabytes at a time; the first block is empty."""
        yield self._long(np.zeros(0, np.int64), self._rows_of(b"", 2), params=params)
        for first, after in self._stretches():
            rows, counts = self._rows_at(first, after), self._index.rows[first:after]
            yield self._long(np.repeat(self._index.run_ids[first:after], counts.astype(np.intp)), rows, params=params)

    def _long(self, run_ids: NDArray[np.int64], rows: RecordedRows, *, params: bool) -> Columns:
        held = self._results.runs.places(run_ids) >= 0
        columns = run_keys(self._results, run_ids[held], rows.ticks[held], params=params)
        taken = set(columns)
        for name, values in rows.values.items():
            columns[free_name(name, taken, "table")] = values[held]
        return columns

    @cached_property
    def _index(self) -> OwnIndex:
        with self._open() as stream:
            index = index_own(stream, self.file)
        _, first = np.unique(index.run_ids, return_index=True)
        if len(first) < len(index.run_ids):
            again = int(np.setdiff1d(np.arange(len(index.run_ids)), first)[0])
            record, came = int(index.rows[:again].sum()) + 2, str(index.run_ids[again])
            expected = "the rows of each run in one place"
            raise TableDamagedError(self.file.name, record, SERIES_LEADING[0], came=came, expected=expected)
        return index

    @cached_property
    def _positions(self) -> dict[int, int]:
        return {run_id: position for position, run_id in enumerate(self._index.run_ids.tolist())}

    @property
    def _held(self) -> list[int]:
        return [position for run_id, position in self._positions.items() if self._results.runs.holds(run_id)]

    def _stretches(self) -> Iterator[tuple[int, int]]:
        index, first = self._index, 0
        while first < len(index.run_ids):
            limit = int(index.starts[first]) + _BLOCK_BYTES
            after = max(first + 1, int(np.searchsorted(index.ends, limit, side="right")))
            yield first, after
            first = after

    def _bytes_at(self, first: int, after: int) -> bytes:
        index = self._index
        start, stop = int(index.starts[first]), int(index.ends[after - 1])
        with self._open() as stream:
            stream.seek(start)
            return stream.read(stop - start)

    def _rows_at(self, first: int, after: int) -> RecordedRows:
        index = self._index
        number = int(index.rows[:first].sum()) + 2
        rows = self._rows_of(self._bytes_at(first, after), number)
        if len(rows) != int(index.rows[first:after].sum()):
            expected = "the rows that stood there a moment ago"
            raise TableDamagedError(self.file.name, number, came=None, expected=expected)
        return rows

    def _rows_of(self, data: bytes, number: int) -> RecordedRows:
        _, ticks, *texts = field_columns(data, self.file, number)
        table = self.file.name
        cells = [cells_for(_CELLS.get(kind, "text"), name, table) for name, kind in self.kinds.items()]
        columns = [cell.array(column, number) for cell, column in zip(cells, texts, strict=True)]
        ticks_of = cells_for("count", SERIES_LEADING[1], table)
        return RecordedRows(self.id, ticks_of.array(ticks, number), dict(zip(self.kinds, columns, strict=True)))


def field_columns(data: bytes, file: OwnFile, number: int = 2) -> list[list[str]]:
    """Return the fields of `data`, whole records of `file` from `number` on, a list a column.

    Raises:
        TableDamagedError: They are no such records.
    """
    width = len(file.header)
    is_plain = b'"' not in data and b"\r" not in data and b"\n\n" not in data and not data.startswith(b"\n")
    if is_plain and data.count(b",") == data.count(b"\n") * (width - 1):
        try:
            fields = data[:-1].replace(b"\n", b",").decode().split(",") if data else []
            return [fields[column::width] for column in range(width)]
        except UnicodeDecodeError:  # the records tell which of them is none
            pass
    rows = []
    for record in RecordReader(io.BytesIO(data), file.name, number=number, width=width):
        fields = record.fields
        if len(fields) != width:
            expected = f"{width} fields and not {len(fields)}"
            raise TableDamagedError(file.name, record.number, came=",".join(fields), expected=expected)
        rows.append(fields)
    return [list(column) for column in zip(*rows, strict=True)] or [[] for _ in range(width)]
