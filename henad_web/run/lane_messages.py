"""What a sweep and a lane that works elsewhere say to each other, and the gauge that both see.

Owns the vocabulary. How it travels (a pipe, a queue, a message of a page) is the target's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np

from henad_web.explore.outcomes import RunOutcome, RunStatus, RunTable, Series, StopReason
from henad_web.run.lanes import LaneNotice

if TYPE_CHECKING:
    from mmap import mmap

    from henad_web.explore.measure import MeasurePlan
    from henad_web.run.lanes import LaneCommand, RunView
    from henad_web.run.requests import RunRequest

__all__ = [
    "Bundle",
    "BundleLost",
    "EndedRun",
    "EntryRefused",
    "GAUGE_BYTES",
    "Gauge",
    "Hear",
    "LaneOrder",
    "Obeyed",
    "OutcomesSent",
    "RunShown",
    "RunsReturned",
    "Worker",
    "WorkerDied",
    "WorkerMessage",
    "WorkerNotStarted",
    "WorkerOrder",
    "WorkerReady",
]


class WorkerOrder(StrEnum):
    """What a worker is told beside a sweep's commands."""

    GIVE_BACK = "give back"
    SEND = "send"
    SHOW = "show"
    RENEW = "renew"
    CLOSE = "close"


@dataclass(frozen=True, slots=True)
class Bundle:
    """Runs handed over together, to be done one after the other, or several at once where the model offers it.

    Attributes:
        requests: The runs, in order.
        alone: Ids of those that may be part of no batch: a worker died at one.
    """

    requests: tuple[RunRequest, ...]
    alone: frozenset[int] = frozenset()


LaneOrder = Bundle | WorkerOrder
"""What goes to a worker, beside a `LaneCommand`."""


@dataclass(frozen=True, slots=True)
class WorkerReady:
    """The worker has the model and waits for runs."""


@dataclass(frozen=True, slots=True)
class EntryRefused:
    """The worker cannot load the model; `reason` says why."""

    reason: str


class EndedRun(NamedTuple):
    """An outcome without what its request says already, and its series as bytes: a third of the time to send.

    Attributes: those of `RunOutcome`, where `reducers` are values in the order of the columns, `series_ticks` and
    `series_values` the bytes of its arrays, `tables` those of the spec in order.
    """

    run_id: int
    status: RunStatus
    stop_reason: StopReason
    ticks: int
    population: int
    build_ms: float
    wall_ms: float
    reducers: tuple[float | None, ...]
    series_ticks: bytes
    series_values: bytes
    tables: tuple[RunTable, ...]
    note: str
    traceback: str | None

    @classmethod
    def of(cls, outcome: RunOutcome) -> EndedRun:
        """Return `outcome` as it is sent."""
        return cls(
            outcome.run.run_id,
            outcome.status,
            outcome.stop_reason,
            outcome.ticks,
            outcome.population,
            outcome.build_ms,
            outcome.wall_ms,
            tuple(outcome.reducers.values()),
            outcome.series.ticks.tobytes(),
            outcome.series.values.tobytes(),
            tuple(outcome.tables.values()),
            outcome.note,
            outcome.traceback,
        )

    def outcome(self, request: RunRequest, measure: MeasurePlan) -> RunOutcome:
        """Return the outcome of `request` that was measured by `measure`."""
        ticks = np.frombuffer(self.series_ticks, np.int64)
        values = np.frombuffer(self.series_values, np.float64).reshape(len(ticks), len(measure.columns))
        return RunOutcome(
            run=request.run,
            config=request.config,
            run_key=request.run_key,
            status=self.status,
            stop_reason=self.stop_reason,
            ticks=self.ticks,
            population=self.population,
            build_ms=self.build_ms,
            wall_ms=self.wall_ms,
            reducers=dict(zip(measure.reducer_columns, self.reducers, strict=True)),
            series=Series(ticks, values),
            tables={own.id: table for own, table in zip(measure.tables, self.tables, strict=True)},
            note=self.note,
            traceback=self.traceback,
        )


@dataclass(frozen=True, slots=True)
class OutcomesSent:
    """Runs have ended, in the order in which they were handed over."""

    runs: tuple[EndedRun, ...]


