"""A sweep over several lanes: outcomes in plan order, prefixes, faults outside every run, a full disk."""

from __future__ import annotations

import gc

import pytest

import henad_web as hw
from henad_web.explore.measure import MeasurePlan
from henad_web.pumped import PumpedRunner
from henad_web.run.control import IDLE, After
from henad_web.run.lanes import (
    InProcessLane,
    LaneCommand,
    LaneNotice,
    RunAdvanced,
    RunEnded,
    RunLost,
    RunStarted,
)
from henad_web.run.requests import RunRequest
from tests.shared.hosts import Host, ManualClock
from tests.shared.lane_bench import Bench
from tests.shared.toy_models import Toy, entry_of


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
