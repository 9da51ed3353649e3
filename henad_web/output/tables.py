"""The tables of a sweep: what their headers must hold, and the bytes of a row.

Owns the order of their columns, whose names are `explore.columns`'. Keeps no row and opens no file.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from henad_web.errors import TableDamagedError
from henad_web.explore.cell_texts import column_texts, csv_field, csv_line, milliseconds_text, number_text
from henad_web.explore.columns import (
    ACTION,
    LEADING,
    MEASURED,
    NOTE,
    REACHED,
    SERIES_LEADING,
    STATISTICS,
    SUMMARY_COUNTS,
    SUMMARY_LEADING,
    SUMMARY_TICKS,
    TIMINGS,
    UNTIL,
)
from henad_web.output.names import RUNS

if TYPE_CHECKING:
    from henad_web.explore.adaptive_spec import AdaptiveReplicates
    from henad_web.explore.outcomes import RunOutcome, Series
    from henad_web.explore.plan import Config, Plan
    from henad_web.model.params import Param

__all__ = [
    "RunsColumns",
    "RunsLayout",
    "RunsTable",
    "SeriesTable",
    "check_header",
    "check_separator",
    "config_texts",
    "series_header",
    "summary_header",
]


def series_header(stats: Sequence[str]) -> tuple[str, ...]:
    """Return the columns of a series.csv of the statistics `stats`."""
    return (*SERIES_LEADING, *stats)


def summary_header(
    configs: Sequence[str], reducers: Sequence[str], adaptive: AdaptiveReplicates | None = None
) -> tuple[str, ...]:
    """Return the columns of a summary.csv whose configs are told by the columns `configs`."""
    statistics = [f"{reducer}:{statistic}" for reducer in reducers for statistic in STATISTICS]
    if adaptive is not None:
        statistics += [f"{precision.column}:{end}" for precision in adaptive.until for end in UNTIL]
        statistics.append(REACHED)
    return (*SUMMARY_LEADING, *configs, *SUMMARY_COUNTS, SUMMARY_TICKS, *statistics)


def check_header(table: str, header: Sequence[str], expected: Sequence[str]) -> None:
    """Make sure that `header` is the one `expected` of `table`.

    Raises:
        TableDamagedError: It is another one; the first column that differs is named.
    """
    if tuple(header) == tuple(expected):
        return
    for came, wanted in zip(header, expected, strict=False):
        if came != wanted:
            raise TableDamagedError(table, 1, wanted, came=came, expected=f"the column '{wanted}'")
    if len(header) > len(expected):
        extra = header[len(expected)]
        raise TableDamagedError(table, 1, extra, came=extra, expected="no further column")
    wanted = expected[len(header)]
    raise TableDamagedError(table, 1, wanted, came=None, expected=f"the column '{wanted}'")


def check_separator(table: str, header: Sequence[str], first: str) -> None:
    """Make sure that `header`, whose first column is to be `first`, is not one field of all columns.

    Raises:
        TableDamagedError: Something else than a comma parts its fields.
    """
    # What spreadsheets write where a comma stands in numbers, and what they paste.
    for separator in ";", "\t", "|":
        if len(header) == 1 and header[0].startswith(f"{first}{separator}"):
            raise TableDamagedError(table, 1, came=header[0], expected=f"fields parted by ',' and not by {separator!r}")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsLayout:
    """What the columns of one runs.csv must be.

    Attributes:
        param_kinds: Kind of each parameter by id, in schema order.
        actions: Names of the action entries, in order; None when nothing tells, and the header must.
        reducers: Reducer columns, in order.
    """

    param_kinds: Mapping[str, str]
    actions: tuple[str, ...] | None
    reducers: tuple[str, ...]

    @classmethod
    def of_plan(cls, plan: Plan, reducers: Sequence[str]) -> RunsLayout:
        """Return the layout of the runs of `plan`."""
        kinds = {param.id: str(param.kind) for param in plan.schema.params}
        actions = tuple(action.label for action in plan.spec.actions)
        return cls(param_kinds=kinds, actions=actions, reducers=tuple(reducers))

    @property
    def configs(self) -> tuple[str, ...]:
        """Columns that tell a config: parameters in schema order, ``action.NAME`` of each action."""
        return (*self.param_kinds, *(f"{ACTION}{name}" for name in self.actions or ()))

    @property
    def header(self) -> tuple[str, ...]:
        """The header a sweep writes."""
        return (*LEADING, *self.configs, *MEASURED, *self.reducers, NOTE)

    @property
    def measured(self) -> int:
        """Position of the first column behind the parameters and actions."""
        return len(LEADING) + len(self.configs)

    def checked(self, header: Sequence[str]) -> RunsLayout:
        """Return the layout of `header`, made sure to be one of this layout.

        Raises:
            TableDamagedError: Another column stands where one is expected.
        """
        layout = self if self.actions is not None else self._with_actions_of(header)
        check_header(RUNS, header, layout.header)
        return layout

    def _with_actions_of(self, header: Sequence[str]) -> RunsLayout:
        names = []
        for name in header[len(LEADING) + len(self.param_kinds) :]:
            if not name.startswith(ACTION):
                break
            names.append(name.removeprefix(ACTION))
        return replace(self, actions=tuple(names))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunsColumns:
    """Where things stand in a record of runs.csv, found from its end: a parameter may be called anything.

    Attributes:
        header: All columns.
        measured: Position of the first column behind the parameters and actions.
        reducers: Names of the reducer columns.
    """

    header: tuple[str, ...]
    measured: int
    reducers: tuple[str, ...]

    @classmethod
    def of(cls, header: Sequence[str]) -> RunsColumns:
        """Return the columns that `header` names.

        Raises:
            TableDamagedError: It is not the header of a sweep's runs.csv.
        """
        check_separator(RUNS, header, LEADING[0])
        end = len(header) - 1 - header[::-1].index(MEASURED[-1]) if MEASURED[-1] in header else 0
        measured = end + 1 - len(MEASURED)
        found = (*header[: len(LEADING)], *header[max(measured, 0) : end + 1], *header[-1:])
        if found != (*LEADING, *MEASURED, NOTE):
            names = ", ".join((*LEADING, "...", *MEASURED, "...", NOTE))
            raise TableDamagedError(RUNS, 1, came=", ".join(header), expected=f"the columns of a sweep: {names}")
        return cls(header=tuple(header), measured=measured, reducers=tuple(header[end + 1 : -1]))

    @property
    def width(self) -> int:
        """Fields of a record."""
        return len(self.header)

    @property
    def config_names(self) -> tuple[str, ...]:
        """Columns that tell a config: parameters in schema order, then ``action.NAME`` of each action."""
        return self.header[len(LEADING) : self.measured]

    @property
    def timings(self) -> tuple[int, ...]:
        """Positions of the columns that differ from one execution to the next."""
        return tuple(self.measured + MEASURED.index(name) for name in TIMINGS)

    def config(self, record: Sequence[str]) -> list[str]:
        """Return config id, block, parameters and actions of `record`."""
        return [*record[1:3], *record[len(LEADING) : self.measured]]

    def reduced(self, record: Sequence[str]) -> Sequence[str]:
        """Return the reducer cells of `record`."""
        return record[self.measured + len(MEASURED) : -1]


def config_texts(params: Iterable[Param], config: Config) -> list[str]:
    """Return the cells of `config` under `RunsLayout.configs`, not quoted yet.

    Args:
        params: The parameters, in schema order.
        config: What they take.
    """
    texts = [param.text(value) for param, value in zip(params, config.params, strict=True)]
    return [*texts, *map(str, config.action_ticks)]


class RunsTable:
    """Makes the bytes of runs.csv.

    Attributes:
        header: Its first line.

    Args:
        plan: What the runs are of.
        reducer_columns: Names of the reducers, in order.
    """

    __slots__ = ("_config_id", "_config_text", "_params", "_reducers", "header")

    def __init__(self, plan: Plan, reducer_columns: Sequence[str]) -> None:
        self._params, self._reducers = plan.schema.params, tuple(reducer_columns)
        self._config_id, self._config_text = -1, ("", "")
        self.header = csv_line(RunsLayout.of_plan(plan, reducer_columns).header)

    def row(self, outcome: RunOutcome) -> bytes:
        """Return the row of `outcome`; a reducer that no sample qualified for is an empty field."""
        run = outcome.run
        if run.config_id != self._config_id:
            self._config_text = self._text_of(outcome.config)
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
        return str(config.block), "".join(f",{csv_field(text)}" for text in config_texts(self._params, config))


class SeriesTable:
    """Makes the bytes of series.csv.

    Attributes:
        header: Its first line.
    """

    __slots__ = ("header",)

    def __init__(self, stat_columns: Sequence[str]) -> None:
        self.header = csv_line(series_header(stat_columns))

    def rows(self, run_id: int, series: Series) -> bytes:
        """Return the rows of one run in tick order, empty for an empty series."""
        if not len(series):
            return b""
        columns = [column_texts(column) for column in series.values.T]
        ticks = map(str, series.ticks.tolist())
        start = f"\n{run_id},"
        lines = start.join(map(",".join, zip(ticks, *columns, strict=True)))
        return f"{run_id},{lines}\n".encode()
