"""What users of such tools report as broken about ranges, designs, ticks and measuring, each with its small input."""

from __future__ import annotations

import json
from collections import Counter
from itertools import pairwise

import msgspec
import pytest

import henad_web as hw
from henad_web.explore.spec import ActionSpec, MeasureSettings, RunSettings
from henad_web.explore.warnings import StopsAtStart
from henad_web.model.params import f32, u32
from henad_web.model.schema import ModelSchema
from tests.shared.hosts import Host
from tests.shared.schemas import (
    SCHEMA,
    block,
    column,
    move,
    only_problem,
    plan_of,
    problems_of,
    span,
    table,
    values,
    vary,
)
from tests.shared.toy_models import Inverse, Toy, entry_of

TOY, INVERSE = entry_of(Toy), entry_of(Inverse, stats=("Inverse",))


def texts(low: float, high: float, step: float) -> list[str]:
    plan = plan_of(block(vary("loss", span(low, high, step))))
    return [SCHEMA.param("loss").text(float(str(level))) for level in column(plan, "loss")]


def toy(measure: hw.MeasureSettings | None = None, **run: object) -> hw.SweepSpec:
    settings = hw.RunSettings(**run)  # type: ignore[arg-type]
    return hw.SweepSpec(model="toy", run=settings, measure=measure or hw.MeasureSettings())


def rows(files: dict[str, bytes], name: str) -> list[dict[str, str]]:
    header, *lines = [line.split(",") for line in files[name].decode().splitlines()]
    return [dict(zip(header, line, strict=True)) for line in lines]


# Ranges, designs, parameters


def test_the_last_value_of_a_range_is_not_lost() -> None:
    assert texts(0.2, 0.3, 0.025) == ["0.2", "0.225", "0.25", "0.275", "0.3"]
    assert texts(0.4, 0.6, 0.05) == ["0.4", "0.45", "0.5", "0.55", "0.6"]


def test_a_range_works_from_a_tenth_as_from_zero() -> None:
    found = texts(0.1, 2.0, 0.1)
    assert (len(found), found[0], found[-1]) == (20, "0.1", "2")


def test_no_level_lies_beyond_the_maximum() -> None:
    assert texts(0.0, 1.0, 0.1) == [f"{tenth / 10:g}" for tenth in range(11)]


def test_a_step_of_zero_neither_hangs_nor_becomes_one() -> None:
    for low, high in ((0.0, 0.0), (0.0, 1.0)):
        problem = only_problem(block(vary("rate", span(low, high, 0.0))))
        assert (problem.wrong, problem.allowed) == ("parameter 'rate': the range never ends", "a step above 0")
    assert only_problem(block(vary("size", span(1, 4, 0)))).place.key == "step"


def test_a_range_does_not_drift() -> None:
    found = texts(0.0, 1.0, 0.1)
    assert (len(found), found[-1], found[3]) == (11, "1", "0.3")


def test_a_bound_the_steps_miss_is_neither_moved_nor_taken() -> None:
    assert texts(0.0, 1.0, 0.3) == ["0", "0.3", "0.6", "0.9"]


def test_the_plan_shows_that_the_end_of_a_range_is_included() -> None:
    assert plan_of(block(vary("size", span(1, 10)))).blocks[0].config_count == 10


def test_a_grid_is_counted_not_listed() -> None:
    params = tuple(u32(f"p{number}", "P", default=0, min=0, max=1) for number in range(30))
    schema = ModelSchema(model="wide", name="Wide", backend="cpu", params=params, stats=(), actions=())
    factors = (vary(f"p{number}", values(0, 1)) for number in range(30))
    with pytest.raises(hw.PlanError, match="1 073 741 824 configs, the limit is 16 777 216"):
        hw.SweepSpec(model="wide", blocks=(block(*factors),)).plan(schema)


