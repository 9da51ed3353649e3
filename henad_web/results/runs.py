"""The rows of runs.csv as typed columns, and each row as a record.

Owns how columns and rows are asked for. A torn last row is no row; the file is not repaired.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from henad_web.errors import TableDamagedError
from henad_web.explore.columns import ACTION, LEADING, MEASURED, NOTE, TIMINGS
from henad_web.explore.outcomes import PlannedRun, RunStatus, StopReason
from henad_web.markup import table_html
from henad_web.output.names import RUNS
from henad_web.output.run_spans import span_text
from henad_web.output.table_reading import RunsReader
from henad_web.output.tables import RunsLayout
from henad_web.results.errors import MissingColumnError, UnknownRunError

__all__ = ["RecordedRun", "RecordedRuns"]

_BATCH = 16384
"""Rows made into records at once."""

Column = NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """One row of runs.csv.

    Attributes:
        run: Which run of the plan.
        block: Block of its config.
        run_key: 16 hex digits that name its results.
        params: Value of every parameter as the table has it, by id: of an f32 the decimal written there.
        action_ticks: Tick of every action entry, by its name.
        status: How it ended.
        stop_reason: Why it stepped no further.
        ticks: Last tick reached.
        population: Population at the latest sample.
        build_ms: Time the build took, milliseconds.
        wall_ms: Time stepping and sampling took, milliseconds.
        steps_per_s: Ticks a second of `wall_ms`; NaN when it was too short to tell.
        reducers: Value of every reducer, None for one that no sample qualified for.
        note: One line, empty when there is nothing to say.
    """

    run: PlannedRun
    block: int
    run_key: str
    params: Mapping[str, float | int | bool | str]
    action_ticks: Mapping[str, int]
    status: RunStatus
    stop_reason: StopReason
    ticks: int
    population: int
    build_ms: float
    wall_ms: float
    steps_per_s: float
    reducers: Mapping[str, float | None]
    note: str

    def __repr__(self) -> str:
        """Return the facts on one line."""
        note = f": {self.note}" if self.note else ""
        ended = f"{self.status} by {self.stop_reason} after {self.ticks} ticks{note}"
        return f"<RecordedRun {self.run.run_id}, config {self.run.config_id}, rep {self.run.rep}: {ended}>"


class RecordedRuns:
    """Every whole row of runs.csv: columns by name, rows by run id, in the order of the file.

    ``runs["ticks"]`` is a column, ``for run in runs`` yields rows, ``len(runs)`` counts them. Where a parameter or
    statistic is called like a column of every table, that name means the latter; `param` and `reducer` reach the
    others.

    Attributes:
        columns: Names in the order of the file.
        param_ids: Ids of the parameters.
        actions: Names of the action entries.
        reducers: Names of the reducer columns.
        layout: What the columns are.
        torn_bytes: Bytes after the last whole row.
    """

    def __init__(self, stream: BinaryIO, layout: RunsLayout) -> None:
        """Read the table in `stream`.

        Raises:
            TableDamagedError: A header or field is not what a sweep writes.
        """
        reader = RunsReader(stream, layout)
        self.layout = layout = reader.layout()
        self.columns = layout.header
        self.param_ids, self.reducers = tuple(layout.param_kinds), layout.reducers
        self.actions = layout.actions or ()
        parts = [batch.columns for batch in reader.batches()]
        self._data = [np.concatenate(column) for column in zip(*parts, strict=True)]
        self.torn_bytes = reader.torn_bytes
        self._measured = layout.measured
        self._names = self._name_positions()
        self._rows = {int(run_id): row for row, run_id in enumerate(self["run_id"])}
        if len(self._rows) != len(self):
            _refuse_twice(self["run_id"].tolist())

    def __repr__(self) -> str:
        """Return the facts on one line."""
        return f"<RecordedRuns: {len(self)} rows x {len(self.columns)} columns>"

    def _repr_html_(self) -> str:
        return table_html(RUNS, self.columns, self._data)

    def __len__(self) -> int:
        """Return the number of rows."""
        return len(self._data[0])

    def __iter__(self) -> Iterator[RecordedRun]:
        """Yield the rows."""
        for first in range(0, len(self), _BATCH):
            batch = (column[first : first + _BATCH].tolist() for column in self._data)
            yield from map(self._record, zip(*batch, strict=True))

    def __getitem__(self, name: str) -> Column:
        """Return the column `name`, ``(rows,)``.

        Raises:
            MissingColumnError: There is no such column.
        """
        position = self._names.get(name)
        if position is None:
            raise MissingColumnError(RUNS, name, self.columns)
        return self._data[position]

    def __contains__(self, name: object) -> bool:
        """Return whether there is a column `name`."""
        return name in self._names

    def keys(self) -> tuple[str, ...]:
        """Return the names of the columns, each once, in the order of the file."""
        return tuple(dict.fromkeys(self.columns))

    def items(self) -> Iterator[tuple[str, Column]]:
        """Yield the name and values of each column."""
        return ((name, self[name]) for name in self.keys())

    def at(self, position: int) -> Column:
        """Return the column at `position` of `columns`."""
        return self._data[position]

    def param(self, id: str) -> Column:
        """Return the values of the parameter `id`: float64, int64, bool or text.

        Raises:
            MissingColumnError: There is no such parameter.
        """
        if id not in self.param_ids:
            raise MissingColumnError(RUNS, id, self.param_ids)
        return self._data[len(LEADING) + self.param_ids.index(id)]

    def reducer(self, name: str) -> Column:
        """Return the values of the reducer column `name`, float64, NaN where no sample qualified.

        Raises:
            MissingColumnError: There is no such reducer.
        """
        if name not in self.reducers:
            raise MissingColumnError(RUNS, name, self.reducers)
        return self._data[self._measured + len(MEASURED) + self.reducers.index(name)]

    def action(self, name: str) -> Column:
        """Return the ticks of the action entry `name`.

        Raises:
            MissingColumnError: There is no such entry.
        """
        if name not in self.actions:
            raise MissingColumnError(RUNS, f"{ACTION}{name}", self.actions)
        return self._data[len(LEADING) + len(self.param_ids) + self.actions.index(name)]

    @property
    def is_non_finite(self) -> NDArray[np.bool_]:
        """Whether the run of each row met a value that is not finite, which its reducers skip; ``(rows,)``."""
        return np.asarray(self["status"] == RunStatus.NON_FINITE.value)

    def holds(self, run_id: int) -> bool:
        """Return whether there is a row of the run `run_id`."""
        return run_id in self._rows

    def places(self, run_ids: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the position of the row of each of `run_ids`, ``(n,)``, -1 where there is no row."""
        order = self._order
        known = self["run_id"][order]
        found = np.searchsorted(known, run_ids)
        inside = np.minimum(found, max(len(known) - 1, 0))
        is_there = known[inside] == run_ids if len(known) else np.zeros(len(run_ids), np.bool_)
        return np.where(is_there, order[inside] if len(known) else -1, -1)

    @cached_property
    def _order(self) -> NDArray[np.int64]:
        return np.argsort(self["run_id"])

    def record_of(self, run_id: int) -> int:
        """Return the number of the record that the row of the run `run_id`, which must be there, stands in."""
        return self._rows[run_id] + 2

    def run(self, run_id: int) -> RecordedRun:
        """Return the row of the run `run_id`.

        Raises:
            UnknownRunError: There is none.
        """
        row = self._rows.get(run_id)
        if row is None:
            raise UnknownRunError(run_id, span_text(self._rows))
        return self._record([column[row].item() for column in self._data])

    def _name_positions(self) -> dict[str, int]:
        own = {*LEADING, *MEASURED, NOTE}
        positions = {name: position for position, name in enumerate(self.columns)}
        for position, name in enumerate(self.columns):
            is_config = len(LEADING) <= position < self._measured
            is_reducer = self._measured + len(MEASURED) <= position < len(self.columns) - 1
            if name in own and not is_config and not is_reducer:
                positions[name] = position
        return positions

    def _record(self, cells: Sequence[Any]) -> RecordedRun:
        run_id, config_id, block, rep, seed, run_key = cells[: len(LEADING)]
        config = cells[len(LEADING) : self._measured]
        measured = dict(zip(MEASURED, cells[self._measured :], strict=False))
        reduced = cells[self._measured + len(MEASURED) : -1]
        return RecordedRun(
            run=PlannedRun(run_id, config_id, rep, seed),
            block=block,
            run_key=run_key,
            params=dict(zip(self.param_ids, config, strict=False)),
            action_ticks=dict(zip(self.actions, config[len(self.param_ids) :], strict=True)),
            status=RunStatus(measured["status"]),
            stop_reason=StopReason(measured["stop_reason"]),
            ticks=measured["ticks"],
            population=measured["population"],
            **{name: measured[name] for name in TIMINGS},
            reducers={
                name: value if value == value else None for name, value in zip(self.reducers, reduced, strict=True)
            },
            note=cells[-1],
        )


def _refuse_twice(run_ids: list[int]) -> None:
    seen: set[int] = set()
    for row, run_id in enumerate(run_ids):
        if run_id in seen:
            raise TableDamagedError(RUNS, row + 2, "run_id", came=str(run_id), expected="each run once")
        seen.add(run_id)
