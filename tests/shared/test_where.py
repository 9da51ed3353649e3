"""Expressions of `where`: the grammar, the meaning of names and values, and the configs that are kept."""

from __future__ import annotations

import itertools
import tracemalloc

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from henad_web.explore.plan import Plan
from henad_web.explore.spec import ActionSpec, BlockSpec, RunSettings
from henad_web.explore.warnings import ActionAfterEnd
from henad_web.explore.where import MAX_DEPTH, WhereError, parse_where
from henad_web.model.decimals import f32_text, shown_numbers
from tests.shared.schemas import ALL, block, move, only_problem, plan_of, span, table, values, vary


def kept(text: str, *blocks: BlockSpec) -> Plan:
    return plan_of(*(msgspec.structs.replace(each, where=text) for each in blocks))


GRID = block(vary("rate", span(0.1, 0.9, 0.1)), vary("size", span(1, 10)))


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("rate <= 0.3", 30),
        ("rate < 0.3", 20),
        ("rate == 0.7", 10),
        ("rate != 0.7", 80),
        ("0.2 <= rate <= 0.4", 30),
        ("size > 5 and rate > 0.8", 5),
        ("size > 5 or rate > 0.8", 50),
        ("not size > 5", 45),
        ("not (size > 5 or rate > 0.8)", 40),
        ("size == 1 or size == 2 and rate == 0.1", 10),
        ("(size == 1 or size == 2) and rate == 0.1", 2),
        ("size * 2 - 1 == 5", 9),
        ("size - 2 - 1 == 0", 9),
        ("size / 2 / 2 == 1", 9),
        ("2 + 3 * size == 11", 9),
        ("-size < -8", 18),
        ("1 / (size - 1) > 1000", 9),
        ("(size - 1) / (size - 1) != 1", 9),
        ("rate * 10 == size", 9),
        ("size >= 1e1", 9),
        ("true", 90),
        ("mode == 'slow'", 90),
        ('mode == "slow" and wrap', 90),
        ("action.pulse == 4", 90),
        ("size>5\nand(rate>0.8)", 5),
    ],
)
def test_an_expression_keeps_what_satisfies_it(text: str, count: int) -> None:
    plan = kept(text, GRID)
    assert plan.config_count == count
    assert len(list(plan.configs)) == count


def test_kept_configs_keep_their_order_and_are_counted_on() -> None:
    factors = (vary("size", values(1, 2, 3)), vary("mode", ALL))
    plan = kept("size != 2 and mode != 'slow'", block(*factors), block(*factors, design="factorial"))
    assert [(config.params[0], config.params[4]) for config in plan.configs] == [
        (1, "fast"), (1, "exact"), (3, "fast"), (3, "exact"),
    ] * 2  # fmt: skip
    assert [config.config_id for config in plan.configs] == list(range(8))
    assert [(each.first_config, each.config_count) for each in plan.blocks] == [(0, 4), (4, 4)]


@pytest.mark.parametrize(
    ("design", "samples"), [("factorial", None), ("zip", None), ("random", 40), ("lhs", 40), ("table", None)]
)
def test_every_design_can_be_filtered(design: str, samples: int | None) -> None:
    if design == "table":
        whole = table("size,rate\n" + "".join(f"{size},0.{size}\n" for size in range(1, 10)))
    elif samples is None:
        whole = block(vary("size", span(1, 9)), vary("rate", span(0.1, 0.9, 0.1)), design=design)
    else:
        factors = (vary("size", span(1, 9)), vary("rate", span(0.0, 1.0)), vary("wrap", ALL))
        whole = block(*factors, move("pulse", values(3, 6)), design=design, samples=samples)
    text = "size > 3 and rate < 0.6 and (not wrap or action.pulse >= 4)"
    expected = [
        (config.params, config.action_ticks)
        for config in plan_of(whole).configs
        if config.params[0] > 3  # type: ignore[operator]
        and float(f32_text(float(config.params[1]))) < 0.6
        and (not config.params[3] or config.action_ticks[0] >= 4)
    ]
    found = kept(text, whole).configs
    assert [(config.params, config.action_ticks) for config in found] == expected
    assert 0 < len(expected) < len(plan_of(whole).configs)


def test_names_a_block_leaves_alone_have_their_value() -> None:
    assert kept("loss == 0.05 and size > 1", block(vary("size", values(1, 2)))).config_count == 1
    plan = plan_of(
        msgspec.structs.replace(block(vary("size", values(1, 2))), where="rate == 0.7"), fixed=(("rate", 0.7),)
    )
    assert plan.config_count == 2


def test_the_rows_of_a_table_are_compared_as_their_texts_show() -> None:
    rows = "rate,size,mode,wrap,action.pulse\n0.3,7,fast,true,3\n0.30000004,8,slow,false,4\n"
    rows += "0.1,9,fast,false,18446744073709551615\n"
    for where, sizes in (
        ("rate <= 0.3", [7, 9]),
        ("mode == 'fast' and not wrap", [9]),
        ("action.pulse < 4 or size == 8", [7, 8]),
        ("action.pulse == 18446744073709551615", [9]),
    ):
        plan = plan_of(msgspec.structs.replace(table(rows), where=where))
        assert [config.params[0] for config in plan.configs] == sizes
        assert plan.configs[-1].action_ticks[0] == {7: 3, 8: 4, 9: 2**64 - 1}[sizes[-1]]


