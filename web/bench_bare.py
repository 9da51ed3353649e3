"""The models alone: cell updates a second of a loop that does nothing but step.

Owns the bare measurement. The rules are those of the native benchmark: the build is left out, a rate is the median of
seven repeats after one that is discarded, and what is compared is taken in turn.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from statistics import median

from bench_cases import Case

import henad_web as hw

__all__ = ["BareLoop"]

DISCARDED = 1
BEFORE, AFTER = 4, 3
SEED = 42


class BareLoop:
    """Repeats of one case, some before and some after the sweep they are compared with, by `clock` in seconds."""

    def __init__(self, entry: hw.ModelEntry, case: Case, clock: Callable[[], float]) -> None:
        self._entry, self._case, self._clock = entry, case, clock
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
        return self._case.cells * self._case.bare_steps / median(self._seconds)

    async def _repeat(self, count: int) -> None:
        side = self._case.side
        for _ in range(count):
            # Between repeats the page gets a turn.
            await asyncio.sleep(0)
            state = self._entry.build({"grid_width": side, "grid_height": side}, seed=SEED)
            began = self._clock()
            state.step(self._case.bare_steps)
            self._seconds.append(self._clock() - began)
