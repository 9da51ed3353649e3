"""summary.csv as columns. Computes nothing: a table that is missing is made by the function that writes it."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from henad_web.explore.cell_texts import csv_line
from henad_web.explore.columns import SUMMARY_COUNTS, SUMMARY_LEADING
from henad_web.markup import table_html
from henad_web.output.cells import cells_for
from henad_web.output.names import SUMMARY
from henad_web.output.record import non_finite_runs
from henad_web.output.records import RecordReader
from henad_web.output.summary import summary_table
from henad_web.output.table_reading import check_width
from henad_web.output.tables import RunsLayout, check_header, summary_header
from henad_web.results.errors import MissingColumnError
from henad_web.results.recognition import Opener

if TYPE_CHECKING:
    from henad_web.explore.adaptive_spec import AdaptiveReplicates

__all__ = ["RecordedSummary"]


class RecordedSummary:
    """One row a config: ``summary["Infected:max:mean"]`` is a column, NaN where a cell is empty.

    Attributes:
        columns: Names in the order of the file.
    """

    def __init__(self, columns: Sequence[str], data: Sequence[NDArray[Any]], counts_at: int) -> None:
        self.columns, self._data, self._counts_at = tuple(columns), tuple(data), counts_at

    @classmethod
    def read(
        cls, opener: Opener | None, runs: Opener, layout: RunsLayout, adaptive: AdaptiveReplicates | None
    ) -> RecordedSummary:
        """Return the summary that `opener` opens; where there is none, that of the whole rows of `runs`.

        Raises:
            TableDamagedError: The table, or that of the runs, is not what a sweep writes.
        """
        content = _made_from(runs, layout, adaptive) if opener is None else _content_of(opener)
        records = iter(RecordReader(io.BytesIO(content), SUMMARY))
        first = next(records, None)
        header = summary_header(layout.configs, layout.reducers, adaptive)
        check_header(SUMMARY, [] if first is None else first.fields, header)
        rows = []
        for record in records:
            rows.append(record.fields)
            check_width(record, rows[-1], len(header))
        texts = list(zip(*rows, strict=True)) or [()] * len(header)
        kinds = [*["count"] * len(SUMMARY_LEADING), *layout.param_kinds.values(), *["tick"] * len(layout.actions or ())]
        counts_at = len(kinds)
        kinds += [*["count"] * len(SUMMARY_COUNTS), *["number"] * (len(header) - counts_at - len(SUMMARY_COUNTS))]
        kinds[-1] = kinds[-1] if adaptive is None else "bool"
        cells = [cells_for(kind, name, SUMMARY) for kind, name in zip(kinds, header, strict=True)]
        return cls(header, [cell.array(column, 2) for cell, column in zip(cells, texts, strict=True)], counts_at)

    @property
    def non_finite(self) -> NDArray[np.int64]:
        """Runs of each config that met a value which is not finite and count in its statistics; ``(configs,)``."""
        runs, ok, failed = self._data[self._counts_at : self._counts_at + len(SUMMARY_COUNTS)]
        return non_finite_runs(runs, ok, failed)

    def __repr__(self) -> str:
        """Return the facts on one line."""
        return f"<RecordedSummary: {len(self)} rows x {len(self.columns)} columns>"

    def _repr_html_(self) -> str:
        return table_html(SUMMARY, self.columns, self._data)

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

    def at(self, position: int) -> NDArray[Any]:
        """Return the column at `position` of `columns`."""
        return self._data[position]

    def __contains__(self, name: object) -> bool:
        """Return whether there is a column `name`."""
        return name in self.columns

    def keys(self) -> tuple[str, ...]:
        """Return the names of the columns, each once, in the order of the file."""
        return tuple(dict.fromkeys(self.columns))

    def items(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield the name and values of each column."""
        return ((name, self[name]) for name in self.keys())


def _content_of(opener: Opener) -> bytes:
    with opener() as stream:
        return stream.read()


def _made_from(runs: Opener, layout: RunsLayout, adaptive: AdaptiveReplicates | None) -> bytes:
    content = _content_of(runs)
    # Of a table without a whole header there is nothing to sum up.
    whole = content if b"\n" in content else csv_line(layout.header)
    return b"".join(summary_table(io.BytesIO(whole), adaptive))
