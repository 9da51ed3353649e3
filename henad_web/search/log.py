"""What a search for an objective knows so far: all replicates of each candidate, who is best, which config is whose.

Owns scores, the ranking, and the choice of proposals that are no repetition (reference engine, sections 10.3 and 10.4).
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from henad_web.explore.search_spec import ObjectiveSpec
from henad_web.search.scoring import is_better, objective_of, rank_of
from henad_web.search.searcher import Candidate, Origin, Proposal, Watched
from henad_web.search.space import ConfigKey, Genome, SearchSpace

__all__ = ["Proposals", "RankedCandidate", "Score", "SearchLog"]

_MOST_DRAWS = 16
"""Draws for one proposal, until one of them is a config that there is not yet."""


@dataclass(slots=True)
class Score:
    """What is known of one candidate.

    Attributes:
        candidate_id: The candidate.
        genome: What it is made from.
        first_batch: The batch that it was evaluated in first.
        objective: Its objective over all its replicates; may be infinite or no number.
        values: The objective's column of each replicate, those of later evaluations behind.
        evaluations: Times it was evaluated.
    """

    candidate_id: int
    genome: Genome
    first_batch: int
    objective: float = math.nan
    values: list[float | None] = field(default_factory=list)
    evaluations: int = 0


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


class SearchLog:
    """The scores of all candidates, those evaluated again told with the candidate that they repeat.

    Args:
        space: The space of the search.
        objective: What it is for.
    """

    def __init__(self, space: SearchSpace, objective: ObjectiveSpec) -> None:
        self.space, self.objective = space, objective
        self._scores: dict[int, Score] = {}
        self._first: dict[ConfigKey, int] = {}
        self._ranks: list[tuple[float, int]] = []

    def __getitem__(self, candidate_id: int) -> Score:
        """Return what is known of a candidate that was told and evaluates no other one again."""
        return self._scores[candidate_id]

    def record(self, candidate: Candidate, batch: int, replicates: Sequence[Watched]) -> None:
        """Keep what `candidate`, asked for in `batch`, came to."""
        subject = candidate.subject_id
        score = self._scores.get(subject)
        if score is None:
            score = self._scores[subject] = Score(subject, candidate.genome, batch)
            self._first.setdefault(self.space.key(candidate.genome), subject)
        score.values += [watched[0] for watched in replicates]
        score.evaluations += 1
        score.objective = objective_of(score.values, self.objective)
        heapq.heappush(self._ranks, (self._rank(score), subject))

    def _rank(self, score: Score) -> float:
        return rank_of(score.objective, self.objective.goal)

    def known(self, key: ConfigKey) -> int | None:
        """Return the first candidate of a config, None where none was told."""
        return self._first.get(key)

    def is_better(self, first: float, second: float) -> bool:
        """Return whether the objective `first` is strictly better than `second`."""
        return is_better(first, second, self.objective.goal)

    def ranked(self, candidate_ids: Iterable[int]) -> list[int]:
        """Return `candidate_ids`, the best first; of equal ones the lower id."""
        return sorted(candidate_ids, key=lambda each: (self._rank(self._scores[each]), each))

    def best(self) -> RankedCandidate | None:
        """Return the entry that leads the ranking, None before the first tell."""
        while self._ranks and self._ranks[0][0] != self._rank(self._scores[self._ranks[0][1]]):
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
            if candidate_id not in told and rank == self._rank(self._scores[candidate_id]):
                told.add(candidate_id)
                yield self._entry(candidate_id)

    def _entry(self, candidate_id: int) -> RankedCandidate:
        score = self._scores[candidate_id]
        return RankedCandidate(
            candidate_id=candidate_id,
            objective=score.objective,
            replicate_count=len(score.values),
            failed_count=sum(value is None or not math.isfinite(value) for value in score.values),
            evaluations=score.evaluations,
            first_batch=score.first_batch,
        )

    def repeated(self, candidate_id: int) -> Proposal:
        """Return the proposal to evaluate a candidate again, with the replicates behind those that there are."""
        score = self._scores[candidate_id]
        return Proposal(
            genome=score.genome,
            origin=Origin.REEVALUATION,
            reevaluated_id=candidate_id,
            replicate_offset=len(score.values),
        )


class Proposals:
    """The new configs of one batch or generation, and a way to draw one that is there nowhere yet.

    Args:
        log: The candidates that were told.
    """

    def __init__(self, log: SearchLog) -> None:
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
