"""What a search is asked and told, whatever its algorithm.

Owns candidates and evaluations as values, the protocol of whatever asks and tells, and what all algorithms of the
package have in common: the budget, ids, batches, and work in bounded pieces (reference engine, section 10.2). How a
candidate is chosen is the business of each algorithm; its runs are nobody's here.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol, TypeVar, runtime_checkable

from henad_web.errors import UsageError
from henad_web.model.decimals import whole_text
from henad_web.search.space import Genome

__all__ = [
    "PIECE",
    "Candidate",
    "Evaluation",
    "Origin",
    "Proposal",
    "Searcher",
    "SlicedSearcher",
    "SteadySearcher",
    "Watched",
    "drained",
]

PIECE = 16
"""Candidates that are made or taken in between two looks at the clock: 1 to 2 ms in a browser."""

Watched = tuple[float | None, ...]
"""What one run gives of each watched column: None where it failed or has no such value."""

_Result = TypeVar("_Result")


class Origin(StrEnum):
    """How a candidate came to be."""

    RANDOM = "random"
    RESTART = "restart"
    NEIGHBOR = "neighbor"
    MUTATION = "mutation"
    CROSSOVER = "crossover"
    REEVALUATION = "reevaluation"
    SAMPLE = "sample"


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """One config that a search wants to know about.

    Attributes:
        candidate_id: Its position among all that were asked for, from 0.
        genome: What it is made from, as the space has it.
        origin: How it came to be.
        parents: Ids of the candidates it was made from: the best so far, one parent, or two.
        reevaluated_id: The candidate that it evaluates again; None for a new one.
        replicate_offset: The replicate that its first run is: 0 for a new candidate; behind those there are of a
            candidate that is evaluated again, so that its runs have new seeds.
    """

    candidate_id: int
    genome: Genome
    origin: Origin
    parents: tuple[int, ...] = ()
    reevaluated_id: int | None = None
    replicate_offset: int = 0

    @property
    def subject_id(self) -> int:
        """Id of the candidate that its runs tell of: itself, or the one that it evaluates again."""
        return self.candidate_id if self.reevaluated_id is None else self.reevaluated_id


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What the runs of one candidate came to.

    Attributes:
        candidate_id: The candidate.
        replicates: Of each run, in order, what it gave of each watched column.
    """

    candidate_id: int
    replicates: tuple[Watched, ...]


class Searcher(Protocol):
    """Whatever asks for evaluations and is told them.

    Each ask is followed by the tell of all its candidates. Told the same, in whatever order inside a batch, it asks the
    same again: that is how an interrupted search goes on.
    """

    def ask(self, count: int) -> tuple[Candidate, ...]:
        """Return the next candidates, at most `count`; none when the search is over."""

    def tell(self, evaluations: Iterable[Evaluation]) -> None:
        """Hear what candidates came to that were asked for; others are ignored."""


@runtime_checkable
class SlicedSearcher(Protocol):
    """A searcher that asks and hears in pieces of a few milliseconds, for hosts that draw frames in between."""

    def asking(self, count: int) -> Generator[None, None, tuple[Candidate, ...]]:
        """Yield after each piece of `ask`, and return what it does."""

    def telling(self, evaluations: Iterable[Evaluation]) -> Generator[None, None, None]:
        """Yield after each piece of `tell`."""


def drained(pieces: Generator[None, None, _Result]) -> _Result:
    """Do all of `pieces` and return what they come to."""
    while True:
        try:
            next(pieces)
        except StopIteration as end:
            result: _Result = end.value
            return result


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """A candidate before it has an id; attributes as those of `Candidate`."""

    genome: Genome
    origin: Origin
    parents: tuple[int, ...] = ()
    reevaluated_id: int | None = None
    replicate_offset: int = 0


