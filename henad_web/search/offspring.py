"""The candidates of one generation on their way: bred, asked for batch by batch, awaited until all of them are told.

Owns which proposals a generation has and whom it waits for. Who becomes a parent, and what is made of parents, is the
business of each algorithm.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterable
from functools import partial

from henad_web.randomness import DesignRng
from henad_web.search.log import CandidateLog, Proposals
from henad_web.search.searcher import PIECE, Origin, Proposal
from henad_web.search.space import Genome

__all__ = ["Offspring", "first_generation"]


class Offspring:
    """The proposals of a generation, none of a config that was told before: those are evaluated again.

    Args:
        log: The candidates that were told.
        repeated: Those of them that the generation evaluates again, before its children.
    """

    def __init__(self, log: CandidateLog, repeated: Iterable[int] = ()) -> None:
        self._log, self._configs = log, Proposals(log)
        self._repeated = dict.fromkeys(repeated)
        self._queue = deque(map(log.repeated, self._repeated))
        self._children: list[int] = []
        self._revisited = set[int]()

    def add(self, draw: Callable[[], Genome], origin: Origin, parents: tuple[int, ...] = ()) -> None:
        """Add a child that `draw` makes: a new config, or one that it met again; none where it met only siblings."""
        found = self._configs.draw(draw)
        if isinstance(found, tuple):
            self._queue.append(Proposal(genome=found, origin=origin, parents=parents))
        elif found is not None:
            self._revisited.add(found)
            if found not in self._repeated:
                self._repeated[found] = None
                self._queue.append(self._log.repeated(found))

    def take(self, count: int, first_id: int) -> list[Proposal]:
        """Return the next proposals, at most `count`, which get ids from `first_id` on."""
        taken = [self._queue.popleft() for _ in range(min(count, len(self._queue)))]
        self._children += [first_id + place for place, each in enumerate(taken) if each.reevaluated_id is None]
        return taken

    @property
    def is_taken(self) -> bool:
        """Whether all of it was taken."""
        return not self._queue

    @property
    def competitors(self) -> list[int]:
        """Ids of those that compete for the next generation: the children, and candidates that children met again."""
        return [*self._children, *sorted(self._revisited)]


def first_generation(log: CandidateLog, rng: DesignRng, count: int) -> Generator[None, None, Offspring]:
    """Yield after each piece, and return `count` configs drawn evenly, fewer where the space has not as many."""
    offspring = Offspring(log)
    for number in range(1, count + 1):
        offspring.add(partial(log.space.draw, rng), Origin.RANDOM)
        if number % PIECE == 0:
            yield
    return offspring
