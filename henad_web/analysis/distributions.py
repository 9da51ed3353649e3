"""Distributions that tests need: the normal one, Student's t for any degrees of freedom, the binomial one.

Owns their formulas. The last digits of logarithms and exponentials differ from one platform to the next.
"""

from __future__ import annotations

import math

import numpy as np

__all__ = ["binomial_tail", "normal_tail", "student_quantile"]

_TINY, _PRECISION, _MOST_TERMS = 1e-300, 1e-16, 10_000


def normal_tail(z: float) -> float:
    """Return how likely a number of the standard normal distribution is above `z`."""
    return 0.5 * math.erfc(z / math.sqrt(2.0))


def binomial_tail(hits: int, trials: int, share: float) -> float:
    """Return how likely `hits` or more of `trials` are, each of which is a hit with the probability `share`.

    Each term is the one before times a ratio, from the largest one outwards, so that none needs a factorial.
    """
    if hits <= 0 or share >= 1.0:
        return 1.0
    if share <= 0.0:
        return 0.0
    largest, odds = min(int((trials + 1) * share), trials), share / (1.0 - share)
    # Farther from the largest, a term is nothing beside it that a double could hold.
    reach = 200 + int(40 * math.sqrt(trials * share * (1.0 - share)))
    first, last = max(largest - reach, 0), min(largest + reach, trials)
    above, below = np.arange(largest, last, dtype=np.float64), np.arange(largest, first, -1, dtype=np.float64)
    up = np.cumprod((trials - above) / (above + 1.0) * odds)
    down = np.cumprod(below / ((trials - below + 1.0) * odds))
    terms = np.concatenate([down[::-1], [1.0], up])
    return min(1.0, float(terms[max(hits - first, 0) :].sum() / terms.sum()))


def student_quantile(degrees: float, confidence: float) -> float:
    """Return the upper end of the interval of that `confidence` around 0 of Student's t, ``degrees > 0``.

    Halved until it is right to the last digits; the tail is an incomplete beta function.
    """
    tail = 1.0 - confidence
    low, high = 0.0, 1.0
    while _two_tails(high, degrees) > tail:
        low, high = high, 2.0 * high
    while True:
        middle = (low + high) / 2.0
        if not low < middle < high:
            return middle
        if _two_tails(middle, degrees) > tail:
            low = middle
        else:
            high = middle


def _two_tails(t: float, degrees: float) -> float:
    """Return how likely Student's t is farther from 0 than `t`, which is above 0."""
    x = degrees / (degrees + t * t)
    a, b = degrees / 2.0, 0.5
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b) + a * math.log(x) + b * math.log1p(-x)
    front = math.exp(scale)
    if x < (a + 1.0) / (a + b + 2.0):
        return front * _beta_fraction(a, b, x) / a
    return 1.0 - front * _beta_fraction(b, a, 1.0 - x) / b


def _beta_fraction(a: float, b: float, x: float) -> float:
    """Return the continued fraction of the incomplete beta function.

    Lentz's method: W. Press and others, Numerical Recipes, 3rd edition, 2007, section 6.4.
    """
    c, d = 1.0, 1.0 / _away(1.0 - (a + b) * x / (a + 1.0))
    found = d
    for m in range(1, _MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        for term in (even, odd):
            d, c = 1.0 / _away(1.0 + term * d), _away(1.0 + term / c)
            step = d * c
            found *= step
        if abs(step - 1.0) < _PRECISION:
            break
    return found


def _away(number: float) -> float:
    return number if abs(number) > _TINY else _TINY
