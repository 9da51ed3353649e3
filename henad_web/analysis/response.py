"""Response curves: what runs come to against one factor, by levels of others.

Owns how levels of the factor are told apart, and what is said where each has one run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from henad_web.analysis.curves import CurveTable, Floats, Ints
from henad_web.analysis.grouping import Bins, axes_of, binned, grouped
from henad_web.analysis.intervals import IntervalChoice, center_and_interval, interval_choice
from henad_web.analysis.pieces import Pieces, piecewise
from henad_web.analysis.selection import Held, Selection, check_bins, check_different, selected, several
from henad_web.analysis.tables import Column
from henad_web.errors import counted
from henad_web.results.recorded import RecordedResults

__all__ = ["Response", "response"]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Response(CurveTable):
    """A measure against a factor.

    Attributes:
        x: Level of the factor, ``(rows,)``; of parts of equal width their middle.
        edges: Ends of those parts, ``(bins + 1,)``; None where levels are kept apart as they are.
    """

    x: Column
    edges: Floats | None = None

    def _along(self) -> Mapping[str, Column]:
        if self.edges is None:
            return {self.x_axis.name: self.x}
        part = np.searchsorted(self.edges, self.x) - 1
        name = self.x_axis.name
        return {name: self.x, f"{name} from": self.edges[part], f"{name} to": self.edges[part + 1]}


@piecewise
def response(
    results: RecordedResults,
    y: str,
    x: str,
    *,
    by: str | Sequence[str] = (),
    held: Held | None = None,
    at: int | None = None,
    after_stop: str = "drop",
    center: str = "mean",
    interval: str | None = None,
    confidence: float = 0.95,
    bins: int | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Pieces[Response]:
    """Return what runs come to at each level of the factor `x`; factors that are not named are averaged over.

    Args:
        results: The results.
        y: A reducer such as ``Infected:max``, or a column of every run; with `at` a statistic such as ``Infected``.
        x: A parameter, or the tick of an action as ``action.NAME``; numbers, whole numbers, yes and no, or names.
        by: Factors whose levels make a curve each.
        held: Only runs whose factors have these values.
        at: Tick of the series that `y` is taken at.
        after_stop: With `at`, of a run that had stopped before: ``"drop"`` leaves it out, ``"hold"`` takes its last
            value.
        center: ``"mean"`` or ``"median"``.
        interval: Of a mean ``"student"`` (the usual one), ``"wilson"`` of values that are 0 or 1, or ``"bootstrap"``;
            of a median ``"order"``, between two of the runs' own values.
        confidence: Level of the interval: 0.9, 0.95, 0.99, or with a bootstrap or of a median any between 0 and 1.
        bins: Group a numeric `x` into so many parts of equal width, as a sampled design needs it.
        resamples: Of a bootstrap: how many.
        seed: Of a bootstrap: what its draws follow from.

    Raises:
        UsageError: A name, level or option is none; `x` also groups; no run is left.
        MissingFileError: `at` is given, and there is no series.csv.
    """
    choice = interval_choice(center=center, interval=interval, confidence=confidence, resamples=resamples, seed=seed)
    names = several(by)
    check_different(y=y, x=x, by=names)
    if bins is not None:
        check_bins(results, x, bins)
    selection = yield from selected(results, y, factors=(*names, x), held=held, at=at, after_stop=after_stop)
    return (yield from _response(selection, x, names, bins, choice))


def _response(
    selection: Selection, x: str, names: Sequence[str], bins: int | None, choice: IntervalChoice
) -> Pieces[Response]:
    along, parts = selection.factors[x], None
    if bins is not None:
        parts, along = yield from binned(along, bins)
    groupers = [selection.factors[name] for name in names]
    groups = yield from grouped([*groupers, along], len(selection.y))
    found = yield from center_and_interval(groups.codes, groups.count, selection, choice)
    levels = groups.levels[x]
    return Response(
        left_out=selection.left_out,
        x_axis=along.axis,
        y_axis=selection.axis,
        by={name: groups.levels[name] for name in names},
        by_axes=axes_of(groupers),
        kind=choice.center,
        x=levels if parts is None else parts.middles[levels],
        edges=None if parts is None else parts.edges,
        center=found.center,
        low=found.low,
        high=found.high,
        n=found.n,
        notes=(choice.line, *_told(found.n, x, parts)),
    )


def _told(n: Ints, x: str, parts: Bins | None) -> tuple[str, ...]:
    if len(n) > 1 and not (n > 1).any():
        told = f"each of {counted(len(n), 'level', grouped=True)} has one run, so that there are no intervals"
        return (told if parts is not None else f"{told}; bins=20 groups '{x}' into parts of equal width",)
    return ()
