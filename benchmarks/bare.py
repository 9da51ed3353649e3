"""Bare stepping rates of the models: no sampling, no build, nothing printed.

Runs unchanged on native Python and in the page; the clock is the caller's. The rules are those of the README beside.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable

from henad_web.model.entry import ModelEntry
from henad_web.models import example_models

__all__ = ["Clock", "measure_life", "measure_sir"]

Clock = Callable[[], float]
"""Seconds from any fixed moment."""

_REPEATS = 7
_SIR_STEPS = 100
_LIFE_UPDATES = 2**27
_SEED = 42


def measure_life(side: int, clock: Clock) -> float:
    """Return the cell updates a second of `game_of_life` on a `side` by `side` grid, at its default density."""
    # As many steps as make about 2^27 updates: 128 at 1024², where a repeat takes some 20 to 40 ms.
    steps = min(max(_LIFE_UPDATES // side**2, 4), 2000)
    return _median_rate(example_models()["game_of_life"], side, steps, clock)


def measure_sir(side: int, clock: Clock) -> float:
    """Return the cell updates a second of `sir` on a `side` by `side` grid: its first 100 steps, at its defaults."""
    return _median_rate(example_models()["sir"], side, _SIR_STEPS, clock)


def _median_rate(entry: ModelEntry, side: int, steps: int, clock: Clock) -> float:
    """Return the median rate of seven repeats after a discarded one; each builds the same model anew, untimed."""
    rates = []
    for _ in range(_REPEATS + 1):
        state = entry.build({"grid_width": side, "grid_height": side}, _SEED)
        start = clock()
        state.step(steps)
        rates.append(side * side * steps / (clock() - start))
    return statistics.median(rates[1:])
