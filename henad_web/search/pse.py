"""Pattern space exploration: looking for outputs that were not met yet (reference engine, section 10.8).

The method is that of Chérel, Cottineau and Reuillon, "Beyond Corroboration: Strengthening Model Validation by Looking
for Unexpected Patterns", PLOS ONE 10(9), 2015.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence

from henad_web.explore.search_spec import PseSettings
from henad_web.randomness import DesignRng
from henad_web.search.pattern import Archive, ArchiveEntry, Placement
from henad_web.search.random_search import random_proposals
from henad_web.search.searcher import PIECE, Candidate, Origin, Proposal, SteadySearcher, Watched
from henad_web.search.space import Genome, SearchSpace

__all__ = ["PatternSearch", "initial_count"]


def initial_count(settings: PseSettings, max_evaluations: int) -> int:
    """Return how many random candidates come first; those of them that land somewhere give the axes their ranges."""
    return max(min(settings.initial_samples, max_evaluations), 1)


class PatternSearch(SteadySearcher):
    """Random samples first, then mutations of candidates whose cells were met least.

    Attributes:
        archive: The cells that were met.

    Args:
        space: What it looks through.
        settings: Its settings.
        max_evaluations: Candidates that may be asked for.
        seed: Seed of its draws, 0 to 2^64 - 1.
    """

    def __init__(self, space: SearchSpace, settings: PseSettings, max_evaluations: int, seed: int) -> None:
        super().__init__(max_evaluations, watched_count=2)
        self.archive = Archive(settings)
        self._space, self._settings, self._rng = space, settings, DesignRng(seed)
        self._initial_count = initial_count(settings, max_evaluations)
        self._held: list[tuple[int, Genome, Placement]] = []

    def _propose(self, count: int) -> Generator[None, None, Sequence[Proposal]]:
        initial_left = self._initial_count - self.asked_count
        if initial_left > 0:
            return (yield from random_proposals(self._space, self._rng, min(count, initial_left)))
        entries = self.archive.entries()
        if not entries:
            return (yield from random_proposals(self._space, self._rng, count))
        proposals = []
        for number in range(1, count + 1):
            parent, scale = self._rarer(entries), self._settings.mutation_scale
            genome = self._space.mutate(parent.genome, 1.0, scale, self._rng)
            proposals.append(Proposal(genome=genome, origin=Origin.MUTATION, parents=(parent.candidate_id,)))
            if number % PIECE == 0:
                yield
        return proposals

    def _rarer(self, entries: Sequence[ArchiveEntry]) -> ArchiveEntry:
        """Return the one with fewer hits of two that are drawn, the first one of equals."""
        first, second = (entries[self._rng.index(len(entries))] for _ in range(2))
        return second if second.hits < first.hits else first

    def _record(self, candidate: Candidate, batch: int, replicates: Sequence[Watched]) -> None:
        placement = self.archive.place(replicates)
        if placement is None:
            return
        if self.archive.axes is None:
            self._held.append((candidate.candidate_id, candidate.genome, placement))
        else:
            self.archive.file(candidate.candidate_id, candidate.genome, placement)

    def _learn(self, told: Sequence[Candidate]) -> Generator[None, None, None]:
        if self.archive.axes is not None or told[-1].candidate_id < self._initial_count - 1:
            return
        held, self._held = self._held, []
        self.archive.set_ranges([placement for _, _, placement in held])
        for number, (candidate_id, genome, placement) in enumerate(held, start=1):
            self.archive.file(candidate_id, genome, self.archive.located(placement))
            if number % PIECE == 0:
                yield
