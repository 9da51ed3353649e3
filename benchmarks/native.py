"""Cell updates a second on native Python: the bare model, and the same runs through the handle.

Run with ``poe bench``. The rules are in `benchmarks/README.md`. Prints figures and judges none.
"""

from __future__ import annotations

import platform
import statistics
import threading
import time
from dataclasses import dataclass

import numpy as np

import henad_web as hw
from benchmarks.bare import measure_life, measure_sir

REPEATS = 7
DISCARDED = 1
SEED = 42
BUILD_SIDE = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One measured run: a square grid of `side` cells a side, stepped `steps` times."""

    model: str
    side: int
    steps: int

    @property
    def params(self) -> dict[str, object]:
        """Parameters that differ from the model's defaults."""
        return {"grid_width": self.side, "grid_height": self.side}


CASES = (
    Case(model="game_of_life", side=256, steps=10_000),
    Case(model="game_of_life", side=1024, steps=2_000),
    Case(model="sir", side=256, steps=100),
)


def bare_seconds(entry: hw.ModelEntry, case: Case) -> float:
    """Return the seconds that one call for `case.steps` steps takes; the build is not in it."""
    state = entry.build(case.params, seed=SEED)
    began = time.perf_counter()
    state.step(case.steps)
    return time.perf_counter() - began


def handle_seconds(entry: hw.ModelEntry, case: Case, stats_every: int) -> float:
    """Return the seconds between the outline and the written row of a sweep of one run, its build left out.

    Stepping, sampling, slices, the thread and the commit are all in it.
    """
    text = (
        f'model = "{case.model}"\n[set]\ngrid_width = {case.side}\ngrid_height = {case.side}\n'
        f"[run]\nsteps = {case.steps}\n[measure]\nstats_every = {stats_every}\nseries_every = 0\n"
    )
    spec = hw.parse_spec(text).spec
    times: list[float] = []
    ended = threading.Event()

    def note_time() -> None:
        times.append(time.perf_counter())
        ended.set()

    options = hw.SweepRunOptions(concurrency=1, wake=note_time)
    planned_at = finished_at = build_s = 0.0
    with hw.SweepRun.start(entry, spec, output=hw.MemoryOutput(), options=options) as run:
        taken = 0
        while not run.is_ended:
            event = run.try_recv()
            if event is None:
                ended.wait()
                ended.clear()
                continue
            moment = times[taken]
            taken += 1
            match event:
                case hw.Planned():
                    planned_at = moment
                case hw.RunFinished(outcome, _):
                    finished_at, build_s = moment, outcome.build_ms / 1000.0
                case hw.Failed(message):
                    raise hw.SweepFailedError(message)
    return finished_at - planned_at - build_s


def bare_rate(case: Case) -> float:
    """Return the cell updates a second of the bare model."""
    measure = measure_life if case.model == "game_of_life" else measure_sir
    return measure(case.side, time.perf_counter)


def handle_ratios(case: Case) -> tuple[float, float]:
    """Return the median speed of the handle, as a share of the bare model's, at the cadences 100 and 1.

    Bare and handle are taken in turn within each repeat, so that a machine that slows down slows both.
    """
    entry = hw.example_models().lookup(case.model)
    sparse, dense = [], []
    for _ in range(DISCARDED + REPEATS):
        sparse.append(bare_seconds(entry, case) / handle_seconds(entry, case, stats_every=100))
        dense.append(bare_seconds(entry, case) / handle_seconds(entry, case, stats_every=1))
    return statistics.median(sparse[DISCARDED:]), statistics.median(dense[DISCARDED:])


def build_milliseconds(side: int) -> float:
    """Return the median milliseconds of building `sir` at `side` cells a side."""
    entry = hw.example_models().lookup("sir")
    times = []
    for repeat in range(DISCARDED + REPEATS):
        began = time.perf_counter()
        entry.build({"grid_width": side, "grid_height": side}, seed=SEED + repeat)
        times.append((time.perf_counter() - began) * 1000.0)
    return statistics.median(times[DISCARDED:])


def main() -> None:
    """Print the table."""
    print(f"python {platform.python_version()}, numpy {np.__version__}, {platform.machine()}")
    print(f"median of {REPEATS} after {DISCARDED} discarded; million cell updates a second\n")
    print(f"{'case':<22}{'bare':>10}{'handle, every 100':>20}{'handle, every 1':>18}")
    for case in CASES:
        name, million = f"{case.model} {case.side}²", bare_rate(case) / 1e6
        sparse, dense = handle_ratios(case)
        print(f"{name:<22}{million:>10.1f}{_share(million, sparse):>20}{_share(million, dense):>18}", flush=True)
    print(f"\nbuilding sir at {BUILD_SIDE}²: {build_milliseconds(BUILD_SIDE):.1f} ms")


def _share(bare: float, ratio: float) -> str:
    return f"{bare * ratio:.1f} ({ratio:.1%})"


if __name__ == "__main__":
    main()
