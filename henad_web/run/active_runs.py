"""Runs in progress with the tick each has reached, and finished runs that wait for an earlier one.

Written by the side that pumps, read by the host: each change swaps one whole entry, so a reader never sees half of one.
"""

from __future__ import annotations

from dataclasses import dataclass

from henad_web.explore.outcomes import PlannedRun

__all__ = ["ActiveRun", "ActiveRuns"]


@dataclass(frozen=True, slots=True)
class ActiveRun:
    """One run in progress.

    Attributes:
        run: Which run of the plan.
        tick: Tick it has reached.
        end_tick: Tick it ends on unless its stop condition holds sooner.
    """

    run: PlannedRun
    tick: int
    end_tick: int

    @property
    def fraction(self) -> float:
        """Share of its ticks it has stepped, 0 to 1; 0 for a run of no ticks."""
        return min(self.tick / self.end_tick, 1.0) if self.end_tick > 0 else 0.0


class ActiveRuns:
    """Table of the runs in progress."""

    def __init__(self) -> None:
        self._stepping: dict[int, ActiveRun] = {}
        self._waiting: set[int] = set()
        self._waiting_count = 0

    def list(self) -> tuple[ActiveRun, ...]:
        """Return the runs in progress, by run id."""
        return tuple(sorted(self._stepping.values(), key=lambda active: active.run.run_id))

    @property
    def waiting_count(self) -> int:
        """Number of finished runs that wait for an earlier one to be committed."""
        return self._waiting_count

    def start(self, run: PlannedRun, end_tick: int) -> None:
        """List `run` at tick 0."""
        self._stepping[run.run_id] = ActiveRun(run, 0, end_tick)

    def mark_committed(self, run_id: int) -> None:
        """Take run `run_id` off the runs that wait."""
        self._waiting.discard(run_id)
        self._waiting_count = len(self._waiting)

    def reach(self, run_id: int, tick: int) -> None:
        """Record that run `run_id` has reached `tick`; a run not listed is ignored."""
        active = self._stepping.get(run_id)
        if active is not None and active.tick != tick:
            self._stepping[run_id] = ActiveRun(active.run, tick, active.end_tick)

    def finish(self, run_id: int) -> None:
        """Move run `run_id` from the runs in progress to those that wait."""
        self._waiting.add(run_id)
        self._waiting_count = len(self._waiting)
        self.drop(run_id)

    def drop(self, run_id: int) -> None:
        """Take run `run_id` off the runs in progress. An abandoned run never waits."""
        self._stepping.pop(run_id, None)

    def clear(self) -> None:
        """Drop every run in progress and every one that waits, as an abort does."""
        self._stepping.clear()
        self._waiting.clear()
        self._waiting_count = 0
