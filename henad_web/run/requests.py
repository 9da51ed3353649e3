"""Runs on their way to lanes and back: what a lane is asked to do, and outcomes back in order.

Outcomes that finish early wait for those before them.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from henad_web.explore.hashes import config_head, seeded_key
from henad_web.explore.outcomes import PlannedRun

if TYPE_CHECKING:
    from henad_web.explore.plan import Config, Plan
    from henad_web.model.schema import Schedule

__all__ = ["ReorderBuffer", "Replicates", "RunRequest"]

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
        return Replicates.of(plan, run.config_id).request(run)


@dataclass(frozen=True, slots=True)
class Replicates:
    """What the requests for the runs of one config share, made once for all of them.

    Attributes:
        config: What they are built from.
        schedule: Its actions, in the order they fire.
        key_head: The hash of their run keys up to the seed.
    """

    config: Config
    schedule: Schedule
    key_head: int

    @classmethod
    def of(cls, plan: Plan, config_id: int) -> Replicates:
        """Return what the runs of config `config_id` of `plan` share."""
        config = plan.configs[config_id]
        return cls(config, plan.schedule(config), config_head(plan, config))

    def request(self, run: PlannedRun) -> RunRequest:
        """Return the request for `run`, one of them."""
        key = seeded_key(self.key_head, run.seed)
        return RunRequest(run=run, run_key=key, config=self.config, schedule=self.schedule)
