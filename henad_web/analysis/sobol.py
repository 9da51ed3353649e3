"""Sobol' indices of a Saltelli design: how much of the variance of y each factor makes, alone and with others.

Owns the estimators, those of SALib's ``analyze.sobol``, so that the numbers are the same, and their intervals: points
are drawn with replacement, by `resamples`. Every estimator is made of means over the points, so that a resample needs
no more than counts of how often each point was drawn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from henad_web.analysis.pieces import PIECE_ROWS, Pieces, stretches
from henad_web.analysis.resamples import Resampling
from henad_web.analysis.scaling import centered
from henad_web.analysis.tables import AnalysisTable, Axis, Column, FactorTable

__all__ = ["Indices", "PairIndices", "SobolIndices", "sobol_indices"]

Floats = NDArray[np.float64]

_FLAT = 1e-12
"""Variance, that of all y being 1, under which a resample says nothing."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PairIndices(AnalysisTable):
    """Second-order indices, a row a pair of factors; every array is ``(pairs,)``.

    Attributes:
        axis: What is measured, y.
        first: Name of one factor.
        second: Name of the other.
        s2: Share of the variance of y that both make together, beyond what each makes alone.
        s2_low: Lower end of its interval.
        s2_high: Upper end.
    """

    axis: Axis
    first: Column
    second: Column
    s2: Floats
    s2_low: Floats
    s2_high: Floats

    @property
    def title(self) -> str:
        """What the table answers, on one line."""
        return f"second-order Sobol' indices of {self.axis}"

    def columns(self) -> Mapping[str, Column]:
        """Return its columns by name, each ``(pairs,)``."""
        ends = {"s2": self.s2, "s2_low": self.s2_low, "s2_high": self.s2_high}
        return {"first": self.first, "second": self.second, **ends}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class SobolIndices(FactorTable):
    """First-order and total Sobol' indices, a row a factor; every array is ``(factors,)`` unless it says otherwise.

    Attributes:
        s1: Share of the variance of y that the factor makes alone; an estimate, so that it may be below 0.
        s1_low: Lower end of its interval.
        s1_high: Upper end.
        st: Share that would be left if every other factor were fixed: alone and with others.
        st_low: Lower end of its interval.
        st_high: Upper end.
        s2: Share that two factors make together beyond what each makes alone, ``(factors, factors)``, NaN but above
            the diagonal; None of a design without ``second_order``.
        s2_low: Lower ends, likewise.
        s2_high: Upper ends.
        points: Points of the design that count.
        points_left_out: Points that do not, since one of their configs has no value.
        confidence: That of the intervals.
        resamples: Draws that they are made of.
    """

    s1: Floats
    s1_low: Floats
    s1_high: Floats
    st: Floats
    st_low: Floats
    st_high: Floats
    s2: Floats | None
    s2_low: Floats | None
    s2_high: Floats | None
    points: int
    points_left_out: int
    confidence: float
    resamples: int

    @property
    def title(self) -> str:
        """What the table answers, on one line."""
        return f"Sobol' indices of {self.axis}"

    @property
    def s1_conf(self) -> Floats:
        """Half the width of the interval of `s1`: what SALib calls ``S1_conf``."""
        return (self.s1_high - self.s1_low) / 2

    @property
    def st_conf(self) -> Floats:
        """Half the width of the interval of `st`: what SALib calls ``ST_conf``."""
        return (self.st_high - self.st_low) / 2

    def columns(self) -> Mapping[str, Column]:
        """Return its columns by name, each ``(factors,)``; `pairs` has the second-order indices."""
        first = {"s1": self.s1, "s1_low": self.s1_low, "s1_high": self.s1_high}
        total = {"st": self.st, "st_low": self.st_low, "st_high": self.st_high}
        return {"factor": np.array(self.factors), **first, **total}

    @property
    def pairs(self) -> PairIndices | None:
        """The second-order indices, a row a pair; None of a design without ``second_order``."""
        if self.s2 is None or self.s2_low is None or self.s2_high is None:
            return None
        above, names = np.triu_indices(len(self.axes), 1), np.array(self.factors)
        return PairIndices(
            left_out=self.left_out,
            axis=self.axis,
            first=names[above[0]],
            second=names[above[1]],
            s2=self.s2[above],
            s2_low=self.s2_low[above],
            s2_high=self.s2_high[above],
        )


