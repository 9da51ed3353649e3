"""When a run is sampled and what is made of its samples: series rows, reducers and the stop condition.

Owns the sample ticks and the binding of a spec's columns to a model's; samples are taken by `sampler`. Does not step a
model and does not know where results are written.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from henad_web.errors import PlanError, ProblemList, near_miss
from henad_web.explore.columns import default_columns, resolve_column
from henad_web.explore.conditions import Comparison, CompoundStop
from henad_web.explore.reducers import DEFAULT_KINDS, Reduction, parse_kind
from henad_web.explore.sampler import BatchSampler, Sampler
from henad_web.explore.spec import StopSpec, SweepSpec
from henad_web.explore.table_sampler import TableSampler

if TYPE_CHECKING:
    from henad_web.explore.plan import Plan
    from henad_web.model.tables import Table

__all__ = ["BoundReducer", "BoundStop", "MeasurePlan"]


@dataclass(frozen=True, slots=True)
class BoundReducer:
    """A reducer tied to a column.

    Attributes:
        name: ``COLUMN:KIND`` as files call it, with the column as the spec wrote it.
        column: Position of its column.
        reduction: What it computes.
    """

    name: str
    column: int
    reduction: Reduction


@dataclass(frozen=True, slots=True)
class BoundStop:
    """A stop condition tied to columns.

    Attributes:
        stop: The condition.
        positions: Position of the column that each name in it means.
    """

    stop: StopSpec | CompoundStop
    positions: Mapping[str, int]

    @property
    def min_tick(self) -> int:
        """First tick at which it may end a run."""
        return self.stop.min_tick

    def condition(self) -> Callable[[Sequence[float]], bool]:
        """Return whether it is satisfied by a sample, given as its values in the order of the columns.

        A comparison with NaN never is.
        """
        if isinstance(self.stop, CompoundStop):
            return self.stop.over(self.positions)
        position, compare, threshold = self.positions[self.stop.column], self.stop.comparison, self.stop.threshold
        holds = Comparison(compare).holds
        return lambda row: holds(row[position], threshold)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasurePlan:
    """How every run of a plan is measured, once the model's columns are known.

    Attributes:
        warmup: Tick of the first sample.
        total: Tick of the last one, ``warmup + steps``.
        stats_every: Ticks between samples.
        series_every: Ticks between series rows, a multiple of `stats_every`; 0 keeps none.
        columns: Stat columns, in the order a state gives them.
        reducers: Reducers in file order, without duplicates.
        stop: The stop condition, None for none.
        timeout_s: Seconds of stepping and sampling after which a run is given up, None for no limit.
        tables: The model's own tables that are kept.
        tables_every: Ticks between two reports of these, a multiple of `stats_every`; 0 for the end of a run alone.
    """

    warmup: int
    total: int
    stats_every: int
    series_every: int
    columns: tuple[str, ...]
    reducers: tuple[BoundReducer, ...]
    stop: BoundStop | None
    timeout_s: float | None = None
    tables: tuple[Table, ...] = ()
    tables_every: int = 0

    @classmethod
    def bind(cls, plan: Plan, columns: tuple[str, ...]) -> MeasurePlan:
        """Tie the measuring of `plan` to the stat `columns` of its model, as a probe build gave them.

        Raises:
            PlanError: A reducer or the stop condition names no column.
        """
        problems = ProblemList()
        reducers = _bind_reducers(plan, columns, problems)
        stop = _bind_stop(plan, columns, problems)
        _check_until(plan, reducers, problems)
        if problems.problems:
            raise PlanError(problems.problems)
        measure = plan.spec.measure
        return cls(
            warmup=plan.warmup,
            total=plan.total_ticks,
            stats_every=measure.stats_every,
            series_every=measure.series_cadence,
            columns=columns,
            reducers=reducers,
            stop=stop,
            timeout_s=plan.spec.run.timeout_s,
            tables=plan.tables,
            tables_every=measure.tables_every or 0,
        )

    @classmethod
    def unkept(cls, spec: SweepSpec, columns: tuple[str, ...]) -> MeasurePlan:
        """Return when runs of `spec` are sampled, to step one to any tick: nothing is kept, nothing ends it early."""
        run = spec.run
        return cls(
            warmup=run.warmup,
            total=run.warmup + run.steps,
            stats_every=spec.measure.stats_every,
            series_every=0,
            columns=columns,
            reducers=(),
            stop=None,
        )

    @property
    def reducer_columns(self) -> tuple[str, ...]:
        """Names of the reducer columns, in file order."""
        return tuple(reducer.name for reducer in self.reducers)

    def next_sample(self, tick: int) -> int | None:
        """Return the first sample tick after `tick`, None when the last is past; -1 asks for the first.

        Samples fall at `warmup`, every `stats_every` ticks from there, and always at `total`.
        """
        if tick < self.warmup:
            return self.warmup
        if tick >= self.total:
            return None
        periods = (tick - self.warmup) // self.stats_every + 1
        return min(self.warmup + periods * self.stats_every, self.total)

    def sampler(self) -> Sampler:
        """Return a sampler for one run."""
        return Sampler(self)

    def batch_sampler(self, rows: int) -> BatchSampler:
        """Return a sampler for `rows` runs that are stepped together."""
        return BatchSampler(self, rows)

    def table_sampler(self, run_id: int) -> TableSampler:
        """Return what takes the model's own tables of the run `run_id`."""
        return TableSampler(self, run_id)


