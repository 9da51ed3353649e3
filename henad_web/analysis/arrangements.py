"""How the configs of a block lie in its design: points of Saltelli's, trajectories of Morris's, a whole grid.

Owns the order of the rows of these designs as an analysis needs it, told by the spec, and for a table, which has lost
its design, known by the values alone: whole points, which are all that count, either have the structure or have not.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from henad_web.analysis.config_means import Block, ConfigMeans
from henad_web.analysis.grouping import levels_of
from henad_web.analysis.pieces import Pieces
from henad_web.analysis.selection import Factor, find_factor
from henad_web.analysis.tables import Column
from henad_web.explore.blocks import DEFAULT_NUM_LEVELS
from henad_web.explore.sampled_designs import SaltelliDesign
from henad_web.explore.spec import DesignKind
from henad_web.results.recorded import RecordedResults

__all__ = ["Arrangement", "arrangement_of", "as_numbers"]

Floats = NDArray[np.float64]
Rows = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Arrangement:
    """How the configs of a block lie, and those points, or trajectories, of it that count: that have all their configs.

    A grid has points of one config each.

    Attributes:
        design: Saltelli, morris or factorial.
        y: y of each config, ``(points, configs a point)``.
        factors: The factors with their values in each config, one after another, ``(points * configs a point,)``.
        left_out: Points that do not count.
        second_order: Of a saltelli design: whether it has what second-order indices need.
        step: Of a morris design: the size of every step as a share of a factor's range, None where that is not known.
    """

    design: DesignKind
    y: Floats
    factors: tuple[Factor, ...]
    left_out: int
    second_order: bool = False
    step: float | None = None

    @property
    def columns(self) -> Iterator[Column]:
        """Values of each factor, ``(points, configs a point)``."""
        return (factor.values.reshape(self.y.shape) for factor in self.factors)


def arrangement_of(
    results: RecordedResults, means: ConfigMeans, block: Block, *, among: Collection[DesignKind]
) -> Pieces[Arrangement | None]:
    """Return how the configs of `block` lie; None where they do not lie as in a saltelli, morris or factorial design.

    Args:
        results: The results.
        means: What their configs come to.
        block: The block.
        among: The designs that a table may turn out to be.
    """
    design, factors = block.spec.design, len(block.factors)
    if design is DesignKind.TABLE:
        return (yield from _found(results, means, block, among))
    if design is DesignKind.SALTELLI:
        second_order = block.spec.second_order is not False
        each = SaltelliDesign.rows_a_point(factors, second_order=second_order)
        points = yield from _points(results, means, block, each)
        return replace(points, design=design, second_order=second_order)
    if design is DesignKind.MORRIS:
        points = yield from _points(results, means, block, factors + 1)
        whole = yield from _moves_one_by_one(points)
        return replace(_taken(points, whole), design=design, step=_morris_step(block.spec.num_levels))
    if design is DesignKind.FACTORIAL and block.spec.where is None and factors:
        return (yield from _points(results, means, block, 1))
    return None


def _found(
    results: RecordedResults, means: ConfigMeans, block: Block, among: Collection[DesignKind]
) -> Pieces[Arrangement | None]:
    """Return how the rows of a table lie, judged by the points that have all their configs."""
    factors = len(block.factors)
    for second_order in (True, False) if DesignKind.SALTELLI in among else ():
        each = SaltelliDesign.rows_a_point(factors, second_order=second_order)
        if block.config_count % each == 0:
            points = yield from _points(results, means, block, each)
            if (yield from _is_saltelli(points, second_order=second_order)):
                return replace(points, design=DesignKind.SALTELLI, second_order=second_order)
    if DesignKind.MORRIS in among and block.config_count % (factors + 1) == 0:
        points = yield from _points(results, means, block, factors + 1)
        if len(points.y) and (yield from _moves_one_by_one(points)).all():
            return replace(points, design=DesignKind.MORRIS)
    if DesignKind.FACTORIAL in among:
        points = yield from _points(results, means, block, 1)
        if (yield from _is_grid(points, block.config_count)):
            return points
    return None


def _points(results: RecordedResults, means: ConfigMeans, block: Block, each: int) -> Pieces[Arrangement]:
    """Return the points of `each` configs of `block`: one that lacks a config is left out whole."""
    y, rows = means.of(block)
    y, rows = y.reshape(-1, each), rows.reshape(-1, each)
    yield
    is_whole = np.ones(len(rows), np.bool_)
    for column in rows.T:
        is_whole &= column >= 0
    yield
    y, rows = y[is_whole], rows[is_whole]
    yield
    factors = []
    for name in block.factors:
        factors.append(find_factor(results, name).taken(rows.reshape(-1)))
        yield
    left_out = int(np.count_nonzero(~is_whole))
    return Arrangement(design=DesignKind.FACTORIAL, y=y, factors=tuple(factors), left_out=left_out)


def _taken(points: Arrangement, wanted: NDArray[np.bool_]) -> Arrangement:
    rows = np.repeat(wanted, points.y.shape[1])
    factors = tuple(factor.taken(rows) for factor in points.factors)
    left_out = points.left_out + int(np.count_nonzero(~wanted))
    return replace(points, y=points.y[wanted], factors=factors, left_out=left_out)


def _morris_step(num_levels: int | None) -> float:
    # Half of the range and a little more, so that the levels of a factor are equally likely.
    levels = DEFAULT_NUM_LEVELS if num_levels is None else num_levels
    return levels / (2 * (levels - 1))


def as_numbers(factor: Factor) -> Pieces[Floats]:
    """Return the values of `factor` as float64: yes as 1, names by their place among the options, from 0."""
    if factor.values.dtype.kind in "iufb":
        return factor.values.astype(np.float64)
    levels = yield from levels_of(factor)
    return levels.codes.astype(np.float64)


def _is_saltelli(points: Arrangement, *, second_order: bool) -> Pieces[bool]:
    """Return whether the configs lie as in a saltelli design.

    That is, each is the row of A or that of B with one factor from the other, in the order of `SaltelliDesign`, and no
    factor is the same in both of all points.
    """
    count = len(points.factors)
    for position, column in enumerate(points.columns):
        a, b = column[:, :1], column[:, -1:]
        from_b = np.zeros(column.shape[1], np.bool_)
        from_b[[position + 1, -1]] = True
        if second_order:
            from_b[count + 1 : -1] = True
            from_b[count + 1 + position] = False
        if (a == b).all() or (column != np.where(from_b, b, a)).any():
            return False
        yield
    return bool(len(points.y))


def _is_grid(points: Arrangement, config_count: int) -> Pieces[bool]:
    """Return whether the configs are every combination of their levels, each once."""
    cells, count = np.zeros(len(points.y), np.int64), 1
    for factor in points.factors:
        levels = yield from levels_of(factor)
        count *= len(levels.values)
        if count > config_count:
            return False
        cells = cells * len(levels.values) + levels.codes
    return count == config_count and int(np.bincount(cells).max()) == 1


def _moves_one_by_one(points: Arrangement) -> Pieces[NDArray[np.bool_]]:
    """Return whether each trajectory changes one factor a step and each factor once, ``(trajectories,)``."""
    trajectories, configs = points.y.shape
    moves, is_once = np.zeros((trajectories, configs - 1), np.int64), np.ones(trajectories, np.bool_)
    for column in points.columns:
        has_moved = column[:, 1:] != column[:, :-1]
        is_once &= has_moved.sum(axis=1) == 1
        moves += has_moved
        yield
    return np.asarray(is_once & (moves == 1).all(axis=1))
