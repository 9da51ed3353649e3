"""What a model refuses about a spec: all of it at once, each with its place and what to do."""

from __future__ import annotations

from typing import Any

import pytest

from henad_web.errors import ModelMismatchError, PlanError, SpecError
from henad_web.explore.plan import Plan
from henad_web.explore.spec import (
    ActionSpec,
    BlockSpec,
    DesignKind,
    FactorSpec,
    MeasureSettings,
    ReducerSpec,
    RunSettings,
    SeedSettings,
    StopExpression,
    StopSpec,
    SweepSpec,
)
from henad_web.model.params import f32
from henad_web.model.schema import ModelSchema, Stat
from tests.shared.schemas import (
    ALL,
    GREY,
    PULSE,
    SCHEMA,
    block,
    move,
    only_problem,
    problems_of,
    span,
    table,
    values,
    vary,
)


def test_a_spec_for_another_model_is_a_mismatch() -> None:
    with pytest.raises(ModelMismatchError) as caught:
        Plan.of(SweepSpec(model="sir"), SCHEMA)
    assert (caught.value.spec_model, caught.value.entry_model) == ("sir", "study")


@pytest.mark.parametrize(
    ("run", "key"),
    [
        (RunSettings(replicates=0), "replicates"),
        (RunSettings(steps=-1), "steps"),
        (RunSettings(steps=1, warmup=2**64 - 1), "steps"),
        (RunSettings(timeout_s=-1.0), "timeout_s"),
        (RunSettings(timeout_s=float("nan")), "timeout_s"),
        (RunSettings(timeout_s=float("inf")), "timeout_s"),
        (RunSettings(timeout_s=1e30), "timeout_s"),
    ],
)
def test_lengths_that_cannot_be_are_refused(run: RunSettings, key: str) -> None:
    place = only_problem(run=run).place
    assert (place.table, place.key) == (("run",), key)


@pytest.mark.parametrize(
    ("timeout_s", "wrong"),
    [(-0.5, "not a time"), (2.0**64, "too long"), (float("inf"), "not a time"), (float("nan"), "not a time")],
)
def test_a_timeout_that_cannot_be_says_why(timeout_s: float, wrong: str) -> None:
    assert only_problem(run=RunSettings(timeout_s=timeout_s)).wrong == f"the timeout is {wrong}"


def test_no_steps_and_a_timeout_of_zero_are_allowed() -> None:
    assert problems_of(run=RunSettings(steps=0, timeout_s=0.0)) == ()


@pytest.mark.parametrize(
    ("measure", "key"),
    [
        (MeasureSettings(stats_every=0), "stats_every"),
        (MeasureSettings(stats_every=3, series_every=4), "series_every"),
        (MeasureSettings(stats_every=3, series_every=1), "series_every"),
        (MeasureSettings(series_every=-1), "series_every"),
    ],
)
def test_cadences_that_cannot_be_are_refused(measure: MeasureSettings, key: str) -> None:
    place = only_problem(measure=measure).place
    assert (place.table, place.key) == (("measure",), key)


def test_a_cadence_that_is_off_gets_one_that_fits() -> None:
    for series_every, near in ((7, 6), (2, 3), (-4, 3)):
        problem = only_problem(measure=MeasureSettings(stats_every=3, series_every=series_every))
        assert problem.allowed == f"0 for no series, or a multiple such as {near}"


@pytest.mark.parametrize("column", ["Alive", "Drift.x", "Ages.[0, 1)", "Alive.anything"])
def test_labels_and_anything_below_them_may_be_measured(column: str) -> None:
    stop = StopSpec(column=column, comparison="<", threshold=1.0)
    reducers = (ReducerSpec(column=column, kind="max"),)
    assert problems_of(run=RunSettings(stop=stop), measure=MeasureSettings(reducers=reducers)) == ()


def test_unknown_statistics_get_a_near_miss() -> None:
    stop = StopSpec(column="Aliv", comparison="<", threshold=1.0)
    reducers = (ReducerSpec(column="Alive", kind="max"), ReducerSpec(column="Daed", kind="max"))
    first, second = problems_of(run=RunSettings(stop=stop), measure=MeasureSettings(reducers=reducers))
    assert (first.place.table, first.place.key, first.hint) == (("run", "stop"), "condition", "did you mean 'Alive'?")
    assert (second.place.table, second.hint) == (("measure", "reducers", 1), "did you mean 'Dead'?")


