"""Hill climbing with restarts: a batch of neighbours of the best so far (reference engine, section 10.6).

It is a (1 + lambda) strategy, lambda the size of a batch.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial

from henad_web.explore.search_spec import HillClimbSettings, ObjectiveSpec
from henad_web.search.log import Proposals
from henad_web.search.random_search import ScoredSearcher
from henad_web.search.searcher import PIECE, Candidate, Origin, Proposal
from henad_web.search.space import Genome, SearchSpace

__all__ = ["HillClimb"]


class HillClimb(ScoredSearcher):
    """From the best of some random starts to the best of its neighbours, until none has been better for a while.

    Args:
        space: What it looks through.
        objective: What it is for.
        settings: Its settings.
        max_evaluations: Candidates that may be asked for.
        seed: Seed of its draws, 0 to 2^64 - 1.
    """

    def __init__(
        self,
        space: SearchSpace,
        objective: ObjectiveSpec,
        settings: HillClimbSettings,
        max_evaluations: int,
        seed: int,
    ) -> None:
        super().__init__(space, objective, max_evaluations, seed)
        self._settings = settings
        self._climbs = self._stalled = 0
        self._incumbent: int | None = None
        self._starts = set[int]()

    def _propose(self, count: int) -> Generator[None, None, Sequence[Proposal]]:
        if self._incumbent is not None:
            return (yield from self._neighbours(self._incumbent, count))
        origin = Origin.RESTART if self._climbs else Origin.RANDOM
        self._climbs += 1
        proposals = yield from self._drawn(count, [], origin, (), partial(self._space.draw, self._rng))
        self._starts.update(range(self.asked_count, self.asked_count + len(proposals)))
        return proposals

    def _neighbours(self, incumbent: int, count: int) -> Generator[None, None, Sequence[Proposal]]:
        genome, scale = self.log[incumbent].genome, self._settings.mutation_scale
        repeated = [self.log.repeated(incumbent)] if self._settings.reevaluate and count >= 2 else []
        mutate = partial(self._space.mutate, genome, 1.0, scale, self._rng)
        return (yield from self._drawn(count, repeated, Origin.NEIGHBOR, (incumbent,), mutate))

    def _drawn(
        self,
        count: int,
        proposals: list[Proposal],
        origin: Origin,
        parents: tuple[int, ...],
        draw: Callable[[], Genome],
    ) -> Generator[None, None, list[Proposal]]:
        """Return `proposals` and what the rest of `count` draws come to: new configs, or candidates met again."""
        configs, repeated = Proposals(self.log), {each.reevaluated_id for each in proposals}
        for number in range(len(proposals), count):
            found = configs.draw(draw)
            if isinstance(found, tuple):
                proposals.append(Proposal(genome=found, origin=origin, parents=parents))
            elif found is not None and found not in repeated:
                repeated.add(found)
                proposals.append(self.log.repeated(found))
            if number % PIECE == 0:
                yield
        return proposals

    def _learn(self, told: Sequence[Candidate]) -> Generator[None, None, None]:
        yield from ()
        # A start that an earlier climb has met competes as what it is: evaluated again.
        starts = [each.subject_id for each in told if each.candidate_id in self._starts]
        if starts:
            self._incumbent, self._stalled = self.log.ranked(starts)[0], 0
            self._starts.clear()
            return
        if self._incumbent is None:
            return
        neighbours = [each.candidate_id for each in told if each.reevaluated_id is None]
        best = self.log.ranked(neighbours)[0] if neighbours else None
        if best is not None and self.log.is_better(self.log[best].objective, self.log[self._incumbent].objective):
            self._incumbent, self._stalled = best, 0
            return
        self._stalled += 1
        if self._stalled >= self._settings.patience:
            self._incumbent = None
