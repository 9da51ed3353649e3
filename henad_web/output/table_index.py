"""Where the rows of every run stand in runs.csv and series.csv, as columns of numbers.

Owns one pass over each table that fits any size of sweep into a few bytes a run. Judges nothing: which rows are kept
is `kept`'s business.
"""

from __future__ import annotations

import io
from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray

from henad_web.explore.outcomes import RunStatus
from henad_web.output.names import RUNS, SERIES
from henad_web.output.table_reading import RecordReader, RunRow, RunsColumns, TableDamagedError, read_run_rows

__all__ = ["STATUSES", "RunsIndex", "SeriesCadence", "SeriesIndex", "index_runs", "index_series"]

STATUSES = tuple(RunStatus)
"""Statuses by the number an index gives them."""

_CODES = {status: code for code, status in enumerate(STATUSES)}
_BUILD_FAULT = "while building the model"

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class RunsIndex:
    """The rows of runs.csv in the order of the file; every array is ``(rows,)``.

    Attributes:
        columns: Columns of the table, None without a whole header.
        header_end: Offset behind the header.
        run_ids: Id as written.
        config_ids: Config.
        reps: Replicate.
        keys: Run key, uint64.
        status: Position of the status in `STATUSES`.
        ticks: Last tick reached.
        unbuilt: Whether the model was not built, so that there is no series.
        starts: Offset of the row.
        ends: Offset behind it.
    """

    columns: RunsColumns | None
    header_end: int
    run_ids: Ints
    config_ids: Ints
    reps: Ints
    keys: NDArray[np.uint64]
    status: Ints
    ticks: Ints
    unbuilt: NDArray[np.bool_]
    starts: Ints
    ends: Ints


def index_runs(stream: BinaryIO | None) -> RunsIndex:
    """Return the index of the runs.csv that `stream` reads, None for a file that is missing; a torn tail is left out.

    Raises:
        OutputError: It is not the runs.csv of a sweep.
        TableDamagedError: A record other than a torn last one is no row.
    """
    records = RecordReader(io.BytesIO() if stream is None else stream)
    columns, rows = read_run_rows(records)
    header_end = records.end
    lists = [array("q") for _ in range(8)]
    keys = array("Q")
    for row in rows:
        for kept, number in zip(lists, _numbers(row), strict=True):
            kept.append(number)
        keys.append(_key(row))
    run_ids, config_ids, reps, status, ticks, unbuilt, starts, ends = (np.array(kept, np.int64) for kept in lists)
    return RunsIndex(
        columns=columns,
        header_end=header_end,
        run_ids=run_ids,
        config_ids=config_ids,
        reps=reps,
        keys=np.array(keys, np.uint64),
        status=status,
        ticks=ticks,
        unbuilt=unbuilt.astype(np.bool_),
        starts=starts,
        ends=ends,
    )


def _numbers(row: RunRow) -> tuple[int, ...]:
    refused = row.status is RunStatus.REFUSED and row.ticks == 0
    unbuilt = row.status.is_failure and (refused or row.note.startswith(_BUILD_FAULT))
    place = (row.record.start, row.record.end)
    return (row.run_id, row.config_id, row.rep, _CODES[row.status], row.ticks, unbuilt, *place)


