"""summary.csv: what the replicates of each config say together.

Owns the columns and the one pass over runs.csv that makes them, a config at a time, so that no size of sweep
fills memory. Decides nothing about runs.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterator
from itertools import groupby
from typing import BinaryIO

from henad_web.errors import OutputError
from henad_web.explore.outcomes import RunStatus
from henad_web.output.names import RUNS
from henad_web.output.numbers import csv_line, number_text
from henad_web.output.statistics import RunningStatistics
from henad_web.output.table_reading import RunsColumns
from henad_web.output.tables import MEASURED

__all__ = ["summary_table"]

_STATISTICS = ("mean", "sd", "n", "ci95_low", "ci95_high")
_FAILED = frozenset(status.value for status in RunStatus if status.is_failure)
_STATUS, _TICKS = MEASURED.index("status"), MEASURED.index("ticks")


def summary_table(runs: BinaryIO) -> Iterator[bytes]:
    """Yield summary.csv, line by line, of the runs.csv that `runs` reads.

    A config has a row when it has at least one run there. `ok` counts the runs whose status is ok and
    `failed` the failures; every run that did not fail enters the statistics, in the order of the file, as far
    as its value is finite.

    Raises:
        OutputError: `runs` is not the table of a sweep.
    """
    text = io.TextIOWrapper(runs, encoding="utf-8", newline="")
    try:
        records = csv.reader(text, strict=True)
        header = next(records, [])
        columns = RunsColumns.of(header)
        names = [f"{reducer}:{statistic}" for reducer in columns.reducers for statistic in _STATISTICS]
        yield csv_line([*columns.config(header), "runs", "ok", "failed", "ticks:mean", *names])
        for _, group in groupby(records, key=lambda record: record[1:2]):
            yield csv_line(_row(columns, group))
    finally:
        text.detach()


def _row(columns: RunsColumns, records: Iterator[list[str]]) -> list[str]:
    runs = ok = failed = 0
    config: list[str] = []
    ticks = RunningStatistics()
    folds = [RunningStatistics() for _ in columns.reducers]
    for record in records:
        if len(record) != columns.width:
            raise OutputError(f"{RUNS} has a record of {len(record)} fields, expected {columns.width}: {record}")
        config = config or columns.config(record)
        status = record[columns.measured + _STATUS]
        runs += 1
        ok += status == RunStatus.OK
        if status in _FAILED:
            failed += 1
            continue
        ticks.push(float(record[columns.measured + _TICKS]))
        for fold, text in zip(folds, columns.reduced(record), strict=True):
            if text and math.isfinite(number := float(text)):
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
