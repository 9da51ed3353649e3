"""Runs put into groups by the levels of their factors.

Owns the order of groups: ascending by the first factor, then by the next; options of a choice as the model lists them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from henad_web.analysis.ordered import distinct
from henad_web.analysis.pieces import PIECE_ROWS, Pieces, stretches
from henad_web.analysis.selection import Factor
from henad_web.analysis.tables import Axis, Column

__all__ = ["Bins", "Groups", "Levels", "axes_of", "binned", "grouped", "levels_of"]

Ints = NDArray[np.int64]

_PIECE = PIECE_ROWS // 4
"""Values that a piece looks up, among names or among as many numbers: each takes 0.2 us natively."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Groups:
    """Groups of rows.

    Attributes:
        codes: Group of each row, ``(rows,)``.
        levels: Level of each group, ``(groups,)``, by the name of its factor.
        count: How many groups there are.
    """

    codes: Ints
    levels: Mapping[str, Column]
    count: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Levels:
    """The levels of a factor, and which of them each row has.

    Attributes:
        values: Each level once, in order.
        codes: Position of each row's level there, ``(rows,)``.
    """

    values: Column
    codes: Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bins:
    """Parts of equal width of the range of a factor.

    Attributes:
        edges: Their ends, ascending, ``(bins + 1,)``; a number on an edge is in the upper part.
    """

    edges: NDArray[np.float64]

    @property
    def middles(self) -> NDArray[np.float64]:
        """The middle of each, ``(bins,)``."""
        return np.asarray((self.edges[:-1] + self.edges[1:]) / 2)


def grouped(factors: Sequence[Factor], rows: int) -> Pieces[Groups]:
    """Return the groups of `rows` rows that have the same levels of all `factors`; one group for no factors."""
    codes, parts = np.zeros(rows, np.int64), [np.zeros(min(rows, 1), np.int64)]
    found: list[Levels] = []
    for factor in factors:
        levels = yield from levels_of(factor)
        found.append(levels)
        # Combinations are counted anew with each factor: those of many would not fit a whole number.
        width = len(levels.values)
        combined = yield from _positions(codes * width + levels.codes)
        codes, before = combined.codes, combined.values
        parts = [part[before // width] for part in parts] + [before % width]
    levels_by_name = {
        factor.axis.name: levels.values[part] for factor, levels, part in zip(factors, found, parts[1:], strict=True)
    }
    return Groups(codes=codes, levels=levels_by_name, count=len(parts[0]))


def levels_of(factor: Factor) -> Pieces[Levels]:
    """Return the levels of `factor` in order."""
    if factor.values.dtype.kind not in "UO":
        return (yield from _positions(factor.values))
    seen: dict[str, int] = {}
    for part in stretches(len(factor.values), _PIECE):
        seen.update(dict.fromkeys(factor.values[part].tolist(), 0))
        yield
    listed = [option for option in factor.options if option in seen]
    names = [*listed, *sorted(seen.keys() - set(listed))]
    place = {name: position for position, name in enumerate(names)}
    codes = np.empty(len(factor.values), np.int64)
    for part in stretches(len(factor.values), _PIECE):
        codes[part] = [place[name] for name in factor.values[part].tolist()]
        yield
    return Levels(values=np.array(names, factor.values.dtype), codes=codes)


def binned(factor: Factor, count: int) -> Pieces[tuple[Bins, Factor]]:
    """Return `count` parts of the range of `factor`, and the factor with the part of each value in its place."""
    values = factor.values
    edges = np.linspace(float(values.min()), float(values.max()), count + 1)
    places = np.empty(len(values), np.int64)
    for part in stretches(len(values)):
        above = np.searchsorted(edges, values[part].astype(np.float64), side="right")
        places[part] = np.clip(above - 1, 0, count - 1)
        yield
    return Bins(edges=edges), Factor(axis=factor.axis, values=places)


def _positions(values: Column) -> Pieces[Levels]:
    levels = yield from distinct(values)
    codes = np.empty(len(values), np.int64)
    for part in stretches(len(values), _PIECE):
        codes[part] = np.searchsorted(levels, values[part])
        yield
    return Levels(values=levels, codes=codes)


def axes_of(factors: Sequence[Factor]) -> dict[str, Axis]:
    """Return the axis of each of `factors` by its name."""
    return {factor.axis.name: factor.axis for factor in factors}
