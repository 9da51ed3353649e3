"""The one epidemic that all implementations run, and how one is timed: told by arguments, answered in a line of JSON.

The programs beside it run in environments of their own, so it needs nothing but Python.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

SIDE = 100
STEPS = 100
INFECTION = 0.3
RECOVERY = 0.05
INITIAL = 0.01

Results = TypeVar("Results")


@dataclass(frozen=True)
class Race(Generic[Results]):
    """One implementation.

    Attributes:
        version: Version of its package.
        run: Runs the epidemic that many times, on that many processes.
        infected: Reads from what `run` returned the infected of each run, before the first step and behind each.
        is_warmed: Whether one run is done before, as it compiles or makes threads.
    """

    version: str
    run: Callable[[int, int], Results]
    infected: Callable[[Results], list[list[int]]]
    is_warmed: bool = False


def enter(race: Race[Results]) -> None:
    """Time as many runs on as many processes as the arguments say, and print the times and what came of the runs."""
    runs, processes = map(int, sys.argv[1:])
    if race.is_warmed:
        race.run(1, 1)
    cpu_s, started = cpu_seconds(), time.perf_counter()
    results = race.run(runs, processes)
    seconds, cpu_s = time.perf_counter() - started, cpu_seconds() - cpu_s
    told = {"version": race.version, "seconds": seconds, "cpu_s": cpu_s, "infected": race.infected(results)}
    print(json.dumps(told))


def cpu_seconds() -> float:
    """Return the processor time of this process and of those it started that have ended."""
    ended = os.times()  # of the processes that have ended; this one's is told more finely by the clock
    return time.process_time() + ended.children_user + ended.children_system
