"""Bundles lost with the worker that had them: done again, then one by one, then a row; and how large they are."""

from __future__ import annotations

import pytest

from henad_web.explore.outcomes import RunStatus, StopReason
from henad_web.run.bundles import Bundling
from henad_web.run.lane_messages import EndedRun, EntryRefused, OutcomesSent, RunsReturned
from henad_web.run.lanes import LaneCommand, LaneNotice, LaneReport, RunEnded, RunLost
from henad_web.run.lost_runs import LOSSES_A_LANE, LostRuns, WorkersLostError
from henad_web.run.worker_lanes import LanesRefusedError
from tests.shared.hosts import ManualClock
from tests.shared.played_workers import PlayedWorker, Stage, ended

FAR = Bundling(seconds=4.0, most=100, ahead=1)


def far(clock: ManualClock, count: int = 1, runs: int = 400) -> Stage:
    """Return lanes that are ready, far away."""
    stage = Stage(clock, count=count, runs=runs, bundling=FAR, has_stand_in=False)
    stage.ready()
    return stage


def test_a_lane_far_away_has_one_bundle_at_a_time_which_grows_by_doubling_up_to_the_most(clock: ManualClock) -> None:
    stage = far(clock)
    (worker,) = stage.workers
    for _ in range(8):
        stage.end(worker, *worker.bundles[-1])
    assert [len(bundle) for bundle in worker.bundles] == [1, 2, 4, 8, 16, 32, 64, 100, 100]
    assert [run_id for bundle in worker.bundles for run_id in bundle] == list(range(327)), "consecutive runs"
    stage.end(worker, *worker.bundles[-1], wall_ms=2000.0)
    assert len(worker.bundles[-1]) == 2


def test_no_bundle_has_more_than_the_most_though_more_are_stepped_together(clock: ManualClock) -> None:
    stage = Stage(clock, count=1, rows=30, bundling=Bundling(seconds=4.0, most=20, ahead=1))
    stage.ready()
    (worker,) = stage.workers
    stage.end(worker, *worker.bundles[-1])
    assert [len(bundle) for bundle in worker.bundles] == [20, 20]


def test_what_a_worker_gives_back_of_its_bundle_is_handed_out_next(clock: ManualClock) -> None:
    stage = far(clock)
    (worker,) = stage.workers
    stage.end(worker, 0)
    worker.hear(OutcomesSent((EndedRun.of(stage.outcome(1, 9000.0)),)))
    worker.hear(RunsReturned((2,)))
    stage.poll()
    assert worker.bundles == [[0], [1, 2], [2]]


def test_a_lost_bundle_goes_out_again_and_then_one_by_one(clock: ManualClock) -> None:
    stage = far(clock)
    (worker,) = stage.workers
    stage.end(worker, 0)
    reports = stage.lose(worker, "no more")
    assert reports[:2] == [LaneNotice("a worker was lost, and its runs are done again: no more"), RunLost(1)]
    assert worker.bundles[2:] == [[1, 2]]
    assert not any(isinstance(report, LaneNotice) for report in stage.lose(worker)), "people are told once"
    assert worker.bundles[3:] == [[1]]
    stage.end(worker, 1)
    assert worker.bundles[4:] == [[2]]
    stage.end(worker, 2)
    assert worker.bundles[5:] == [[3, 4, 5]], "what was not lost goes together"


def test_runs_before_and_behind_a_lost_one_are_not_handed_out_with_it(clock: ManualClock) -> None:
    stage = far(clock, count=2)
    first, second = stage.workers
    stage.end(second, 1)
    stage.end(second, 2, 3)
    stage.lose(first)
    stage.lose(first)
    stage.end(second, *second.bundles[-1])
    assert [bundle for bundle in (*first.bundles, *second.bundles) if 0 in bundle] == [[0], [0], [0]]


