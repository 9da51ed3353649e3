"""Workers that tests play, and the lanes over them."""

from __future__ import annotations

import henad_web as hw
from henad_web.explore.measure import MeasurePlan
from henad_web.explore.outcomes import RunOutcome, RunStatus, StopReason
from henad_web.run.bundles import Bundling
from henad_web.run.lane_messages import (
    GAUGE_BYTES,
    Bundle,
    BundleLost,
    EndedRun,
    Gauge,
    Hear,
    LaneOrder,
    OutcomesSent,
    WorkerDied,
    WorkerReady,
)
from henad_web.run.lanes import (
    InProcessLane,
    LaneCommand,
    LaneReport,
    RunEnded,
)
from henad_web.run.late_bundles import Patience
from henad_web.run.requests import RunRequest
from henad_web.run.worker_lanes import WorkerLanes
from tests.shared.hosts import ManualClock
from tests.shared.toy_models import Toy, entry_of

__all__ = ["PlayedWorker", "Stage", "ended"]


class PlayedWorker:
    """A worker that does what a test says."""

    def __init__(self, hear: Hear) -> None:
        self.hear, self.gauge = hear, Gauge(bytearray(GAUGE_BYTES))
        self.orders: list[LaneOrder | LaneCommand] = []
        self.is_killed = False

    def send(self, order: LaneOrder | LaneCommand) -> None:
        self.orders.append(order)

    def kill(self) -> bool:
        self.is_killed = True
        return True

    @property
    def bundles(self) -> list[list[int]]:
        """Ids of the runs of each bundle it was sent."""
        orders = [order for order in self.orders if isinstance(order, Bundle)]
        return [[request.run.run_id for request in order.requests] for order in orders]


class Stage:
    """Lanes over workers that a test plays, and runs for them."""

    def __init__(
        self,
        clock: ManualClock,
        count: int = 2,
        runs: int = 400,
        timeout_s: float | None = None,
        rows: int = 1,
        closed: list[float] | None = None,
        room: int | None = None,
        bundling: Bundling | None = None,
        has_stand_in: bool = True,
        patience: Patience | None = None,
    ) -> None:
        entry = entry_of(Toy)
        spec = hw.SweepSpec(model="toy", run=hw.RunSettings(steps=4, replicates=runs, timeout_s=timeout_s))
        self.clock, self.plan = clock, spec.plan(entry.schema())
        self.measure = MeasurePlan.bind(self.plan, ("Ticks",))
        self.workers: list[PlayedWorker] = []
        self.room = room
        self.notified = self.next_run = 0
        self.closed: list[float] = [] if closed is None else closed
        self.lanes = WorkerLanes(
            self._start,
            count,
            measure=self.measure,
            clock=clock,
            notify=self._notify,
            close=self.closed.append,
            stand_in=self._in_caller if has_stand_in else None,
            rows_of=lambda request: rows,
            bundling=bundling,
            patience=patience,
        )

    def _in_caller(self) -> InProcessLane:
        return InProcessLane(entry_of(Toy), self.measure, slice_target_s=1.0, clock=self.clock)

    def _start(self, hear: Hear) -> PlayedWorker:
        if len(self.workers) == self.room:
            raise OSError("no more files")
        self.workers.append(PlayedWorker(hear))
        return self.workers[-1]

    def _notify(self) -> None:
        self.notified += 1

    def poll(self) -> list[LaneReport]:
        """Hand runs in and poll, as a sweep does, until there is nothing to report."""
        reports: list[LaneReport] = []
        while True:
            while self.next_run < self.plan.run_count and self.lanes.submit(self.request(self.next_run)):
                self.next_run += 1
            came = self.lanes.poll()
            if not came:
                return reports
            reports += came

    def request(self, run_id: int) -> RunRequest:
        return RunRequest.of(self.plan, self.plan.run(run_id))

    def ready(self) -> list[LaneReport]:
        for worker in self.workers:
            worker.hear(WorkerReady())
        return self.poll()

    def outcome(self, run_id: int, wall_ms: float) -> RunOutcome:
        reducers, series = self.measure.sampler().finish()
        run = self.plan.run(run_id)
        return RunOutcome(
            run=run,
            config=self.request(run_id).config,
            run_key=self.plan.run_key(run),
            status=RunStatus.OK,
            stop_reason=StopReason.STEPS,
            ticks=4,
            population=8,
            build_ms=0.0,
            wall_ms=wall_ms,
            reducers=reducers,
            series=series,
        )

    def end(self, worker: PlayedWorker, *run_ids: int, wall_ms: float = 1.0) -> list[LaneReport]:
        """Have `worker` end runs."""
        outcomes = tuple(self.outcome(run_id, wall_ms) for run_id in run_ids)
        worker.hear(OutcomesSent(tuple(map(EndedRun.of, outcomes))))
        return self.poll()

    def die(
        self, worker: PlayedWorker, run_id: int | None, cause: str = "killed by SIGSEGV", *, last_id: int | None = None
    ) -> list[LaneReport]:
        """Have `worker` die at `run_id`, or at those up to `last_id` that are stepped together."""
        if run_id is not None:
            worker.gauge.begin(run_id, last_id)
        worker.hear(WorkerDied(cause))
        return self.poll()

    def lose(self, worker: PlayedWorker, cause: str = "gone") -> list[LaneReport]:
        """Have the bundle of `worker` be lost."""
        worker.hear(BundleLost(cause))
        return self.poll()


def ended(reports: list[LaneReport]) -> list[int]:
    return [report.outcome.run.run_id for report in reports if isinstance(report, RunEnded)]