class SteadySearcher(ABC):
    """What the algorithms of the package share.

    Evaluations take effect batch by batch, in the order of asking and there by id, as soon as a batch is told whole:
    what is asked next depends on no order of telling.

    Attributes:
        max_evaluations: Candidates that may be asked for, those that are evaluated again included.
        asked_count: Candidates asked for so far.
        batch_count: Asks that returned any.
    """

    def __init__(self, max_evaluations: int, watched_count: int) -> None:
        self.max_evaluations = max_evaluations
        self.asked_count = self.batch_count = 0
        self._watched_count = watched_count
        self._batches = deque[tuple[Candidate, ...]]()
        self._awaited = set[int]()
        self._told: dict[int, Evaluation] = {}

    @property
    def awaits_any(self) -> bool:
        """Whether candidates that it has asked for are not told yet."""
        return bool(self._batches)

    def ask(self, count: int) -> tuple[Candidate, ...]:
        """Return the next candidates, at most `count` and what is left of the budget.

        There are none when the search is over, or where what comes next depends on candidates that are not told.

        Raises:
            UsageError: `count` is below 0.
        """
        return drained(self.asking(count))

    def tell(self, evaluations: Iterable[Evaluation]) -> None:
        """Hear what candidates came to, in any order; those that are not awaited are ignored.

        Raises:
            UsageError: An evaluation has no replicate, or another number of values than there are watched columns.
        """
        drained(self.telling(evaluations))

    def asking(self, count: int) -> Generator[None, None, tuple[Candidate, ...]]:
        """Yield after each piece of `ask`, and return what it does."""
        if count < 0:
            raise UsageError(f"asked for {whole_text(count)} candidates; allowed: 0 or more")
        allowed = min(count, self.max_evaluations - self.asked_count)
        proposals = (yield from self._propose(allowed)) if allowed else ()
        candidates = []
        for number, proposal in enumerate(proposals, start=1):
            candidates.append(_identified(self.asked_count, proposal))
            self._awaited.add(self.asked_count)
            self.asked_count += 1
            if number % PIECE == 0:
                yield
        if candidates:
            self._batches.append(tuple(candidates))
            self.batch_count += 1
        return tuple(candidates)

    def telling(self, evaluations: Iterable[Evaluation]) -> Generator[None, None, None]:
        """Yield after each piece of `tell`."""
        told = [each for each in evaluations if each.candidate_id in self._awaited]
        for evaluation in told:
            self._check(evaluation)
        for evaluation in told:
            self._awaited.discard(evaluation.candidate_id)
            self._told.setdefault(evaluation.candidate_id, evaluation)
        while self._batches and self._awaited.isdisjoint(each.candidate_id for each in self._batches[0]):
            batch = self.batch_count - len(self._batches)
            candidates = self._batches.popleft()
            for number, candidate in enumerate(candidates, start=1):
                self._record(candidate, batch, self._told.pop(candidate.candidate_id).replicates)
                if number % PIECE == 0:
                    yield
            yield from self._learn(candidates)

    def _check(self, evaluation: Evaluation) -> None:
        widths = {len(watched) for watched in evaluation.replicates}
        if widths != {self._watched_count}:
            came = f"{len(evaluation.replicates)} replicates of {sorted(widths)} values"
            raise UsageError(
                f"the evaluation of candidate {evaluation.candidate_id} has {came}; "
                f"allowed: at least one, each with a value for each of the {self._watched_count} watched columns"
            )

    @abstractmethod
    def _propose(self, count: int) -> Generator[None, None, Sequence[Proposal]]:
        """Yield after each piece, and return at most `count` proposals, `count` being at least 1."""

    @abstractmethod
    def _record(self, candidate: Candidate, batch: int, replicates: Sequence[Watched]) -> None:
        """Keep what `candidate`, which the ask number `batch` returned, came to."""

    @abstractmethod
    def _learn(self, told: Sequence[Candidate]) -> Generator[None, None, None]:
        """Yield after each piece of what follows from the candidates just recorded, in order."""


def _identified(candidate_id: int, proposal: Proposal) -> Candidate:
    return Candidate(
        candidate_id=candidate_id,
        genome=proposal.genome,
        origin=proposal.origin,
        parents=proposal.parents,
        reevaluated_id=proposal.reevaluated_id,
        replicate_offset=proposal.replicate_offset,
    )


if TYPE_CHECKING:

    def _conforms(searcher: SteadySearcher) -> tuple[Searcher, SlicedSearcher]:
        return searcher, searcher