def sobol_indices(grid: Floats, factors: int, second_order: bool, resampling: Resampling) -> Pieces[Indices]:
    """Return the indices of the y in `grid`, ``(points, configs a point)`` in the order of a Saltelli design.

    S1 is ``mean(B (AB_i - A)) / V`` and ST ``mean((A - AB_i)^2) / 2 V`` (A. Saltelli, P. Annoni, I. Azzini, F.
    Campolongo, M. Ratto and S. Tarantola, Variance based sensitivity analysis of model output, Computer Physics
    Communications 181, 2010, 259-270, table 2, (b) and (f); the latter is M. Jansen's, Computer Physics Communications
    117, 1999, 35-43); S2 is
    ``mean(BA_i AB_j - A B) / V - S1_i - S1_j`` (A. Saltelli, Computer Physics Communications 145, 2002, 280-297). V is
    the variance of A and B together. y is centered first and scaled to a variance of 1. An interval is the index plus
    and minus the normal quantile times the deviation of the resamples (G. Archer, A. Saltelli and I. Sobol', Journal of
    Statistical Computation and Simulation 58, 1997, 99-120).

    Returns:
        The indices and half the widths of their intervals; NaN where y is the same everywhere.
    """
    pairs = factors * (factors - 1) // 2 if second_order else 0
    scaled = yield from _standardized(grid)
    if scaled is None:
        nothing = np.full(2 * factors + pairs, np.nan)
        return Indices(factors=factors, values=nothing, half_widths=nothing)
    terms = yield from _terms(scaled, factors, second_order)
    means = yield from _means(terms, None)
    drawn = np.empty((resampling.resamples, len(terms)))
    for resample, counts in enumerate(resampling.counts(terms.shape[1])):
        yield
        drawn[resample] = yield from _means(terms, counts)
    half_widths = resampling.half_widths(_indices(drawn, factors))
    return Indices(factors=factors, values=_indices(means[None], factors)[0], half_widths=half_widths)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Indices:
    """Indices as numbers one after another: first-order, total, and of pairs where there are any.

    Attributes:
        factors: How many factors there are.
        values: Each index, ``(indices,)``.
        half_widths: Half the width of its interval.
    """

    factors: int
    values: Floats
    half_widths: Floats

    def ends(self, part: slice) -> tuple[Floats, Floats, Floats]:
        """Return the indices at `part` with the ends of their intervals."""
        values, half = self.values[part], self.half_widths[part]
        return values, values - half, values + half

    @property
    def first_order(self) -> tuple[Floats, Floats, Floats]:
        """S1, its lower ends and its upper ones, ``(factors,)``."""
        return self.ends(slice(0, self.factors))

    @property
    def total(self) -> tuple[Floats, Floats, Floats]:
        """ST, likewise."""
        return self.ends(slice(self.factors, 2 * self.factors))

    @property
    def pairs(self) -> tuple[Floats, Floats, Floats] | tuple[None, None, None]:
        """S2, likewise ``(factors, factors)``, NaN but above the diagonal; None without second order."""
        if len(self.values) == 2 * self.factors:
            return None, None, None
        first, low, high = self.ends(slice(2 * self.factors, None))
        return self._above(first), self._above(low), self._above(high)

    def _above(self, values: Floats) -> Floats:
        matrix = np.full((self.factors, self.factors), np.nan)
        matrix[np.triu_indices(self.factors, 1)] = values
        return matrix


def _standardized(grid: Floats) -> Pieces[Floats | None]:
    """Return `grid` with a mean of 0 and a variance of 1, None where all of it is one number."""
    if grid.min() == grid.max():
        return None
    yield
    less_mean = centered(grid)
    yield
    return np.asarray(less_mean / np.sqrt((less_mean * less_mean).mean()))


def _terms(y: Floats, factors: int, second_order: bool) -> Pieces[Floats]:
    """Return what is averaged over the points, ``(terms, points)``: of both samples, of S1, of ST, of S2."""
    columns = np.ascontiguousarray(y.T)
    a, b, ab, ba = columns[0], columns[-1], columns[1 : factors + 1], columns[factors + 1 : -1]
    pairs = factors * (factors - 1) // 2 if second_order else 0
    terms = np.empty((2 + 2 * factors + pairs, len(y)))
    np.add(a, b, out=terms[0])
    np.add(a * a, b * b, out=terms[1])
    yield
    for factor in range(factors):
        difference = ab[factor] - a
        np.multiply(b, difference, out=terms[2 + factor])
        np.multiply(difference, difference, out=terms[2 + factors + factor])
        yield
    if second_order:
        product = a * b
        for place, (first, second) in enumerate(zip(*np.triu_indices(factors, 1), strict=True)):
            np.subtract(ba[first] * ab[second], product, out=terms[2 + 2 * factors + place])
            yield
    return terms


def _means(terms: Floats, counts: Floats | None) -> Pieces[Floats]:
    """Return the mean of each of `terms` over the points, each counted as often as `counts` says."""
    means, points = np.empty(len(terms)), terms.shape[1]
    for part in stretches(len(terms), max(1, 4 * PIECE_ROWS // points)):
        chosen = terms[part] if counts is None else terms[part] * counts
        means[part] = chosen.sum(axis=1) / points
        yield
    return means


def _indices(means: Floats, factors: int) -> Floats:
    """Return the indices that the `means` of the terms make, ``(samples, terms)``, NaN of a sample without variance."""
    center = means[:, 0] / 2
    variance = means[:, 1] / 2 - center * center
    shares = means[:, 2:] / np.where(variance > _FLAT, variance, np.nan)[:, None]
    shares[:, factors : 2 * factors] /= 2
    if shares.shape[1] > 2 * factors:
        first, second = np.triu_indices(factors, 1)
        shares[:, 2 * factors :] -= shares[:, first] + shares[:, second]
    return np.asarray(shares)