@dataclass(frozen=True, slots=True)
class RunsReturned:
    """The worker was told to give back and has not begun these runs; latest first."""

    run_ids: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Obeyed:
    """The worker obeys `command`."""

    command: LaneCommand


@dataclass(frozen=True, slots=True)
class RunShown:
    """The worker was told to show its run, as it stands between two slices; None where there is none."""

    view: RunView | None


@dataclass(frozen=True, slots=True)
class WorkerDied:
    """The worker is gone; `cause` says how, as ``killed by SIGKILL``."""

    cause: str


@dataclass(frozen=True, slots=True)
class BundleLost:
    """The runs that the worker has are lost on the way, and it takes others; `cause` says how."""

    cause: str


@dataclass(frozen=True, slots=True)
class WorkerNotStarted:
    """The system has no room for one more worker; `cause` says so in its words."""

    cause: str


WorkerMessage = (
    WorkerReady
    | EntryRefused
    | OutcomesSent
    | RunsReturned
    | RunShown
    | Obeyed
    | WorkerDied
    | BundleLost
    | WorkerNotStarted
    | LaneNotice
)

Hear = Callable[[WorkerMessage], None]
"""Takes a message of a worker, on any thread."""

GAUGE_BYTES = 48
"""Memory that a gauge needs."""


class Gauge:
    """The runs that a worker is at, their tick and when their limit passes: seen at any moment, also once it is dead.

    Args:
        memory: At least `GAUGE_BYTES` zero bytes, shared by both sides.

    Attributes are written whole, each by the worker alone.
    """

    __slots__ = ("_counts", "_due")

    def __init__(self, memory: bytearray | mmap) -> None:
        words = memoryview(memory)[:GAUGE_BYTES]
        self._counts, self._due = words[:40].cast("q"), words[40:].cast("d")

    @property
    def run_id(self) -> int | None:
        """Run in progress, the first of those that are stepped together; None between two."""
        return self._id_at(0)

    @property
    def last_id(self) -> int | None:
        """Last of the runs that are stepped together; read before `run_id`, as a worker writes it behind that one."""
        return self._id_at(2)

    @property
    def ended_id(self) -> int | None:
        """Run that ended last, None before the first; its outcome may wait to be sent."""
        return self._id_at(3)

    @ended_id.setter
    def ended_id(self, run_id: int) -> None:
        self._counts[3] = run_id + 1

    @property
    def is_sending(self) -> bool:
        """Whether the worker is sending a message, or could not."""
        return bool(self._counts[4])

    @is_sending.setter
    def is_sending(self, is_sending: bool) -> None:
        self._counts[4] = is_sending

    @property
    def tick(self) -> int:
        """Tick that the run in progress has reached."""
        return self._counts[1]

    @tick.setter
    def tick(self, tick: int) -> None:
        self._counts[1] = tick

    @property
    def due_s(self) -> float | None:
        """Reading of the monotonic clock at which the step being done passes its run's limit, None without one."""
        return self._due[0] or None

    @due_s.setter
    def due_s(self, due_s: float | None) -> None:
        self._due[0] = due_s or 0.0

    def copy(self) -> Gauge:
        """Return what it shows now, in memory of its own."""
        return Gauge(bytearray(self._counts.tobytes() + self._due.tobytes()))

    def begin(self, run_id: int, last_id: int | None = None) -> None:
        """Show run `run_id` at tick 0, and those up to run `last_id` that are stepped together with it."""
        self._counts[1] = 0
        self._counts[0] = run_id + 1
        self._counts[2] = (run_id if last_id is None else last_id) + 1

    def end(self) -> None:
        """Show that no run is in progress."""
        self._counts[0] = 0

    def _id_at(self, word: int) -> int | None:
        run_id = self._counts[word] - 1
        return None if run_id < 0 else run_id


class Worker(Protocol):
    """One lane that works elsewhere, as its sweep holds it.

    - `gauge` is what it shows.
    - `send` tells it something; a worker that is gone hears nothing.
    - `kill` ends it where it stands, and its death is told; False where that cannot be done.
    """

    @property
    def gauge(self) -> Gauge:
        """What the worker shows of itself."""

    def send(self, order: LaneOrder | LaneCommand) -> None:
        """Tell the worker `order`."""

    def kill(self) -> bool:
        """End the worker where it stands; return whether that can be done."""
