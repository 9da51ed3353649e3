"""How good searches are: what each algorithm finds of a noisy function of 20 parameters, at one budget, seed by seed.

Run with ``poe bench-searches``. The rules are in `benchmarks/README.md`. Prints figures and judges none.
"""

from __future__ import annotations

import statistics
import time
from dataclasses import dataclass

from henad_web.explore.levels import ContinuousDomain
from henad_web.explore.search_spec import Goal, ObjectiveSpec, SearchAlgorithm, SearchSpec
from henad_web.explore.spec import FactorSpec, RangeLevels
from henad_web.randomness import DesignRng, mix_seed
from henad_web.search import SearchSpace, searcher_of
from henad_web.search.random_search import ScoredSearcher
from henad_web.search.searcher import Evaluation

FACTORS = 20
EVALUATIONS = 1000
REPLICATES = 2
BATCH = 32
NOISE = 0.5
"""Half of the width of the noise of a run; a config drawn evenly comes to about 12."""

SEEDS = range(20)
ALGORITHMS = ("random", "hill_climb", "genetic", "cma_es")


@dataclass(frozen=True, slots=True)
class Found:
    """What one search came to.

    Attributes:
        height: The function without noise at the config that led the ranking; 0 is the best there is.
        seconds: Time of asking and telling, that of the function in it.
    """

    height: float
    seconds: float


def height(values: tuple[float, ...]) -> float:
    """Return a bowl of `FACTORS` parameters from 0 to 1, ten times as steep along the last one as along the first.

    Its bottom, 0, is at another place of each parameter's range, 0.2 to 0.77.
    """
    total = 0.0
    for position, value in enumerate(values):
        bottom = 0.2 + 0.03 * (position * 7 % FACTORS)
        total += (1 + 9 * position / (FACTORS - 1)) * (value - bottom) * (value - bottom)
    return total


def found_by(algorithm: str, seed: int, evaluations: int = EVALUATIONS) -> Found:
    """Return what `algorithm` finds with `evaluations` of two runs each, drawn by `seed`, noise included."""
    ranges = RangeLevels(min=0.0, max=1.0)
    spec = SearchSpec(
        algorithm=SearchAlgorithm(algorithm),
        max_evaluations=evaluations,
        batch_size=BATCH,
        space=tuple(FactorSpec(param=f"x{position}", levels=ranges) for position in range(FACTORS)),
        objective=ObjectiveSpec(column="height", goal=Goal.MINIMIZE),
    )
    space = SearchSpace([ContinuousDomain(0.0, 1.0, is_double=True)] * FACTORS)
    begun, searcher = time.perf_counter(), searcher_of(spec, space, mix_seed(seed))
    if not isinstance(searcher, ScoredSearcher):
        raise TypeError("the function is an objective")
    while batch := searcher.ask(BATCH):
        told = []
        for candidate in batch:
            runs = range(candidate.replicate_offset, candidate.replicate_offset + REPLICATES)
            here = height(candidate.genome)
            noise = [DesignRng(mix_seed(seed << 32 | candidate.subject_id << 8 | run)).unit() for run in runs]
            told.append(Evaluation(candidate.candidate_id, tuple((here + NOISE * (2 * each - 1),) for each in noise)))
        searcher.tell(told)
    best = searcher.ranking()[0]
    return Found(height(searcher.log[best.candidate_id].genome), time.perf_counter() - begun)


def main() -> None:
    """Print, for each algorithm, what it found over the seeds and in how many it was better than random search."""
    found = {algorithm: [found_by(algorithm, seed) for seed in SEEDS] for algorithm in ALGORITHMS}
    print(f"{FACTORS} parameters, {EVALUATIONS} evaluations x {REPLICATES} runs, batches of {BATCH}, 0 is the best")
    print(f"{'algorithm':<12}{'median':>8}{'worst':>8}  {'beats random':<14}{'seconds':>8}")
    for algorithm, each in found.items():
        heights = [one.height for one in each]
        wins = sum(one.height < other.height for one, other in zip(each, found["random"], strict=True))
        against = "" if algorithm == "random" else f"{wins} of {len(SEEDS)}"
        seconds = statistics.median(one.seconds for one in each)
        print(f"{algorithm:<12}{statistics.median(heights):>8.3f}{max(heights):>8.3f}  {against:<14}{seconds:>8.2f}")


if __name__ == "__main__":
    main()
