"""Lanes that tests move, and a sweep over them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence

import henad_web as hw
from henad_web.explore.measure import MeasurePlan
from henad_web.explore.plan import Plan
from henad_web.output.first_manifest import Author
from henad_web.output.store import MemoryStore
from henad_web.run.control import IDLE, NOW, Answer
from henad_web.run.lanes import (
    CommandAcknowledged,
    InProcessLane,
    LaneCommand,
    LaneReport,
    RunEnded,
    RunStarted,
    RunView,
)
from henad_web.run.layout import ExecutionLayout, LaneKind, MachineResources
from henad_web.run.requests import RunRequest
from henad_web.run.source import RunSource
from henad_web.sweep import Surroundings, Sweep, SweepSetup
from henad_web.targets import runtime_here
from tests.shared.hosts import ManualClock
from tests.shared.toy_models import Toy, entry_of

__all__ = ["Bench", "LanesInAnyOrder"]


class LanesInAnyOrder:
    """Three lanes whose runs end in the order a test asks for.

    Once `unanswered` is a list, what they acknowledge waits there until `obey` reports it.
    """

    def __init__(self, inner: InProcessLane, width: int = 3) -> None:
        self._inner, self._width = inner, width
        self.held: dict[int, RunRequest] = {}
        self.commands: list[LaneCommand] = []
        self.reports: list[LaneReport] = []
        self.is_closed = False
        self.unanswered: list[LaneReport] | None = None
        self.fault: Exception | None = None
        self.quiet: Answer = IDLE

    def submit(self, request: RunRequest) -> bool:
        if len(self.held) >= self._width:
            return False
        self.held[request.run.run_id] = request
        self.reports.append(RunStarted(request.run))
        return True

    def end(self, run_id: int) -> None:
        """Step run `run_id` to its end and report it with the next poll."""
        assert self._inner.submit(self.held.pop(run_id))
        while True:
            for report in self._inner.poll():
                if isinstance(report, RunEnded):
                    self.reports.append(report)
                    return

    def poll(self, time_left_s: float | None = None) -> Sequence[LaneReport]:
        if self.fault is not None:
            raise self.fault
        reports, self.reports = self.reports, []
        return reports

    def when_quiet(self) -> Answer:
        return self.quiet

    def command(self, command: LaneCommand) -> None:
        self.commands.append(command)
        (self.reports if self.unanswered is None else self.unanswered).append(CommandAcknowledged(command))

    def obey(self) -> None:
        """Report that every lane obeys the first command that was not answered yet."""
        assert self.unanswered
        self.reports.append(self.unanswered.pop(0))

    def view(self) -> RunView | None:
        return None

    def close(self) -> None:
        self.is_closed = True


class Bench:
    """A sweep on lanes that a test drives, of eight runs of a toy unless it gives another one."""

    def __init__(
        self,
        clock: ManualClock,
        store: MemoryStore | None = None,
        runs: int = 8,
        source_of: Callable[[Plan], RunSource] | None = None,
        entry: hw.ModelEntry | None = None,
        spec: hw.SweepSpec | None = None,
    ) -> None:
        entry = entry_of(Toy) if entry is None else entry
        if spec is None:
            spec = hw.SweepSpec(
                model="toy",
                run=hw.RunSettings(steps=4, replicates=runs),
                measure=hw.MeasureSettings(stats_every=2),
            )
        self.clock, self.entry, self.plan = clock, entry, spec.plan(entry.schema())
        self.store = MemoryStore() if store is None else store
        around = Surroundings(
            clock=clock,
            author=Author(runtime=runtime_here(worker_threads=3, target="browser"), wall_clock=clock),
            resources=MachineResources(workers=3),
            make_lanes=self._make_lanes,
            series_budget=1 << 20,
        )
        setup = SweepSetup.of(entry, self.plan, self.store, hw.SweepRunOptions(concurrency=3), around)
        self.setup = setup if source_of is None else dataclasses.replace(setup, source=source_of(self.plan))
        self.sweep = Sweep(self.setup)
        self.channel, self.control, self.active_runs = self.sweep.channel, self.sweep.control, self.sweep.active_runs
        self.events: list[hw.SweepEvent] = []

    def _make_lanes(
        self, entry: hw.ModelEntry, measure: MeasurePlan, layout: ExecutionLayout, notify: Callable[[], None]
    ) -> LanesInAnyOrder:
        assert layout == ExecutionLayout(cpu_lanes=3, threads_per_lane=1, kind=LaneKind.PROCESS)
        inner = InProcessLane(entry, measure, slice_target_s=1.0, clock=self.clock)
        self.lanes = LanesInAnyOrder(inner)
        self.notify = notify
        return self.lanes

    def pump(self) -> None:
        """Pump until there is nothing left to do."""
        while self.sweep.pump() == NOW:
            pass
        self.events.extend(iter(self.channel.try_recv, None))

    def end(self, run_ids: Iterable[int]) -> None:
        for run_id in run_ids:
            self.lanes.end(run_id)
            self.pump()

    def written(self) -> list[int]:
        return [event.outcome.run.run_id for event in self.events if isinstance(event, hw.RunFinished)]

    def rows(self) -> list[str]:
        return [line.split(",")[0] for line in self.store.read("runs.csv").decode().splitlines()[1:]]
