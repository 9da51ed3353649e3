"""Points drawn with replacement, as counts of how often each was: what intervals of indices and effects are made of.

Owns the draws, which follow from a seed by the package's own generator, the same on every platform, and what an
interval made of them may be asked to be.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from henad_web.analysis.bootstrap import drawn_places
from henad_web.analysis.intervals import check_confidence, check_draws, percent_text
from henad_web.analysis.pieces import PIECE_ROWS, stretches
from henad_web.errors import counted
from henad_web.explore.intervals import normal_quantile
from henad_web.randomness import MASK64, mix_seed

__all__ = ["Resampling"]

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, kw_only=True)
class Resampling:
    """How intervals are made: an estimate plus and minus the normal quantile times the deviation of its resamples.

    Attributes:
        confidence: That of the intervals, 0.9, 0.95 or 0.99.
        resamples: How often as many points are drawn as there are.
        seed: What the draws follow from, taken modulo 2^64.
    """

    confidence: float
    resamples: int
    seed: int

    def __post_init__(self) -> None:
        """Check what is asked for.

        Raises:
            UsageError: It is not allowed.
        """
        check_confidence(self.confidence)
        check_draws(self.resamples, self.seed)

    def note(self, noun: str) -> str:
        """Return how the intervals were made, one line; `noun` is what was drawn."""
        level, draws = percent_text(self.confidence), counted(self.resamples, "resample", grouped=True)
        return f"low and high: {level} intervals from {draws} of the {noun}, seed {self.seed}"

    def counts(self, points: int) -> Iterator[Floats]:
        """Yield for each resample how often each of `points` was drawn, float64 ``(points,)``."""
        state = mix_seed(int(self.seed) & MASK64)
        for part in stretches(self.resamples, max(1, PIECE_ROWS // points)):
            drawn, state = drawn_places(state, points, (part.stop - part.start) * points)
            for row in drawn.reshape(-1, points):
                yield np.bincount(row, minlength=points).astype(np.float64)

    def half_widths(self, drawn: Floats) -> Floats:
        """Return half the width of the interval of each column of `drawn`, ``(resamples, n)``: ``(n,)``.

        Resamples without a number count for nothing; of fewer than two there is no interval.
        """
        counting = drawn[~np.isnan(drawn).any(axis=1)]
        if len(counting) < 2:
            return np.full(drawn.shape[1], np.nan)
        return np.asarray(normal_quantile(self.confidence) * counting.std(axis=0, ddof=1))
