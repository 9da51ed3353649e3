"""The rows of runs.csv and series.csv.

Owns their columns, in order, and the bytes of a row. Keeps no row and opens no file.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from henad_web.output.numbers import column_texts, csv_field, csv_line, milliseconds_text, number_text

if TYPE_CHECKING:
    from henad_web.explore.outcomes import RunOutcome, Series
    from henad_web.explore.plan import Config, Plan

__all__ = ["LEADING", "MEASURED", "NOTE", "TIMINGS", "RunsTable", "SeriesTable", "config_columns"]

LEADING = ("run_id", "config_id", "block", "rep", "seed", "run_key")
"""Columns before the parameters."""

TIMINGS = ("build_ms", "wall_ms", "steps_per_s")
"""Columns that differ from one execution to the next."""

MEASURED = ("status", "stop_reason", "ticks", "population", *TIMINGS)
"""Columns between the actions and the reducers."""

NOTE = "note"
"""The last column."""


def config_columns(plan: Plan) -> tuple[str, ...]:
    """Return the columns that tell a config: parameters in schema order, ``action.NAME`` of each action."""
    params = [param.id for param in plan.schema.params]
    return (*params, *(f"action.{action.label}" for action in plan.spec.actions))


class RunsTable:
    """Makes the bytes of runs.csv.

    Attributes:
        header: Its first line.
    """

    __slots__ = ("_config_id", "_config_text", "_plan", "_reducers", "header")

    def __init__(self, plan: Plan, reducer_columns: Sequence[str]) -> None:
        self._plan, self._reducers = plan, tuple(reducer_columns)
        self._config_id, self._config_text = -1, ("", "")
        self.header = csv_line([*LEADING, *config_columns(plan), *MEASURED, *self._reducers, NOTE])

    def row(self, outcome: RunOutcome) -> bytes:
        """Return the row of `outcome`; a reducer that no sample qualified for is an empty field."""
        run = outcome.run
        if run.config_id != self._config_id:
            self._config_text = self._text_of(self._plan.configs[run.config_id])
            self._config_id = run.config_id
        block, values = self._config_text
        value_of = outcome.reducers.get
        reduced = ["" if (value := value_of(name)) is None else number_text(value) for name in self._reducers]
        fields = [
            f"{run.run_id},{run.config_id},{block},{run.rep},{run.seed},{outcome.run_key}{values}",
            outcome.status.value,
            outcome.stop_reason.value,
            str(outcome.ticks),
            str(outcome.population),
            milliseconds_text(outcome.build_ms),
            milliseconds_text(outcome.wall_ms),
            milliseconds_text(outcome.steps_per_s),
            *reduced,
            csv_field(outcome.note),
        ]
        # A message may hold half of a surrogate pair, which no encoding has; a failing run is a row all the
        # same.
        return (",".join(fields) + "\n").encode(errors="replace")

    def _text_of(self, config: Config) -> tuple[str, str]:
        params = self._plan.schema.params
        texts = [csv_field(param.text(value)) for param, value in zip(params, config.params, strict=True)]
        texts += [str(tick) for tick in config.action_ticks]
        return str(config.block), "".join(f",{text}" for text in texts)


class SeriesTable:
    """Makes the bytes of series.csv.

    Attributes:
        header: Its first line.
    """

    __slots__ = ("header",)

    def __init__(self, stat_columns: Sequence[str]) -> None:
        self.header = csv_line(["run_id", "tick", *stat_columns])

    def rows(self, run_id: int, series: Series) -> bytes:
        """Return the rows of one run in tick order, empty for an empty series."""
        if not len(series):
            return b""
        columns = [column_texts(column) for column in series.values.T]
        ticks = map(str, series.ticks.tolist())
        start = f"\n{run_id},"
        lines = start.join(map(",".join, zip(ticks, *columns, strict=True)))
        return f"{run_id},{lines}\n".encode()
