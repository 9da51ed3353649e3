"""Double-precision, wide whole-number and text parameters in ranges, designs, expressions and warnings of a plan."""

from __future__ import annotations

import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import henad_web as hw
from henad_web.errors import Problem
from henad_web.explore.levels import ContinuousDomain, decimal_levels
from henad_web.explore.spec import SpecValue
from henad_web.model.params import ParamValue
from tests.shared.wide_values import HIGHEST, LOWEST, SCHEMA, column, plan_of

WHOLE_SPAN = f'{{ param = "offset", range = {{ min = {LOWEST}, max = {HIGHEST} }} }}'
WHOLE_LEVEL = '{ param = "level", range = { min = -1e300, max = 1e300 } }'


def block(*factors: str, design: str = "factorial", rest: str = "") -> str:
    return f'[[block]]\ndesign = "{design}"\n{rest}\nfactors = [{", ".join(factors)}]\n'


def ranged(param: str, low: float, high: float, step: float | None = None) -> str:
    stepped = "" if step is None else f", step = {step!r}"
    return f'{{ param = "{param}", range = {{ min = {low!r}, max = {high!r}{stepped} }} }}'


def listed(param: str, *values: SpecValue) -> str:
    return f'{{ param = "{param}", values = {list(values)} }}'


def problem_of(text: str) -> Problem:
    with pytest.raises(hw.PlanError) as caught:
        plan_of(text)
    (problem,) = caught.value.problems
    return problem


def test_a_range_of_doubles_holds_the_decimals_that_its_steps_reach() -> None:
    assert column(plan_of(block(ranged("level", 0, 1, 0.1))), "level") == [place / 10 for place in range(11)]
    assert column(plan_of(block(ranged("level", -0.3, 0.3, 0.1))), "level") == [-0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3]
    assert column(plan_of(block(ranged("level", 0, 1, 0.3))), "level") == [0, 0.3, 0.6, 0.9]
    assert column(plan_of(block(ranged("level", 1e16, 10000000000000004, 2))), "level") == [1e16, 1e16 + 2, 1e16 + 4]


@given(low=st.decimals(-1000, 1000, places=3), step=st.decimals("0.001", 10, places=3), steps=st.integers(0, 300))
def test_every_level_is_the_double_nearest_to_its_decimal(low: Decimal, step: Decimal, steps: int) -> None:
    levels = decimal_levels(float(low), float(low + steps * step), float(step))
    assert levels is not None
    assert [levels[place] for place in range(len(levels))] == [float(low + place * step) for place in range(steps + 1)]


