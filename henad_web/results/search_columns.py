"""One table of a search read back: typed columns by name, and as tables of other libraries.

Owns which type each column has. Parameters and actions stand between columns of the search's own and are found by
their place, since one may be called like a column. What the tables say together is `search`'s business.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from henad_web.explore.columns import (
    ACTION,
    ARCHIVE_LEADING,
    ARCHIVE_OUTPUTS,
    BATCH_ARCHIVE,
    BATCH_BEST,
    BATCH_FRONT,
    BATCH_LEADING,
    BEST_LEADING,
    BEST_MEMBER,
    BEST_SCORE,
    EVALUATION_LEADING,
    EVALUATION_PLACE,
    EVALUATION_SCORE,
    FRONT_GENERATION_LEADING,
    GENERATION,
)
from henad_web.markup import table_html
from henad_web.output.cells import cells_for
from henad_web.output.names import ARCHIVE, BEST, EVALUATIONS
from henad_web.output.records import RecordReader
from henad_web.output.table_reading import check_width
from henad_web.output.tables import check_header, check_separator
from henad_web.results import frames
from henad_web.results.errors import MissingColumnError
from henad_web.results.table_columns import free_name

if TYPE_CHECKING:
    from henad_web.output.search_tables import SearchFile
    from henad_web.results.recorded import RecordedResults

__all__ = ["SearchColumns", "read_rows"]

_LEADING = {EVALUATIONS: EVALUATION_LEADING, BEST: BEST_LEADING, ARCHIVE: ARCHIVE_LEADING}
"""What stands before the parameters, in the tables that have any."""

_COUNT, _MAYBE, _NUMBER, _FLAG = "count", "count or nothing", "number", "flag"
_GROUPS: dict[tuple[str, ...], tuple[str, ...]] = {
    EVALUATION_LEADING: (_COUNT, _COUNT, "origin", _MAYBE, _MAYBE, _MAYBE, _COUNT, _COUNT),
    EVALUATION_SCORE: (_COUNT, _NUMBER, _NUMBER, _COUNT),
    BATCH_LEADING: (_COUNT, _COUNT, _COUNT),
    BATCH_BEST: (_MAYBE, _NUMBER),
    BATCH_ARCHIVE: (_COUNT,),
    GENERATION: (_COUNT, _NUMBER, _NUMBER, _NUMBER),
    FRONT_GENERATION_LEADING: (_COUNT, _COUNT, _COUNT),
    BATCH_FRONT: (_MAYBE,),
    BEST_LEADING: (_COUNT, _COUNT),
    BEST_MEMBER: (_NUMBER, _COUNT, _COUNT, _COUNT, _COUNT),
    BEST_SCORE: (_NUMBER, _COUNT, _COUNT, _COUNT, _COUNT),
    ARCHIVE_LEADING: (_COUNT, _COUNT, *[_NUMBER] * 4, _COUNT, _COUNT),
    ARCHIVE_OUTPUTS: (_NUMBER, _NUMBER),
    EVALUATION_PLACE: (_COUNT, _NUMBER, _NUMBER, _MAYBE, _MAYBE, _FLAG, _FLAG),
}
_KINDS = {name: kind for names, kinds in _GROUPS.items() for name, kind in zip(names, kinds, strict=True)}
"""Type of each column of a search's own; a name that several tables have means the same in each."""


def read_rows(stream: BinaryIO, file: SearchFile) -> list[list[str]]:
    """Return the fields of the whole rows of `file` in `stream`; none where there is no whole header.

    Raises:
        TableDamagedError: It has another header, or a record with other fields.
    """
    records = iter(RecordReader(stream, file.name))
    first = next(records, None)
    if first is None:
        return []
    check_separator(file.name, first.fields, file.header[0])
    check_header(file.name, first.fields, file.header)
    rows = []
    for record in records:
        rows.append(record.fields)
        check_width(record, rows[-1], len(file.header))
    return rows


