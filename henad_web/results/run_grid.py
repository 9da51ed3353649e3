"""Runs laid out over axes: the factors of a full grid or the configs one by one, then replicates and ticks.

Owns when configs are a full grid, and what stands where. Knows no other library.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from henad_web.errors import SpecError
from henad_web.explore.columns import LEADING, MEASURED, NOTE
from henad_web.explore.spec import DesignKind
from henad_web.results.table_columns import free_name

if TYPE_CHECKING:
    from henad_web.results.recorded import RecordedResults

__all__ = ["GridKind", "GridVariable", "RunGrid"]

_CONFIG, _REPLICATE, _TICK = "config", "replicate", "tick"

_MISSING = {"f": np.nan, "i": -1}
"""What stands where there is no run, by the kind of a numpy type; of others zero, false or an empty text."""


class GridKind(StrEnum):
    """What the first axes of a `RunGrid` are."""

    FACTORS = "factors"
    CONFIGS = "configs"


@dataclass(frozen=True, slots=True, kw_only=True)
class GridVariable:
    """A column laid out.

    Attributes:
        name: Its name, which nothing else of the grid has.
        dims: Names of the axes of `values`, in order.
        values: What stands there. Where there is no run, a float is NaN, a whole number -1 or, of seeds and ticks of
            actions, 0, a text empty, a flag false.
        param: Id of the parameter that it is, None for anything else.
    """

    name: str
    dims: tuple[str, ...]
    values: NDArray[Any]
    param: str | None = None


class RunGrid:
    """The runs of `results` over axes.

    The axes are the factors that vary where the configs are a full grid: each combination of their values is one
    config, and no two configs are one combination. Of one factorial block that keeps all its configs, combinations may
    miss: a shard has some of them, and a sweep that was aborted ran some. Whatever else was run, a search among it, has
    its configs as one axis. Replicates and ticks follow.

    Attributes:
        kind: What the first axes are.
        axes: Their names: factors in the order of the table, or the one of the configs.
    """

    def __init__(self, results: RecordedResults) -> None:
        self._results, runs = results, results.runs
        self._taken = {_CONFIG, _REPLICATE, _TICK, *LEADING, *MEASURED, NOTE}
        self._configs, self._first, config_of = np.unique(runs["config_id"], return_index=True, return_inverse=True)
        self._replicates, replicate_of = np.unique(runs["rep"], return_inverse=True)
        self._factors = [
            _Factor.of(free_name(name, self._taken, "param"), name, runs.at(position)[self._first])
            for position, name in enumerate(runs.layout.configs, start=len(LEADING))
        ]
        self._grid = _full_grid(results, self._factors, len(self._configs))
        self.kind = GridKind.FACTORS if self._grid else GridKind.CONFIGS
        self.axes = tuple(factor.name for factor in self._grid) or (_CONFIG,)
        self._shape = tuple(len(factor.levels) for factor in self._grid) or self._configs.shape
        self._config_cells = _cells(self._grid) if self._grid else np.arange(len(self._configs))
        self._run_cells = self._config_cells[config_of] * len(self._replicates) + replicate_of

    def coordinates(self) -> Iterator[GridVariable]:
        """Yield the axes but the ticks, then parameters, actions and ids."""
        runs, on_axes = self._results.runs, {factor.name for factor in self._grid}
        yield self._of_configs(_CONFIG, self._configs)
        yield GridVariable(name=_REPLICATE, dims=(_REPLICATE,), values=self._replicates)
        yield self._of_configs("block", runs["block"][self._first])
        for factor in self._factors:
            param = factor.column if factor.column in runs.param_ids else None
            if factor.name in on_axes:
                yield GridVariable(name=factor.name, dims=(factor.name,), values=factor.levels, param=param)
            elif self._grid:  # one value, everywhere
                yield GridVariable(name=factor.name, dims=(), values=factor.levels[0], param=param)
            else:
                yield self._of_configs(factor.name, factor.levels[factor.positions], param)
        for name in ("run_id", "seed", "run_key"):
            yield self._of_runs(name, runs[name])

    def variables(self) -> Iterator[GridVariable]:
        """Yield what the runs came to, one value each, then the ticks and every statistic at each of them.

        Raises:
            TableDamagedError: A record of series.csv is none.
            MissingFileError: There is no series.csv.
        """
        results = self._results
        for name in (*MEASURED, NOTE):
            yield self._of_runs(name, results.runs[name])
        for name in results.reducer_columns:
            yield self._of_runs(free_name(name, self._taken, "reducer"), results.runs.reducer(name))
        ticks = self._ticks()
        yield GridVariable(name=_TICK, dims=(_TICK,), values=ticks)
        for name, values in zip(results.stat_columns, self._series(ticks), strict=True):
            free = free_name(name, self._taken, "stat")
            yield GridVariable(name=free, dims=(*self.axes, _REPLICATE, _TICK), values=values)

    def _of_configs(self, name: str, column: NDArray[Any], param: str | None = None) -> GridVariable:
        values = _laid(column, self._config_cells, self._shape)
        return GridVariable(name=name, dims=self.axes, values=values, param=param)

    def _of_runs(self, name: str, column: NDArray[Any]) -> GridVariable:
        values = _laid(column, self._run_cells, (*self._shape, len(self._replicates)))
        return GridVariable(name=name, dims=(*self.axes, _REPLICATE), values=values)

    def _ticks(self) -> NDArray[np.int64]:
        """Return the ticks of all series, ascending."""
        found = np.zeros(0, np.int64)
        for block in self._results.series_blocks():
            found = np.union1d(found, block.ticks)
        return found

    def _series(self, ticks: NDArray[np.int64]) -> NDArray[np.float64]:
        """Return the values ``(columns, *shape, replicates, ticks)``; beside it no more than a block is held."""
        results = self._results
        shape = (*self._shape, len(self._replicates), len(ticks))
        laid = np.full((len(results.stat_columns), math.prod(shape)), np.nan)
        for block in results.series_blocks():
            cells = self._run_cells[results.runs.places(block.run_ids)]
            laid[:, cells * len(ticks) + np.searchsorted(ticks, block.ticks)] = block.values.T
        return laid.reshape(len(results.stat_columns), *shape)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Factor:
    """A parameter or action: its name in a grid, its column, its levels, and which of them each config has."""

    name: str
    column: str
    levels: NDArray[Any]
    positions: NDArray[np.intp]

    @classmethod
    def of(cls, name: str, column: str, values: NDArray[Any]) -> _Factor:
        levels, first, positions = np.unique(values, return_index=True, return_inverse=True)
        if values.dtype.kind == "U":  # options have no order but the one in which they are met
            order = np.argsort(first)
            levels, positions = levels[order], np.argsort(order)[positions]
        return cls(name=name, column=column, levels=levels, positions=positions.astype(np.intp))


def _full_grid(results: RecordedResults, factors: Sequence[_Factor], count: int) -> tuple[_Factor, ...]:
    """Return the factors that the `count` configs of `results` are a full grid of, none where they are no such."""
    varied = tuple(factor for factor in factors if len(factor.levels) > 1)
    if not varied or results.is_search:
        return ()
    is_whole = math.prod(len(factor.levels) for factor in varied) == count
    if not is_whole and not _is_factorial(results):
        return ()
    return varied if len(np.unique(_cells(varied))) == count else ()


def _is_factorial(results: RecordedResults) -> bool:
    """Return whether every config of the study stands in one factorial block, which leaves none out."""
    try:
        blocks = results.spec.blocks
    except SpecError:
        return False
    return len(blocks) == 1 and blocks[0].design is DesignKind.FACTORIAL and blocks[0].where is None


def _cells(grid: Sequence[_Factor]) -> NDArray[np.intp]:
    """Return where each config stands in `grid`, the last factor fastest."""
    shape = tuple(len(factor.levels) for factor in grid)
    return np.asarray(np.ravel_multi_index([factor.positions for factor in grid], shape))


def _laid(column: NDArray[Any], cells: NDArray[np.intp], shape: tuple[int, ...]) -> NDArray[Any]:
    laid = np.full(math.prod(shape), _MISSING.get(column.dtype.kind, 0), column.dtype)
    if column.dtype.kind == "U":
        laid[:] = ""
    laid[cells] = column
    return laid.reshape(shape)
