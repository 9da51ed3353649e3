"""The switch of a sweep: pause, resume, abort.

The host sets it, lanes read it between two slices; it never blocks. An abort is final. Safe to use from several
threads without a lock: each of its two flags is written whole, and the abort flag only ever rises.
"""

from __future__ import annotations

from henad_web.run.pause_clock import Clock, PauseClock

__all__ = ["SweepControl"]


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

    @property
    def may_step(self) -> bool:
        """Whether a run may take its next slice."""
        return not (self._paused or self._aborted)

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
