"""Laws of adaptive replicates: which rounds there are, what is narrow enough, and that only whole rounds decide."""

from __future__ import annotations

import math
import random
from itertools import islice

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

import henad_web as hw
from henad_web.explore.intervals import IntervalKind, RunningStatistics, t_quantile, wilson_interval
from henad_web.explore.replication import NotBinaryError, Replication, is_narrow, is_reached, round_ends
from tests.shared.adaptive_studies import HIT, NORMAL, SIZE, adaptive, naive_count


def fold(*numbers: float) -> RunningStatistics:
    found = RunningStatistics()
    for number in numbers:
        found.push(number)
    return found


def precision(column: str = "A:final", **settings: object) -> hw.Precision:
    return hw.Precision(column=column, **settings)  # type: ignore[arg-type]


def test_each_round_adds_a_quarter_of_what_there_is_up_to_the_most() -> None:
    assert list(round_ends(10, 100)) == [10, 13, 17, 22, 28, 35, 44, 55, 69, 87, 100]
    assert list(round_ends(2, 7)) == [2, 3, 4, 5, 7]
    assert list(round_ends(4, 4)) == [4]
    assert list(islice(round_ends(100, 2**24), 3)) == [100, 125, 157]


@pytest.mark.parametrize(
    ("degrees", "confidence", "quantile"),
    [
        (1, 0.9, 6.313752),
        (30, 0.9, 1.697261),
        (40, 0.9, 1.683851),
        (120, 0.9, 1.657651),
        (1, 0.99, 63.656741),
        (30, 0.99, 2.749996),
        (40, 0.99, 2.704459),
        (120, 0.99, 2.617421),
    ],
)
def test_quantiles_of_other_levels_are_those_of_printed_tables(
    degrees: int, confidence: float, quantile: float
) -> None:
    assert t_quantile(degrees, confidence) == pytest.approx(quantile, abs=1e-6)


@pytest.mark.parametrize(("hits", "count", "low", "high"), [(0, 10, 0.0, 0.277533), (5, 10, 0.236593, 0.763407)])
def test_the_interval_of_wilson(hits: int, count: int, low: float, high: float) -> None:
    found = wilson_interval(fold(*[1.0] * hits, *[0.0] * (count - hits)))
    assert found == pytest.approx((low, high), abs=1e-6)


@pytest.mark.parametrize(("confidence", "z"), NORMAL.items())
@pytest.mark.parametrize(("hits", "count"), [(1, 100), (7, 9), (10, 10)])
def test_its_ends_are_the_shares_that_are_just_not_rejected(hits: int, count: int, confidence: float, z: float) -> None:
    found = wilson_interval(fold(*[1.0] * hits, *[0.0] * (count - hits)), confidence)
    assert found is not None
    for share in found:
        assert (hits / count - share) ** 2 == pytest.approx(z * z * share * (1 - share) / count, abs=1e-12)


def test_wilson_has_no_interval_of_nothing_and_of_what_is_no_share() -> None:
    assert wilson_interval(fold()) is None
    assert wilson_interval(fold(3.0, 4.0)) is None


def test_a_width_is_narrow_at_its_bound_and_not_above_it() -> None:
    numbers = fold(1.0, 2.0, 4.0)
    half = numbers.half_width()
    assert half is not None
    low, high = numbers.mean - half, numbers.mean + half
    half = (high - low) / 2
    assert is_narrow(precision(half_width=half), numbers)
    assert not is_narrow(precision(half_width=half * 0.999999), numbers)
    assert is_narrow(precision(relative=1.000001 * half / numbers.mean), numbers)
    assert not is_narrow(precision(relative=0.999999 * half / numbers.mean), numbers)
    assert is_narrow(precision(relative=1.000001 * half / numbers.mean), fold(-1.0, -2.0, -4.0))
    assert not is_narrow(precision(half_width=half, confidence=0.99), numbers)
    assert is_narrow(precision(half_width=half / 1.4, confidence=0.9), numbers)


def test_one_value_and_none_are_never_narrow() -> None:
    for interval in IntervalKind:
        asked = precision(half_width=1e9, interval=interval)
        assert [is_narrow(asked, fold(*[1.0] * count)) for count in range(3)] == [False, False, True]


def test_at_a_mean_of_zero_only_no_width_is_narrow_relative_to_it() -> None:
    assert not is_narrow(precision(relative=1e6), fold(-1.0, 1.0))
    assert is_narrow(precision(relative=0.01), fold(0.0, 0.0))
    assert not is_narrow(precision(relative=0.01, interval=IntervalKind.WILSON), fold(0.0, 0.0))


