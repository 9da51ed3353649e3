"""Regression and rank measures of any design: how y goes with each factor, and how much of it that explains.

Owns standardized coefficients, the same of ranks, partial and plain rank correlations. Only sums of products, `+ - * /`
and `sqrt`, in a fixed order and without a library of linear algebra, so that every platform gets the same bits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from henad_web.analysis.ordered import order_of
from henad_web.analysis.pieces import Pieces
from henad_web.analysis.scaling import centered
from henad_web.analysis.tables import Column, FactorTable
from henad_web.explore.intervals import t_quantile

__all__ = ["Fit", "RegressionMeasures", "fitted", "ranks"]

Floats = NDArray[np.float64]

_DEPENDENT = 1e-10
"""Share of a factor's variance that the factors before it must leave, for it to say anything of its own."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RegressionMeasures(FactorTable):
    """Regression and rank measures, a row a factor, -1 to 1 unless factors go together; every array is ``(factors,)``.

    Attributes:
        src: Standardized regression coefficient: deviations that y moves by when the factor moves by one of its own.
        src_low: Lower end of its interval, Student's.
        src_high: Upper end.
        srrc: The same of ranks: of any monotone relation.
        prcc: Partial rank correlation: that of factor and y when what the other factors explain is taken off both.
        spearman: Rank correlation of factor and y alone.
        r2: Share of the variance of y that the regression explains.
        r2_adjusted: The same, less what as many factors explain by chance.
        rank_r2: `r2` of the ranks.
        configs: Configs that count.
        confidence: That of the intervals.
    """

    src: Floats
    src_low: Floats
    src_high: Floats
    srrc: Floats
    prcc: Floats
    spearman: Floats
    r2: float
    r2_adjusted: float
    rank_r2: float
    configs: int
    confidence: float

    @property
    def title(self) -> str:
        """What the table answers, on one line."""
        return f"regression measures of {self.axis}"

    def columns(self) -> Mapping[str, Column]:
        """Return its columns by name, each ``(factors,)``."""
        linear = {"src": self.src, "src_low": self.src_low, "src_high": self.src_high}
        ranked = {"srrc": self.srrc, "prcc": self.prcc, "spearman": self.spearman}
        return {"factor": np.array(self.factors), **linear, **ranked}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Fit:
    """A linear regression of standardized numbers; every array is ``(factors,)``, NaN of a factor that adds nothing.

    Attributes:
        coefficients: Standardized coefficient of each factor.
        correlations: Correlation of each factor with y.
        inverse: Diagonal of the inverse of the factors' correlations: how much each is inflated by the others.
        unexplained: Share of the variance of y that is left, ``1 - R^2``.
        degrees: Degrees of freedom that are left.
    """

    coefficients: Floats
    correlations: Floats
    inverse: Floats
    unexplained: float
    degrees: int

    @property
    def r2(self) -> float:
        """Share of the variance of y that is explained."""
        return 1 - self.unexplained

    @property
    def r2_adjusted(self) -> float:
        """The same, less what as many factors explain by chance; NaN without degrees of freedom."""
        used = int(np.count_nonzero(~np.isnan(self.coefficients)))
        return 1 - self.unexplained * (self.degrees + used) / self.degrees if self.degrees else math.nan

    @property
    def partial(self) -> Floats:
        """Partial correlation of each factor with y, given all others."""
        own = np.square(self.coefficients)
        with np.errstate(invalid="ignore"):  # NaN of a factor that does nothing where all is explained
            return np.asarray(self.coefficients / np.sqrt(own + self.unexplained * self.inverse))

    def half_widths(self, confidence: float) -> Floats:
        """Return half the width of Student's interval of each coefficient; NaN without degrees of freedom."""
        if not self.degrees:
            return np.full(len(self.coefficients), np.nan)
        errors = np.sqrt(self.unexplained * self.inverse / self.degrees)
        return np.asarray(t_quantile(self.degrees, confidence) * errors)


def fitted(columns: Sequence[Floats], y: Floats) -> Pieces[Fit]:
    """Return the regression of `y`, ``(n,)``, on `columns`, each ``(n,)``, none of them constant.

    The correlations are swept factor by factor (J. Goodnight, A tutorial on the SWEEP operator, The American
    Statistician 33, 1979, 149-158). A factor that those before it determine is left out, its numbers NaN.
    """
    units = []
    for column in (*columns, y):
        units.append(_unit(column))
        yield
    size = len(units)
    matrix = np.empty((size, size))
    for row in range(size):
        for column_number in range(row + 1):
            matrix[row, column_number] = matrix[column_number, row] = (units[row] * units[column_number]).sum()
            yield
    correlations, kept = matrix[-1, :-1].copy(), np.zeros(len(columns), np.bool_)
    for factor in range(len(columns)):
        pivot = matrix[factor, factor]
        if pivot > _DEPENDENT:
            kept[factor] = True
            swept = matrix[factor].copy()
            matrix -= np.multiply.outer(swept, swept) / pivot
            matrix[factor] = matrix[:, factor] = swept / pivot
            matrix[factor, factor] = -1 / pivot
            yield
    return Fit(
        coefficients=np.where(kept, matrix[-1, :-1], np.nan),
        correlations=correlations,
        inverse=np.where(kept, -np.diagonal(matrix)[:-1], np.nan),
        unexplained=min(max(float(matrix[-1, -1]), 0.0), 1.0),
        degrees=max(len(y) - int(kept.sum()) - 1, 0),
    )


def _unit(values: Floats) -> Floats:
    """Return `values` less their mean, with a sum of squares of 1."""
    less_mean = centered(values)
    return np.asarray(less_mean / np.sqrt((less_mean * less_mean).sum()))


def ranks(values: Floats) -> Pieces[Floats]:
    """Return the rank of each of `values`, from 1; equal numbers share the mean of theirs."""
    order = yield from order_of(values)
    in_order, found = values[order], np.empty(len(values))
    firsts = np.flatnonzero(np.append(True, in_order[1:] != in_order[:-1]))
    counts = np.diff(np.append(firsts, len(values)))
    yield
    found[order] = np.repeat(firsts + (counts + 1) / 2, counts)
    return found