@given(low=st.floats(-1e300, 1e300), width=st.floats(0, 1e300), step=st.floats(1e-300, 1e300))
def test_levels_of_doubles_ascend_within_their_ends(low: float, width: float, step: float) -> None:
    high = low + width
    levels = decimal_levels(low, high, step)
    if levels is None:
        assert (Decimal(high) - Decimal(low)) / Decimal(step) > 2**24 - 2
        return
    some = [levels[place] for place in sorted({0, len(levels) // 2, len(levels) - 1})]
    assert some == sorted(some)
    assert some[0] == low + 0.0 if len(levels) > 1 else some[0] in (low, high)
    assert some[-1] <= high


@given(low=st.floats(-1e308, 1e308), high=st.floats(-1e308, 1e308), fraction=st.floats(0, 1))
@example(-1.7e308, 1.7e308, 0.0)
@example(-1.7e308, 1.7e308, 0.75)
def test_a_drawn_double_lies_within_its_bounds_and_is_the_same_alone_and_in_a_column(
    low: float, high: float, fraction: float
) -> None:
    domain = ContinuousDomain(min(low, high), max(low, high), is_double=True)
    value = domain.at(fraction)
    assert domain.low <= value <= domain.high
    assert domain.column(np.array([fraction])).tolist() == [value]
    assert math.copysign(1, value) == 1 or value < 0


def test_a_range_of_wide_whole_numbers_is_exact() -> None:
    assert column(plan_of(block(ranged("offset", -3, 3))), "offset") == [-3, -2, -1, 0, 1, 2, 3]
    assert column(plan_of(block(ranged("offset", LOWEST, LOWEST + 5, 2))), "offset") == [LOWEST, LOWEST + 2, LOWEST + 4]
    assert column(plan_of(block(ranged("offset", 2**53, 2**53 + 2))), "offset") == [2**53, 2**53 + 1, 2**53 + 2]
    problem = problem_of(block(WHOLE_SPAN))
    assert "too many levels" in problem.wrong
    assert "not a whole number" in problem_of(block(ranged("offset", 0, 3, 0.5))).wrong
    assert "out of range" in problem_of(block(ranged("offset", HIGHEST, HIGHEST + 1))).wrong


@pytest.mark.parametrize(
    ("factor", "key", "wrong"),
    [
        (ranged("level", 0, 1, 1e-9), "step", "too many levels"),
        (ranged("level", -1e301, 0, 1e300), "min", "out of range"),
        (ranged("level", 0, 1e301, 1e300), "max", "out of range"),
        (ranged("level", 0, 1e301), "max", "out of range"),
    ],
)
def test_a_range_of_doubles_that_cannot_be_is_refused(factor: str, key: str, wrong: str) -> None:
    problem = problem_of(block(factor, design="lhs", rest="samples = 4"))
    assert problem.place.key == key
    assert wrong in problem.wrong


@pytest.mark.parametrize("design", ["random", "lhs"])
def test_the_whole_span_of_both_is_drawn_without_overflow(design: str) -> None:
    plan = plan_of(block(WHOLE_SPAN, WHOLE_LEVEL, design=design, rest="samples = 64"))
    offsets, levels = column(plan, "offset"), column(plan, "level")
    for values, top in ((offsets, 2.0**63), (levels, 1e300)):
        shares = sorted(float(value) / top for value in values)
        assert -1 <= shares[0] < -0.8
        assert 0.8 < shares[-1] <= 1
        if design == "lhs":
            assert [math.floor((share + 1) * 32) for share in shares] == list(range(64))
    assert all(type(offset) is int for offset in offsets)
    assert len(plan.plan_hash) == 16


def test_one_value_is_a_range_too() -> None:
    text = block(ranged("offset", -5, -5), ranged("level", -0.5, -0.5), design="lhs", rest="samples = 3")
    assert {config.params[2:4] for config in plan_of(text).configs} == {(-0.5, -5)}


def test_zip_and_tables_take_the_values_as_they_are() -> None:
    zipped = block(listed("offset", -1, 2), listed("level", -1.5, 2), listed("rule", "a", "b,c"), design="zip")
    tabled = '[[block]]\ndesign = "table"\ntable_text = "offset,level,rule\\n-1,-1.5, a \\n2,2,\\"b,c\\"\\n"\n'
    for text in (zipped, tabled):
        assert [config.params[2:5] for config in plan_of(text).configs] == [(-1.5, -1, "a"), (2.0, 2, "b,c")]
    frozen = hw.freeze(hw.parse_spec(f'model = "wide"\n{zipped}').spec, SCHEMA)
    assert [config.params for config in frozen.plan(SCHEMA).configs] == [
        config.params for config in plan_of(zipped).configs
    ]


def test_a_frozen_draw_has_the_same_values() -> None:
    text = block(WHOLE_SPAN, WHOLE_LEVEL, listed("rule", "x", 'y"'), design="lhs", rest="samples = 20")
    spec = hw.parse_spec(f'model = "wide"\n{text}').spec
    frozen = hw.parse_spec(hw.spec_to_toml(hw.freeze(spec, SCHEMA))).spec
    plan, again = spec.plan(SCHEMA), frozen.plan(SCHEMA)
    assert [plan.run_key(run) for run in plan.runs()] == [again.run_key(run) for run in again.runs()]


def test_a_text_knows_values_only() -> None:
    for factor, key in (("range = { min = 0, max = 1 }", "range"), ('levels = "all"', "levels")):
        problem = problem_of(block(f'{{ param = "rule", {factor} }}'))
        assert (problem.place.key, problem.hint) == (key, 'list its levels, such as values = ["one", "two"]')
        assert "is a text" in problem.wrong
    problem = problem_of(block(listed("rule", 8)))
    assert (problem.wrong, problem.came, problem.hint) == ("parameter 'rule': not a text", "8", 'write "8" in quotes')


def kept(
    where: str, *factors: str, param: str = "offset", design: str = "factorial", rest: str = ""
) -> list[ParamValue]:
    lines = f"where = '''{where}'''\n{rest}"
    return column(plan_of(block(*factors, design=design, rest=lines)), param)


BIG = 2**53
NEAR = listed("offset", BIG - 1, BIG, BIG + 1, -BIG - 1)


@pytest.mark.parametrize(
    ("where", "offsets"),
    [
        (f"offset == {BIG + 1}", [BIG + 1]),
        (f"offset > {BIG}", [BIG + 1]),
        (f"offset < -{BIG}", [-BIG - 1]),
        (f"offset == -{BIG + 1}", [-BIG - 1]),
        (f"offset != {BIG + 1} and offset > 0", [BIG - 1, BIG]),
        (f"offset <= {BIG}.0 and 0.5 < offset", [BIG - 1, BIG]),
        ("offset > level", [BIG - 1, BIG, BIG + 1]),
        ("offset == 1 / 0", []),
    ],
)
def test_whole_numbers_past_the_doubles_compare_exactly(where: str, offsets: list[int]) -> None:
    if offsets:
        assert kept(where, NEAR) == offsets
    else:
        assert problem_of(block(NEAR, rest=f"where = '{where}'")).wrong == "the expression keeps no config"


def test_they_compare_exactly_from_every_kind_of_domain() -> None:
    drawn = f'{{ param = "offset", range = {{ min = {2**60}, max = {2**60 + 3} }} }}'
    assert set(kept(f"offset == {2**60 + 3}", drawn, design="random", rest="samples = 64")) == {2**60 + 3}
    assert kept(f"offset == {2**60 + 1}", drawn) == [2**60 + 1]
    many = f'{{ param = "offset", range = {{ min = {2**60}, max = {2**60 + 70000} }} }}'
    assert kept(f"offset > {2**60 + 69998}", many) == [2**60 + 69999, 2**60 + 70000]
    fixed = f"[set]\noffset = {2**60 + 1}\n"
    assert len(plan_of(fixed + block(listed("level", 1, 2), rest=f"where = 'offset == {2**60 + 1}'")).configs) == 2
    assert (
        "keeps no config" in problem_of(fixed + block(listed("level", 1, 2), rest=f"where = 'offset == {2**60}'")).wrong
    )


def test_arithmetic_with_what_a_double_does_not_hold_is_refused_in_words() -> None:
    problem = problem_of(block(NEAR, rest="where = 'level < 1 and offset + 1 > 0'"))
    assert problem.place.key == "where"
    assert problem.wrong == (
        "character 15 of the expression: calculating with a number that double precision does not hold"
    )
    assert problem.came == str(BIG + 1)
    assert "calculating" in problem_of(block(listed("offset", 1), rest=f"where = 'offset * {BIG + 1} > 0'")).wrong
    assert kept("offset + 1 > 0 and offset / 2 < 2", listed("offset", -5, 3, 2**60)) == [3]


def test_doubles_count_as_they_are_and_singles_as_they_are_shown() -> None:
    levels = listed("level", 0.1, 0.30000000000000004, 0.3)
    assert kept("level <= 0.3", levels, param="level") == [0.1, 0.3]
    assert kept("level == share", listed("level", 0.4, 0.4000000059604645), param="level") == [0.4]
    drawn = kept("level > 0.5", ranged("level", 0, 1), param="level", design="lhs", rest="samples = 10")
    assert len(drawn) == 5
    close = ranged("level", 0.30000000001, 0.30000000002)
    assert len(kept("level > 0.300000000015", close, param="level", design="lhs", rest="samples = 10")) == 5


def test_texts_compare_with_quoted_texts() -> None:
    rules = listed("rule", "B3/S23", "8", "true")
    assert kept("rule == '8'", rules, param="rule") == ["8"]
    assert kept("rule != '8' and 'true' != rule", rules, param="rule") == ["B3/S23"]
    for where, wrong, hint in (
        ("rule == 8", "character 9 of the expression: a number compared with a text", "write '8' in quotes"),
        ("true != rule", "character 1 of the expression: true or false compared with a text", "write 'true' in quotes"),
        ("rule == mode", "character 9 of the expression: an option compared with a text", None),
        (
            "rule == B3",
            "character 9 of the expression: no such parameter or action",
            "a text is written in quotes: 'B3'",
        ),
        ("rule < 'a'", "character 1 of the expression: a text has no order", None),
        ("rule", "character 1 of the expression: a text where something true or false is needed", None),
    ):
        problem = problem_of(block(rules, rest=f'where = "{where}"'))
        assert problem.wrong == wrong
        assert hint is None or problem.hint == hint


def warnings(text: str) -> list[str]:
    return [str(warning) for warning in plan_of(text).warnings()]


def test_a_written_value_that_single_precision_rounds_is_a_warning() -> None:
    sentence = (
        "parameter 'share': its precision does not hold 123456789, so 123456792 is used, which tables show as 123456790"
    )
    assert warnings("[set]\nshare = 123456789\n") == [sentence]
    assert warnings(block(listed("share", 0.1, 123456789, 16777217))) == [f"{sentence}; 1 more value is rounded, too"]
    assert warnings('[[block]]\ndesign = "table"\ntable_text = "share\\n0.1\\n123456789\\n123456789\\n"\n') == [
        sentence
    ]
    assert warnings(
        '[[block]]\ndesign = "table"\ntable_text = "share,level\\n1e-1,0.1\\n0.10000000000000000555,7\\n"\n'
    ) == ["parameter 'share': its precision does not hold 0.10000000000000000555, so 0.1 is used"]
    assert warnings(block(ranged("share", 123456789, 123456800), design="lhs", rest="samples = 2")) == [sentence]
    assert warnings(block(ranged("share", 0, 123456789), design="lhs", rest="samples = 2")) == [sentence]
    assert warnings(block(ranged("share", 0, 123456789, 123456789))) == [sentence]
    assert warnings(block(listed("share", "0.12345678901"))) == [
        "parameter 'share': its precision does not hold 0.12345678901, so 0.12345679 is used"
    ]
    assert warnings(f"[set]\nlevel = {2**53 + 1}\n") == [
        "parameter 'level': its precision does not hold 9007199254740993, so 9007199254740992 is used"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "[set]\nshare = 0.1\nlevel = 0.1\n",
        block(listed("share", 0.05, 1e-3, "0.10", 16777216)),
        block(ranged("share", 0, 1, 0.3)),
        block(ranged("share", 0, 123456789, 1000.0)),
        block(ranged("share", 0, 1), design="random", rest="samples = 9"),
        '[[block]]\ndesign = "table"\ntable_text = "rule,share,offset\\n0.123456789,+1.50,123456789\\n"\n',
    ],
)
def test_what_is_held_as_it_is_written_or_was_not_written_is_none(text: str) -> None:
    assert warnings(text) == []
