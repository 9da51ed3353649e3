"""When the sweep gets its turns: one a frame, or a longer one a timer tick where frames stopped.

Owns the rules and no timer: clock, turn and visibility come in, so that tests need no browser. `frames`
connects the rules to a page.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from statistics import median

__all__ = ["BUDGET_MS", "FRAME_GAP_S", "HIDDEN_BUDGET_S", "Pace", "Pacing", "StepWatch", "percentile", "picture_gap"]

BUDGET_MS = 6.0
"""What one turn of a sweep uses of a frame, milliseconds, plus one step at most."""

FRAME_GAP_S = 0.25
"""Frames that stay away this long have stopped: a hidden tab, or a browser without a display."""

HIDDEN_BUDGET_S = 0.25
"""What one timer tick may use while the tab is hidden, where ticks come about once a second."""

STALLED_BUDGET_S = 0.1
"""What one timer tick may use while the tab is visible without frames; input must still get through."""


PICTURE_GAP_S = 0.05
"""Least time between two pictures: every third frame, so that most frames are the sweep's alone."""

LONGEST_PICTURE_GAP_S = 0.5
"""Most time between two pictures: one that was slow once, as a first one is, must not freeze the board."""

PICTURE_SHARE = 0.04
"""Most of the page's time that pictures may take, so that large grids are drawn less often."""


class Pace(StrEnum):
    """What drives the sweep at the moment."""

    FRAMES = "frames"
    HIDDEN = "hidden"
    STALLED = "stalled"


@dataclass(slots=True)
class Pacing:
    """Gives turns to a sweep.

    Attributes:
        clock: Seconds, never going back.
        turn: Advances the sweep, given the seconds since the last turn and the seconds of work this one may do, None
            for a frame's.
        pace: What drove the latest turn.
    """

    clock: Callable[[], float]
    turn: Callable[[float, float | None], None]
    pace: Pace = Pace.FRAMES
    _last_turn: float = field(init=False)
    _last_frame: float = field(init=False)

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Count from now, as if a frame had just come."""
        self._last_turn = self._last_frame = self.clock()
        self.pace = Pace.FRAMES

    def frame(self) -> None:
        """Give the turn of one frame. A gap before it is not made up for."""
        self._last_frame = self.clock()
        self._give(Pace.FRAMES, None)

    def tick(self, *, hidden: bool) -> None:
        """Give the turn of a timer tick, if frames have stopped; `hidden` says whether the tab is."""
        if hidden:
            self._give(Pace.HIDDEN, HIDDEN_BUDGET_S)
        elif self.clock() - self._last_frame >= FRAME_GAP_S:
            self._give(Pace.STALLED, STALLED_BUDGET_S)

    def _give(self, pace: Pace, budget_s: float | None) -> None:
        now = self.clock()
        passed, self._last_turn, self.pace = now - self._last_turn, now, pace
        self.turn(max(0.0, passed), budget_s)


@dataclass(slots=True)
class StepWatch:
    """Notices a model whose single step outlasts a frame's budget.

    A turn that moved a run by exactly one tick and took longer than the budget measured one step. Five such
    turns in a row make it a property of the model, not of a busy machine.
    """

    step_ms: float | None = None
    _last: tuple[int, int] = (-1, -1)
    _slow: deque[float] = field(default_factory=lambda: deque(maxlen=5))

    def observe(self, run_id: int, tick: int, turn_ms: float) -> None:
        """Take note of one turn, which ended with run `run_id` at `tick` after `turn_ms` milliseconds."""
        same_run, steps = run_id == self._last[0], tick - self._last[1]
        self._last = (run_id, tick)
        if not same_run:
            return
        if steps == 1 and turn_ms > BUDGET_MS:
            self._slow.append(turn_ms)
            self.step_ms = median(self._slow) if len(self._slow) == self._slow.maxlen else self.step_ms
        elif steps > 1:
            self._slow.clear()
            self.step_ms = None


def picture_gap(cost_s: float) -> float:
    """Return the seconds to wait after a picture that took `cost_s` seconds to draw."""
    return min(max(PICTURE_GAP_S, cost_s / PICTURE_SHARE), LONGEST_PICTURE_GAP_S)


def percentile(values: list[float], share: float) -> float:
    """Return the value that `share` (0 to 1) of `values` do not exceed, by nearest rank; 0 without values."""
    if not values:
        return 0.0
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, max(0, -(-int(share * 1000) * len(ordered) // 1000) - 1))]
