"""Tables of a model's own: which columns each has, and what a state may hand over for one.

Owns the declaration and the checks of what came. Knows nothing of when a table is asked for, and of no file.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from henad_web.errors import HenadError, ModelDefinitionError, near_miss
from henad_web.model.decimals import whole_text
from henad_web.model.schema import ID_RULE, cut_name, is_id, name_problem
from henad_web.model.state import shown_value

__all__ = ["ColumnKind", "Table", "TableShapeError", "TableState", "table_columns"]

RESERVED_ID = "rows"
"""Id that no table has: a file of this name counts the rows of the others."""

RESERVED_COLUMNS = ("run_id", "tick")
"""Columns that stand first in the file of every table."""


class ColumnKind(StrEnum):
    """What a column of a table holds; numbers that are not finite become empty cells."""

    F64 = "f64"
    F32 = "f32"
    I64 = "i64"
    BOOL = "bool"
    TEXT = "text"


@dataclass(frozen=True, slots=True)
class Table:
    """A table that a model can report beside its statistics, such as its agents, its edges or a histogram.

    Attributes:
        id: Name in specs and of its file: a lower-case letter, then lower-case letters, digits and underscores; not
            ``rows``.
        columns: Kind of each column by name, in order: ``f64``, ``f32``, ``i64``, ``bool`` or ``text``.

    Raises:
        ModelDefinitionError: The id, a name or a kind cannot be used, or there is no column.

    Example:
        >>> import henad_web as hw
        >>> hw.Table("agents", {"id": "i64", "wealth": "f64"})
        <Table 'agents': id i64, wealth f64>
    """

    id: str
    columns: Mapping[str, str] = field(hash=False)

    def __post_init__(self) -> None:
        """Make kinds words, and refuse what no file could hold."""
        if not is_id(self.id) or self.id == RESERVED_ID:
            rule = f"{ID_RULE}; not '{RESERVED_ID}', which counts the rows of all tables"
            raise ModelDefinitionError(f"table id {cut_name(self.id)} is malformed: {rule}")
        if not isinstance(self.columns, Mapping) or not self.columns:
            allowed = 'a mapping of names to kinds with at least one column, such as {"wealth": "f64"}'
            raise ModelDefinitionError(f"table '{self.id}': columns is {whole_text(self.columns)}; allowed: {allowed}")
        object.__setattr__(self, "columns", {name: self._kind(name) for name in self.columns})

    def _kind(self, name: object) -> ColumnKind:
        wrong = name_problem(name) if isinstance(name, str) else "is no text"
        if name in RESERVED_COLUMNS:
            wrong = "is the name of a column that every table has"
        elif name == "":
            wrong = "is empty"
        if wrong is not None:
            raise ModelDefinitionError(f"table '{self.id}': the column {cut_name(name)} {wrong}")
        kind = self.columns[str(name)]
        if kind not in list(ColumnKind):
            hint = near_miss(str(kind), ColumnKind)
            raise ModelDefinitionError(
                f"table '{self.id}': the column '{name}' is of the kind {cut_name(kind)}; "
                f"allowed: {', '.join(ColumnKind)}" + (f"; {hint}" if hint else "")
            )
        return ColumnKind(kind)

    def __repr__(self) -> str:
        """Return the facts on one line."""
        return f"<Table '{self.id}': {', '.join(f'{name} {kind}' for name, kind in self.columns.items())}>"


class TableState(Protocol):
    """What a state of a model with tables offers beside `ModelState`."""

    def table(self, name: str) -> Mapping[str, Any]:
        """Return the columns of the table `name` for the tick reached: arrays ``(rows,)``, all of one length.

        Called only for tables that a spec asks for.
        """
        ...


class TableShapeError(HenadError):
    """A table of a model that is not as declared.

    Attributes:
        table: Id of the table.
        tick: When it was asked for.
        column: The column that is wrong, None where the table as a whole is.
    """

    def __init__(
        self, table: str, tick: int, wrong: str, *, column: str | None = None, expected: str | None = None
    ) -> None:
        self.table, self.tick, self.column = table, tick, column
        what = f"the table '{table}'" if column is None else f"the column '{column}' of the table '{table}'"
        allowed = "" if expected is None else f", expected {expected}"
        super().__init__(f"{what} {wrong} at tick {tick}{allowed}")


_EXPECTED = {
    ColumnKind.F64: ("biuf", "numbers"),
    ColumnKind.F32: ("biuf", "numbers"),
    ColumnKind.I64: ("biu", "whole numbers from -2^63 to 2^63 - 1"),
    ColumnKind.BOOL: ("b", "true or false"),
    ColumnKind.TEXT: ("UOT", "texts"),
}
"""Kinds of arrays that a column takes, and what it holds in words."""


def table_columns(table: Table, tick: int, came: object) -> list[NDArray[Any]]:
    """Return the columns that a state gave as its `table` at `tick`, ``(rows,)`` each, in the order declared.

    Raises:
        TableShapeError: They are others, of another kind, of more than one axis, or of different lengths.
    """
    if not isinstance(came, Mapping):
        expected = "a mapping of columns to arrays"
        raise TableShapeError(table.id, tick, f"is {shown_value(came)}", expected=expected)
    _check_names(table, tick, came)
    columns = [_column(table, tick, name, came[name]) for name in table.columns]
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        told = ", ".join(f"'{name}' {len(column)}" for name, column in zip(table.columns, columns, strict=True))
        raise TableShapeError(table.id, tick, f"has columns of different lengths ({told})", expected="one length")
    return columns


def _check_names(table: Table, tick: int, came: Mapping[object, object]) -> None:
    names = [name if isinstance(name, str) else shown_value(name) for name in came]
    missing = [name for name in table.columns if name not in names]
    extra = [name for name in names if name not in table.columns]
    if missing or extra:
        found = (("missing", missing), ("not expected", extra))
        told = "; ".join(f"{words}: {', '.join(map(repr, names[:3]))}" for words, names in found if names)
        raise TableShapeError(table.id, tick, f"has other columns ({told})", expected=", ".join(table.columns))


def _column(table: Table, tick: int, name: str, came: object) -> NDArray[Any]:
    kind = ColumnKind(table.columns[name])
    kinds, words = _EXPECTED[kind]

    def wrong(what: str) -> TableShapeError:
        return TableShapeError(table.id, tick, what, column=name, expected=f"{words}, one a row")

    try:
        column = np.asarray(came)
    except (ValueError, TypeError, OverflowError):
        raise wrong(f"is {shown_value(came)}") from None
    if column.ndim != 1:
        raise wrong(f"has the shape {column.shape}" if column.ndim else f"is {shown_value(came)}")
    if not len(column):
        return column
    if column.dtype.kind not in kinds:
        raise wrong(f"holds {column.dtype.name} values")
    if kind is ColumnKind.TEXT and column.dtype.kind != "U":
        others = [value for value in column.tolist() if not isinstance(value, str)]
        if others:
            raise wrong(f"holds {shown_value(others[0])}")
    if kind is ColumnKind.I64 and column.dtype.kind == "u" and int(column.max()) > _LARGEST:
        raise wrong(f"holds {int(column.max())}")
    return column


_LARGEST = 2**63 - 1
