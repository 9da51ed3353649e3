"""Runs a second of whole sweeps: lanes beside a bare loop, and beside the same epidemic in other frameworks.

Run with ``poe bench-lanes``. The rules are in `benchmarks/README.md`. Prints figures and judges none.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

import henad_web as hw
from benchmarks.frameworks import ENTRANTS, Entrant, Lap, RaceError, difference, python_of, race, times_as_many
from benchmarks.rivals.race import SIDE, STEPS, cpu_seconds
from henad_native.machine import usable_cores
from henad_web.errors import counted
from henad_web.model.state import BatchState, ModelState

ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Work:
    """Equal runs of one model on a square grid, sampled at each step."""

    model: str
    side: int
    steps: int
    runs: int

    @property
    def title(self) -> str:
        """The work in words."""
        return f"{self.model} {self.side}² x {self.steps} steps"

    @property
    def size(self) -> dict[str, int]:
        """The grid, as parameters."""
        return {"grid_width": self.side, "grid_height": self.side}


TOGETHER = (Work("game_of_life", 64, 100, 64), Work("sir", 16, 100, 64), Work("sir", 64, 100, 64))
WORKS = (Work("sir", 128, 500, 256), Work("sir", 100, 100, 300), Work("game_of_life", 16, 10, 8000))


@dataclass(frozen=True, slots=True)
class Timing:
    """How long all runs of a work took, and how much of it processors worked."""

    seconds: float
    cpu_s: float


def timed(work: Callable[[], object]) -> Timing:
    """Return how long a call of `work` takes."""
    cpu_s, started = cpu_seconds(), time.perf_counter()
    work()
    return Timing(time.perf_counter() - started, cpu_seconds() - cpu_s)


def step_singly(work: Work) -> None:
    """Build the model of each run, step it and ask for its statistics at each step."""
    entry = hw.example_models().lookup(work.model)
    for seed in range(work.runs):
        _step(entry.build(work.size, seed=seed), work.steps)


def step_together(work: Work) -> None:
    """Do the same with all runs on one array."""
    _step(hw.example_models().lookup(work.model).build_many(work.size, range(work.runs)), work.steps)


def _step(state: ModelState | BatchState, steps: int) -> None:
    state.stats()
    for _ in range(steps):
        state.step(1)
        state.stats()


def sweep(work: Work, lanes: int, *, batches: bool = False) -> None:
    """Do the same in a sweep, from its call to its record in memory."""
    spec = hw.SweepSpec(
        model=work.model,
        fixed=tuple(work.size.items()),
        run=hw.RunSettings(steps=work.steps, replicates=work.runs),
        measure=hw.MeasureSettings(default_reducers=False),
    )
    options = hw.SweepRunOptions(concurrency=lanes, batches=batches)
    hw.run_spec(hw.example_models().lookup(work.model), spec, output=hw.MemoryOutput(), options=options)


def print_efficiency(lane_counts: tuple[int, ...]) -> None:
    """Print what share of as many bare loops the lanes of a sweep reach, by the wall clock and by processor time."""
    print(
        f"runs a second, and what share of as many bare loops that is, by wall clock and by CPU; median of {ROUNDS}\n"
    )
    heads = "".join(f"{counted(lanes, 'lane'):>24}" for lanes in lane_counts) + f"{'1 lane, batches':>24}"
    print(f"{'runs':<36}{'bare':>10}{heads}")
    for work in WORKS:
        bare: list[Timing] = []
        ways = [*((lanes, False) for lanes in lane_counts), (1, True)]
        sweeps: dict[tuple[int, bool], list[Timing]] = {way: [] for way in ways}
        for _ in range(ROUNDS):
            bare.append(timed(partial(step_singly, work)))
            for lanes, batches in ways:
                sweeps[lanes, batches].append(timed(partial(sweep, work, lanes, batches=batches)))
        cells = "".join(f"{_efficiency(work, bare, sweeps[way], way[0]):>24}" for way in ways)
        print(f"{f'{work.runs} of {work.title}':<36}{_rate(work, bare):>10.1f}{cells}", flush=True)


def _rate(work: Work, timings: list[Timing]) -> float:
    return statistics.median(work.runs / timing.seconds for timing in timings)


def _efficiency(work: Work, bare: list[Timing], timings: list[Timing], lanes: int) -> str:
    pairs = list(zip(bare, timings, strict=True))
    wall = statistics.median(one.seconds / (lanes * all.seconds) for one, all in pairs)
    cpu = statistics.median(one.cpu_s / all.cpu_s for one, all in pairs)
    return f"{_rate(work, timings):.1f} ({wall:.0%}, {cpu:.0%})"


def print_batches() -> None:
    """Print how many runs a batch does in the time of one alone, both without a sweep."""
    print("\nruns a second one by one and on one array, and how many times as many; both in a bare loop\n")
    for work in TOGETHER:
        rounds = [(timed(partial(step_singly, work)), timed(partial(step_together, work))) for _ in range(ROUNDS)]
        singly, together = map(list, zip(*rounds, strict=True))
        times = times_as_many([timing.cpu_s for timing in together], [timing.cpu_s for timing in singly])
        rates = f"{_rate(work, singly):>10.1f}{_rate(work, together):>10.1f}"
        print(f"{f'{work.runs} of {work.title}':<36}{rates}{times:>9.2f}x", flush=True)


def print_races() -> None:
    """Print how many of our runs go into one of each other framework, on as many processes."""
    print(f"\nsir {SIDE}² x {STEPS} steps, the infected counted at each; median of {ROUNDS}, in turn within each\n")
    starters = list(_starters())
    laps: dict[tuple[str, int], list[Lap]] = {}
    for _ in range(ROUNDS):
        for entrant, python, processes in starters:
            try:
                laps.setdefault((entrant.name, processes), []).append(race(entrant, python, processes))
            except RaceError as error:
                print(error, flush=True)
    head = f"{'processes':>10}{'runs a second':>15}{'CPU ms a run':>14}{'henad':>10}{'by CPU':>10}{'peak':>8}"
    print(f"{'implementation':<26}{head}")
    for entrant, _, processes in starters:
        ours, theirs = laps.get((ENTRANTS[0].name, processes), []), laps.get((entrant.name, processes), [])
        if len(theirs) == len(ours) == ROUNDS:
            print(_row(entrant, processes, ours, theirs), flush=True)


def _starters() -> Iterator[tuple[Entrant, Path, int]]:
    for entrant in ENTRANTS:
        try:
            python = python_of(entrant)
        except RaceError as error:
            print(error, flush=True)
            continue
        yield from ((entrant, python, processes) for processes in entrant.runs)


def _row(entrant: Entrant, processes: int, ours: list[Lap], theirs: list[Lap]) -> str:
    title = f"{entrant.name} {theirs[0].version}"
    wrong = difference(theirs[0], ours[0])
    if wrong is not None:
        return f"{title:<26}{processes:>10}  another epidemic: {wrong}"
    rate = statistics.median(1 / lap.run_s for lap in theirs)
    cpu_ms = statistics.median(lap.run_cpu_s * 1000 for lap in theirs)
    wall = times_as_many([lap.run_s for lap in ours], [lap.run_s for lap in theirs])
    cpu = times_as_many([lap.run_cpu_s for lap in ours], [lap.run_cpu_s for lap in theirs])
    return f"{title:<26}{processes:>10}{rate:>15.1f}{cpu_ms:>14.1f}{wall:>9.2f}x{cpu:>9.2f}x{theirs[0].peak:>8.0f}"


def main() -> None:
    """Print both tables."""
    cores = usable_cores()
    load = f", load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
    print(f"python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}, {cores} cores{load}\n")
    print_efficiency(tuple(sorted({1, 2, cores})))
    print_batches()
    print_races()


if __name__ == "__main__":
    main()