def test_an_action_may_have_any_name() -> None:
    actions = (ActionSpec(id="pulse", tick=4, name="two words"), ActionSpec(id="pulse", tick=4, name="a-b"))
    for text in ('action."two words" > 5', "action.a-b > 5"):
        moved = move(text.split(" >")[0].removeprefix("action.").strip('"'), values(1, 5, 6))
        plan = plan_of(msgspec.structs.replace(block(moved), where=text), actions=actions)
        assert plan.config_count == 1


def test_configs_that_are_kept_have_the_keys_they_have_elsewhere() -> None:
    run = RunSettings(replicates=2)
    filtered = plan_of(msgspec.structs.replace(GRID, where="size == 3"), run=run)
    plain = plan_of(block(vary("rate", span(0.1, 0.9, 0.1)), vary("size", values(3))), run=run)
    assert [filtered.run_key(each) for each in filtered.runs()] == [plain.run_key(each) for each in plain.runs()]
    assert filtered.plan_hash == plain.plan_hash


def test_warnings_count_only_what_is_kept() -> None:
    moved = block(vary("size", values(1, 2, 3)), move("pulse", values(5, 50)))
    plan = plan_of(msgspec.structs.replace(moved, where="size != 2"), run=RunSettings(steps=40))
    assert plan.warnings() == (ActionAfterEnd("pulse", 50, 40, 2),)


@pytest.mark.parametrize(
    ("text", "at", "wrong", "hint"),
    [
        ("", 1, "a name or a value is missing at the end", None),
        ("rate <", 7, "a name or a value is missing at the end", None),
        ("rate < 0.5 size", 12, "`and`, `or` or a comparator is missing", None),
        ("rate < 0.5 AND size > 1", 12, "`and`, `or` or a comparator is missing", "write and"),
        ("(rate < 0.5", 12, "`)` is missing at the end", None),
        ("rate < 0.5)", 11, "`and`, `or` or a comparator is missing", None),
        ("rate = 0.5", 6, "not a word of an expression", "did you mean '=='?"),
        ("rate < 0.5 && size > 1", 12, "not a word of an expression", "did you mean 'and'?"),
        ("rate < 0.5 || size > 1", 12, "not a word of an expression", "did you mean 'or'?"),
        ("rate < 1 ; size", 10, "not a word of an expression", None),
        ("mode == 'fast", 9, "a quote that is never closed", None),
        ("raet < 0.5", 1, "no such parameter or action", "did you mean 'rate'?"),
        ("size > 1 and action.puls > 3", 14, "no such parameter or action", "did you mean 'action.pulse'?"),
        ("mode == fast", 9, "no such parameter or action", "an option is written in quotes: 'fast'"),
        ("mode == 'fats'", 9, "no such option", "did you mean 'fast'?"),
        ("mode == 1", 9, "an option compared with a number", "an option is compared with its name in quotes"),
        ("mode == sluggish", 9, "no such parameter or action", "an option is written in quotes: 'sluggish'"),
        ("sluggish == mode", 1, "no such parameter or action", "an option is written in quotes: 'sluggish'"),
        ("size == sluggish", 9, "no such parameter or action", None),
        ("rate > 'x'", 8, "a number compared with a text in quotes", "write a number, without quotes"),
        ("'x' < rate", 1, "a number compared with a text in quotes", "write a number, without quotes"),
        ("wrap == 'yes'", 9, "true or false compared with a text in quotes", "write true or false, without quotes"),
        ("mode < 'fast'", 1, "an option has no order", None),
        ("wrap > false", 1, "true or false has no order", None),
        ("wrap == 1", 9, "true or false compared with a number", None),
        ("size + wrap > 1", 8, "true or false where a number is needed", None),
        ("size and wrap", 1, "a number where true or false is needed", None),
        ("size", 1, "a number where something true or false is needed", "compare it, such as rate < 0.5"),
        ("1e999 > rate", 1, "a number too large", None),
        ("__import__('os')", 11, "`and`, `or` or a comparator is missing", None),
        ("rate.real > 0", 1, "no such parameter or action", "did you mean 'rate'?"),
        ("12abc > rate", 1, "not a word of an expression", None),
        ("(" * 60 + "true" + ")" * 60, MAX_DEPTH + 2, f"more than {MAX_DEPTH} levels deep", None),
    ],
)
def test_a_wrong_expression_says_where_and_what(text: str, at: int, wrong: str, hint: str | None) -> None:
    problem = only_problem(msgspec.structs.replace(GRID, where=text))
    assert (problem.place.table, problem.place.key) == (("block", 0), "where")
    assert problem.wrong == f"character {at} of the expression: {wrong}"
    assert problem.hint == hint


