"""Cell updates a second on native Python: the bare model, and the same runs through the handle.

Run with ``poe bench``. The rules are in `benchmarks/README.md`. Prints figures and judges none.
"""

from __future__ import annotations

import asyncio
import platform
import statistics
import threading
import time

import numpy as np

import henad_web as hw
from web.bench_bare import AFTER, BEFORE, DISCARDED, SEED, BareLoop, bare_seconds
from web.bench_cases import CASES, Case, single_run_text

REPEATS = BEFORE + AFTER
BUILD_SIDE = 1024
HANDLE_REPEATS = 4
"""Bare repeats in one run through the handle, so that the start of its thread weighs what it does in a real sweep."""


def handle_steps(case: Case) -> int:
    """Return the steps of one run through the handle."""
    return case.run_steps or HANDLE_REPEATS * case.bare_steps


def handle_seconds(entry: hw.ModelEntry, case: Case, stats_every: int) -> float:
    """Return the seconds between the outline and the written row of a sweep of one run, its build left out.

    Stepping, sampling, slices, the thread and the commit are all in it.
    """
    text = single_run_text(case, steps=handle_steps(case), stats_every=stats_every)
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
    return asyncio.run(_bare_rate(case))


async def _bare_rate(case: Case) -> float:
    entry = hw.example_models().lookup(case.model)
    loop = BareLoop(entry, case.side, case.bare_steps, time.perf_counter)
    await loop.before()
    return await loop.after()


def handle_ratios(case: Case) -> tuple[float, float]:
    """Return the median speed of the handle, as a share of the bare model's, at the cadences 100 and 1.

    Bare and handle are taken in turn within each repeat, so that a machine that slows down slows both.
    """
    entry = hw.example_models().lookup(case.model)
    steps = handle_steps(case)

    def ratio(stats_every: int) -> float:
        bare = bare_seconds(entry, case.side, steps, time.perf_counter)
        return bare / handle_seconds(entry, case, stats_every)

    sparse, dense = [], []
    for _ in range(DISCARDED + REPEATS):
        sparse.append(ratio(stats_every=100))
        dense.append(ratio(stats_every=1))
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
