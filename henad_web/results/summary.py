"""summary.csv as columns. Computes nothing: a table that is missing is made by the function that writes it."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from henad_web.output.names import SUMMARY
from henad_web.output.numbers import csv_line
from henad_web.output.record import non_finite_runs
from henad_web.output.summary import summary_table
from henad_web.output.table_reading import RecordReader
from henad_web.results.cells import Cells, cells_for
from henad_web.results.errors import BadFieldError, MissingColumnError
from henad_web.results.recognition import Opener
from henad_web.results.runs import RunsLayout

__all__ = ["RecordedSummary"]

_COUNTS = ("runs", "ok", "failed")


class RecordedSummary:
    """One row a config: ``summary["Infected:max:mean"]`` is a column, NaN where a cell is empty.

    Attributes:
        columns: Names in the order of the file.
    """

    def __init__(self, columns: Sequence[str], data: Sequence[NDArray[Any]], counts_at: int) -> None:
        self.columns, self._data, self._counts_at = tuple(columns), tuple(data), counts_at

    @classmethod
    def read(cls, opener: Opener | None, runs: Opener, layout: RunsLayout) -> RecordedSummary:
        """Return the summary that `opener` opens; where there is none, that of the whole rows of `runs`.

        Raises:
            ResultsError: The table is not what a sweep writes.
            OutputError: `runs` is not the table of a sweep.
        """
        content = _made_from(runs, layout) if opener is None else _content_of(opener)
        header, *rows = [record.fields for record in RecordReader(io.BytesIO(content))] or [[]]
        if header[:2] != ["config_id", "block"]:
            raise MissingColumnError(SUMMARY, "block" if header[:1] == ["config_id"] else "config_id", header)
        cells = _cells(header, layout)
        for number, row in enumerate(rows, start=2):
            if len(row) != len(header):
                column = header[min(len(row), len(header) - 1)]
                raise BadFieldError(SUMMARY, number, column, came=None, expected=f"{len(header)} fields")
        texts = list(zip(*rows, strict=True)) or [()] * len(header)
        counts_at = len(header) - _statistics_of(layout) - len(_COUNTS)
        return cls(header, [cell.array(column, 2) for cell, column in zip(cells, texts, strict=True)], counts_at)

    @property
    def non_finite(self) -> NDArray[np.int64]:
        """Runs of each config that met a value which is not finite and count in its statistics; ``(configs,)``."""
        runs, ok, failed = self._data[self._counts_at : self._counts_at + len(_COUNTS)]
        return non_finite_runs(runs, ok, failed)

    def __len__(self) -> int:
        """Return the number of configs."""
        return len(self._data[0])

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return the column `name`, ``(configs,)``; of several, the last.

        Raises:
            MissingColumnError: There is no such column.
        """
        if name not in self.columns:
            raise MissingColumnError(SUMMARY, name, self.columns)
        return self._data[len(self.columns) - 1 - self.columns[::-1].index(name)]

    def __contains__(self, name: object) -> bool:
        """Return whether there is a column `name`."""
        return name in self.columns

    def keys(self) -> tuple[str, ...]:
        """Return the names of the columns, each once, in the order of the file."""
        return tuple(dict.fromkeys(self.columns))

    def items(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield the name and values of each column."""
        return ((name, self[name]) for name in self.keys())


def _cells(header: Sequence[str], layout: RunsLayout) -> list[Cells]:
    params = list(layout.param_kinds.values())
    numbers = _statistics_of(layout)
    actions = len(header) - 2 - len(params) - len(_COUNTS) - numbers
    if actions < 0:
        raise MissingColumnError(SUMMARY, "ticks:mean", header)
    kinds = ["count", "count", *params, *["tick"] * actions, *["count"] * len(_COUNTS), *["number"] * numbers]
    return [cells_for(kind, name, SUMMARY) for kind, name in zip(kinds, header, strict=True)]


def _statistics_of(layout: RunsLayout) -> int:
    # From the end, since a parameter may be called anything: five statistics a reducer behind the mean of the ticks.
    return 1 + 5 * len(layout.reducers)


def _content_of(opener: Opener) -> bytes:
    with opener() as stream:
        return stream.read()


def _made_from(runs: Opener, layout: RunsLayout) -> bytes:
    content = _content_of(runs)
    reader = RecordReader(io.BytesIO(content))
    for _ in reader:
        pass
    whole = content[: reader.end] or csv_line(layout.header())
    return b"".join(summary_table(io.BytesIO(whole)))