def _bind_reducers(plan: Plan, columns: tuple[str, ...], problems: ProblemList) -> tuple[BoundReducer, ...]:
    measure = plan.spec.measure
    bound: dict[str, BoundReducer] = {}
    if measure.default_reducers:
        for column in default_columns(columns, plan.schema.stat_labels):
            for kind in DEFAULT_KINDS:
                name = f"{column}:{kind}"
                bound[name] = BoundReducer(name, columns.index(column), Reduction(kind))
    for position, reducer in enumerate(measure.reducers):
        resolved = resolve_column(reducer.column, columns)
        if resolved is None:
            place = ("measure", "reducers", position)
            _add_unknown_column(problems, place, "column", reducer.column, columns)
            continue
        reduction = parse_kind(reducer.kind)
        name = f"{reducer.column}:{reduction.text}"
        bound.setdefault(name, BoundReducer(name, columns.index(resolved), reduction))
    return tuple(bound.values())


def _check_until(plan: Plan, reducers: tuple[BoundReducer, ...], problems: ProblemList) -> None:
    """Check the columns of adaptive replicates: of parts of a vector, labels alone do not tell which there are."""
    adaptive, known = plan.spec.run.adaptive, [reducer.name for reducer in reducers]
    for position, precision in enumerate(() if adaptive is None else adaptive.until):
        if precision.column not in known:
            table, hint = ("run", "replicates", "until", position), near_miss(precision.column, known)
            wrong, came = "no such column of reducers", f"'{precision.column}'"
            problems.add(table, "column", wrong, came=came, allowed=", ".join(known), hint=hint)


def _bind_stop(plan: Plan, columns: tuple[str, ...], problems: ProblemList) -> BoundStop | None:
    stop = plan.stop
    if stop is None:
        return None
    named = [name.name for name in stop.names] if isinstance(stop, CompoundStop) else [stop.column]
    resolved = {name: resolve_column(name, columns) for name in named}
    for name, column in resolved.items():
        if column is None:
            _add_unknown_column(problems, ("run", "stop"), "condition", name, columns)
    positions = {name: columns.index(column) for name, column in resolved.items() if column is not None}
    return BoundStop(stop, positions)


def _add_unknown_column(
    problems: ProblemList, table: tuple[str | int, ...], key: str, name: str, columns: tuple[str, ...]
) -> None:
    problems.add(
        table,
        key,
        "no such stat column",
        came=f"'{name}'",
        allowed=", ".join(columns) or "none, the model has no statistics",
        hint=near_miss(name, columns),
    )
