"""Numbers scaled, so that no sum, difference or square of them overflows, or is 0 for being small.

Owns how: by a power of two, which loses no bit and is taken back, or for good, to a mean of 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["centered", "scaled", "unscaled"]

Floats = NDArray[np.float64]


def scaled(values: Floats) -> tuple[Floats, int]:
    """Return finite `values`, ``(n,)`` or ``(n, m)``, the largest size of them 0.5 to 1, and what `unscaled` needs."""
    exponent = int(np.frexp(np.abs(values).max(initial=0.0))[1])
    return np.ldexp(values, -exponent), exponent


def unscaled(values: Floats | np.float64, exponent: int) -> Floats:
    """Return `values`, made of scaled ones by sums and by shares, in the unit from before; infinite where too large."""
    with np.errstate(over="ignore"):
        return np.asarray(np.ldexp(values, exponent))


def centered(values: Floats) -> Floats:
    """Return finite `values`, not all of them one number, less their mean, the largest size of them 1."""
    shares = values / np.abs(values).max()
    less_mean = shares - shares.mean()
    less_mean /= np.abs(less_mean).max()
    return np.asarray(less_mean)