@pytest.mark.parametrize(
    ("comparison", "threshold", "wrong"),
    [("<", float("nan"), "threshold not finite"), ("=>", 1.0, "no such comparator")],
)
def test_a_comparison_that_cannot_be_is_refused(comparison: str, threshold: float, wrong: str) -> None:
    stop = StopSpec(column="Alive", comparison=comparison, threshold=threshold)
    problem = only_problem(run=RunSettings(stop=stop))
    assert (problem.place.table, problem.place.key, problem.wrong) == (("run", "stop"), "condition", wrong)


@pytest.mark.parametrize("kind", ["median", "first<nan", "mean@9..3"])
def test_a_reducer_of_no_kind_is_refused(kind: str) -> None:
    problem = only_problem(measure=MeasureSettings(reducers=(ReducerSpec(column="Alive", kind=kind),)))
    assert (problem.place.key, problem.came) == ("kinds", f"'{kind}'")


def test_actions_need_known_ids_and_names_of_their_own() -> None:
    actions = (PULSE, ActionSpec(id="pulse", tick=9), ActionSpec(id="puls", name="other", tick=1))
    same, unknown = problems_of(actions=actions)
    assert (same.place.table, same.place.key) == (("action", 1), "id")
    assert "action #1 has it already" in (same.hint or "")
    assert (unknown.place.table, unknown.place.key, unknown.hint) == (("action", 2), "id", "did you mean 'pulse'?")


@pytest.mark.parametrize(("name", "wrong"), [("x" * 140_000, "has 140000 characters"), ("a\x00b", "holds the char")])
def test_an_action_s_name_is_a_column_that_tables_can_hold(name: str, wrong: str) -> None:
    problem = only_problem(actions=(ActionSpec(id="pulse", name=name, tick=1),))
    assert (problem.place.table, problem.place.key) == (("action", 0), "name")
    assert problem.wrong.startswith(f"the name {wrong}")
    assert problems_of(actions=(ActionSpec(id="pulse", name="x" * 200, tick=1),)) == ()


def test_one_action_may_fire_twice_under_two_names() -> None:
    assert problems_of(actions=(PULSE, ActionSpec(id="pulse", name="pulse_2", tick=9))) == ()


def test_fixed_values_are_checked() -> None:
    fixed = (("szie", 3), ("rate", 1.5), ("mode", "exac"), ("size", 3), ("size", 4))
    unknown, outside, option, twice = problems_of(fixed=fixed)
    assert (unknown.place.table, unknown.place.key, unknown.hint) == (("set",), "szie", "did you mean 'size'?")
    assert (outside.came, outside.allowed) == ("1.5", "0 to 1")
    assert (option.allowed, option.hint) == ("one of fast, slow, exact", "did you mean 'exact'?")
    assert (twice.place.key, twice.wrong) == ("size", "set twice")


def test_a_target_varied_twice_names_both_places() -> None:
    problem = only_problem(block(vary("size", values(1)), vary("rate", values(1)), vary("size", values(2))))
    assert (problem.place.table, problem.place.key) == (("block", 0, "factors", 2), "param")
    assert "factor #1" in (problem.hint or "")


def test_an_action_varied_twice_is_refused() -> None:
    problem = only_problem(block(move("pulse", values(1)), move("pulse", values(2))))
    assert problem.wrong == "action 'pulse' is varied twice in one block"
    assert (problem.place.table, problem.place.key) == (("block", 0, "factors", 1), "action")


def test_a_target_may_vary_in_two_blocks() -> None:
    assert problems_of(block(vary("size", values(1))), block(vary("size", values(2)))) == ()


def test_a_target_fixed_and_varied_is_refused() -> None:
    problem = only_problem(block(vary("rate", values(1)), vary("size", values(1))), fixed=(("size", 3),))
    assert (problem.place.table, problem.place.key) == (("block", 0, "factors", 1), "param")
    problem = only_problem(table("size\n1\n"), fixed=(("size", 3),))
    assert problem.place.table == ("block", 0)


