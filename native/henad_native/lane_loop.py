"""What a lane does where it works: takes runs and commands, steps one run in slices, sends outcomes.

Owns the loop, which is the same in a process of its own and on a thread. How messages travel is given to it.
"""

from __future__ import annotations

import threading
from collections import deque
from queue import SimpleQueue
from typing import TYPE_CHECKING

from henad_web.run.lane_messages import Bundle, EndedRun, Obeyed, OutcomesSent, RunShown, RunsReturned, WorkerOrder
from henad_web.run.lanes import InProcessLane, LaneCommand, RunAdvanced, RunEnded

if TYPE_CHECKING:
    from henad_web.run.control import Clock
    from henad_web.run.lane_messages import Gauge, Hear, LaneOrder, WorkerMessage
    from henad_web.run.requests import RunRequest

__all__ = ["LaneLoop", "SEND_EVERY_S"]

SEND_EVERY_S = 0.02
"""Seconds for which outcomes of short runs are gathered before they are sent."""


class LaneLoop:
    """Steps the runs of one lane.

    Args:
        lane: Steps one run.
        gauge: Where the lane shows what it is at.
        send: Sends a message to the sweep.
        timeout_s: Seconds after which a run is given up, None for no limit.
        clock: Monotonic clock, the one by which the sweep reads the gauge.

    Attributes:
        is_copy: Whether this is a copy of the lane that a model made by forking: it steps nothing more.
    """

    def __init__(self, lane: InProcessLane, gauge: Gauge, send: Hear, *, timeout_s: float | None, clock: Clock) -> None:
        self._lane, self._gauge, self._timeout_s, self._clock = lane, gauge, timeout_s, clock
        self._waiting: deque[RunRequest] = deque()
        self._told: SimpleQueue[LaneCommand | WorkerOrder | None] = SimpleQueue()
        self._ended: list[EndedRun] = []
        self._sent_at = 0.0
        self._is_held = self._has_run = False
        self._stepped_s, self._tick = 0.0, 0
        self._send, self._sending = send, threading.Lock()
        self.is_copy = False

    def tell(self, order: LaneOrder | LaneCommand) -> None:
        """Take an order, on any thread; runs that are asked back are given back at once, in the middle of a step."""
        if isinstance(order, Bundle):
            self._waiting.extend(order.requests)
            self._told.put(None)
        elif order is WorkerOrder.GIVE_BACK:
            self._give_back()
        else:
            self._told.put(order)

    def run(self) -> None:
        """Step runs until told to close."""
        while not self.is_copy:
            order = self._next_order()
            if order is WorkerOrder.CLOSE:
                return
            if isinstance(order, LaneCommand):
                self._obey(order)
            elif order is WorkerOrder.SHOW:
                self._say(RunShown(self._lane.view()))
            elif not self._is_held:
                self._move()

    def _next_order(self) -> LaneCommand | WorkerOrder | None:
        """Return an order that has come, None where there is none and something to do; wait where there is neither."""
        if not self._is_held and (self._has_run or self._waiting):
            return None if self._told.empty() else self._told.get()
        self._send_ended()
        return self._told.get()

    def _obey(self, command: LaneCommand) -> None:
        self._lane.command(command)
        self._is_held = command is not LaneCommand.RESUME
        if command is LaneCommand.ABORT:
            self._waiting.clear()
            self._ended.clear()
            self._has_run = False
            self._gauge.end()
        self._send_ended()
        if command is LaneCommand.PAUSE:
            self._say(RunShown(self._lane.view()))
        self._say(Obeyed(command))

    def _move(self) -> None:
        """Take a run up, build it or step it by a slice."""
        if not self._has_run:
            try:
                request = self._waiting.popleft()
            except IndexError:  # given back meanwhile
                return
            self._gauge.begin(request.run.run_id)
            self._lane.submit(request)
            self._has_run = True
            self._stepped_s, self._tick = 0.0, 0
        if self._timeout_s is None or not self._lane.is_stepping:
            self._poll()
        else:
            started = self._clock()
            self._gauge.due_s = started + max(self._timeout_s - self._stepped_s, 0.0)
            self._poll()
            self._gauge.due_s = None
            self._stepped_s += self._clock() - started
        if self._ended and (not self._waiting or self._clock() - self._sent_at >= SEND_EVERY_S):
            self._send_ended()

    def _poll(self) -> None:
        for report in self._lane.poll():
            if isinstance(report, RunAdvanced):
                if report.tick < self._tick:  # done once more from its build, with a limit of its own
                    self._stepped_s = 0.0
                self._gauge.tick = self._tick = report.tick
            elif isinstance(report, RunEnded):
                self._gauge.end()
                self._has_run = False
                self._ended.append(EndedRun.of(report.outcome))

    def _send_ended(self) -> None:
        if self._ended:
            self._say(OutcomesSent(tuple(self._ended)))
            self._ended.clear()
        self._sent_at = self._clock()

    def _give_back(self) -> None:
        returned: list[int] = []
        while self._waiting:
            try:
                returned.append(self._waiting.pop().run.run_id)
            except IndexError:  # taken up meanwhile
                break
        self._say(RunsReturned(tuple(returned)))

    def _say(self, message: WorkerMessage) -> None:
        if not self.is_copy:
            with self._sending:
                self._send(message)
