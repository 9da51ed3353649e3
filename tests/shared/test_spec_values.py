"""Specs made in Python: what numpy, lists and plain words become in them."""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from henad_web.errors import HenadError, ParamError, SpecError
from henad_web.explore.spec import (
    ActionSpec,
    BlockSpec,
    DesignKind,
    FactorSpec,
    MeasureSettings,
    RangeLevels,
    ReducerSpec,
    RunOrder,
    RunSettings,
    SeedScheme,
    SeedSettings,
    StopExpression,
    StopSpec,
    SweepSpec,
    ValueLevels,
)
from henad_web.explore.spec_file import parse_spec, spec_hash, spec_to_json, spec_to_toml
from tests.shared.schemas import SCHEMA


def study(number: Any, real: Any, flag: Any, levels: Any) -> SweepSpec:
    """Return a spec with a number of every kind, made by the given functions."""
    stop = StopSpec(column="Alive", comparison="<=", threshold=real(0.5), min_tick=number(1))
    return SweepSpec(
        model="study",
        fixed=(("size", number(3)), ("wrap", flag(True))),
        run=RunSettings(steps=number(20), warmup=number(2), replicates=number(2), timeout_s=real(2.5), stop=stop),
        measure=MeasureSettings(stats_every=number(2), series_every=number(4), default_reducers=flag(False)),
        seeds=SeedSettings(root=number(7)),
        actions=(ActionSpec(id="pulse", tick=number(3)),),
        blocks=(
            BlockSpec(factors=(FactorSpec(param="rate", levels=ValueLevels(values=levels)),)),
            BlockSpec(
                design=DesignKind.LHS,
                samples=number(4),
                design_seed=number(9),
                factors=(FactorSpec(param="loss", levels=RangeLevels(min=real(0.0), max=real(1.0))),),
            ),
        ),
    )


def test_numbers_and_arrays_of_numpy_are_the_numbers_they_hold() -> None:
    plain = study(int, float, bool, (0.0, 0.25, 0.5))
    for integer in (np.int32, np.int64, np.uint64):
        spec = study(integer, np.float64, np.bool_, np.linspace(0.0, 0.5, 3))
        assert spec == plain
        assert spec_to_toml(spec) == spec_to_toml(plain)
        assert spec_hash(spec) == spec_hash(plain)
        plan = spec.plan(SCHEMA)
        assert plan.plan_hash == plain.plan(SCHEMA).plan_hash
        assert [run.seed for run in plan.runs()] == [run.seed for run in plain.plan(SCHEMA).runs()]
    assert parse_spec(spec_to_toml(plain)).spec == plain


def test_a_seed_of_numpy_keeps_all_its_bits() -> None:
    root = 2**64 - 1
    assert SeedSettings(root=np.uint64(root)) == SeedSettings(root=root)  # type: ignore[arg-type]


def test_lists_are_tuples() -> None:
    spec = SweepSpec(model="study", fixed=[["size", 3]], blocks=[BlockSpec(factors=[])])  # type: ignore[arg-type]
    assert (spec.fixed, spec.blocks) == ((("size", 3),), (BlockSpec(),))
    hash(spec)


