"""Runs stepped together: the rows of any split into batches are those of runs done one by one, whatever goes wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import henad_web as hw
from henad_web.model.params import ParamValue
from henad_web.run.batch import TOLD_AT_ONCE
from tests.shared.batch_studies import (
    ClockedToy,
    Leaves,
    Mixed,
    MixedAtBuild,
    Plain,
    Study,
    always,
    finished,
    toy_study,
)
from tests.shared.toy_models import Toy, ToyRows

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
