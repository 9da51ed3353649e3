"""How many steps a run takes between two looks at its control.

Pure arithmetic on measured times. The constants are those of the reference executor; every run starts at one step, so
that a slice grown on a light run never delays the stop of a heavy one.
"""

from __future__ import annotations

__all__ = ["FRAME_SLICE_TARGET_S", "MAX_SLICE_STEPS", "NATIVE_SLICE_TARGET_S", "SliceSize"]

NATIVE_SLICE_TARGET_S = 0.020
"""Seconds a slice aims at where a thread of its own steps the runs."""

FRAME_SLICE_TARGET_S = 0.003
"""Seconds a slice aims at inside a frame."""

MAX_SLICE_STEPS = 1 << 20
"""Steps a slice never passes."""


class SliceSize:
    """Steps of the next slice, grown and shrunk toward a target time.

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
        if taken > 0 and elapsed_s > 0.0:
            self._pace_s = elapsed_s / taken
        if elapsed_s > 2.0 * self.target_s:
            self.steps = max(1, int(taken * self.target_s / elapsed_s))
        elif taken >= self.steps and elapsed_s < self.target_s / 2.0:
            self.steps = min(self.steps * 2, MAX_SLICE_STEPS)
