"""Intervals of means by resampling: percentiles of the means of as many draws with replacement.

Owns the draws: those of a group follow from the seed and its position alone, by the package's own generator, so that
every platform has the same.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from henad_web.analysis.ordered import Floats, OrderedGroups, ordered
from henad_web.analysis.pieces import PIECE_ROWS, Pieces, stretches
from henad_web.randomness import mix_seed
from henad_web.randomness.streams import stream_bits

__all__ = ["bootstrap_difference", "bootstrap_means", "drawn_places", "resampled_means"]

_HALF_WORD = np.array(32, np.uint64)


def bootstrap_means(
    groups: OrderedGroups, confidence: float, resamples: int, seed: int
) -> Pieces[tuple[Floats, Floats]]:
    """Return the ends of the interval of the mean of each of `groups`, ``(groups,)``; NaN of fewer than two numbers.

    Percentiles of the means of `resamples` (B. Efron and R. Tibshirani, An Introduction to the Bootstrap, 1993,
    chapter 13). It takes as many draws as there are numbers, for each of the `resamples`.
    """
    low, high = np.full((2, len(groups.counts)), np.nan)
    for group, size in enumerate(groups.counts.tolist()):
        if size > 1:
            means = yield from resampled_means(groups.values_of(group), resamples, seed, group)
            low[group], high[group] = yield from _percentiles(means, confidence)
    return low, high


def bootstrap_difference(
    first: Floats, second: Floats, confidence: float, resamples: int, seed: int
) -> Pieces[tuple[float, float]]:
    """Return the ends of the interval of the mean of `first` less that of `second`, resampled each by itself.

    NaN where one of them is a single number.
    """
    if min(len(first), len(second)) < 2:
        return math.nan, math.nan
    left = yield from resampled_means(first, resamples, seed, 0)
    right = yield from resampled_means(second, resamples, seed, 1)
    with np.errstate(over="ignore", invalid="ignore"):
        apart = left - right
    return (yield from _percentiles(apart, confidence))


def resampled_means(values: Floats, resamples: int, seed: int, group: int) -> Pieces[Floats]:
    """Return the mean of each of `resamples` draws of as many of `values` as there are, ``(resamples,)``."""
    totals, size, state = np.zeros(resamples), len(values), mix_seed(mix_seed(int(seed) % 2**64) + group)
    for part in stretches(size, max(1, PIECE_ROWS // resamples)):
        drawn, state = drawn_places(state, size, (part.stop - part.start) * resamples)
        with np.errstate(over="ignore", invalid="ignore"):  # no sum of the largest numbers is a number
            for row in values[drawn].reshape(-1, resamples):  # one after another: the same sum on every platform
                totals += row
        yield
    return np.asarray(totals / size)


def drawn_places(state: int, size: int, count: int) -> tuple[NDArray[np.intp], int]:
    """Return `count` numbers from 0 to `size` - 1, ``(count,)``, and the state of the stream behind them.

    Each is ``word * size >> 32`` of a 32-bit word: the likeliest is likelier than the others by at most size / 2^32 of
    that.
    """
    words, state = stream_bits(state, count)
    return (words.astype(np.uint64) * np.array(size, np.uint64) >> _HALF_WORD).astype(np.intp), state


def _percentiles(drawn: Floats, confidence: float) -> Pieces[tuple[float, float]]:
    in_order = OrderedGroups((yield from ordered(drawn)), np.array([len(drawn)]))
    tail = (1 - confidence) / 2
    low = yield from in_order.quantile(tail)
    high = yield from in_order.quantile(1 - tail)
    return float(low[0]), float(high[0])
