"""Spec files: what their keys mean, what is tolerated around them, and that writing gives reading back."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np
import pytest

import henad_web as hw
from henad_web.errors import SpecError
from henad_web.explore.plan import Plan
from henad_web.explore.spec import (
    ActionSpec,
    AllLevels,
    BlockSpec,
    DesignKind,
    ExecutionSettings,
    FactorSpec,
    MeasureSettings,
    RangeLevels,
    ReducerSpec,
    RunSettings,
    SeedScheme,
    SeedSettings,
    StopSpec,
    SweepSpec,
    ValueLevels,
)
from henad_web.explore.spec_file import load_spec, parse_spec, parse_spec_document, spec_document, spec_to_toml
from henad_web.model.fnv import fnv1a64
from tests.shared.schemas import SCHEMA

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))

FULL = """\
model = "study"

[set]
size = 64
loss = 0.5
wrap = false

[run]
steps = 200
warmup = 10
replicates = 3
stop = { condition = "Alive <= 0", min_tick = 20 }
timeout_s = 600

[measure]
stats_every = 5
series_every = 25
default_reducers = false
reducers = [
  { column = "Alive", kinds = ["argmax", "first <= 10"] },
  { column = "Dead", kinds = ["mean@20..60"] },
]

[seeds]
root = "18446744073709551615"
scheme = "independent"

[[action]]
id = "pulse"
name = "second_wave"
tick = 40

[[block]]
factors = [
  { param = "rate", range = { min = 0.1, max = 0.5, step = 0.1 } },
  { param = "mode", levels = "all" },
  { action = "second_wave", values = [20, 40] },
]

[[block]]
design = "lhs"
samples = 40
design_seed = 9
factors = [{ param = "rate", range = { min = 0.1, max = 0.5 } }]

[[block]]
design = "table"
table_text = '''
rate,mode
0.1,"fast"
'''

