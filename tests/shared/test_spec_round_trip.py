"""Any spec survives its TOML and its JSON, floats and kinds bit for bit."""

from __future__ import annotations

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from henad_web.explore.spec import (
    ActionSpec,
    AllLevels,
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
    SpecValue,
    StopSpec,
    SweepSpec,
    ValueLevels,
)
from henad_web.explore.spec_file import (
    parse_spec,
    parse_spec_document,
    spec_document,
    spec_hash,
    spec_to_json,
    spec_to_toml,
)

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
NAMES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=8)
LONG = st.sampled_from([-(2**63), -(2**53) - 1, 2**53 + 1, 2**63 - 1])
NUMBERS = st.one_of(st.integers(-(2**63), 2**63 - 1), LONG, st.floats(allow_nan=False, allow_infinity=False))
VALUES = st.one_of(NUMBERS, st.booleans(), TEXTS)
U64 = st.integers(0, 2**64 - 1)
COLUMNS = st.from_regex(r"[A-Za-z][A-Za-z .]{0,6}[A-Za-z]", fullmatch=True)
LEVELS = st.one_of(
    st.builds(ValueLevels, values=st.lists(VALUES, max_size=4).map(tuple)),
    st.builds(RangeLevels, min=NUMBERS, max=NUMBERS, step=st.none() | NUMBERS),
    st.builds(AllLevels),
)
FACTORS = st.one_of(
    st.builds(FactorSpec, param=NAMES, levels=LEVELS), st.builds(FactorSpec, action=NAMES, levels=LEVELS)
)
FACTOR_TUPLES = st.lists(FACTORS, max_size=3).map(tuple)
WHERES = st.sampled_from([None, "a < 1", "b == 'it\\s' and\n not c", 'action."two words" >= -1e3'])
BLOCKS = st.one_of(
    st.builds(
        BlockSpec, design=st.sampled_from([DesignKind.FACTORIAL, DesignKind.ZIP]), factors=FACTOR_TUPLES, where=WHERES
    ),
    st.builds(
        BlockSpec,
        design=st.just(DesignKind.SALTELLI),
        factors=st.lists(FACTORS, min_size=1, max_size=3).map(tuple),
        samples=st.integers(0, 20).map(lambda exponent: 2**exponent),
        design_seed=st.none() | U64,
        second_order=st.none() | st.booleans(),
    ),
    st.builds(
        BlockSpec,
        design=st.just(DesignKind.MORRIS),
        factors=st.lists(FACTORS, min_size=1, max_size=3).map(tuple),
        samples=st.integers(1, 2**20),
        num_levels=st.none() | st.integers(1, 10).map(lambda half: 2 * half),
    ),
    st.builds(
        BlockSpec,
        design=st.sampled_from([DesignKind.RANDOM, DesignKind.LHS]),
        factors=st.lists(FACTORS, min_size=1, max_size=3).map(tuple),
        samples=st.integers(1, 2**24),
        design_seed=st.none() | U64,
        where=WHERES,
    ),
    st.builds(
        BlockSpec,
        design=st.just(DesignKind.TABLE),
        table_text=TEXTS.map(lambda text: text.replace("\r\n", "\n")),
        where=WHERES,
    ),
)
KINDS = st.sampled_from(["final", "min", "max", "mean", "argmax", "argmin", "first<=10", "first!=0.25", "mean@20..60"])
ACTION_NAMES = st.none() | NAMES.filter(lambda name: bool(name.strip()))
SPECS = st.builds(
    SweepSpec,
    model=NAMES,
    fixed=st.dictionaries(NAMES, VALUES, max_size=4).map(lambda fixed: tuple(fixed.items())),
    run=st.builds(
        RunSettings,
        steps=U64,
        warmup=U64,
        replicates=U64,
        stop=st.none()
        | st.builds(
            StopSpec,
            column=COLUMNS,
            comparison=st.sampled_from(["<", "<=", ">", ">=", "==", "!="]),
            # A negative zero is written as zero, on purpose.
            threshold=st.floats(allow_nan=False, allow_infinity=False).map(lambda number: number + 0.0),
            min_tick=U64,
        ),
        timeout_s=st.none() | st.floats(0, 1e18),
        order=st.sampled_from(RunOrder),
    ),
    measure=st.builds(
        MeasureSettings,
        stats_every=U64,
        series_every=U64,
        default_reducers=st.booleans(),
        reducers=st.lists(st.builds(ReducerSpec, column=COLUMNS, kind=KINDS), max_size=4).map(tuple),
    ),
    seeds=st.builds(SeedSettings, root=U64, scheme=st.sampled_from(SeedScheme))
    | st.builds(SeedSettings, root=U64, list=st.lists(U64, max_size=3).map(tuple)),
    actions=st.lists(
        st.builds(ActionSpec, id=NAMES, tick=U64, name=st.none() | NAMES.filter(lambda name: bool(name.strip()))),
        max_size=3,
    ).map(tuple),
    blocks=st.lists(BLOCKS, max_size=3).map(tuple),
)


def bits(spec: SweepSpec) -> bytes:
    """Tell apart what equality does not: 1, 1.0 and True, 0.0 and -0.0."""
    return msgspec.json.encode(spec)


def with_long_numbers_in_texts(spec: SweepSpec) -> SweepSpec:
    """Return `spec` with values beyond 2^53 as the texts of digits that a JSON file has; bounds are read as numbers."""

    def text_of(value: SpecValue) -> SpecValue:
        return str(value) if isinstance(value, int) and abs(value) > 2**53 else value

    def factor_of(factor: FactorSpec) -> FactorSpec:
        if not isinstance(factor.levels, ValueLevels):
            return factor
        levels = ValueLevels(values=tuple(map(text_of, factor.levels.values)))
        return msgspec.structs.replace(factor, levels=levels)

    blocks = [msgspec.structs.replace(block, factors=tuple(map(factor_of, block.factors))) for block in spec.blocks]
    fixed = tuple((name, text_of(value)) for name, value in spec.fixed)
    return msgspec.structs.replace(spec, fixed=fixed, blocks=tuple(blocks))


@settings(max_examples=25)
@given(SPECS)
def test_a_spec_survives_its_toml(spec: SweepSpec) -> None:
    found = parse_spec(spec_to_toml(spec)).spec
    assert found == spec
    assert bits(found) == bits(spec)


@settings(max_examples=25)
@given(SPECS)
def test_a_spec_survives_its_json_document(spec: SweepSpec) -> None:
    found = parse_spec_document(msgspec.json.decode(msgspec.json.encode(spec_document(spec))))
    assert found == spec
    assert bits(found) == bits(spec)


@settings(max_examples=25)
@given(SPECS)
def test_a_spec_survives_its_json_file_and_keeps_its_hash(spec: SweepSpec) -> None:
    found = parse_spec(spec_to_json(spec), format="json").spec
    in_texts = with_long_numbers_in_texts(spec)
    assert found == in_texts
    assert bits(found) == bits(in_texts)
    assert spec_hash(found) == spec_hash(parse_spec(spec_to_toml(spec)).spec) == spec_hash(spec)
