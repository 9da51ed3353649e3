"""Runs of a lane that are at hand together, in a batch or waiting to be sent: which are listed, which are blamed."""

from __future__ import annotations

import pytest

from henad_web.run.lane_messages import Bundle
from henad_web.run.lanes import BatchAdvanced, LaneNotice, RunAdvanced, RunEnded, RunStarted
from henad_web.run.worker_lanes import KILL_GRACE_S
from tests.shared.hosts import ManualClock
from tests.shared.played_workers import PlayedWorker, Stage, ended


def alone(worker: PlayedWorker) -> list[set[int]]:
    """Return for each bundle which of its runs are to be done alone."""
    return [set(order.alone) for order in worker.orders if isinstance(order, Bundle)]


def test_runs_that_are_stepped_together_are_handed_over_together(clock: ManualClock) -> None:
    stage = Stage(clock, rows=5)
    stage.ready()
    assert [worker.bundles for worker in stage.workers] == [[[0, 1, 2, 3, 4]], [[5, 6, 7, 8, 9]]]
    stage.end(stage.workers[0], 0, 1, 2, 3, 4, wall_ms=1000.0)
    assert stage.workers[0].bundles[1:] == [[10, 11, 12, 13, 14, 15, 16, 17, 18, 19]], "a batch, and one that waits"
    assert alone(stage.workers[0]) == [set(), set()]


def test_runs_of_a_batch_that_a_lane_died_at_are_done_alone_and_none_is_blamed(clock: ManualClock) -> None:
    stage = Stage(clock, count=1, runs=4, rows=4)
    stage.ready()
    reports = stage.die(stage.workers[0], 0, last_id=3)
    assert ended(reports) == []
    (notice,) = [str(report) for report in reports if isinstance(report, LaneNotice)]
    assert notice == "a lane was killed by SIGSEGV while it was at several runs, done one by one now"
    stage.ready()
    assert (stage.workers[1].bundles, alone(stage.workers[1])) == ([[0, 1, 2, 3]], [{0, 1, 2, 3}])
    assert ended(stage.die(stage.workers[1], 1)) == [], "the first death at this run"
    stage.ready()
    assert ended(stage.die(stage.workers[2], 1)) == [1]
    stage.ready()
    assert ended(stage.end(stage.workers[3], 0, 2, 3)) == [0, 2, 3]


def test_a_batch_past_its_limit_is_done_run_by_run(clock: ManualClock) -> None:
    stage = Stage(clock, count=1, runs=3, timeout_s=2.5, rows=3)
    stage.ready()
    (worker,) = stage.workers
    worker.gauge.begin(0, 2)
    worker.gauge.due_s = clock.now - KILL_GRACE_S
    stage.poll()
    assert worker.is_killed
    assert ended(stage.die(worker, 0, last_id=2)) == []
    stage.ready()
    assert alone(stage.workers[1]) == [{0, 1, 2}]


def test_the_last_run_of_a_batch_is_blamed_as_one_alone(clock: ManualClock) -> None:
    stage = Stage(clock, count=1, runs=3, rows=3)
    stage.ready()
    stage.end(stage.workers[0], 0, 2)
    assert ended(stage.die(stage.workers[0], 1)) == []
    stage.ready()
    assert alone(stage.workers[1]) == [set()]
    assert ended(stage.die(stage.workers[1], 1)) == [1]


def test_every_run_of_a_batch_is_listed_with_the_tick_of_all(clock: ManualClock) -> None:
    stage = Stage(clock, count=1, runs=6, rows=4)
    (worker,) = stage.workers
    stage.ready()
    worker.gauge.begin(0, 3)
    assert stage.poll() == [RunStarted(stage.plan.run(run_id)) for run_id in (1, 2, 3)], "run 0 is listed already"
    worker.gauge.tick = 2
    assert stage.poll() == [BatchAdvanced((0, 1, 2, 3), 2, 0.0)]
    assert ended(stage.end(worker, 0, 3)) == [0, 3]
    worker.gauge.begin(1, 2)
    worker.gauge.tick = 3
    assert stage.poll() == [BatchAdvanced((1, 2), 3, 0.0)]
    worker.gauge.begin(2)
    worker.gauge.tick = 3
    assert ended(stage.end(worker, 1)) == [1]
    worker.gauge.tick = 4
    assert stage.poll() == [RunAdvanced(2, 4, 0.0)]


def test_a_gauge_that_is_read_as_its_worker_goes_on_shows_the_first_run_alone(clock: ManualClock) -> None:
    stage = Stage(clock, count=1, runs=6, rows=6)
    (worker,) = stage.workers
    stage.ready()
    worker.gauge.begin(3, 1)
    worker.gauge.tick = 1
    assert stage.poll() == [RunStarted(stage.plan.run(3)), RunAdvanced(3, 1, 0.0)]


def test_a_run_whose_outcome_a_lane_could_not_send_is_blamed(clock: ManualClock) -> None:
    stage = Stage(clock, count=1, runs=2)
    stage.ready()
    for worker in stage.workers[:1]:
        worker.gauge.ended_id = 0
        assert ended(stage.die(worker, None)) == []
    stage.ready()
    stage.workers[1].gauge.ended_id = 0
    (report,) = (report for report in stage.die(stage.workers[1], None) if isinstance(report, RunEnded))
    assert report.outcome.note == "its lane was killed by SIGSEGV, and so was the one that did it once more"
    stage.ready()
    assert ended(stage.end(stage.workers[2], 1)) == [1]


@pytest.mark.parametrize(("is_sending", "suspects"), [(True, {1, 2}), (False, set())])
def test_several_outcomes_that_a_lane_could_not_send_are_come_by_one_by_one(
    clock: ManualClock, is_sending: bool, suspects: set[int]
) -> None:
    stage = Stage(clock, count=1, runs=4)
    stage.ready()
    stage.end(stage.workers[0], 0)
    stage.workers[0].gauge.ended_id, stage.workers[0].gauge.is_sending = 2, is_sending
    assert ended(stage.die(stage.workers[0], 3)) == []
    stage.ready()
    assert alone(stage.workers[1]) == [suspects & {1}], "one run, as nobody knows the pace"
    assert ended(stage.end(stage.workers[1], 1)) == [1]
    assert alone(stage.workers[1])[1:] == [suspects & {2}]
    died_again = ended(stage.die(stage.workers[1], 3))
    assert died_again == ([] if is_sending else [3]), "the run that it was at is not blamed for what it could not send"
