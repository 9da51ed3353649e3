"""How often the intervals that adaptive replicates end with hold the truth: studies of coins, simulated by the hundred.

What decides is the package's own rule. Each study of coins with a chance p gets values until the rule is content; then
it is seen whether p lies between the ends. ``poe coverage`` prints the tables of docs/replicates.md.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import henad_web as hw
from henad_web.explore.intervals import IntervalKind, RunningStatistics, interval_of
from henad_web.explore.replication import Replication

CHANCES = tuple(tenth / 10 for tenth in range(1, 10))
MOST = 1000
SEED = 20261201


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """What some studies of coins came to.

    Attributes:
        studies: How many there were.
        held: Intervals that hold the truth.
        reached: Studies that were narrow enough before there were no more replicates to be had.
        values: Replicates of all of them together.
    """

    studies: int
    held: int
    reached: int
    values: int

    @property
    def share(self) -> float:
        """Share of the intervals that hold the truth."""
        return self.held / self.studies


def coverage(
    chance: float, *, least: int, interval: IntervalKind, studies: int, half_width: float = 0.05, seed: int = SEED
) -> Coverage:
    """Return what `studies` studies of a coin with `chance` come to, with at least `least` replicates each."""
    asked = hw.Precision(column="hit", half_width=half_width, interval=interval)
    told = Replication(hw.AdaptiveReplicates(min=least, max=MOST, until=(asked,)), studies)
    rng = np.random.default_rng([seed, least, round(chance * 1e6)])
    held = reached = values = 0
    for study in range(studies):
        hits = (rng.random(MOST) < chance).astype(float).tolist()
        fold = RunningStatistics()
        while reps := told.missing(study):
            for rep in reps:
                fold.push(hits[rep])
                told.tell(study, rep, [hits[rep]])
        ends = interval_of(interval, fold, asked.confidence)
        assert ends is not None
        held += ends[0] <= chance <= ends[1]
        reached += fold.count < MOST
        values += fold.count
    return Coverage(studies=studies, held=held, reached=reached, values=values)


def of_every_chance(studies: int) -> Iterator[str]:
    """Yield the lines of the table over p, with min 100 and a half width of 0.05."""
    yield "| p | Student: coverage | replicates | Wilson: coverage | replicates |"
    yield "|---|---|---|---|---|"
    for chance in CHANCES:
        yield f"| {chance} | {' | '.join(_cells(chance, 100, studies, True))} |"


def of_small_mins(studies: int) -> Iterator[str]:
    """Yield the lines of the table over min, for common and for rare events."""
    yield "| min | " + " | ".join(f"p = {chance}: Student | Wilson" for chance in RARE) + " |"
    yield "|---" * (1 + 2 * len(RARE)) + "|"
    for least in MINS:
        yield f"| {least} | {' | '.join(cell for chance in RARE for cell in _cells(chance, least, studies, False))} |"


RARE = (0.5, 0.1, 0.02)
MINS = (5, 10, 20, 50, 100, 200)


def _cells(chance: float, least: int, studies: int, with_values: bool) -> Iterator[str]:
    for interval in IntervalKind:
        found = coverage(chance, least=least, interval=interval, studies=studies)
        yield f"{100 * found.share:.1f} %"
        if with_values:
            yield f"{found.values / found.studies:.0f}"


def main(arguments: list[str] | None = None) -> int:
    """Print both tables, of as many studies a cell as `arguments` say."""
    parser = argparse.ArgumentParser(prog="coverage", description=__doc__)
    parser.add_argument("--studies", type=int, default=500, help="studies a cell")
    given = parser.parse_args(arguments)
    for lines in (of_every_chance(given.studies), of_small_mins(given.studies)):
        sys.stdout.write("".join(f"{line}\n" for line in lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
