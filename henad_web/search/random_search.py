"""Random search: every candidate drawn evenly, whatever was told (reference engine, section 10.5)."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from henad_web.explore.search_spec import ObjectiveSpec
from henad_web.randomness import DesignRng
from henad_web.search.log import RankedCandidate, SearchLog
from henad_web.search.searcher import PIECE, Candidate, Origin, Proposal, SteadySearcher, Watched
from henad_web.search.space import SearchSpace

__all__ = ["RandomSearch", "ScoredSearcher", "random_proposals"]


def random_proposals(space: SearchSpace, rng: DesignRng, count: int) -> Generator[None, None, list[Proposal]]:
    """Yield after each piece, and return `count` proposals drawn evenly from `space`."""
    proposals = []
    for number in range(1, count + 1):
        proposals.append(Proposal(genome=space.draw(rng), origin=Origin.RANDOM))
        if number % PIECE == 0:
            yield
    return proposals


class ScoredSearcher(SteadySearcher):
    """A searcher for an objective.

    Attributes:
        log: The candidates that were told.

    Args:
        space: What it looks through.
        objective: What it is for.
        max_evaluations: Candidates that may be asked for.
        seed: Seed of its draws, 0 to 2^64 - 1.
    """

    def __init__(self, space: SearchSpace, objective: ObjectiveSpec, max_evaluations: int, seed: int) -> None:
        super().__init__(max_evaluations, watched_count=1)
        self.log = SearchLog(space, objective)
        self._space, self._rng = space, DesignRng(seed)

    def ranking(self) -> tuple[RankedCandidate, ...]:
        """Return an entry for each candidate that was told, the best first."""
        return self.log.ranking()

    def _record(self, candidate: Candidate, batch: int, replicates: Sequence[Watched]) -> None:
        self.log.record(candidate, batch, replicates)


class RandomSearch(ScoredSearcher):
    """Candidates drawn evenly, equal ones included; none is evaluated again."""

    def _propose(self, count: int) -> Generator[None, None, Sequence[Proposal]]:
        return (yield from random_proposals(self._space, self._rng, count))

    def _learn(self, told: Sequence[Candidate]) -> Generator[None, None, None]:
        yield from ()
