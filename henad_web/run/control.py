"""How a sweep is driven: pause, resume and abort, the time without pauses, and what a pump answers.

The host sets the switch, lanes read it between two slices; it never blocks. An abort is final. Safe to use from several
threads without a lock: each of its two flags is written whole, and the abort flag only ever rises; the clock's state is
one reference swapped whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

__all__ = [
    "After",
    "Answer",
    "Clock",
    "IDLE",
    "Idle",
    "NOW",
    "Now",
    "PauseClock",
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
        self.clock = PauseClock(clock)

    @property
    def is_paused(self) -> bool:
        """Whether runs are held. False once aborted."""
        return self._paused and not self._aborted

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

    def abort(self) -> None:
        """End every run at its next slice, held ones included."""
        self._aborted = True
        self.clock.resume()
