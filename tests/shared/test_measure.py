"""Sampling: at which ticks, which rows are kept, when a run stops, what a bad sample does."""

from __future__ import annotations

import math
import pickle
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from henad_web.errors import PlanError, StatsShapeError
from henad_web.explore.measure import MeasurePlan
from henad_web.explore.spec import MeasureSettings, ReducerSpec, RunSettings, StopExpression, StopSpec
from tests.shared.schemas import plan_of


def bound(
    columns: Sequence[str] = ("Alive", "Dead"), *, run: RunSettings | None = None, **measure: object
) -> MeasurePlan:
    settings = MeasureSettings(**measure)  # type: ignore[arg-type]
    plan = plan_of(run=run or RunSettings(steps=10), measure=settings)
    return MeasurePlan.bind(plan, tuple(columns))


def ticks_of(plan: MeasurePlan) -> list[int]:
    ticks, tick = [], plan.next_sample(-1)
    while tick is not None:
        ticks.append(tick)
        tick = plan.next_sample(tick)
    return ticks


def reducers(*texts: str) -> tuple[ReducerSpec, ...]:
    pairs = (text.rsplit(":", 1) for text in texts)
    return tuple(ReducerSpec(column=column, kind=kind) for column, kind in pairs)


def test_the_last_tick_is_sampled_off_the_cadence() -> None:
    plan = bound(run=RunSettings(warmup=5, steps=26), stats_every=5)
    assert ticks_of(plan) == [5, 10, 15, 20, 25, 30, 31]


def test_no_steps_make_one_sample_at_the_end_of_the_warmup() -> None:
    assert ticks_of(bound(run=RunSettings(warmup=7, steps=0))) == [7]


def test_ten_steps_make_eleven_samples() -> None:
    assert ticks_of(bound()) == list(range(11))


@given(st.integers(0, 50), st.integers(0, 100), st.integers(1, 30))
def test_sample_ticks_ascend_from_the_warmup_to_the_end(warmup: int, steps: int, every: int) -> None:
    ticks = ticks_of(bound(run=RunSettings(warmup=warmup, steps=steps), stats_every=every))
    assert ticks == sorted({*range(warmup, warmup + steps, every), warmup + steps})


def test_the_series_keeps_its_cadence_and_the_last_sample() -> None:
    plan = bound(["Alive"], run=RunSettings(warmup=1, steps=8), stats_every=3, series_every=6)
    sampler = plan.sampler()
    for tick in ticks_of(plan):
        sampler.push(tick, {"Alive": tick / 2})
    _, series = sampler.finish()
    assert series.ticks.tolist() == [1, 7, 9]
    assert series.values.tolist() == [[0.5], [3.5], [4.5]]
    assert (str(series.ticks.dtype), str(series.values.dtype)) == ("int64", "float64")


def test_the_rows_of_a_series_do_not_depend_on_when_its_samples_are_folded() -> None:
    plan = bound(["Alive"], stats_every=2, series_every=4)
    sampler, kept = plan.sampler(), []
    for tick in (0, 2, 4, 6, 8):
        sampler.push(tick, {"Alive": 1.0})
        assert sampler.non_finite is None, "to ask folds what there is"
        kept.append(sampler.finish()[1].ticks.tolist())
    assert kept == [[0], [0, 2], [0, 4], [0, 4, 6], [0, 4, 8]]


def test_a_run_cut_short_keeps_the_sample_it_stopped_at() -> None:
    sampler = bound(["Alive"], stats_every=2, series_every=4).sampler()
    for tick in (0, 2, 4, 6):
        sampler.push(tick, {"Alive": 1.0})
    assert sampler.finish()[1].ticks.tolist() == [0, 4, 6]


@pytest.mark.parametrize("samples", [1023, 1024, 1025, 2048, 2050])
def test_the_last_sample_is_a_row_once_wherever_a_block_of_samples_ends(samples: int) -> None:
    """Blocks of 1,024 samples end off the cadence of three: the row held back for one must not outlive it."""
    plan = bound(["Alive"], run=RunSettings(steps=5000), stats_every=1, series_every=3)
    sampler = plan.sampler()
    for tick in range(samples):
        sampler.push(tick, {"Alive": float(tick)})
    _, series = sampler.finish()
    assert series.ticks.tolist() == sorted({*range(0, samples, 3), samples - 1})
    assert series.values[:, 0].tolist() == series.ticks.tolist()


def test_no_series_keeps_no_rows() -> None:
    sampler = bound(series_every=0).sampler()
    sampler.push(0, {"Alive": 1.0, "Dead": 0.0})
    _, series = sampler.finish()
    assert len(series) == 0
    assert series.values.shape == (0, 2)


def test_a_run_without_samples_has_empty_reducers_and_an_empty_series() -> None:
    results, series = bound(["Alive"]).sampler().finish()
    assert results == {"Alive:final": None, "Alive:min": None, "Alive:max": None, "Alive:mean": None}
    assert series.values.shape == (0, 1)