def test_an_empty_list_is_refused_by_the_name_of_its_factor() -> None:
    problem = only_problem(block(vary("rate", values())))
    assert (problem.wrong, problem.came) == ("parameter 'rate' has no levels", "[]")


def test_a_text_is_one_level_and_not_its_letters() -> None:
    text = 'model = "study"\n[[block]]\nfactors = [{ param = "mode", values = "fast" }]\n'
    assert column(hw.parse_spec(text).spec.plan(SCHEMA), "mode") == ["fast"]


def test_replicates_are_not_squared() -> None:
    plan = plan_of(block(vary("size", values(1, 2)), vary("rate", values(0.1, 0.2))), run=RunSettings(replicates=3))
    assert (plan.run_count, len(list(plan.runs()))) == (12, 12)


def test_parameter_columns_are_not_swapped() -> None:
    plan = plan_of(block(vary("loss", values(0.5)), vary("rate", values(0.25))))
    assert (column(plan, "loss"), column(plan, "rate")) == ([0.5], [0.25])
    assert hw.plan_columns(plan)[6:11] == tuple(param.id for param in SCHEMA.params)


def test_a_parameter_given_twice_names_both_places() -> None:
    problem = only_problem(block(vary("rate", values(0.1)), vary("size", values(1)), vary("rate", values(0.2))))
    assert problem.place.table == ("block", 0, "factors", 2)
    assert problem.hint == "factor #1 varies it already; remove one of them"


def test_a_zip_is_not_cut_to_its_shortest_list() -> None:
    problem = only_problem(block(vary("size", values(1, 2, 3)), vary("rate", values(0.1, 0.2)), design="zip"))
    assert problem.came == "size 3, rate 2"


def test_a_zero_is_a_value() -> None:
    assert plan_of(fixed=(("rate", 0), ("loss", 0.0))).configs[0].params[1:3] == (0.0, 0.0)
    assert plan_of(seeds=hw.SeedSettings(root=0), run=RunSettings(steps=0)).total_ticks == 0


def test_a_table_is_run() -> None:
    assert column(plan_of(table("size,rate\n3,0.5\n4,0.25\n")), "size") == [3, 4]


def test_a_hypercube_over_whole_numbers_reaches_both_ends_alike() -> None:
    plan = plan_of(block(vary("size", span(1, 3)), design="lhs", samples=99))
    assert Counter(column(plan, "size")) == {1: 33, 2: 33, 3: 33}


def test_a_seed_is_not_ignored() -> None:
    plans = [plan_of(block(vary("rate", span(0.0, 1.0)), design="lhs", samples=8, seed=seed)) for seed in (1, 1, 2)]
    assert plans[0].plan_hash == plans[1].plan_hash != plans[2].plan_hash


@pytest.mark.parametrize("id", ["seed", "run_id", "status"])
def test_a_parameter_named_like_a_file_column_is_refused(id: str) -> None:
    params = (f32(id, "X", default=0.0, min=0.0, max=1.0),)
    schema = ModelSchema(model="study", name="S", backend="cpu", params=params, stats=(), actions=())
    with pytest.raises(hw.PlanError, match=f"rename it in the model, such as 'study_{id}'"):
        hw.SweepSpec(model="study").plan(schema)


def test_constants_stand_in_the_table_and_in_the_manifest(host: Host) -> None:
    spec = msgspec.structs.replace(toy(steps=2), fixed=(("value", 7),))
    files = host.files(TOY, spec)
    assert rows(files, "runs.csv")[0]["value"] == "7"
    assert json.loads(files["manifest.json"])["spec"]["set"] == {"value": 7}


def test_a_single_precision_value_is_shown_as_it_was_given() -> None:
    plan = plan_of(block(vary("rate", values(0.05))))
    (row,) = hw.plan_table(plan)
    assert row[7] == "0.05"
    again = plan_of(block(vary("rate", values(row[7]))))
    assert list(map(again.run_key, again.runs())) == list(map(plan.run_key, plan.runs()))


