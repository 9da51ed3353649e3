"""Levels: no level lost, none above the maximum, each rounded once."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from henad_web.explore.levels import ContinuousDomain, Levels, SteppedLevels, decimal_levels, stepped_levels
from henad_web.explore.spec import ActionSpec, AllLevels, LevelSpec, RangeLevels
from tests.shared.schemas import (
    ALL,
    SCHEMA,
    block,
    column,
    move,
    only_problem,
    plan_of,
    problems_of,
    span,
    values,
    vary,
)


def levels(param: str, given_levels: LevelSpec) -> list[object]:
    return column(plan_of(block(vary(param, given_levels))), param)


def texts(param: str, given_levels: LevelSpec) -> list[str]:
    return [SCHEMA.param(param).text(value) for value in levels(param, given_levels)]  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("low", "high", "step", "expected"),
    [
        (0.2, 0.3, 0.025, ["0.2", "0.225", "0.25", "0.275", "0.3"]),
        (0.4, 0.6, 0.05, ["0.4", "0.45", "0.5", "0.55", "0.6"]),
        (0.0, 1.0, 0.1, ["0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1"]),
        (0.0, 1.0, 0.3, ["0", "0.3", "0.6", "0.9"]),
        (0.1, 0.5, 0.1, ["0.1", "0.2", "0.3", "0.4", "0.5"]),
        (0.5, 0.5, 0.1, ["0.5"]),
        (0.5, 0.6, 0.2, ["0.5"]),
        (0.0, 0.2, 0.2, ["0", "0.2"]),
    ],
)
def test_a_range_holds_both_its_ends(low: float, high: float, step: float, expected: list[str]) -> None:
    assert texts("rate", span(low, high, step)) == expected


def test_a_range_that_does_not_start_at_zero_loses_nothing() -> None:
    found = texts("loss", span(0.1, 2.0, 0.1))
    assert len(found) == 20
    assert found == [f"{Decimal(tenth) / 10:f}".removesuffix(".0") for tenth in range(1, 21)]


@pytest.mark.parametrize("levels_of", [stepped_levels, decimal_levels])
def test_a_range_has_up_to_2_to_the_24_levels_and_none_beyond_its_count(
    levels_of: Callable[[float, float, float], Levels | None],
) -> None:
    assert levels_of(0.0, 2.0**24, 1.0) is None
    longest = levels_of(1.0, 2.0**24, 1.0)
    assert longest is not None
    assert (len(longest), longest[2**24 - 1]) == (2**24, 2.0**24)
    for position in (-1, 2**24):
        with pytest.raises(IndexError, match=f"level {position} of 16777216"):
            longest[position]


def test_the_value_0_05_stays_0_05() -> None:
    assert texts("rate", values(0.05)) == ["0.05"]
    assert levels("rate", values(0.05)) == [float(np.float32(0.05))]


def test_a_default_of_zero_and_a_level_of_zero_are_values() -> None:
    assert levels("rate", values(0)) == [0.0]
    assert plan_of(fixed=(("wrap", False), ("rate", 0))).configs[0].params[1:4:2] == (0.0, False)


@given(st.integers(-40, 40), st.integers(0, 40), st.integers(1, 20))
def test_decimal_ranges_have_their_decimal_count(low: int, length: int, step: int) -> None:
    tenth = Decimal("0.1")
    found = stepped_levels(float(low * tenth), float((low + length) * tenth), float(step * tenth))
    assert found is not None
    assert len(found) == length // step + 1
    expected = [float(np.float32(str((low + place * step) * tenth))) for place in range(len(found))]
    assert [found[place] for place in range(len(found))] == expected


@given(st.floats(-5, 5), st.just(0.0) | st.floats(0.01, 9), st.floats(0.001, 3))
def test_levels_ascend_inside_the_bounds(low: float, length: float, step: float) -> None:
    high = low + length
    found = stepped_levels(low, high, step)
    assert found is not None
    listed = [found[place] for place in range(len(found))]
    assert listed == sorted(listed)
    assert listed[0] == float(np.float32(low)) + 0.0
    assert listed[-1] <= float(np.float32(high))
    assert high - (low + (len(found) - 1) * step) < step


@pytest.mark.parametrize(
    ("low", "high", "step", "count", "last"),
    [
        (0.0, 1000 - 9e-7, 1.0, 1001, 1000 - 9e-7),
        (0.0, 1000 - 1.1e-6, 1.0, 1000, 999.0),
        (0.0, 1000 + 9e-7, 1.0, 1001, 1000 + 9e-7),
        (0.0, 1000 + 1.1e-6, 1.0, 1001, 1000.0),
        (0.0, 0.5 - 4e-10, 0.5, 2, 0.5 - 4e-10),
        (0.0, 0.5 - 6e-10, 0.5, 1, 0.0),
        (0.0, 9e-10, 1.0, 1, 9e-10),
        (0.0, 1.1e-9, 1.0, 1, 0.0),
    ],
)
def test_the_tolerance_of_a_range_is_a_billionth_of_its_steps_and_of_one_step_at_least(
    low: float, high: float, step: float, count: int, last: float
) -> None:
    found = stepped_levels(low, high, step)
    assert found is not None
    assert (found.count, found.last) == (count, last)


def test_whole_ranges_step_by_one_unless_told() -> None:
    assert levels("size", span(2, 5)) == [2, 3, 4, 5]
    assert levels("size", span(1, 10, 4)) == [1, 5, 9]
    assert all(type(level) is int for level in levels("size", span(2, 4)))


def test_whole_ranges_take_whole_floats() -> None:
    assert levels("size", span(2.0, 4.0, 2.0)) == [2, 4]


def test_ticks_are_whole_numbers_up_to_the_largest() -> None:
    plan = plan_of(block(move("pulse", values(0, 2**64 - 1))))
    assert [config.action_ticks for config in plan.configs] == [(0,), (2**64 - 1,)]
    plan = plan_of(block(move("pulse", span(10, 30, 10))))
    assert [config.action_ticks for config in plan.configs] == [(10,), (20,), (30,)]


def test_all_levels_of_a_choice_and_of_a_bool() -> None:
    assert levels("mode", ALL) == ["fast", "slow", "exact"]
    assert levels("wrap", ALL) == [False, True]


def test_values_go_through_the_parser_of_their_parameter() -> None:
    assert levels("mode", values("exact", 0)) == ["exact", "fast"]
    assert levels("wrap", values(True, "false")) == [True, False]
    assert levels("rate", values("0.5", 1)) == [0.5, 1.0]


@pytest.mark.parametrize(
    ("param", "given_levels", "key", "wrong"),
    [
        ("rate", span(0.5, 0.1, 0.1), "max", "reversed range"),
        ("rate", span(0.0, 1.0, 0.0), "step", "never ends"),
        ("rate", span(0.0, 1.0, -0.1), "step", "never ends"),
        ("rate", span(0.5, 0.5, 0.0), "step", "never ends"),
        ("rate", span(0.0, float("inf"), 0.1), "max", "not finite"),
        ("rate", span(float("nan"), 1.0, 0.1), "min", "not finite"),
        ("rate", span(0.0, 1.0, float("nan")), "step", "not finite"),
        ("rate", span(0.0, 1.0), "step", "needs the step"),
        ("rate", span(0.0, 1.0, 1e-9), "step", "too many levels"),
        ("rate", span(0.0, 1.2, 0.1), "max", "out of range"),
        ("rate", span(-0.1, 1.0, 0.1), "min", "out of range"),
        ("size", span(1, 4, 0.5), "step", "not a whole number"),
        ("size", span(1.5, 4), "min", "not a whole number"),
        ("size", span(0, 4), "min", "out of range"),
        ("size", span(4, 1), "max", "reversed range"),
        ("mode", span(0, 2), "range", "has options"),
        ("wrap", span(0, 1), "range", "has options"),
        ("rate", AllLevels(), "levels", "is a number"),
        ("size", AllLevels(), "levels", "is a number"),
        ("rate", values(), "values", "has no levels"),
        ("rate", values(1.5), "values", "out of range"),
        ("rate", values("fast"), "values", "not a number"),
        ("size", values(1.5), "values", "not a whole number"),
        ("mode", values("fats"), "values", "no such option"),
        ("wrap", values("yes"), "values", "neither true nor false"),
    ],
)
def test_levels_that_cannot_be_are_refused(param: str, given_levels: LevelSpec, key: str, wrong: str) -> None:
    problem = only_problem(block(vary(param, given_levels)))
    assert problem.place.key == key
    assert problem.place.table[:4] == ("block", 0, "factors", 0)
    assert wrong in problem.wrong
    assert f"parameter '{param}'" in problem.wrong


def test_every_wrong_value_of_a_list_is_named() -> None:
    assert [problem.came for problem in problems_of(block(vary("size", values(0, 5, 2000))))] == ["0", "2000"]


@pytest.mark.parametrize("tick", [-1, 1.5, True, "soon", 2**64])
def test_a_level_that_is_no_tick_is_refused(tick: object) -> None:
    problem = only_problem(block(move("pulse", values(tick))))  # type: ignore[arg-type]
    assert problem.wrong == "action 'pulse': not a tick"


def test_an_option_near_the_given_one_is_proposed() -> None:
    assert only_problem(block(vary("mode", values("fats")))).hint == "did you mean 'fast'?"


def test_a_long_range_is_counted_not_listed() -> None:
    plan = plan_of(block(move("pulse", span(0, 2**24 - 1))))
    assert plan.config_count == 2**24
    assert plan.configs[-1].action_ticks == (2**24 - 1,)
    assert only_problem(block(move("pulse", span(0, 2**24)))).allowed == "at most 16 777 216 levels"


def test_a_range_of_ticks_may_lie_past_64_bits_only_inside_them() -> None:
    late = ActionSpec(id="pulse", tick=0)
    problem = only_problem(block(move("pulse", span(2**64 - 1, 2**64))), actions=(late,))
    assert (problem.place.key, problem.wrong) == ("max", "action 'pulse': not a tick")


@given(st.floats(-5, 5), st.floats(0, 9), st.floats(0, 1, exclude_max=True))
def test_a_continuous_domain_stays_inside_its_rounded_bounds(low: float, length: float, fraction: float) -> None:
    domain = ContinuousDomain(low, low + length)
    value = domain.at(fraction)
    assert float(np.float32(low)) <= value <= float(np.float32(low + length))
    assert value == float(np.float32(value))


@pytest.mark.parametrize(
    ("low", "high", "is_double"),
    # Computed without care, the upper end comes out one place higher.
    [(-0.1, 0.2, True), (-0.6, 0.4134000688791275, False), (-0.3, 0.29787983000278473, False)],
)
def test_the_ends_of_a_continuous_domain_are_its_rounded_bounds(low: float, high: float, is_double: bool) -> None:
    domain = ContinuousDomain(low, high, is_double)
    ends = [low, high] if is_double else [float(np.float32(low)), float(np.float32(high))]
    assert [domain.at(0.0), domain.at(1.0)] == ends
    assert domain.column(np.array([0.0, 1.0])).tolist() == ends


@pytest.mark.parametrize("levels_past_single", [span(0.0, 1e300, 1e299), span(0.0, 1e300)])
def test_a_bound_past_single_precision_is_told_as_it_came(levels_past_single: RangeLevels) -> None:
    problem = only_problem(block(vary("rate", levels_past_single), design="lhs", samples=3))
    assert (problem.place.key, problem.came, problem.allowed) == ("max", "1e+300", "0 to 1")


def test_the_step_proposed_for_the_widest_range_is_a_number() -> None:
    assert only_problem(block(vary("rate", span(-1e308, 1e308)))).hint == "add one, such as step = 2e+307"


@pytest.mark.parametrize("samples", [1, 2, 4])
def test_samples_of_all_ticks_begin_their_strata(samples: int) -> None:
    plan = plan_of(block(move("pulse", span(0, 2**64 - 1)), design="lhs", samples=samples))
    found = sorted(config.action_ticks[0] for config in plan.configs)
    assert found == [stratum * 2**64 // samples for stratum in range(samples)]


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e3), st.integers(1, 300), st.floats(-1e6, 1e6))
def test_levels_read_together_are_those_read_one_by_one(low: float, step: float, count: int, last: float) -> None:
    levels = SteppedLevels(low, step, count, last)
    found = levels.column(np.arange(count, dtype=np.uint32))
    assert [str(level) for level in found.tolist()] == [str(levels[place]) for place in range(count)]


def test_a_domain_wider_than_any_double_is_drawn_in_all_of_it() -> None:
    domain = ContinuousDomain(-1.5e308, 1.5e308, is_double=True)
    fractions = [0.0, 0.25, 0.5, 0.75, 1.0]
    assert [domain.at(fraction) for fraction in fractions] == [-1.5e308, -0.75e308, 0.0, 0.75e308, 1.5e308]
    assert domain.column(np.array(fractions)).tolist() == [domain.at(fraction) for fraction in fractions]
