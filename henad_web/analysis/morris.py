"""Morris's elementary effects: what y changes by when one factor takes a step, over trajectories through the levels.

Owns the effects and what is said of them: their mean, the mean of their sizes, their deviation.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from henad_web.analysis.pieces import PIECE_ROWS, Pieces, stretches
from henad_web.analysis.resamples import Resampling
from henad_web.analysis.tables import Column, FactorTable

__all__ = ["Effects", "MorrisEffects", "elementary_effects", "morris_effects"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MorrisEffects(FactorTable):
    """Elementary effects, a row a factor, in units of y for the factor's whole range; every array is ``(factors,)``.

    Attributes:
        mu: Mean of the effects; effects of both signs cancel.
        mu_star: Mean of their absolute values: how much the factor matters.
        mu_star_low: Lower end of its interval.
        mu_star_high: Upper end.
        sigma: Standard deviation of the effects: large beside `mu_star` where a factor is not linear or works
            together with others.
        trajectories: Trajectories that count.
        trajectories_left_out: Trajectories that do not, since one of their configs has no value.
        confidence: That of the intervals.
        resamples: Draws that they are made of.
    """

    mu: Floats
    mu_star: Floats
    mu_star_low: Floats
    mu_star_high: Floats
    sigma: Floats
    trajectories: int
    trajectories_left_out: int
    confidence: float
    resamples: int

    @property
    def title(self) -> str:
        """What the table answers, on one line."""
        return f"Morris's elementary effects on {self.axis}"

    @property
    def mu_star_conf(self) -> Floats:
        """Half the width of the interval of `mu_star`: what SALib calls ``mu_star_conf``."""
        return (self.mu_star_high - self.mu_star_low) / 2

    def columns(self) -> Mapping[str, Column]:
        """Return its columns by name, each ``(factors,)``."""
        ends = {"mu_star_low": self.mu_star_low, "mu_star_high": self.mu_star_high}
        means = {"mu": self.mu, "mu_star": self.mu_star, **ends}
        return {"factor": np.array(self.factors), **means, "sigma": self.sigma}


def elementary_effects(y: Floats, values: Sequence[Floats], step: float | None) -> Pieces[Floats]:
    """Return the effect of each factor in each trajectory, ``(factors, trajectories)``.

    An effect is the difference of y along the step that moves the factor, from its smaller value to its larger one,
    divided by the size of the step as a share of the factor's range (M. Morris, Factorial sampling plans for
    preliminary computational experiments, Technometrics 33, 1991, 161-174).

    Args:
        y: y of each config, ``(trajectories, factors + 1)``.
        values: Each factor's values as numbers, ``(trajectories, factors + 1)``; exactly one factor changes from one
            config to the next.
        step: Size of every step, as a share of a factor's range; None measures each step by the range of `values`.
    """
    effects, rows = np.empty((len(values), len(y))), np.arange(len(y))
    changes = np.diff(y, axis=1)
    for effect, column in zip(effects, values, strict=True):
        moves = np.diff(column, axis=1)
        yield
        at = np.abs(moves).argmax(axis=1)
        move = moves[rows, at]
        share = np.sign(move) * step if step is not None else move / (column.max() - column.min())
        np.divide(changes[rows, at], share, out=effect)
        yield
    return effects


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Effects:
    """What the effects of each factor come to; every array is ``(factors,)``.

    Attributes:
        mu: Their mean.
        mu_star: Mean of their absolute values.
        half_width: Half the width of the interval of `mu_star`.
        sigma: Their standard deviation, with n - 1; NaN of a single one.
    """

    mu: Floats
    mu_star: Floats
    half_width: Floats
    sigma: Floats


def morris_effects(effects: Floats, resampling: Resampling) -> Pieces[Effects]:
    """Return what `effects`, ``(factors, trajectories)``, come to.

    ``mu_star`` is F. Campolongo's, J. Cariboni's and A. Saltelli's (An effective screening design for sensitivity
    analysis of large models, Environmental Modelling & Software 22, 2007, 1509-1518). Its interval is made of whole
    trajectories drawn with replacement.
    """
    sizes, (factors, trajectories) = np.abs(effects), effects.shape
    mu, mu_star, sigma = np.empty((3, factors))
    for factor, (signed, size) in enumerate(zip(effects, sizes, strict=True)):
        mu[factor], mu_star[factor] = signed.mean(), size.mean()
        sigma[factor] = signed.std(ddof=1) if trajectories > 1 else np.nan
        yield
    drawn = np.empty((resampling.resamples, factors))
    for resample, counts in enumerate(resampling.counts(trajectories)):
        yield
        for part in stretches(factors, max(1, 4 * PIECE_ROWS // trajectories)):
            drawn[resample, part] = (sizes[part] * counts).sum(axis=1) / trajectories
            yield
    return Effects(mu=mu, mu_star=mu_star, half_width=resampling.half_widths(drawn), sigma=sigma)
