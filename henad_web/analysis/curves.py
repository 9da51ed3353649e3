"""The table of a center with an interval along an axis, a curve a group: what responses and bands have in common.

Owns its columns and the way from its rows to its curves. Computes no statistics.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from henad_web.analysis.intervals import CenterKind
from henad_web.analysis.tables import AnalysisTable, Axis, Column, level_text
from henad_web.errors import UsageError
from henad_web.results.table_columns import free_name

__all__ = ["Curve", "CurveTable", "column_names"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Curve:
    """The rows of one group.

    Attributes:
        levels: Level of each factor of the group, by its name; empty where there is one group only.
        label: The same in words, as a legend has it.
        rows: Where its rows stand in the table.
    """

    levels: Mapping[str, object]
    label: str
    rows: slice


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CurveTable(AnalysisTable):
    """A center with its interval along an axis, group after group; every column is ``(rows,)``.

    Attributes:
        x_axis: What the axis is.
        y_axis: What is measured.
        by: Level of each row of every factor that groups, by its name.
        by_axes: What those factors are.
        kind: Whether the center is a mean or a median.
        center: The center, in the unit of `y_axis`.
        low: Lower end of its interval; NaN where too few numbers make one.
        high: Upper end.
        n: How many runs it speaks of.
        notes: What to know beside the numbers.
    """

    x_axis: Axis
    y_axis: Axis
    by: Mapping[str, Column]
    by_axes: Mapping[str, Axis]
    kind: CenterKind
    center: Floats
    low: Floats
    high: Floats
    n: Ints
    notes: tuple[str, ...] = ()

    @property
    def mean(self) -> Floats:
        """The center, a mean.

        Raises:
            UsageError: Medians were asked for.
        """
        return self._center(CenterKind.MEAN)

    @property
    def median(self) -> Floats:
        """The center, a median.

        Raises:
            UsageError: Means were asked for.
        """
        return self._center(CenterKind.MEDIAN)

    @property
    def title(self) -> str:
        """What the table answers, on one line."""
        names = ", ".join(str(axis) for axis in self.by_axes.values())
        return f"{self.kind} of {self.y_axis} against {self.x_axis}" + (f" by {names}" if names else "")

    @property
    def lines(self) -> tuple[str, ...]:
        """What to know beside the numbers: what was left out, how intervals were made."""
        return (*self.left_out.lines(), *self.notes)

    def columns(self) -> Mapping[str, Column]:
        """Return its columns by name, each ``(rows,)``: factors, axis, center, low, high, n."""
        measured = {self.kind.value: self.center, "low": self.low, "high": self.high, "n": self.n}
        return column_names({**self.by, **self._along()}, measured)

    def curves(self) -> Iterator[Curve]:
        """Yield each group, in the order of the table."""
        count = len(self.center)
        is_first = np.zeros(count, np.bool_)
        is_first[:1] = True
        for levels in self.by.values():
            is_first[1:] |= levels[1:] != levels[:-1]
        firsts = np.flatnonzero(is_first).tolist()
        for first, end in zip(firsts, [*firsts[1:], count], strict=True):
            there = {name: column[first].item() for name, column in self.by.items()}
            label = ", ".join(f"{self.by_axes[name].label} {level_text(level)}" for name, level in there.items())
            yield Curve(levels=there, label=label, rows=slice(first, end))

    @abstractmethod
    def _along(self) -> Mapping[str, Column]:
        """Return the columns of the axis."""

    def _center(self, kind: CenterKind) -> Floats:
        if self.kind is not kind:
            raise UsageError(f"the table has the {self.kind} of each group; ask with center='{kind}' for the {kind}")
        return self.center


def column_names(factors: Mapping[str, Column], measured: Mapping[str, Column]) -> dict[str, Column]:
    """Return both as columns, a factor that is called like what is measured as ``factor.NAME``."""
    taken = set(measured)
    return {free_name(name, taken, "factor"): column for name, column in factors.items()} | dict(measured)
