"""The models alone: cell updates a second of a loop that does nothing but step.

Owns the bare measurement of the page and of the native benchmark alike, so it imports nothing of either. The build is
left out; a rate is the median of the repeats after one that is discarded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from statistics import median

import henad_web as hw

__all__ = ["AFTER", "BEFORE", "DISCARDED", "SEED", "BareLoop", "bare_seconds"]

DISCARDED = 1
BEFORE, AFTER = 4, 3
SEED = 42


def bare_seconds(entry: hw.ModelEntry, side: int, steps: int, clock: Callable[[], float]) -> float:
    """Return the seconds of `clock` that one call for `steps` steps takes on a grid of `side` cells a side."""
    state = entry.build({"grid_width": side, "grid_height": side}, seed=SEED)
    began = clock()
    state.step(steps)
    return clock() - began


class BareLoop:
    """Repeats of `steps` steps, some before and some after the sweep they are compared with, by `clock` in seconds."""

    def __init__(self, entry: hw.ModelEntry, side: int, steps: int, clock: Callable[[], float]) -> None:
        self._entry, self._side, self._steps, self._clock = entry, side, steps, clock
        self._seconds: list[float] = []

    async def before(self) -> float:
        """Take the first repeats; return the cell updates a second so far."""
        await self._repeat(DISCARDED)
        self._seconds.clear()
        await self._repeat(BEFORE)
        return self._rate()

    async def after(self) -> float:
        """Take the other repeats; return the cell updates a second of all."""
        await self._repeat(AFTER)
        return self._rate()

    def _rate(self) -> float:
        return self._side * self._side * self._steps / median(self._seconds)

    async def _repeat(self, count: int) -> None:
        for _ in range(count):
            # Between repeats a page gets a turn.
            await asyncio.sleep(0)
            self._seconds.append(bare_seconds(self._entry, self._side, self._steps, self._clock))
