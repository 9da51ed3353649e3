"""summary.csv: what the replicates of each config say together.

Owns the columns and the one pass over runs.csv that makes them, a config at a time, so that no size of sweep
fills memory. Decides nothing about runs.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from typing import BinaryIO

from henad_web.errors import OutputError
from henad_web.explore.outcomes import RunStatus
from henad_web.output.names import RUNS
from henad_web.output.numbers import csv_line, number_text
from henad_web.output.statistics import RunningStatistics
from henad_web.output.table_reading import RunsColumns
from henad_web.output.tables import MEASURED

__all__ = ["PIECE_CELLS", "summary_table"]

PIECE_CELLS = 2000
"""Cells of runs.csv that are read for a piece of the summary: about 1 ms natively and 3 ms in a page (measured)."""

_STATISTICS = ("mean", "sd", "n", "ci95_low", "ci95_high")
_FAILED = frozenset(status.value for status in RunStatus if status.is_failure)
_STATUS, _TICKS = MEASURED.index("status"), MEASURED.index("ticks")


def summary_table(runs: BinaryIO) -> Iterator[bytes]:
    """Yield summary.csv, piece by piece, of the runs.csv that `runs` reads.

    A config has a row when it has at least one run there. `ok` counts the runs whose status is ok and
    `failed` the failures; every run that did not fail enters the statistics, in the order of the file, as far
    as its value is finite. A piece takes about `PIECE_CELLS` cells of runs.csv to make; it may be empty.

    Raises:
        OutputError: `runs` is not the table of a sweep.
    """
    text = io.TextIOWrapper(runs, encoding="utf-8", newline="")
    try:
        records = csv.reader(text, strict=True)
        header = next(records, [])
        columns = RunsColumns.of(header)
        names = [f"{reducer}:{statistic}" for reducer in columns.reducers for statistic in _STATISTICS]
        lines = [csv_line([*columns.config(header), "runs", "ok", "failed", "ticks:mean", *names])]
        records_a_piece = max(1, PIECE_CELLS // columns.width)
        row: _ConfigRow | None = None
        for number, record in enumerate(records, start=1):
            if len(record) != columns.width:
                raise OutputError(f"{RUNS} has a record of {len(record)} fields, expected {columns.width}: {record}")
            if row is None or record[1] != row.config_id:
                lines += [] if row is None else [row.line()]
                row = _ConfigRow(columns, record)
            row.add(record)
            if number % records_a_piece == 0:
                yield b"".join(lines)
                lines.clear()
        lines += [] if row is None else [row.line()]
        yield b"".join(lines)
    finally:
        text.detach()


class _ConfigRow:
    """The row of one config, in the making."""

    def __init__(self, columns: RunsColumns, record: list[str]) -> None:
        self.config_id = record[1]
        self._columns, self._config = columns, columns.config(record)
        self._runs = self._ok = self._failed = 0
        self._ticks = RunningStatistics()
        self._folds = [RunningStatistics() for _ in columns.reducers]

    def add(self, record: list[str]) -> None:
        """Take one run of the config."""
        columns = self._columns
        status = record[columns.measured + _STATUS]
        self._runs += 1
        self._ok += status == RunStatus.OK
        if status in _FAILED:
            self._failed += 1
            return
        self._ticks.push(float(record[columns.measured + _TICKS]))
        for fold, text in zip(self._folds, columns.reduced(record), strict=True):
            if text and math.isfinite(number := float(text)):
                fold.push(number)

    def line(self) -> bytes:
        """Return the row."""
        cells = [cell for fold in self._folds for cell in _cells(fold)]
        ticks = _optional(self._ticks.mean if self._ticks.count else None)
        return csv_line([*self._config, str(self._runs), str(self._ok), str(self._failed), ticks, *cells])


def _cells(fold: RunningStatistics) -> tuple[str, ...]:
    half = fold.half_width
    low, high = (None, None) if half is None else (fold.mean - half, fold.mean + half)
    mean = fold.mean if fold.count else None
    return _optional(mean), _optional(fold.deviation), str(fold.count), _optional(low), _optional(high)


def _optional(number: float | None) -> str:
    return "" if number is None else number_text(number)
