"""Plans: numbering, counting, seeds by run, schedules, warnings."""

from __future__ import annotations

import tracemalloc

import pytest

from henad_web.explore.outcomes import PlannedRun
from henad_web.explore.seeds import run_seed
from henad_web.explore.spec import ActionSpec, RunSettings, SeedScheme, SeedSettings
from henad_web.explore.warnings import ActionAfterEnd
from tests.shared.schemas import block, column, move, plan_of, span, table, values, vary


def test_no_blocks_are_one_config_of_defaults_and_set_values() -> None:
    plan = plan_of(fixed=(("size", 5), ("mode", "exact")))
    assert len(plan.configs) == 1
    assert plan.configs[0].params == (5, plan.schema.defaults[1], plan.schema.defaults[2], True, "exact")
    assert [(each.design, each.first_config, each.config_count) for each in plan.blocks] == [("factorial", 0, 1)]


def test_values_stand_in_schema_order_whatever_the_order_of_factors() -> None:
    forward = plan_of(block(vary("size", values(3)), vary("rate", values(0.5))))
    backward = plan_of(block(vary("rate", values(0.5)), vary("size", values(3))))
    assert forward.configs[0].params == backward.configs[0].params
    assert forward.configs[0].params[:2] == (3, 0.5)


def test_blocks_follow_each_other() -> None:
    plan = plan_of(
        block(vary("size", values(1, 2))),
        block(vary("rate", values(0.1, 0.2, 0.4)), vary("size", values(7, 8, 9)), design="zip"),
        table("size\n20\n"),
    )
    assert column(plan, "size") == [1, 2, 7, 8, 9, 20]
    assert [config.block for config in plan.configs] == [0, 0, 1, 1, 1, 2]
    assert [config.config_id for config in plan.configs] == [0, 1, 2, 3, 4, 5]


def test_configs_are_a_sequence() -> None:
    configs = plan_of(block(vary("size", span(1, 5)))).configs
    assert configs[-1].params[0] == 5
    assert [config.params[0] for config in configs[1:4:2]] == [2, 4]
    for outside in (5, -6):
        with pytest.raises(IndexError):
            configs[outside]


def test_run_ids_count_replicates_inside_configs() -> None:
    plan = plan_of(block(vary("size", values(1, 2))), run=RunSettings(replicates=3))
    assert [(run.run_id, run.config_id, run.rep) for run in plan.runs()] == [
        (0, 0, 0), (1, 0, 1), (2, 0, 2), (3, 1, 0), (4, 1, 1), (5, 1, 2),
    ]  # fmt: skip
    assert plan.run_count == 6
    for outside in (6, -1):
        with pytest.raises(IndexError):
            plan.run(outside)


def test_n_points_times_replicates_are_exactly_that_many_runs() -> None:
    plan = plan_of(block(vary("size", values(1, 2, 3, 4))), run=RunSettings(replicates=3))
    assert len(list(plan.runs())) == 12


@pytest.mark.parametrize("scheme", list(SeedScheme))
def test_every_run_has_the_seed_of_its_scheme(scheme: SeedScheme) -> None:
    plan = plan_of(
        block(vary("size", values(1, 2))), run=RunSettings(replicates=2), seeds=SeedSettings(root=9, scheme=scheme)
    )
    expected = [PlannedRun(c * 2 + r, c, r, run_seed(scheme, 9, c, r)) for c in range(2) for r in range(2)]
    assert list(plan.runs()) == expected


def test_total_ticks_are_warmup_and_steps() -> None:
    plan = plan_of(run=RunSettings(warmup=7, steps=26))
    assert (plan.warmup, plan.total_ticks) == (7, 33)


def test_a_level_moves_an_action_and_leaves_the_others() -> None:
    actions = (ActionSpec(id="pulse", tick=9), ActionSpec(id="pulse", name="second", tick=3))
    plan = plan_of(block(move("second", values(3, 20))), actions=actions)
    assert [config.action_ticks for config in plan.configs] == [(9, 3), (9, 20)]
    schedules = [[(due.tick, due.id, due.name) for due in plan.schedule(config)] for config in plan.configs]
    assert schedules == [
        [(3, "pulse", "second"), (9, "pulse", "pulse")],
        [(9, "pulse", "pulse"), (20, "pulse", "second")],
    ]


def test_actions_of_one_tick_keep_the_order_of_the_spec() -> None:
    actions = (ActionSpec(id="pulse", tick=5), ActionSpec(id="clear", tick=5), ActionSpec(id="clear", name="a", tick=1))
    plan = plan_of(actions=actions)
    assert [due.name for due in plan.schedule(plan.configs[0])] == ["a", "pulse", "clear"]


def test_an_action_past_the_end_of_some_configs_is_warned_of() -> None:
    plan = plan_of(block(move("pulse", values(10, 41, 90))), run=RunSettings(steps=40))
    assert plan.warnings() == (ActionAfterEnd("pulse", 90, 40, 2),)
    assert str(plan.warnings()[0]) == (
        "action 'pulse' is scheduled as late as tick 90, but runs end at tick 40: in 2 configs it never fires"
    )


def test_an_action_at_the_last_tick_is_not_warned_of() -> None:
    assert plan_of(block(move("pulse", values(40))), run=RunSettings(steps=30, warmup=10)).warnings() == ()


def test_warnings_count_configs_over_all_blocks_and_designs() -> None:
    plan = plan_of(
        block(vary("size", values(1, 2, 3)), move("pulse", values(5, 50))),
        block(vary("size", values(1, 2))),
        table("action.pulse\n60\n1\n"),
        block(move("pulse", values(70, 2)), vary("size", values(1, 2)), design="zip"),
        actions=(ActionSpec(id="pulse", tick=45),),
        run=RunSettings(steps=40),
    )
    assert plan.warnings() == (ActionAfterEnd("pulse", 70, 40, 3 + 2 + 1 + 1),)


def test_a_huge_plan_is_counted_and_walked_without_being_listed() -> None:
    factors = [vary("size", span(1, 512)), move("pulse", span(0, 2**15 - 1))]
    tracemalloc.start()
    plan = plan_of(block(*factors), run=RunSettings(steps=2**14))
    assert plan.config_count == 2**24
    assert plan.configs[2**24 - 1].params[0] == 512
    assert plan.configs[2**15].action_ticks == (0,)
    assert plan.warnings() == (ActionAfterEnd("pulse", 2**15 - 1, 2**14, 512 * (2**14 - 1)),)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 2_000_000


def test_the_plan_of_one_spec_is_one_plan() -> None:
    plans = [
        plan_of(
            block(
                vary(
                    "size",
                    span(1, 4),
                ),
                design="random",
                samples=5,
            )
        )
        for _ in range(2)
    ]
    assert plans[0].plan_hash == plans[1].plan_hash
    assert list(plans[0].configs) == list(plans[1].configs)
