"""Lanes that work elsewhere: bundles, deaths, limits and commands, with workers that a test plays."""

from __future__ import annotations

import pytest

from henad_web.explore.outcomes import RunStatus, StopReason
from henad_web.run.bundles import BUNDLE_S, MAX_BUNDLE
from henad_web.run.control import IDLE, After
from henad_web.run.lane_messages import (
    EndedRun,
    EntryRefused,
    Hear,
    Obeyed,
    OutcomesSent,
    RunShown,
    RunsReturned,
    WorkerNotStarted,
    WorkerOrder,
    WorkerReady,
)
from henad_web.run.lanes import (
    CommandAcknowledged,
    LaneCommand,
    LaneNotice,
    RunAdvanced,
    RunEnded,
    RunLost,
    RunStarted,
    RunView,
)
from henad_web.run.lost_runs import LanesLostError
from henad_web.run.worker_lane import LOOK_S
from henad_web.run.worker_lanes import KILL_GRACE_S
from tests.shared.hosts import ManualClock
from tests.shared.played_workers import PlayedWorker, Stage, ended


def test_each_lane_gets_one_run_until_its_pace_is_known(clock: ManualClock) -> None:
    stage = Stage(clock)
    assert stage.poll() == [], "no worker is ready"
    assert stage.lanes.when_quiet() == IDLE
    assert stage.ready() == [RunStarted(stage.plan.run(0)), RunStarted(stage.plan.run(1))]
    assert [worker.bundles for worker in stage.workers] == [[[0]], [[1]]]
    assert stage.notified == 2
    assert stage.lanes.when_quiet() == After(LOOK_S), "ticks and limits are to be looked at"


def test_short_runs_travel_in_bundles_that_last_a_slice_and_long_ones_alone(clock: ManualClock) -> None:
    stage = Stage(clock, count=1, runs=3000)
    stage.ready()
    (worker,) = stage.workers
    held = [0]
    for _ in range(10):
        assert ended(stage.end(worker, *held, wall_ms=0.01)) == held
        held = list(range(held[-1] + 1, stage.next_run))
    assert len(held) == 2 * MAX_BUNDLE, "one bundle waits while another is worked at"
    assert stage.next_run < stage.plan.run_count
    stage.end(worker, *held, wall_ms=BUNDLE_S * 1000.0)
    held = list(range(held[-1] + 1, stage.next_run))
    assert len(held) == 2, "one runs, one waits"
    assert ended(stage.end(worker, *held, wall_ms=0.01)) == held
    assert stage.next_run - held[-1] - 1 == 4, "and back by doubling"


def test_a_bundle_is_an_even_share_of_what_there_is(clock: ManualClock) -> None:
    stage = Stage(clock, runs=8)
    stage.ready()
    first, second = stage.workers
    first.hear(OutcomesSent((EndedRun.of(stage.outcome(0, 1.0)),)))
    stage.end(second, 1)
    assert (first.bundles[1:], second.bundles[1:]) == ([[2, 3, 4]], [[5, 6, 7]])


def test_a_lane_with_nothing_to_do_gets_runs_that_another_one_has_not_begun(clock: ManualClock) -> None:
    stage = Stage(clock, count=2, runs=4)
    first, second = stage.workers
    first.hear(WorkerReady())
    stage.poll()
    stage.end(first, 0)
    assert [run_id for bundle in first.bundles for run_id in bundle] == [0, 1, 2, 3]
    first.gauge.begin(1)
    second.hear(WorkerReady())
    stage.poll()
    assert first.orders[-1] is WorkerOrder.GIVE_BACK
    first.hear(RunsReturned((3, 2)))
    stage.poll()
    assert second.bundles == [[2]], "in the order of the plan"
    assert first.bundles[-1] == [3]
    assert ended(stage.end(second, 2)) == [2]


