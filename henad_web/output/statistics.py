"""Mean, spread and a 95 % interval of numbers met one after another.

Owns the formulas (reference engine, section 6.8). Uses only `+ - * /` and `sqrt`, so that every platform gets
the same bits. Knows nothing of tables.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

__all__ = ["RunningStatistics", "t_quantile"]

# 97.5 % quantiles of Student's t for 1 to 30 degrees of freedom, to the nine decimals of printed tables.
_TABLE = (
    12.706204736, 4.302652730, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135,
    2.262157163, 2.228138852, 2.200985160, 2.178812830, 2.160368656, 2.144786688, 2.131449546, 2.119905299,
    2.109815578, 2.100922040, 2.093024054, 2.085963447, 2.079613845, 2.073873068, 2.068657610, 2.063898562,
    2.059538553, 2.055529439, 2.051830516, 2.048407142, 2.045229642, 2.042272456,
)  # fmt: skip

_Z = 1.959963984540054
"""97.5 % quantile of the normal distribution."""


def _expansion() -> tuple[float, float, float, float]:
    # Cornish and Fisher's expansion of t about the normal quantile, its terms in powers of 1 / df.
    z = _Z
    z2 = z * z
    z3, z5, z7, z9 = z * z2, z * z2 * z2, z * z2 * z2 * z2, z * z2 * z2 * z2 * z2
    return (
        (z3 + z) / 4,
        (5 * z5 + 16 * z3 + 3 * z) / 96,
        (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / 384,
        (79 * z9 + 776 * z7 + 1482 * z5 - 1920 * z3 - 945 * z) / 92160,
    )


_G1, _G2, _G3, _G4 = _expansion()


def t_quantile(degrees: int) -> float:
    """Return the 97.5 % quantile of Student's t with `degrees` of freedom, infinite for 0.

    Up to 30 it is a table, above an expansion that is right to 1e-6.
    """
    if degrees < 1:
        return math.inf
    if degrees <= len(_TABLE):
        return _TABLE[degrees - 1]
    df = float(degrees)
    return _Z + _G1 / df + _G2 / (df * df) + _G3 / (df * df * df) + _G4 / (df * df * df * df)


@dataclass(slots=True)
class RunningStatistics:
    """Welford's recurrence: one pass and no cancellation. The order of the numbers affects the last bit.

    Attributes:
        count: Numbers pushed.
        mean: Their mean, 0 before the first.
        squares: Sum of their squared distances from the mean.
    """

    count: int = 0
    mean: float = 0.0
    squares: float = 0.0

    def push(self, number: float) -> None:
        """Take one more number, which must be finite."""
        self.count += 1
        delta = number - self.mean
        self.mean += delta / self.count
        self.squares += delta * (number - self.mean)

    @property
    def deviation(self) -> float | None:
        """Standard deviation of the sample, with n - 1; None for fewer than two numbers."""
        return math.sqrt(self.squares / (self.count - 1)) if self.count > 1 else None

    @property
    def half_width(self) -> float | None:
        """Half the width of the 95 % interval of the mean; None for fewer than two numbers."""
        deviation = self.deviation
        if deviation is None:
            return None
        return t_quantile(self.count - 1) * deviation / math.sqrt(self.count)
