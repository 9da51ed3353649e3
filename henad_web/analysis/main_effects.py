"""Main effects of a grid of configs: how much of the variance of y between them each factor makes.

Owns the shares: exact over the levels of the grid, each counted alike, with no sampling and hence no interval.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from henad_web.analysis.pieces import Pieces
from henad_web.analysis.scaling import centered
from henad_web.analysis.tables import Column, FactorTable

__all__ = ["MainEffects", "variance_shares"]

Floats = NDArray[np.float64]
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MainEffects(FactorTable):
    """Shares of the variance of y over a grid, a row a factor; every array is ``(factors,)``.

    Attributes:
        s1: Share that the means of the factor's levels make: what the factor does alone.
        st: Share that is within the lines of the grid along the factor: what it does alone and with others.
        levels: Number of its levels.
        configs: Configs that count.
        configs_left_out: Configs of the grid without a value.
    """

    s1: Floats
    st: Floats
    levels: NDArray[np.int64]
    configs: int
    configs_left_out: int

    @property
    def title(self) -> str:
        """What the table answers, on one line."""
        return f"main effects on {self.axis}"

    def columns(self) -> Mapping[str, Column]:
        """Return its columns by name, each ``(factors,)``."""
        return {"factor": np.array(self.factors), "levels": self.levels, "s1": self.s1, "st": self.st}


def variance_shares(y: Floats, codes: Sequence[Codes], levels: Sequence[int]) -> Pieces[tuple[Floats, Floats]]:
    """Return the shares that each factor makes alone, and in all, of the variance of `y`; NaN where there is none.

    Alone: sum of squares between the means of its levels, over that between configs. In all: sum of squares within the
    lines along the factor, over the same. Of a whole grid these are S1 and ST of factors whose levels are equally
    likely (I. Sobol', Mathematics and Computers in Simulation 55, 2001, 271-280).

    Args:
        y: y of each config, ``(configs,)``.
        codes: Of each factor the number of each config's level, from 0, ``(configs,)``.
        levels: Of each factor how many levels there are.
    """
    alone, in_all = np.full((2, len(codes)), np.nan)
    if y.min() == y.max():
        return alone, in_all
    less_mean = centered(y)
    total = (less_mean * less_mean).sum()
    yield
    strides = np.append(np.cumprod(np.array(levels[:0:-1], np.int64))[::-1], 1)
    cells = np.zeros(len(y), np.int64)
    for code, stride in zip(codes, strides.tolist(), strict=True):
        cells += code * stride
        yield
    for factor, (code, stride) in enumerate(zip(codes, strides.tolist(), strict=True)):
        alone[factor] = _between(less_mean, code) / total
        yield
        in_all[factor] = max(1 - _between(less_mean, cells - code * stride) / total, 0.0)
        yield
    return alone, in_all


def _between(less_mean: Floats, groups: Codes) -> float:
    """Return the sum of squares between the means of `groups` of numbers whose mean is 0."""
    sums, counts = np.bincount(groups, weights=less_mean), np.bincount(groups)
    there = counts > 0
    return float((sums[there] * sums[there] / counts[there]).sum())
