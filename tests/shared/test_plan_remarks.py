"""What a plan tells about its blocks: factors in words, levels and configs that are there twice, cadences too long."""

from __future__ import annotations

import dataclasses
from unittest import mock

import numpy as np
import pytest

import henad_web as hw
from henad_web.explore import plan_remarks
from henad_web.explore.levels import SteppedLevels
from henad_web.explore.plan import Plan
from henad_web.explore.plan_remarks import PlannedFactor
from henad_web.explore.spec import BlockSpec, FactorSpec, RunSettings
from henad_web.explore.warnings import RepeatedConfigs, RepeatedLevel
from henad_web.model.params import f32, text
from tests.shared import wide_values
from tests.shared.schemas import ALL, PULSE, SCHEMA, block, move, plan_of, span, table, values, vary


def told(*blocks: BlockSpec, **spec: object) -> list[str]:
    return [str(warning) for warning in plan_of(*blocks, actions=(PULSE,), **spec).warnings()]


@pytest.mark.parametrize(
    ("factor", "design", "words"),
    [
        (vary("rate", span(0, 1, 0.3)), "factorial", "0, 0.3, 0.6, 0.9"),
        (vary("rate", span(0, 1, 0.1)), "factorial", "0, 0.1, ..., 1: 11 levels"),
        (vary("rate", span(0.1, 0.7)), "lhs", "0.1 to 0.7"),
        (vary("size", span(1, 1000)), "lhs", "1 to 1000"),
        (vary("size", span(1, 1000, 300)), "random", "1, 301, 601, 901"),
        (vary("size", span(1, 1000)), "factorial", "1, 2, ..., 1000: 1000 levels"),
        (vary("mode", ALL), "zip", "fast, slow, exact"),
        (vary("wrap", ALL), "zip", "false, true"),
        (move("pulse", values(7)), "factorial", "7"),
        (move("pulse", span(0, 2**64 - 1)), "random", "0 to 18446744073709551615"),
    ],
)
def test_a_plan_says_what_each_factor_takes(factor: FactorSpec, design: str, words: str) -> None:
    """A range from 0 to 1 by 0.3 ends at 0.9, and that is seen before anything runs."""
    planned = plan_of(block(factor, design=design, samples=3 if design in ("lhs", "random") else None)).blocks[0]
    name = factor.param or f"action.{factor.action}"
    assert planned.factors == (PlannedFactor(name, words),)


def test_a_table_says_itself_what_varies() -> None:
    assert plan_of(table("rate\n0.1\n")).blocks[0].factors == ()


@pytest.mark.parametrize("design", ["factorial", "random", "lhs"])
def test_a_level_that_stands_twice_is_told_with_its_block_and_factor(design: str) -> None:
    samples = None if design == "factorial" else 1
    blocks = (
        block(vary("size", values(1, 2))),
        block(vary("rate", values(0.1, 0.3, 0.1, 0.10000000001, 0.3)), design=design, samples=samples),
    )
    (warning,) = [found for found in plan_of(*blocks).warnings() if isinstance(found, RepeatedLevel)]
    assert warning == RepeatedLevel(block=1, factor="rate", value="0.1", times=3, more=1)
    assert str(warning) == (
        "block 1: 'rate' has the level 0.1 3 times, and its configs are made as often; 1 more level does so, too"
    )


def test_levels_of_every_kind_are_compared_as_values() -> None:
    assert told(block(vary("mode", values("fast", 0)))) == [
        "block 0: 'mode' has the level fast 2 times, and its configs are made as often"
    ]
    assert told(block(move("pulse", values(3, "3", 3.0)))) == [
        "block 0: 'action.pulse' has the level 3 3 times, and its configs are made as often"
    ]
    assert told(block(vary("wrap", values(True, False)), vary("size", span(1, 9)))) == []


def test_steps_narrower_than_single_precision_make_one_level_of_two() -> None:
    wide = block(vary("far", span(16777214, 16777220, 0.5)))
    schema = SCHEMA.__class__(
        model="study",
        name="Study",
        backend="cpu",
        params=(f32("far", "Far", 0.0, 0.0, 1e9), text("rule", "Rule", "a")),
        stats=(),
        actions=(),
    )
    plan = Plan.of(hw.SweepSpec(model="study", blocks=(wide,)), schema)
    (warning,) = plan.warnings()
    assert isinstance(warning, RepeatedLevel)
    levels = [config.params[0] for config in plan.configs]
    assert (warning.value, warning.times, warning.is_least) == ("16777214", levels.count(16777214.0), False)
    assert warning.more + 1 == sum(levels.count(level) > 1 for level in set(levels)) > 1
    even = block(vary("far", span(16777216, 16777220, 2)), vary("rule", values("a" * 50, "b")))
    plan = Plan.of(hw.SweepSpec(model="study", blocks=(even,)), schema)
    assert plan.warnings() == ()
    assert plan.blocks[0].factors[1].levels == f"{'a' * 40}..., b"


