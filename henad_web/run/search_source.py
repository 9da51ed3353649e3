"""The runs of a search, batch by batch: a batch is asked for, run, and told before the next one.

Owns what becomes of candidates on their way to runs and of outcomes on their way back. Which candidates there are is
the searcher's business, and what is written the sweep's.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Generator, Iterator
from typing import TYPE_CHECKING

from henad_web.explore.hashes import config_head
from henad_web.run.requests import Replicates, RunRequest
from henad_web.run.source import Turn
from henad_web.search.searcher import Candidate, Evaluation, Watched
from henad_web.search.update import SearchUpdate, Telling

if TYPE_CHECKING:
    from henad_web.explore.outcomes import RunOutcome
    from henad_web.run.source import RunSource
    from henad_web.search.plan import SearchPlan

__all__ = ["SearchSource"]


class SearchSource:
    """The runs that a search asks for, its replicates together, in the order of its candidates.

    An ask or a tell is done in pieces of a millisecond or two, one a turn. Only a batch whose runs are all written is
    told.

    Args:
        plan: The search.

    Attributes:
        plan: The search.
        searcher: What chooses the candidates.
        total_runs: Runs of the whole budget, those that are recorded left out.
    """

    def __init__(self, plan: SearchPlan) -> None:
        self.plan, self.searcher = plan, plan.searcher()
        self.total_runs = plan.run_count
        self._watched = plan.search.watched_columns
        self._requests: Iterator[RunRequest] = iter(())
        self._batch: tuple[Candidate, ...] = ()
        self._heard: list[Watched] = []
        self._asking: Generator[None, None, tuple[Candidate, ...]] | None = None
        self._telling: Generator[None, None, SearchUpdate] | None = None
        self._recorded = deque[SearchUpdate]()
        self._is_over = False

    @property
    def is_done(self) -> bool:
        """Whether the search asks for nothing more, and every batch is told."""
        return self._is_over and not self._recorded

    def next(self) -> RunRequest | None:
        """Return the next run of the batch; None after its last until the next batch is there."""
        return next(self._requests, None)

    def recorded(self) -> RunRequest | None:
        """Return the next run as `next` does, of one batch after the other, to be told of by `hear`; None at the end.

        So a search goes on with runs that are there. What it tells of their batches comes with the first turns.
        """
        while (request := self.next()) is None and (turn := self._work(may_ask=True)) is not None:
            if turn.update is not None:
                self._recorded.append(turn.update)
        return request

    def hear(self, watched: Watched) -> None:
        """Take `watched` for what the run gave that `recorded` returned last."""
        self._heard.append(watched)
        self.total_runs -= 1

    def committed(self, outcome: RunOutcome) -> None:
        """Keep what a run of the batch gave of the watched columns: nothing where it failed."""
        failed = outcome.status.is_failure
        self._heard.append(tuple(None if failed else outcome.reducers.get(column) for column in self._watched))

    def turn(self, *, may_ask: bool) -> Turn | None:
        """Do one piece of an ask or a tell; None while runs of the batch are under way, and after the end."""
        return Turn(self._recorded.popleft()) if self._recorded else self._work(may_ask=may_ask)

    def _work(self, *, may_ask: bool) -> Turn | None:
        if self._telling is not None or (self._batch and len(self._heard) == self._runs_in_batch):
            return self._tell()
        if self._batch or self._is_over or not may_ask:
            return None
        return self._ask()

    @property
    def _runs_in_batch(self) -> int:
        return len(self._batch) * self.plan.base.replicates

    def _ask(self) -> Turn:
        if self._asking is None:
            self._asking = self.searcher.asking(self.plan.search.batch_size)
        try:
            next(self._asking)
        except StopIteration as end:
            self._asking, self._batch = None, end.value
            self._is_over = not self._batch
            # One by one as they are handed out: a config and its hash take a while.
            self._requests = (request for candidate in self._batch for request in self._requests_of(candidate))
        return Turn()

    def _requests_of(self, candidate: Candidate) -> list[RunRequest]:
        base, config = self.plan.base, self.plan.config(candidate)
        replicates = Replicates(config, base.schedule(config), config_head(base, config))
        return [replicates.request(run) for run in self.plan.runs(candidate)]

    def _tell(self) -> Turn:
        if self._telling is None:
            self._telling = Telling(self.plan, self.searcher, self._batch, self._evaluations()).pieces()
        try:
            next(self._telling)
        except StopIteration as end:
            self._telling, self._batch, self._heard = None, (), []
            self._is_over = self.searcher.asked_count == self.searcher.max_evaluations
            return Turn(end.value)
        return Turn()

    def _evaluations(self) -> list[Evaluation]:
        count = self.plan.base.replicates
        return [
            Evaluation(candidate.candidate_id, tuple(self._heard[position * count : (position + 1) * count]))
            for position, candidate in enumerate(self._batch)
        ]


if TYPE_CHECKING:
    _SEARCHED: type[RunSource] = SearchSource