def test_values_that_are_all_equal_are_narrow_for_student_and_not_yet_for_wilson() -> None:
    zeros = fold(*[0.0] * 10)
    assert is_narrow(precision(half_width=0.05), zeros)
    assert not is_narrow(precision(half_width=0.05, interval=IntervalKind.WILSON), zeros)


VALUES = st.one_of(
    st.none(), st.sampled_from([0.0, 1.0]), st.floats(-5, 50), st.just(math.nan), st.just(math.inf), st.just(-math.inf)
)


@given(
    gave=st.lists(st.tuples(st.sampled_from([0.0, 1.0, None, math.nan]), VALUES), min_size=40, max_size=40),
    least=st.integers(2, 12),
    width=st.floats(0.1, 30),
    order=st.randoms(use_true_random=False),
)
def test_a_config_gets_what_the_rule_written_plainly_gives_it(
    gave: list[tuple[float | None, float | None]], least: int, width: float, order: random.Random
) -> None:
    rule = adaptive(
        replace(HIT, half_width=width / 30),
        precision("B:final", half_width=width, confidence=0.99),
        least=least,
        most=40,
    )
    expected, narrow = naive_count(rule, gave)
    told = Replication(rule, 3)
    ends: list[int] = []
    while not told.is_settled(1):
        asked = told.missing(1)
        assert asked == list(range(ends[-1] if ends else 0, told.asked(1)))
        ends.append(told.asked(1))
        order.shuffle(asked)
        for rep in asked:
            assert told.missing(1), "decided before the round was whole"
            assert told.tell(1, rep, gave[rep])
    assert ends[-1] == expected
    assert ends == list(round_ends(least, 40))[: len(ends)]
    assert [told.missing(config_id) for config_id in (0, 1, 2)] == [list(range(least)), [], list(range(least))]
    folds = [RunningStatistics(), RunningStatistics()]
    for row in gave[:expected]:
        for each, value in zip(folds, row, strict=True):
            if value is not None and math.isfinite(value):
                each.push(value)
    assert is_reached(rule, expected, folds) == narrow


def test_the_end_of_a_narrow_round_is_reached_and_nothing_between() -> None:
    rule, equal = adaptive(precision(half_width=0.1), least=4, most=9), [fold(1.0, 1.0)]
    assert [count for count in range(12) if is_reached(rule, count, equal)] == [4, 5, 7, 9]
    assert not is_reached(rule, 9, [fold(0.0, 1.0)])


def test_what_was_not_asked_for_is_not_taken() -> None:
    told = Replication(adaptive(precision(half_width=0.5), least=3, most=9), 1)
    assert not told.tell(0, 3, [1.0])
    assert told.missing(0) == [0, 1, 2]
    assert [told.tell(0, rep, [1.0]) for rep in (2, 0)] == [True, True]
    assert (told.missing(0), told.is_settled(0)) == ([1], False)
    assert told.remaining(slice(None)) == (1, 7)
    assert told.tell(0, 1, [1.0])
    assert (told.missing(0), told.is_settled(0), told.remaining(slice(None))) == ([], True, (0, 0))
    assert not told.tell(0, 3, [1.0])


def test_a_larger_most_asks_for_all_that_a_smaller_one_does() -> None:
    chance = random.Random(5)
    for _ in range(50):
        gave = [(chance.gauss(1.0, chance.choice([0.1, 1.0])),) for _ in range(90)]
        small, large = (naive_count(adaptive(SIZE, most=most), gave)[0] for most in (30, 90))
        told = Replication(adaptive(SIZE, most=90), 1)
        assert all(told.tell(0, rep, gave[rep]) for rep in range(small))
        assert small <= large
        assert told.is_settled(0) == (small == large)


@pytest.mark.parametrize("value", [0.5, -1.0, 2.0, 1e300])
def test_another_value_than_0_or_1_has_no_interval_of_wilson(value: float) -> None:
    asked = precision("Hit:max", half_width=0.1, interval=IntervalKind.WILSON)
    told = Replication(adaptive(asked, least=8), 8)
    for rep, gave in enumerate((0.0, 1.0, -0.0, None, math.nan, math.inf)):
        told.tell(7, rep, [gave])
    wrong = "config 7, rep 6: column 'Hit:max' is .* takes 0 or 1; run the study"
    with pytest.raises(NotBinaryError, match=wrong) as caught:
        told.tell(7, 6, [value])
    error = caught.value
    assert (error.column, error.config_id, error.rep, error.value) == ("Hit:max", 7, 6, value)
