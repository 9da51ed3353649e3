"""What a worker of an executor does: steps a span of runs in a lane's process of its own, and sends what came of them.

Owns everything that happens on the worker. The executor calls `run_span` there; nothing else of the sweep is there.
"""

from __future__ import annotations

import multiprocessing
import pickle
import platform
import signal
import socket
import threading
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from henad_native.lane_process import LaneSetup
from henad_native.lane_start import left_alone
from henad_native.process_lanes import LaneProcesses, absolute_path
from henad_web.output.build import this_build
from henad_web.run.bundles import Bundling
from henad_web.run.control import After
from henad_web.run.lane_messages import EndedRun
from henad_web.run.lanes import LaneNotice, RunEnded
from henad_web.run.lost_runs import LanesLostError
from henad_web.run.requests import RunRequest
from henad_web.run.worker_lanes import LanesRefusedError, WorkerLanes

__all__ = ["ExecutorSetup", "KEEP_S", "Span", "SpanReply", "build_text", "run_span"]

KEEP_S = 10.0
"""Seconds for which a lane waits on its worker for another span of its sweep, before it ends."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorSetup:
    """What workers need to know of a sweep.

    Attributes:
        sweep: Tells one sweep from another.
        lane: What a lane's process is told first.
        path: Where it looks for modules, before the places where its worker does.
    """

    sweep: str
    lane: LaneSetup
    path: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """Runs for a worker, consecutive ones of those that there are to do.

    Attributes:
        setup: The pickled `ExecutorSetup`.
        requests: The runs, in order.
        rows: How many replicates like a run are stepped together, by config.
        limit_s: Seconds after which no run of it is begun any more.
    """

    setup: bytes
    requests: tuple[RunRequest, ...]
    rows: Mapping[int, int]
    limit_s: float


class SpanReply(NamedTuple):
    """What came of a span.

    Attributes:
        ended: Runs that ended.
        notices: What people are to know of the lane.
        refusal: Why the worker steps none of the sweep's runs, in words; None where it does.
    """

    ended: tuple[EndedRun, ...] = ()
    notices: tuple[str, ...] = ()
    refusal: str | None = None


def build_text(*, is_portable: bool) -> str:
    """Return what must be equal on both sides, in words: builds, and the platform where results depend on it."""
    build = this_build()
    sources = "" if build.source_hash is None else f" ({build.source_hash})"
    parts = [
        f"henad-web {build.version}{sources}",
        f"Python {platform.python_version()}",
        f"numpy {np.__version__}",
    ]
    return ", ".join(parts if is_portable else [*parts, f"{platform.system()} {platform.machine()}"])


def run_span(build: str, is_portable: bool, number: int, span: bytes) -> bytes:
    """Step the runs of a span and return the pickled `SpanReply`. The one function that an executor is given.

    Args:
        build: The sweep's `build_text`.
        is_portable: Whether its results are the same on every platform.
        number: Different for each call: an executor may otherwise answer with what it had for an equal one.
        span: A pickled `Span`.
    """
    _leave_interrupts()
    here = build_text(is_portable=is_portable)
    if here != build:
        text = f"has another build: {here}; the sweep has {build}; give both the same environment"
        reply = SpanReply(refusal=f"a worker on {socket.gethostname()} {text}")
    else:
        reply = _replied(pickle.loads(span))
    return pickle.dumps(reply, pickle.HIGHEST_PROTOCOL)


def _replied(span: Span) -> SpanReply:
    lane = _taken(span.setup)
    try:
        ended, notices = lane.step(span)
    except LanesRefusedError as refused:
        lane.close()
        return SpanReply(refusal=f"a worker on {socket.gethostname()} cannot step the model: {refused}")
    except LanesLostError as lost:  # its own class asks for more than its text, which is what would come back
        lane.close()
        raise RuntimeError(f"on {socket.gethostname()}, {lost}") from None
    except BaseException:
        lane.close()
        raise
    _keep(span.setup, lane)
    return SpanReply(tuple(ended), tuple(notices))


def _leave_interrupts() -> None:
    """Leave a Ctrl-C, which a whole group of processes gets, to the sweep, if this process is only a worker."""
    is_child = multiprocessing.parent_process() is not None
    if is_child and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, left_alone)


class _SpanLane:
    """A lane in a process of its own, to step spans of one sweep."""

    def __init__(self, setup: ExecutorSetup) -> None:
        self._due = threading.Event()
        self._rows: Mapping[int, int] = {}
        here = absolute_path()
        path = [*setup.path, *(place for place in here if place not in setup.path)]
        processes = LaneProcesses(setup.lane, 1, path)
        self._lanes = WorkerLanes(
            processes.start,
            1,
            measure=setup.lane.measure,
            clock=time.monotonic,
            notify=self._due.set,
            close=processes.close,
            stand_in=None,
            rows_of=lambda request: self._rows[request.run.config_id],
            bundling=Bundling(ahead=1),  # what a lane has is stepped, whether the span's time is over or not
        )

    def step(self, span: Span) -> tuple[list[EndedRun], list[str]]:
        """Return the runs of `span` that ended, at least one, and what is to be told of the lane."""
        self._rows = span.rows
        ended: list[EndedRun] = []
        notices: list[str] = []
        waiting, under_way = deque(span.requests), 0
        deadline = time.monotonic() + span.limit_s
        while waiting or under_way:
            self._due.clear()
            if time.monotonic() >= deadline and (ended or under_way):
                waiting.clear()
                if not under_way:
                    break
            while waiting and self._lanes.submit(waiting[0]):
                waiting.popleft()
                under_way += 1
            reports = self._lanes.poll()
            for report in reports:
                if isinstance(report, RunEnded):
                    ended.append(EndedRun.of(report.outcome))
                    under_way -= 1
                elif isinstance(report, LaneNotice):
                    notices.append(report.text)
            if not reports:
                answer = self._lanes.when_quiet()
                self._due.wait(answer.seconds if isinstance(answer, After) else None)
        return ended, notices

    def close(self) -> None:
        """End the lane's process."""
        self._lanes.close()


_idle: list[tuple[bytes, _SpanLane, threading.Timer]] = []
"""Lanes that wait, each with the setup of its sweep and what ends it."""

_idle_lock = threading.Lock()


def _taken(setup: bytes) -> _SpanLane:
    """Return a lane of the sweep of `setup` that waits, else a new one."""
    with _idle_lock:
        kept = next((kept for kept in _idle if kept[0] == setup), None)
        if kept is not None:
            _idle.remove(kept)
    if kept is None:
        return _SpanLane(pickle.loads(setup))
    kept[2].cancel()
    return kept[1]


def _keep(setup: bytes, lane: _SpanLane) -> None:
    """Have `lane` wait for another span, not for ever."""

    def end() -> None:
        with _idle_lock:
            if kept not in _idle:  # taken meanwhile
                return
            _idle.remove(kept)
        lane.close()

    timer = threading.Timer(KEEP_S, end)
    timer.daemon = True
    kept = (setup, lane, timer)
    with _idle_lock:
        _idle.append(kept)
    timer.start()