def test_steps_narrower_than_double_precision_do_so_too() -> None:
    levels = "min = 1e17, max = 100000000000000060, step = 1"
    plan = wide_values.plan_of(f'[[block]]\nfactors = [{{ param = "level", range = {{ {levels} }} }}]')
    (warning,) = plan.warnings()
    assert isinstance(warning, RepeatedLevel)
    found = wide_values.column(plan, "level")
    assert (warning.value, warning.times, warning.is_least) == ("100000000000000000", found.count(1e17), False)
    assert warning.more + 1 == sum(found.count(level) > 1 for level in set(found)) > 1


@pytest.mark.parametrize(
    ("ends", "times"), [("min = -16777216, max = -16000000", 2), ("min = 16000000, max = 16777216", 3)]
)
def test_of_a_long_range_only_the_levels_nearest_to_each_other_are_compared(ends: str, times: int) -> None:
    text = f'[[block]]\nfactors = [{{ param = "share", range = {{ {ends}, step = 0.5 }} }}]'
    params = (hw.f32("share", "Share", 0.0, -1e9, 1e9),)
    schema = dataclasses.replace(SCHEMA, params=params, actions=())
    plan = hw.parse_spec(f'model = "study"\n{text}').spec.plan(schema)
    looked_at: list[int] = []

    def level(self: SteppedLevels, position: int) -> float:
        looked_at.append(position)
        return float(np.float32(self.low + position * self.step))

    with mock.patch.object(SteppedLevels, "__getitem__", level):
        (warning,) = plan.warnings()
    assert len(looked_at) < plan_remarks._MOST_COMPARED + 9
    assert isinstance(warning, RepeatedLevel)
    assert (warning.times, warning.is_least) == (times, True)
    assert "; at least " in str(warning)


def repeats(*blocks: BlockSpec) -> list[RepeatedConfigs]:
    return [found for found in plan_of(*blocks).warnings() if isinstance(found, RepeatedConfigs)]


def counted(plan: Plan) -> int:
    return plan.config_count - len({(config.params, config.action_ticks) for config in plan.configs})


def test_points_that_are_drawn_twice_are_told_with_their_count() -> None:
    drawn = block(vary("size", span(1, 10, 1)), design="lhs", samples=64)
    assert told(drawn) == ["block 0: 54 of its 64 configs have the values of an earlier one"]
    assert told(block(vary("size", values(1, 2, 2)), vary("wrap", values(True, False, False)), design="zip")) == [
        "block 0: 1 of its 3 configs has the values of an earlier one"
    ]


@pytest.mark.parametrize(
    "factors",
    [
        (vary("rate", span(0.5, 0.500001)),),
        (vary("rate", span(0, 1, 0.25)), vary("size", span(1, 9)), vary("mode", ALL)),
        (vary("size", values(3, 3, 4)), move("pulse", span(2**63, 2**63 + 3))),
        (vary("loss", values(0.1, 0.10000000001, 0.2)), vary("wrap", ALL)),
        (vary("rate", span(0, 1)), vary("size", span(1, 2))),
    ],
)
@pytest.mark.parametrize("design", ["lhs", "random"])
def test_the_count_is_that_of_the_configs(factors: tuple[FactorSpec, ...], design: str) -> None:
    drawn = block(*factors, design=design, samples=80, seed=5)
    expected = counted(plan_of(drawn))
    assert [warning.repeated for warning in repeats(drawn)] == ([expected] if expected else [])


def test_of_many_configs_only_those_that_must_repeat_are_counted_and_none_is_drawn() -> None:
    drawn = block(vary("size", span(1, 10)), vary("wrap", ALL), design="lhs", samples=2**20)
    with mock.patch("henad_web.explore.sampled_designs.LhsDesign.draw", side_effect=AssertionError("drawn")):
        assert told(drawn) == ["block 0: at least 1048556 of its 1048576 configs have the values of an earlier one"]
        assert told(block(vary("rate", span(0, 1)), design="lhs", samples=2**20)) == []
    with mock.patch.object(plan_remarks, "_MOST_COMPARED", 63):
        assert repeats(block(vary("size", span(1, 64)), design="random", samples=64)) == []


def test_what_repeats_by_its_arrangement_is_not_told() -> None:
    assert told(block(vary("size", values(1, 2)), vary("wrap", ALL)), table("size\n1\n1\n")) == []


@pytest.mark.parametrize(("every", "steps", "is_told"), [(51, 50, True), (50, 50, False), (1, 0, False), (9, 0, False)])
def test_a_cadence_longer_than_the_runs_is_told(every: int, steps: int, is_told: bool) -> None:
    found = told(run=RunSettings(steps=steps, warmup=50), measure=hw.MeasureSettings(stats_every=every))
    sentence = f"`stats_every` is {every}, but runs take {steps} steps: only the first and the last tick are sampled"
    assert [text for text in found if "stats_every" in text] == ([sentence] if is_told else [])


def test_a_timeout_of_no_time_is_a_warning() -> None:
    assert [str(warning) for warning in plan_of(run=RunSettings(timeout_s=0.0)).warnings()] == [
        "`timeout_s` is 0: every run ends as timed_out almost at once; leave it out for no timeout"
    ]
    assert not plan_of(run=RunSettings(timeout_s=0.5)).warnings()