class SearchColumns:
    """One table of a search: ``columns["objective"]`` is a column, ``(rows,)``, in the order of the file.

    Where a parameter is called like a column of the search, that name means the latter; `param` reaches the other. An
    empty cell is NaN in a column of numbers, -1 in one of ids or positions, false in one of yes and no.

    Attributes:
        table: Name of its file.
        columns: Names in the order of the file.

    Args:
        file: Which table it is.
        rows: The fields of its rows.
        results: The results that it is of.

    Raises:
        TableDamagedError: A field is not what a search writes there.
    """

    def __init__(self, file: SearchFile, rows: Sequence[Sequence[str]], results: RecordedResults) -> None:
        self.table, self.columns, self._results = file.name, file.header, results
        layout, leading = results.runs.layout, _LEADING.get(file.name)
        self._first = 0 if leading is None else len(leading)
        configs = [] if leading is None else [*layout.param_kinds.values(), *["tick"] * len(layout.actions or ())]
        self._behind = self._first + len(configs)
        before, behind = file.header[: self._first], file.header[self._behind :]
        kinds = [*map(_kind_of, before), *configs, *map(_kind_of, behind)]
        texts: list[Sequence[str]] = list(zip(*rows, strict=True)) or [()] * len(file.header)
        cells = [cells_for(kind, name, file.name) for kind, name in zip(kinds, file.header, strict=True)]
        self._data = [cell.array(column, 2) for cell, column in zip(cells, texts, strict=True)]
        self._empty = {
            position: np.array([not text for text in column], np.bool_)
            for position, (kind, column) in enumerate(zip(kinds, texts, strict=True))
            if kind in (_MAYBE, _FLAG)
        }
        self._names = {name: position for position, name in enumerate(self.columns)}
        own = (*range(self._first), *range(self._behind, len(self.columns)))
        self._names |= {self.columns[position]: position for position in own}

    def __repr__(self) -> str:
        """Return the facts on one line."""
        return f"<SearchColumns of {self.table}: {len(self)} rows x {len(self.columns)} columns>"

    def _repr_html_(self) -> str:
        return table_html(self.table, self.columns, self._data)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._data[0])

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Return the column `name`, ``(rows,)``.

        Raises:
            MissingColumnError: There is no such column.
        """
        if name not in self._names:
            raise MissingColumnError(self.table, name, self.columns)
        return self._data[self._names[name]]

    def __contains__(self, name: object) -> bool:
        """Return whether there is a column `name`."""
        return name in self._names

    def keys(self) -> tuple[str, ...]:
        """Return the names of the columns, each once, in the order of the file."""
        return tuple(dict.fromkeys(self.columns))

    def items(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield the name and values of each column."""
        return ((name, self[name]) for name in self.keys())

    def param(self, id: str) -> NDArray[Any]:
        """Return the values of the parameter `id`, ``(rows,)``: float64, int64, bool or text.

        Raises:
            MissingColumnError: There is no such parameter.
        """
        return self._config(id)

    def action(self, name: str) -> NDArray[Any]:
        """Return the ticks of the action entry `name`, ``(rows,)`` uint64.

        Raises:
            MissingColumnError: There is no such entry.
        """
        return self._config(f"{ACTION}{name}")

    def _config(self, name: str) -> NDArray[Any]:
        configs = self.columns[self._first : self._behind]
        if name not in configs:
            raise MissingColumnError(self.table, name, configs)
        return self._data[self._first + configs.index(name)]

    def cells(self) -> Iterator[tuple[str, NDArray[Any], NDArray[np.bool_] | None]]:
        """Yield name, values and which cells are empty of each column, each under a name of its own.

        Which are empty is None where the values tell, or there is none.
        """
        taken = {name for position, name in enumerate(self.columns) if not self._is_config(position)}
        for position, name in enumerate(self.columns):
            free = free_name(name, taken, "param") if self._is_config(position) else name
            yield free, self._data[position], self._empty.get(position)

    def _is_config(self, position: int) -> bool:
        return self._first <= position < self._behind

    def to_pandas(self) -> frames.DataFrame:
        """Return the table as a `pandas.DataFrame` with the provenance in its attributes.

        A parameter called like a column of the search is ``param.NAME``; empty cells are missing values.

        Raises:
            NeedsExtraError: pandas is not installed.
        """
        return frames.search_frame(self._results, self)

    def to_arrow(self) -> frames.ArrowTable:
        """Return the same as a `pyarrow.Table` with the provenance in its metadata.

        Raises:
            NeedsExtraError: pyarrow is not installed.
        """
        return frames.search_arrow(self._results, self)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the same to the Parquet file `path`.

        Raises:
            NeedsExtraError: pyarrow is not installed.
            OSError: The file cannot be written.
        """
        frames.write_search_parquet(self._results, self, path)


def _kind_of(name: str) -> str:
    """Return the type of a column of the search's own; one of several objectives has its column behind a point."""
    return _KINDS[name.partition(".")[0]]
