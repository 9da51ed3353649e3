"""Runs stepped together: the rows of any split into batches are those of runs done one by one, whatever goes wrong."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import henad_web as hw
from henad_web.explore.measure import MeasurePlan
from henad_web.explore.outcomes import RunOutcome
from henad_web.model.entry import BatchOffer, ModelEntry
from henad_web.model.params import ParamValue
from henad_web.run import batch
from henad_web.run.batch import TOLD_AT_ONCE, BatchCursor
from henad_web.run.control import BatchSize
from henad_web.run.cursor import RunCursor
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
from tests.shared.hosts import Host, ManualClock
from tests.shared.test_run_order import breadth
from tests.shared.toy_models import Toy, ToyRows, entry_of

TIMINGS = ("build_ms", "wall_ms", "traceback")


def comparable(outcome: RunOutcome) -> tuple[object, ...]:
    fields = [
        getattr(outcome, field.name)
        for field in dataclasses.fields(outcome)
        if field.name not in (*TIMINGS, "series", "reducers")
    ]
    reducers = {name: repr(value) for name, value in outcome.reducers.items()}
    return (*fields, reducers, outcome.series.ticks.tolist(), repr(outcome.series.values.tolist()))


def finished(cursor: BatchCursor, slices: Iterator[int]) -> list[RunOutcome]:
    cursor.build()
    outcomes = []
    while not cursor.is_over:
        outcomes += cursor.advance(next(slices))
    return outcomes


class Study:
    """The runs of one config, and the ways to do them."""

    def __init__(self, entry: ModelEntry, spec: hw.SweepSpec, columns: tuple[str, ...]) -> None:
        plan = spec.plan(entry.schema())
        self.entry, self.measure = entry, MeasurePlan.bind(plan, columns)
        self.requests = [RunRequest.of(plan, run) for run in plan.runs()]
        self.clock = ManualClock()

    def cursor(self, requests: Sequence[RunRequest]) -> BatchCursor:
        return BatchCursor(self.entry, self.measure, requests, self.clock)

    def alone(self, slice_steps: int = 1000) -> list[tuple[object, ...]]:
        return [
            comparable(done)
            for request in self.requests
            for done in finished(self.cursor([request]), always(slice_steps))
        ]

    def split(self, sizes: Iterator[int], slices: Iterator[int], *, is_sound: bool = False) -> list[tuple[object, ...]]:
        """Do the runs in batches of `sizes`; of a sound model none but a batch of one is done by its own cursor."""
        left, outcomes = list(self.requests), list[RunOutcome]()
        while left:
            size = next(sizes)
            with patch.object(batch, "RunCursor", wraps=RunCursor) as made:
                outcomes += finished(self.cursor(left[:size]), slices)
            assert not is_sound or made.call_count == (len(left[:size]) == 1)
            del left[:size]
        outcomes.sort(key=lambda outcome: outcome.run.run_id)
        return list(map(comparable, outcomes))


def always(*numbers: int) -> Iterator[int]:
    while True:
        yield from numbers


# Every entry that offers batches


COLUMNS = {"sir": ("Susceptible", "Infected", "Recovered"), "game_of_life": ("Alive",)}
STOPS = {"sir": "Infected < 20 and Recovered > 30", "game_of_life": "Alive < 60"}
OFFERING = [id for id, entry in hw.example_models().items() if entry.batches is not None]


@pytest.mark.parametrize("id", OFFERING)
@settings(max_examples=25)
@given(
    side=st.sampled_from([9, 16]),
    warmup=st.sampled_from([0, 7]),
    every=st.integers(1, 9),
    series=st.integers(0, 2),
    action_ticks=st.lists(st.integers(0, 50), max_size=3),
    is_stopped=st.booleans(),
    sizes=st.lists(st.integers(1, 12), min_size=1, max_size=5),
    slices=st.lists(st.integers(1, 60), min_size=1, max_size=5),
)
def test_any_split_into_batches_gives_the_rows_of_single_runs(
    id: str,
    side: int,
    warmup: int,
    every: int,
    series: int,
    action_ticks: list[int],
    is_stopped: bool,
    sizes: list[int],
    slices: list[int],
) -> None:
    entry = hw.example_models()[id]
    actions = entry.schema().action_ids
    spec = hw.SweepSpec(
        model=id,
        fixed=(("grid_width", side), ("grid_height", side)),
        run=hw.RunSettings(
            warmup=warmup,
            steps=40,
            replicates=12,
            stop=hw.StopExpression(condition=STOPS[id]) if is_stopped else None,
        ),
        measure=hw.MeasureSettings(
            stats_every=every,
            series_every=every * series,
            reducers=(
                hw.ReducerSpec(column=COLUMNS[id][0], kind="first<70"),
                hw.ReducerSpec(column=COLUMNS[id][0], kind="mean@5..20"),
            ),
        ),
        actions=tuple(
            hw.ActionSpec(id=actions[number % len(actions)], tick=tick, name=f"act_{number}")
            for number, tick in enumerate(action_ticks)
        ),
    )
    study = Study(entry, spec, COLUMNS[id])
    assert study.split(always(*sizes), always(*slices), is_sound=True) == study.alone()


# A model that fails in every way


class Mixed(Toy):
    """Which way it goes follows from its seed, and `value` says when."""

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        super().__init__(params, seed)
        self.kind = (seed or 0) % 5

    def before_step(self) -> None:
        if self.kind == 1 and self.tick == self.value:
            raise ZeroDivisionError("its time has come")

    def stats(self) -> dict[str, float]:
        left = self.value - self.tick
        return {"Ticks": float(self.tick), "Inverse": 1.0 / left if left or self.kind != 2 else float("nan")}

    def act(self, action_id: str) -> bool:
        return self.kind != 3


class MixedAtBuild(Mixed):
    """Some are not built."""

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        super().__init__(params, seed)
        if self.kind == 4:
            raise hw.RefusedBuild("one in five makes no model")


def toys(entry: ModelEntry, rows: Callable[[Sequence[Toy]], ToyRows] = ToyRows, worth: object = 64) -> ModelEntry:
    """Return `entry` with batches of its toys."""

    def build(params: Mapping[str, ParamValue], seeds: Sequence[int]) -> ToyRows:
        return rows([entry.factory(params, seed) for seed in seeds])  # type: ignore[misc]

    def worthwhile(params: Mapping[str, ParamValue]) -> int:
        if isinstance(worth, Exception):
            raise worth
        return worth  # type: ignore[return-value]

    return dataclasses.replace(entry, batches=BatchOffer(build=build, rows=worthwhile))


def toy_study(
    model: type[Toy], rows: Callable[[Sequence[Toy]], ToyRows] = ToyRows, steps: int = 12, **run: object
) -> Study:
    entry = toys(entry_of(model, stats=("Ticks", "Inverse"), actions=("mark",)), rows)
    spec = hw.SweepSpec(
        model="toy",
        fixed=(("value", 7),),
        run=hw.RunSettings(steps=steps, replicates=15, **run),  # type: ignore[arg-type]
        measure=hw.MeasureSettings(stats_every=3, series_every=6),
        actions=(hw.ActionSpec(id="mark", tick=2), hw.ActionSpec(id="mark", tick=6, name="again")),
    )
    return Study(entry, spec, ("Ticks", "Inverse"))


class Leaves(Toy):
    """Ends at a tick that follows from its seed, refuses actions or not, and is not finite now and then."""

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        super().__init__(params, seed)
        self.kind = (seed or 0) % 7

    def stats(self) -> dict[str, float]:
        is_odd = self.kind == 3 and self.tick == 6
        return {"Ticks": float(self.tick + self.kind), "Inverse": float("inf") if is_odd else 1.0 / (1 + self.tick)}

    def act(self, action_id: str) -> bool:
        return self.tick < self.kind


@pytest.mark.parametrize(
    ("threshold", "ends"),
    [
        (9.0, {("condition", 3), ("condition", 6), ("condition", 9)}),
        (15.0, {("condition", 9), ("condition", 11), ("steps", 11)}),
    ],
    ids=["all", "some at the last tick"],
)
@pytest.mark.parametrize("slices", [(100,), (1,), (4, 3)])
@pytest.mark.parametrize("sizes", [(15,), (1,), (4, 2), (7,)])
def test_rows_that_end_leave_the_batch_and_the_others_go_on(
    sizes: tuple[int, ...], slices: tuple[int, ...], threshold: float, ends: set[tuple[str, int]]
) -> None:
    stop = hw.StopSpec(column="Ticks", comparison=">=", threshold=threshold)
    study = toy_study(Leaves, steps=11, stop=stop)
    alone = study.alone()
    assert {(row[4], row[5]) for row in alone} == ends
    assert study.split(always(*sizes), always(*slices), is_sound=True) == alone


def test_rows_that_end_at_once_are_told_some_at_a_time_and_nothing_is_stepped_meanwhile() -> None:
    study = toy_study(Plain)
    cursor = study.cursor(study.requests)
    cursor.build()
    told = []
    while not cursor.is_over:
        told.append([outcome.run.run_id for outcome in cursor.advance(100)])
        assert cursor.run_ids == tuple(range(sum(map(len, told)), 15))
        assert cursor.tick in (12, 0)
    assert told == [list(range(TOLD_AT_ONCE)), list(range(TOLD_AT_ONCE, 15))]


class Plain(Toy):
    """Only counts, with both statistics."""

    def stats(self) -> dict[str, float]:
        return {"Ticks": float(self.tick), "Inverse": 1.0}


SPLITS = [(15,), (1,), (4, 2), (7,)]


@pytest.mark.parametrize("sizes", SPLITS)
@pytest.mark.parametrize("model", [Mixed, MixedAtBuild])
@pytest.mark.parametrize("slices", [(100,), (1,), (5, 2)])
def test_rows_do_not_depend_on_the_batch_when_runs_fail(
    model: type[Toy], sizes: tuple[int, ...], slices: tuple[int, ...]
) -> None:
    study = toy_study(model)
    alone = study.alone()
    statuses = {row[3] for row in alone}
    assert statuses == {"ok", "panicked"} | ({"refused"} if model is MixedAtBuild else set())
    assert study.split(always(*sizes), always(*slices)) == alone


def failing(name: str, value: object) -> Callable[[Sequence[Toy]], ToyRows]:
    """Return rows whose member `name` gives `value`, or raises it."""

    def give(rows: ToyRows, *given: object) -> object:
        if isinstance(value, Exception):
            raise value
        return value

    given = property(give) if name in ("tick", "populations") else give
    return type("FailingRows", (ToyRows,), {name: given})


THREE = np.arange(3.0)
WRONG = [
    ("tick", 3),
    ("tick", None),
    ("populations", np.array([8, 8])),
    ("populations", np.full(15, -1)),
    ("populations", np.full(15, 0.5)),
    ("step", ValueError("no step is taken")),
    ("step", None),
    ("stats", None),
    ("stats", {"Ticks": np.zeros(15)}),
    ("stats", {"Inverse": np.zeros(15), "Ticks": np.zeros(15)}),
    ("stats", {"Ticks": 3.0, "Inverse": 1.0}),
    ("stats", {"Ticks": THREE, "Inverse": THREE}),
    ("stats", {"Ticks": np.full(15, "1"), "Inverse": np.full(15, "1")}),
    ("act", KeyError("unheard of")),
    ("act", np.array([True, False])),
    ("keep", MemoryError("no room for fewer")),
]


@pytest.mark.parametrize(("name", "value"), WRONG, ids=lambda value: str(value)[:20])
def test_a_batch_that_is_wrong_of_itself_costs_time_and_changes_no_row(name: str, value: object) -> None:
    stop = hw.StopSpec(column="Inverse", comparison="!=", threshold=0.5, min_tick=3)
    study = toy_study(Mixed, failing(name, value), steps=6, stop=stop if name == "keep" else None)
    assert study.split(always(15), always(100)) == study.alone()


def test_runs_that_end_before_a_fault_of_the_others_are_not_done_again() -> None:
    built: list[int] = []

    class Counted(Mixed):
        def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
            super().__init__(params, seed)
            built.append(seed or 0)

        def stats(self) -> dict[str, float]:
            return {"Ticks": float(self.tick), "Inverse": float(self.kind)}

    stop = hw.StopSpec(column="Inverse", comparison="==", threshold=0.0)
    study = toy_study(Counted, stop=stop)
    alone = study.alone()
    built.clear()
    assert study.split(always(15), always(100)) == alone
    stopped = [request.run.seed for request in study.requests if request.run.seed % 5 == 0]
    assert stopped
    assert all(built.count(seed) == 1 for seed in stopped)
    others = [request.run.seed for request in study.requests if request.run.seed % 5]
    assert all(built.count(seed) > 1 for seed in others)


def test_times_of_a_batch_are_shared_out_and_a_limit_is_one_of_each_run() -> None:
    study = toy_study(ClockedToy, steps=1000, timeout_s=1.0)
    ClockedToy.clock = study.clock
    outcomes = finished(study.cursor(study.requests[:10]), always(1))
    assert {(outcome.status, outcome.ticks) for outcome in outcomes} == {("timed_out", 16)}
    assert outcomes[0].wall_ms == pytest.approx(1000.0)
    assert outcomes[0].note.removeprefix(REFUSED) == "timed out after 1 s at tick 16"
    assert outcomes[0].build_ms == pytest.approx(250.0)


REFUSED = "model refused action 'mark' at tick 2; model refused action 'mark' at tick 6; "


class ClockedToy(Toy):
    """Takes a sixteenth of a second a step and a quarter of one to be built."""

    clock = ManualClock()

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        super().__init__(params, seed)
        self.clock.advance(0.25)

    def before_step(self) -> None:
        self.clock.advance(0.0625)

    def stats(self) -> dict[str, float]:
        return {"Ticks": float(self.tick), "Inverse": 1.0}


class LeavesOrTimesOut(ClockedToy, Leaves):
    """Takes its time, and is one more for each step that its seed lets it end sooner."""

    def __init__(self, params: Mapping[str, ParamValue], seed: int | None) -> None:
        super().__init__(params, seed)
        self.population = 8 + self.kind

    stats = Leaves.stats


def test_rows_that_are_cut_behind_others_that_left_keep_what_is_theirs() -> None:
    stop = hw.StopSpec(column="Ticks", comparison=">=", threshold=17.0)
    study = toy_study(LeavesOrTimesOut, steps=1000, timeout_s=1.0, stop=stop)
    ClockedToy.clock = study.clock
    alone = study.alone(slice_steps=1)
    assert {(row[4], row[5]) for row in alone} == {("condition", 12), ("condition", 15), ("timeout", 16)}
    assert study.split(always(15), always(1), is_sound=True) == alone


# The lane


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
