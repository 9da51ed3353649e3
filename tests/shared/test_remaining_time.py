"""The seconds left, from the runs that finished and the share of those in progress."""

from __future__ import annotations

import pytest

from henad_web.explore.outcomes import PlannedRun
from henad_web.handle import remaining_time
from henad_web.run.active_runs import ActiveRun
from henad_web.run.layout import ExecutionLayout
from henad_web.run.probe import Pilot
from tests.shared.made_results import outcome_of, outline_of, plan_of


def active(run_id: int, tick: int, end_tick: int) -> ActiveRun:
    return ActiveRun(PlannedRun(run_id, run_id, 0, 1), tick, end_tick)


def test_runs_that_finished_set_the_pace() -> None:
    assert remaining_time(8.0, 10, 4, ()) == pytest.approx(12.0)


def test_the_runs_in_progress_count_by_the_share_of_their_ticks() -> None:
    # Four runs started together; one has finished as the other three near their end: 3.7 runs took 37 s, 4.3 are left.
    nearly_done = tuple(active(run_id, 90, 100) for run_id in (1, 2, 3))
    assert remaining_time(37.0, 8, 1, nearly_done) == pytest.approx(43.0)


def test_no_run_counts_for_more_than_one() -> None:
    assert remaining_time(10.0, 2, 0, (active(0, 250, 100),)) == pytest.approx(10.0)


@pytest.mark.parametrize(
    ("pending", "lanes", "tracks", "seconds"),
    [(7, 3, 0, 6.0), (6, 3, 0, 4.0), (1, 3, 0, 2.0), (0, 3, 0, 0.0), (7, 0, 2, 8.0)],
)
def test_a_pilot_run_stands_for_each_round_of_its_lanes(pending: int, lanes: int, tracks: int, seconds: float) -> None:
    pilot = Pilot(outcome_of(plan_of(), 0, build_ms=500.0, wall_ms=1500.0))
    layout = ExecutionLayout(cpu_lanes=lanes, threads_per_lane=1, gpu_tracks=tracks)
    assert pilot.estimated_s(outline_of(plan_of(), pending=pending, layout=layout)) == seconds


def test_without_progress_there_is_no_estimate() -> None:
    assert remaining_time(3.0, 10, 0, (active(0, 0, 100),)) is None
    assert remaining_time(3.0, 10, 0, (active(0, 5, 0),)) is None, "a run of no ticks says nothing"


def test_nothing_is_left_once_every_run_is_done_and_never_less_than_nothing() -> None:
    assert remaining_time(3.0, 10, 10, ()) == 0.0
    assert remaining_time(3.0, 10, 10, (active(10, 50, 100),)) == 0.0


def test_a_time_past_the_longest_duration_reads_as_none() -> None:
    assert remaining_time(2.0, 2**64 - 1, 1, ()) is None
    assert remaining_time(1.0, 2**64, 1, ()) is None
    assert remaining_time(1.0, 2**63, 1, ()) == 2.0**63
    assert remaining_time(1e300, 10**400, 1, ()) is None
