"""Intervals of means and medians by resampling: percentiles of what as many draws with replacement come to.

Owns the draws: those of a group follow from the seed and its position alone, by the package's own generator, so that
every platform has the same.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from henad_web.analysis.ordered import Floats, Ints, OrderedGroups, ordered
from henad_web.analysis.pieces import PIECE_ROWS, Pieces, stretches
from henad_web.randomness import mix_seed
from henad_web.randomness.design import DesignRng

__all__ = ["bootstrap_difference", "bootstrap_means", "bootstrap_medians", "resampled_means"]

_Ends = tuple[Floats, Floats]
_Resampled = Callable[[Floats, int, DesignRng], Pieces[Floats]]


def bootstrap_means(groups: OrderedGroups, confidence: float, resamples: int, seed: int) -> Pieces[_Ends]:
    """Return the ends of the interval of the mean of each of `groups`, ``(groups,)``; NaN of fewer than two numbers.

    Percentiles of the means of `resamples` (B. Efron and R. Tibshirani, An Introduction to the Bootstrap, 1993,
    chapter 13).
    """
    return (yield from _intervals(groups, resampled_means, confidence, resamples, seed))


def bootstrap_medians(groups: OrderedGroups, confidence: float, resamples: int, seed: int) -> Pieces[_Ends]:
    """Return the same of the median of each of `groups`."""
    return (yield from _intervals(groups, _resampled_medians, confidence, resamples, seed))


def bootstrap_difference(
    first: Floats, second: Floats, confidence: float, resamples: int, seed: int
) -> Pieces[tuple[float, float]]:
    """Return the ends of the interval of the mean of `first` less that of `second`, resampled each by itself."""
    left = yield from resampled_means(first, resamples, _generator(seed, 0))
    right = yield from resampled_means(second, resamples, _generator(seed, 1))
    low, high = yield from _percentiles(left - right, confidence)
    return low, high


def _generator(seed: int, group: int) -> DesignRng:
    return DesignRng(mix_seed(seed % 2**64) + group)


def _intervals(
    groups: OrderedGroups, resample: _Resampled, confidence: float, resamples: int, seed: int
) -> Pieces[_Ends]:
    low, high = np.full((2, len(groups.counts)), np.nan)
    for group, size in enumerate(groups.counts.tolist()):
        if size > 1:
            drawn = yield from resample(groups.values_of(group), resamples, _generator(seed, group))
            low[group], high[group] = yield from _percentiles(drawn, confidence)
    return low, high


def _percentiles(drawn: Floats, confidence: float) -> Pieces[tuple[float, float]]:
    in_order = OrderedGroups((yield from ordered(drawn)), np.array([len(drawn)]))
    tail = (1 - confidence) / 2
    return float(in_order.quantile(tail)[0]), float(in_order.quantile(1 - tail)[0])


def resampled_means(values: Floats, resamples: int, draws: DesignRng) -> Pieces[Floats]:
    """Return the mean of each of `resamples` draws of as many of `values` as there are, ``(resamples,)``."""
    totals = np.zeros(resamples)
    size, each = len(values), max(1, PIECE_ROWS // resamples)
    for part in stretches(size, each):
        drawn = _drawn(draws, size, (part.stop - part.start) * resamples).reshape(-1, resamples)
        # Added one after another, as no other order is the same on every platform.
        totals = np.add.accumulate(np.concatenate([totals[None], values[drawn]]), axis=0)[-1]
        yield
    return np.asarray(totals / size)


def _resampled_medians(values: Floats, resamples: int, draws: DesignRng) -> Pieces[Floats]:
    size, medians = len(values), np.empty(resamples)
    for part in stretches(resamples, max(1, PIECE_ROWS // size)):
        count = part.stop - part.start
        hits = np.zeros(count * size, np.int64)
        for stretch in stretches(count * size):
            drawn = _drawn(draws, size, stretch.stop - stretch.start)
            np.add.at(hits, drawn + np.arange(stretch.start, stretch.stop) // size * size, 1)
            yield
        # `values` ascend, so that the middle of a resample is where its hits, counted from below, reach its half.
        reached = np.cumsum(hits.reshape(count, size), axis=1)
        lower = np.argmax(reached > (size - 1) // 2, axis=1)
        upper = np.argmax(reached > size // 2, axis=1)
        medians[part] = (values[lower] + values[upper]) / 2
        yield
    return medians


def _drawn(draws: DesignRng, size: int, count: int) -> Ints:
    return (draws.units(count) * size).astype(np.int64)
