"""Patterns: combinations of two outputs, told apart by a grid, and the archive of those that were met.

Owns axes, cells and hits (reference engine, section 10.8). How candidates are chosen by them is `pse`'s business.
"""

from __future__ import annotations

import math
import sys
from bisect import insort
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from henad_web.explore.search_spec import Aggregate, AxisSpec, PseSettings
from henad_web.search.scoring import aggregated, finite
from henad_web.search.searcher import Watched
from henad_web.search.space import Genome

__all__ = ["Archive", "ArchiveEntry", "Cell", "PatternAxis", "Placement", "automatic_range", "outputs_of"]

Cell = tuple[int, int]
"""Positions on the x and on the y axis, from 0."""

_MARGIN = 0.05
_LARGEST = sys.float_info.max


@dataclass(frozen=True, slots=True)
class PatternAxis:
    """An axis whose range is known.

    Attributes:
        low: Where it begins.
        high: Where it ends, above `low`.
        cells: Parts of equal width, at least 1.
    """

    low: float
    high: float
    cells: int

    def cell(self, value: float) -> tuple[int, bool]:
        """Return the position of the cell of `value`, and whether it is outside; no number is, in the first cell."""
        if not value >= self.low:
            return 0, True
        if value > self.high:
            return self.cells - 1, True
        share = (value - self.low) / (self.high - self.low) * self.cells
        # A range longer than the largest number has shares of nothing, or of no number.
        return (min(int(share), self.cells - 1) if math.isfinite(share) else 0), False

    def bounds(self, position: int) -> tuple[float, float]:
        """Return where the cell at `position` begins and ends; the last one at `high` itself."""
        width = (self.high - self.low) / self.cells
        is_last = position == self.cells - 1
        return self.low + position * width, self.high if is_last else self.low + (position + 1) * width


def automatic_range(values: Iterable[float | None]) -> tuple[float, float]:
    """Return a range that holds the finite ones of `values`, 5 % wider at both ends; 0 to 1 without any."""
    known = finite(values)
    if not known:
        return 0.0, 1.0
    low, high = min(known), max(known)
    if low == high:
        half = 0.5 * max(abs(low), 1.0)
        return max(low - half, -_LARGEST), min(high + half, _LARGEST)
    margin = _MARGIN * (high - low)
    wide = low - margin, high + margin
    return wide if all(map(math.isfinite, wide)) else (low, high)


def outputs_of(replicates: Sequence[Watched], aggregate: Aggregate) -> tuple[float | None, float | None]:
    """Return what the finite values of `replicates` come to on the x and on the y axis; None where there is none."""
    x, y = (finite(watched[axis] for watched in replicates) for axis in (0, 1))
    return aggregated(x, aggregate) if x else None, aggregated(y, aggregate) if y else None


@dataclass(frozen=True, slots=True)
class Placement:
    """Where an evaluation landed.

    Attributes:
        x: Its output on the x axis.
        y: Its output on the y axis.
        cell: Its cell; None while a range waits for the first samples.
        is_outside: Whether it is outside the range of either axis, in a cell at its end.
    """

    x: float
    y: float
    cell: Cell | None = None
    is_outside: bool = False


@dataclass(slots=True)
class ArchiveEntry:
    """A cell that was met.

    Attributes:
        cell: The cell.
        candidate_id: The first candidate that landed there, its exemplar.
        genome: What that was made from.
        x: Where that landed on the x axis.
        y: Where that landed on the y axis.
        hits: Evaluations that landed there.
    """

    cell: Cell
    candidate_id: int
    genome: Genome
    x: float
    y: float
    hits: int = 1


class Archive:
    """The cells that were met, in the order of x, then y.

    Attributes:
        axes: Both axes; None while a range waits for the first samples.

    Args:
        settings: The axes as the spec gives them.
    """

    def __init__(self, settings: PseSettings) -> None:
        self._settings = settings
        is_waiting = any(axis.is_automatic for axis in settings.axes)
        self.axes = None if is_waiting else self._ranged([])
        self._entries: dict[Cell, ArchiveEntry] = {}
        self._order: list[Cell] = []

    def __len__(self) -> int:
        """Return the number of cells that were met."""
        return len(self._order)

    def __getitem__(self, cell: Cell) -> ArchiveEntry:
        """Return the entry of a cell that was met."""
        return self._entries[cell]

    def entries(self) -> tuple[ArchiveEntry, ...]:
        """Return every entry, by x and then y."""
        return tuple(self._entries[cell] for cell in self._order)

    def set_ranges(self, placements: Sequence[Placement]) -> None:
        """Give the axes that have no range the one that `placements` of the first samples have."""
        self.axes = self._ranged(placements)

    def _ranged(self, placements: Sequence[Placement]) -> tuple[PatternAxis, PatternAxis]:
        x, y = self._settings.axes
        return _axis(x, [each.x for each in placements]), _axis(y, [each.y for each in placements])

    def place(self, replicates: Sequence[Watched]) -> Placement | None:
        """Return where an evaluation with `replicates` lands; None where an axis has no finite value of it."""
        x, y = outputs_of(replicates, self._settings.aggregate)
        return None if x is None or y is None else self.located(Placement(x, y))

    def located(self, placement: Placement) -> Placement:
        """Return `placement` with its cell, as far as the ranges are known."""
        if self.axes is None:
            return placement
        (x_cell, is_left), (y_cell, is_below) = (
            axis.cell(value) for axis, value in zip(self.axes, (placement.x, placement.y), strict=True)
        )
        return Placement(placement.x, placement.y, (x_cell, y_cell), is_left or is_below)

    def file(self, candidate_id: int, genome: Genome, placement: Placement) -> None:
        """Count a hit of the cell of `placement`, whose exemplar the first candidate becomes."""
        cell = placement.cell
        if cell is None:
            raise ValueError("an evaluation has no cell before the ranges are known")
        entry = self._entries.get(cell)
        if entry is not None:
            entry.hits += 1
            return
        self._entries[cell] = ArchiveEntry(cell, candidate_id, genome, placement.x, placement.y)
        insort(self._order, cell)


def _axis(spec: AxisSpec, values: Sequence[float]) -> PatternAxis:
    if spec.min is None or spec.max is None:
        return PatternAxis(*automatic_range(values), spec.cells)
    return PatternAxis(float(spec.min), float(spec.max), spec.cells)
