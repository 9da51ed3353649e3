"""Searchers of others: each answer is looked at before a run is made of it, so that a wrong one is told in words.

Owns what a searcher may ask for. Keeps the scores of its candidates itself; how they are chosen it does not know.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Sequence
from typing import TYPE_CHECKING

from henad_web.errors import UsageError, counted
from henad_web.model.decimals import whole_text
from henad_web.search.random_search import ScoredSearcher
from henad_web.search.searcher import Candidate, Evaluation, Origin, Proposal, Searcher, SlicedSearcher, Watched

if TYPE_CHECKING:
    from henad_web.search.plan import SearchPlan

__all__ = ["CustomSearch", "SearcherFactory", "asking_nothing"]

SearcherFactory = Callable[["SearchPlan"], Searcher]
"""What makes the searcher of a plan, at its start and the same each time: a resume makes it again and tells it all."""


class _Over:
    """A searcher that is over at its start."""

    def ask(self, count: int) -> tuple[Candidate, ...]:
        return ()

    def tell(self, evaluations: Iterable[Evaluation]) -> None: ...


def asking_nothing(plan: SearchPlan) -> Searcher:
    """Return what stands for the searcher of `plan` where that is only planned, which asks for nothing."""
    return _Over()


class CustomSearch(ScoredSearcher):
    """A searcher that somebody else has written, for the objective of a plan.

    Args:
        plan: The search.
        factory: What makes the searcher.

    Raises:
        UsageError: The plan has no objective, or the factory fails or makes no searcher.
    """

    def __init__(self, plan: SearchPlan, factory: SearcherFactory) -> None:
        search = plan.search
        if search.objective is None:
            raise UsageError("a custom search needs an objective, SearchSpec(objective=ObjectiveSpec(…))")
        super().__init__(plan.space, search.objective, search.max_evaluations, plan.search_seed)
        self._name = f"the searcher '{search.name}'"
        self._searcher = self._made(plan, factory)
        self._heard: list[Evaluation] = []

    def _made(self, plan: SearchPlan, factory: SearcherFactory) -> Searcher:
        try:
            searcher = factory(plan)
        except Exception as error:
            raise UsageError(f"{self._name} could not be made") from error
        if not all(callable(getattr(searcher, name, None)) for name in ("ask", "tell")):
            came = type(searcher).__qualname__
            raise UsageError(f"{self._name} is of type {came}, which cannot be asked and told; allowed: ask and tell")
        return searcher

    def _propose(self, count: int) -> Generator[None, None, Sequence[Proposal]]:
        try:
            answer: object = yield from self._pieces_of_ask(count)
        except Exception as error:
            raise UsageError(f"{self._name} failed as it was asked for {counted(count, 'candidate')}") from error
        if not isinstance(answer, Sequence):
            raise self._wrong(f"answered with {type(answer).__qualname__}", "a tuple of candidates")
        if len(answer) > count:
            raise self._wrong(f"asked for {counted(len(answer), 'candidate')}", f"at most {count} at that moment")
        for position, candidate in enumerate(answer):
            self._check_candidate(candidate, self.asked_count + position)
        return [_proposed(candidate) for candidate in answer]

    def _pieces_of_ask(self, count: int) -> Generator[None, None, object]:
        if isinstance(self._searcher, SlicedSearcher):
            return (yield from self._searcher.asking(count))
        return self._searcher.ask(count)

    def _check_candidate(self, candidate: object, expected_id: int) -> None:
        if not isinstance(candidate, Candidate):
            raise self._wrong(f"has {type(candidate).__qualname__} among its candidates", "henad_web.search.Candidate")
        name = f"candidate {whole_text(candidate.candidate_id)}"
        if candidate.candidate_id != expected_id:
            raise self._wrong(f"asked for {name}", f"{expected_id}, its position among all it has asked for")
        if len(candidate.genome) != len(self._space):
            came = f"gave {name} a genome of {counted(len(candidate.genome), 'number')}"
            raise self._wrong(came, f"one for each of the {counted(len(self._space), 'factor')}")
        outside = [number for number in candidate.genome if not _is_share(number)]
        if outside:
            raise self._wrong(f"gave {name} a genome with {outside[0]!r}", "numbers from 0 to 1")
        self._check_descent(candidate, name)

    def _check_descent(self, candidate: Candidate, name: str) -> None:
        if not isinstance(candidate.origin, Origin):
            raise self._wrong(f"gave {name} the origin {candidate.origin!r}", "a word of henad_web.search.Origin")
        if any(parent not in range(candidate.candidate_id) for parent in candidate.parents):
            raise self._wrong(f"gave {name} the parents {candidate.parents}", "ids of earlier candidates")
        subject, offset = candidate.reevaluated_id, 0
        if subject is not None:
            if not self.log.holds(subject):
                raise self._wrong(f"evaluates candidate {subject} again as {name}", "one that it was told of as new")
            again = self.log.repeated(subject)
            offset = again.replicate_offset
            if candidate.genome != again.genome:
                raise self._wrong(f"evaluates candidate {subject} again with another genome", "the same")
        if candidate.replicate_offset != offset:
            came = f"gave {name} the replicate_offset {candidate.replicate_offset}"
            raise self._wrong(came, f"{offset}, the replicates there are of it")

    def _wrong(self, what: str, allowed: str) -> UsageError:
        return UsageError(f"{self._name} {what}; allowed: {allowed}")

    def _record(self, candidate: Candidate, batch: int, replicates: Sequence[Watched]) -> None:
        super()._record(candidate, batch, replicates)
        self._heard.append(Evaluation(candidate.candidate_id, tuple(replicates)))

    def _learn(self, told: Sequence[Candidate]) -> Generator[None, None, None]:
        heard, self._heard = self._heard, []
        try:
            if isinstance(self._searcher, SlicedSearcher):
                yield from self._searcher.telling(heard)
            else:
                yield
                self._searcher.tell(heard)
        except Exception as error:
            raise UsageError(f"{self._name} failed as it was told of {counted(len(heard), 'candidate')}") from error


def _is_share(number: object) -> bool:
    return isinstance(number, int | float) and 0.0 <= number <= 1.0


def _proposed(candidate: Candidate) -> Proposal:
    return Proposal(
        genome=tuple(map(float, candidate.genome)),
        origin=candidate.origin,
        parents=candidate.parents,
        reevaluated_id=candidate.reevaluated_id,
        replicate_offset=candidate.replicate_offset,
    )
