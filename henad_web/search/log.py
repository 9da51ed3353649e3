"""What a search for objectives knows so far: all replicates of each candidate, who is best, which config is whose.

Owns scores, the ranking by one objective, and the choice of proposals that are no repetition (reference engine,
sections 10.3 and 10.4). Who leads by several objectives is the business of `fronts`.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from henad_web.explore.search_spec import ObjectiveSpec
from henad_web.search.scoring import failed_count, is_better, objectives_of, rank_of
from henad_web.search.searcher import Candidate, Origin, Proposal, Watched
from henad_web.search.space import ConfigKey, Genome, SearchSpace

__all__ = ["CandidateLog", "Proposals", "RankedCandidate", "Score", "SearchLog"]

_MOST_DRAWS = 16
"""Draws for one proposal, until one of them is a config that there is not yet."""


@dataclass(slots=True)
class Score:
    """What is known of one candidate.

    Attributes:
        candidate_id: The candidate.
        genome: What it is made from.
        first_batch: The batch that it was evaluated in first.
        objectives: Each objective over all its replicates; may be infinite or no number.
        replicates: The objectives' columns of each replicate, those of later evaluations behind.
        evaluations: Times it was evaluated.
    """

    candidate_id: int
    genome: Genome
    first_batch: int
    objectives: tuple[float, ...] = ()
    replicates: list[Watched] = field(default_factory=list)
    evaluations: int = 0

    @property
    def objective(self) -> float:
        """The first of its objectives."""
        return self.objectives[0]

    @property
    def failed_count(self) -> int:
        """Its replicates with a value that is missing or not finite."""
        return failed_count(self.replicates)


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedCandidate:
    """One entry of a ranking.

    Attributes:
        candidate_id: The candidate.
        objective: Over all its replicates; may be infinite or no number.
        replicate_count: Its runs.
        failed_count: Those of them without a finite value.
        evaluations: Times it was evaluated.
        first_batch: The batch that it was evaluated in first.
    """

    candidate_id: int
    objective: float
    replicate_count: int
    failed_count: int
    evaluations: int
    first_batch: int


class CandidateLog:
    """The scores of all candidates, those evaluated again told with the candidate that they repeat.

    Args:
        space: The space of the search.
        objectives: What it is for, at least one.
    """

    def __init__(self, space: SearchSpace, objectives: tuple[ObjectiveSpec, ...]) -> None:
        self.space, self.objectives = space, objectives
        self._scores: dict[int, Score] = {}
        self._first: dict[ConfigKey, int] = {}

    def __getitem__(self, candidate_id: int) -> Score:
        """Return what is known of a candidate that was told and evaluates no other one again."""
        return self._scores[candidate_id]

    def __iter__(self) -> Iterator[int]:
        """Return the ids of all candidates that were told and evaluate no other one again."""
        return iter(self._scores)

    def record(self, candidate: Candidate, batch: int, replicates: Sequence[Watched]) -> Score:
        """Keep what `candidate`, asked for in `batch`, came to, and return the score that it counts for."""
        subject = candidate.subject_id
        score = self._scores.get(subject)
        if score is None:
            score = self._scores[subject] = Score(subject, candidate.genome, batch)
            self._first.setdefault(self.space.key(candidate.genome), subject)
        score.replicates += replicates
        score.evaluations += 1
        score.objectives = objectives_of(score.replicates, self.objectives)
        return score

    def holds(self, candidate_id: int) -> bool:
        """Return whether `candidate_id` was told and evaluates no other one again."""
        return candidate_id in self._scores

    def known(self, key: ConfigKey) -> int | None:
        """Return the first candidate of a config, None where none was told."""
        return self._first.get(key)

    def repeated(self, candidate_id: int) -> Proposal:
        """Return the proposal to evaluate a candidate again, with the replicates behind those that there are."""
        score = self._scores[candidate_id]
        return Proposal(
            genome=score.genome,
            origin=Origin.REEVALUATION,
            reevaluated_id=candidate_id,
            replicate_offset=len(score.replicates),
        )


class SearchLog(CandidateLog):
    """The candidates of a search for one objective, and who of them is best.

    Args:
        space: The space of the search.
        objective: What it is for.
    """

    def __init__(self, space: SearchSpace, objective: ObjectiveSpec) -> None:
        super().__init__(space, (objective,))
        self.objective = objective
        self._ranks: list[tuple[float, int]] = []

    def record(self, candidate: Candidate, batch: int, replicates: Sequence[Watched]) -> Score:
        """Keep what `candidate`, asked for in `batch`, came to, and return the score that it counts for."""
        score = super().record(candidate, batch, replicates)
        heapq.heappush(self._ranks, (self._rank(score), score.candidate_id))
        return score

    def _rank(self, score: Score) -> float:
        return rank_of(score.objective, self.objective.goal)

    def is_better(self, first: float, second: float) -> bool:
        """Return whether the objective `first` is strictly better than `second`."""
        return is_better(first, second, self.objective.goal)

    def ranked(self, candidate_ids: Iterable[int]) -> list[int]:
        """Return `candidate_ids`, the best first; of equal ones the lower id."""
        return sorted(candidate_ids, key=lambda each: (self._rank(self[each]), each))

    def best(self) -> RankedCandidate | None:
        """Return the entry that leads the ranking, None before the first tell."""
        while self._ranks and self._ranks[0][0] != self._rank(self[self._ranks[0][1]]):
            heapq.heappop(self._ranks)  # what it was before it was evaluated again
        return self._entry(self._ranks[0][1]) if self._ranks else None

    def ranking(self) -> tuple[RankedCandidate, ...]:
        """Return an entry for each candidate that was told, the best first."""
        return tuple(self.leaders())

    def leaders(self) -> Iterator[RankedCandidate]:
        """Yield the entries of the ranking, the best first; each is found when it is asked for."""
        ranks, told = list(self._ranks), set[int]()
        while ranks:
            rank, candidate_id = heapq.heappop(ranks)
            if candidate_id not in told and rank == self._rank(self[candidate_id]):
                told.add(candidate_id)
                yield self._entry(candidate_id)

    def _entry(self, candidate_id: int) -> RankedCandidate:
        score = self[candidate_id]
        return RankedCandidate(
            candidate_id=candidate_id,
            objective=score.objective,
            replicate_count=len(score.replicates),
            failed_count=score.failed_count,
            evaluations=score.evaluations,
            first_batch=score.first_batch,
        )


class Proposals:
    """The new configs of one batch or generation, and a way to draw one that is there nowhere yet.

    Args:
        log: The candidates that were told.
    """

    def __init__(self, log: CandidateLog) -> None:
        self._log = log
        self._proposed: set[ConfigKey] = set()

    def draw(self, draw: Callable[[], Genome]) -> Genome | int | None:
        """Return a genome of a config that is new, of up to 16 draws.

        If none is, the first draw decides: the candidate that it repeats is returned, or None where it repeats a
        proposal.
        """
        first: ConfigKey | None = None
        for _ in range(_MOST_DRAWS):
            genome = draw()
            key = self._log.space.key(genome)
            if key not in self._proposed and self._log.known(key) is None:
                self._proposed.add(key)
                return genome
            first = key if first is None else first
        return None if first is None else self._log.known(first)
