"""A sweep over several lanes: outcomes in plan order, prefixes, faults outside every run, a full disk."""

from __future__ import annotations

import dataclasses
import gc
from collections.abc import Callable, Iterable, Iterator, Sequence

import pytest

import henad_web as hw
from henad_web.explore.measure import MeasurePlan
from henad_web.explore.plan import Plan
from henad_web.output.first_manifest import Author
from henad_web.output.store import MemoryStore
from henad_web.pumped import PumpedRunner
from henad_web.run.control import IDLE, NOW, After, Answer
from henad_web.run.lanes import (
    CommandAcknowledged,
    InProcessLane,
    LaneCommand,
    LaneNotice,
    LaneReport,
    RunAdvanced,
    RunEnded,
    RunLost,
    RunStarted,
    RunView,
)
from henad_web.run.layout import ExecutionLayout, LaneKind, MachineResources
from henad_web.run.requests import RunRequest
from henad_web.run.source import RunSource
from henad_web.sweep import Surroundings, Sweep, SweepSetup
from henad_web.targets import runtime_here
from tests.shared.hosts import Host, ManualClock
from tests.shared.toy_models import Toy, entry_of


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
    """A sweep of eight runs of a toy on lanes that a test drives."""

    def __init__(
        self,
        clock: ManualClock,
        store: MemoryStore | None = None,
        runs: int = 8,
        source_of: Callable[[Plan], RunSource] | None = None,
    ) -> None:
        entry = entry_of(Toy)
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
        self.sweep = Sweep(setup if source_of is None else dataclasses.replace(setup, source=source_of(self.plan)))
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


def test_outcomes_are_written_in_plan_order_whatever_order_they_finish_in(clock: ManualClock) -> None:
    bench = Bench(clock)
    bench.pump()
    assert sorted(bench.lanes.held) == [0, 1, 2], "every lane has a run"
    bench.end([2, 1])
    assert bench.written() == []
    assert bench.active_runs.waiting_count == 2
    assert [active.run.run_id for active in bench.active_runs.list()] == [0, 3, 4]
    bench.end([0])
    assert bench.written() == [0, 1, 2]
    assert bench.active_runs.waiting_count == 0
    bench.end([5, 4, 3, 7, 6])
    assert bench.written() == list(range(8))
    assert isinstance(bench.events[-1], hw.Finished)
    assert bench.rows() == [str(run_id) for run_id in range(8)]


def test_the_files_do_not_depend_on_the_order_of_finishing(clock: ManualClock) -> None:
    files = []
    for order in ([0, 1, 2, 3, 4, 5, 6, 7], [2, 1, 0, 5, 4, 3, 7, 6], [1, 2, 3, 0, 4, 6, 5, 7]):
        bench = Bench(clock)
        bench.pump()
        bench.end(order)
        last = bench.events[-1]
        assert isinstance(last, hw.Finished)
        assert last.record.files is not None
        files.append(hw.masked(last.record.files))
    assert files[0] == files[1] == files[2]


def test_an_abort_leaves_a_prefix_and_drops_the_runs_that_wait(clock: ManualClock) -> None:
    bench = Bench(clock)
    bench.pump()
    bench.end([0, 2])
    bench.control.abort()
    bench.pump()
    assert bench.rows() == ["0"]
    assert bench.active_runs.list() == ()
    assert bench.active_runs.waiting_count == 0
    assert bench.lanes.commands[-1] is LaneCommand.ABORT
    assert bench.lanes.is_closed
    last = bench.events[-1]
    assert isinstance(last, hw.Finished)
    assert last.record.report.end is hw.SweepEnd.ABORTED


def test_a_pause_reaches_the_lanes_and_hands_out_no_run(clock: ManualClock) -> None:
    bench = Bench(clock)
    bench.pump()
    bench.control.pause()
    bench.lanes.end(0)
    bench.pump()
    assert bench.lanes.commands == [LaneCommand.PAUSE]
    assert sorted(bench.lanes.held) == [1, 2], "no run takes the free lane"
    assert bench.written() == [0], "what finished is written although the sweep is paused"
    bench.control.resume()
    bench.pump()
    assert bench.lanes.commands == [LaneCommand.PAUSE, LaneCommand.RESUME]
    assert sorted(bench.lanes.held) == [1, 2, 3]


