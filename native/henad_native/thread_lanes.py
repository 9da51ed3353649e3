"""Lanes on threads of their own, for models whose steps leave the interpreter to others.

Owns the threads. What they are told and when is `WorkerLanes`'; a thread cannot be ended where it stands.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from henad_native.lane_loop import LaneLoop
from henad_web.errors import describe
from henad_web.model.faults import Blame, Phase
from henad_web.run.control import NATIVE_SLICE_TARGET_S
from henad_web.run.lane_messages import GAUGE_BYTES, Gauge, Hear, LaneOrder, WorkerDied, WorkerOrder, WorkerReady
from henad_web.run.lanes import InProcessLane
from henad_web.run.worker_lanes import WorkerLanes, batch_rows_of

if TYPE_CHECKING:
    from henad_web.explore.measure import MeasurePlan
    from henad_web.model.entry import ModelEntry
    from henad_web.run.lanes import LaneCommand, Lanes
    from henad_web.run.layout import ExecutionLayout

__all__ = ["thread_lanes"]


class _LaneThread:
    """One lane's thread, a `Worker`."""

    def __init__(self, lane: InProcessLane, timeout_s: float | None, hear: Hear) -> None:
        self.gauge = Gauge(bytearray(GAUGE_BYTES))
        self._hear = hear
        self._loop = LaneLoop(lane, self.gauge, hear, timeout_s=timeout_s, clock=time.monotonic)
        self.thread = threading.Thread(target=self._run, name="henad-lane", daemon=True)
        self.thread.start()
        hear(WorkerReady())

    def send(self, order: LaneOrder | LaneCommand) -> None:
        """Tell the thread `order`."""
        self._loop.tell(order)

    def _run(self) -> None:
        with Blame(Phase.SWEEPING, None, takes_interrupts=True) as blame:
            self._loop.run()
        if blame.error is not None:  # whatever it is: nobody else would tell the sweep
            self._hear(WorkerDied(f"ended by {describe(blame.error)}"))

    def kill(self) -> bool:
        """Return False: a thread ends by itself or never."""
        return False


def thread_lanes(
    entry: ModelEntry,
    measure: MeasurePlan,
    layout: ExecutionLayout,
    notify: Callable[[], None],
    stand_in: Callable[[], Lanes],
) -> Lanes:
    """Return as many lanes as `layout` says, each on a thread of its own; arguments as those of `process_lanes`."""
    threads: list[_LaneThread] = []

    def start(hear: Hear) -> _LaneThread:
        lane = InProcessLane(
            entry,
            measure,
            slice_target_s=NATIVE_SLICE_TARGET_S,
            clock=time.monotonic,
            batch_rows=layout.batch_rows,
            takes_interrupts=True,
        )
        threads.append(_LaneThread(lane, measure.timeout_s, hear))
        return threads[-1]

    def close(patience_s: float) -> None:
        for lane in threads:
            lane.send(WorkerOrder.CLOSE)
        deadline = time.monotonic() + patience_s
        for lane in threads:
            lane.thread.join(max(deadline - time.monotonic(), 0.0))

    return WorkerLanes(
        start,
        layout.cpu_lanes,
        measure=measure,
        clock=time.monotonic,
        notify=notify,
        close=close,
        stand_in=stand_in,
        rows_of=partial(batch_rows_of, entry, layout),
    )