def test_unknown_targets_get_a_near_miss() -> None:
    param, action = problems_of(block(vary("szie", values(1)), move("pulze", values(1))))
    assert (param.place.key, param.hint) == ("param", "did you mean 'size'?")
    assert (action.place.key, action.hint) == ("action", "did you mean 'pulse'?")


def test_an_action_factor_needs_an_action_in_the_spec() -> None:
    problem = only_problem(block(move("pulse", values(1))), actions=())
    assert "the spec has no action names" in (problem.allowed or "")


@pytest.mark.parametrize(
    ("wrong_block", "key"),
    [
        (block(vary("rate", span(0.0, 1.0)), design="lhs"), "samples"),
        (block(vary("rate", span(0.0, 1.0)), design="random", samples=0), "samples"),
        (block(vary("rate", span(0.0, 1.0)), design="random", samples=2**24 + 1), "samples"),
        (block(vary("rate", span(0.0, 1.0)), design="lhs", samples=2, seed=-1), "design_seed"),
        (block(design="lhs", samples=2), "factors"),
        (block(vary("size", values(1)), samples=2), "samples"),
        (block(vary("size", values(1)), design="zip", seed=2), "design_seed"),
        (BlockSpec(table_text="size\n1\n"), "table_text"),
        (BlockSpec(file="a.csv"), "file"),
        (BlockSpec(design=DesignKind.TABLE), None),
        (BlockSpec(design=DesignKind.TABLE, file="a.csv"), "file"),
        (BlockSpec(design=DesignKind.TABLE, table_text="size\n1\n", factors=(vary("rate", values(1)),)), "factors"),
    ],
)
def test_a_block_that_does_not_fit_its_design_is_refused(wrong_block: BlockSpec, key: str | None) -> None:
    place = only_problem(wrong_block).place
    assert (place.table, place.key) == (("block", 0), key)


def test_of_a_long_text_its_first_line_is_shown_up_to_40_letters() -> None:
    assert only_problem(BlockSpec(table_text="size,rate\n1,0.5\n")).came == "'size,rate'"
    assert only_problem(BlockSpec(file="a" * 40)).came == f"'{'a' * 40}'"
    assert only_problem(BlockSpec(file="a" * 41)).came == f"'{'a' * 40}...'"


@pytest.mark.parametrize("factor", [FactorSpec(levels=ALL), FactorSpec(levels=ALL, param="mode", action="pulse")])
def test_a_factor_names_one_thing(factor: FactorSpec) -> None:
    assert only_problem(block(factor)).wrong == "a factor names exactly one of `param` and `action`"


def test_a_root_outside_64_bits_is_refused() -> None:
    assert only_problem(seeds=SeedSettings(root=2**64)).place.key == "root"


def wide_schema() -> ModelSchema:
    params = tuple(f32(f"p{number}", "P", default=0.0, min=0.0, max=1.0) for number in range(30))
    return ModelSchema(model="wide", name="Wide", backend="cpu", params=params, stats=(), actions=())


def test_thirty_binary_factors_are_refused_by_their_number() -> None:
    factors = tuple(vary(f"p{number}", values(0, 1)) for number in range(30))
    with pytest.raises(PlanError, match="1 073 741 824 configs, the limit is 16 777 216"):
        Plan.of(SweepSpec(model="wide", blocks=(block(*factors),)), wide_schema())


def test_configs_of_all_blocks_count_together() -> None:
    big = block(move("pulse", span(0, 2**24 - 1)))
    assert "16 777 217 configs" in only_problem(big, block(vary("size", values(1)))).wrong


def test_too_many_runs_are_refused_by_their_number() -> None:
    problem = only_problem(block(vary("size", span(1, 1000))), run=RunSettings(replicates=16_778))
    assert problem.wrong == "16 778 000 runs, the limit is 16 777 216"
    assert problem.came == "1 000 configs x 16 778 replicates"