def test_a_lane_that_has_nothing_to_give_back_is_asked_once(clock: ManualClock) -> None:
    stage = Stage(clock, count=2, runs=3)
    first, second = stage.workers
    first.hear(WorkerReady())
    stage.poll()
    stage.end(first, 0)
    second.hear(WorkerReady())
    for _ in range(3):
        stage.poll()
        first.hear(RunsReturned(()))
    assert first.orders.count(WorkerOrder.GIVE_BACK) == 1


def test_a_lane_that_got_more_is_asked_again(clock: ManualClock) -> None:
    stage = Stage(clock, count=2, runs=5)
    first, second = stage.workers
    first.hear(WorkerReady())
    stage.poll()
    stage.end(first, 0)
    second.hear(WorkerReady())
    stage.poll()
    first.hear(RunsReturned((4, 3, 2)))
    stage.poll()
    assert (second.bundles, first.bundles[-1]) == ([[2]], [3, 4])
    assert first.orders.count(WorkerOrder.GIVE_BACK) == 1
    stage.end(second, 2)
    assert first.orders.count(WorkerOrder.GIVE_BACK) == 2


def test_ticks_are_read_off_the_gauge_of_the_run_that_is_told(clock: ManualClock) -> None:
    stage = Stage(clock, count=1)
    stage.ready()
    (worker,) = stage.workers
    worker.gauge.begin(0)
    assert stage.poll() == []
    worker.gauge.tick = 3
    assert stage.poll() == [RunAdvanced(0, 3, 0.0)]
    assert ended(stage.end(worker, 0)) == [0]
    worker.gauge.begin(2)
    worker.gauge.tick = 2
    assert stage.poll() == [RunStarted(stage.plan.run(2)), RunAdvanced(2, 2, 0.0)], "the outcome of run 1 is to come"


def test_outcomes_that_wait_for_company_are_sent_for_when_a_run_takes_long(clock: ManualClock) -> None:
    stage = Stage(clock, count=1)
    stage.ready()
    (worker,) = stage.workers
    stage.end(worker, 0)
    for run_id in (1, 2, 2, 2):
        worker.gauge.begin(run_id)
        stage.poll()
        assert worker.orders.count(WorkerOrder.SEND) == 0
        clock.advance(LOOK_S / 2.5)
    for _ in range(3):
        stage.poll()
        assert worker.orders.count(WorkerOrder.SEND) == 1
        clock.advance(LOOK_S)
    stage.end(worker, 1)
    worker.gauge.begin(3)
    stage.poll()
    clock.advance(LOOK_S)
    stage.end(worker, 2)
    assert worker.orders.count(WorkerOrder.SEND) == 1, "nothing waits"


def test_a_run_whose_lane_dies_is_done_once_more_before_all_others(clock: ManualClock) -> None:
    stage = Stage(clock)
    stage.ready()
    reports = stage.die(stage.workers[0], 0)
    assert [type(report) for report in reports] == [LaneNotice, RunLost]
    assert str(reports[0]) == "a lane was killed by SIGSEGV while it was at run 0, which is done once more"
    assert len(stage.workers) == 3, "another worker takes the place"
    stage.workers[2].hear(WorkerReady())
    assert stage.poll() == [RunStarted(stage.plan.run(0))]
    assert ended(stage.end(stage.workers[2], 0)) == [0]


def test_a_run_at_which_two_lanes_died_is_a_row_without_series(clock: ManualClock) -> None:
    stage = Stage(clock, count=1)
    stage.ready()
    stage.die(stage.workers[0], 0)
    stage.ready()
    reports = stage.die(stage.workers[1], 0, "ended with exit code 3")
    (report,) = (report for report in reports if isinstance(report, RunEnded))
    outcome = report.outcome
    assert (outcome.status, outcome.stop_reason, outcome.ticks) == (RunStatus.PANICKED, StopReason.FAULT, 0)
    assert (len(outcome.series), set(outcome.reducers.values())) == (0, {None})
    assert outcome.note == "its lane was killed by SIGSEGV, and the one that did it once more ended with exit code 3"
    assert not any(isinstance(report, LaneNotice) for report in reports), "deaths are told once"


