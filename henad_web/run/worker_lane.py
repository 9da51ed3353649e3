"""One of several lanes that work elsewhere, as the sweep sees it: what it has, what it is at, what its death may mean.

Owns what is known of one worker; what is done about it is `WorkerLanes`'.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

from henad_web.run.bundles import Pace
from henad_web.run.lane_messages import WorkerOrder
from henad_web.run.lanes import BatchAdvanced, LaneReport, RunAdvanced, RunStarted, RunView

if TYPE_CHECKING:
    from henad_web.run.bundles import Bundling
    from henad_web.run.lane_messages import Worker
    from henad_web.run.requests import RunRequest

__all__ = ["LOOK_S", "WorkerLane"]

LOOK_S = 0.1
"""Seconds between two looks at the ticks and limits of workers that do not report."""


class WorkerLane:
    """One worker's share of a sweep: the runs it has, in order, and what is known of it.

    Args:
        bundling: How many runs it gets at once.
    """

    worker: Worker

    def __init__(self, bundling: Bundling) -> None:
        self.pace = Pace(bundling)
        self.runs: dict[int, RunRequest] = {}
        self.sent_s = self.heard_s = 0.0
        self.is_told_at_start = False
        self.is_ready = self.is_asked_back = self.is_asked_to_show = False
        self.overdue: list[int] | None = None
        self.shown: RunView | None = None
        self.told: set[int] = set()
        self.at: int | None = None
        self.at_since_s = 0.0
        self.tick = 0

    def at_runs(self) -> list[int]:
        """Return the runs that the worker is at, as its gauge shows: several where they are stepped together."""
        gauge = self.worker.gauge
        last, first = gauge.last_id, gauge.run_id  # in this order: it may go on meanwhile
        if first is None or first not in self.runs:
            return []
        if last is None or last == first or last not in self.runs:
            return [first]
        held = list(self.runs)
        return held[held.index(first) : held.index(last) + 1] or [first]

    def suspects(self) -> list[int]:
        """Return the runs on whose account the worker may have died: those it was at, or could not send."""
        if self.overdue is not None:
            return [run_id for run_id in self.overdue if run_id in self.runs]
        gauge, held = self.worker.gauge, list(self.runs)
        unsent = held[: held.index(gauge.ended_id) + 1] if gauge.ended_id in self.runs else []
        return (unsent if gauge.is_sending else []) or self.at_runs() or unsent

    def progress(self, now_s: float) -> Iterator[LaneReport]:
        """Report the runs that the worker is at, or will be at first, as far as that is not told yet."""
        at = self.at_runs()
        for run_id in at or [*self.runs][:1]:
            if run_id not in self.told:
                self.told.add(run_id)
                self.tick = 0
                yield RunStarted(self.runs[run_id].run)
        if not at:
            return
        tick = self.worker.gauge.tick
        if tick != self.tick:
            self.tick = tick
            yield RunAdvanced(at[0], tick, 0.0) if len(at) == 1 else BatchAdvanced(tuple(at), tick, 0.0)
        self._hurry(at[0], now_s)

    def _hurry(self, run_id: int, now_s: float) -> None:
        """Have the worker send what it holds back for company, once it is at one run for a while."""
        if self.at != run_id:
            self.at, self.at_since_s = run_id, now_s
        elif now_s - self.at_since_s >= LOOK_S and next(iter(self.runs)) != run_id:
            self.at_since_s = math.inf
            self.worker.send(WorkerOrder.SEND)
