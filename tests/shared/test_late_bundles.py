"""Bundles that do not come back: when they are late, who does them again, and which outcome is taken."""

from __future__ import annotations

import math

import pytest

from henad_web.run.bundles import Bundling
from henad_web.run.lane_messages import BundleLost, EndedRun, Obeyed, OutcomesSent, RunsReturned, WorkerOrder
from henad_web.run.lanes import CommandAcknowledged, LaneCommand, LaneNotice, LaneReport, RunLost, RunStarted
from henad_web.run.late_bundles import LATENESS, MOST_TRIES, RENEWED_FROM, WAY_S, Patience, WorkersSilentError
from tests.shared.hosts import ManualClock
from tests.shared.played_workers import Stage, ended

BUNDLE_S = 8.0
LEAST_S = WAY_S + BUNDLE_S


def far(clock: ManualClock, count: int = 1, runs: int = 400, timeout_s: float | None = None) -> Stage:
    """Return lanes that are ready, far away, and are not waited for for ever."""
    stage = Stage(
        clock,
        count=count,
        runs=runs,
        timeout_s=timeout_s,
        bundling=Bundling(seconds=4.0, most=100, ahead=1),
        has_stand_in=False,
        patience=Patience(BUNDLE_S, timeout_s),
    )
    stage.ready()
    return stage


def wait(stage: Stage, seconds: float) -> list[LaneReport]:
    """Let `seconds` pass, and have the workers that are started meanwhile be ready."""
    stage.clock.advance(seconds)
    return [*stage.poll(), *stage.ready()]


def test_a_first_bundle_is_late_after_its_way_its_work_and_the_limit_of_a_run() -> None:
    for timeout_s, bound_s in ((None, LEAST_S), (500.0, LEAST_S + 500.0)):
        patience = Patience(BUNDLE_S, timeout_s)
        assert not patience.is_late([3], 10.0, 10.0 + bound_s - 0.001)
        assert patience.is_late([3], 10.0, 10.0 + bound_s)


def test_a_bundle_is_late_after_several_times_the_longest_that_came_back() -> None:
    patience = Patience(BUNDLE_S, None)
    for seconds in (1.0, 100.0, 20.0):
        patience.hear(seconds)
    assert patience.bound_s([3]) == 100.0 * LATENESS


def test_each_time_it_is_late_a_run_is_waited_for_twice_as_long() -> None:
    patience = Patience(BUNDLE_S, None)
    bounds = []
    for now_s in range(5):
        patience.hear(0.0)  # others come back
        bounds.append(patience.bound_s([3, 4]))
        patience.try_again([4], 0.0, float(now_s))
    assert bounds == [LEAST_S * 2**tries for tries in range(5)]
    patience.hear(0.0)
    assert patience.bound_s([3]) == LEAST_S
    assert patience.end(4)
    assert not patience.end(4), "nothing is known of it any more"
    assert patience.bound_s([4]) == LEAST_S


def test_while_nothing_comes_back_one_bundle_at_a_time_is_late_and_each_waited_for_twice_as_long() -> None:
    patience = Patience(BUNDLE_S, None)
    now_s, renewed = 0.0, []
    for tries in range(MOST_TRIES):
        sent_s = now_s
        now_s += LEAST_S * 2**tries
        assert not patience.is_late([tries], sent_s, now_s - 0.001)
        assert patience.is_late([tries], sent_s, now_s)
        renewed.append(patience.try_again([tries], sent_s, now_s))
        assert not patience.is_late([tries + 1], 0.0, now_s + LEAST_S * 2 ** (tries + 1) - 0.001)
    assert renewed == [tries >= RENEWED_FROM for tries in range(1, MOST_TRIES + 1)]
    now_s += LEAST_S * 2**MOST_TRIES
    with pytest.raises(WorkersSilentError, match=r"for 9\.7 hours, though runs were handed out again 8 times: ") as end:
        patience.try_again([9], now_s - 100.0, now_s)
    assert (end.value.tries, end.value.seconds) == (MOST_TRIES, now_s)
    assert "set timeout_s above it, and it is waited for" in str(end.value)