[execution]
concurrent = 2
memory = 1000000
"""


def test_every_key_has_its_meaning() -> None:
    loaded = parse_spec(FULL)
    assert loaded.execution == ExecutionSettings(concurrent=2, memory=1_000_000)
    assert loaded.spec == SweepSpec(
        model="study",
        fixed=(("size", 64), ("loss", 0.5), ("wrap", False)),
        run=RunSettings(
            steps=200,
            warmup=10,
            replicates=3,
            stop=StopSpec(column="Alive", comparison="<=", threshold=0.0, min_tick=20),
            timeout_s=600.0,
        ),
        measure=MeasureSettings(
            stats_every=5,
            series_every=25,
            default_reducers=False,
            reducers=(
                ReducerSpec(column="Alive", kind="argmax"),
                ReducerSpec(column="Alive", kind="first<=10"),
                ReducerSpec(column="Dead", kind="mean@20..60"),
            ),
        ),
        seeds=SeedSettings(root=2**64 - 1, scheme=SeedScheme.INDEPENDENT),
        actions=(ActionSpec(id="pulse", name="second_wave", tick=40),),
        blocks=(
            BlockSpec(
                factors=(
                    FactorSpec(param="rate", levels=RangeLevels(min=0.1, max=0.5, step=0.1)),
                    FactorSpec(param="mode", levels=AllLevels()),
                    FactorSpec(action="second_wave", levels=ValueLevels(values=(20, 40))),
                )
            ),
            BlockSpec(
                design=DesignKind.LHS,
                samples=40,
                design_seed=9,
                factors=(FactorSpec(param="rate", levels=RangeLevels(min=0.1, max=0.5)),),
            ),
            BlockSpec(design=DesignKind.TABLE, table_text='rate,mode\n0.1,"fast"\n'),
        ),
    )
    assert Plan.of(loaded.spec, SCHEMA).config_count == 5 * 3 * 2 + 40 + 1


def test_a_model_alone_is_a_spec() -> None:
    spec = parse_spec('model = "study"').spec
    assert spec == SweepSpec(model="study", measure=MeasureSettings(series_every=1))
    assert (spec.run.steps, spec.run.replicates, spec.seeds.root) == (1000, 1, 0)


def test_the_series_follows_the_samples_unless_told() -> None:
    assert parse_spec('model = "a"\n[measure]\nstats_every = 7').spec.measure.series_every == 7


def test_one_value_is_one_level_and_a_text_is_not_taken_apart() -> None:
    spec = parse_spec(
        'model = "study"\n[set]\nmode = "fast"\n[[block]]\nfactors = [{ param = "mode", values = "exact" }]'
    ).spec
    assert spec.fixed == (("mode", "fast"),)
    assert spec.blocks[0].factors[0].levels == ValueLevels(values=("exact",))


def test_inline_tables_and_sections_say_the_same() -> None:
    sections = parse_spec('model = "a"\n[run]\nsteps = 3\n[[block]]\n[[block.factors]]\nparam = "x"\nvalues = [1]\n')
    inline = parse_spec('model = "a"\nrun.steps = 3\nblock = [{ factors = [{ param = "x", values = [1] }] }]\n')
    assert sections.spec == inline.spec


@pytest.mark.parametrize("text", ["\ufeff" + FULL, FULL.replace("\n", "\r\n"), "\ufeff" + FULL.replace("\n", "\r\n")])
def test_a_byte_order_mark_and_line_ends_change_nothing(text: str) -> None:
    assert parse_spec(text).spec == parse_spec(FULL).spec
    assert parse_spec(text).source == parse_spec(FULL).source
    plans = [parse_spec(each).spec.plan(SCHEMA) for each in (text, FULL)]
    assert plans[0].plan_hash == plans[1].plan_hash


@pytest.mark.parametrize("root", [0, 1, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1])
def test_large_seeds_keep_every_digit(root: int) -> None:
    spec = SweepSpec(model="a", seeds=SeedSettings(root=root), measure=MeasureSettings(series_every=1))
    document = spec_document(spec)
    stored = document["seeds"]["root"]  # type: ignore[index]
    assert stored == (str(root) if root > 2**63 - 1 else root)
    assert parse_spec(spec_to_toml(spec)).spec == spec
    assert parse_spec_document(msgspec.json.decode(msgspec.json.encode(document))) == spec


def test_the_canonical_form_of_a_spec() -> None:
    assert (
        spec_to_toml(parse_spec(FULL).spec)
        == """\
model = "study"

[set]
size = 64
loss = 0.5
wrap = false

[run]
steps = 200
warmup = 10
replicates = 3
stop = { condition = "Alive <= 0", min_tick = 20 }
timeout_s = 600.0

[measure]
stats_every = 5
series_every = 25
default_reducers = false
reducers = [
  { column = "Alive", kinds = ["argmax", "first<=10"] },
  { column = "Dead", kinds = ["mean@20..60"] },
]

[seeds]
root = "18446744073709551615"
scheme = "independent"

[[action]]
id = "pulse"
name = "second_wave"
tick = 40

[[block]]
design = "factorial"
factors = [
  { param = "rate", range = { min = 0.1, max = 0.5, step = 0.1 } },
  { param = "mode", levels = "all" },
  { action = "second_wave", values = [20, 40] },
]

[[block]]
design = "lhs"
samples = 40
design_seed = 9
factors = [
  { param = "rate", range = { min = 0.1, max = 0.5 } },
]

