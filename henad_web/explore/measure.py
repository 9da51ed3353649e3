"""When a run is sampled and what its samples become: series rows, reducers and the stop condition.

Owns the sample ticks, the binding of a spec's columns to a model's and the buffering of samples. Does not
step a model and does not know where results are written.
"""

from __future__ import annotations

from array import array
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from henad_web.errors import PlanError, ProblemList, StatsShapeError, near_miss
from henad_web.explore.columns import default_columns, resolve_column
from henad_web.explore.conditions import Comparison, CompoundStop
from henad_web.explore.outcomes import Series
from henad_web.explore.reducers import DEFAULT_KINDS, ColumnTotals, Fold, Reduction, fold_of, parse_kind
from henad_web.explore.spec import StopSpec, SweepSpec
from henad_web.model.state import shown_value

if TYPE_CHECKING:
    from henad_web.explore.plan import Plan

__all__ = ["BoundReducer", "BoundStop", "MeasurePlan", "Sampler"]

_BLOCK = 1024
"""Samples folded at once, so that numpy's fixed cost of a fold is shared."""


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
    """

    warmup: int
    total: int
    stats_every: int
    series_every: int
    columns: tuple[str, ...]
    reducers: tuple[BoundReducer, ...]
    stop: BoundStop | None
    timeout_s: float | None = None

    @classmethod
    def bind(cls, plan: Plan, columns: tuple[str, ...]) -> MeasurePlan:
        """Tie the measuring of `plan` to the stat `columns` of its model, as a probe build gave them.

        Raises:
            PlanError: A reducer or the stop condition names no column.
        """
        problems = ProblemList()
        reducers = _bind_reducers(plan, columns, problems)
        stop = _bind_stop(plan, columns, problems)
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


class Sampler:
    """Takes the samples of one run in tick order and reduces them.

    A push only appends, since it is on the path of every sampled tick; arithmetic happens in blocks, so
    memory stays bounded when no series is kept. Results do not depend on the block's length.
    """

    __slots__ = (
        "_columns",
        "_folds",
        "_has_samples",
        "_kept_ticks",
        "_kept_values",
        "_last",
        "_non_finite",
        "_plan",
        "_stop_from",
        "_stops",
        "_ticks",
        "_totals",
        "_values",
    )

    def __init__(self, plan: MeasurePlan) -> None:
        """Start a run measured as `plan` says."""
        self._plan = plan
        self._columns = plan.columns
        self._stops = None if plan.stop is None else plan.stop.condition()
        self._stop_from = 0 if plan.stop is None else plan.stop.min_tick
        self._has_samples = False
        self._ticks = array("q")
        self._values = array("d")
        self._folds: list[Fold | None] = [fold_of(reducer.reduction) for reducer in plan.reducers]
        self._totals = ColumnTotals(len(plan.columns)) if None in self._folds else None
        self._kept_ticks: list[NDArray[np.int64]] = []
        self._kept_values: list[NDArray[np.float64]] = []
        self._last: tuple[NDArray[np.int64], NDArray[np.float64]] | None = None
        self._non_finite: tuple[str, int] | None = None

    def push(self, tick: int, stats: Mapping[str, float]) -> bool:
        """Take the sample of `tick` and return whether the stop condition holds now.

        Raises:
            StatsShapeError: `stats` is no mapping, has other columns than planned, or a value that is no number;
                the sample is not taken.
        """
        row = self._row(tick, stats)
        self._values.extend(row)
        self._ticks.append(tick)
        if len(self._ticks) >= _BLOCK:
            self._fold()
        return self._stops is not None and tick >= self._stop_from and self._stops(row)

    def _row(self, tick: int, stats: Mapping[str, float]) -> array[float]:
        """Return the sample as a row of its own: whatever a value raises, no part of it has been taken."""
        if not isinstance(stats, Mapping):
            came = (type(stats).__name__,)
            raise StatsShapeError(tick, expected=self._columns, came=came, wrong="are no dict")
        names = tuple(stats)
        if names != self._columns:
            wrong = "changed shape" if self._has_samples else "are not those of its columns"
            raise StatsShapeError(tick, expected=self._columns, came=names, wrong=wrong)
        try:
            row = array("d", stats.values())
        except (TypeError, ValueError, OverflowError) as error:
            raise self._no_number(tick, stats) from error
        if len(row) != len(names):
            raise StatsShapeError(tick, expected=self._columns, came=names, wrong="change while they are read")
        self._has_samples = True
        return row

    def _no_number(self, tick: int, stats: Mapping[str, object]) -> StatsShapeError:
        """Return the error of the first value that is no number."""
        for column, value in stats.items():
            try:
                array("d", [cast("float", value)])
            except (TypeError, ValueError, OverflowError):
                shown = f"the text {shown_value(value)}" if isinstance(value, str) else shown_value(value)
                return StatsShapeError(tick, expected=self._columns, came=stats, value=(column, shown))
        wrong = "hold a value that is a number only at times"
        return StatsShapeError(tick, expected=self._columns, came=stats, wrong=wrong)

    @property
    def non_finite(self) -> tuple[str, int] | None:
        """The first value that was NaN or infinite, as ``(column, tick)``; None when there was none."""
        self._fold()
        return self._non_finite

    def finish(self) -> tuple[dict[str, float | None], Series]:
        """Return the reducers, None for one that no sample qualified for, and the series rows kept."""
        self._fold()
        results = {
            reducer.name: fold.result() if fold else self._total(reducer)
            for reducer, fold in zip(self._plan.reducers, self._folds, strict=True)
        }
        return results, self._series()

    def _total(self, reducer: BoundReducer) -> float | None:
        return self._totals.result(reducer.reduction.kind, reducer.column) if self._totals else None

    def _fold(self) -> None:
        if not self._ticks:
            return
        ticks = np.array(self._ticks, np.int64)
        values = np.array(self._values, np.float64).reshape(len(ticks), len(self._columns))
        del self._ticks[:], self._values[:]
        finite = np.isfinite(values)
        if self._non_finite is None and not finite.all():
            row, column = divmod(int(np.argmin(finite)), len(self._columns))
            self._non_finite = (self._columns[column], int(ticks[row]))
        if self._totals is not None:
            self._totals.fold(ticks, values, finite)
        for reducer, fold in zip(self._plan.reducers, self._folds, strict=True):
            if fold is not None:
                fold.fold(ticks, values[:, reducer.column], finite[:, reducer.column])
        self._keep(ticks, values)

    def _keep(self, ticks: NDArray[np.int64], values: NDArray[np.float64]) -> None:
        every = self._plan.series_every
        if not every:
            return
        on_cadence = (ticks - self._plan.warmup) % every == 0
        self._kept_ticks.append(ticks[on_cadence])
        self._kept_values.append(values[on_cadence])
        # A run's last sample is a row whether or not it is on the cadence, and only `finish` knows which is last.
        self._last = (ticks[-1:], values[-1:])

    def _series(self) -> Series:
        if self._last is None:
            return Series.empty(len(self._columns))
        series = Series(np.concatenate(self._kept_ticks), np.concatenate(self._kept_values))
        ticks, values = self._last
        if (ticks[0] - self._plan.warmup) % self._plan.series_every == 0:
            return series
        return Series(np.append(series.ticks, ticks), np.append(series.values, values, axis=0))
