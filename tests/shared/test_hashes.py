"""Hashes name results: recorded values, what enters them and what does not."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

import henad_web as hw
from henad_web.explore.plan import Plan
from henad_web.explore.spec import (
    ActionSpec,
    MeasureSettings,
    ReducerSpec,
    RunSettings,
    SeedScheme,
    SeedSettings,
    StopSpec,
    SweepSpec,
)
from henad_web.explore.spec_file import load_spec
from tests.shared.schemas import PULSE, SCHEMA, block, move, plan_of, table, values, vary

FIXTURE = Path(__file__).parents[2] / "examples" / "sir_fixture.toml"
BLOCK = block(vary("rate", values(0.2, 0.4)))


def fixture_plan() -> Plan:
    return load_spec(FIXTURE).spec.plan(hw.example_models()["sir"].schema())


def test_the_fixture_has_its_recorded_hashes() -> None:
    plan = fixture_plan()
    assert plan.schema.schema_hash == "6ff1dc3971fd0a96"
    assert plan.results_fingerprint == "4a00256f66e9b49d"
    assert plan.run_key(plan.run(0)) == "88daf9687d21c672"


def test_hashes_are_sixteen_digits_and_differ_by_run() -> None:
    plan = fixture_plan()
    keys = [plan.run_key(run) for run in plan.runs()]
    assert len(set(keys)) == 4
    assert all(len(text) == 16 and int(text, 16) >= 0 for text in [*keys, plan.plan_hash])


@pytest.mark.parametrize(
    "run",
    [
        RunSettings(steps=9),
        RunSettings(warmup=1),
        RunSettings(stop=StopSpec(column="Alive", comparison="<", threshold=1)),
    ],
)
def test_length_and_stop_enter_the_fingerprint(run: RunSettings) -> None:
    assert plan_of(BLOCK, run=run).results_fingerprint != plan_of(BLOCK).results_fingerprint


def test_every_field_of_a_stop_enters_the_fingerprint() -> None:
    stop = StopSpec(column="Alive", comparison="<", threshold=1.0, min_tick=0)
    others = [
        msgspec.structs.replace(stop, column="Dead"),
        msgspec.structs.replace(stop, comparison="<="),
        msgspec.structs.replace(stop, threshold=2.0),
        msgspec.structs.replace(stop, min_tick=1),
    ]
    hashes = {plan_of(run=RunSettings(stop=each)).results_fingerprint for each in [stop, *others]}
    assert len(hashes) == 5


@pytest.mark.parametrize(
    "measure",
    [
        MeasureSettings(stats_every=2),
        MeasureSettings(series_every=0),
        MeasureSettings(default_reducers=False),
        MeasureSettings(reducers=(ReducerSpec(column="Alive", kind="argmax"),)),
    ],
)
def test_measuring_enters_the_fingerprint(measure: MeasureSettings) -> None:
    assert plan_of(BLOCK, measure=measure).results_fingerprint != plan_of(BLOCK).results_fingerprint


def test_a_series_cadence_left_out_equals_the_sampling_cadence() -> None:
    explicit = plan_of(measure=MeasureSettings(stats_every=3, series_every=3))
    assert explicit.results_fingerprint == plan_of(measure=MeasureSettings(stats_every=3)).results_fingerprint


def test_replicates_and_timeout_are_outside_run_keys_and_plan_hash() -> None:
    few, many = plan_of(BLOCK), plan_of(BLOCK, run=RunSettings(replicates=3, timeout_s=600.0))
    assert few.plan_hash == many.plan_hash
    second_config = many.run(3)
    assert (second_config.config_id, second_config.rep) == (1, 0)
    assert few.run_key(few.run(1)) == many.run_key(second_config)


def test_equal_values_have_equal_keys_in_different_plans() -> None:
    zipped = plan_of(block(vary("rate", values(0.9, 0.2)), vary("size", values(4, 8)), design="zip"))
    tabled = plan_of(table("loss,rate\n1,1\n0.05,0.2\n"))
    factorial = plan_of(BLOCK)
    keys = {plan.run_key(plan.run(run_id)) for plan, run_id in ((zipped, 1), (tabled, 1), (factorial, 0))}
    assert len(keys) == 1
    assert len({zipped.plan_hash, tabled.plan_hash, factorial.plan_hash}) == 3


def test_two_blocks_with_equal_values_share_run_keys() -> None:
    plan = plan_of(BLOCK, block(vary("rate", values(0.4))))
    assert plan.run_key(plan.run(1)) == plan.run_key(plan.run(2))


def test_seed_values_and_ticks_enter_the_run_key() -> None:
    plans = [
        plan_of(),
        plan_of(seeds=SeedSettings(root=1)),
        plan_of(fixed=(("size", 9),)),
        plan_of(actions=(ActionSpec(id="pulse", tick=5),)),
        plan_of(seeds=SeedSettings(scheme=SeedScheme.INDEPENDENT)),
    ]
    assert len({plan.run_key(plan.run(0)) for plan in plans}) == len(plans)


def test_an_action_s_name_enters_the_plan_hash_only() -> None:
    plain, named = plan_of(), plan_of(actions=(ActionSpec(id="pulse", tick=4, name="first"),))
    assert plain.results_fingerprint == named.results_fingerprint
    assert plain.plan_hash != named.plan_hash


@pytest.mark.parametrize(
    "spec",
    [
        SweepSpec(model="study", actions=(PULSE,), seeds=SeedSettings(root=1), blocks=(BLOCK,)),
        SweepSpec(model="study", actions=(PULSE,), seeds=SeedSettings(scheme=SeedScheme.INDEPENDENT), blocks=(BLOCK,)),
        SweepSpec(model="study", actions=(PULSE,), blocks=(block(vary("rate", values(0.2, 0.4)), design="zip"),)),
        SweepSpec(model="study", actions=(PULSE,), blocks=(block(vary("rate", values(0.4, 0.2))),)),
        SweepSpec(model="study", actions=(PULSE,), blocks=(BLOCK, block(move("pulse", values(6))))),
    ],
)
def test_everything_that_changes_a_plan_changes_its_hash(spec: SweepSpec) -> None:
    assert Plan.of(spec, SCHEMA).plan_hash != plan_of(BLOCK).plan_hash


def test_the_seed_of_a_sampled_design_enters_the_plan_hash() -> None:
    hashes = [
        plan_of(block(vary("mode", values("fast")), design=design, samples=2, seed=seed)).plan_hash
        for design in ("random", "lhs")
        for seed in (1, 2)
    ]
    assert len(set(hashes)) == 4


def test_what_a_file_writes_alike_hashes_alike() -> None:
    def fingerprint(threshold: float, kind: str) -> str:
        stop = StopSpec(column="Alive", comparison="<", threshold=threshold)
        measure = MeasureSettings(reducers=(ReducerSpec(column="Alive", kind=kind),))
        return plan_of(run=RunSettings(stop=stop), measure=measure).results_fingerprint

    assert fingerprint(-0.0, "first <= 10.0") == fingerprint(0.0, "first<=10")
