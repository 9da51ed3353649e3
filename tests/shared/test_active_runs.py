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


def test_the_reorder_buffer_hands_items_out_in_the_order_they_were_expected_in() -> None:
    buffer: ReorderBuffer[str] = ReorderBuffer()
    assert buffer.is_empty
    for item_id in (1, 4, 0):
        buffer.expect(item_id)
    buffer.insert(4, "b")
    buffer.insert(0, "c")
    assert buffer.pop_ready() is None, "item 1 has not arrived"
    buffer.insert(1, "a")
    assert [buffer.pop_ready() for _ in range(3)] == ["a", "b", "c"]
    assert buffer.is_empty
    assert buffer.pop_ready() is None


def test_what_is_expected_later_is_handed_out_later() -> None:
    buffer: ReorderBuffer[str] = ReorderBuffer()
    buffer.expect(7)
    buffer.insert(7, "first")
    buffer.insert(3, "second")
    assert buffer.pop_ready() == "first"
    assert buffer.pop_ready() is None, "nobody has asked for item 3 yet"
    buffer.expect(3)
    assert not buffer.is_empty
    assert buffer.pop_ready() == "second"


def test_a_cleared_buffer_expects_nothing() -> None:
    buffer: ReorderBuffer[str] = ReorderBuffer()
    buffer.expect(0)
    buffer.insert(0, "a")
    buffer.clear()
    assert buffer.is_empty
    assert buffer.pop_ready() is None