def test_a_pause_is_complete_when_every_lane_has_acknowledged_it(clock: ManualClock) -> None:
    bench = Bench(clock)
    run = hw.SweepRun(bench.plan, bench.sweep, PumpedRunner(bench.sweep, clock))
    bench.pump()
    bench.lanes.unanswered = []
    run.pause()
    bench.pump()
    assert (run.is_paused, run.is_held) == (True, False), "a lane may still be in its slice"
    bench.lanes.reports.append(RunAdvanced(1, 2, 0.0))
    bench.lanes.end(0)
    bench.pump()
    assert [active.tick for active in bench.active_runs.list()] == [2, 0], "what moved until then is heard"
    assert bench.written() == [0]
    assert not run.is_held
    bench.lanes.obey()
    bench.pump()
    assert run.is_held
    run.resume()
    assert not run.is_held, "a pause that was resumed holds nothing, whatever the lanes have heard"


def test_an_acknowledgement_of_an_earlier_pause_does_not_complete_a_later_one(clock: ManualClock) -> None:
    bench = Bench(clock)
    bench.pump()
    bench.lanes.unanswered = []
    for command in (bench.control.pause, bench.control.resume, bench.control.pause):
        command()
        bench.pump()
    assert bench.lanes.commands == [LaneCommand.PAUSE, LaneCommand.RESUME, LaneCommand.PAUSE]
    held = []
    for _ in range(3):
        bench.lanes.obey()
        bench.pump()
        held.append(bench.control.is_held)
    assert held == [False, False, True]
    for is_answered in (False, True):
        bench.control.resume()
        bench.pump()
        if is_answered:
            bench.lanes.obey()
            bench.pump()
        bench.control.pause()
        assert not bench.control.is_held, "the lanes were told to go on since"


def test_a_pause_behind_the_last_run_is_complete(clock: ManualClock) -> None:
    bench = Bench(clock, runs=3)
    bench.pump()
    bench.lanes.unanswered = []
    bench.control.pause()
    bench.end([0, 1, 2])
    assert bench.lanes.is_closed
    assert bench.control.is_held, "whoever waits for it would wait for ever"


