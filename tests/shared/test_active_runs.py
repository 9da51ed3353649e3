"""The table of runs in progress, and the buffer that puts outcomes back in order."""

from __future__ import annotations

from henad_web.explore.outcomes import PlannedRun
from henad_web.run.active_runs import ActiveRuns
from henad_web.run.requests import ReorderBuffer


def planned(run_id: int) -> PlannedRun:
    return PlannedRun(run_id, 0, run_id, 1)


def test_a_finished_run_waits_until_it_is_committed() -> None:
    active_runs = ActiveRuns()
    for run_id in (0, 1, 2):
        active_runs.start(planned(run_id), 10)
    active_runs.reach(1, 4)
    active_runs.reach(7, 4)
    assert [active.tick for active in active_runs.list()] == [0, 4, 0], "a run that is not listed is ignored"
    assert [active.fraction for active in active_runs.list()] == [0.0, 0.4, 0.0]
    active_runs.finish(2)
    assert len(active_runs.list()) == 2, "a finished run is no longer in progress"
    assert active_runs.waiting_count == 1, "run 2 waits for runs 0 and 1"
    active_runs.drop(0)
    assert active_runs.waiting_count == 1, "an abandoned run never waits"
    active_runs.mark_committed(2)
    assert active_runs.waiting_count == 0
    active_runs.drop(1)
    assert active_runs.list() == ()


def test_runs_are_listed_by_id_whatever_the_order_they_started_in() -> None:
    active_runs = ActiveRuns()
    for run_id in (7, 2, 5):
        active_runs.start(planned(run_id), 10)
    assert [active.run.run_id for active in active_runs.list()] == [2, 5, 7]


def test_a_list_that_was_taken_does_not_change() -> None:
    active_runs = ActiveRuns()
    active_runs.start(planned(0), 10)
    taken = active_runs.list()
    active_runs.reach(0, 9)
    assert taken[0].tick == 0
    assert active_runs.list()[0].tick == 9


def test_clearing_drops_what_runs_and_what_waits() -> None:
    active_runs = ActiveRuns()
    active_runs.start(planned(0), 10)
    active_runs.start(planned(1), 10)
    active_runs.finish(1)
    active_runs.clear()
    assert active_runs.list() == ()
    assert active_runs.waiting_count == 0


def test_the_reorder_buffer_hands_items_out_in_order() -> None:
    buffer: ReorderBuffer[str] = ReorderBuffer(iter(range(5)))
    buffer.insert(2, "c")
    buffer.insert(1, "b")
    assert buffer.pop_ready() is None, "item 0 has not arrived"
    buffer.insert(0, "a")
    assert [buffer.pop_ready() for _ in range(3)] == ["a", "b", "c"]
    buffer.insert(4, "e")
    assert buffer.pop_ready() is None, "item 3 has not arrived"
    assert not buffer.is_done
    buffer.insert(3, "d")
    assert [buffer.pop_ready() for _ in range(2)] == ["d", "e"]
    assert buffer.is_done


def test_the_order_may_leave_ids_out() -> None:
    buffer: ReorderBuffer[str] = ReorderBuffer(iter((1, 4)))
    buffer.insert(4, "late")
    assert buffer.pop_ready() is None
    buffer.insert(1, "early")
    assert [buffer.pop_ready(), buffer.pop_ready()] == ["early", "late"]