def test_runs_that_a_dead_lane_had_not_begun_are_not_blamed(clock: ManualClock) -> None:
    stage = Stage(clock, count=1)
    stage.ready()
    stage.end(stage.workers[0], 0)
    held = [run_id for bundle in stage.workers[0].bundles[1:] for run_id in bundle]
    assert len(held) > 2
    reports = stage.die(stage.workers[0], held[1])
    assert [report.run_id for report in reports if isinstance(report, RunLost)] == [held[0]], "the one that was told"
    stage.ready()
    assert stage.workers[1].bundles == [held[:1]]
    assert ended(stage.die(stage.workers[1], held[0])) == [], "the first death at this run"
    stage.ready()
    assert ended(stage.die(stage.workers[2], held[0])) == [held[0]]


def test_lanes_that_die_before_they_begin_a_run_end_the_sweep_in_words(clock: ManualClock) -> None:
    stage = Stage(clock, count=2)
    for number in range(7):
        stage.die(stage.workers[number], None)
    with pytest.raises(LanesLostError, match="every lane died before it could begin a run, 8 in a row, the last one"):
        stage.die(stage.workers[7], None)


def test_a_run_that_ends_forgives_the_deaths_before(clock: ManualClock) -> None:
    stage = Stage(clock, count=1)
    for round_of_deaths in range(3):
        for _ in range(3):
            stage.die(stage.workers[-1], None)
        stage.workers[-1].hear(WorkerReady())
        stage.poll()
        assert ended(stage.end(stage.workers[-1], round_of_deaths)) == [round_of_deaths]


def test_a_run_that_does_not_come_back_from_a_step_is_ended_with_its_lane(clock: ManualClock) -> None:
    stage = Stage(clock, count=1, timeout_s=2.5)
    stage.ready()
    (worker,) = stage.workers
    worker.gauge.begin(0)
    worker.gauge.due_s = clock.now
    clock.advance(KILL_GRACE_S * 0.99)
    stage.poll()
    assert not worker.is_killed
    clock.advance(KILL_GRACE_S * 0.02)
    stage.poll()
    assert worker.is_killed
    (report,) = (report for report in stage.die(worker, 0) if isinstance(report, RunEnded))
    outcome = report.outcome
    assert (outcome.status, outcome.stop_reason, outcome.ticks) == (RunStatus.TIMED_OUT, StopReason.TIMEOUT, 0)
    assert (len(outcome.series), outcome.note) == (
        0,
        "timed out after 2.5 s, in a step that did not end; its lane was ended",
    )
    assert len(stage.workers) == 2


@pytest.mark.parametrize("is_sent", [False, True])
def test_a_lane_that_ends_its_overdue_step_as_it_is_killed_has_the_next_run_not_blamed(
    clock: ManualClock, is_sent: bool
) -> None:
    stage = Stage(clock, count=1, runs=8, timeout_s=2.5)
    stage.ready()
    (worker,) = stage.workers
    stage.end(worker, 0)
    worker.gauge.begin(1)
    worker.gauge.due_s = clock.now - KILL_GRACE_S
    stage.poll()
    assert worker.is_killed
    if is_sent:
        assert ended(stage.end(worker, 1)) == [1]
    assert ended(stage.die(worker, 2)) == ([] if is_sent else [1])
    stage.ready()
    assert stage.workers[1].bundles[0][0] == 2
    assert ended(stage.die(stage.workers[1], 2)) == [], "it is the first death at this run"


def test_workers_are_ended_where_another_one_cannot_be_started(clock: ManualClock) -> None:
    class Crowded(Stage):
        def _start(self, hear: Hear) -> PlayedWorker:
            if self.workers:
                raise MemoryError("no room")
            return super()._start(hear)

    closed: list[float] = []
    with pytest.raises(MemoryError, match="no room"):
        Crowded(clock, closed=closed)
    assert closed == [0.0]