def test_a_bundle_of_others_ends_before_a_run_that_was_lost_twice(clock: ManualClock) -> None:
    stage, lost = far(clock), LostRuns()
    queue = [stage.request(run_id) for run_id in (3, 4, 5, 6)]
    lost.lose([5], "gone", 1)
    assert lost.together(queue, 4, ()) == 4
    lost.lose([5], "gone", 1)
    assert lost.together(queue, 4, ()) == 2
    assert lost.together(queue, 2, ()) == 2


def lose_thrice(stage: Stage, worker: PlayedWorker) -> None:
    for _ in range(3):
        stage.lose(worker)


def test_a_run_lost_on_its_own_goes_once_more_with_nothing_else_under_way(clock: ManualClock) -> None:
    stage = far(clock, count=2)
    first, second = stage.workers
    lose_thrice(stage, first)
    assert (first.bundles, second.bundles) == ([[0]] * 3, [[1]]), "it waits for the other"
    stage.end(second, 1)
    assert [first.bundles[3:], second.bundles[1:]].count([[0]]) == 1
    last = first if first.bundles[3:] else second
    assert (first.bundles[3:], second.bundles[1:]) in (([[0]], []), ([], [[0]])), "the other one waits for it"
    stage.end(last, 0)
    assert first.bundles[-1] != [0]
    assert second.bundles[-1] != [0]
    assert len(first.bundles) + len(second.bundles) == 7, "both go on"


def test_a_run_that_is_lost_even_so_is_a_row_and_the_others_go_on(clock: ManualClock) -> None:
    stage = far(clock)
    (worker,) = stage.workers
    lose_thrice(stage, worker)
    (report, *_) = stage.lose(worker, "no\nmore")
    assert isinstance(report, RunEnded)
    outcome = report.outcome
    assert (outcome.run.run_id, outcome.status, outcome.stop_reason) == (0, RunStatus.PANICKED, StopReason.FAULT)
    assert (outcome.ticks, len(outcome.series.ticks)) == (0, 0)
    assert outcome.note == (
        "its worker was lost whenever it was at this run, at last while it was at nothing else: no more"
    )
    assert worker.bundles == [[0], [0], [0], [0], [1]]
    assert ended(stage.end(worker, 1)) == [1]


def test_a_run_that_ended_has_no_losses_any_more(clock: ManualClock) -> None:
    stage = far(clock, runs=400)
    (worker,) = stage.workers
    lose_thrice(stage, worker)
    stage.end(worker, 0)
    assert worker.bundles[-1] == [1, 2]


@pytest.mark.parametrize("count", [1, 3])
def test_lanes_that_lose_every_bundle_end_the_sweep(clock: ManualClock, count: int) -> None:
    stage = far(clock, count=count)
    with pytest.raises(WorkersLostError, match="times in a row, and no run came back; the last time: gone") as end:
        lose_all(stage)
    assert end.value.losses == LOSSES_A_LANE * count


def lose_all(stage: Stage) -> None:
    for losses in range(1000):
        stage.lose(stage.workers[losses % len(stage.workers)])


def test_a_run_that_comes_back_starts_the_count_of_losses_anew(clock: ManualClock) -> None:
    stage = far(clock)
    (worker,) = stage.workers
    for _ in range(20):
        lose_thrice(stage, worker)
        stage.end(worker, worker.bundles[-1][0])
    assert len(worker.bundles) > 3 * 20


def test_a_bundle_lost_after_an_abort_is_of_no_account(clock: ManualClock) -> None:
    stage = far(clock)
    (worker,) = stage.workers
    stage.lanes.command(LaneCommand.ABORT)
    reports: list[LaneReport] = []
    for _ in range(2 * LOSSES_A_LANE):
        reports += stage.lose(worker)
    assert reports == []


def test_lanes_that_nothing_stands_in_for_end_the_sweep_where_they_cannot_load_the_model(clock: ManualClock) -> None:
    stage = far(clock)
    stage.workers[0].hear(EntryRefused("no module named models"))
    with pytest.raises(LanesRefusedError, match="no module named models"):
        stage.poll()
