"""Laws of every design and of every plan made of them, for factors of any kind."""

from __future__ import annotations

import msgspec
from hypothesis import given
from hypothesis import strategies as st

from henad_web.explore.plan import Plan
from henad_web.explore.spec import (
    BlockSpec,
    DesignKind,
    FactorSpec,
    LevelSpec,
    MeasureSettings,
    RunSettings,
    SeedScheme,
    SeedSettings,
    SweepSpec,
)
from henad_web.model.params import ParamKind, ParamValue
from tests.shared.schemas import ALL, PULSE, SCHEMA, move, span, values, vary

SIZES = st.tuples(st.integers(1, 1000), st.integers(0, 60)).map(lambda ends: (ends[0], min(ends[0] + ends[1], 1000)))
RATES = st.tuples(st.integers(0, 40), st.integers(0, 10)).map(lambda ends: (ends[0] / 50, (ends[0] + ends[1]) / 50))
FACTORS: st.SearchStrategy[dict[str, FactorSpec]] = st.fixed_dictionaries(
    {},
    optional={
        "size": SIZES.map(lambda ends: vary("size", span(*ends))),
        "rate": RATES.map(lambda ends: vary("rate", span(*ends, 0.02))),
        "loss": st.lists(st.floats(-5, 5, width=32), min_size=1, max_size=4).map(
            lambda levels: vary("loss", values(*levels))
        ),
        "mode": st.just(vary("mode", ALL)),
        "wrap": st.just(vary("wrap", ALL)),
        "pulse": st.tuples(st.integers(0, 2**60), st.integers(0, 9)).map(
            lambda ends: move("pulse", span(ends[0], sum(ends)))
        ),
    },
)
SAMPLED = st.builds(
    BlockSpec,
    design=st.sampled_from([DesignKind.RANDOM, DesignKind.LHS]),
    factors=FACTORS.filter(bool).map(lambda factors: tuple(factors.values())),
    samples=st.integers(1, 25),
    design_seed=st.integers(0, 2**64 - 1),
)
FACTORIAL = FACTORS.map(lambda factors: BlockSpec(factors=tuple(factors.values())[:2]))
BLOCKS = st.lists(SAMPLED | FACTORIAL, min_size=1, max_size=2).map(tuple)


def study(*blocks: BlockSpec, **spec: object) -> Plan:
    return SweepSpec(model="study", blocks=blocks, actions=(PULSE,), **spec).plan(SCHEMA)  # type: ignore[arg-type]


def levels_of(factor: FactorSpec) -> list[ParamValue]:
    """Return the levels of `factor` in order, as a factorial takes them."""
    plan = study(BlockSpec(factors=(factor,)))
    slot = None if factor.param is None else SCHEMA.index(factor.param)
    return [config.action_ticks[0] if slot is None else config.params[slot] for config in plan.configs]


def whole_range(factor: FactorSpec) -> FactorSpec:
    levels: LevelSpec = factor.levels
    return msgspec.structs.replace(factor, levels=msgspec.structs.replace(levels, step=None))


@given(BLOCKS)
def test_every_value_is_one_that_its_parameter_allows(blocks: tuple[BlockSpec, ...]) -> None:
    for config in study(*blocks).configs:
        for param, value in zip(SCHEMA.params, config.params, strict=True):
            assert param.coerce(value) == value
            assert isinstance(value, {ParamKind.F32: float, ParamKind.U32: int}.get(param.kind, str | bool))


@given(SAMPLED)
def test_a_sampled_design_takes_the_levels_of_its_factors_and_no_others(block: BlockSpec) -> None:
    listed = msgspec.structs.replace(
        block, factors=tuple(factor for factor in block.factors if factor.param not in ("rate",))
    )
    if not listed.factors:
        return
    configs = study(listed).configs
    for factor in listed.factors:
        slot = None if factor.param is None else SCHEMA.index(factor.param)
        taken = {config.action_ticks[0] if slot is None else config.params[slot] for config in configs}
        assert taken <= set(levels_of(factor))


@given(RATES, st.sampled_from(["random", "lhs"]), st.integers(1, 30), st.integers(0, 2**64 - 1))
def test_a_continuous_factor_stays_between_its_ends(
    ends: tuple[float, float], design: str, samples: int, seed: int
) -> None:
    factor = whole_range(vary("rate", span(*ends)))
    block = BlockSpec(design=DesignKind(design), factors=(factor,), samples=samples, design_seed=seed)
    low, high = (SCHEMA.param("rate").coerce(end) for end in ends)
    assert all(low <= config.params[1] <= high for config in study(block).configs)  # type: ignore[operator]


@given(FACTORS)
def test_levels_include_both_ends(factors: dict[str, FactorSpec]) -> None:
    for name in ("size", "rate", "pulse"):
        if name in factors:
            levels, given = levels_of(factors[name]), factors[name].levels
            param = None if name == "pulse" else SCHEMA.param(name)
            ends = (given.min, given.max)  # type: ignore[union-attr]
            assert [levels[0], levels[-1]] == [end if param is None else param.coerce(end) for end in ends]


@given(BLOCKS)
def test_a_plan_depends_on_its_spec_only(blocks: tuple[BlockSpec, ...]) -> None:
    first, second = study(*blocks), study(*blocks)
    backward = [second.configs[place] for place in reversed(range(second.config_count))]
    assert list(first.configs) == backward[::-1]
    assert first.plan_hash == second.plan_hash


@given(SAMPLED, st.integers(0, 2**64 - 1), st.integers(0, 50), st.sampled_from(SeedScheme))
def test_a_design_with_a_seed_depends_on_that_seed_only(
    block: BlockSpec, root: int, steps: int, scheme: SeedScheme
) -> None:
    first = study(block)
    second = study(block, seeds=SeedSettings(root=root, scheme=scheme), run=RunSettings(steps=steps, replicates=3))
    assert list(first.configs) == list(second.configs)


@given(BLOCKS, st.integers(0, 2**64 - 1), st.data())
def test_equal_values_seeds_actions_and_lengths_have_equal_keys(
    blocks: tuple[BlockSpec, ...], root: int, data: st.DataObject
) -> None:
    seeds, run = SeedSettings(root=root), RunSettings(steps=12, warmup=3, replicates=2)
    plan = study(*blocks, seeds=seeds, run=run, measure=MeasureSettings(stats_every=3))
    taken = plan.run(data.draw(st.integers(0, plan.run_count - 1)))
    config = plan.configs[taken.config_id]
    alone = SweepSpec(
        model="study",
        fixed=tuple((param.id, value) for param, value in zip(SCHEMA.params, config.params, strict=True)),
        seeds=seeds,
        run=msgspec.structs.replace(run, replicates=5),
        measure=MeasureSettings(stats_every=3),
        actions=(msgspec.structs.replace(PULSE, tick=config.action_ticks[0]),),
    ).plan(SCHEMA)
    assert alone.run_key(alone.run(taken.rep)) == plan.run_key(taken)
    assert alone.run_key(alone.run((taken.rep + 1) % 5)) != plan.run_key(taken)
