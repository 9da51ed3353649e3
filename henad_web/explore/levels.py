"""What a factor can take: levels that can be counted and indexed, or a whole domain to draw from.

Owns the inclusive range rule and the rounding of levels to single precision (reference engine, section 4.8).
Ranges are never listed: a level is computed from its position. Which thing varies is `factors`' business.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from henad_web.model.params import ParamValue

__all__ = [
    "MAX_LEVELS",
    "ContinuousDomain",
    "Domain",
    "Levels",
    "SteppedLevels",
    "WholeDomain",
    "single",
    "stepped_levels",
]

MAX_LEVELS = 2**24
"""Most levels of one range."""

_TOLERANCE = 1e-9


def single(number: float) -> float:
    """Return `number` rounded once to single precision, as a float; a negative zero becomes zero."""
    return float(np.float32(number)) + 0.0


class Levels(Protocol):
    """Levels by position, from 0."""

    def __len__(self) -> int:
        """Return how many levels there are."""

    def __getitem__(self, position: int, /) -> ParamValue:
        """Return the level at `position`."""


@dataclass(frozen=True, slots=True)
class SteppedLevels:
    """Single-precision levels ``low + i * step``, computed in double precision and rounded once.

    Attributes:
        low: First level before rounding.
        step: Distance of two levels, positive.
        count: Number of levels, at least 1.
        last: Last level before rounding; the range's maximum when the steps land on it.
    """

    low: float
    step: float
    count: int
    last: float

    def __len__(self) -> int:
        """Return how many levels there are."""
        return self.count

    def __getitem__(self, position: int) -> float:
        """Return the level at `position`, 0 to ``count - 1``."""
        if not 0 <= position < self.count:
            raise IndexError(f"level {position} of {self.count}")
        return single(self.last if position == self.count - 1 else self.low + position * self.step)


def stepped_levels(low: float, high: float, step: float) -> SteppedLevels | None:
    """Return the levels from `low` to `high`, both included, `step` apart; None for more than `MAX_LEVELS`.

    The count is ``floor(span + tolerance) + 1`` with ``span = (high - low) / step`` and a tolerance of
    ``max(span, 1) * 1e-9``, so no level is lost to rounding and none lies above `high`.

    Args:
        low: First level, finite.
        high: Bound, finite, not below `low`.
        step: Positive and finite.
    """
    span = (high - low) / step
    tolerance = max(span, 1.0) * _TOLERANCE
    if not span + tolerance < MAX_LEVELS:
        return None
    steps = math.floor(span + tolerance)
    lands = abs(span - steps) <= tolerance
    return SteppedLevels(low, step, steps + 1, high if lands else low + steps * step)


@dataclass(frozen=True, slots=True)
class ContinuousDomain:
    """Every single-precision number from `low` to `high`."""

    low: float
    high: float

    def at(self, fraction: float) -> float:
        """Return the number at `fraction` (0 to 1) of the way, in single precision and inside the bounds."""
        value = single(self.low + fraction * (self.high - self.low))
        return min(max(value, single(self.low)), single(self.high))


@dataclass(frozen=True, slots=True)
class WholeDomain:
    """Every whole number from `low` to `high`."""

    low: int
    high: int

    @property
    def count(self) -> int:
        """Number of values."""
        return self.high - self.low + 1


Domain = Levels | ContinuousDomain | WholeDomain
"""What a factor of a sampled design draws from."""