def test_no_pause_is_complete_while_the_lanes_are_told_to_go_on(
    clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(clock)
    bench.pump()
    bench.control.pause()
    bench.pump()
    held = [bench.control.is_held]

    def command(command: LaneCommand) -> None:
        bench.control.pause()  # as the host does on its own thread
        held.append(bench.control.is_held)

    monkeypatch.setattr(bench.lanes, "command", command)
    bench.control.resume()
    bench.sweep.pump()
    assert held == [True, False]


def test_finished_runs_that_wait_count_in_the_time_left(clock: ManualClock) -> None:
    bench = Bench(clock)
    run = hw.SweepRun(bench.plan, bench.sweep, PumpedRunner(bench.sweep, clock))
    bench.pump()
    clock.advance(12.0)
    bench.end([2])
    assert run.progress().remaining is None, "no run is written yet"
    bench.end([0, 3])
    progress = run.progress()
    assert (progress.runs_done, progress.runs_waiting, progress.runs_total) == (1, 2, 8)
    assert progress.runs_stepped == 3.0
    bench.lanes.reports.append(RunAdvanced(1, 3, 0.0))
    bench.pump()
    assert run.progress().runs_stepped == 3.75, "three of the four ticks of run 1"
    assert progress.remaining == pytest.approx(12.0 * 5 / 3)
    assert run.progress().remaining == pytest.approx(12.0 * 4.25 / 3.75)


def test_each_command_wakes_the_runner_once(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    bench, woken = Bench(clock), []
    monkeypatch.setattr(PumpedRunner, "notify", lambda runner: woken.append(runner))
    run = hw.SweepRun(bench.plan, bench.sweep, PumpedRunner(bench.sweep, clock))
    for command, count in ((run.pause, 1), (run.pause, 1), (run.resume, 2), (run.resume, 2), (run.abort, 3)):
        command()
        assert len(woken) == count, command.__name__


@pytest.mark.parametrize("is_ended", [False, True])
def test_a_handle_that_is_dropped_wakes_the_runner_unless_it_has_ended(
    clock: ManualClock, monkeypatch: pytest.MonkeyPatch, is_ended: bool
) -> None:
    bench, woken = Bench(clock, runs=3), list[PumpedRunner]()
    run = hw.SweepRun(bench.plan, bench.sweep, PumpedRunner(bench.sweep, clock))
    bench.pump()
    for run_id in range(3) if is_ended else ():
        bench.lanes.end(run_id)
    while is_ended and not run.is_ended:
        bench.sweep.pump()
        run.try_recv()
    monkeypatch.setattr(PumpedRunner, "notify", lambda runner: woken.append(runner))
    del run
    gc.collect()
    assert (len(woken), bench.control.is_aborted) == ((0, False) if is_ended else (1, True))


def test_the_ticks_that_lanes_report_are_listed(clock: ManualClock) -> None:
    bench = Bench(clock)
    bench.pump()
    bench.lanes.reports.append(RunAdvanced(1, 3, 0.0))
    bench.pump()
    assert [active.tick for active in bench.active_runs.list()] == [0, 3, 0]


def test_lanes_say_when_to_look_again_and_wake_the_runner(clock: ManualClock, monkeypatch: pytest.MonkeyPatch) -> None:
    bench, woken = Bench(clock), list[PumpedRunner]()
    monkeypatch.setattr(PumpedRunner, "notify", lambda runner: woken.append(runner))
    PumpedRunner(bench.sweep, clock)
    bench.pump()
    assert bench.sweep.pump() == IDLE
    bench.lanes.quiet = After(0.1)
    assert bench.sweep.pump() == After(0.1)
    bench.notify()
    assert len(woken) == 1


def test_a_run_whose_lane_dies_is_listed_no_more_until_it_starts_again(clock: ManualClock) -> None:
    bench = Bench(clock)
    bench.pump()
    bench.lanes.reports += [RunAdvanced(1, 3, 0.0), RunLost(1), RunAdvanced(1, 4, 0.0)]
    bench.pump()
    assert [active.run.run_id for active in bench.active_runs.list()] == [0, 2]
    bench.lanes.reports.append(RunStarted(bench.plan.run(1)))
    bench.pump()
    assert [(active.run.run_id, active.tick) for active in bench.active_runs.list()] == [(0, 0), (1, 0), (2, 0)]
    bench.end([0, 1])
    assert bench.written() == [0, 1]


def test_a_lane_may_die_before_it_tells_of_a_start(clock: ManualClock) -> None:
    bench = Bench(clock)
    bench.pump()
    bench.lanes.reports.append(RunLost(0))
    bench.end([0])
    assert bench.written() == [0], "its outcome comes without a start before it"


def test_what_lanes_have_to_say_is_a_warning_of_the_sweep(clock: ManualClock) -> None:
    bench = Bench(clock, runs=3)
    bench.pump()
    bench.lanes.reports.append(LaneNotice("there is one lane only"))
    bench.end([0, 1, 2])
    assert [str(event) for event in bench.events if isinstance(event, hw.Warned)] == ["there is one lane only"]
    last = bench.events[-1]
    assert isinstance(last, hw.Finished)
    assert last.record.report.warnings == (LaneNotice("there is one lane only"),)


def test_a_lane_that_breaks_ends_the_sweep_with_what_is_written(clock: ManualClock) -> None:
    bench = Bench(clock)
    bench.pump()
    bench.end([0])
    bench.lanes.fault = RuntimeError("the lane is gone")
    bench.pump()
    last = bench.events[-1]
    assert isinstance(last, hw.Failed)
    assert last.message.startswith("while running the sweep, RuntimeError at test_sweep_lanes.py:")
    assert bench.lanes.is_closed
    assert bench.rows() == ["0"]
    assert b'"status": "failed"' in bench.store.read("manifest.json")


def test_lanes_are_closed_by_what_ends_the_sweep_as_it_is_planned(clock: ManualClock) -> None:
    bench = Bench(clock)

    def interrupt() -> None:
        raise KeyboardInterrupt

    bench.channel.listener = interrupt
    with pytest.raises(KeyboardInterrupt):
        bench.pump()
    assert bench.lanes.is_closed


class BrokenStore(MemoryStore):
    """Memory that cannot be written once it is told so."""

    is_broken = False

    def flush(self) -> None:
        if self.is_broken:
            raise hw.OutputError("the results cannot be written")
        super().flush()


def test_a_place_that_cannot_be_written_aborts_every_lane(clock: ManualClock) -> None:
    store = BrokenStore()
    bench = Bench(clock, store)
    bench.pump()
    bench.end([0])
    store.is_broken = True
    bench.end([2, 1])
    last = bench.events[-1]
    assert isinstance(last, hw.Failed)
    assert last.message == "the results cannot be written"
    assert bench.control.is_aborted, "the lanes were told to stop"
    assert bench.lanes.is_closed
    assert bench.written() == [0]
    assert bench.active_runs.list() == ()


def test_a_second_error_is_told_behind_the_first(clock: ManualClock) -> None:
    bench = Bench(clock, FullAt("replace", "manifest.json", after=1))
    bench.pump()
    bench.lanes.fault = RuntimeError("the lane is gone")
    bench.pump()
    last = bench.events[-1]
    assert isinstance(last, hw.Failed)
    assert last.message.endswith(": the lane is gone; and then: no room is left")
    assert b'"status": "running"' in bench.store.read("manifest.json")


def test_lanes_that_do_not_close_keep_no_manifest_at_running(
    clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(clock)
    bench.pump()

    def close() -> None:
        raise RuntimeError("a lane would not go")

    monkeypatch.setattr(bench.lanes, "close", close)
    bench.lanes.fault = RuntimeError("the lane is gone")
    bench.pump()
    last = bench.events[-1]
    assert isinstance(last, hw.Failed)
    assert ": the lane is gone; and then: " in last.message
    assert "a lane would not go" in last.message
    assert b'"status": "failed"' in bench.store.read("manifest.json")


class FullStore(MemoryStore):
    """Memory that has no room for a while."""

    def __init__(self) -> None:
        super().__init__()
        self.is_full = False

    def flush(self) -> None:
        if self.is_full:
            self._appended.clear()
            raise hw.OutputFullError("results")
        super().flush()


def test_a_full_disk_pauses_the_sweep_and_loses_nothing(clock: ManualClock) -> None:
    store = FullStore()
    bench = Bench(clock, store)
    bench.pump()
    store.is_full = True
    bench.end([0])
    warnings = [event.warning for event in bench.events if isinstance(event, hw.Warned)]
    assert [type(warning) for warning in warnings] == [hw.OutputPaused]
    assert bench.control.is_paused
    assert bench.control.is_held, "the lanes hold their runs, too"
    assert bench.lanes.commands == [LaneCommand.PAUSE]
    assert bench.written() == []
    bench.control.resume()
    bench.pump()
    assert bench.control.is_paused, "there is still no room"
    store.is_full = False
    bench.control.resume()
    bench.pump()
    bench.end([1, 2, 3, 4, 5, 6, 7])
    assert bench.written() == list(range(8))
    assert bench.rows() == [str(run_id) for run_id in range(8)]


def test_a_pause_is_complete_though_there_is_no_room_at_that_moment(clock: ManualClock) -> None:
    store = FullStore()
    bench = Bench(clock, store)
    bench.pump()
    store.is_full = True
    bench.control.pause()
    bench.end([0])
    assert bench.control.is_held
    assert not [event for event in bench.events if isinstance(event, hw.Warned)], "it is paused already"


def test_the_last_run_waits_for_room_too(clock: ManualClock) -> None:
    store = FullStore()
    bench = Bench(clock, store, runs=3)
    bench.pump()
    bench.end([0, 1])
    store.is_full = True
    bench.end([2])
    store.is_full = False
    bench.pump()
    assert bench.written() == [0, 1], "nobody has said that there is room"
    bench.control.resume()
    bench.pump()
    assert bench.rows() == ["0", "1", "2"]


class FullAt(MemoryStore):
    """Memory that has no room at one call of one method that names one file: the first, or the one `after` others."""

    def __init__(self, method: str, name: str, after: int = 0) -> None:
        super().__init__()
        self._fault, self._before = (method, name), after

    def _refuse(self, *call: str) -> None:
        if call == self._fault:
            self._before -= 1
            if self._before == -1:
                raise hw.OutputFullError("no room is left")

    def create(self, name: str, header: bytes) -> None:
        self._refuse("create", name)
        super().create(name, header)

    def replacing(self, name: str, chunks: Iterable[bytes]) -> Iterator[int]:
        self._refuse("replace", name)
        return super().replacing(name, chunks)


@pytest.mark.parametrize(
    ("method", "name"), [("create", "series.csv"), ("replace", "manifest.json"), ("replace", "summary.csv")]
)
def test_a_full_disk_at_the_start_or_the_end_pauses_too(clock: ManualClock, method: str, name: str) -> None:
    bench = Bench(clock, FullAt(method, name), runs=3)
    bench.pump()
    if name == "summary.csv":
        bench.end([0, 1, 2])
    assert bench.control.is_paused
    assert isinstance(bench.events[-1], hw.Warned)
    assert str(bench.events[-1].warning).startswith("the sweep is paused, because no room is left")
    bench.control.resume()
    bench.pump()
    bench.end(sorted(bench.lanes.held))
    assert isinstance(bench.events[-1], hw.Finished)
    assert bench.rows() == ["0", "1", "2"]


def test_a_full_disk_and_an_abort_end_the_sweep_as_failed(clock: ManualClock) -> None:
    store = FullStore()
    bench = Bench(clock, store)
    bench.pump()
    store.is_full = True
    bench.end([0])
    bench.control.abort()
    bench.pump()
    assert isinstance(bench.events[-1], hw.Failed)
    assert bench.rows() == []


def test_a_sweep_that_is_over_is_idle(clock: ManualClock) -> None:
    bench = Bench(clock, runs=3)
    bench.pump()
    bench.end([0, 1, 2])
    assert bench.sweep.is_over
    assert bench.sweep.pump() == IDLE
    assert bench.sweep.view() is None


def test_three_grid_sizes_and_three_replicates_are_nine_outcomes_in_plan_order(stepped: Host) -> None:
    widths = hw.FactorSpec(param="grid_width", levels=hw.ValueLevels(values=(16, 20, 24)))
    spec = hw.SweepSpec(
        model="sir",
        fixed=(("grid_height", 24),),
        run=hw.RunSettings(steps=40, replicates=3),
        measure=hw.MeasureSettings(stats_every=3, series_every=6),
        blocks=(hw.BlockSpec(factors=(widths,)),),
    )
    events = stepped.drain(stepped.start(hw.example_models()["sir"], spec))
    outcomes = [event.outcome for event in events if isinstance(event, hw.RunFinished)]
    assert [outcome.run.run_id for outcome in outcomes] == list(range(9))
    assert {(str(outcome.status), outcome.ticks) for outcome in outcomes} == {("ok", 40)}
    assert {tuple(outcome.series.ticks.tolist()) for outcome in outcomes} == {(0, 6, 12, 18, 24, 30, 36, 40)}


def test_a_lane_tells_of_a_run_then_of_its_build_at_tick_0_then_of_each_slice(clock: ManualClock) -> None:
    entry = entry_of(Toy)
    plan = hw.SweepSpec(model="toy", run=hw.RunSettings(steps=3)).plan(entry.schema())
    lane = InProcessLane(entry, MeasurePlan.bind(plan, ("Ticks",)), slice_target_s=1.0, clock=clock)
    assert lane.submit(RunRequest.of(plan, plan.run(0)))
    assert [lane.poll() for _ in range(3)] == [
        [RunStarted(plan.run(0))],
        [RunAdvanced(0, 0, 0.0)],
        [RunAdvanced(0, 1, 0.0)],
    ]
    (ended,) = lane.poll()
    assert isinstance(ended, RunEnded)
    assert (ended.outcome.run.run_id, ended.outcome.ticks) == (0, 3)
