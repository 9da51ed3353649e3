"""Lanes that step replicates together, and whole sweeps with batches and without."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest

import henad_web as hw
from henad_web.run.control import BatchSize
from henad_web.run.lanes import (
    BatchAdvanced,
    CommandAcknowledged,
    InProcessLane,
    LaneCommand,
    LaneReport,
    RunAdvanced,
    RunEnded,
    RunStarted,
)
from henad_web.run.requests import RunRequest
from tests.shared.batch_studies import (
    ClockedToy,
    Mixed,
    Plain,
    Study,
    toy_study,
    toys,
)
from tests.shared.hosts import Host
from tests.shared.test_run_order import breadth
from tests.shared.toy_models import entry_of


def lane_of(study: Study, batch_rows: int = 64, slice_target_s: float = 0.02) -> InProcessLane:
    return InProcessLane(
        study.entry, study.measure, slice_target_s=slice_target_s, clock=study.clock, batch_rows=batch_rows
    )


def taken(lane: InProcessLane, requests: Sequence[RunRequest]) -> list[int]:
    """Submit `requests` until the lane refuses one; return those it took."""
    found = []
    for request in requests:
        if not lane.submit(request):
            break
        found.append(request.run.run_id)
    return found


def drained(lane: InProcessLane) -> list[LaneReport]:
    """Poll until a poll tells nothing."""
    found: list[LaneReport] = []
    while reports := lane.poll():
        found += reports
    return found


def test_a_lane_takes_replicates_of_one_config_and_tells_of_each() -> None:
    study = toy_study(Plain)
    lane = lane_of(study)
    assert taken(lane, study.requests[:6]) == [0, 1, 2, 3, 4, 5]
    assert lane.poll() == [RunStarted(request.run) for request in study.requests[:6]], "before their build"
    assert lane.view() is None
    assert lane.poll() == [BatchAdvanced((0, 1, 2, 3, 4, 5), 0, 0.0)], "one is built for its sizes"
    assert lane.view() is None
    assert lane.poll() == [BatchAdvanced((0, 1, 2, 3, 4, 5), 0, 0.0)]
    assert not lane.submit(study.requests[6]), "no run joins a batch under way"
    view = lane.view()
    assert view is not None
    assert (view.run_id, view.tick, view.grid is not None and view.grid.tolist()) == (0, 0, [[0] * 4] * 2)
    ended = [report.outcome.run.run_id for report in drained(lane) if isinstance(report, RunEnded)]
    assert ended == [0, 1, 2, 3, 4, 5]
    assert lane.view() is None
    assert lane.submit(study.requests[6])


@pytest.mark.parametrize(
    ("batch_rows", "worth", "count"), [(64, 64, 15), (4, 64, 4), (64, 5, 5), (1, 64, 1), (64, 1, 1), (64, 0, 1)]
)
def test_a_batch_holds_no_more_than_the_layout_and_the_model_say(batch_rows: int, worth: int, count: int) -> None:
    study = toy_study(Plain)
    study.entry = toys(study.entry, worth=worth)
    assert len(taken(lane_of(study, batch_rows), study.requests)) == count


@pytest.mark.parametrize("worth", [ValueError("who knows"), None, "many"])
def test_a_model_that_cannot_say_what_is_worth_it_steps_its_runs_alone(worth: object) -> None:
    study = toy_study(Plain)
    study.entry = toys(study.entry, worth=worth)
    assert len(taken(lane_of(study), study.requests)) == 1


def test_runs_of_two_configs_are_no_batch() -> None:
    entry = toys(entry_of(Plain, stats=("Ticks", "Inverse")))
    factor = hw.FactorSpec(param="value", levels=hw.ValueLevels(values=(1, 2)))
    spec = hw.SweepSpec(
        model="toy", run=hw.RunSettings(steps=4, replicates=3), blocks=(hw.BlockSpec(factors=(factor,)),)
    )
    study = Study(entry, spec, ("Ticks", "Inverse"))
    lane = lane_of(study)
    assert taken(lane, study.requests) == [0, 1, 2]
    drained(lane)
    assert taken(lane, study.requests[3:]) == [3, 4, 5]


def test_a_held_lane_keeps_its_batch_and_an_aborted_one_drops_it() -> None:
    study = toy_study(Plain)
    lane = lane_of(study)
    taken(lane, study.requests[:4])
    lane.command(LaneCommand.PAUSE)
    assert lane.poll() == [CommandAcknowledged(LaneCommand.PAUSE)]
    assert lane.poll() == []
    assert not lane.submit(study.requests[4])
    lane.command(LaneCommand.RESUME)
    assert [type(report) for report in lane.poll()] == [CommandAcknowledged, *[RunStarted] * 4]
    lane.command(LaneCommand.ABORT)
    assert drained(lane) == [CommandAcknowledged(LaneCommand.ABORT)]


def test_runs_of_a_batch_that_failed_are_told_one_by_one() -> None:
    study = toy_study(Mixed)
    lane = lane_of(study)
    taken(lane, study.requests)
    reports = drained(lane)
    assert [report.outcome.run.run_id for report in reports if isinstance(report, RunEnded)] == list(range(15))
    assert any(isinstance(report, RunAdvanced) for report in reports)


def test_the_first_slice_of_a_batch_and_of_each_run_behind_it_is_one_step() -> None:
    first_steps: list[int] = []

    class Counts(Mixed):
        def step(self, n: int = 1) -> None:
            if self.tick == 0:
                first_steps.append(n)
            super().step(n)

    study = toy_study(Counts, steps=400)
    lane = lane_of(study)
    taken(lane, study.requests)
    drained(lane)
    assert len(first_steps) > 2 * len(study.requests), "together, alone, and the failing ones once more"
    assert set(first_steps) == {1}


def test_a_batch_whose_step_takes_too_long_is_followed_by_a_smaller_one() -> None:
    study = toy_study(ClockedToy)
    ClockedToy.clock = study.clock
    lane, sizes = lane_of(study, batch_rows=15, slice_target_s=0.75), []
    left = list(study.requests) * 3
    while left:
        sizes.append(len(taken(lane, left)))
        del left[: sizes[-1]]
        drained(lane)
    assert sizes[:3] == [15, 3, 3], "15 builds of 0.25 s are 5 slices of 0.75 s"
    assert set(sizes[3:-1]) <= {3}


def test_the_size_of_batches_follows_their_longest_step() -> None:
    size = BatchSize(64, 0.02)
    size.took(0.08)
    size.took(0.01)
    size.end(64)
    assert size.rows == 16, "four times too long"
    size.took(0.012)
    size.end(16)
    assert size.rows == 16, "it fits, and twice as many would not"
    size.took(0.009)
    size.end(5)
    assert size.rows == 16, "a batch that was not full tells nothing"
    for rows in (32, 64, 64):
        size.took(0.009)
        size.end(size.rows)
        assert size.rows == rows
    size.took(5.0)
    size.end(64)
    assert size.rows == 1


# Whole sweeps


@pytest.mark.parametrize("order", ["depth", "breadth"])
@pytest.mark.parametrize("budget", [None, 20_000])
def test_files_are_the_same_with_batches_and_without(
    host: Host, small_sir: hw.SweepSpec, models: hw.ModelSet, order: str, budget: int | None
) -> None:
    spec = breadth(small_sir) if order == "breadth" else small_sir
    together, alone = (
        hw.masked(host.files(models["sir"], spec, batches=batches, memory_budget=budget)) for batches in (True, False)
    )
    assert together == alone


def test_replicates_are_stepped_together_within_the_memory_there_is(
    stepped: Host, small_sir: hw.SweepSpec, models: hw.ModelSet
) -> None:
    entry = models["sir"]
    heap = entry.build({"grid_width": 16, "grid_height": 16}, 1).heap_bytes
    for options, rows, live in (
        ({}, 2, 2),
        ({"batches": False}, 1, 1),
        ({"memory_budget": 3 * heap}, 2, 2),
        ({"memory_budget": heap + 1}, 1, 1),
    ):
        run = stepped.start(entry, small_sir, **options)
        outline = stepped.record(run).report.outline
        assert (outline.layout.batch_rows, outline.projected_bytes) == (rows, live * heap), options


def test_a_model_that_offers_no_batches_is_stepped_run_by_run(stepped: Host, small_sir: hw.SweepSpec) -> None:
    entry = dataclasses.replace(hw.example_models()["sir"], batches=None)
    assert stepped.record(stepped.start(entry, small_sir)).report.outline.layout.batch_rows == 1


def test_whether_there_are_batches_is_said_by_true_or_false() -> None:
    with pytest.raises(hw.UsageError, match="batches is 3; allowed: True or False"):
        hw.SweepRunOptions(batches=3)  # type: ignore[arg-type]