# Ticks, stop conditions, measuring


def test_a_run_of_ten_steps_has_the_ticks_0_to_10(host: Host) -> None:
    files = host.files(TOY, toy(steps=10))
    assert [row["tick"] for row in rows(files, "series.csv")] == [str(tick) for tick in range(11)]
    assert rows(files, "runs.csv")[0]["ticks"] == "10"


def test_a_sparse_series_keeps_the_tick_with_the_value(host: Host) -> None:
    found = rows(host.files(TOY, toy(hw.MeasureSettings(stats_every=4), steps=10)), "series.csv")
    assert [(row["tick"], row["Ticks"]) for row in found] == [("0", "0"), ("4", "4"), ("8", "8"), ("10", "10")]


def test_cadences_that_never_meet_are_refused() -> None:
    problem = only_problem(measure=MeasureSettings(stats_every=5, series_every=3))
    assert (problem.place.key, problem.came) == ("series_every", "3")


def test_the_last_tick_is_never_missing(host: Host) -> None:
    measure = hw.MeasureSettings(stats_every=1, series_every=10)
    found = rows(host.files(TOY, toy(measure, steps=25)), "series.csv")
    assert [row["tick"] for row in found] == ["0", "10", "20", "25"]


def test_a_number_that_is_none_is_an_empty_field_and_a_note(host: Host) -> None:
    spec = hw.SweepSpec(model=INVERSE.id, run=hw.RunSettings(steps=4), fixed=(("value", 2),))
    files = host.files(INVERSE, spec)
    assert "" in [row["Inverse"] for row in rows(files, "series.csv")]
    (run,) = rows(files, "runs.csv")
    assert (run["status"], run["note"]) == ("non_finite", "Inverse is not finite at tick 2")


def test_measuring_more_changes_no_number_of_a_run(host: Host, small_sir: hw.SweepSpec, models: hw.ModelSet) -> None:
    reducers = (hw.ReducerSpec(column="Infected", kind="argmax"),)
    more = msgspec.structs.replace(
        small_sir, measure=msgspec.structs.replace(small_sir.measure, stats_every=1, reducers=reducers)
    )
    plain, measured = (host.files(models["sir"], spec)["series.csv"] for spec in (small_sir, more))
    assert plain == measured


def test_a_run_of_a_sweep_is_the_run_of_a_plain_loop(host: Host, small_sir: hw.SweepSpec, models: hw.ModelSet) -> None:
    entry, plan = models["sir"], small_sir.plan(models["sir"].schema())
    config, run = plan.configs[1], plan.run(3)
    state = entry.build(config.params, run.seed)
    due = {action.tick: action.id for action in plan.schedule(config)}
    expected = []
    for tick in range(31):
        if tick:
            state.step()
        if tick in due:
            state.act(due[tick])
        if tick % 6 == 0:
            expected.append({"run_id": "3", "tick": str(tick), **{k: f"{v:g}" for k, v in state.stats().items()}})
    found = rows(host.files(entry, small_sir), "series.csv")
    assert [row for row in found if row["run_id"] == "3"] == expected


def test_frames_and_a_plain_pump_give_the_same_bytes(
    stepped: Host, host: Host, small_sir: hw.SweepSpec, models: hw.ModelSet
) -> None:
    drawn, plain = (hw.masked(each.files(models["sir"], small_sir)) for each in (stepped, host))
    for name in ("runs.csv", "series.csv", "summary.csv"):
        assert drawn[name] == plain[name]


def test_a_stop_that_holds_at_once_is_a_run_of_no_ticks_and_a_warning(host: Host) -> None:
    stop = hw.StopSpec(column="Ticks", comparison="<=", threshold=0.0)
    events = host.drain(host.start(TOY, toy(steps=5, stop=stop)))
    (outcome,) = [event.outcome for event in events if isinstance(event, hw.RunFinished)]
    assert (outcome.status, outcome.stop_reason, outcome.ticks) == ("ok", "condition", 0)
    assert [event.warning for event in events if isinstance(event, hw.Warned)] == [StopsAtStart("Ticks <= 0", 0)]
    assert "takes no step" in str(StopsAtStart("Ticks <= 0", 0))