def test_a_plain_word_is_the_word_it_spells() -> None:
    seeds: Any = SeedSettings(scheme="independent")  # type: ignore[arg-type]
    run: Any = RunSettings(order="breadth")  # type: ignore[arg-type]
    block: Any = BlockSpec(design="lhs")  # type: ignore[arg-type]
    assert seeds.scheme is SeedScheme.INDEPENDENT
    assert run.order is RunOrder.BREADTH
    assert block.design is DesignKind.LHS


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: SeedSettings(scheme="independant"),  # type: ignore[arg-type]
            "scheme: no such word, got 'independant'; allowed: 'common', 'independent'; did you mean 'independent'?",
        ),
        (
            lambda: RunSettings(order=3),  # type: ignore[arg-type]
            "order: no such word, got the number 3; allowed: 'depth', 'breadth'",
        ),
        (
            lambda: BlockSpec(design="zipp"),  # type: ignore[arg-type]
            "design: no such word, got 'zipp'; allowed: 'factorial', 'zip', 'random', 'lhs', 'table', 'sobol', "
            "'saltelli', 'morris'; did you mean 'zip'?",
        ),
    ],
)
def test_a_word_that_there_is_not_is_refused(make: Any, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        make()
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: RunSettings(steps="5"),  # type: ignore[arg-type]
            "[run] steps: not a whole number, got the text '5'; allowed: a whole number, 0 to 2^64 - 1; "
            "write steps = 5, without quotes",
        ),
        (
            lambda: SeedSettings(list="1" * 40),  # type: ignore[arg-type]
            f"[seeds] list: not a list, got the text '{'1' * 40}'; allowed: a list",
        ),
        (
            lambda: SeedSettings(list="1" * 41),  # type: ignore[arg-type]
            f"[seeds] list: not a list, got the text '{'1' * 40}...'; allowed: a list",
        ),
        (
            lambda: RunSettings(replicates=True),
            "[run] replicates: not a whole number, got true; allowed: a whole number, 0 to 2^64 - 1",
        ),
        (
            lambda: RunSettings(timeout_s=2**3000),
            "[run] timeout_s: a number too large, got the number about 2^3000; allowed: at most 2^64 - 1",
        ),
        (
            lambda: SeedSettings(list=(1, None)),  # type: ignore[arg-type]
            "[seeds] list: not a whole number, got null; allowed: a whole number, 0 to 2^64 - 1",
        ),
        (
            lambda: SeedSettings(list=(1, True)),
            "[seeds] list: not a whole number, got true; allowed: a whole number, 0 to 2^64 - 1",
        ),
        (
            lambda: SeedSettings(list="12"),  # type: ignore[arg-type]
            "[seeds] list: not a list, got the text '12'; allowed: a list",
        ),
        (
            lambda: ValueLevels(values=(1, Decimal(3))),  # type: ignore[arg-type]
            "values: not a value, got a value of kind Decimal; allowed: a number, true or false, or a text",
        ),
        (
            lambda: SweepSpec(model="study", fixed="size"),  # type: ignore[arg-type]
            "fixed: not a list, got the text 'size'; allowed: a list",
        ),
        (
            lambda: SweepSpec(model="study", fixed=("size",)),  # type: ignore[arg-type]
            "fixed: not a pair, got the text 'size'; allowed: a parameter id and a value",
        ),
        (
            lambda: FactorSpec(param="size", levels=(1, 2)),  # type: ignore[arg-type]
            "levels: another type, got (1, 2); allowed: hw.ValueLevels(…), hw.RangeLevels(…), hw.AllLevels(…)",
        ),
    ],
)
def test_a_value_of_another_kind_is_refused_where_it_is_made(make: Any, message: str) -> None:
    with pytest.raises(SpecError) as caught:
        make()
    assert str(caught.value).removesuffix("; parse_spec takes the whole spec as a mapping") == message


NUMBERS: tuple[Any, ...] = (-1, 5, True, 1.5, float("nan"), Decimal(3), Fraction(1, 2), 2**70, 2**3000, 1j)
ODD: tuple[Any, ...] = (*NUMBERS, "5", "", None, b"x", {}, object())
TABLES: tuple[tuple[type[Any], dict[str, Any]], ...] = (
    (RunSettings, {}),
    (MeasureSettings, {}),
    (SeedSettings, {}),
    (ActionSpec, {"id": "pulse", "tick": 1}),
    (BlockSpec, {}),
    (FactorSpec, {"param": "size", "levels": ValueLevels(values=(1,))}),
    (RangeLevels, {"min": 1, "max": 2}),
    (ValueLevels, {"values": (1,)}),
    (StopSpec, {"column": "Alive", "comparison": "<", "threshold": 1.0}),
    (StopExpression, {"condition": "Alive > 1 and Alive < 2"}),
    (ReducerSpec, {"column": "Alive", "kind": "max"}),
    (SweepSpec, {"model": "study"}),
)


