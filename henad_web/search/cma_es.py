"""CMA-ES: samples of a normal distribution that follows the better half of each generation, by the library cmaes.

Owns what the library knows nothing of: the edges of the space, configs that are met again, values that are not finite,
and when it starts anew. The method is that of Hansen, "The CMA Evolution Strategy: A Tutorial", arXiv:1604.00772.
"""

from __future__ import annotations

import importlib
from collections import deque
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from henad_web.explore.libraries import LIBRARIES
from henad_web.explore.search_spec import CmaEsSettings, ObjectiveSpec, SearchAlgorithm
from henad_web.search.random_search import ScoredSearcher
from henad_web.search.scoring import rank_of
from henad_web.search.searcher import Candidate, Origin, Proposal
from henad_web.search.space import ConfigKey, Genome, SearchSpace, reflected

__all__ = ["CmaEs"]

_FARTHEST = 1e300
"""What stands for an infinite value: the library takes differences of values, which have to be finite."""

_SEEDS = 2**32
"""Seeds of numpy's legacy generator, which the library draws with."""


class _Distribution(Protocol):
    """What of the library's ``cmaes.CMA`` is used: one normal distribution from its start until it has shrunk."""

    population_size: int

    def ask(self) -> NDArray[np.float64]: ...

    def tell(self, solutions: list[tuple[NDArray[np.float64], float]]) -> None: ...

    def should_stop(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class _Sample:
    """One draw of the distribution.

    Attributes:
        point: Where it fell, float64 ``(factors,)``, also outside of the unit cube.
        key: The config that stands there once the point is reflected into the cube.
    """

    point: NDArray[np.float64]
    key: ConfigKey


class CmaEs(ScoredSearcher):
    """Generations of samples, each distribution fitted to the better half of the samples before.

    It begins in the middle of the space, and where a distribution has shrunk to a point it starts anew at a place that
    is drawn. A sample outside of the space is reflected into it as if its edges were mirrors. A generation evaluates
    each config once, and one that was told before again, with new seeds: the library hears what all its runs came to.

    Equal values give equal candidates on one machine, and not on every one: the linear algebra of numpy and the
    logarithm and cosine of the C library differ in their last bits.

    Args:
        space: What it looks through: ordered factors alone.
        objective: What it is for.
        settings: Its settings.
        max_evaluations: Candidates that may be asked for.
        seed: Seed of its draws, 0 to 2^64 - 1.
    """

    def __init__(
        self, space: SearchSpace, objective: ObjectiveSpec, settings: CmaEsSettings, max_evaluations: int, seed: int
    ) -> None:
        super().__init__(space, objective, max_evaluations, seed)
        self._settings = settings
        self._make: Callable[..., _Distribution] = importlib.import_module(LIBRARIES[SearchAlgorithm.CMA_ES]).CMA
        self._origin, self._distribution = Origin.SAMPLE, self._started((0.5,) * len(space))
        self._samples: list[_Sample] = []
        self._queue = deque[Proposal]()

    def _started(self, mean: Genome) -> _Distribution:
        return self._make(
            mean=np.array(mean),
            sigma=float(self._settings.sigma),
            population_size=self._settings.population,
            seed=self._rng.index(_SEEDS),
        )

    def _propose(self, count: int) -> Generator[None, None, Sequence[Proposal]]:
        if not self._samples:
            yield from self._sample()
        return [self._queue.popleft() for _ in range(min(count, len(self._queue)))]

    def _sample(self) -> Generator[None, None, None]:
        """Draw a generation; yields after each sample, whose cost grows with the cube of the factors."""
        met = set[ConfigKey]()
        for _ in range(self._distribution.population_size):
            point = self._distribution.ask()
            genome = tuple(map(reflected, point.tolist()))
            key = self._space.key(genome)
            self._samples.append(_Sample(point, key))
            if key not in met:
                known = self.log.known(key)
                new = Proposal(genome=genome, origin=self._origin)
                self._queue.append(new if known is None else self.log.repeated(known))
            met.add(key)
            yield

    def _learn(self, told: Sequence[Candidate]) -> Generator[None, None, None]:
        if self._queue or self.awaits_any:
            return
        yield
        self._distribution.tell(self._solutions())
        self._samples, self._origin = [], Origin.SAMPLE
        yield
        if self._distribution.should_stop():
            self._origin, self._distribution = Origin.RESTART, self._started(self._space.draw(self._rng))

    def _solutions(self) -> list[tuple[NDArray[np.float64], float]]:
        """Return the points of the generation with values that are the smaller the better, the best first."""
        goal, ranked = self.log.objective.goal, []
        for sample in self._samples:
            subject = self.log.known(sample.key)
            if subject is None:
                raise TypeError("a generation is learnt from once all of it is told")
            ranked.append((rank_of(self.log[subject].objective, goal), subject, sample.point))
        # The library sorts by what it is told and keeps the order of equals: infinite ones stay behind.
        ranked.sort(key=lambda each: each[:2])
        return [(point, min(max(rank, -_FARTHEST), _FARTHEST)) for rank, _, point in ranked]