def test_a_stop_of_several_comparisons_ends_a_run_and_may_hold_at_once(host: Host) -> None:
    later = hw.StopExpression(condition="(2 <= Ticks) and Ticks * 2 < 9")
    events = host.drain(host.start(TOY, toy(steps=5, stop=later)))
    (outcome,) = [event.outcome for event in events if isinstance(event, hw.RunFinished)]
    assert (outcome.stop_reason, outcome.ticks) == ("condition", 2)
    now = hw.StopExpression(condition="not (Ticks > 0)")
    events = host.drain(host.start(TOY, toy(steps=5, stop=now)))
    assert [event.warning for event in events if isinstance(event, hw.Warned)] == [StopsAtStart("not (Ticks > 0)", 0)]


@pytest.mark.parametrize(
    "run",
    [
        {"steps": 5, "stop": hw.StopExpression(condition="Ticks <= 0 and not (Ticks == 0)")},
        {"steps": 5, "stop": hw.StopSpec(column="Ticks", comparison="<=", threshold=0.0, min_tick=1)},
        {"steps": 5, "stop": hw.StopSpec(column="Ticks", comparison=">", threshold=0.0)},
        {"steps": 5, "warmup": 1, "stop": hw.StopSpec(column="Ticks", comparison="<=", threshold=0.0)},
        {"steps": 0, "stop": hw.StopSpec(column="Ticks", comparison="<=", threshold=0.0)},
        {"steps": 5},
    ],
)
def test_a_stop_that_may_come_later_is_not_warned_of(host: Host, run: dict[str, object]) -> None:
    events = host.drain(host.start(TOY, toy(**run)))  # type: ignore[arg-type]
    assert [event.warning for event in events if isinstance(event, hw.Warned)] == []


@pytest.mark.parametrize(("tick", "is_known"), [(0, False), (1, True)])
def test_a_stop_may_not_hold_at_once_any_more_once_an_action_at_tick_0_has_fired(
    host: Host, tick: int, is_known: bool
) -> None:
    stop = hw.StopSpec(column="Ticks", comparison="<=", threshold=0.0)
    spec = toy(steps=5, stop=stop)
    entry = entry_of(Toy, actions=("mark",))
    outline = hw.plan_spec(
        entry, msgspec.structs.replace(spec, actions=(ActionSpec(id="mark", tick=tick),)), target=host.target
    )
    assert outline.warnings == (StopsAtStart("Ticks <= 0", 0),) * is_known


def test_a_sweep_without_series_has_no_rows_of_them(host: Host) -> None:
    outline = hw.plan_spec(TOY, toy(hw.MeasureSettings(series_every=0), steps=11), target=host.target)
    assert outline.series_rows == 0


def test_a_series_of_every_nth_tick_ends_with_the_last(host: Host) -> None:
    measure = hw.MeasureSettings(stats_every=2, series_every=4)
    ticks = [int(row["tick"]) for row in rows(host.files(TOY, toy(measure, steps=11)), "series.csv")]
    assert ticks == [0, 4, 8, 11]
    assert all(one < other for one, other in pairwise(ticks))


def test_an_action_past_the_end_is_warned_of_and_not_refused() -> None:
    late = (ActionSpec(id="pulse", tick=1000),)
    assert problems_of(actions=late) == ()
    assert [str(warning) for warning in plan_of(actions=late, run=RunSettings(steps=10)).warnings()] == [
        "action 'pulse' is scheduled as late as tick 1000, but runs end at tick 10: in 1 config it never fires"
    ]
    assert plan_of(block(move("pulse", values(10))), run=RunSettings(steps=10)).warnings() == ()
