"""Reducers: their texts, and sums and extremes that do not depend on how samples arrive."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from henad_web.explore.measure import MeasurePlan
from henad_web.explore.reducers import ColumnTotals, Fold, Kind, fold_of, parse_kind
from henad_web.explore.spec import MeasureSettings, ReducerSpec, RunSettings
from tests.shared.schemas import plan_of

SAMPLES = st.lists(
    st.one_of(st.floats(allow_nan=True, allow_infinity=True, width=64), st.sampled_from([0.1, 0.2, 1e16])),
    min_size=1,
    max_size=60,
)


def fold_one(text: str, samples: list[float], *, every: int = 1) -> float | None:
    fold = fold_of(parse_kind(text))
    assert fold is not None
    return folded(fold, samples, every=every)


def folded(fold: Fold, samples: list[float], *, every: int = 1) -> float | None:
    values = np.array(samples, np.float64)
    fold.fold(np.arange(len(values), dtype=np.int64) * every, values, np.isfinite(values))
    return fold.result()


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("final", "final"),
        (" argmax ", "argmax"),
        ("first<=10", "first<=10"),
        ("first <= 10.0", "first<=10"),
        ("first!=0.25", "first!=0.25"),
        ("first>1e-7", "first>0.0000001"),
        ("first<1e15", "first<1000000000000000"),
        ("first==-0", "first==0"),
        ("mean@200..600", "mean@200..600"),
        ("mean@ 5 .. 5", "mean@5..5"),
        ("mean@" + "0" * 5000 + "2..010", "mean@2..10"),
    ],
)
def test_a_kind_has_one_canonical_text(text: str, canonical: str) -> None:
    assert parse_kind(text).text == canonical
    assert parse_kind(canonical).text == canonical


@pytest.mark.parametrize(
    "text",
    ["", "median", "first", "first10", "first<", "first<x", "first<inf", "first<nan", "first=>3", "first<1_0", "mean@",
     "mean@5", "mean@9..5", "mean@-1..5", "mean@1.5..5", "mean@0..18446744073709551616", "maximum", "FINAL"],
)  # fmt: skip
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        parse_kind(text)


@given(st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), st.floats(allow_nan=False, allow_infinity=False))
def test_a_threshold_survives_its_text(comparison: str, threshold: float) -> None:
    text = parse_kind(f"first{comparison}{threshold!r}").text
    assert "e" not in text
    assert parse_kind(text).threshold == threshold


def test_first_gives_the_first_tick_where_it_holds() -> None:
    assert fold_one("first<=10", [30, 20, 10, 5, 40], every=5) == 10.0
    assert fold_one("first<=1", [30, 20, 10]) is None


def test_first_skips_samples_that_are_not_finite() -> None:
    assert fold_one("first>5", [math.inf, math.nan, 6.0]) == 2.0
    assert fold_one("first!=0", [0.0, math.nan, 0.0]) is None


def test_a_window_holds_both_its_ends() -> None:
    assert fold_one("mean@2..4", [100, 100, 1, 2, 6, 100]) == 3.0
    assert fold_one("mean@7..9", [1, 2, 3]) is None
    assert fold_one(f"mean@1..{2**64 - 1}", [100, 2, 4]) == 3.0
    assert fold_one(f"mean@{2**64 - 1}..{2**64 - 1}", [1, 2, 3]) is None


def test_a_window_skips_samples_that_are_not_finite() -> None:
    assert fold_one("mean@0..3", [1.0, math.nan, 3.0, math.inf]) == 2.0


def totals_of(rows: list[list[float]], cuts: list[int]) -> list[float | None]:
    values = np.array(rows, np.float64)
    ticks = np.arange(len(rows), dtype=np.int64) * 3
    totals = ColumnTotals(values.shape[1])
    bounds = [0, *cuts, len(rows)]
    for start, end in pairwise(bounds):
        if end > start:
            part = values[start:end]
            finite = np.isfinite(part)
            if finite.all() and not totals.has_begun:
                totals.begin(ticks[start:end], part)
            else:
                totals.fold(ticks[start:end], part, finite)
    kinds = (Kind.FINAL, Kind.MIN, Kind.MAX, Kind.MEAN, Kind.ARGMIN, Kind.ARGMAX)
    return [totals.result(kind, column) for column in range(values.shape[1]) for kind in kinds]


def test_totals_of_a_column() -> None:
    assert totals_of([[2.0], [5.0], [1.0], [5.0], [1.0]], []) == [1.0, 1.0, 5.0, 2.8, 6.0, 3.0]


def test_totals_skip_samples_that_are_not_finite() -> None:
    inverse = [[0.25], [1 / 3], [0.5], [math.inf], [math.nan]]
    assert totals_of(inverse, [2])[:3] == [0.5, 0.25, 0.5]
    assert totals_of([[math.nan], [math.inf]], []) == [None] * 6


@pytest.mark.parametrize("cuts", [[], [1]])
def test_a_mean_of_negative_zeros_is_zero(cuts: list[int]) -> None:
    assert str(totals_of([[-0.0], [-0.0]], cuts)[3]) == "0.0"


def reference(samples: list[float]) -> list[float | None]:
    """One sample after another, in plain Python."""
    total, count, final, low, high = 0.0, 0, None, None, None
    low_tick = high_tick = None
    for position, value in enumerate(samples):
        if math.isfinite(value):
            total, count, final = total + value, count + 1, value
            if low is None or value < low:
                low, low_tick = value, float(position * 3)
            if high is None or value > high:
                high, high_tick = value, float(position * 3)
    return [final, low, high, total / count if count else None, low_tick, high_tick]


@given(SAMPLES, st.lists(st.integers(0, 60), max_size=4))
def test_totals_equal_one_sample_after_another_wherever_blocks_end(samples: list[float], cuts: list[int]) -> None:
    inside = sorted(cut for cut in cuts if cut <= len(samples))
    found, expected = totals_of([[value] for value in samples], inside), reference(samples)
    assert [str(number) for number in found] == [str(number) for number in expected]


def test_the_mean_adds_in_sample_order() -> None:
    samples = [0.1] * 5000
    plan = plan_of(run=RunSettings(steps=4999), measure=MeasureSettings(series_every=0))
    sampler = MeasurePlan.bind(plan, ("Alive",)).sampler()
    total = 0.0
    for tick, value in enumerate(samples):
        sampler.push(tick, {"Alive": value})
        total += value
    assert sampler.finish()[0]["Alive:mean"] == total / 5000


def test_a_window_mean_adds_in_sample_order_across_blocks() -> None:
    window = (ReducerSpec(column="Alive", kind="mean@10..4000"),)
    plan = plan_of(run=RunSettings(steps=4999), measure=MeasureSettings(series_every=0, reducers=window))
    sampler = MeasurePlan.bind(plan, ("Alive",)).sampler()
    total = 0.0
    for tick in range(5000):
        sampler.push(tick, {"Alive": 0.1 * tick})
        total += 0.1 * tick if 10 <= tick <= 4000 else 0.0
    assert sampler.finish()[0]["Alive:mean@10..4000"] == total / 3991
