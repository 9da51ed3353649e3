"""A genetic algorithm with tournaments, elites and evaluations again (reference engine, section 10.7)."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import partial

from henad_web.explore.search_spec import GeneticSettings, ObjectiveSpec
from henad_web.search.log import Proposals
from henad_web.search.random_search import ScoredSearcher
from henad_web.search.scoring import median
from henad_web.search.searcher import PIECE, Candidate, Origin, Proposal
from henad_web.search.space import Genome, SearchSpace

__all__ = ["Generation", "Genetic"]


@dataclass(frozen=True, slots=True)
class Generation:
    """What a whole generation came to.

    Attributes:
        number: Its number, from 0.
        best: The best objective of its members. It may be worse than the one before: a leader that was lucky is
            evaluated again.
        median: The median of them.
        worst: The worst of them.
    """

    number: int
    best: float
    median: float
    worst: float


class Genetic(ScoredSearcher):
    """Generations of children of the better ones of the generation before.

    Attributes:
        generations: Those that are complete, in order.

    Args:
        space: What it looks through.
        objective: What it is for.
        settings: Its settings.
        max_evaluations: Candidates that may be asked for.
        seed: Seed of its draws, 0 to 2^64 - 1.
    """

    def __init__(
        self, space: SearchSpace, objective: ObjectiveSpec, settings: GeneticSettings, max_evaluations: int, seed: int
    ) -> None:
        super().__init__(space, objective, max_evaluations, seed)
        self.generations: list[Generation] = []
        self._settings = settings
        self._members: list[int] = []
        self._queue: deque[Proposal] | None = None
        self._children: list[int] = []
        self._revisited: set[int] = set()

    def _propose(self, count: int) -> Generator[None, None, Sequence[Proposal]]:
        if self._queue is None:
            self._queue = yield from self._first_generation()
        taken = [self._queue.popleft() for _ in range(min(count, len(self._queue)))]
        self._children += [
            self.asked_count + position for position, each in enumerate(taken) if each.reevaluated_id is None
        ]
        return taken

    def _first_generation(self) -> Generator[None, None, deque[Proposal]]:
        configs, queue = Proposals(self.log), deque[Proposal]()
        for number in range(1, self._settings.population + 1):
            found = configs.draw(partial(self._space.draw, self._rng))
            if isinstance(found, tuple):
                queue.append(Proposal(genome=found, origin=Origin.RANDOM))
            if number % PIECE == 0:
                yield
        return queue

    def _learn(self, told: Sequence[Candidate]) -> Generator[None, None, None]:
        if self._queue or self.awaits_any or not (self._children or self._revisited):
            return
        elites = self.log.ranked(self._members)[: self._settings.elite_count]
        together = dict.fromkeys([*elites, *self._children, *sorted(self._revisited)])
        self._members = self.log.ranked(together)
        self._children, self._revisited = [], set()
        objectives = [self.log[member].objective for member in self._members]
        self.generations.append(Generation(len(self.generations), objectives[0], median(objectives), objectives[-1]))
        yield
        self._queue = yield from self._bred(objectives)

    def _bred(self, objectives: Sequence[float]) -> Generator[None, None, deque[Proposal]]:
        """Return the next generation: the best members again, then children of members with `objectives`."""
        settings, configs = self._settings, Proposals(self.log)
        share = settings.reevaluate_fraction * settings.population
        repeated = set(self._members[: max(math.ceil(share - 1e-9), 0)])
        queue = deque(self.log.repeated(member) for member in self._members if member in repeated)
        for number in range(1, settings.population - settings.elite_count + 1):
            genome, origin, parents = self._child(objectives)
            mutate = partial(self._space.mutate, genome, settings.mutation_rate, settings.mutation_scale, self._rng)
            found = configs.draw(mutate)
            if isinstance(found, tuple):
                queue.append(Proposal(genome=found, origin=origin, parents=parents))
            elif found is not None:
                self._revisited.add(found)
                if found not in repeated:
                    repeated.add(found)
                    queue.append(self.log.repeated(found))
            if number % PIECE == 0:
                yield
        return queue

    def _child(self, objectives: Sequence[float]) -> tuple[Genome, Origin, tuple[int, ...]]:
        """Return a child before it is mutated, with its origin and parents."""
        first = self._members[self._tournament(objectives)]
        if self._rng.unit() >= self._settings.crossover_rate:
            return self.log[first].genome, Origin.MUTATION, (first,)
        second = self._members[self._tournament(objectives)]
        genome = self._space.cross(self.log[first].genome, self.log[second].genome, self._rng)
        return genome, Origin.CROSSOVER, (first, second)

    def _tournament(self, objectives: Sequence[float]) -> int:
        """Return the position of the best of some members drawn, the first one of equals."""
        winner = self._rng.index(len(objectives))
        for _ in range(self._settings.tournament_size - 1):
            other = self._rng.index(len(objectives))
            if self.log.is_better(objectives[other], objectives[winner]):
                winner = other
        return winner
