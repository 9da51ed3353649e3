"""In which order the runs of a plan are handed out and committed. Changes no result and no finished file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from henad_web.explore.spec import RunOrder

if TYPE_CHECKING:
    from henad_web.explore.plan import Plan
    from henad_web.explore.shards import Shard

__all__ = ["ordered_run_ids"]


def ordered_run_ids(plan: Plan, shard: Shard) -> Iterator[int]:
    """Return the ids of the runs of `shard`: in plan order, or replicate 0 of every config first.

    Tables grow in this order; those of a sweep that ended are in plan order either way.
    """
    if plan.spec.run.order is RunOrder.DEPTH:
        return iter(range(shard.index, plan.run_count, shard.count))
    runs = (range(rep, plan.run_count, plan.replicates) for rep in range(plan.replicates))
    return (run_id for replicate in runs for run_id in replicate if shard.holds(run_id))
