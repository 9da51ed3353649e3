"""The handle: the same behaviour on every host."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest

import henad_web as hw
from henad_web.channel import WakeFailed
from henad_web.model.params import ParamValue
from henad_web.output.record import Counts
from henad_web.run.layout import ExecutionLayout
from tests.shared.hosts import Host
from tests.shared.toy_models import Divides, Toy, entry_of, toy_spec


def test_events_come_in_order_and_nothing_follows_the_last(
    host: Host, models: hw.ModelSet, small_sir: hw.SweepSpec
) -> None:
    wakes = []
    run = host.start(models["sir"], small_sir, wake=lambda: wakes.append(1))
    events = host.drain(run)
    first, *middle, last = events
    assert isinstance(first, hw.Planned)
    assert (first.outline.pending, first.outline.skipped) == (6, 0)
    assert first.outline.stat_columns == ("Susceptible", "Infected", "Recovered")
    ids = [event.outcome.run.run_id for event in middle if isinstance(event, hw.RunFinished)]
    assert ids == list(range(6)) == list(range(len(middle)))
    assert isinstance(last, hw.Finished)
    assert last.record.report.end is hw.SweepEnd.COMPLETE
    assert len(wakes) == len(events), "the wake callback ran once an event"
    run.update(1.0)
    assert run.try_recv() is None


def test_the_record_tells_what_the_events_told(host: Host, models: hw.ModelSet, small_sir: hw.SweepSpec) -> None:
    run = host.start(models["sir"], small_sir)
    events = host.drain(run)
    record = events[-1].record if isinstance(events[-1], hw.Finished) else None
    assert record is not None
    assert record.files is not None
    assert list(record.files) == ["runs.csv", "series.csv", "summary.csv", "manifest.json"]
    assert record.files["runs.csv"].count(b"\n") == 7
    assert record.report.counts == Counts(rows=6, ok=6)
    assert record.report.output_dir is None
    keys = [event.outcome.run_key for event in events if isinstance(event, hw.RunFinished)]
    assert keys == [run.plan.run_key(planned) for planned in run.plan.runs()]
    rows = record.files["runs.csv"].decode().splitlines()[1:]
    assert [row.split(",")[5] for row in rows] == keys


def test_the_handle_says_how_the_sweep_stands(host: Host, models: hw.ModelSet, small_sir: hw.SweepSpec) -> None:
    run = host.start(models["sir"], small_sir)
    assert run.progress().runs_total == 6
    assert not run.is_ended
    assert run.search_plan is None
    host.record(run)
    progress = run.progress()
    assert (progress.phase, progress.end) == (hw.SweepPhase.ENDED, hw.SweepEnd.COMPLETE)
    assert (progress.runs_total, progress.runs_done, progress.runs_failed) == (6, 6, 0)
    assert (progress.runs_waiting, progress.runs_skipped, progress.remaining) == (0, 0, None)
    assert progress.active_runs == ()
    assert run.is_ended
    assert run.view() is None


def test_the_end_is_told_only_once_its_event_was_received(host: Host) -> None:
    run = host.start(entry_of(Toy), toy_spec(1))
    host.until(run, lambda: run.progress().phase is hw.SweepPhase.ENDED)
    assert not run.is_ended, "events are still waiting"
    host.drain(run)
    assert run.is_ended


def test_elapsed_time_stands_still_after_the_end(host: Host) -> None:
    run = host.start(entry_of(Toy), toy_spec(1))
    host.record(run)
    assert run.progress().elapsed == run.progress().elapsed > 0


def test_a_paused_sweep_moves_nothing_and_its_clock_stands_still(
    host: Host, models: hw.ModelSet, endless: hw.SweepSpec
) -> None:
    run = host.start(models["game_of_life"], endless)
    host.until(run, lambda: ticks(run) > 0)
    run.pause()
    run.pause()
    assert run.is_paused
    assert run.progress().phase is hw.SweepPhase.PAUSED
    host.until(run, lambda: run.is_held)
    held = run.progress()
    for _ in range(100):
        run.update(1.0)
    assert run.progress() == held
    run.resume()
    run.resume()
    assert not run.is_paused
    assert not run.is_held
    host.until(run, lambda: ticks(run) > held.active_runs[0].tick)
    run.abort()
    record = host.record(run)
    assert record.report.end is hw.SweepEnd.ABORTED
    assert record.report.counts.rows == 0
    assert run.progress().active_runs == ()
    assert record.manifest is not None
    assert record.manifest.status == "aborted"


def test_an_abort_reaches_a_paused_sweep_and_is_final(host: Host, models: hw.ModelSet, endless: hw.SweepSpec) -> None:
    run = host.start(models["game_of_life"], endless)
    host.until(run, lambda: ticks(run) > 0)
    run.pause()
    run.abort()
    run.pause()
    run.resume()
    assert not run.is_paused
    assert host.record(run).report.end is hw.SweepEnd.ABORTED
    run.pause()
    assert run.progress().phase is hw.SweepPhase.ENDED


def test_a_pause_holds_runs_alone_probing_goes_on(stepped: Host) -> None:
    built: list[int] = []

    class Counted(Toy):
        def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
            super().__init__(params, seed)
            built.append(self.value)

    run = stepped.start(entry_of(Counted), toy_spec(1, 2))
    run.pause()
    assert isinstance(stepped.next_event(run), hw.Planned)
    assert built == [1, 2], "the first and the last config, by the probe"
    for _ in range(10):
        run.update(1.0)
    assert run.try_recv() is None
    assert (run.progress().phase, run.progress().active_runs) == (hw.SweepPhase.PAUSED, ())
    assert built == [1, 2]
    run.resume()
    assert stepped.record(run).report.counts.rows == 4


def test_an_abort_before_the_probe_still_leaves_files(stepped: Host) -> None:
    run = stepped.start(entry_of(Toy), toy_spec(1, 2))
    run.abort()
    record = stepped.record(run)
    assert record.report.end is hw.SweepEnd.ABORTED
    assert record.files is not None
    assert record.files["runs.csv"].count(b"\n") == 1, "the header alone"


def test_an_abort_keeps_the_runs_written_before_it(host: Host, models: hw.ModelSet) -> None:
    # Eight runs stop at tick 0, eight never end.
    factor = hw.FactorSpec(param="density", levels=hw.ValueLevels(values=(0.0, 1.0)))
    spec = hw.SweepSpec(
        model="game_of_life",
        fixed=(("grid_width", 8), ("grid_height", 8)),
        run=hw.RunSettings(
            steps=1_000_000_000, replicates=8, stop=hw.StopSpec(column="Alive", comparison="<=", threshold=0.0)
        ),
        measure=hw.MeasureSettings(stats_every=1_000_000_000),
        blocks=(hw.BlockSpec(factors=(factor,)),),
    )
    run = host.start(models["game_of_life"], spec)
    host.until(run, lambda: run.progress().runs_done >= 3)
    run.abort()
    events = host.drain(run)
    last = events[-1]
    assert isinstance(last, hw.Finished)
    rows = last.record.report.counts.rows
    assert 3 <= rows <= 8
    ids = [event.outcome.run.run_id for event in events if isinstance(event, hw.RunFinished)]
    assert ids == list(range(rows))


def test_a_failing_run_is_a_row_and_the_sweep_goes_on(host: Host) -> None:
    run = host.start(entry_of(Divides), toy_spec(1, 0, 2))
    events = host.drain(run)
    outcomes = [event.outcome for event in events if isinstance(event, hw.RunFinished)]
    assert [str(outcome.status) for outcome in outcomes] == ["ok", "ok", "panicked", "panicked", "ok", "ok"]
    assert [outcome.ticks for outcome in outcomes] == [10, 10, 0, 0, 10, 10]
    last = events[-1]
    assert isinstance(last, hw.Finished)
    assert last.record.report.end is hw.SweepEnd.COMPLETE
    assert last.record.report.counts == Counts(rows=6, ok=4, failed=2)
    assert run.progress().runs_failed == 2
    files = last.record.files
    assert files is not None
    summary = files["summary.csv"].decode().splitlines()
    header = summary[0].split(",")
    failing = dict(zip(header, summary[2].split(","), strict=True))
    assert [failing[name] for name in ("runs", "ok", "failed")] == ["2", "0", "2"]
    assert b"traceback" not in b"".join(files.values()).lower()


def test_series_past_the_budget_are_left_out_of_the_events_but_not_of_the_files(
    host: Host, models: hw.ModelSet, small_sir: hw.SweepSpec
) -> None:
    series_bytes = 6 * (3 + 1) * 8
    run = host.start(models["sir"], small_sir, series_budget=2 * series_bytes)
    events = host.drain(run)
    finished = [event for event in events if isinstance(event, hw.RunFinished)]
    assert [event.series_dropped for event in finished] == [False, False, True, True, True, True]
    assert [len(event.outcome.series) for event in finished] == [6, 6, 0, 0, 0, 0]
    last = events[-1]
    assert isinstance(last, hw.Finished)
    assert last.record.files is not None
    assert last.record.files["series.csv"].count(b"\n") == 1 + 6 * 6


def test_a_run_without_a_series_is_never_told_as_dropped(
    host: Host, models: hw.ModelSet, small_sir: hw.SweepSpec
) -> None:
    without = hw.SweepSpec(model="sir", fixed=small_sir.fixed, run=small_sir.run, measure=NO_SERIES)
    events = host.drain(host.start(models["sir"], without, series_budget=0))
    assert [event.series_dropped for event in events if isinstance(event, hw.RunFinished)] == [False, False]


NO_SERIES = hw.MeasureSettings(stats_every=3, series_every=0)


def many_runs() -> hw.SweepSpec:
    """More runs than can be over before a test has its handle."""
    factor = hw.FactorSpec(param="value", levels=hw.ValueLevels(values=(1,)))
    run = hw.RunSettings(steps=50, replicates=2000)
    return hw.SweepSpec(model="toy", run=run, measure=NO_SERIES, blocks=(hw.BlockSpec(factors=(factor,)),))


def test_a_wake_callback_may_read_and_command(host: Host) -> None:
    handles: list[hw.SweepRun] = []
    seen: list[hw.SweepEvent] = []

    def wake() -> None:
        if not handles:  # the first events may come before `start` has returned
            return
        run = handles[0]
        while (event := run.try_recv()) is not None:
            seen.append(event)
        run.progress()
        run.pause()
        run.resume()
        if any(isinstance(event, hw.RunFinished) for event in seen):
            run.abort()

    handles.append(host.start(entry_of(Toy), many_runs(), wake=wake))
    run = handles[0]
    host.until(run, lambda: run.progress().phase is hw.SweepPhase.ENDED)
    host.until(run, lambda: run.is_ended or run.try_recv() is None)
    assert isinstance(seen[-1], hw.Finished)
    assert seen[-1].record.report.end is hw.SweepEnd.ABORTED
    assert 0 < seen[-1].record.report.counts.rows < 2000


@pytest.mark.parametrize("call", ["update", "close"])
def test_a_wake_callback_that_steps_or_closes_is_refused_and_dropped(host: Host, call: str) -> None:
    handles: list[hw.SweepRun] = []
    calls: list[int] = []

    def wake() -> None:
        if handles:
            calls.append(1)
            handles[0].update(0.1) if call == "update" else handles[0].close()

    handles.append(host.start(entry_of(Toy), many_runs(), wake=wake))
    host.until(handles[0], lambda: bool(calls))
    handles[0].abort()
    events = host.drain(handles[0])
    warned = [event.warning for event in events if isinstance(event, hw.Warned)]
    assert [type(warning) for warning in warned] == [WakeFailed]
    assert f"{call}() was called from inside a wake callback" in str(warned[0])
    assert len(calls) == 1, "it is called no more"
    assert isinstance(events[-1], hw.Finished)
    assert events[-1].record.report.warnings == tuple(warned)


def test_leaving_the_with_block_aborts_and_leaves_the_events(
    host: Host, models: hw.ModelSet, endless: hw.SweepSpec
) -> None:
    with host.start(models["game_of_life"], endless) as run:
        host.until(run, lambda: ticks(run) > 0)
    events = host.drain(run)
    assert isinstance(events[-1], hw.Finished)
    assert events[-1].record.report.end is hw.SweepEnd.ABORTED
    run.close()


def test_closing_a_finished_sweep_changes_nothing(host: Host) -> None:
    run = host.start(entry_of(Toy), toy_spec(1))
    host.until(run, lambda: run.progress().phase is hw.SweepPhase.ENDED)
    run.close()
    assert host.record(run).report.end is hw.SweepEnd.COMPLETE


def test_events_can_be_awaited(host: Host, models: hw.ModelSet, small_sir: hw.SweepSpec) -> None:
    async def collect() -> list[hw.SweepEvent]:
        run = host.start(models["sir"], small_sir)
        return [event async for event in run.events()]

    events = run_async(collect())
    assert [type(event) for event in events] == [hw.Planned, *[hw.RunFinished] * 6, hw.Finished]


def test_awaiting_events_of_a_paused_sweep_waits_for_the_resume(
    host: Host, models: hw.ModelSet, endless: hw.SweepSpec
) -> None:
    async def collect() -> list[hw.SweepEvent]:
        run = host.start(models["game_of_life"], endless)
        run.pause()
        events: list[hw.SweepEvent] = []

        async def follow() -> None:
            events.extend([event async for event in run.events()])

        following = asyncio.ensure_future(follow())
        for _ in range(20):
            await asyncio.sleep(0)
        assert not following.done()
        run.resume()
        run.abort()
        await following
        return events

    assert isinstance(run_async(collect())[-1], hw.Finished)


def run_async(coroutine: Any) -> Any:
    """Run `coroutine` to its end, inside a loop that may be running already."""
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(coroutine)
    return loop.run_until_complete(coroutine)


def test_looking_at_a_run_shows_it_and_changes_nothing(
    host: Host, models: hw.ModelSet, small_sir: hw.SweepSpec
) -> None:
    unseen = host.files(models["sir"], small_sir)
    run = host.start(models["sir"], small_sir)
    views = []
    while not run.is_ended:
        run.update(1 / 60, budget_s=0.0)
        view = run.view()
        if view is not None:
            views.append(view)
            assert view.grid is not None
            view.grid[:] = 1
        run.try_recv()
    assert all(view.grid.shape == (16, 16) for view in views if view.grid is not None)
    assert hw.masked(host.files(models["sir"], small_sir)) == hw.masked(unseen)


def test_a_view_shows_the_tick_that_the_table_tells(host: Host, models: hw.ModelSet, endless: hw.SweepSpec) -> None:
    run = host.start(models["game_of_life"], endless)
    host.until(run, lambda: ticks(run) > 0)
    run.pause()
    host.until(run, lambda: run.is_held)
    view = run.view()
    assert view is not None
    assert (view.run_id, view.tick) == (0, ticks(run))
    state = models["game_of_life"].build({"grid_width": 16, "grid_height": 16}, run.plan.run(0).seed)
    state.step(view.tick)
    assert view.grid is not None
    assert state.grid is not None
    assert (view.grid == state.grid).all()
    assert view.palette == models["game_of_life"].metadata.palette


def test_a_dry_run_tells_the_outline_and_runs_nothing(host: Host, models: hw.ModelSet, small_sir: hw.SweepSpec) -> None:
    outline = hw.plan_spec(models["sir"], small_sir, target=host.target)
    assert outline.dry_run
    assert (outline.configs, outline.replicates, outline.runs, outline.pending) == (3, 2, 6, 6)
    assert outline.series_rows == 6 * 6
    assert outline.layout == ExecutionLayout(cpu_lanes=1, threads_per_lane=1, batch_rows=2)


def ticks(run: hw.SweepRun) -> int:
    """Return the tick of the first run in progress, 0 without one."""
    active_runs = run.progress().active_runs
    return active_runs[0].tick if active_runs else 0