def test_what_comes_back_ends_the_silence() -> None:
    patience = Patience(BUNDLE_S, None)
    for _ in range(5):
        for run_id in range(MOST_TRIES):
            patience.try_again([run_id], 0.0, 1e6)
        patience.hear(1.0)
        assert patience.is_late([100], 1e6 - LEAST_S, 1e6), "one that was late beside the last one"


@pytest.mark.parametrize("times", [0.5, 1.0, 2.75, 3.0, 40.0])
def test_a_run_that_lasts_long_is_done_a_few_times(clock: ManualClock, times: float) -> None:
    stage, start_s = far(clock), clock.now
    while clock.now - start_s < times * LEAST_S:
        wait(stage, LEAST_S / 4)
    copies = sum(len(worker.bundles) for worker in stage.workers)
    assert copies == 1 + int(math.log2(times + 1))
    assert ended(stage.end(stage.workers[0], 0)) == [0]


def test_a_late_bundle_is_done_again_and_the_first_outcome_is_taken(clock: ManualClock) -> None:
    for is_first_in_time in (True, False):
        stage = far(clock, count=2)
        lost, other = stage.workers
        clock.advance(10)
        stage.end(other, 1)
        assert (lost.bundles, other.bundles) == ([[0]], [[1], [2, 3]])
        assert not any(isinstance(report, RunLost) for report in wait(stage, LEAST_S - 11))
        reports = wait(stage, 1)
        text = "run 0 did not come back within 68 s and may be lost: done again, and what comes first is taken"
        assert [report for report in reports if isinstance(report, LaneNotice)] == [LaneNotice(text)]
        assert reports.index(RunLost(0)) < reports.index(RunStarted(stage.plan.run(0)))
        again = stage.workers[2]
        assert again.bundles == [[0]]
        winner, late = (lost, again) if is_first_in_time else (again, lost)
        assert ended(stage.end(winner, 0)) == [0]
        assert late.orders[-1] is WorkerOrder.CLOSE, "nobody waits for it"
        assert ended(stage.end(late, 0)) == []
        stage.ready()
        assert [bundle for worker in stage.workers[3:] for bundle in worker.bundles] == ([[4]] if late is again else [])
        assert late is again or again.bundles == [[0], [4, 5]], "as many lanes as before are at work"


def test_late_runs_are_done_again_one_by_one_and_each_is_taken_once(clock: ManualClock) -> None:
    stage = far(clock, runs=12)
    (late,) = stage.workers
    stage.end(late, 0)
    stage.end(late, 1, 2)
    assert late.bundles[2:] == [[3, 4, 5, 6]]
    reports = wait(stage, LEAST_S)
    assert "run 3 and 3 more did not come back" in str(reports)
    again = stage.workers[1]
    assert again.bundles == [[3]]
    outcomes = tuple(EndedRun.of(stage.outcome(run_id, 1.0)) for run_id in (3, 4))
    late.hear(OutcomesSent(outcomes))  # of one that is done again, and of one that waits for it
    assert ended(stage.poll()) == [3, 4]
    late.hear(RunsReturned((6, 5)))
    stage.poll()
    assert again.orders[-1] is WorkerOrder.CLOSE
    stage.ready()
    last = stage.workers[2]
    assert (ended(stage.end(again, 3)), ended(stage.end(last, 5))) == ([], [5])
    came = [run_id for _ in range(6) for run_id in ended(stage.end(last, *last.bundles[-1]))]
    assert came == [6, 7, 8, 9, 10, 11]
    assert [*again.bundles, *last.bundles][:3] == [[3], [5], [6]]
    assert len(stage.workers) == 3


def test_what_a_late_worker_still_has_is_taken_after_others_did_a_part(clock: ManualClock) -> None:
    stage = far(clock)
    (late,) = stage.workers
    stage.end(late, 0)
    assert late.bundles[-1] == [1, 2]
    wait(stage, LEAST_S)
    again = stage.workers[1]
    assert ended(stage.end(again, 1)) == [1]
    assert WorkerOrder.CLOSE not in late.orders
    assert ended(stage.end(late, 1, 2)) == [2]


