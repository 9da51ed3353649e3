"""Rows that are there, told to the rule of adaptive replicates.

Owns reading the values that the rule goes by. What becomes of rows that it did not ask for is the caller's choice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from henad_web.errors import ManifestError
from henad_web.explore.columns import MEASURED
from henad_web.explore.replication import Replication
from henad_web.output.names import MANIFEST, RUNS
from henad_web.output.table_index import IS_FAILURE, opened_or_empty
from henad_web.output.table_reading import RunsReader

if TYPE_CHECKING:
    from henad_web.output.store import ResultsReader
    from henad_web.output.table_index import Ints, RunsIndex
    from henad_web.output.tables import RunsLayout

__all__ = ["ToldRows", "tell_rows"]


@dataclass(frozen=True, slots=True, eq=False)
class ToldRows:
    """What the rule made of some rows.

    Attributes:
        asked: Whether each of them is of a replicate that its config was asked for, bool ``(rows,)``.
        superfluous: The run of the first row behind the last round of its config, None when there is none. A row that
            was not asked for and is not superfluous lies behind a round that lacks a run.
    """

    asked: NDArray[np.bool_]
    superfluous: int | None


def tell_rows(
    told: Replication,
    reader: ResultsReader,
    layout: RunsLayout,
    runs: RunsIndex,
    positions: Ints,
    run_ids: Ints,
    replicates: int,
) -> ToldRows:
    """Tell `told` of the rows at `positions` of the runs.csv that `reader` reads.

    Args:
        told: Hears of them by config and replicate, in this order.
        reader: Where they stand.
        layout: Columns of the table.
        runs: Its index.
        positions: Which rows, in any order.
        run_ids: The run that each of them is of.
        replicates: Most runs of a config in the plan of these runs.

    Raises:
        NotBinaryError: A column that is to have Wilson's interval holds another value than 0 or 1.
        ManifestError: There is no such column.
    """
    values = _values(reader, layout, told.columns)[positions]
    values[IS_FAILURE[runs.status[positions]]] = np.nan
    asked, superfluous = np.zeros(len(positions), np.bool_), None
    for row in np.argsort(run_ids, kind="stable").tolist():
        config_id, rep = divmod(int(run_ids[row]), replicates)
        asked[row] = told.tell(config_id, rep, values[row].tolist())
        if not asked[row] and superfluous is None and told.is_settled(config_id):
            superfluous = int(run_ids[row])
    return ToldRows(asked, superfluous)


def _values(reader: ResultsReader, layout: RunsLayout, columns: tuple[str, ...]) -> NDArray[np.float64]:
    """Return the reducer `columns` of every row, float64 ``(rows, columns)``; what is not there is NaN."""
    first = layout.measured + len(MEASURED)
    missing = next((column for column in columns if column not in layout.reducers), None)
    if missing is not None:
        raise ManifestError(f"{MANIFEST}: columns.reducers lacks '{missing}', by which replicates are decided on")
    at = [first + layout.reducers.index(column) for column in columns]
    with opened_or_empty(reader, RUNS) as stream:
        batches = list(RunsReader(stream, layout).batches())
        parts = [np.stack([batch.columns[position] for position in at], axis=1) for batch in batches]
    return np.concatenate(parts).astype(np.float64)
