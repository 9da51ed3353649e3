"""summary.csv: what the replicates of each config say together.

Owns the one pass over runs.csv that makes it, a config at a time, so that no size of sweep fills memory, and the
formulas of mean, spread and a 95 % interval of numbers met one after another (reference engine, section 6.8): only
`+ - * /` and `sqrt`, so that every platform gets the same bits. Decides nothing about runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import BinaryIO, NamedTuple

from henad_web.explore.cell_texts import csv_line, number_text
from henad_web.explore.columns import MEASURED
from henad_web.explore.outcomes import RunStatus
from henad_web.output.cells import cells_for
from henad_web.output.names import RUNS
from henad_web.output.records import RecordReader, TableRecord
from henad_web.output.table_reading import check_width
from henad_web.output.tables import RunsColumns, summary_header

__all__ = [
    "PIECE_CELLS",
    "RunningStatistics",
    "summary_table",
    "t_quantile",
]

# 97.5 % quantiles of Student's t for 1 to 30 degrees of freedom, to the nine decimals of printed tables.
_TABLE = (
    12.706204736, 4.302652730, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135,
    2.262157163, 2.228138852, 2.200985160, 2.178812830, 2.160368656, 2.144786688, 2.131449546, 2.119905299,
    2.109815578, 2.100922040, 2.093024054, 2.085963447, 2.079613845, 2.073873068, 2.068657610, 2.063898562,
    2.059538553, 2.055529439, 2.051830516, 2.048407142, 2.045229642, 2.042272456,
)  # fmt: skip

_Z = 1.959963984540054
"""97.5 % quantile of the normal distribution."""


def _expansion() -> tuple[float, float, float, float]:
    # Cornish and Fisher's expansion of t about the normal quantile, its terms in powers of 1 / df.
    z = _Z
    z2 = z * z
    z3, z5, z7, z9 = z * z2, z * z2 * z2, z * z2 * z2 * z2, z * z2 * z2 * z2 * z2
    return (
        (z3 + z) / 4,
        (5 * z5 + 16 * z3 + 3 * z) / 96,
        (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / 384,
        (79 * z9 + 776 * z7 + 1482 * z5 - 1920 * z3 - 945 * z) / 92160,
    )


_G1, _G2, _G3, _G4 = _expansion()


def t_quantile(degrees: int) -> float:
    """Return the 97.5 % quantile of Student's t with `degrees` of freedom, infinite for 0.

    Up to 30 it is a table, above an expansion that is right to 1e-6.
    """
    if degrees < 1:
        return math.inf
    if degrees <= len(_TABLE):
        return _TABLE[degrees - 1]
    df = float(degrees)
    return _Z + _G1 / df + _G2 / (df * df) + _G3 / (df * df * df) + _G4 / (df * df * df * df)


@dataclass(slots=True)
class RunningStatistics:
    """Welford's recurrence: one pass and no cancellation. The order of the numbers affects the last bit.

    Attributes:
        count: Numbers pushed.
        mean: Their mean, 0 before the first.
        squares: Sum of their squared distances from the mean.
    """

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def push(self, number: float) -> None:
        """Take one more number, which must be finite."""
        self.count += 1
        delta = number - self.mean
        self.mean += delta / self.count
        self.squares += delta * (number - self.mean)

    @property
    def deviation(self) -> float | None:
        """Standard deviation of the sample, with n - 1; None for fewer than two numbers."""
        return math.sqrt(self.squares / (self.count - 1)) if self.count > 1 else None

    @property
    def half_width(self) -> float | None:
        """Half the width of the 95 % interval of the mean; None for fewer than two numbers."""
        deviation = self.deviation
        if deviation is None:
            return None
        return t_quantile(self.count - 1) * deviation / math.sqrt(self.count)


PIECE_CELLS = 2000
"""Cells of runs.csv that are read for a piece of the summary: about 1 ms natively and 3 ms in a page (measured)."""

_STATUS, _TICKS = MEASURED.index("status"), MEASURED.index("ticks")
_STATUSES = {status.value: status for status in RunStatus}


def summary_table(runs: BinaryIO) -> Iterator[bytes]:
    """Yield summary.csv, piece by piece, of the whole rows of the runs.csv that `runs` reads.

    A config has a row when it has at least one run there. `ok` counts the runs whose status is ok and
    `failed` the failures; every run that did not fail enters the statistics, in the order of the file, as far
    as its value is finite. A piece takes about `PIECE_CELLS` cells of runs.csv to make; it may be empty.

    Raises:
        TableDamagedError: `runs` is not the table of a sweep, or a record of it is no row.
    """
    records = iter(RecordReader(runs, RUNS))
    header = next(records, None)
    columns = RunsColumns.of([] if header is None else header.fields)
    lines = [csv_line(summary_header(columns.config_names, columns.reducers))]
    reader, records_a_piece = _RowReader(columns), max(1, PIECE_CELLS // columns.width)
    config: _ConfigRow | None = None
    for number, record in enumerate(records, start=1):
        row = reader.row(record)
        if config is None or row.config[0] != config.config_id:
            lines += [] if config is None else [config.line()]
            config = _ConfigRow(columns, row)
        config.add(row)
        if number % records_a_piece == 0:
            yield b"".join(lines)
            lines.clear()
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

    def __init__(self, columns: RunsColumns, row: _Row) -> None:
        self.config_id, self._config = row.config[0], row.config
        self._runs = self._ok = self._failed = 0
        self._ticks = RunningStatistics()
        self._folds = [RunningStatistics() for _ in columns.reducers]

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
        return csv_line([*self._config, str(self._runs), str(self._ok), str(self._failed), ticks, *cells])


def _cells(fold: RunningStatistics) -> tuple[str, ...]:
    half = fold.half_width
    low, high = (None, None) if half is None else (fold.mean - half, fold.mean + half)
    mean = fold.mean if fold.count else None
    return _optional(mean), _optional(fold.deviation), str(fold.count), _optional(low), _optional(high)


def _optional(number: float | None) -> str:
    return "" if number is None else number_text(number)
