"""The models alone: cell updates a second of a loop that does nothing but step.

Owns the bare measurement. The rules are those of the native benchmark: the build is left out, and a rate is the median
of seven repeats after one that is discarded.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from statistics import median

from bench_cases import Case

import henad_web as hw

__all__ = ["measure_bare"]

REPEATS = 7
DISCARDED = 1
SEED = 42


async def measure_bare(entry: hw.ModelEntry, case: Case, clock: Callable[[], float]) -> float:
    """Return the cell updates a second of `case`, by `clock` in seconds. The page gets a turn between repeats."""
    seconds: list[float] = []
    for _ in range(DISCARDED + REPEATS):
        await asyncio.sleep(0)
        state = entry.build({"grid_width": case.side, "grid_height": case.side}, seed=SEED)
        began = clock()
        state.step(case.bare_steps)
        seconds.append(clock() - began)
    return case.cells * case.bare_steps / median(seconds[DISCARDED:])
