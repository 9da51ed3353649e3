"""Connects the rules of `pacing` to the page: frames, a timer beside them, the tab's visibility.

Owns the two browser callbacks. Both are made once and handed over again and again.
"""

from __future__ import annotations

from dom import document, window
from handlers import lasting
from pacing import Pacing

__all__ = ["Frames"]

TIMER_MS = 250
"""How often the timer looks whether frames still come; in a hidden tab it fires about once a second."""


class Frames:
    """Turns animation frames, or the timer where they stop, into calls on a `Pacing` while there is work."""

    def __init__(self, pacing: Pacing) -> None:
        self._pacing = pacing
        self._on_frame, self._on_timer = lasting(self._frame), lasting(self._tick)
        self._request, self._cancel = window.requestAnimationFrame, window.cancelAnimationFrame
        self._timer: int | None = None
        self._pending = 0

    def start(self) -> None:
        """Begin to give turns."""
        if self._timer is not None:
            return
        self._pacing.restart()
        self._timer = window.setInterval(self._on_timer, TIMER_MS)
        self._pending = self._request(self._on_frame)

    def stop(self) -> None:
        """Give no more turns until the next `start`."""
        if self._timer is None:
            return
        window.clearInterval(self._timer)
        self._cancel(self._pending)
        self._timer = None

    def _frame(self, _timestamp: float) -> None:
        if self._timer is None:
            return
        # Asked for first, so that a turn that ends the sweep can still cancel it.
        self._pending = self._request(self._on_frame)
        self._pacing.frame()

    def _tick(self, *_: object) -> None:
        self._pacing.tick(hidden=bool(document.hidden))
