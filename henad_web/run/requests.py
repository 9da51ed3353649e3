"""Runs on their way to lanes and back: what a lane is asked to do, and outcomes back in order.

Outcomes that finish early wait for those before them.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from henad_web.explore.hashes import run_key
from henad_web.explore.outcomes import PlannedRun

if TYPE_CHECKING:
    from henad_web.explore.plan import Config, Plan
    from henad_web.model.schema import Schedule

__all__ = ["ReorderBuffer", "RunRequest"]

Item = TypeVar("Item")


class ReorderBuffer(Generic[Item]):
    """Hands items out in the order they were expected in, whatever order they arrive in."""

    def __init__(self) -> None:
        self._expected: deque[int] = deque()
        self._held: dict[int, Item] = {}

    @property
    def is_empty(self) -> bool:
        """Whether every item expected so far has been handed out."""
        return not self._expected

    def expect(self, item_id: int) -> None:
        """Have item `item_id` handed out behind all those expected before."""
        self._expected.append(item_id)

    def insert(self, item_id: int, item: Item) -> None:
        """Hold `item` until its turn."""
        self._held[item_id] = item

    def pop_ready(self) -> Item | None:
        """Return the next item in order, None when it has not arrived."""
        if not self._expected or self._expected[0] not in self._held:
            return None
        return self._held.pop(self._expected.popleft())

    def clear(self) -> None:
        """Forget the items held and expected, as an abort does."""
        self._held.clear()
        self._expected.clear()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRequest:
    """One run for a lane.

    Attributes:
        run: Which run of the plan.
        run_key: 16 hex digits that identify its results.
        config: What it is built from, made once for all that becomes of the run.
        schedule: The config's actions, in the order they fire.
    """

    run: PlannedRun
    run_key: str
    config: Config
    schedule: Schedule

    @classmethod
    def of(cls, plan: Plan, run: PlannedRun) -> RunRequest:
        """Return the request for `run` of `plan`."""
        config = plan.configs[run.config_id]
        return cls(run=run, run_key=run_key(plan, config, run.seed), config=config, schedule=plan.schedule(config))
