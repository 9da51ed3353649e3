"""summary.csv: what the replicates of each config say together.

Owns the columns and the one pass over runs.csv that makes them, a config at a time, so that no size of sweep
fills memory. Decides nothing about runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import groupby
from typing import BinaryIO, NamedTuple

from henad_web.explore.outcomes import RunStatus
from henad_web.output.cells import cells_for
from henad_web.output.names import RUNS
from henad_web.output.numbers import csv_line, number_text
from henad_web.output.records import RecordReader, TableRecord
from henad_web.output.statistics import RunningStatistics
from henad_web.output.table_reading import check_width
from henad_web.output.tables import MEASURED, RunsColumns, summary_header

__all__ = ["summary_table"]

_STATUS, _TICKS = MEASURED.index("status"), MEASURED.index("ticks")


def summary_table(runs: BinaryIO) -> Iterator[bytes]:
    """Yield summary.csv, line by line, of the whole rows of the runs.csv that `runs` reads.

    A config has a row when it has at least one run there. `ok` counts the runs whose status is ok and
    `failed` the failures; every run that did not fail enters the statistics, in the order of the file, as far
    as its value is finite.

    Raises:
        TableDamagedError: `runs` is not the table of a sweep, or a record of it is no row.
    """
    records = iter(RecordReader(runs, RUNS))
    header = next(records, None)
    columns = RunsColumns.of([] if header is None else header.fields)
    yield csv_line(summary_header(columns.config_names, columns.reducers))
    reader = _RowReader(columns)
    rows = (reader.row(record) for record in records)
    for _, group in groupby(rows, key=lambda row: row.config[0]):
        yield csv_line(_line(columns, group))


class _Row(NamedTuple):
    """What of a row of runs.csv enters the statistics: its config, status, ticks and reducers, NaN for none."""

    config: list[str]
    status: RunStatus
    ticks: int
    reduced: list[float]


class _RowReader:
    """Reads rows of runs.csv."""

    def __init__(self, columns: RunsColumns) -> None:
        self._columns = columns
        self._status, self._ticks = cells_for("status", "status", RUNS), cells_for("count", "ticks", RUNS)
        self._reducers = [cells_for("number", name, RUNS) for name in columns.reducers]

    def row(self, record: TableRecord) -> _Row:
        columns, number, fields = self._columns, record.number, record.fields
        check_width(record, fields, columns.width)
        reduced = columns.reduced(fields)
        try:
            values = [cells.read(text) for cells, text in zip(self._reducers, reduced, strict=True)]
        except ValueError:
            values = [cells.value(text, number) for cells, text in zip(self._reducers, reduced, strict=True)]
        return _Row(
            columns.config(fields),
            RunStatus(self._status.value(fields[columns.measured + _STATUS], number)),
            self._ticks.value(fields[columns.measured + _TICKS], number),
            values,
        )


def _line(columns: RunsColumns, rows: Iterator[_Row]) -> list[str]:
    runs = ok = failed = 0
    config: list[str] = []
    ticks = RunningStatistics()
    folds = [RunningStatistics() for _ in columns.reducers]
    for row in rows:
        config = config or row.config
        runs += 1
        ok += row.status is RunStatus.OK
        if row.status.is_failure:
            failed += 1
            continue
        ticks.push(float(row.ticks))
        for fold, number in zip(folds, row.reduced, strict=True):
            if math.isfinite(number):
                fold.push(number)
    cells = [cell for fold in folds for cell in _cells(fold)]
    return [*config, str(runs), str(ok), str(failed), _optional(ticks.mean if ticks.count else None), *cells]


def _cells(fold: RunningStatistics) -> tuple[str, ...]:
    half = fold.half_width
    low, high = (None, None) if half is None else (fold.mean - half, fold.mean + half)
    mean = fold.mean if fold.count else None
    return _optional(mean), _optional(fold.deviation), str(fold.count), _optional(low), _optional(high)


def _optional(number: float | None) -> str:
    return "" if number is None else number_text(number)
