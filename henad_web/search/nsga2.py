"""NSGA-II: generations that spread over the front of several objectives.

The algorithm of Deb, Pratap, Agarwal and Meyarivan, "A Fast and Elitist Multiobjective Genetic Algorithm: NSGA-II",
IEEE Transactions on Evolutionary Computation 6(2), 2002. Sort and distances are those of `fronts`, crossover and
mutation those of `variation`.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from henad_web.explore.search_spec import Goal, Nsga2Settings, ObjectiveSpec
from henad_web.randomness import DesignRng
from henad_web.search.fronts import Costs, Ranking, first_front, ranked
from henad_web.search.log import CandidateLog
from henad_web.search.offspring import Offspring, first_generation
from henad_web.search.scoring import median, rank_of
from henad_web.search.searcher import Candidate, Origin, Proposal, SteadySearcher, Watched, drained
from henad_web.search.space import Genome, SearchSpace
from henad_web.search.variation import crossed, mutated

__all__ = ["FrontGeneration", "Nsga2", "RankedMember"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontGeneration:
    """What a whole generation came to: who is left of it and of the generation before.

    Attributes:
        number: Its number, from 0.
        members: Candidates that go on, the population's size at most.
        front_size: Those of them that none dominates.
        best: The best of each objective among its members. It may be worse than the one before where a candidate was
            met again and evaluated again.
        median: The median of each.
        worst: The worst of each.
    """

    number: int
    members: int
    front_size: int
    best: tuple[float, ...]
    median: tuple[float, ...]
    worst: tuple[float, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedMember:
    """One entry of a ranking by several objectives.

    Attributes:
        candidate_id: The candidate.
        objectives: Each over all its replicates; may be infinite or no number.
        front: Its front, 0 for those that none dominates.
        distance: Its crowding distance in its front, infinite for the ends of an objective.
        replicate_count: Its runs.
        failed_count: Those of them without a finite value of each objective.
        evaluations: Times it was evaluated.
        first_batch: The batch that it was evaluated in first.
    """

    candidate_id: int
    objectives: tuple[float, ...]
    front: int
    distance: float
    replicate_count: int
    failed_count: int
    evaluations: int
    first_batch: int


class Nsga2(SteadySearcher):
    """Generations of children of members in better fronts and in emptier places of them.

    Attributes:
        log: The candidates that were told.
        generations: Those that are complete, in order.

    Args:
        space: What it looks through.
        objectives: What it is for, two or more.
        settings: Its settings.
        max_evaluations: Candidates that may be asked for.
        seed: Seed of its draws, 0 to 2^64 - 1.
    """

    def __init__(
        self,
        space: SearchSpace,
        objectives: tuple[ObjectiveSpec, ...],
        settings: Nsga2Settings,
        max_evaluations: int,
        seed: int,
    ) -> None:
        super().__init__(max_evaluations, watched_count=len(objectives))
        self.log = CandidateLog(space, objectives)
        self.generations: list[FrontGeneration] = []
        self._space, self._settings, self._rng = space, settings, DesignRng(seed)
        self._mutation_rate = settings.mutation_rate_over(len(space))
        self._goals = tuple(objective.goal for objective in objectives)
        self._cost: dict[int, tuple[float, ...]] = {}
        self._members: list[int] = []
        self._offspring: Offspring | None = None

    @property
    def members(self) -> tuple[int, ...]:
        """Ids of those that the last complete generation left, in the order of the ranking."""
        return tuple(self._members)

    def front(self) -> tuple[RankedMember, ...]:
        """Return an entry for each candidate that was told and none dominates, as they lead the ranking.

        It takes time as the candidates times the members of the front.
        """
        return drained(self.finding_front())

    def finding_front(self) -> Generator[None, None, tuple[RankedMember, ...]]:
        """Yield after each piece of `front`, and return what it does."""
        ids = np.array(list(self.log), np.int64)
        members = yield from first_front(self._costs(ids.tolist()))
        return (yield from self._ranking(ids[members].tolist()))

    def ranking(self) -> tuple[RankedMember, ...]:
        """Return an entry for each candidate that was told: by front, then the least crowded, then the lower id.

        It takes time as the square of the candidates: a second for some 30,000.
        """
        return drained(self._ranking(list(self.log)))

    def _ranking(self, candidate_ids: Sequence[int]) -> Generator[None, None, tuple[RankedMember, ...]]:
        ranking = yield from ranked(self._costs(candidate_ids))
        return tuple(self._entry(candidate_ids[place], ranking, place) for place in ranking.order.tolist())

    def _entry(self, candidate_id: int, ranking: Ranking, place: int) -> RankedMember:
        score = self.log[candidate_id]
        return RankedMember(
            candidate_id=candidate_id,
            objectives=score.objectives,
            front=int(ranking.fronts[place]),
            distance=float(ranking.distances[place]),
            replicate_count=len(score.replicates),
            failed_count=score.failed_count,
            evaluations=score.evaluations,
            first_batch=score.first_batch,
        )

    def _costs(self, candidate_ids: Sequence[int]) -> Costs:
        return np.array([self._cost[each] for each in candidate_ids], np.float64).reshape(-1, len(self._goals))

    def _record(self, candidate: Candidate, batch: int, replicates: Sequence[Watched]) -> None:
        score = self.log.record(candidate, batch, replicates)
        self._cost[score.candidate_id] = tuple(map(rank_of, score.objectives, self._goals))

    def _propose(self, count: int) -> Generator[None, None, Sequence[Proposal]]:
        if self._offspring is None:
            self._offspring = yield from first_generation(self.log, self._rng, self._settings.population)
        return self._offspring.take(count, self.asked_count)

    def _learn(self, told: Sequence[Candidate]) -> Generator[None, None, None]:
        if self._offspring is None or not self._offspring.is_taken or self.awaits_any:
            return
        together = sorted({*self._members, *self._offspring.competitors})
        ranking = yield from ranked(self._costs(together))
        places = ranking.order[: self._settings.population]
        self._members = [together[place] for place in places.tolist()]
        fronts, distances = ranking.fronts[places], ranking.distances[places]
        self.generations.append(self._generation(int((fronts == 0).sum())))
        yield
        self._offspring = yield from self._bred(list(zip(fronts.tolist(), (-distances).tolist(), strict=True)))

    def _generation(self, front_size: int) -> FrontGeneration:
        """Return what the generation came to whose members have just been chosen."""
        ordered = np.sort(self._costs(self._members), axis=0)
        middle, signs = len(ordered) // 2, [-1.0 if goal is Goal.MAXIMIZE else 1.0 for goal in self._goals]
        halves = ordered[middle - 1 + len(ordered) % 2 : middle + 1]  # one of an odd number, two of an even one
        return FrontGeneration(
            number=len(self.generations),
            members=len(ordered),
            front_size=front_size,
            best=tuple((ordered[0] * signs).tolist()),
            median=tuple(map(median, (halves * signs).T.tolist())),
            worst=tuple((ordered[-1] * signs).tolist()),
        )

    def _bred(self, keys: Sequence[tuple[int, float]]) -> Generator[None, None, Offspring]:
        """Return the next generation, children of members of whom those with the smaller of `keys` are the better."""
        settings, offspring = self._settings, Offspring(self.log)
        for number in range(0, settings.population, 2):
            origin, pair = self._pair(keys)
            for genome, parents in pair[: settings.population - number]:
                rate, index = self._mutation_rate, settings.mutation_index
                offspring.add(partial(mutated, self._space, genome, rate, index, self._rng), origin, parents)
            yield
        return offspring

    def _pair(self, keys: Sequence[tuple[int, float]]) -> tuple[Origin, list[tuple[Genome, tuple[int, ...]]]]:
        """Return the origin of two children, and each before it is mutated with its parents."""
        first, second = (self._members[self._tournament(keys)] for _ in range(2))
        genomes = self.log[first].genome, self.log[second].genome
        if self._rng.unit() >= self._settings.crossover_rate:
            return Origin.MUTATION, [(genomes[0], (first,)), (genomes[1], (second,))]
        children = crossed(self._space, genomes, self._settings.crossover_index, self._rng)
        return Origin.CROSSOVER, [(genome, (first, second)) for genome in children]

    def _tournament(self, keys: Sequence[tuple[int, float]]) -> int:
        """Return the position of the better of two members that are drawn, the first one of equals."""
        first, second = self._rng.index(len(keys)), self._rng.index(len(keys))
        return second if keys[second] < keys[first] else first