def test_no_outcome_is_taken_of_a_run_that_was_given_up(clock: ManualClock) -> None:
    stage = far(clock)
    (late,) = stage.workers
    wait(stage, LEAST_S)
    again = stage.workers[1]
    came = [run_id for _ in range(4) for run_id in ended(stage.lose(again))]
    assert (came, again.bundles) == ([0], [[0]] * 4 + [[1]])
    assert ended(stage.end(late, 0)) == []


def test_what_came_back_late_has_others_be_waited_for_longer(clock: ManualClock) -> None:
    stage = far(clock, count=2)
    clock.advance(LEAST_S - 1)
    stage.end(stage.workers[1], 1)
    wait(stage, LATENESS * (LEAST_S - 1) - LEAST_S)
    assert len(stage.workers) == 2
    wait(stage, 1)
    assert len(stage.workers) == 3


def test_of_bundles_that_are_late_together_the_oldest_is_done_first(clock: ManualClock) -> None:
    stage = far(clock, count=2)
    clock.advance(10)
    stage.end(stage.workers[0], 0)
    wait(stage, LEAST_S)
    assert [worker.bundles for worker in stage.workers] == [[[0], [2, 3]], [[1]], [[1]]]


def test_what_a_late_worker_gives_back_or_loses_is_of_no_account(clock: ManualClock) -> None:
    for message in (RunsReturned((0,)), BundleLost("gone")):
        stage = far(clock)
        (late,) = stage.workers
        wait(stage, LEAST_S)
        again = stage.workers[-1]
        for _ in range(20):
            late.hear(message)
            stage.poll()
        assert (late.bundles, again.bundles) == ([[0]], [[0]]), "it is under way already"
        assert ended(stage.end(again, 0)) == [0]
        assert again.bundles[1:] == [[1, 2]]


def test_people_are_told_once_of_a_span(clock: ManualClock) -> None:
    stage = far(clock)
    reports = [report for _ in range(30) for report in wait(stage, LEAST_S)]
    assert sum(isinstance(report, LaneNotice) for report in reports) == 1
    assert len(stage.workers) > 4


def test_workers_that_stay_silent_are_made_anew_and_then_given_up(clock: ManualClock) -> None:
    stage = far(clock, count=3)
    with pytest.raises(WorkersSilentError):
        wait_for_ever(stage)
    assert len(stage.workers) == 3 + MOST_TRIES
    renewals = sum(worker.orders.count(WorkerOrder.RENEW) for worker in stage.workers)
    assert renewals == MOST_TRIES - RENEWED_FROM + 1


def wait_for_ever(stage: Stage) -> None:
    while stage.clock.now < 1e6:
        wait(stage, LEAST_S)


def test_what_was_out_while_nobody_looked_is_not_late_and_took_no_longer(clock: ManualClock) -> None:
    stage = far(clock)
    (worker,) = stage.workers
    worker.hear(OutcomesSent((EndedRun.of(stage.outcome(0, 1.0)),)))
    clock.advance(10 * LEAST_S)  # the disk was full
    assert ended(stage.poll()) == [0]
    wait(stage, LEAST_S - 1)
    assert len(stage.workers) == 1
    wait(stage, 1)
    assert len(stage.workers) == 2


def test_a_pause_does_not_wait_for_a_late_bundle(clock: ManualClock) -> None:
    stage = far(clock, count=2)
    lost, other = stage.workers
    stage.lanes.command(LaneCommand.PAUSE)
    other.hear(Obeyed(LaneCommand.PAUSE))
    assert stage.poll() == []
    reports = wait(stage, LEAST_S)
    assert CommandAcknowledged(LaneCommand.PAUSE) in reports
    assert [worker.bundles for worker in stage.workers] == [[[0]], [[1]], []], "nothing is handed out"
    stage.lanes.command(LaneCommand.RESUME)
    stage.poll()
    assert stage.workers[2].bundles == [[0]]
    assert ended(stage.end(lost, 0)) == [0]


def test_nothing_is_heard_of_a_late_bundle_after_an_abort(clock: ManualClock) -> None:
    stage = far(clock)
    (late,) = stage.workers
    wait(stage, LEAST_S)
    stage.lanes.command(LaneCommand.ABORT)
    assert ended(stage.end(late, 0)) == []
    assert ended(stage.end(stage.workers[-1], 0)) == []
    assert wait(stage, 1e6) == []
