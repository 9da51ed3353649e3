"""Stop conditions as text."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

import henad_web as hw
from henad_web.explore.conditions import CompoundStop, condition_text, parse_condition, understood_stop
from henad_web.explore.plan import Plan
from henad_web.explore.spec import RunSettings, StopExpression, StopSpec, SweepSpec
from henad_web.explore.spec_file import parse_spec, spec_to_json, spec_to_toml
from henad_web.explore.where import WhereError
from henad_web.model.fnv import Fnv1a64
from henad_web.model.schema import Stat
from tests.shared.schemas import GREY, SCHEMA, only_problem, plan_of

LABELS = ("a", "b", "Mean age", "Drift", "and", "x < 1")


@pytest.mark.parametrize(
    ("text", "column", "comparison", "threshold"),
    [
        ("Infected <= 0", "Infected", "<=", 0.0),
        ("Infected<=0", "Infected", "<=", 0.0),
        ("  Share of x  >  2.5e-1 ", "Share of x", ">", 0.25),
        ("a < b == 3", "a < b", "==", 3.0),
        ("Drift.x != -1", "Drift.x", "!=", -1.0),
    ],
)
def test_a_condition_is_column_comparator_number(text: str, column: str, comparison: str, threshold: float) -> None:
    assert parse_condition(text) == StopSpec(column=column, comparison=comparison, threshold=threshold)


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("Infected", "no comparator"),
        ("Infected = 0", "'=' is not a comparator"),
        ("Infected =< 0", "'=<' is not a comparator"),
        ("Infected <> 0", "'<>' is not a comparator"),
        ("<= 0", "no column"),
        ("Infected <=", "'' is not a number"),
        ("Infected <= 0,5", "'0,5' is not a number"),
        ("Infected <= 1e999", "'1e999' is not a finite number"),
    ],
)
def test_other_texts_say_what_is_wrong(text: str, wrong: str) -> None:
    with pytest.raises(ValueError, match=r"^") as caught:
        parse_condition(text)
    assert wrong in str(caught.value)


@given(
    st.sampled_from(["<", "<=", ">", ">=", "==", "!="]),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(0, 2**64 - 1),
)
def test_a_condition_survives_its_text(comparison: str, threshold: float, min_tick: int) -> None:
    stop = StopSpec(column="Infected", comparison=comparison, threshold=threshold, min_tick=min_tick)
    assert parse_condition(condition_text(stop), min_tick=min_tick) == stop


def understood(text: str, labels: tuple[str, ...] = LABELS) -> StopSpec | CompoundStop:
    return understood_stop(parse_condition(text), labels)


def canonical(text: str) -> str:
    stop = understood(text)
    assert isinstance(stop, CompoundStop)
    return stop.text


def holds(text: str, **values: float) -> bool:
    stop = understood(text)
    assert isinstance(stop, CompoundStop)
    return stop.over({name: place for place, name in enumerate(values)})(list(values.values()))


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a<1 and b>2", "a < 1 and b > 2"),
        ("((a < 1)) and (b > (2))", "a < 1 and b > 2"),
        ("(a < 1 or b > 2) or a == 3", "a < 1 or b > 2 or a == 3"),
        ("a < 1 or (b > 2 or (a == 3))", "a < 1 or b > 2 or a == 3"),
        ("(a < 1 or b > 2) and a == 3", "(a < 1 or b > 2) and a == 3"),
        ("a < 1 or (b > 2 and a == 3)", "a < 1 or b > 2 and a == 3"),
        ("not(a<1)and b>1.50", "not a < 1 and b > 1.5"),
        ("not (a < 1 and b > 2)", "not (a < 1 and b > 2)"),
        ("not (not (a < 1))", "not not a < 1"),
        ("0 < a < b <= 1e3", "0 < a < b <= 1000"),
        ("(a + b) - 1 > 0", "a + b - 1 > 0"),
        ("a - (b - 1) > 0", "a - (b - 1) > 0"),
        ("(a + b) * 2 > 0", "(a + b) * 2 > 0"),
        ("(a * b) + 2 > 0", "a * b + 2 > 0"),
        ("(a * b) / (a + 1) > -(b)", "a * b / (a + 1) > -b"),
        ("-(a + b) < -2", "-(a + b) < -2"),
        ("a / (b / 2) > a", "a / (b / 2) > a"),
        ("0.000001 < a", "0.000001 < a"),
        ("9007199254740993 < a", "9007199254740992 < a"),
        ("not (7 < (-(0)))", "not 7 < 0"),
        ("(-(0)) < a / -0", "0 < a / -0"),
        ("'a' < 1 and \"Mean age\" > 2", 'a < 1 and "Mean age" > 2'),
        ("'and' < 1 and Drift.magnitude > 'Drift.x'", '"and" < 1 and Drift.magnitude > Drift.x'),
        ("'say \"x\"' < 1 and a > 2", "'say \"x\"' < 1 and a > 2"),
    ],
)
def test_a_condition_of_several_comparisons_has_one_canonical_text(text: str, written: str) -> None:
    assert canonical(text) == written
    assert canonical(written) == written


NUMBERS: st.SearchStrategy[str] = st.recursive(
    st.sampled_from(["a", "b", "'Mean age'", '"and"', "3", "0.5", "1e9", "Drift.x"]),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(" ".join),
        inner.map("-{}".format),
        inner.map("( {})".format),
    ),
    max_leaves=5,
)
CONDITIONS: st.SearchStrategy[str] = st.recursive(
    st.lists(NUMBERS, min_size=2, max_size=3).flatmap(
        lambda parts: st.sampled_from(["<", "<=", ">", ">=", "==", "!="]).map(lambda sign: f" {sign} ".join(parts))
    ),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(" ".join),
        inner.map("not ({})".format),
        inner.map("({} )".format),
    ),
    max_leaves=5,
)
VALUES = st.fixed_dictionaries(
    {name: st.floats() for name in ("a", "b", "Mean age", "and", "Drift.x")},
)


@given(CONDITIONS, VALUES)
def test_the_canonical_text_reads_back_and_means_the_same(text: str, values: Mapping[str, float]) -> None:
    stop = understood(text)
    if isinstance(stop, StopSpec):
        return
    again = understood(f"({stop.text})")
    assert isinstance(again, CompoundStop)
    assert again.text == stop.text
    places, row = {name: place for place, name in enumerate(values)}, list(values.values())
    assert again.over(places)(row) is stop.over(places)(row)


def test_a_known_column_makes_one_comparison_of_a_text() -> None:
    assert understood("x < 1 > 3") == StopSpec(column="x < 1", comparison=">", threshold=3.0)
    assert canonical("a < b > 3") == "a < b > 3"
    assert understood("a - b > 3", ("a - b", "a", "b")) == StopSpec(column="a - b", comparison=">", threshold=3.0)
    assert canonical("a - b > 3") == "a - b > 3"


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Drift.x > 3 and a>2", "Drift.x > 3 and a > 2"),
        ("Drift.x > 3 and aa>2", "Drift.x > 3 and aa > 2"),
        ("Drift.x<b<2", "Drift.x < b < 2"),
        ("Drift.x - b>2", "Drift.x - b > 2"),
    ],
)
def test_an_expression_may_begin_with_a_part_of_a_statistic(text: str, written: str) -> None:
    assert canonical(text) == written


@pytest.mark.parametrize(
    "column", ["Drift.x", "Drift.[0, 1)", "Drift.q < r", "Drift.up to 3", "Drift.x and y", "Drift.a - q"]
)
def test_a_part_of_a_statistic_may_be_called_anything(column: str) -> None:
    assert understood(f"{column} > 3") == StopSpec(column=column, comparison=">", threshold=3.0)


@pytest.mark.parametrize("text", ["(a <= -0.5)", "a <= -0.5", "'a' <= -0.50", "((a)) <= (-0.5)"])
def test_one_comparison_in_other_words_is_one_comparison(text: str) -> None:
    assert understood(text) == StopSpec(column="a", comparison="<=", threshold=-0.5)


@pytest.mark.parametrize(
    ("text", "held"),
    [
        ("a > 1 and b > 1", False),
        ("a > 1 or b > 1", True),
        ("not (a > 1 and b > 1)", True),
        ("0 < b < a < 3", True),
        ("not 0 < b < a < 2", True),
        ("a - 2 * b == 0", True),
        ("a / b > 1.5 and -a < b", True),
        ("a / 0 > 1e300 and -a / 0 < -1e300", True),
        ("a / -(b - 1) < -1e300 and b == 1", True),
        ("b - 1 == 0 and 0 / (b - 1) == 0", False),
        ("not 0 / (b - 1) == 0", False),
    ],
)
def test_a_condition_of_several_comparisons_means_what_it_says(text: str, held: bool) -> None:
    assert holds(text, a=2.0, b=1.0) is held


@pytest.mark.parametrize("comparison", ["<", "<=", ">", ">=", "==", "!="])
@pytest.mark.parametrize("form", ["a {} 1 or a != a", "not (a {} 1 or b > 9)", "not (not (a {} 1)) and b > 0"])
def test_what_is_not_a_number_satisfies_neither_a_comparison_nor_its_opposite(form: str, comparison: str) -> None:
    assert not holds(form.format(comparison), a=math.nan, b=1.0)


@given(CONDITIONS, VALUES)
def test_not_turns_a_condition_over_where_all_values_are_finite(text: str, values: Mapping[str, float]) -> None:
    stop, turned = understood(f"{text} or a < a"), understood(f"not ({text} or a < a)")
    assert isinstance(stop, CompoundStop)
    assert isinstance(turned, CompoundStop)
    places, row = {name: place for place, name in enumerate(values)}, list(values.values())
    both = stop.over(places)(row), turned.over(places)(row)
    assert both != (True, True)
    if "/" not in text and "-" not in text and all(abs(value) < 1e9 for value in row):
        assert True in both


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("a < 1 and", "a name or a value is missing at the end at character 10"),
        ("a < 1 and b", "no comparator found at character 11"),
        ("a < 1 Or b > 2", "`and`, `or` or a comparator is missing at character 7"),
        ("(a < 1) + b > 2 and 1 < a", "true or false where a number is needed at character 2"),
        ("(a < 1", "`)` is missing at the end at character 7"),
        ("a < 1 & b > 2 & a", "not a word of an expression at character 7"),
        ("not true and a < b", "no comparison at character 5"),
        ("a < 1 and true == b", "true or false where a number is needed at character 11"),
        ("__import__('os') < a", "`and`, `or` or a comparator is missing at character 11"),
    ],
)
def test_a_wrong_expression_says_what_and_where(text: str, wrong: str) -> None:
    with pytest.raises(WhereError) as caught:
        understood(text)
    assert str(caught.value) == wrong


def stopping(text: str, min_tick: int = 0) -> Plan:
    return plan_of(run=RunSettings(stop=StopExpression(condition=text, min_tick=min_tick)))


def test_a_condition_of_several_comparisons_enters_the_fingerprint_by_its_canonical_text() -> None:
    plan = stopping("(Alive>1) and  Drift.x <= 2", min_tick=7)
    head = Fnv1a64().text("henad.results.2").u64(int(SCHEMA.schema_hash, 16)).u64(0).u64(1000)
    written = head.byte(2).text("Alive > 1 and Drift.x <= 2").u64(7)
    assert plan.results_fingerprint == written.u64(1).u64(1).byte(1).u64(0).u64(1).text("pulse").hex()
    assert plan.plan_hash == stopping("Alive > 1 and (Drift.x <= 2)", min_tick=7).plan_hash
    assert plan.plan_hash != stopping("Alive > 1 and Drift.x <= 2", min_tick=8).plan_hash


def test_one_comparison_keeps_its_hash_however_it_is_written() -> None:
    single = plan_of(run=RunSettings(stop=StopSpec(column="Alive", comparison="<=", threshold=0.5)))
    assert stopping("(Alive <= 0.5)").plan_hash == stopping("'Alive' <= 0.5").plan_hash == single.plan_hash


@pytest.mark.parametrize("text", ["(Alive > 1) or Dead < 2 + Drift.x", "Alive > 1 and 'Dead' < 2", "not (Alive > 1)"])
def test_a_condition_of_several_comparisons_survives_its_files(text: str) -> None:
    plan = stopping(text, min_tick=3)
    for again in (parse_spec(spec_to_toml(plan.spec)).spec, parse_spec(spec_to_json(plan.spec)).spec):
        assert again.run == plan.spec.run
        assert hw.spec_hash(again) == hw.spec_hash(plan.spec)
        assert again.plan(SCHEMA).plan_hash == plan.plan_hash


def test_unknown_columns_of_an_expression_are_told_with_their_place_and_a_near_miss() -> None:
    stop = StopExpression(condition="Alive > 1 and (Daed < 2)")
    problem = only_problem(run=RunSettings(stop=stop))
    assert (problem.place.table, problem.place.key) == (("run", "stop"), "condition")
    assert problem.wrong == "character 16 of the expression: no such statistic"
    assert (problem.came, problem.hint) == ("'Daed'", "did you mean 'Dead'?")


WORDY = dataclasses.replace(SCHEMA, stats=(Stat("Mean age", GREY), Stat("b", GREY)))


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("Mean age > 1 and b < 2", 'such a column stands in quotes: "Mean age"'),
        ("b < 2 and Mean age > b", "a column of several words stands in quotes"),
    ],
)
def test_a_label_of_several_words_that_is_not_in_quotes_is_told(text: str, hint: str) -> None:
    with pytest.raises(hw.HenadError, match=hint):
        SweepSpec(model="study", run=RunSettings(stop=StopExpression(condition=text))).plan(WORDY)
    quoted = StopExpression(condition=text.replace("Mean age", "'Mean age'"))
    assert SweepSpec(model="study", run=RunSettings(stop=quoted)).plan(WORDY).stop


def test_a_label_that_is_in_quotes_is_not_told() -> None:
    stop = StopExpression(condition="'Mean age' > 1 and c < 2")
    with pytest.raises(hw.HenadError) as caught:
        SweepSpec(model="study", run=RunSettings(stop=stop)).plan(WORDY)
    assert str(caught.value).endswith("no such statistic, got 'c'; allowed: Mean age, b")


def test_an_expression_that_is_none_is_refused_where_it_is_made() -> None:
    with pytest.raises(hw.SpecError, match=r"\[run.stop\] condition: character 17 of the expression: `\)` is missing"):
        RunSettings(stop=StopExpression(condition="(Alive > Drift.x"))