def test_a_pause_hands_nothing_out_and_is_answered_once_when_the_last_lane_obeys(clock: ManualClock) -> None:
    stage = Stage(clock, count=3)
    for worker in stage.workers[:2]:
        worker.hear(WorkerReady())
    stage.poll()
    stage.lanes.command(LaneCommand.PAUSE)
    first, second, late = stage.workers
    assert (first.orders[-1], second.orders[-1], late.orders) == (LaneCommand.PAUSE, LaneCommand.PAUSE, [])
    first.hear(Obeyed(LaneCommand.PAUSE))
    late.hear(WorkerReady())
    assert stage.poll() == []
    assert late.orders == [LaneCommand.PAUSE], "one that comes up meanwhile waits, too"
    second.hear(Obeyed(LaneCommand.PAUSE))
    assert stage.poll() == [CommandAcknowledged(LaneCommand.PAUSE)]
    assert stage.lanes.when_quiet() == IDLE
    stage.end(first, 0)
    assert first.bundles == [[0]], "nothing is handed out"
    stage.lanes.command(LaneCommand.RESUME)
    stage.poll()
    assert first.bundles[1:] != []


def test_a_lane_that_dies_keeps_no_pause_waiting(clock: ManualClock) -> None:
    stage = Stage(clock)
    stage.ready()
    stage.lanes.command(LaneCommand.PAUSE)
    stage.workers[0].hear(Obeyed(LaneCommand.PAUSE))
    reports = stage.die(stage.workers[1], 1)
    assert CommandAcknowledged(LaneCommand.PAUSE) in reports


def test_a_step_that_does_not_come_back_keeps_no_pause_waiting(clock: ManualClock) -> None:
    stage = Stage(clock, count=1, timeout_s=2.5)
    stage.ready()
    (worker,) = stage.workers
    worker.gauge.begin(0)
    worker.gauge.due_s = clock.now
    stage.lanes.command(LaneCommand.PAUSE)
    stage.poll()
    assert stage.lanes.when_quiet() == After(LOOK_S), "its limit is to be looked at"
    clock.advance(KILL_GRACE_S)
    stage.poll()
    assert worker.is_killed
    assert CommandAcknowledged(LaneCommand.PAUSE) in stage.die(worker, 0)
    assert stage.lanes.when_quiet() == IDLE


def test_an_abort_drops_every_run_and_leaves_little_time(clock: ManualClock) -> None:
    stage = Stage(clock)
    stage.ready()
    stage.lanes.command(LaneCommand.ABORT)
    assert ended(stage.end(stage.workers[0], 0)) == []
    stage.die(stage.workers[1], 1)
    assert len(stage.workers) == 2, "nobody is started any more"
    stage.lanes.close()
    (patience_s,) = stage.closed
    assert patience_s < 0.1


def test_workers_that_cannot_load_the_model_leave_the_runs_to_the_caller(clock: ManualClock) -> None:
    stage = Stage(clock, runs=3)
    first, second = stage.workers
    first.hear(WorkerReady())
    stage.poll()
    second.hear(EntryRefused("it holds a lock"))
    first.hear(EntryRefused("it holds a lock"))
    reports = stage.poll()
    notices = [str(report) for report in reports if isinstance(report, LaneNotice)]
    assert notices == ["there is one lane, in the caller: it holds a lock"]
    assert RunLost(0) in reports
    assert ended(reports) == [0, 1, 2]


def test_a_view_is_what_the_worker_of_the_first_run_showed_last(clock: ManualClock) -> None:
    stage = Stage(clock)
    assert stage.lanes.view() is None
    stage.ready()
    assert stage.lanes.view() is None
    assert stage.lanes.view() is None
    first, second = stage.workers
    assert (first.orders[-1], second.orders.count(WorkerOrder.SHOW)) == (WorkerOrder.SHOW, 0)
    assert first.orders.count(WorkerOrder.SHOW) == 1, "it is asked again once it has answered"
    shown = RunView(0, 3, None, ())
    first.hear(RunShown(shown))
    stage.poll()
    assert stage.lanes.view() is shown
    stage.end(first, 0)
    assert stage.lanes.view() is None, "that run has ended"


