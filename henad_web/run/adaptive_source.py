"""The runs of a study with adaptive replicates, a round of one config after the other.

Owns the order of rounds. What a round is, and whether it was the last one, is `explore.replication`'s business.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

from henad_web.explore.replication import Replication
from henad_web.run.requests import Replicates, RunRequest
from henad_web.run.source import PlanSource, Turn

if TYPE_CHECKING:
    from henad_web.explore.outcomes import RunOutcome
    from henad_web.explore.plan import Plan
    from henad_web.explore.shards import Shard
    from henad_web.run.source import RunSource

__all__ = ["AdaptiveSource", "planned_source"]


def planned_source(plan: Plan, shard: Shard, kept: bytearray | None, told: Replication | None) -> RunSource:
    """Return where the runs of `plan` come from that are in `shard` and not kept.

    Args:
        plan: The plan of a sweep.
        shard: The part of it to run.
        kept: One byte a run of the plan, 1 for one that is not done again; None when all are.
        told: What the rule of adaptive replicates knows by the runs that are kept, None where none is.
    """
    adaptive = plan.spec.run.adaptive
    if adaptive is None:
        return PlanSource(plan, shard, kept)
    return AdaptiveSource(plan, shard, told or Replication(adaptive, plan.config_count))


CONFIGS_AT_ONCE = 1000
"""Configs between two rounds of one, so that lanes have work while its outcomes are on their way. It settles the order
in which rows are written, and is the same whatever the lanes; a few kilobytes of values are kept for them."""


class AdaptiveSource:
    """The runs of a plan as far as its configs ask for them.

    Configs are taken in plan order, at most `at_once` of them at a time, and have a round each in turn. A config whose
    round is not written yet is waited for, so that what is handed out next never depends on lanes.

    Args:
        plan: The plan, whose replicates are adaptive.
        shard: The part of it to run: whole configs.
        told: What is known of its configs already: nothing, or the runs that are kept.
        at_once: Most configs between two rounds of one.

    Attributes:
        total_runs: Most runs that it hands out, those it has handed out counted; falls as configs are settled.
    """

    def __init__(self, plan: Plan, shard: Shard, told: Replication, *, at_once: int = CONFIGS_AT_ONCE) -> None:
        self._plan, self._told, self._at_once = plan, told, at_once
        self._columns = told.columns
        configs = range(shard.index, plan.config_count, shard.count)
        self._unsettled, self.total_runs = told.remaining(slice(shard.index, None, shard.count))
        self._new = (config_id for config_id in configs if not told.is_settled(config_id))
        self._under_way: deque[tuple[int, int]] = deque()
        self._round: Iterator[RunRequest] = iter(())

    @property
    def is_done(self) -> bool:
        """Whether every config has all its replicates."""
        return self._unsettled == 0

    def next(self) -> RunRequest | None:
        """Return the next run; None while the config whose turn it is waits for its round, and after the last one."""
        while (request := next(self._round, None)) is None:
            config_id = self._next_config()
            if config_id is None:
                return None
            self._under_way.append((config_id, self._told.asked(config_id)))
            self._round = self._requests(config_id, self._told.missing(config_id))
        return request

    def _next_config(self) -> int | None:
        """Return the config whose next round is to be handed out, None when there is none now."""
        while True:
            if len(self._under_way) < self._at_once:
                config_id = next(self._new, None)
                if config_id is not None:
                    return config_id
            if not self._under_way:
                return None
            config_id, handed_out = self._under_way[0]
            is_settled = self._told.is_settled(config_id)
            if not is_settled and self._told.asked(config_id) == handed_out:
                return None
            self._under_way.popleft()
            if not is_settled:
                return config_id

    def _requests(self, config_id: int, reps: list[int]) -> Iterator[RunRequest]:
        replicates, first = Replicates.of(self._plan, config_id), config_id * self._plan.replicates
        return (replicates.request(self._plan.run(first + rep)) for rep in reps)

    def committed(self, outcome: RunOutcome) -> None:
        """Tell the rule what the run gave; where that settles its config, there are no more runs of it to come.

        Raises:
            NotBinaryError: A column that is to have Wilson's interval gave another value than 0 or 1.
        """
        run, told = outcome.run, self._told
        failed, values = outcome.status.is_failure, outcome.reducers
        before = told.most_missing(run.config_id) - 1
        told.tell(run.config_id, run.rep, [None if failed else values.get(column) for column in self._columns])
        if told.is_settled(run.config_id):
            self._unsettled -= 1
            self.total_runs -= before

    def turn(self, *, may_ask: bool) -> Turn | None:
        """Return None: deciding takes no time of its own."""
        return None


if TYPE_CHECKING:
    _ADAPTIVE: type[RunSource] = AdaptiveSource
