"""Runs a second of whole sweeps: lanes beside a bare loop, and beside the same epidemic in other frameworks.

Run with ``poe bench-lanes``. The rules are in `benchmarks/README.md`. Prints figures and judges none.
"""

from __future__ import annotations

import os
import platform
import statistics
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import henad_web as hw
from benchmarks.frameworks import ENTRANTS, Entrant, Lap, RaceError, difference, python_of, race, times_as_many
from benchmarks.rivals.race import SIDE, STEPS
from henad_native.machine import usable_cores
from henad_web.run.layout import ExecutionLayout, layout_text

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
WORKS = (Work("sir", 128, 500, 48), Work("sir", 100, 100, 300), Work("game_of_life", 16, 10, 4000))


def bare_rate(work: Work) -> float:
    """Return the runs a second of a loop that builds the model, steps it and asks for its statistics."""
    entry = hw.example_models().lookup(work.model)
    started = time.perf_counter()
    for seed in range(work.runs):
        state = entry.build(work.size, seed=seed)
        state.stats()
        for _ in range(work.steps):
            state.step(1)
            state.stats()
    return work.runs / (time.perf_counter() - started)


def batch_rate(work: Work) -> float:
    """Return the runs a second of the same loop over all runs on one array."""
    entry = hw.example_models().lookup(work.model)
    started = time.perf_counter()
    state = entry.build_many(work.size, range(work.runs))
    state.stats()
    for _ in range(work.steps):
        state.step(1)
        state.stats()
    return work.runs / (time.perf_counter() - started)


def sweep_rate(work: Work, lanes: int) -> tuple[float, ExecutionLayout]:
    """Return the runs a second of a sweep, from its call to its record in memory, and the layout it had."""
    spec = hw.SweepSpec(
        model=work.model,
        fixed=tuple(work.size.items()),
        run=hw.RunSettings(steps=work.steps, replicates=work.runs),
        measure=hw.MeasureSettings(default_reducers=False),
    )
    entry, options = hw.example_models().lookup(work.model), hw.SweepRunOptions(concurrency=lanes)
    started = time.perf_counter()
    record = hw.run_spec(entry, spec, output=hw.MemoryOutput(), options=options)
    return work.runs / (time.perf_counter() - started), record.report.outline.layout


def print_efficiency(lane_counts: tuple[int, ...]) -> None:
    """Print what share of as many bare loops the lanes of a sweep reach, its start and end in it."""
    print(f"runs a second, and the share of that many bare loops; median of {ROUNDS}, in turn within each\n")
    heads = "".join(f"{f'{lanes} lanes' if lanes > 1 else '1 lane':>18}" for lanes in lane_counts)
    print(f"{'runs':<34}{'bare':>10}{heads}")
    for work in WORKS:
        bare: list[float] = []
        rates: dict[int, list[float]] = {lanes: [] for lanes in lane_counts}
        notes = set()
        for _ in range(ROUNDS):
            bare.append(bare_rate(work))
            for lanes in lane_counts:
                rate, layout = sweep_rate(work, lanes)
                rates[lanes].append(rate)
                notes |= {layout_text(layout)} if layout.cpu_lanes != lanes else set()
        cells = (
            f"{f'{statistics.median(rates[lanes]):.1f} ({_share(bare, rates[lanes], lanes):.0%})':>18}"
            for lanes in lane_counts
        )
        title = f"{work.runs} of {work.title}"
        print(f"{title:<34}{statistics.median(bare):>10.1f}{''.join(cells)}", flush=True)
        for note in sorted(notes):
            print(f"  {note}")


def _share(bare: list[float], rates: list[float], lanes: int) -> float:
    return statistics.median(rate / (lanes * alone) for alone, rate in zip(bare, rates, strict=True))


def print_batches() -> None:
    """Print how many runs a batch does in the time of one alone, both without a sweep."""
    print("\nruns of a batch in the time of one by one, both in a bare loop\n")
    for work in TOGETHER:
        rounds = [(bare_rate(work), batch_rate(work)) for _ in range(ROUNDS)]
        bare, together = (statistics.median(rates) for rates in zip(*rounds, strict=True))
        times = statistics.median(many / one for one, many in rounds)
        title = f"{work.runs} of {work.title}"
        print(f"{title:<36}{bare:>10.1f}{together:>10.1f}{times:>9.2f}x", flush=True)


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
