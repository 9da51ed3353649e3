"""Time a sweep has run, pauses left out.

Owns nothing but arithmetic on an injected clock. Readers on another thread see one consistent state, because the state
is one reference swapped whole.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

__all__ = ["Clock", "PauseClock"]

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