def clashing(param: str, label: str) -> ModelSchema:
    params = (f32(param, "P", default=0.0, min=0.0, max=1.0),)
    return ModelSchema(
        model="clash", name="Clash", backend="cpu", params=params, stats=(Stat(label, GREY),), actions=()
    )


@pytest.mark.parametrize(
    ("param", "label", "wrong"),
    [
        ("alpha", "alpha", "statistic 'alpha' has the name of a parameter"),
        ("alpha", "tick", "statistic 'tick' has the name of a file column"),
        ("alpha", "run_id", "statistic 'run_id' has the name of a file column"),
        ("seed", "Alive", "parameter 'seed' has the name of a file column"),
        ("rep", "Alive", "parameter 'rep' has the name of a file column"),
    ],
)
def test_a_name_that_a_file_uses_already_is_refused_and_another_proposed(param: str, label: str, wrong: str) -> None:
    spec = SweepSpec(model="clash")
    with pytest.raises(PlanError) as caught:
        Plan.of(spec, clashing(param, label))
    (problem,) = caught.value.problems
    assert problem.wrong == wrong
    assert "rename it in the model, such as" in (problem.hint or "")
    assert Plan.of(spec, clashing(param, label), allow_name_clashes=True).config_count == 1


def test_every_problem_is_reported_at_once_in_the_order_of_the_spec_s_tables() -> None:
    problems = problems_of(
        block(vary("szie", values(1))),
        block(vary("rate", values())),
        run=RunSettings(replicates=0),
        measure=MeasureSettings(stats_every=0),
        fixed=(("loss", 99),),
        actions=(ActionSpec(id="plse", tick=1),),
    )
    assert [problem.place.table[0] for problem in problems] == ["run", "measure", "action", "set", "block", "block"]


@pytest.mark.parametrize("digits", [30, 5000])
@pytest.mark.parametrize("sign", [1, -1])
def test_numbers_of_any_length_are_refused_in_words(digits: int, sign: int) -> None:
    number = sign * 10**digits
    came = str(number) if digits == 30 else f"about {'-' * (sign < 0)}2^16609"
    specs: tuple[dict[str, object], ...] = (
        {"seeds": SeedSettings(root=number)},
        {"run": RunSettings(steps=number)},
        {"run": RunSettings(warmup=number)},
        {"run": RunSettings(stop=StopSpec(column="Alive", comparison="<", threshold=1.0, min_tick=number))},
        {"seeds": SeedSettings(list=(number,))},
        {"actions": (ActionSpec(id="pulse", tick=number),)},
    )
    for spec in specs:
        assert came in {problem.came for problem in problems_of(**spec)}  # type: ignore[arg-type]
    if sign > 0:
        assert problems_of(run=RunSettings(replicates=number))[0].place.key == "replicates"
    else:
        for told in problems_of(run=RunSettings(replicates=number), measure=MeasureSettings(stats_every=number)):
            assert told.came == came
    assert only_problem(block(vary("rate", values(0.1)), design="lhs", samples=2, seed=number)).came == came
    measure = MeasureSettings(stats_every=10**digits, series_every=10**digits + sign)
    assert only_problem(measure=measure).place.key == "series_every"
    if sign > 0:
        assert only_problem(measure=MeasureSettings(stats_every=number)).place.key == "stats_every"
        assert only_problem(measure=MeasureSettings(series_every=number)).place.key == "series_every"


def test_a_stop_that_is_none_is_refused_where_it_is_made() -> None:
    wrong: Any = "Alive <= 0"
    with pytest.raises(
        SpecError, match=r"\[run\] stop: another type, got 'Alive <= 0'; allowed: hw.StopSpec.*StopExpression"
    ):
        RunSettings(stop=wrong)
    number: Any = 5
    with pytest.raises(SpecError, match=r"\[run.stop\] condition: not a text, got the number 5"):
        StopExpression(condition=number)


def test_a_factor_over_an_action_that_is_not_scheduled_is_told_to_schedule_it() -> None:
    problem = only_problem(block(move("clear", values(1, 2))))
    assert problem.hint == 'add [[action]] with id = "clear" and a tick, such as tick = 100'
    assert only_problem(block(move("reset", values(1, 2)))).hint is None, "the model has no such action"
