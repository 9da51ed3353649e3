"""Runs on their way to lanes and back: what a lane is asked to do, the order of requests, and outcomes back in order.

The order changes no result and no finished file. Outcomes that finish early wait for those before them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from henad_web.explore.outcomes import PlannedRun
from henad_web.explore.spec import RunOrder

if TYPE_CHECKING:
    from henad_web.explore.plan import Plan
    from henad_web.explore.shards import Shard
    from henad_web.model.params import ParamValue
    from henad_web.model.schema import Schedule

__all__ = [
    "ReorderBuffer",
    "RunRequest",
    "ordered_run_ids",
]

Item = TypeVar("Item")


class ReorderBuffer(Generic[Item]):
    """Holds items until every earlier one has been handed out.

    Args:
        order: The ids of all items to come, in the order they are handed out.
    """

    def __init__(self, order: Iterator[int]) -> None:
        self._order = order
        self._next = next(order, None)
        self._held: dict[int, Item] = {}

    @property
    def is_done(self) -> bool:
        """Whether every item has been handed out."""
        return self._next is None

    def insert(self, item_id: int, item: Item) -> None:
        """Hold `item` until its turn."""
        self._held[item_id] = item

    def pop_ready(self) -> Item | None:
        """Return the next item in order, None when it has not arrived."""
        if self._next is None or self._next not in self._held:
            return None
        item = self._held.pop(self._next)
        self._next = next(self._order, None)
        return item

    def clear(self) -> None:
        """Forget the items held, as an abort does."""
        self._held.clear()


def ordered_run_ids(plan: Plan, shard: Shard) -> Iterator[int]:
    """Return the ids of the runs of `shard`: in plan order, or replicate 0 of every config first.

    Tables grow in this order; those of a sweep that ended are in plan order either way.
    """
    if plan.spec.run.order is RunOrder.DEPTH:
        return iter(range(shard.index, plan.run_count, shard.count))
    runs = (range(rep, plan.run_count, plan.replicates) for rep in range(plan.replicates))
    return (run_id for replicate in runs for run_id in replicate if shard.holds(run_id))


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """One run for a lane.

    Attributes:
        run: Which run of the plan.
        run_key: 16 hex digits that identify its results.
        params: Its config's values, one a parameter in schema order.
        schedule: Its config's actions, in the order they fire.
    """

    run: PlannedRun
    run_key: str
    params: tuple[ParamValue, ...]
    schedule: Schedule

    @classmethod
    def of(cls, plan: Plan, run: PlannedRun) -> RunRequest:
        """Return the request for `run` of `plan`."""
        config = plan.configs[run.config_id]
        return cls(run=run, run_key=plan.run_key(run), params=config.params, schedule=plan.schedule(config))
