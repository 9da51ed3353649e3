"""The runner of a host that lends its frames: steps the sweep inside `update`, never longer than a frame's budget.

Frames and the clock are given to it, so it runs, tested, wherever Python does. It starts no thread and never waits.
"""

from __future__ import annotations

import asyncio
import math
import sys
from numbers import Real

from henad_web.errors import UsageError
from henad_web.model.decimals import whole_text
from henad_web.run.control import IDLE, After, Answer, Clock, Idle
from henad_web.run.lanes import RunView
from henad_web.sweep import Sweep

__all__ = ["FRAME_BUDGET_S", "PumpedRunner", "check_frame"]

FRAME_BUDGET_S = 0.006
"""Seconds one `update` may use; it is passed by less than one step or one build."""


class PumpedRunner:
    """Pumps a sweep from a host's frames.

    Args:
        sweep: The sweep.
        clock: Monotonic clock, seconds.
        frame_budget_s: Seconds one `update` may use.
    """

    def __init__(self, sweep: Sweep, clock: Clock, frame_budget_s: float = FRAME_BUDGET_S) -> None:
        self._sweep, self._clock, self._frame_budget_s = sweep, clock, frame_budget_s
        self._wait_s = 0.0
        self._notice = self._heard = object()  # the one that came last, and the last one before a pump
        self._is_pumping = False
        self._changed = asyncio.Event()
        sweep.channel.listener = self._signal
        sweep.notify = self.notify

    def update(self, dt: float, budget_s: float | None = None) -> None:
        """Pump until the frame's budget is used or nothing is left to do.

        Args:
            dt: Seconds since the last frame, finite and not negative. It only counts down a wait; a long gap is never
                caught up.
            budget_s: Seconds this call may use, None for a frame's.

        Raises:
            UsageError: `dt` or `budget_s` is not finite or negative, or the call comes from inside a wake callback.
        """
        check_frame(dt, budget_s)
        self._refuse_reentry("update")
        self._wait_s = max(self._wait_s - dt, 0.0)
        # A notice of another thread is told by itself alone: it could be lost in what this one writes.
        if self._wait_s == 0.0 or self._notice is not self._heard:
            self._pump_for(self._frame_budget_s if budget_s is None else budget_s)

    def notify(self) -> None:
        """Make the next pump due at once: a command has come, or a lane's report; any thread may call."""
        self._notice = object()
        self._signal()

    def view(self) -> RunView | None:
        """Return the run in progress, to draw."""
        return self._sweep.view()

    def close(self) -> None:
        """Pump to the end, without regard to frames; the sweep has been told to abort.

        Raises:
            UsageError: The call comes from inside a wake callback.
        """
        self._refuse_reentry("close")
        while not self._sweep.is_over:
            self._pump_for(math.inf)

    async def turn(self) -> None:
        """Pump for one frame's budget, then give the event loop its turn; wait for a command when idle."""
        if self._is_pumping:
            await asyncio.sleep(0)
            return
        changed = self._changed = asyncio.Event()
        match self._pump_for(self._frame_budget_s):
            case Idle() if not self._sweep.is_over and not changed.is_set():
                await changed.wait()
            case After(seconds):
                await asyncio.sleep(seconds)
                self._wait_s = 0.0
            case _:
                await asyncio.sleep(0)

    def _pump_for(self, budget_s: float) -> Answer:
        deadline = self._clock() + budget_s
        answer: Answer = IDLE
        self._is_pumping = True
        try:
            while True:
                left = deadline - self._clock()
                self._heard = self._notice
                answer = self._sweep.pump(None if math.isinf(left) else left)
                self._wait_s = answer.seconds if isinstance(answer, After) else 0.0
                if isinstance(answer, (After, Idle)) or self._clock() >= deadline:
                    return answer
        finally:
            self._is_pumping = False

    def _signal(self) -> None:
        self._changed.set()

    def _refuse_reentry(self, call: str) -> None:
        if self._is_pumping:
            raise UsageError(f"{call}() was called from inside a wake callback; call it from the host's own loop")


def check_frame(dt: float, budget_s: float | None) -> None:
    """Make sure that a frame's time and budget, seconds, are ones that `update` takes on any runner.

    Raises:
        UsageError: One is no number, not finite or negative.
    """
    for name, seconds in (("dt", dt), ("budget_s", 0.0 if budget_s is None else budget_s)):
        if not isinstance(seconds, Real) or not 0 <= seconds <= sys.float_info.max:
            raise UsageError(f"{name} is {whole_text(seconds)}; allowed: a finite number of seconds, not negative")
