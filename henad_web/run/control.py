"""How a sweep is driven: pause, resume and abort, the time without pauses, slices, what a pump answers.

The host sets the switch, lanes obey it between two slices; it never blocks. An abort is final. Safe to use from several
threads without a lock: each of its flags is written whole, and the abort flag only ever rises; the clock's state is one
reference swapped whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

__all__ = [
    "After",
    "Answer",
    "BatchSize",
    "Clock",
    "FRAME_SLICE_TARGET_S",
    "IDLE",
    "Idle",
    "MAX_SLICE_STEPS",
    "NATIVE_SLICE_TARGET_S",
    "NOW",
    "Now",
    "PauseClock",
    "SliceSize",
    "SweepControl",
]

Clock = Callable[[], float]
"""A monotonic clock, in seconds."""


@dataclass(frozen=True, slots=True)
class _Stretch:
    start: float
    paused_since: float | None = None
    paused_total: float = 0.0


class PauseClock:
    """Counts the seconds between its making and a moment, without those spent paused."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._stretch = _Stretch(start=clock())

    def pause(self) -> None:
        """Stop counting; a pause inside a pause changes nothing."""
        if self._stretch.paused_since is None:
            self._stretch = replace(self._stretch, paused_since=self._clock())

    def resume(self) -> None:
        """Go on counting; does nothing unless paused."""
        stretch = self._stretch
        if stretch.paused_since is not None:
            paused = max(self._clock() - stretch.paused_since, 0.0)
            self._stretch = _Stretch(stretch.start, None, stretch.paused_total + paused)

    def elapsed(self, at: float | None = None) -> float:
        """Return the seconds run up to `at` (a reading of the same clock, now when None), never below 0."""
        stretch = self._stretch
        now = self._clock() if at is None else at
        end = now if stretch.paused_since is None else min(now, stretch.paused_since)
        return max(end - stretch.start - stretch.paused_total, 0.0)


@dataclass(frozen=True, slots=True)
class Now:
    """More work is waiting."""


@dataclass(frozen=True, slots=True)
class After:
    """Nothing to do until `seconds` have passed."""

    seconds: float


@dataclass(frozen=True, slots=True)
class Idle:
    """Nothing to do until a command or a lane's report."""


Answer = Now | After | Idle

NOW = Now()
IDLE = Idle()


class SweepControl:
    """Pause, resume and abort of one sweep, and the clock that stands still while it is paused."""

    def __init__(self, clock: Clock) -> None:
        self._paused = False
        self._aborted = False
        self._obeyed = False
        self.clock = PauseClock(clock)

    @property
    def is_paused(self) -> bool:
        """Whether runs are held. False once aborted."""
        return self._paused and not self._aborted

    @property
    def is_held(self) -> bool:
        """Whether the pause is complete: every lane has acknowledged it, and no run moves until it is resumed."""
        return self.is_paused and self._obeyed

    @property
    def is_aborted(self) -> bool:
        """Whether the sweep is to end at its next slice."""
        return self._aborted

    def pause(self) -> bool:
        """Hold every run at its next slice; return whether anything changed."""
        if self._paused or self._aborted:
            return False
        self.clock.pause()
        self._paused = True
        if self._aborted:  # an abort from another thread came in between: its clock goes on
            self.clock.resume()
        return True

    def resume(self) -> bool:
        """Let held runs go on; return whether anything changed."""
        if not self.is_paused:
            return False
        self._paused = False
        self.clock.resume()
        return True

    def acknowledge(self, obeyed: bool) -> None:
        """Record, on the side that pumps, whether every lane has obeyed a pause and was told nothing since."""
        self._obeyed = obeyed

    def abort(self) -> None:
        """End every run at its next slice, held ones included."""
        self._aborted = True
        self.clock.resume()


NATIVE_SLICE_TARGET_S = 0.020
"""Seconds a slice aims at where a thread of its own steps the runs."""

FRAME_SLICE_TARGET_S = 0.003
"""Seconds a slice aims at inside a frame."""

MAX_SLICE_STEPS = 1 << 20
"""Steps a slice never passes."""


class SliceSize:
    """Steps of the next slice, grown and shrunk toward a target time.

    Pure arithmetic on measured times. Every run starts at one step, so that a slice grown on a light run never delays
    the stop of a heavy one.

    Attributes:
        steps: Steps of the next slice, 1 to `MAX_SLICE_STEPS`.
        target_s: Seconds a slice aims at.
    """

    __slots__ = ("_pace_s", "steps", "target_s")

    def __init__(self, target_s: float = NATIVE_SLICE_TARGET_S) -> None:
        self.steps = 1
        self.target_s = target_s
        self._pace_s = 0.0

    @property
    def pace_s(self) -> float:
        """Seconds one step took in the latest measured slice, 0 before any."""
        return self._pace_s

    def within(self, time_left_s: float | None) -> int:
        """Return the steps to take now, at least one.

        `time_left_s` caps them at the steps that fit in it at the pace of the latest slice, so that a frame is passed
        by less than one step; None is no cap.
        """
        if time_left_s is None or self._pace_s <= 0.0:
            return self.steps
        return max(1, min(self.steps, int(max(time_left_s, 0.0) / self._pace_s)))

    def adapt(self, elapsed_s: float, taken: int | None = None) -> None:
        """Learn from a slice of `taken` steps (a whole one when None) that took `elapsed_s` seconds.

        A whole slice of under half the target doubles; one of more than twice the target is scaled down to it. A slice
        that was cut short only teaches the pace.
        """
        taken = self.steps if taken is None else taken
        if elapsed_s > 0.0:
            self._pace_s = elapsed_s / taken
        if elapsed_s > 2.0 * self.target_s:
            self.steps = max(1, int(taken * self.target_s / elapsed_s))
        elif taken >= self.steps and elapsed_s < self.target_s / 2.0:
            self.steps = min(self.steps * 2, MAX_SLICE_STEPS)


class BatchSize:
    """How many replicates are stepped together: no more than one step of all of them fits a slice.

    Attributes:
        rows: Replicates of the next batch, 1 to the most there may be.

    Args:
        most: Most there may be.
        target_s: Seconds a slice aims at.
    """

    __slots__ = ("_longest_s", "_most", "_target_s", "rows")

    def __init__(self, most: int, target_s: float) -> None:
        self.rows = self._most = most
        self._target_s, self._longest_s = target_s, 0.0

    def took(self, seconds: float) -> None:
        """Learn how long one step of the batch under way took, or its build: what is done in one piece."""
        self._longest_s = max(self._longest_s, seconds)

    def end(self, rows: int) -> None:
        """Settle the size of the next batch after one that began with `rows`."""
        longest_s, self._longest_s = self._longest_s, 0.0
        if longest_s > self._target_s:
            self.rows = max(1, int(rows * self._target_s / longest_s))
        elif rows >= self.rows and longest_s < self._target_s / 2.0:
            self.rows = min(self.rows * 2, self._most)