def in_a_spec(table: Any) -> SweepSpec:
    """Return a spec with `table` where it belongs."""
    if isinstance(table, RangeLevels | ValueLevels):
        table = FactorSpec(param="size", levels=table)
    if isinstance(table, StopSpec | StopExpression):
        table = RunSettings(stop=table)
    if isinstance(table, ReducerSpec):
        table = MeasureSettings(reducers=(table,))
    if isinstance(table, FactorSpec):
        table = BlockSpec(factors=(table,))
    if isinstance(table, SweepSpec):
        return table
    homes = (("run", RunSettings), ("measure", MeasureSettings), ("seeds", SeedSettings), ("actions", ActionSpec))
    home = next((name for name, kind in homes if isinstance(table, kind)), "blocks")
    return SweepSpec(model="study", **{home: table})


@pytest.mark.parametrize(("table", "base"), TABLES, ids=lambda given: getattr(given, "__name__", ""))
def test_a_spec_of_odd_values_works_or_is_refused_in_words(table: type[Any], base: dict[str, Any]) -> None:
    for name in table.__struct_fields__:
        for value in ODD:
            try:
                spec = in_a_spec(table(**{**base, name: value}))
                plan = spec.plan(SCHEMA)
            except HenadError:
                continue
            assert repr(spec)
            assert hash(spec) is not None
            for text in (spec_to_toml(spec), spec_to_json(spec)):
                assert parse_spec(text).spec.plan(SCHEMA).plan_hash == plan.plan_hash


@pytest.mark.parametrize("value", ["12", 12, np.int64(12), np.array(12)])
def test_one_value_is_one_level(value: Any) -> None:
    levels = ValueLevels(values=value)
    block = BlockSpec(factors=(FactorSpec(param="size", levels=levels),))
    plan = SweepSpec(model="study", blocks=(block,)).plan(SCHEMA)
    assert [config.params[0] for config in plan.configs] == [12]


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("[run]\nsteps = 1e30", None),
        ("[run]\nsteps = 2e3", "write steps = 2000"),
        ('[run]\nsteps = "99999999999999999999999"', None),
        ('[run]\nsteps = "0"', "write steps = 0, without quotes"),
        ("[run]\nreplicates = 0.0", None),
        ('[run]\nreplicates = "0"', None),
        ('[run]\ntimeout_s = "-1"', None),
        ('[run]\ntimeout_s = "nan"', None),
        ('[run]\ntimeout_s = "1e300"', None),
        ('[run]\ntimeout_s = "1.5"', "write timeout_s = 1.5, without quotes"),
        ("[measure]\nstats_every = 0.0", None),
        (
            '[[block]]\ndesign = "lhs"\nsamples = 0.0\nfactors = [{ param = "size", range = { min = 1, max = 9 } }]',
            None,
        ),
        (
            '[[block]]\ndesign = "morris"\nsamples = 1\nnum_levels = "3"\nfactors = [{ param = "size", values = 1 }]',
            None,
        ),
        ('[[block]]\nfactors = [{ param = "rate", range = { min = 0, max = 1, step = "0" } }]', None),
        (
            '[[block]]\ndesign = "sobol"\nsamples = 20000000\nfactors = [{ param = "size", values = 1 }]',
            "write 16777216",
        ),
        ('[[block]]\ndesign = "sobol"\nsamples = 6\nfactors = [{ param = "size", values = 1 }]', "write 4 or 8"),
        (
            '[[block]]\ndesign = "saltelli"\nsamples = 5000000\nfactors = [{ param = "size", values = 1 }]',
            "write 4194304",
        ),
    ],
)
def test_no_number_out_of_range_is_proposed(text: str, hint: str | None) -> None:
    with pytest.raises(SpecError) as caught:
        parse_spec(f'model = "study"\n{text}\n')
    assert [problem.hint for problem in caught.value.problems] == [hint]


@pytest.mark.parametrize(
    ("param", "value", "hint"),
    [
        ("size", 8.0, "write 8"),
        ("size", 1001.0, None),
        ("size", "8.0", "write 8"),
        ("size", "1e9", None),
        ("size", "-8.0", None),
        ("rate", "0,5", "did you mean '0.5'?"),
        ("rate", "1,5", None),
    ],
)
def test_no_value_out_of_a_parameter_s_range_is_proposed(param: str, value: object, hint: str | None) -> None:
    with pytest.raises(ParamError) as caught:
        SCHEMA.param(param).coerce(value)
    assert caught.value.hint == hint
