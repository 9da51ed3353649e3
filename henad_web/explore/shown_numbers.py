"""Single-precision numbers as the doubles that their shortest texts show: 0.3 is 0.3, not 0.30000001192092896."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from henad_web.model.decimals import f32_text

__all__ = ["shown_number", "shown_numbers"]

_SMALLEST, _LARGEST = 1e-11, 1e15
"""Between these, the powers of ten that take part are exact."""

_MOST_DIGITS = 9
"""Digits that tell any two single-precision numbers apart."""


_POWERS = np.array([float(f"1e{exponent}") for exponent in range(23)])
"""Powers of ten that a double holds exactly; a library's `pow` need not give them."""


def shown_number(value: float) -> float:
    """Return the double that the shortest text of the single-precision `value` shows."""
    return float(f32_text(value))


def shown_numbers(values: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return `shown_number` of each of `values`, finite, float64 ``(n,)``."""
    shown = values.astype(np.float64)
    sizes = np.abs(shown)
    by_digits = (sizes > _SMALLEST) & (sizes < _LARGEST)
    for position in np.flatnonzero(~by_digits & (sizes > 0)).tolist():
        shown[position] = shown_number(float(values[position]))
    left = np.flatnonzero(by_digits)
    exponents = np.floor(np.log10(sizes[left])).astype(np.int64)
    # One digit more than enough: a logarithm next to a power of ten may be taken for its neighbour.
    for digits in range(1, _MOST_DIGITS + 2):
        found = _rounded(shown[left], digits - 1 - exponents)
        fits = found.astype(np.float32) == values[left]
        shown[left[fits]] = found[fits]
        left, exponents = left[~fits], exponents[~fits]
        if not left.size:
            break
    return shown


def _rounded(numbers: NDArray[np.float64], decimals: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return each of `numbers` rounded to its own number of decimals, as reading the digits would give it."""
    up, down = _POWERS[np.maximum(decimals, 0)], _POWERS[np.maximum(-decimals, 0)]
    whole = np.rint(numbers * up / down)
    # A whole number below 2^53 over or times an exact power of ten is rounded once, like a decimal that is read.
    rounded: NDArray[np.float64] = whole / up * down
    return rounded