[[block]]
design = "table"
table_text = \"\"\"
rate,mode
0.1,\\"fast\\"
\"\"\"
"""
    )


def test_execution_is_written_where_it_is_not_the_default() -> None:
    loaded = parse_spec(FULL)
    assert parse_spec(spec_to_toml(loaded.spec, execution=loaded.execution)).execution == loaded.execution
    assert "[execution]" not in spec_to_toml(loaded.spec, execution=ExecutionSettings())


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_plans_without_warnings_and_survives_writing(path: Path) -> None:
    loaded = load_spec(path)
    plan = loaded.spec.plan(hw.example_models()[loaded.spec.model].schema())
    assert plan.run_count > 0
    assert plan.warnings() == ()
    assert parse_spec(spec_to_toml(loaded.spec)).spec == loaded.spec


def test_there_are_examples() -> None:
    assert {"sir_fixture", "sir_sweep", "life_density"} <= {path.stem for path in EXAMPLES}


def with_table(folder: Path, file: str) -> Path:
    spec = folder / "My Runs é.toml"
    spec.write_text(f'model = "study"\n[[block]]\ndesign = "table"\nfile = {file!r}\n', encoding="utf-8")
    return spec


def test_a_file_reads_its_table_and_records_both(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / "sub" / "a.csv").write_bytes("\ufeffsize\r\n3\r\n".encode())
    path = with_table(tmp_path, "sub/a.csv")
    loaded = load_spec(path)
    assert loaded.spec.blocks[0].table_text == "size\n3\n"
    assert loaded.source.path == str(path)
    assert loaded.source.toml == path.read_text(encoding="utf-8")
    (table,) = loaded.source.tables
    assert table.path == "sub/a.csv"
    assert table.fnv1a64 == format(fnv1a64(b"size\n3\n"), "016x")


def test_a_spec_read_from_files_is_written_with_its_table_inside(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("size\n3\n")
    spec = load_spec(with_table(tmp_path, "a.csv")).spec
    again = parse_spec(spec_to_toml(spec)).spec
    assert again.blocks[0].file is None
    assert again.blocks[0].table_text == "size\n3\n"
    assert again.plan(SCHEMA).plan_hash == spec.plan(SCHEMA).plan_hash


@pytest.mark.parametrize(
    ("file", "wrong"),
    [
        ("/etc/a.csv", "an absolute path of a design table"),
        ("C:/a.csv", "an absolute path of a design table"),
        ("../a.csv", "a path of a design table that leaves the spec's folder"),
        ("sub/../../a.csv", "a path of a design table that leaves the spec's folder"),
        ("sub\\..\\a.csv", "a path of a design table that leaves the spec's folder"),
        ("missing.csv", "file does not exist"),
    ],
)
def test_a_table_outside_the_folder_or_missing_is_refused(tmp_path: Path, file: str, wrong: str) -> None:
    with pytest.raises(SpecError) as caught:
        load_spec(with_table(tmp_path, file))
    (problem,) = caught.value.problems
    assert problem.wrong == wrong
    assert (problem.place.file, problem.place.line, problem.place.key) == ("My Runs é.toml", 4, "file")


def test_a_text_cannot_name_a_file() -> None:
    with pytest.raises(SpecError, match="give the table as table_text, or load the spec from its file"):
        parse_spec('model = "a"\n[[block]]\ndesign = "table"\nfile = "a.csv"\n')


def test_a_missing_spec_is_named(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match=r"no\.toml.*does not exist"):
        load_spec(tmp_path / "no.toml")


def test_a_file_that_is_no_text_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_bytes(b'model = "\xff"')
    with pytest.raises(SpecError, match="not UTF-8 text: byte 9"):
        load_spec(tmp_path / "a.toml")


def test_numbers_of_numpy_are_written_as_numbers() -> None:
    levels = ValueLevels(values=tuple(np.linspace(0.0, 1.0, 3)))
    spec = SweepSpec(
        model="study",
        fixed=(("size", np.int64(3)), ("wrap", np.True_)),  # type: ignore[arg-type]
        measure=MeasureSettings(series_every=1),
        blocks=(BlockSpec(factors=(FactorSpec(param="rate", levels=levels),)),),
    )
    assert parse_spec(spec_to_toml(spec)).spec == spec
    assert parse_spec_document(msgspec.json.decode(msgspec.json.encode(spec_document(spec)))) == spec
    assert parse_spec(spec_to_toml(spec)).spec.plan(SCHEMA).plan_hash == spec.plan(SCHEMA).plan_hash
