"""One timed run of a plan, from which the time of all of them is guessed.

Owns that guess. Steps the run inside the call and writes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from henad_web.run.cursor import RunCursor
from henad_web.run.requests import RunRequest

if TYPE_CHECKING:
    from henad_web.explore.measure import MeasurePlan
    from henad_web.explore.outcomes import RunOutcome
    from henad_web.explore.plan import Plan
    from henad_web.model.entry import ModelEntry
    from henad_web.run.control import Clock
    from henad_web.run.outline import SweepOutline

__all__ = ["Pilot", "pilot_run"]

_SLICE_STEPS = 64


@dataclass(frozen=True, slots=True)
class Pilot:
    """What one run took.

    Attributes:
        outcome: The run.
    """

    outcome: RunOutcome

    @property
    def seconds(self) -> float:
        """Seconds it was built, stepped and sampled for."""
        return (self.outcome.build_ms + self.outcome.wall_ms) / 1000.0

    def estimated_s(self, outline: SweepOutline) -> float:
        """Return the seconds that the pending runs of `outline` take if each is like this one."""
        lanes = max(1, outline.layout.cpu_lanes + outline.layout.gpu_tracks)
        return self.seconds * -(-outline.pending // lanes)


def pilot_run(entry: ModelEntry, plan: Plan, measure: MeasurePlan, clock: Clock) -> Pilot:
    """Run the first run of `plan` to its end and return what it took; the call lasts as long.

    Args:
        entry: The model.
        plan: What would be run.
        measure: Its measuring.
        clock: Monotonic clock, seconds.
    """
    cursor = RunCursor(entry, measure, RunRequest.of(plan, plan.run(0)), plan.spec.run.timeout_s, clock)
    while (outcome := cursor.advance(_SLICE_STEPS)) is None:
        pass
    return Pilot(outcome)