def test_an_unset_series_cadence_follows_the_samples() -> None:
    sampler = bound(["Alive"], stats_every=5).sampler()
    for tick in (0, 5, 10):
        sampler.push(tick, {"Alive": 1.0})
    assert sampler.finish()[1].ticks.tolist() == [0, 5, 10]


def stopping(comparison: str, threshold: float, min_tick: int = 0) -> MeasurePlan:
    stop = StopSpec(column="Alive", comparison=comparison, threshold=threshold, min_tick=min_tick)
    return bound(["Alive"], run=RunSettings(stop=stop))


def test_a_condition_holds_from_its_first_tick_on() -> None:
    sampler = stopping("<=", 5, min_tick=3).sampler()
    assert [sampler.push(tick, {"Alive": 5.0}) for tick in range(5)] == [False, False, False, True, True]


@pytest.mark.parametrize("comparison", ["<", "<=", ">", ">=", "==", "!="])
def test_nan_never_satisfies_a_condition(comparison: str) -> None:
    assert not stopping(comparison, 1.0).sampler().push(0, {"Alive": math.nan})


@pytest.mark.parametrize(
    ("comparison", "held"),
    [
        ("<", [True, False, False]),
        ("<=", [True, True, False]),
        (">", [False, False, True]),
        (">=", [False, True, True]),
        ("==", [False, True, False]),
        ("!=", [True, False, True]),
    ],
)
def test_conditions_compare_as_written(comparison: str, held: list[bool]) -> None:
    sampler = stopping(comparison, 2.0).sampler()
    assert [sampler.push(tick, {"Alive": value}) for tick, value in enumerate((1.0, 2.0, 3.0))] == held


def expression(condition: str, min_tick: int = 0) -> RunSettings:
    return RunSettings(stop=StopExpression(condition=condition, min_tick=min_tick))


def test_a_condition_of_several_comparisons_is_looked_at_from_its_first_tick_on() -> None:
    run = expression("Alive > 2 * Dead and not (Drift < 1 or Ages == 0)", min_tick=2)
    columns = ("Dead", "Alive", "Drift.x", "Drift.magnitude", "Ages.[0, 1)", "Ages.total")
    sampler = bound(columns, run=run).sampler()
    rows = [(1, 3, 0, 1, 0, 1)] * 4 + [(1, 3, 9, 0, 9, 1), (1, 3, 0, 1, 9, 0), (2, 3, 0, 1, 0, 1), (1, 3, 0, 1, 0, 2)]
    held = [sampler.push(tick, dict(zip(columns, map(float, row), strict=True))) for tick, row in enumerate(rows)]
    assert held == [False, False, True, True, False, False, False, True]


def test_the_plan_of_a_condition_s_measuring_can_be_sent_elsewhere() -> None:
    plan = pickle.loads(pickle.dumps(bound(["Alive"], run=expression("(Alive > 2) or Alive < 1"))))
    assert [plan.sampler().push(0, {"Alive": value}) for value in (0.0, 1.0, 2.0, 3.0)] == [True, False, False, True]


def test_a_condition_may_hold_at_tick_0() -> None:
    assert stopping("<=", 0).sampler().push(0, {"Alive": 0.0})


def test_the_first_value_that_is_not_finite_is_remembered() -> None:
    sampler = bound().sampler()
    sampler.push(0, {"Alive": 1.0, "Dead": 2.0})
    assert sampler.non_finite is None
    sampler.push(1, {"Alive": 1.0, "Dead": math.inf})
    sampler.push(2, {"Alive": math.nan, "Dead": 2.0})
    assert sampler.non_finite == ("Dead", 1)


def test_two_bad_values_of_one_sample_are_named_by_the_first_column() -> None:
    sampler = bound().sampler()
    sampler.push(3, {"Alive": math.nan, "Dead": math.nan})
    assert sampler.non_finite == ("Alive", 3)


@pytest.mark.parametrize(
    "stats", [{}, {"Alive": 1.0}, {"Dead": 1.0, "Alive": 1.0}, {"Alive": 1.0, "Dead": 1.0, "Born": 1.0}]
)
def test_a_sample_of_another_shape_is_refused_and_not_taken(stats: dict[str, float]) -> None:
    sampler = bound().sampler()
    sampler.push(0, {"Alive": 1.0, "Dead": 2.0})
    with pytest.raises(StatsShapeError, match="changed shape at tick 1: expected Alive, Dead, got "):
        sampler.push(1, stats)
    assert sampler.finish()[1].ticks.tolist() == [0]


def test_a_first_sample_of_another_shape_has_not_changed_it() -> None:
    with pytest.raises(
        StatsShapeError, match="are not those of its columns at tick 0: expected Alive, Dead, got Alive"
    ):
        bound().sampler().push(0, {"Alive": 1.0})


