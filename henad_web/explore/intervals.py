"""Mean, spread and intervals of numbers met one after another: what summary.csv says and adaptive replicates go by.

Owns the formulas (reference engine, section 6.8): only `+ - * /` and `sqrt`, so that every platform gets the same bits.
So the levels of confidence are those whose quantiles stand here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

__all__ = [
    "CONFIDENCES",
    "IntervalKind",
    "RunningStatistics",
    "interval_of",
    "normal_quantile",
    "student_interval",
    "t_quantile",
    "wilson_interval",
]

USUAL = 0.95
"""Confidence of the intervals of summary.csv."""

# Quantiles of Student's t for 1 to 30 degrees of freedom, to the nine decimals of printed tables, by the confidence of
# the interval that they make: the 95 %, 97.5 % and 99.5 % ones.
_TABLES = {
    0.9: (
        6.313751515, 2.919985580, 2.353363435, 2.131846786, 2.015048373, 1.943180281, 1.894578605, 1.859548038,
        1.833112933, 1.812461123, 1.795884819, 1.782287556, 1.770933396, 1.761310136, 1.753050356, 1.745883676,
        1.739606726, 1.734063607, 1.729132812, 1.724718243, 1.720742903, 1.717144374, 1.713871528, 1.710882080,
        1.708140761, 1.705617920, 1.703288446, 1.701130934, 1.699127027, 1.697260887,
    ),
    USUAL: (
        12.706204736, 4.302652730, 3.182446305, 2.776445105, 2.570581836, 2.446911851, 2.364624252, 2.306004135,
        2.262157163, 2.228138852, 2.200985160, 2.178812830, 2.160368656, 2.144786688, 2.131449546, 2.119905299,
        2.109815578, 2.100922040, 2.093024054, 2.085963447, 2.079613845, 2.073873068, 2.068657610, 2.063898562,
        2.059538553, 2.055529439, 2.051830516, 2.048407142, 2.045229642, 2.042272456,
    ),
    0.99: (
        63.656741163, 9.924843201, 5.840909310, 4.604094871, 4.032142984, 3.707428021, 3.499483297, 3.355387331,
        3.249835542, 3.169272673, 3.105806516, 3.054539589, 3.012275839, 2.976842734, 2.946712883, 2.920781622,
        2.898230520, 2.878440473, 2.860934606, 2.845339710, 2.831359558, 2.818756061, 2.807335684, 2.796939505,
        2.787435814, 2.778714533, 2.770682957, 2.763262455, 2.756385904, 2.749995654,
    ),
}  # fmt: skip

_NORMAL = {0.9: 1.6448536269514722, USUAL: 1.959963984540054, 0.99: 2.5758293035489004}
"""The same quantiles of the normal distribution."""

CONFIDENCES = tuple(_NORMAL)
"""The levels of confidence that an interval may have."""


def _expansion(z: float) -> tuple[float, float, float, float]:
    # Cornish and Fisher's expansion of t about the normal quantile, its terms in powers of 1 / df.
    z2 = z * z
    z3, z5, z7, z9 = z * z2, z * z2 * z2, z * z2 * z2 * z2, z * z2 * z2 * z2 * z2
    return (
        (z3 + z) / 4,
        (5 * z5 + 16 * z3 + 3 * z) / 96,
        (3 * z7 + 19 * z5 + 17 * z3 - 15 * z) / 384,
        (79 * z9 + 776 * z7 + 1482 * z5 - 1920 * z3 - 945 * z) / 92160,
    )


_TERMS = {confidence: _expansion(z) for confidence, z in _NORMAL.items()}


def normal_quantile(confidence: float = USUAL) -> float:
    """Return the quantile of the normal distribution at the upper end of an interval; `confidence` as `CONFIDENCES`."""
    return _NORMAL[confidence]


def t_quantile(degrees: int, confidence: float = USUAL) -> float:
    """Return the quantile of Student's t with `degrees` of freedom at the upper end of an interval, infinite for 0.

    Up to 30 it is a table, above an expansion that is right to 1e-6.

    Args:
        degrees: Degrees of freedom.
        confidence: That of the interval, one of `CONFIDENCES`.
    """
    if degrees < 1:
        return math.inf
    table = _TABLES[confidence]
    if degrees <= len(table):
        return table[degrees - 1]
    df, (g1, g2, g3, g4) = float(degrees), _TERMS[confidence]
    return _NORMAL[confidence] + g1 / df + g2 / (df * df) + g3 / (df * df * df) + g4 / (df * df * df * df)


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
        """Standard deviation of the sample, with n - 1; None for fewer than two numbers, NaN where they overflow."""
        if self.count < 2:
            return None
        # Numbers whose differences are infinite leave squares of minus infinity, too.
        return math.sqrt(self.squares / (self.count - 1)) if self.squares >= 0.0 else math.nan

    def half_width(self, confidence: float = USUAL) -> float | None:
        """Return half the width of Student's interval of the mean; None for fewer than two numbers."""
        deviation = self.deviation
        if deviation is None:
            return None
        return t_quantile(self.count - 1, confidence) * deviation / math.sqrt(self.count)


class IntervalKind(StrEnum):
    """Which interval of a mean: Student's of any numbers, Wilson's of numbers that are 0 or 1."""

    STUDENT = "student"
    WILSON = "wilson"


def student_interval(fold: RunningStatistics, confidence: float = USUAL) -> tuple[float, float] | None:
    """Return the ends of Student's interval of the mean of `fold`; None for fewer than two numbers."""
    half = fold.half_width(confidence)
    return None if half is None else (fold.mean - half, fold.mean + half)


def wilson_interval(fold: RunningStatistics, confidence: float = USUAL) -> tuple[float, float] | None:
    """Return the ends of Wilson's score interval of a share, the mean of the zeros and ones of `fold`.

    None where there are no numbers, or where their mean is no share.

    ``(p + z^2 / 2n -+ z sqrt(p (1 - p) / n + z^2 / 4n^2)) / (1 + z^2 / n)``: E. B. Wilson (1927), Probable inference,
    the law of succession, and statistical inference, Journal of the American Statistical Association 22, 209-212.
    """
    if not fold.count or not 0 <= fold.mean <= 1:
        return None
    n, p, z = float(fold.count), fold.mean, _NORMAL[confidence]
    shrink = 1.0 + z * z / n
    center = (p + z * z / (2.0 * n)) / shrink
    half = z * math.sqrt(p * (1.0 - p) / n + z * z / (4.0 * n * n)) / shrink
    return center - half, center + half


_INTERVALS: dict[IntervalKind, Callable[[RunningStatistics, float], tuple[float, float] | None]] = {
    IntervalKind.STUDENT: student_interval,
    IntervalKind.WILSON: wilson_interval,
}


def interval_of(kind: IntervalKind, fold: RunningStatistics, confidence: float) -> tuple[float, float] | None:
    """Return the ends of the interval `kind` of the mean of `fold`; None where there are too few numbers."""
    return _INTERVALS[kind](fold, confidence)
