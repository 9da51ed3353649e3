"""A genetic algorithm with tournaments, elites and evaluations again (reference engine, section 10.7)."""

from __future__ import annotations

import math
from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import partial

from henad_web.explore.search_spec import GeneticSettings, ObjectiveSpec
from henad_web.search.offspring import Offspring, first_generation
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
        self._offspring: Offspring | None = None

    def _propose(self, count: int) -> Generator[None, None, Sequence[Proposal]]:
        if self._offspring is None:
            self._offspring = yield from first_generation(self.log, self._rng, self._settings.population)
        return self._offspring.take(count, self.asked_count)

    def _learn(self, told: Sequence[Candidate]) -> Generator[None, None, None]:
        if self._offspring is None or not self._offspring.is_taken or self.awaits_any:
            return
        elites = self.log.ranked(self._members)[: self._settings.elite_count]
        self._members = self.log.ranked(dict.fromkeys([*elites, *self._offspring.competitors]))
        objectives = [self.log[member].objective for member in self._members]
        self.generations.append(Generation(len(self.generations), objectives[0], median(objectives), objectives[-1]))
        yield
        self._offspring = yield from self._bred(objectives)

    def _bred(self, objectives: Sequence[float]) -> Generator[None, None, Offspring]:
        """Return the next generation: the best members again, then children of members with `objectives`."""
        settings = self._settings
        share = settings.reevaluate_fraction * settings.population
        offspring = Offspring(self.log, self._members[: max(math.ceil(share - 1e-9), 0)])
        for number in range(1, settings.population - settings.elite_count + 1):
            genome, origin, parents = self._child(objectives)
            mutate = partial(self._space.mutate, genome, settings.mutation_rate, settings.mutation_scale, self._rng)
            offspring.add(mutate, origin, parents)
            if number % PIECE == 0:
                yield
        return offspring

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