@pytest.mark.parametrize("value", [None, "many", 10**400, [1.0]], ids=["nothing", "text", "huge", "list"])
def test_a_value_that_is_no_number_is_refused_and_not_taken(value: Any) -> None:
    sampler = bound().sampler()
    with pytest.raises(StatsShapeError, match=r"^the statistic 'Dead' is .+ at tick 0, expected a number$"):
        sampler.push(0, {"Alive": 1.0, "Dead": value})
    sampler.push(0, {"Alive": 3.0, "Dead": 4.0})
    assert sampler.finish()[1].values.tolist() == [[3.0, 4.0]]


def test_a_long_list_of_statistics_names_those_that_differ() -> None:
    expected = tuple(f"s{number}" for number in range(9))
    error = StatsShapeError(4, expected=expected, came=("s0", "s1", "s2", "s3", "extra"))
    assert str(error).endswith("; missing: 's4', 's5', 's6' and 2 more; not expected: 'extra'")


def test_no_part_of_a_sample_is_taken_whatever_its_value_raises() -> None:
    class Broken:
        def __float__(self) -> float:
            raise KeyError("lost")

    sampler = bound().sampler()
    broken: Any = Broken()
    with pytest.raises(KeyError):
        sampler.push(0, {"Alive": 1.0, "Dead": broken})
    sampler.push(0, {"Alive": 3.0, "Dead": 4.0})
    assert sampler.finish()[1].values.tolist() == [[3.0, 4.0]]


def test_columns_that_are_no_texts_are_named_all_the_same() -> None:
    strange: Any = {0: 1.0, "Dead": 2.0}
    with pytest.raises(StatsShapeError, match="expected Alive, Dead, got 0, Dead"):
        bound().sampler().push(0, strange)


def test_numpy_values_are_taken_as_numbers() -> None:
    sampler = bound().sampler()
    sampler.push(0, {"Alive": np.float32(0.5), "Dead": np.int32(3)})  # type: ignore[dict-item]
    assert sampler.finish()[1].values.tolist() == [[0.5, 3.0]]


def test_default_reducers_come_first_and_duplicates_are_dropped() -> None:
    plan = bound(["Alive"], reducers=reducers("Alive:max", "Alive:argmax", "Alive:argmax"))
    assert plan.reducer_columns == ("Alive:final", "Alive:min", "Alive:max", "Alive:mean", "Alive:argmax")


def test_histogram_buckets_get_no_default_reducers() -> None:
    columns = ("Drift.x", "Drift.y", "Drift.magnitude", "Ages.[0, 10)", "Ages.[10, 20)", "Ages.total")
    names = bound(columns).reducer_columns
    assert [name for name in names if name.endswith(":mean")] == [
        "Drift.x:mean",
        "Drift.y:mean",
        "Drift.magnitude:mean",
        "Ages.total:mean",
    ]


def test_a_bare_label_means_magnitude_or_total() -> None:
    columns = ("Drift.x", "Drift.magnitude", "Ages.[0, 1)", "Ages.total")
    wanted = reducers("Drift:max", "Ages:max", "Ages.[0, 1):max")
    plan = bound(columns, default_reducers=False, reducers=wanted)
    sampler = plan.sampler()
    sampler.push(0, dict(zip(columns, (1.0, 2.0, 3.0, 4.0), strict=True)))
    assert sampler.finish()[0] == {"Drift:max": 2.0, "Ages:max": 4.0, "Ages.[0, 1):max": 3.0}


def test_columns_that_do_not_exist_are_refused_together() -> None:
    stop = StopSpec(column="Ages.totl", comparison="<", threshold=1.0)
    plan = plan_of(run=RunSettings(stop=stop), measure=MeasureSettings(reducers=reducers("Alive:max", "Drift.z:max")))
    with pytest.raises(PlanError) as caught:
        MeasurePlan.bind(plan, ("Alive", "Drift.x", "Drift.y", "Ages.total"))
    reducer, condition = caught.value.problems
    assert (reducer.place.table, reducer.place.key) == (("measure", "reducers", 1), "column")
    assert (condition.place.table, condition.place.key) == (("run", "stop"), "condition")
    assert condition.hint == "did you mean 'Ages.total'?"


def test_every_column_of_a_condition_that_does_not_exist_is_told() -> None:
    plan = plan_of(run=expression("Ages.totl < 1 or Drift.z > Alive"))
    with pytest.raises(PlanError) as caught:
        MeasurePlan.bind(plan, ("Alive", "Drift.x", "Ages.total"))
    assert [problem.came for problem in caught.value.problems] == ["'Ages.totl'", "'Drift.z'"]
    assert {problem.place.table for problem in caught.value.problems} == {("run", "stop")}


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.integers(0, 5))
def test_adding_reducers_changes_no_other_result(samples: list[float], start: int) -> None:
    plain = bound(["Alive"])
    more = bound(["Alive"], reducers=reducers(f"Alive:mean@{start}..9", "Alive:argmin", "Alive:first>0"))
    results = []
    for plan in (plain, more):
        sampler = plan.sampler()
        for tick, value in enumerate(samples):
            sampler.push(tick, {"Alive": value})
        results.append(sampler.finish())
    assert results[0][0].items() <= results[1][0].items()
    assert results[0][1].values.tolist() == results[1][1].values.tolist()
