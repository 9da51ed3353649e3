"""What NSGA-II covers of the front of ZDT1, beside pymoo's: the hypervolume after as many evaluations.

Run with ``poe bench-fronts``. The rules are in `benchmarks/README.md`. Prints figures and judges none.
"""

from __future__ import annotations

import json
import math
import platform
import statistics
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.frameworks import PATIENCE_S, PROGRAMS, Entrant, RaceError, python_of
from henad_web.explore.levels import ContinuousDomain
from henad_web.explore.search_spec import Goal, Nsga2Settings, ObjectiveSpec
from henad_web.search.nsga2 import Nsga2
from henad_web.search.searcher import Evaluation, Watched
from henad_web.search.space import SearchSpace

__all__ = ["Front", "hypervolume", "our_front"]

SEEDS, FACTORS, POPULATION, EVALUATIONS = 11, 30, 100, 10_000
REFERENCE = (1.1, 1.1)
TRUE_VOLUME = 0.1 + 2 / 3 + 0.11
"""Area between the true front of ZDT1, ``1 - sqrt(first)``, and the reference point."""

PYMOO = Entrant(name="pymoo", program="pymoo_zdt1.py", requirement="pymoo>=0.6,<0.7", runs={})

Front = Sequence[Sequence[float]]


@dataclass(frozen=True, slots=True)
class Entry:
    """What one implementation came to: its name, a front for each seed, and its processor time of all of them."""

    name: str
    fronts: list[Front]
    cpu_s: float


def hypervolume(front: Front, reference: tuple[float, float] = REFERENCE) -> float:
    """Return the area that points of two objectives, both to be small, dominate within `reference`."""
    area, height = 0.0, reference[1]
    for first, second in sorted((first, second) for first, second in front):
        if first < reference[0] and second < height:
            area += (reference[0] - first) * (height - second)
            height = second
    return area


def zdt1(values: Sequence[float]) -> Watched:
    """Return both objectives of ZDT1 (Zitzler, Deb and Thiele, Evolutionary Computation 8(2), 2000)."""
    g = 1 + 9 * sum(values[1:]) / (len(values) - 1)
    return values[0], g * (1 - math.sqrt(values[0] / g))


def our_front(seed: int, factors: int, population: int, evaluations: int) -> Front:
    """Return the objectives of what the last generation left."""
    objectives = tuple(ObjectiveSpec(column=name, goal=Goal.MINIMIZE) for name in ("first", "second"))
    space = SearchSpace([ContinuousDomain(0.0, 1.0, is_double=True)] * factors)
    searcher = Nsga2(space, objectives, Nsga2Settings(population=population), evaluations, seed)
    while batch := searcher.ask(population):
        values = [[float(value) for value in space.values(candidate.genome)] for candidate in batch]
        searcher.tell(
            [Evaluation(each.candidate_id, (zdt1(there),)) for each, there in zip(batch, values, strict=True)]
        )
    return [searcher.log[member].objectives for member in searcher.members]


def _ours() -> Entry:
    started = time.process_time()
    fronts = [our_front(seed, FACTORS, POPULATION, EVALUATIONS) for seed in range(SEEDS)]
    return Entry("henad nsga2", fronts, time.process_time() - started)


def _pymoos() -> Entry:
    """Return what pymoo came to, in an environment of its own.

    Raises:
        RaceError: It cannot be installed or run.
    """
    command = [str(python_of(PYMOO)), str(PROGRAMS / PYMOO.program)]
    command += [str(number) for number in (SEEDS, FACTORS, POPULATION, EVALUATIONS)]
    try:
        ended = subprocess.run(command, check=True, capture_output=True, text=True, timeout=PATIENCE_S)
        told = json.loads(ended.stdout.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        raise RaceError(f"pymoo failed: {error}") from error
    return Entry(f"pymoo {told['version']}", told["fronts"], told["cpu_s"])


def main() -> None:
    """Print the hypervolumes of both."""
    print(f"{platform.machine()}, Python {platform.python_version()}, numpy {np.__version__}")
    print(f"ZDT1, {FACTORS} factors, population {POPULATION}, {EVALUATIONS:,} evaluations, {SEEDS} seeds,", end=" ")
    print(f"hypervolume at {REFERENCE}, {TRUE_VOLUME:.4f} at most")
    medians = []
    for enter in (_ours, _pymoos):
        try:
            entry = enter()
        except RaceError as error:
            print(error)
            continue
        volumes = [hypervolume(front) for front in entry.fronts]
        medians.append(statistics.median(volumes))
        print(f"{entry.name:14} median {medians[-1]:.4f}, {min(volumes):.4f} to {max(volumes):.4f},", end=" ")
        print(f"{entry.cpu_s / SEEDS:.2f} s of a processor each")
    if len(medians) == 2:
        print(f"ours is {medians[0] / medians[1]:.2%} of pymoo's")


if __name__ == "__main__":
    main()