def test_an_expression_that_keeps_nothing_is_refused_with_the_count() -> None:
    problem = only_problem(msgspec.structs.replace(GRID, where="size > 10"))
    assert (problem.wrong, problem.came) == ("the expression keeps no config", "0 of 90 configs")
    assert problem.hint == "take another comparison, or give the factors levels for which it holds"
    assert (problem.place.table, problem.place.key) == (("block", 0), "where")


def test_the_limit_holds_before_the_filter() -> None:
    big = block(vary("size", span(1, 1000)), move("pulse", span(0, 2**20)))
    problem = only_problem(msgspec.structs.replace(big, where="size == 1"))
    assert problem.wrong == "1 048 577 000 configs to look at, the limit is 16 777 216"
    for ticks, wrong in ((2**15, "the expression keeps no config"), (2**15 + 1, "16 777 728 configs to look at")):
        full = block(vary("size", span(1, 512)), move("pulse", span(1, ticks)))
        assert only_problem(msgspec.structs.replace(full, where="rate > 2")).wrong.startswith(wrong)


def test_a_number_may_have_any_zeros_before_it() -> None:
    zeros = "0" * 5000
    plan = plan_of(msgspec.structs.replace(GRID, where=f"size > {zeros}1 or size == {zeros}"))
    assert list(plan.configs) == list(plan_of(msgspec.structs.replace(GRID, where="size > 1")).configs)


def test_parentheses_count_as_deep_as_they_stand_inside_one_another() -> None:
    beside = " and ".join(["((size > 1))"] * (MAX_DEPTH + 1))
    assert kept(f"{beside} and {'(' * MAX_DEPTH}size > 1{')' * MAX_DEPTH}", GRID).config_count == 81
    with pytest.raises(WhereError, match=f"more than {MAX_DEPTH} levels deep"):
        parse_where(f"{beside} and {'(' * (MAX_DEPTH + 1)}size > 1{')' * (MAX_DEPTH + 1)}")


def test_a_long_chain_is_no_deep_tree() -> None:
    text = " or ".join(f"size == {size}" for size in range(1, 1001))
    assert kept(text, block(vary("size", span(1, 1000)))).config_count == 1000


def test_a_large_plan_is_filtered_in_little_memory() -> None:
    big = block(vary("size", span(1, 512)), move("pulse", span(0, 2**10 - 1)))
    tracemalloc.start()
    plan = kept("size > 256 and action.pulse < 512", big)
    assert plan.config_count == 2**17
    assert (plan.configs[-1].params[0], plan.configs[-1].action_ticks) == (512, (511,))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8 * 2**17 + 4_000_000


NUMBERS = st.integers(0, 9).map(str) | st.sampled_from(["X", "Y"])
FLAGS = st.recursive(
    st.tuples(NUMBERS, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), NUMBERS).map(" ".join),
    lambda inner: st.one_of(
        inner.map(lambda part: f"not ({part})"),
        st.tuples(inner, st.sampled_from(["and", "or"]), inner).map(lambda parts: f"({' '.join(parts)})"),
    ),
    max_leaves=6,
)


@given(FLAGS)
def test_an_expression_means_what_the_same_python_means(text: str) -> None:
    where = text.replace("X", "size").replace("Y", "action.pulse")
    factors = (vary("size", span(1, 4)), move("pulse", span(0, 3)))
    expected = [(x, y) for x, y in itertools.product(range(1, 5), range(4)) if eval(text, {"X": x, "Y": y})]
    if not expected:
        assert only_problem(msgspec.structs.replace(block(*factors), where=where)).came == "0 of 16 configs"
        return
    found = kept(where, block(*factors)).configs
    assert [(config.params[0], config.action_ticks[0]) for config in found] == expected


@given(st.lists(st.floats(-(2.0**100), 2.0**100, width=32), max_size=20))
def test_a_value_is_compared_as_the_number_its_text_shows(numbers: list[float]) -> None:
    found = shown_numbers(np.array(numbers, np.float32)).tolist()
    assert found == [float(f32_text(number)) for number in numbers]


def test_an_error_of_the_grammar_knows_its_place() -> None:
    with pytest.raises(WhereError, match="character 6") as caught:
        parse_where("rate = 1")
    assert (caught.value.at, caught.value.came) == (5, "'='")


def test_kept_configs_are_found_across_stretches() -> None:
    big = block(vary("size", span(1, 1000)), move("pulse", span(0, 199)))
    plan = kept("size > 300 and size < 400 or action.pulse == 199", big)
    expected = [(size, pulse) for size in range(1, 1001) for pulse in range(200) if 300 < size < 400 or pulse == 199]
    assert plan.config_count == len(expected)
    positions = [0, len(expected) - 1, *range(0, len(expected), 997), 1]
    found = [(plan.configs[place].params[0], *plan.configs[place].action_ticks) for place in positions]
    assert found == [expected[place] for place in positions]
    assert kept("action.pulse < 100", big).resolved[0].design.late_ticks(1, 150) == (0, 0)
    late = [pulse for _, pulse in expected if pulse > 100]
    assert plan.resolved[0].design.late_ticks(1, 100) == (len(late), 199)
    columns = plan.resolved[0].design.columns(290, 20000)
    assert [size + 1 for size in columns[0].tolist()] == [size for size, _ in expected[290:20000]]
