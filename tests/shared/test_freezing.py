"""Freezing: designs become tables, and configs, runs and keys stay what they were."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

import henad_web as hw
from henad_web.explore.design_table import csv_record, parse_csv
from henad_web.explore.plan import Plan
from henad_web.explore.spec import ActionSpec, BlockSpec, DesignKind, RunSettings, SeedScheme, SeedSettings, SweepSpec
from henad_web.model.params import choice, f32
from henad_web.model.schema import ModelSchema
from tests.shared.schemas import ALL, PULSE, SCHEMA, block, move, span, table, values, vary

FACTORS = (vary("rate", span(0.0, 1.0)), vary("size", span(1, 900)), vary("mode", ALL), vary("wrap", ALL))
STEPPED = (vary("rate", span(0.1, 0.9, 0.1)), move("pulse", values(3, 2**64 - 1)))


def study(*blocks: BlockSpec, scheme: SeedScheme = SeedScheme.INDEPENDENT) -> SweepSpec:
    seeds = SeedSettings(root=2**64 - 5, scheme=scheme)
    run = RunSettings(steps=30, replicates=2)
    return SweepSpec(model="study", blocks=blocks, actions=(PULSE,), run=run, seeds=seeds, fixed=(("loss", 0.1),))


def keys(plan: Plan) -> list[tuple[int, str]]:
    return [(run.seed, plan.run_key(run)) for run in plan.runs()]


@pytest.mark.parametrize(
    "blocks",
    [
        (block(*FACTORS, design="random", samples=9),),
        (block(*FACTORS, move("pulse", span(5, 50)), design="lhs", samples=9, seed=4),),
        (block(*STEPPED), block(*FACTORS, design="lhs", samples=3)),
        (block(vary("rate", values(0.1, 0.2)), vary("mode", values("slow", "exact")), design="zip"), block()),
        (msgspec.structs.replace(block(*STEPPED), where="rate < 0.35"), table("size\n4\n5\n")),
        (msgspec.structs.replace(table("size\n4\n5\n6\n"), where="size != 5"),),
    ],
)
def test_a_frozen_spec_has_the_configs_and_keys_it_had(blocks: tuple[BlockSpec, ...]) -> None:
    spec = study(*blocks)
    frozen = hw.freeze(spec, SCHEMA)
    assert keys(frozen.plan(SCHEMA)) == keys(spec.plan(SCHEMA))
    assert list(frozen.plan(SCHEMA).configs) == list(spec.plan(SCHEMA).configs)
    assert {each.design for each in frozen.blocks if each.table_text} == {DesignKind.TABLE}
    assert all(each.where is None and each.samples is None and each.design_seed is None for each in frozen.blocks)
    assert hw.freeze(frozen, SCHEMA) == frozen
    assert keys(hw.parse_spec(hw.spec_to_toml(frozen)).spec.plan(SCHEMA)) == keys(spec.plan(SCHEMA))


def test_a_spec_without_blocks_stays_as_it_is() -> None:
    assert hw.freeze(study(), SCHEMA) == study()


def test_values_are_written_in_their_shortest_text() -> None:
    frozen = hw.freeze(study(block(*STEPPED)), SCHEMA).blocks[0].table_text
    assert frozen is not None
    assert frozen.splitlines()[:3] == ["rate,action.pulse", "0.1,3", "0.1,18446744073709551615"]


@given(st.lists(st.floats(-(2.0**99), 2.0**99, width=32), min_size=1, max_size=20))
def test_a_frozen_number_is_the_same_number(numbers: list[float]) -> None:
    params = (f32("x", "X", default=0.0, min=-2e30, max=2e30),)
    schema = ModelSchema(model="study", name="S", backend="cpu", params=params, stats=(), actions=())
    spec = SweepSpec(model="study", blocks=(block(vary("x", values(*numbers))),))
    assert list(hw.freeze(spec, schema).plan(schema).configs) == list(spec.plan(schema).configs)


def test_options_and_names_with_commas_and_quotes_are_read_back() -> None:
    params = (choice("mode", "Mode", options=("a, b", 'say "no"', "plain")),)
    schema = ModelSchema(model="study", name="S", backend="cpu", params=params, stats=(), actions=SCHEMA.actions)
    action = ActionSpec(id="pulse", tick=1, name='two "words", here')
    factors = (vary("mode", ALL), move(action.label, values(3, 4)))
    spec = SweepSpec(model="study", actions=(action,), blocks=(block(*factors),))
    assert list(hw.freeze(spec, schema).plan(schema).configs) == list(spec.plan(schema).configs)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs", "Cc"])).map(str.strip), min_size=2, max_size=4))
def test_a_record_is_read_back(fields: list[str]) -> None:
    assert parse_csv("first,record\n" + csv_record(fields))[1:] == [
        (2, [field.removeprefix("\ufeff") for field in fields])
    ]
