"""What the runs of each group come to: count, mean, spread, interval, quantiles, extremes; of any measures.

Owns the long form: a row for each measure of each group. By configs it says what summary.csv says, to the same bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from henad_web.analysis.curves import Floats, Ints, column_names
from henad_web.analysis.grouping import Groups, axes_of, grouped
from henad_web.analysis.intervals import (
    IntervalChoice,
    center_of,
    check_quantiles,
    interval_choice,
    means_of,
    rows_of,
)
from henad_web.analysis.ordered import OrderedGroups, ordered_groups
from henad_web.analysis.pieces import Pieces, piecewise
from henad_web.analysis.selection import (
    Held,
    Selection,
    check_different,
    find_factor,
    held_rows,
    measured_axis,
    selected,
    several,
    varied_factors,
)
from henad_web.analysis.tables import AnalysisTable, Axis, Column, LeftOut
from henad_web.errors import UsageError
from henad_web.explore.cell_texts import number_text
from henad_web.results.recorded import RecordedResults

__all__ = ["Summary", "summary"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Summary(AnalysisTable):
    """Measures group by group; every column is ``(rows,)``, all groups of the first measure first.

    Attributes:
        axes: What is measured, by its name.
        by: Level of each row of every factor that groups, by its name.
        by_axes: What those factors are.
        measure: Name of what the row is of.
        n: Runs that have a value of it.
        mean: Their mean; NaN of none.
        sd: Their standard deviation, with n - 1; NaN of fewer than two.
        low: Lower end of the interval of the mean; NaN where there are too few runs.
        high: Upper end.
        minimum: The least value.
        quantiles: Quantiles by their share.
        maximum: The largest.
        notes: How intervals were made.
    """

    axes: Mapping[str, Axis]
    by: Mapping[str, Column]
    by_axes: Mapping[str, Axis]
    measure: Column
    n: Ints
    mean: Floats
    sd: Floats
    low: Floats
    high: Floats
    minimum: Floats
    quantiles: Mapping[float, Floats]
    maximum: Floats
    notes: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """What the table answers, on one line."""
        names = ", ".join(str(axis) for axis in self.by_axes.values()) or "all runs together"
        return f"summary of {', '.join(str(axis) for axis in self.axes.values())} by {names}"

    @property
    def lines(self) -> tuple[str, ...]:
        """What to know beside the numbers: what was left out, how intervals were made."""
        return (*self.left_out.lines(), *self.notes)

    def columns(self) -> Mapping[str, Column]:
        """Return its columns by name: measure, factors, n, mean, sd, low, high, min, quantiles, max."""
        shares = {f"q{number_text(share)}": column for share, column in self.quantiles.items()}
        found = {"n": self.n, "mean": self.mean, "sd": self.sd, "low": self.low, "high": self.high}
        found |= {"min": self.minimum, **shares, "max": self.maximum}
        named = column_names(self.by, {"measure": self.measure, **found})
        return {"measure": self.measure, **named}


@piecewise
def summary(
    results: RecordedResults,
    y: str | Sequence[str] | None = None,
    *,
    by: str | Sequence[str] | None = None,
    held: Held | None = None,
    at: int | None = None,
    after_stop: str = "drop",
    interval: str = "student",
    confidence: float = 0.95,
    quantiles: Sequence[float] = (0.25, 0.5, 0.75),
    resamples: int = 1000,
    seed: int = 0,
) -> Pieces[Summary]:
    """Return what the runs of each group come to.

    Args:
        results: The results.
        y: Reducers such as ``Infected:max``, or columns of every run, one or several; all reducers when None. With
            `at` statistics such as ``Infected``.
        by: Factors whose levels make a group each, one or several; all that vary, hence configs, when None.
        held: Only runs whose factors have these values.
        at: Tick of the series that `y` is taken at.
        after_stop: With `at`, of a run that had stopped before: ``"drop"`` leaves it out, ``"hold"`` takes its last
            value.
        interval: ``"student"``, ``"wilson"`` of values that are 0 or 1, or ``"bootstrap"``.
        confidence: Its level: 0.9, 0.95, 0.99, or with a bootstrap any between 0 and 1.
        quantiles: From 0 to 1, ascending.
        resamples: Of a bootstrap: how many.
        seed: Of a bootstrap: what its draws follow from.

    Raises:
        UsageError: A name, level or option is none, or no run is asked for.
        MissingFileError: `at` is given, and there is no series.csv.
    """
    choice = interval_choice(center="mean", interval=interval, confidence=confidence, resamples=resamples, seed=seed)
    shares = () if isinstance(quantiles, (tuple, list)) and not quantiles else check_quantiles(quantiles)
    ys = _measures(results, y, at)
    names = varied_factors(results) if by is None else several(by)
    for name in ys:
        check_different(y=name, by=names)
    factors = [find_factor(results, name) for name in names]
    asked = np.flatnonzero((yield from held_rows(results, held)))
    if not len(asked):
        raise UsageError("no run is asked for: none has all that is held" if held else "there are no runs yet")
    groups = yield from grouped([factor.taken(asked) for factor in factors], len(asked))
    code = np.full(len(results.runs), -1, np.int64)
    code[asked] = groups.codes
    parts, selections = [], []
    for name in ys:
        selection = yield from selected(results, name, held=held, at=at, after_stop=after_stop, may_be_empty=True)
        parts.append((yield from _part(selection, code[selection.rows], groups, choice)))
        selections.append(selection)
    left_out = _left_out(selections, len(results.runs))
    return (yield from _table(selections, parts, groups, axes_of(factors), shares, choice, left_out))


def _measures(results: RecordedResults, y: str | Sequence[str] | None, at: int | None) -> tuple[str, ...]:
    every = results.reducer_columns if at is None else results.stat_columns
    names = every if y is None else several(y)
    if not names:
        raise UsageError("nothing is measured: the results have no reducers; ask for columns such as y='ticks'")
    for name in names:
        measured_axis(results, name, at)
    return tuple(dict.fromkeys(names))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Part:
    """One measure, group by group."""

    n: Ints
    mean: Floats
    sd: Floats
    low: Floats
    high: Floats
    in_order: OrderedGroups


def _part(selection: Selection, codes: Ints, groups: Groups, choice: IntervalChoice) -> Pieces[_Part]:
    means = yield from means_of(codes, groups.count, selection.y)
    in_order = yield from ordered_groups(rows_of(codes, selection.y), means.n)
    found = yield from center_of(means, in_order, selection, choice)
    return _Part(n=means.n, mean=means.mean, sd=means.sd, low=found.low, high=found.high, in_order=in_order)


def _table(
    selections: Sequence[Selection],
    parts: Sequence[_Part],
    groups: Groups,
    by_axes: Mapping[str, Axis],
    shares: Sequence[float],
    choice: IntervalChoice,
    left_out: LeftOut,
) -> Pieces[Summary]:
    def joined(column: str) -> Column:
        return np.concatenate([getattr(part, column) for part in parts])

    def quantile(share: float) -> Pieces[Floats]:
        found = np.empty((len(parts), groups.count))
        for place, part in enumerate(parts):
            found[place] = yield from part.in_order.quantile(share)
        return found.reshape(-1)

    minimum, maximum = (yield from quantile(0.0)), (yield from quantile(1.0))
    by_share = {}
    for share in shares:
        by_share[share] = yield from quantile(share)
    axes = [selection.axis for selection in selections]
    return Summary(
        left_out=left_out,
        axes={axis.name: axis for axis in axes},
        by={name: np.tile(groups.levels[name], len(parts)) for name in by_axes},
        by_axes=by_axes,
        measure=np.repeat(np.array([axis.name for axis in axes]), groups.count),
        n=joined("n"),
        mean=joined("mean"),
        sd=joined("sd"),
        low=joined("low"),
        high=joined("high"),
        minimum=minimum,
        quantiles=by_share,
        maximum=maximum,
        notes=(choice.line,),
    )


def _left_out(selections: Sequence[Selection], rows: int) -> LeftOut:
    """Return the runs of a table of `rows` that lack a value of any measure, each counted once."""
    first, has = selections[0], np.zeros(rows, np.int64)
    for selection in selections:
        has[selection.rows] += 1
    return LeftOut(
        held=first.left_out.held,
        not_done=first.left_out.not_done,
        failed=first.left_out.failed,
        without_value=len(first.rows) + first.left_out.without_value - int(np.count_nonzero(has == len(selections))),
        non_finite=max(selection.left_out.non_finite for selection in selections),
    )
