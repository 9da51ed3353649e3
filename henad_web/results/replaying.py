"""One recorded run brought back to life: what it was built from, and its model at its start or at its end.

Owns the order of steps and actions of a replay, which is that of a run. Samples nothing and compares nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from henad_web.errors import UsageError, near_miss
from henad_web.model.schema import Schedule

if TYPE_CHECKING:
    from henad_web.model.entry import ModelEntry
    from henad_web.model.params import ParamValue
    from henad_web.model.state import ModelState

__all__ = ["Replay", "ReplayPoint"]


class ReplayPoint(StrEnum):
    """Where a replayed model stands: at tick 0 before any action, or at the last tick of its run."""

    START = "start"
    END = "end"

    @classmethod
    def of(cls, text: str) -> ReplayPoint:
        """Return the point called `text`.

        Raises:
            UsageError: There is no such point.
        """
        try:
            return cls(text)
        except ValueError:
            hint = near_miss(str(text), list(cls))
            wrong = f"a replay at {text!r}; allowed: {' or '.join(cls)}"
            raise UsageError(f"{wrong}; {hint}" if hint else wrong) from None


@dataclass(frozen=True, slots=True, kw_only=True)
class Replay:
    """What one run was made from.

    Attributes:
        entry: The model.
        params: Canonical value of every parameter, in schema order.
        seed: Seed it was built with.
        schedule: Its actions by tick. Those of tick 0 fire before the first step, any other right after the step that
            reaches its tick.
        ticks: Tick at which the run ended.
        total_ticks: Tick at which it was to end, ``warmup + steps``.
        label: The run in words.
    """

    entry: ModelEntry
    params: tuple[ParamValue, ...]
    seed: int
    schedule: Schedule
    ticks: int
    total_ticks: int
    label: str

    def state(self, at: ReplayPoint = ReplayPoint.END) -> ModelState:
        """Return the model at `at`; whatever it raises while it is built or stepped is the caller's to see."""
        state = self.entry.build(self.params, self.seed)
        if at is ReplayPoint.END:
            self.advance(state, self.ticks)
        return state

    def advance(self, state: ModelState, tick: int) -> None:
        """Step `state`, as `state` made it, to `tick`, doing the actions that are due on the way."""
        reached = 0
        for action in self.schedule:
            if action.tick > tick:
                break
            state.step(action.tick - reached)
            reached = action.tick
            state.act(action.id)
        state.step(tick - reached)
