"""The model's own tables as they are taken from one run: when, and as which rows.

Rows become text at once, so that a run in progress holds what its files will, and the pump that writes them has nothing
to compute. What a state may hand over is `model.tables`' business; where rows go, `output`'s.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from henad_web.explore.cell_texts import column_texts, field_texts
from henad_web.explore.outcomes import RunTable
from henad_web.model.decimals import shown_numbers
from henad_web.model.tables import ColumnKind, Table, TableShapeError, table_columns

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from henad_web.explore.measure import MeasurePlan

__all__ = ["TableSampler", "row_texts", "table_offer"]


class TableSampler:
    """Takes the tables of one run in tick order.

    Args:
        plan: Which tables, and when.
        run_id: Id of the run, which stands first in each row.
    """

    __slots__ = ("_every", "_last", "_run_id", "_tables", "_taken", "_warmup")

    def __init__(self, plan: MeasurePlan, run_id: int) -> None:
        self._tables, self._every, self._warmup, self._run_id = plan.tables, plan.tables_every, plan.warmup, run_id
        self._taken: list[tuple[list[bytes], list[int]]] = [([], []) for _ in plan.tables]
        self._last = -1

    def take(self, tick: int, table: Callable[[str], object], *, is_last: bool) -> None:
        """Take the tables that are due at the sample of `tick`, once.

        Args:
            tick: Tick of the sample.
            table: Gives a table by its id, as `TableState.table` does.
            is_last: Whether the run ends here by itself: its tables are due then at any cadence.

        Raises:
            TableShapeError: A table is not as declared; none is taken.
        """
        is_due = is_last or (self._every > 0 and (tick - self._warmup) % self._every == 0)
        if not (self._tables and is_due and tick > self._last):
            return
        found = [table_columns(own, tick, table(own.id)) for own in self._tables]
        for own, columns, (parts, counts) in zip(self._tables, found, self._taken, strict=True):
            parts.append(row_texts(own, columns, self._run_id, tick))
            counts.append(len(columns[0]))
        self._last = tick

    def finish(self) -> dict[str, RunTable]:
        """Return the rows of each table by its id."""
        return {
            own.id: RunTable(b"".join(parts), sum(counts))
            for own, (parts, counts) in zip(self._tables, self._taken, strict=True)
        }


def table_offer(state: object, plan: MeasurePlan, tick: int, member: str = "table") -> Callable[..., object]:
    """Return the `member` by which `state` offers its tables.

    Raises:
        TableShapeError: It offers none, and `plan` asks for some.
    """
    offer = getattr(state, member, None)
    if callable(offer):
        return offer  # type: ignore[no-any-return]
    wrong = f"is not there: the state of the model has no method {member}(…)"
    raise TableShapeError(plan.tables[0].id, tick, wrong)


def row_texts(table: Table, columns: Sequence[NDArray[Any]], run_id: int, tick: int) -> bytes:
    """Return the rows of `columns`, ``(rows,)`` each, as they stand in the file of `table`; empty for none."""
    if not len(columns[0]):
        return b""
    texts = [_texts(kind, column) for kind, column in zip(table.columns.values(), columns, strict=True)]
    start = f"{run_id},{tick},"
    lines = f"\n{start}".join(map(",".join, zip(*texts, strict=True)) if len(texts) > 1 else texts[0])
    return f"{start}{lines}\n".encode(errors="replace")  # half of a surrogate pair has no bytes


def _texts(kind: str, column: NDArray[Any]) -> Sequence[str]:
    if kind == ColumnKind.TEXT:
        return field_texts(column.tolist())
    if kind == ColumnKind.BOOL:
        return np.where(column, "true", "false").tolist()  # type: ignore[no-any-return]
    if kind == ColumnKind.I64:
        return list(map(str, column.astype(np.int64).tolist()))
    if kind == ColumnKind.F64:
        return column_texts(column.astype(np.float64))
    with np.errstate(over="ignore"):
        single = column.astype(np.float32)
    shown = np.full(len(single), np.nan)
    is_finite = np.isfinite(single)
    shown[is_finite] = shown_numbers(single[is_finite])
    return column_texts(shown)