def test_lanes_that_there_is_no_room_for_are_done_without(clock: ManualClock) -> None:
    stage = Stage(clock, count=4, room=2)
    (first, second) = stage.poll()
    assert str(first) == "there are 3 lanes, no more: OSError: no more files"
    assert str(second) == "there are 2 lanes, no more: OSError: no more files"
    stage.ready()
    assert [worker.bundles for worker in stage.workers] == [[[0]], [[1]]]
    assert [str(report) for report in stage.die(stage.workers[0], 0)][-1] == (
        "there is 1 lane, no more: OSError: no more files"
    )
    assert ended(stage.end(stage.workers[1], 1)) == [1]
    assert [run_id for bundle in stage.workers[1].bundles for run_id in bundle][1] == 0


def test_a_worker_that_could_not_be_started_after_all_is_done_without(clock: ManualClock) -> None:
    stage = Stage(clock, count=2)
    stage.workers[0].hear(WorkerNotStarted("no more processes"))
    assert [str(report) for report in stage.poll()] == ["there is 1 lane, no more: no more processes"]
    assert len(stage.workers) == 2, "no other is tried"


def test_runs_are_stepped_in_the_caller_where_there_is_room_for_no_lane(clock: ManualClock) -> None:
    stage = Stage(clock, count=2, runs=3, room=0)
    reports = stage.poll()
    assert "there is one lane, in the caller: there is no room for another: OSError: no more files" in [
        str(report) for report in reports if isinstance(report, LaneNotice)
    ]
    assert ended(reports) == [0, 1, 2]


def test_no_run_at_which_a_lane_died_is_stepped_in_the_caller_for_want_of_room(clock: ManualClock) -> None:
    stage = Stage(clock, count=1, room=1)
    stage.ready()
    with pytest.raises(LanesLostError, match="the last one not started: OSError: no more files"):
        stage.die(stage.workers[0], 0)


def test_a_lane_that_was_told_of_a_pause_as_it_started_answers_for_no_later_one(clock: ManualClock) -> None:
    stage = Stage(clock, count=1)
    stage.lanes.command(LaneCommand.PAUSE)
    (worker,) = stage.workers
    worker.hear(WorkerReady())
    assert stage.poll() == [CommandAcknowledged(LaneCommand.PAUSE)]
    stage.lanes.command(LaneCommand.RESUME)
    stage.lanes.command(LaneCommand.PAUSE)
    worker.hear(Obeyed(LaneCommand.PAUSE))
    worker.hear(Obeyed(LaneCommand.RESUME))
    assert stage.poll() == [CommandAcknowledged(LaneCommand.RESUME)], "it may have gone on meanwhile"
    worker.hear(Obeyed(LaneCommand.PAUSE))
    assert stage.poll() == [CommandAcknowledged(LaneCommand.PAUSE)]


def test_a_lane_that_is_gone_is_waited_for_by_no_order(clock: ManualClock) -> None:
    stage = Stage(clock, count=1)
    stage.ready()
    for command in (LaneCommand.PAUSE, LaneCommand.RESUME, LaneCommand.PAUSE):
        stage.lanes.command(command)
    stage.workers[0].hear(Obeyed(LaneCommand.PAUSE))
    assert stage.poll() == [CommandAcknowledged(LaneCommand.PAUSE)], "of one command at a time"
    told = [report for report in stage.die(stage.workers[0], None) if isinstance(report, CommandAcknowledged)]
    assert told == [CommandAcknowledged(LaneCommand.RESUME), CommandAcknowledged(LaneCommand.PAUSE)]
