"""Where the runs of a sweep come from, one at a time: a plan that is fixed, or a search that decides as it goes.

Owns the order of runs. A source knows no lanes and no files: it hands requests out, hears what is written and says
whether there will be more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from henad_web.explore.spec import RunOrder
from henad_web.run.requests import Replicates

if TYPE_CHECKING:
    from henad_web.explore.outcomes import RunOutcome
    from henad_web.explore.plan import Plan
    from henad_web.explore.shards import Shard
    from henad_web.run.requests import RunRequest
    from henad_web.search.update import SearchUpdate

__all__ = ["PlanSource", "RunSource", "Turn", "ordered_run_ids"]


@dataclass(frozen=True, slots=True)
class Turn:
    """One piece of a source's own work that was done.

    Attributes:
        update: What a search tells of a batch it has been told; None where there is no news.
    """

    update: SearchUpdate | None = None


class RunSource(Protocol):
    """What a sweep is to run, asked for as lanes become free.

    Outcomes are committed in the order in which their requests were handed out. So a source may hold runs back until
    earlier ones are committed, and whatever it decides from those does not depend on lanes.
    """

    @property
    def total_runs(self) -> int:
        """Runs it hands out in all, unless the sweep is ended before; the most there may be, and less as that falls."""

    @property
    def is_done(self) -> bool:
        """Whether it has handed out its last run."""

    def next(self) -> RunRequest | None:
        """Return the next run; None when there is none now. A commit or a turn may bring more."""

    def committed(self, outcome: RunOutcome) -> None:
        """Hear that the run of `outcome` is written."""

    def turn(self, *, may_ask: bool) -> Turn | None:
        """Do one bounded piece of work of its own, such as asking a search for a batch; None when nothing is due.

        Args:
            may_ask: Whether there may be new runs. The runs of a sweep that is being ended are only reckoned with.
        """


class PlanSource:
    """The runs of a plan, all there from the start.

    Args:
        plan: The plan.
        shard: The part of it to run.
        kept: One byte a run of the plan, 1 for one that is not done again; None when all are.
    """

    def __init__(self, plan: Plan, shard: Shard, kept: bytearray | None = None) -> None:
        self._plan = plan
        done = 0 if kept is None else kept[shard.index :: shard.count].count(1)
        self.total_runs = shard.run_count(plan.run_count) - done
        ids = ordered_run_ids(plan, shard)
        self._ids = ids if kept is None else (run_id for run_id in ids if not kept[run_id])
        self._next_id = next(self._ids, None)
        self._replicates: Replicates | None = None

    @property
    def is_done(self) -> bool:
        """Whether every run has been handed out."""
        return self._next_id is None

    def next(self) -> RunRequest | None:
        """Return the next run of the plan, None after the last."""
        if self._next_id is None:
            return None
        run = self._plan.run(self._next_id)
        self._next_id = next(self._ids, None)
        replicates = self._replicates
        if replicates is None or replicates.config.config_id != run.config_id:
            self._replicates = replicates = Replicates.of(self._plan, run.config_id)
        return replicates.request(run)

    def committed(self, outcome: RunOutcome) -> None:
        """Do nothing: what a plan holds depends on no outcome."""

    def turn(self, *, may_ask: bool) -> Turn | None:
        """Return None: a plan has no work of its own."""
        return None


def ordered_run_ids(plan: Plan, shard: Shard) -> Iterator[int]:
    """Return the ids of the runs of `shard`: in plan order, or replicate 0 of every config first.

    Tables grow in this order; those of a sweep that ended are in plan order either way.
    """
    if plan.spec.run.order is RunOrder.DEPTH:
        return iter(range(shard.index, plan.run_count, shard.count))
    runs = (range(rep, plan.run_count, plan.replicates) for rep in range(plan.replicates))
    return (run_id for replicate in runs for run_id in replicate if shard.holds(run_id))


if TYPE_CHECKING:
    _PLANNED: type[RunSource] = PlanSource
