"""One recorded run brought back to life: what it was built from, and its model at its start or at its end.

Owns what a replay is and where it stands. It steps as a run does, by the cursor of a run, and compares nothing.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

from henad_web.errors import ResultsError, UsageError, near_miss
from henad_web.run.cursor import RunCursor

if TYPE_CHECKING:
    from henad_web.explore.measure import MeasurePlan
    from henad_web.model.entry import ModelEntry
    from henad_web.model.state import ModelState
    from henad_web.run.requests import RunRequest

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
        request: The run, its config and its actions by tick. Those of tick 0 fire before the first step, any other
            right after the step that reaches its tick.
        measure: When it was sampled and when it was to end; nothing is kept.
        ticks: Tick at which the run ended.
        label: The run in words.
    """

    entry: ModelEntry
    request: RunRequest
    measure: MeasurePlan
    ticks: int
    label: str

    def state(self, at: ReplayPoint = ReplayPoint.END) -> ModelState:
        """Return the model at `at`; whatever it raises while it is built or stepped is the caller's to see.

        Raises:
            ResultsError: The model does not come as far as the row says, and raises nothing that tells why.
        """
        cursor, outcome = RunCursor(self.entry, self.measure, self.request, time.perf_counter), None
        cursor.build()
        tick = 0 if at is ReplayPoint.START else self.ticks
        while at is ReplayPoint.END and (outcome := cursor.advance(tick - cursor.tick)) is None and cursor.tick < tick:
            pass
        state = cursor.state
        if state is None or cursor.tick < tick:
            note = "" if outcome is None else f": {outcome.note}"
            raise cursor.error or ResultsError(f"{self.label} did not come to tick {tick} again{note}")
        return state
