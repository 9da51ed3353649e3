"""What a lane does where it works: takes runs and commands, steps one run in slices, sends outcomes.

Owns the loop, which is the same in a process of its own and on a thread. How messages travel is given to it.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from contextlib import suppress
from queue import SimpleQueue
from typing import TYPE_CHECKING

from henad_web.run.lane_messages import (
    GAUGE_BYTES,
    Bundle,
    EndedRun,
    Gauge,
    Obeyed,
    OutcomesSent,
    RunShown,
    RunsReturned,
    WorkerOrder,
)
from henad_web.run.lanes import BatchAdvanced, InProcessLane, LaneCommand, RunAdvanced, RunEnded

if TYPE_CHECKING:
    from henad_web.run.control import Clock
    from henad_web.run.lane_messages import Hear, LaneOrder, WorkerMessage
    from henad_web.run.requests import RunRequest

__all__ = ["LaneLoop", "SEND_EVERY_S"]

SEND_EVERY_S = 0.05
"""Seconds for which outcomes of short runs are gathered before they are sent."""


class LaneLoop:
    """Steps the runs of one lane.

    Args:
        lane: Steps one run, or several together.
        gauge: Where the lane shows what it is at.
        send: Sends a message to the sweep.
        timeout_s: Seconds after which a run is given up, None for no limit.
        clock: Monotonic clock, the one by which the sweep reads the gauge.

    Attributes:
        is_aborted: Whether the sweep was aborted: its runs are dropped.
    """

    def __init__(self, lane: InProcessLane, gauge: Gauge, send: Hear, *, timeout_s: float | None, clock: Clock) -> None:
        self._lane, self._gauge, self._timeout_s, self._clock = lane, gauge, timeout_s, clock
        self._waiting: deque[RunRequest] = deque()
        self._alone: set[int] = set()
        self._told: SimpleQueue[LaneCommand | WorkerOrder | None] = SimpleQueue()
        self._ended: deque[EndedRun] = deque()
        self._sent_at = 0.0
        self._is_held = self._has_run = self._is_alone = False
        self._stepped_s, self._tick, self._rows = 0.0, 0, 1
        self._send, self._sending = send, threading.Lock()
        self.is_aborted = False
        self._process = os.getpid()

    @property
    def is_copy(self) -> bool:
        """Whether this is a copy of the lane that a model made by forking: it steps nothing more."""
        return os.getpid() != self._process

    def let_go(self) -> None:
        """Leave the gauge to the lane that this is a copy of."""
        self._gauge = Gauge(bytearray(GAUGE_BYTES))

    def tell(self, order: LaneOrder | LaneCommand) -> None:
        """Take an order, on any thread; runs and outcomes that are asked for go at once, in the middle of a step."""
        if isinstance(order, Bundle):
            self._alone |= order.alone
            self._waiting.extend(order.requests)
            self._told.put(None)
        elif order is WorkerOrder.GIVE_BACK:
            self._give_back()
        elif order is WorkerOrder.SEND:
            self._send_ended()
        else:
            self._told.put(order)

    def run(self) -> None:
        """Step runs until told to close; a copy ends with its process."""
        while True:
            if self.is_copy:
                os._exit(0)
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
            self.is_aborted = True
            self._waiting.clear()
            self._ended.clear()
            self._has_run = False
            self._gauge.end()
        self._send_ended()
        if command is LaneCommand.PAUSE:
            self._say(RunShown(self._lane.view()))
        self._say(Obeyed(command))

    def _move(self) -> None:
        """Take runs up, build them or step them by a slice."""
        if not self._has_run:
            self._take_up()
        if not self._has_run:
            return
        if self._timeout_s is None or not self._lane.is_stepping:
            self._poll()
        else:
            started = self._clock()
            self._gauge.due_s = started + max(self._timeout_s - self._stepped_s, 0.0) * self._rows
            self._poll()
            self._gauge.due_s = None
            self._stepped_s += (self._clock() - started) / self._rows
        if self._ended and (self._is_alone or not self._waiting or self._clock() - self._sent_at >= SEND_EVERY_S):
            self._send_ended()

    def _take_up(self) -> None:
        """Give the lane the run that is next, and those behind it that it steps together with that one."""
        self._is_alone = False
        while not self._is_alone:
            try:
                request = self._waiting.popleft()
            except IndexError:  # given back meanwhile
                return
            run_id = request.run.run_id
            is_alone = run_id in self._alone
            if (self._has_run and is_alone) or not self._lane.submit(request):
                self._waiting.appendleft(request)
                return
            if not self._has_run:
                first_id, self._has_run, self._is_alone = run_id, True, is_alone
                self._stepped_s, self._tick, self._rows = 0.0, 0, 1
            self._gauge.begin(first_id, run_id)

    def _poll(self) -> None:
        for report in self._lane.poll():
            match report:
                case RunAdvanced(run_id, tick):
                    self._reach((run_id,), tick)
                case BatchAdvanced(run_ids, tick):
                    self._reach(run_ids, tick)
                case RunEnded(outcome):
                    self._ended.append(EndedRun.of(outcome))
                    self._gauge.ended_id = outcome.run.run_id
        if not self._lane.is_busy:
            self._gauge.end()
            self._has_run = False

    def _reach(self, run_ids: tuple[int, ...], tick: int) -> None:
        """Show `run_ids`, which are stepped together, at `tick`."""
        if tick < self._tick:  # done once more from its build, with a limit of its own
            self._stepped_s = 0.0
        if (self._gauge.run_id, self._gauge.last_id) != (run_ids[0], run_ids[-1]):
            self._gauge.begin(run_ids[0], run_ids[-1])
        self._gauge.tick = self._tick = tick
        self._rows = len(run_ids)

    def _send_ended(self) -> None:
        ended: list[EndedRun] = []
        with suppress(IndexError):
            while True:  # two threads may be at it
                ended.append(self._ended.popleft())
        if ended:
            self._say(OutcomesSent(tuple(ended)))
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
                self._gauge.is_sending = True
                self._send(message)  # where it cannot, the process ends: not on account of the run it is at
                self._gauge.is_sending = False
