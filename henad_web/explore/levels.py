"""What a factor can take: levels that can be counted and indexed, or a whole domain to draw from.

Owns the inclusive range rule and the rounding of levels to their precision (reference engine, section 4.8).
Ranges are never listed: a level is computed from its position. Which thing varies is `factors`' business.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any, Protocol, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from henad_web.model.params import ParamValue

__all__ = [
    "MAX_LEVELS",
    "ContinuousDomain",
    "DecimalLevels",
    "Domain",
    "Floats",
    "Levels",
    "SteppedLevels",
    "WholeDomain",
    "decimal_levels",
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

    @property
    def are_distinct(self) -> bool:
        """Whether a step is no shorter than the distance of two numbers, so that no two levels are equal."""
        largest = max(abs(self[0]), abs(self[self.count - 1]))
        return self.step >= float(np.spacing(np.float32(largest)))

    def column(self, positions: NDArray[np.generic]) -> NDArray[np.float32]:
        """Return the levels at `positions`, whole numbers ``(n,)``, as an array of the same shape."""
        steps = positions.astype(np.float64)
        levels = np.where(steps == self.count - 1, self.last, self.low + steps * self.step).astype(np.float32)
        return levels + np.float32(0)


@dataclass(frozen=True, slots=True)
class DecimalLevels:
    """Double-precision levels ``(first + i * step) / unit`` of whole numbers, each rounded once.

    A range from 0 by 0.1 reaches 0.3, where sums of doubles come to 0.30000000000000004.

    Attributes:
        first: First level in units.
        step: Distance of two levels in units, positive.
        unit: Parts that 1 is counted in.
        count: Number of levels, at least 1.
        last: Last level; the range's maximum when the steps land on it.
    """

    first: int
    step: int
    unit: int
    count: int
    last: float

    def __len__(self) -> int:
        """Return the number of levels."""
        return self.count

    def __getitem__(self, position: int) -> float:
        """Return the level at `position`, 0 to ``count - 1``."""
        if not 0 <= position < self.count:
            raise IndexError(f"level {position} of {self.count}")
        # A quotient of two of Python's integers is rounded once, whatever their size.
        return self.last if position == self.count - 1 else (self.first + position * self.step) / self.unit

    @property
    def are_distinct(self) -> bool:
        """Whether a step is no shorter than the distance of two numbers, so that no two levels are equal."""
        return self.step / self.unit >= math.ulp(max(abs(self[0]), abs(self[self.count - 1])))


def stepped_levels(low: float, high: float, step: float) -> SteppedLevels | None:
    """Return the levels from `low` to `high`, both included, `step` apart; None for more than `MAX_LEVELS`.

    The count is ``floor(span + tolerance) + 1`` with ``span = (high - low) / step`` and a tolerance of
    ``max(span, 1) * 1e-9``, so no level is lost to rounding and none lies above `high`.

    Args:
        low: First level, finite.
        high: Bound, finite, not below `low`.
        step: Positive and finite.
    """
    counted = _count_steps((high - low) / step)
    if counted is None:
        return None
    steps, lands = counted
    return SteppedLevels(low, step, steps + 1, high if lands else low + steps * step)


def decimal_levels(low: float, high: float, step: float) -> DecimalLevels | None:
    """Return the levels that `stepped_levels` counts in double precision, computed from the decimals of its numbers."""
    first, by = (Fraction(Decimal(repr(number))) for number in (low, step))
    counted = _count_steps(float(min((Fraction(Decimal(repr(high))) - first) / by, Fraction(2 * MAX_LEVELS))))
    if counted is None:
        return None
    steps, lands = counted
    unit = math.lcm(first.denominator, by.denominator)
    last = high if lands else float(first + steps * by)
    return DecimalLevels(int(first * unit), int(by * unit), unit, steps + 1, last + 0.0)


def _count_steps(span: float) -> tuple[int, bool] | None:
    """Return how many steps a range of `span` steps has, and whether the last one lands on its end."""
    tolerance = max(span, 1.0) * _TOLERANCE
    if not span + tolerance < MAX_LEVELS:
        return None
    steps = math.floor(span + tolerance)
    return steps, abs(span - steps) <= tolerance


Floats: TypeAlias = NDArray[np.floating[Any]]


@dataclass(frozen=True, slots=True)
class ContinuousDomain:
    """Every number of one precision from `low` to `high`.

    Attributes:
        low: Smallest number before rounding.
        high: Largest number before rounding.
        is_double: Whether it is of double precision; single precision else.
    """

    low: float
    high: float
    is_double: bool = False

    @property
    def dtype(self) -> type[np.float32] | type[np.float64]:
        """Type of an array of its numbers."""
        return np.float64 if self.is_double else np.float32

    def at(self, fraction: float) -> float:
        """Return the number at `fraction` (0 to 1) of the way, in the domain's precision and inside the bounds."""
        low, high = (self.low, self.high) if self.is_double else (single(self.low), single(self.high))
        value = self._between(fraction)
        return min(max(value if self.is_double else single(value), low), high) + 0.0

    def column(self, fractions: NDArray[np.float64]) -> Floats:
        """Return `at` of each of `fractions`, 0 to 1: an array of `dtype`, ``(n,)``."""
        values, low, high = map(self._rounded, (self._between(fractions), np.array(self.low), np.array(self.high)))
        return np.clip(values, low, high)

    def _rounded(self, numbers: NDArray[np.float64]) -> Floats:
        rounded: Floats = numbers.astype(self.dtype)
        rounded += 0.0  # which turns a negative zero into zero, as `single` does
        return rounded

    @overload
    def _between(self, fraction: float) -> float: ...
    @overload
    def _between(self, fraction: NDArray[np.float64]) -> NDArray[np.float64]: ...

    def _between(self, fraction: float | NDArray[np.float64]) -> float | NDArray[np.float64]:
        span = self.high - self.low
        if math.isfinite(span):
            return self.low + fraction * span
        return self.low * (1.0 - fraction) + self.high * fraction


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
