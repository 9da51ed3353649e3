"""Tables read back: whole records with the bytes they stand at, and where a torn tail begins.

Owns finding records and what the columns of runs.csv mean. Judges no run, repairs nothing and opens no file.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import BinaryIO

from henad_web.errors import OutputError
from henad_web.explore.outcomes import RunStatus, StopReason
from henad_web.output.names import RUNS
from henad_web.output.tables import LEADING, MEASURED, NOTE

__all__ = ["RecordReader", "RunRow", "RunsColumns", "TableDamagedError", "TableRecord", "read_run_rows"]

_STATUS, _REASON, _TICKS, _POPULATION = (
    MEASURED.index(name) for name in ("status", "stop_reason", "ticks", "population")
)


class TableDamagedError(OutputError):
    """A table with a whole record that cannot be what a sweep wrote: more than a torn tail.

    Attributes:
        table: Name of the table.
        record: Number of the record, from 1 after the header, 0 for the header.
        wrong: What is wrong with it, one clause.
    """

    def __init__(self, table: str, record: int, wrong: str, *, path: str | None = None) -> None:
        self.table, self.record, self.wrong = table, record, wrong
        where = f"record {record}" if record else "the header"
        super().__init__(
            f"{table}: {where} is damaged: {wrong}; restore the file, or take the record out to have its run "
            f"done again",
            path=path,
        )


@dataclass(frozen=True, slots=True)
class TableRecord:
    """One whole record of a table.

    Attributes:
        number: From 1 after the header, which is 0.
        start: Offset of its first byte in the file.
        end: Offset behind its line feed.
        raw: Its bytes, the line feed included.
    """

    number: int
    start: int
    end: int
    raw: bytes

    @property
    def fields(self) -> list[str]:
        """Its fields, quotes taken off; bytes that are no UTF-8 become replacement characters."""
        text = self.raw.decode(errors="replace").removeprefix("\ufeff")
        return next(csv.reader([text]), [])


class RecordReader:
    """Iterates over the whole records of a table, its header first; a torn tail is left out.

    A record is whole once its line feed is there. A line feed inside quotes does not end one.

    Attributes:
        end: Offset behind the last whole record read so far; after the last one, where a torn tail begins.
        torn_bytes: Bytes of the torn tail, known after the last record; 0 for a whole table.
    """

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self.end, self.torn_bytes = 0, 0

    def __iter__(self) -> Iterator[TableRecord]:
        """Yield the records in the order of the file."""
        number, held = 0, b""
        for line in self._stream:
            held = held + line if held else line
            if not line.endswith(b"\n") or (b'"' in held and held.count(b'"') % 2):
                continue
            start, self.end = self.end, self.end + len(held)
            yield TableRecord(number, start, self.end, held)
            number, held = number + 1, b""
        self.torn_bytes = len(held)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsColumns:
    """Where things stand in a record of runs.csv, found from its end: a parameter may be called anything.

    Attributes:
        header: All columns.
        measured: Position of the first column behind the parameters and actions.
        reducers: Names of the reducer columns.
    """

    header: tuple[str, ...]
    measured: int
    reducers: tuple[str, ...]

    @classmethod
    def of(cls, header: Sequence[str]) -> RunsColumns:
        """Return the columns that `header` names.

        Raises:
            OutputError: It is not the header of a sweep's runs.csv.
        """
        end = len(header) - 1 - header[::-1].index(MEASURED[-1]) if MEASURED[-1] in header else 0
        measured = end + 1 - len(MEASURED)
        found = (*header[: len(LEADING)], *header[max(measured, 0) : end + 1], *header[-1:])
        if found != (*LEADING, *MEASURED, NOTE):
            raise OutputError(f"{RUNS} has a header that is not that of a sweep: {', '.join(header)}")
        return cls(header=tuple(header), measured=measured, reducers=tuple(header[end + 1 : -1]))

    @property
    def width(self) -> int:
        """Fields of a record."""
        return len(self.header)

    @property
    def config_names(self) -> tuple[str, ...]:
        """Columns that tell a config: parameters in schema order, then ``action.NAME`` of each action."""
        return self.header[len(LEADING) : self.measured]

    def config(self, record: Sequence[str]) -> list[str]:
        """Return config id, block, parameters and actions of `record`."""
        return [*record[1:3], *record[len(LEADING) : self.measured]]

    def reduced(self, record: Sequence[str]) -> Sequence[str]:
        """Return the reducer cells of `record`."""
        return record[self.measured + len(MEASURED) : -1]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """One row of runs.csv.

    Attributes:
        record: Its record in the file.
        fields: All fields as text, one a column.
        run_id: Id as written, which an extended plan may give another run.
        config_id: Config.
        block: Block of the config.
        rep: Replicate.
        seed: Seed.
        run_key: 16 hex digits that name its results.
        status: How it ended.
        stop_reason: Why it stepped no further.
        ticks: Last tick reached.
        population: Population at the latest sample.
    """

    record: TableRecord
    fields: Sequence[str]
    run_id: int
    config_id: int
    block: int
    rep: int
    seed: int
    run_key: str
    status: RunStatus
    stop_reason: StopReason
    ticks: int
    population: int

    @property
    def note(self) -> str:
        """Its note, empty when there is nothing to say."""
        return self.fields[-1]

    @classmethod
    def of(cls, columns: RunsColumns, record: TableRecord) -> RunRow:
        """Return the row that `record` is.

        Raises:
            TableDamagedError: It has another number of fields, or a field that no sweep writes.
        """
        fields = record.fields
        if len(fields) != columns.width:
            wrong = f"{len(fields)} fields, expected {columns.width}"
            raise TableDamagedError(RUNS, record.number, wrong)
        measured = columns.measured
        try:
            run_id, config_id, block, rep, seed = map(_whole, fields[:5])
            return cls(
                record=record,
                fields=fields,
                run_id=run_id,
                config_id=config_id,
                block=block,
                rep=rep,
                seed=seed,
                run_key=fields[5],
                status=RunStatus(fields[measured + _STATUS]),
                stop_reason=StopReason(fields[measured + _REASON]),
                ticks=_whole(fields[measured + _TICKS]),
                population=_whole(fields[measured + _POPULATION]),
            )
        except ValueError as error:
            raise TableDamagedError(RUNS, record.number, str(error)) from error


def read_run_rows(records: RecordReader) -> tuple[RunsColumns | None, Iterator[RunRow]]:
    """Return the columns and the rows of the runs.csv that `records` reads.

    The rows are read as they are asked for; `records` tells of a torn tail after the last one. A table without
    a whole header has no columns and no rows.

    Raises:
        OutputError: It is not the runs.csv of a sweep.
        TableDamagedError: A row other than a torn last one is no row (raised when it is asked for).
    """
    rest = iter(records)
    header = next(rest, None)
    if header is None:
        return None, iter(())
    columns = RunsColumns.of(header.fields)
    return columns, (RunRow.of(columns, record) for record in rest)


def _whole(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise ValueError(f"'{text}' where a whole number belongs")
    return int(text)
