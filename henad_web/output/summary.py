"""summary.csv: what the replicates of each config say together.

Owns the one pass over runs.csv that makes it, a config at a time, so that no size of sweep fills memory. The formulas
of mean, spread and interval are `explore.intervals`'. Decides nothing about runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO, NamedTuple

from henad_web.errors import TableDamagedError
from henad_web.explore.cell_texts import csv_line, number_text
from henad_web.explore.columns import MEASURED
from henad_web.explore.intervals import RunningStatistics, interval_of, student_interval
from henad_web.explore.outcomes import RunStatus
from henad_web.explore.replication import is_reached
from henad_web.output.cells import cells_for
from henad_web.output.names import RUNS
from henad_web.output.records import RecordReader, TableRecord
from henad_web.output.table_reading import check_width
from henad_web.output.tables import RunsColumns, summary_header

if TYPE_CHECKING:
    from henad_web.explore.adaptive_spec import AdaptiveReplicates

__all__ = [
    "PIECE_CELLS",
    "summary_table",
]

PIECE_CELLS = 2000
"""Cells of both tables that a piece of the summary takes at least; to write a number takes no less than to read it."""

_STATUS, _TICKS = MEASURED.index("status"), MEASURED.index("ticks")
_STATUSES = {status.value: status for status in RunStatus}


def summary_table(runs: BinaryIO, adaptive: AdaptiveReplicates | None = None) -> Iterator[bytes]:
    """Yield summary.csv, piece by piece, of the whole rows of the runs.csv that `runs` reads.

    A config has a row when it has at least one run there. `ok` counts the runs whose status is ok and
    `failed` the failures; every run that did not fail enters the statistics, in the order of the file, as far
    as its value is finite. A piece takes about `PIECE_CELLS` cells to make, those read and those written; it may be
    empty.

    Args:
        runs: The table.
        adaptive: What decided how many runs a config has; None where all have as many.

    Raises:
        TableDamagedError: `runs` is not the table of a sweep, or a record of it is no row.
    """
    records = iter(RecordReader(runs, RUNS))
    header = next(records, None)
    columns = RunsColumns.of([] if header is None else header.fields)
    names = summary_header(columns.config_names, columns.reducers, adaptive)
    reader, lines, cells = _RowReader(columns), [csv_line(names)], 0
    config: _ConfigRow | None = None
    for record in records:
        row = reader.row(record)
        if config is None or row.config[0] != config.config_id:
            lines += [] if config is None else [config.line()]
            config = _ConfigRow(columns, row, adaptive)
            cells += len(names)
        config.add(row)
        cells += columns.width
        if cells >= PIECE_CELLS:
            yield b"".join(lines)
            lines, cells = [], 0
    lines += [] if config is None else [config.line()]
    yield b"".join(lines)


class _Row(NamedTuple):
    """What of a row of runs.csv enters the statistics: its config, status, ticks and reducers, NaN for none."""

    config: list[str]
    status: RunStatus
    ticks: float
    reduced: list[float]


class _RowReader:
    """Reads rows of runs.csv."""

    def __init__(self, columns: RunsColumns) -> None:
        self._columns = columns
        self._status, self._ticks = cells_for("status", "status", RUNS), cells_for("count", "ticks", RUNS)
        self._status_at, self._ticks_at = columns.measured + _STATUS, columns.measured + _TICKS
        self._reducers = [cells_for("number", name, RUNS) for name in columns.reducers]
        self._reads = [cells.read for cells in self._reducers]

    def row(self, record: TableRecord) -> _Row:
        columns, fields = self._columns, record.fields
        check_width(record, fields, columns.width)
        status, ticks, reduced = fields[self._status_at], fields[self._ticks_at], columns.reduced(fields)
        try:
            values = [read(text) for read, text in zip(self._reads, reduced, strict=True)]
            return _Row(columns.config(fields), _STATUSES[status], float(self._ticks.read(ticks)), values)
        except (KeyError, ValueError, OverflowError):
            for cells, text in zip(
                (self._status, self._ticks, *self._reducers), (status, ticks, *reduced), strict=True
            ):
                cells.value(text, record.number)
            raise


class _ConfigRow:
    """The row of one config, in the making."""

    def __init__(self, columns: RunsColumns, row: _Row, adaptive: AdaptiveReplicates | None) -> None:
        self.config_id, self._config = row.config[0], row.config
        self._runs = self._ok = self._failed = 0
        self._ticks = RunningStatistics()
        self._folds = [RunningStatistics() for _ in columns.reducers]
        self._adaptive, self._columns = adaptive, columns

    def add(self, row: _Row) -> None:
        """Take one run of the config."""
        self._runs += 1
        self._ok += row.status is RunStatus.OK
        if row.status.is_failure:
            self._failed += 1
            return
        self._ticks.push(row.ticks)
        for fold, number in zip(self._folds, row.reduced, strict=True):
            if math.isfinite(number):
                fold.push(number)

    def line(self) -> bytes:
        """Return the row."""
        cells = [cell for fold in self._folds for cell in _cells(fold)]
        ticks = _optional(self._ticks.mean if self._ticks.count else None)
        cells += [] if self._adaptive is None else self._until(self._adaptive)
        return csv_line([*self._config, str(self._runs), str(self._ok), str(self._failed), ticks, *cells])

    def _until(self, adaptive: AdaptiveReplicates) -> Iterator[str]:
        """Yield the ends of each interval that was to be narrow, and whether all are, behind a whole round."""
        folds = [self._fold_of(precision.column) for precision in adaptive.until]
        for precision, fold in zip(adaptive.until, folds, strict=True):
            yield from _ends(interval_of(precision.interval, fold, precision.confidence))
        yield "true" if is_reached(adaptive, self._runs, folds) else "false"

    def _fold_of(self, column: str) -> RunningStatistics:
        if column not in self._columns.reducers:
            raise TableDamagedError(RUNS, 1, column, came=None, expected=f"the column '{column}'")
        return self._folds[self._columns.reducers.index(column)]


def _cells(fold: RunningStatistics) -> tuple[str, ...]:
    mean = fold.mean if fold.count else None
    return _optional(mean), _optional(fold.deviation), str(fold.count), *_ends(student_interval(fold))


def _ends(interval: tuple[float, float] | None) -> tuple[str, str]:
    low, high = (None, None) if interval is None else interval
    return _optional(low), _optional(high)


def _optional(number: float | None) -> str:
    return "" if number is None else number_text(number)
