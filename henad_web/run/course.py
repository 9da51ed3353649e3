"""What a run does when: how many steps, which actions, whether a sample is due, whether it is over.

A function of ticks alone, so whoever steps a run (one model, several at once, a device) comes to the same steps,
actions and samples, however it is sliced. Knows no model, no clock and no statistics.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from henad_web.explore.measure import MeasurePlan
    from henad_web.model.schema import Schedule

__all__ = ["Course", "Leg"]


class Leg(NamedTuple):
    """A stretch of a course: strides of equal length, with nothing but samples between them.

    Attributes:
        steps: Steps of one stride, to be taken at once; 0 where a run starts.
        strides: How many there are, at least 1.
        is_sampled: Whether a sample is due behind each stride.
        actions: Actions due behind the last stride and before its sample, in the order they fire.
        is_last: Whether the run is over behind the leg.
    """

    steps: int
    strides: int
    is_sampled: bool
    actions: Schedule
    is_last: bool


class Course:
    """The course of every run of one measuring and one schedule.

    Args:
        measure: When to sample, and the last tick.
        schedule: The actions, by tick; those behind the last tick never fire.
    """

    __slots__ = ("_measure", "_schedule")

    def __init__(self, measure: MeasurePlan, schedule: Schedule) -> None:
        self._measure, self._schedule = measure, schedule

    @property
    def start(self) -> Leg:
        """The leg of no steps that every run starts with, at tick 0."""
        return self._leg(0, 0, 1)

    def leg(self, tick: int, budget: int) -> Leg | None:
        """Return what comes behind `tick`, None at the end of the course and without a budget.

        Args:
            tick: Tick that is reached, all that was due at it done.
            budget: Steps that may be taken, all strides together.
        """
        sample = self._measure.next_sample(tick)
        if sample is None or budget <= 0:
            return None
        gap, end = sample - tick, self._next_end(tick)
        if budget < gap or end < sample:
            return self._leg(tick, min(budget, end - tick), 1)
        # From a sample on, the samples are one cadence apart; only the last one may be nearer.
        return self._leg(tick, gap, min(budget, end - tick) // gap if gap == self._measure.stats_every else 1)

    def _leg(self, tick: int, steps: int, strides: int) -> Leg:
        end, measure, schedule = tick + steps * strides, self._measure, self._schedule
        return Leg(
            steps=steps,
            strides=strides,
            is_sampled=measure.next_sample(end - 1) == end,
            actions=schedule[bisect_left(schedule, end, key=_tick_of) : bisect_right(schedule, end, key=_tick_of)],
            is_last=end >= measure.total,
        )

    def _next_end(self, tick: int) -> int:
        """Return the tick of the first action behind `tick`, that of the last sample where none is due before it."""
        later = bisect_right(self._schedule, tick, key=_tick_of)
        last = self._measure.total
        return min(self._schedule[later].tick, last) if later < len(self._schedule) else last


_tick_of = attrgetter("tick")
