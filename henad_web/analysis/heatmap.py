"""What runs come to against two factors, as a grid.

Owns the grid: every level of one factor with every level of the other, NaN where no run has both.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from henad_web.analysis.curves import Floats, Ints, column_names
from henad_web.analysis.grouping import binned, levels_of
from henad_web.analysis.intervals import CenterKind, means_of, rows_of
from henad_web.analysis.ordered import ordered_groups
from henad_web.analysis.pieces import Pieces, piecewise
from henad_web.analysis.selection import Factor, Held, Selection, check_bins, check_different, chosen, selected
from henad_web.analysis.tables import AnalysisTable, Axis, Column
from henad_web.errors import UsageError, counted
from henad_web.results.recorded import RecordedResults

__all__ = ["Heatmap", "heatmap"]

_MOST_CELLS = 1 << 20
"""Cells of a grid: more than any screen shows."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Heatmap(AnalysisTable):
    """A measure against two factors.

    Attributes:
        x_axis: What goes along.
        y_axis: What goes up.
        z_axis: What is measured.
        kind: Whether cells have means or medians.
        x: Levels of the first factor, or the middles of its parts, ``(nx,)``.
        y: Levels of the second, ``(ny,)``.
        x_edges: Ends of the parts of the first, ``(nx + 1,)``; None where its levels are kept apart as they are.
        y_edges: The same of the second.
        center: Mean or median of each cell, ``(ny, nx)``; NaN where no run is.
        n: Runs of each cell, ``(ny, nx)``.
    """

    x_axis: Axis
    y_axis: Axis
    z_axis: Axis
    kind: CenterKind
    x: Column
    y: Column
    x_edges: Floats | None
    y_edges: Floats | None
    center: Floats
    n: Ints

    @property
    def mean(self) -> Floats:
        """Mean of each cell, ``(ny, nx)``.

        Raises:
            UsageError: Medians were asked for.
        """
        if self.kind is not CenterKind.MEAN:
            raise UsageError("the grid has the median of each cell; ask with center='mean' for the mean")
        return self.center

    @property
    def title(self) -> str:
        """What the grid answers, on one line."""
        return f"{self.kind} of {self.z_axis} against {self.x_axis} and {self.y_axis}"

    @property
    def lines(self) -> tuple[str, ...]:
        """What to know beside the numbers: what was left out, which cells are empty."""
        empty = int(np.count_nonzero(self.n == 0))
        told = f"{counted(empty, 'cell', grouped=True)} without a run"
        return (*self.left_out.lines(), *((told,) if empty else ()))

    def columns(self) -> Mapping[str, Column]:
        """Return a row a cell, along first: both factors, center, n; each ``(ny * nx,)``."""
        factors = {
            self.x_axis.name: np.tile(self.x, len(self.y)),
            self.y_axis.name: np.repeat(self.y, len(self.x)),
        }
        return column_names(factors, {self.kind.value: self.center.reshape(-1), "n": self.n.reshape(-1)})


@piecewise
def heatmap(
    results: RecordedResults,
    z: str,
    x: str,
    y: str,
    *,
    held: Held | None = None,
    at: int | None = None,
    after_stop: str = "drop",
    center: str = "mean",
    bins: int | tuple[int | None, int | None] | None = None,
) -> Pieces[Heatmap]:
    """Return what runs come to at each pair of levels of two factors; others are averaged over.

    Args:
        results: The results.
        z: What is measured: a reducer such as ``Infected:max``, or a column of every run; with `at` a statistic.
        x: The factor along.
        y: The factor up.
        held: Only runs whose factors have these values.
        at: Tick of the series that `z` is taken at.
        after_stop: With `at`, of a run that had stopped before: ``"drop"`` leaves it out, ``"hold"`` takes its last
            value.
        center: ``"mean"`` or ``"median"``.
        bins: Cut both factors into so many parts of equal width, or each into its own number, None for as it is.

    Raises:
        UsageError: A name, level or option is none; a factor that is no number is to be cut; the grid has more than a
            million cells; no run is left.
        MissingFileError: `at` is given, and there is no series.csv.
    """
    kind = CenterKind(chosen("center", center, list(CenterKind)))
    check_different(y=z, x=x, by=(), second=y)
    counts = _counts_of(bins)
    for name, count in zip((x, y), counts, strict=True):
        if count is not None:
            check_bins(results, name, count)
    selection = yield from selected(results, z, factors=(x, y), held=held, at=at, after_stop=after_stop)
    along = yield from _side(selection.factors[x], counts[0])
    up = yield from _side(selection.factors[y], counts[1])
    return (yield from _heatmap(selection, along, up, kind))


def _heatmap(selection: Selection, along: _Side, up: _Side, kind: CenterKind) -> Pieces[Heatmap]:
    shape = (len(up.levels), len(along.levels))
    if shape[0] * shape[1] > _MOST_CELLS:
        names = f"{shape[1]} levels of '{along.axis.name}' with {shape[0]} of '{up.axis.name}'"
        raise UsageError(f"{names} are too many cells; give bins=20")
    codes = up.codes * shape[1] + along.codes
    means = yield from means_of(codes, shape[0] * shape[1], selection.y)
    center = means.mean
    if kind is CenterKind.MEDIAN:
        in_order = yield from ordered_groups(rows_of(codes, selection.y), means.n)
        center = yield from in_order.quantile(0.5)
    return Heatmap(
        left_out=selection.left_out,
        x_axis=along.axis,
        y_axis=up.axis,
        z_axis=selection.axis,
        kind=kind,
        x=along.levels,
        y=up.levels,
        x_edges=along.edges,
        y_edges=up.edges,
        center=center.reshape(shape),
        n=means.n.reshape(shape),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Side:
    """One side of the grid: its levels, and which of them each run has."""

    axis: Axis
    levels: Column
    codes: Ints
    edges: Floats | None


def _side(factor: Factor, count: int | None) -> Pieces[_Side]:
    if count is None:
        found = yield from levels_of(factor)
        return _Side(axis=factor.axis, levels=found.values, codes=found.codes, edges=None)
    parts, cut = yield from binned(factor, count)
    return _Side(axis=factor.axis, levels=parts.middles, codes=np.asarray(cut.values, np.int64), edges=parts.edges)


def _counts_of(bins: int | tuple[int | None, int | None] | None) -> tuple[int | None, int | None]:
    if not isinstance(bins, (tuple, list)):
        return bins, bins
    if len(bins) != 2:
        raise UsageError(f"bins is {bins!r}; allowed: one count for both factors, or a pair, the one along first")
    return bins[0], bins[1]