def _key(row: RunRow) -> int:
    try:
        if len(row.run_key) == 16:
            return int(row.run_key, 16)
    except ValueError:
        pass
    raise TableDamagedError(RUNS, row.record.number, f"'{row.run_key}' where 16 hex digits belong")


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesCadence:
    """Which ticks of a run have a row in series.csv.

    Attributes:
        warmup: Tick of the first sample.
        stats_every: Ticks between samples.
        series_every: Ticks between rows, 0 for no rows.
        total: Last tick of a run.
    """

    warmup: int
    stats_every: int
    series_every: int
    total: int

    def last_samples(self, ticks: Ints) -> Ints:
        """Return the last sample tick at or before each of `ticks`, -1 where there is none."""
        on_cadence = self.warmup + (ticks - self.warmup) // self.stats_every * self.stats_every
        last: Ints = np.where(ticks >= self.total, self.total, on_cadence)
        return np.where(ticks < self.warmup, -1, last)

    def rows(self, last_samples: Ints) -> Ints:
        """Return how many rows a run has whose last sample is at each of `last_samples`, -1 for no sample."""
        if not self.series_every:
            return np.zeros_like(last_samples)
        steps = last_samples - self.warmup
        rows: Ints = steps // self.series_every + 1 + (steps % self.series_every > 0)
        return np.where(last_samples < self.warmup, 0, rows)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SeriesIndex:
    """The groups of neighbouring rows of one run id in series.csv, in the order of the file; arrays ``(groups,)``.

    Attributes:
        header: Columns of the table, None without a whole header.
        header_end: Offset behind the header.
        run_ids: Id as written.
        rows: Rows of the group.
        last_ticks: Tick of its last row.
        regular: Whether all rows but the last stand at the warm-up and every `series_every` ticks from there, and the
            last behind them.
        starts: Offset of its first row.
        ends: Offset behind its last row.
    """

    header: tuple[str, ...] | None
    header_end: int
    run_ids: Ints
    rows: Ints
    last_ticks: Ints
    regular: NDArray[np.bool_]
    starts: Ints
    ends: Ints


def index_series(stream: BinaryIO | None, cadence: SeriesCadence) -> SeriesIndex:
    """Return the index of the series.csv that `stream` reads, None for a file that is missing; a torn tail is left out.

    Raises:
        TableDamagedError: A record other than a torn last one is no row.
    """
    header_line = b"" if stream is None else stream.readline()
    if stream is None or not header_line.endswith(b"\n"):
        return _series_index(None, 0, [array("q") for _ in range(6)])
    header = tuple(header_line.decode(errors="replace").removeprefix("\ufeff").rstrip("\r\n").split(","))
    groups = _Groups(cadence, len(header_line))
    width = len(header)
    for number, line in enumerate(stream, start=1):
        if not line.endswith(b"\n"):
            break
        if line.count(b",") != width - 1:
            raise TableDamagedError(SERIES, number, f"{line.count(b',') + 1} fields, expected {width}")
        groups.add(number, line)
    groups.close()
    return _series_index(header, len(header_line), groups.lists)


def _series_index(header: tuple[str, ...] | None, header_end: int, lists: Sequence[array[int]]) -> SeriesIndex:
    run_ids, rows, last_ticks, regular, starts, ends = (np.array(kept, np.int64) for kept in lists)
    return SeriesIndex(
        header=header,
        header_end=header_end,
        run_ids=run_ids,
        rows=rows,
        last_ticks=last_ticks,
        regular=regular.astype(np.bool_),
        starts=starts,
        ends=ends,
    )


class _Groups:
    """Gathers rows into groups; on the path of every row of a series."""

    def __init__(self, cadence: SeriesCadence, start: int) -> None:
        self.lists: list[array[int]] = [array("q") for _ in range(6)]
        self._warmup, self._every = cadence.warmup, cadence.series_every
        self._start = self._end = start
        self._id_text = b""
        self._rows, self._tick, self._is_regular = 0, -1, True

    def add(self, number: int, line: bytes) -> None:
        id_text, tick_text, *_ = line.split(b",", 2)
        if not (id_text.isdigit() and tick_text.strip().isdigit()):
            raise TableDamagedError(SERIES, number, "no run id and tick at its start")
        if id_text != self._id_text:
            self.close()
            self._id_text = id_text
        tick = int(tick_text)
        expected = self._warmup + (self._rows - 1) * self._every
        if self._rows and self._tick != expected:  # only the last row may be off the cadence
            self._is_regular = False
        self._is_regular = self._is_regular and tick > self._tick
        self._rows, self._tick = self._rows + 1, tick
        self._end += len(line)

    def close(self) -> None:
        if self._rows:
            found = (int(self._id_text), self._rows, self._tick, self._is_regular, self._start, self._end)
            for kept, number in zip(self.lists, found, strict=True):
                kept.append(number)
        self._start = self._end
        self._rows, self._tick, self._is_regular = 0, -1, True
