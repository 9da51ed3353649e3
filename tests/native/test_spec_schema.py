"""The published JSON Schema says what the parser accepts, for editors that complete and check."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from henad_native.cli import main
from henad_web.errors import PlanError, SpecError
from henad_web.explore import spec_form
from henad_web.explore.spec import DesignKind, SeedScheme
from henad_web.explore.spec_file import load_spec, parse_spec, spec_document, spec_to_json, spec_to_toml
from henad_web.explore.spec_schema import spec_schema, spec_schema_text
from tests.shared.schemas import SCHEMA

ROOT = Path(__file__).parents[2]
PUBLISHED = ROOT / "docs" / "henad-spec.schema.json"
EXAMPLES = sorted((ROOT / "examples").glob("*.toml"))
VALIDATOR = jsonschema.Draft7Validator(spec_schema())

GOOD = """\
model = "study"

[set]
size = 64
mode = "fast"
wrap = true

[run]
steps = 20
timeout_s = 1.5
stop = { condition = "Alive <= 0", min_tick = 2 }

[measure]
stats_every = 5
series_every = 0
default_reducers = false
reducers = [{ column = "Alive", kinds = ["argmax", "first >= 1e3", "mean@2..8"] }]

[seeds]
root = "18446744073709551615"
scheme = "independent"

[[action]]
id = "pulse"
name = "second"
tick = 4

[[block]]
factors = [
  { param = "rate", range = { min = 0.1, max = 0.5, step = 0.1 } },
  { action = "second", values = [2, 4] },
  { param = "mode", levels = "all" },
]

[[block]]
design = "lhs"
samples = 9
design_seed = 1
factors = [{ param = "rate", values = 0.5 }]

[[block]]
design = "table"
table_text = "rate\\n0.1\\n"

[execution]
concurrent = "auto"
memory = 1000
"""


GOOD_SEARCH = """\
model = "study"

[search]
algorithm = "pse"
max_evaluations = 1200
batch_size = 64
space = [{ param = "rate", range = { min = 0.05, max = 0.9 } }]

[search.pse]
x_axis = { column = "Alive:max", min = 0, max = 4096, cells = 32 }
y_axis = { column = "Dead:mean", cells = 20 }
"""


GOOD_OBJECTIVES = (
    'objectives = [{ column = "Alive:max", goal = "maximize" }, { column = "Dead:mean", goal = "minimize" }]\n'
)
GOOD_NSGA2 = f"""\
model = "study"

[search]
algorithm = "nsga2"
max_evaluations = 1200
batch_size = 64
space = [{{ param = "rate", range = {{ min = 0.05, max = 0.9 }} }}]
{GOOD_OBJECTIVES}
[search.nsga2]
population = 40
"""


def is_valid(text: str) -> bool:
    return bool(VALIDATOR.is_valid(tomllib.loads(text)))


def objects(schema: Any) -> Iterator[dict[str, Any]]:
    if isinstance(schema, dict):
        if "properties" in schema and "additionalProperties" in schema:
            yield schema
        for value in schema.values():
            yield from objects(value)


def test_the_published_file_is_up_to_date() -> None:
    assert PUBLISHED.read_text(encoding="utf-8") == spec_schema_text(), (
        "run `henad schema > docs/henad-spec.schema.json`"
    )


def test_the_command_prints_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["schema"]) == 0
    assert capsys.readouterr().out == spec_schema_text()


def test_it_is_a_schema() -> None:
    jsonschema.Draft7Validator.check_schema(spec_schema())


def test_every_table_is_closed_and_every_key_described() -> None:
    tables = list(objects(spec_schema()))
    assert len(tables) == 21
    for table in tables:
        assert table["additionalProperties"] is False
        assert table["description"].endswith(".")
        for described in table["properties"].values():
            assert described["description"].endswith(".")


def test_words_and_keys_are_those_of_the_types() -> None:
    schema = spec_schema()
    assert set(schema["definitions"]["DesignKind"]["enum"]) == set(DesignKind)
    assert set(schema["definitions"]["SeedScheme"]["enum"]) == set(SeedScheme)
    assert tuple(schema["properties"]) == ("$schema", *spec_form.keys_of(spec_form.SpecForm))
    written = spec_document(parse_spec(GOOD).spec)
    assert set(written) <= set(schema["properties"])


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_fits_it_as_written_and_as_rewritten(path: Path) -> None:
    assert is_valid(path.read_text(encoding="utf-8"))
    spec = load_spec(path).spec
    assert is_valid(spec_to_toml(spec))
    VALIDATOR.validate(json.loads(spec_to_json(spec)))


def test_a_spec_with_every_key_fits_it() -> None:
    VALIDATOR.validate(tomllib.loads(GOOD))
    VALIDATOR.validate(json.loads(spec_to_json(parse_spec(GOOD).spec)))


def test_a_file_may_name_its_schema() -> None:
    text = '"$schema" = "./henad-spec.schema.json"\n' + GOOD
    assert is_valid(text)
    assert parse_spec(text).spec == parse_spec(GOOD).spec
    assert parse_spec('{"$schema": "x", "model": "study"}').spec == parse_spec('model = "study"').spec


BAD = [
    ('model = "study"', ""),
    ('model = "study"', "model = 3"),
    ('model = "study"', 'modle = "study"'),
    ("size = 64", "size = [64]"),
    ("steps = 20", "step = 20"),
    ("steps = 20", 'steps = "20"'),
    ("steps = 20", "steps = -1"),
    ("steps = 20", "steps = 2.5"),
    ("timeout_s = 1.5", "timeout_s = -1"),
    ('"Alive <= 0"', '"Alive = 0"'),
    ('"Alive <= 0"', '"<= 0"'),
    ('"Alive <= 0"', '"Alive =< 0"'),
    ('"Alive <= 0"', '"Alive + 1"'),
    ('stop = { condition = "Alive <= 0", min_tick = 2 }', 'stop = "Alive <= 0"'),
    ('condition = "Alive <= 0", ', ""),
    ("stats_every = 5", "stats_every = 0"),
    ("default_reducers = false", 'default_reducers = "no"'),
    ('"argmax"', '"agmax"'),
    ('"mean@2..8"', '"mean@2"'),
    ('"first >= 1e3"', '"first"'),
    ('column = "Alive", ', ""),
    ('"18446744073709551615"', '"0x1"'),
    ('scheme = "independent"', 'scheme = "independent"\nlist = [1]'),
    ('scheme = "independent"', "list = [1, -1]"),
    ('scheme = "independent"', "list = 1"),
    ('"18446744073709551615"', "1.5"),
    ('"independent"', '"independant"'),
    ('id = "pulse"\n', ""),
    ('name = "second"', 'name = " "'),
    ("tick = 4", "tick = 4.5"),
    ("tick = 4", ""),
    ('param = "rate", range', "range"),
    ('param = "rate", range', 'param = "rate", action = "second", range'),
    ('param = "rate", range', 'param = "rate", values = [1], range'),
    ("min = 0.1, ", ""),
    ("step = 0.1", "step = 0"),
    ("step = 0.1", "stride = 0.1"),
    ('levels = "all"', 'levels = "every"'),
    ("samples = 9\n", ""),
    ('design = "lhs"\n', ""),
    ('design = "lhs"', 'design = "zip"'),
    ('design = "lhs"', 'design = "lhc"'),
    ('factors = [{ param = "rate", values = 0.5 }]', "factors = []"),
    ('design = "table"\n', ""),
    ('table_text = "rate\\n0.1\\n"', ""),
    ('table_text = "rate\\n0.1\\n"', 'table_text = "rate"\nfile = "a.csv"'),
    ('table_text = "rate\\n0.1\\n"', 'table_text = "rate"\nfactors = [{ param = "a", values = 1 }]'),
    ('concurrent = "auto"', 'concurrent = "all"'),
    ('concurrent = "auto"', "concurrent = 0"),
    ("memory = 1000", "memory = -1"),
]


BAD_SEARCHES = [
    ('"pse"', '"psa"'),
    ("= 1200", "= 0"),
    ("= 64", "= 16777217"),
    ("batch_size = 64\n", ""),
    ('space = [{ param = "rate", range = { min = 0.05, max = 0.9 } }]', "space = []"),
    ("batch_size = 64", 'batch_size = 64\nobjective = { column = "Alive:max", goal = "maximize" }'),
    ("min = 0, max = 4096,", "min = 0,"),
    ("cells = 20", "cells = 0"),
    ("cells = 20", "cell = 20"),
    ('y_axis = { column = "Dead:mean", cells = 20 }\n', ""),
    (GOOD_SEARCH[GOOD_SEARCH.index("[search.pse]") :], ""),
    ("[search.pse]", "[search.genetic]\npopulation = 9\n[search.pse]"),
    ("[search.pse]", "[[block]]\n[search.pse]"),
    ('algorithm = "pse"', 'algorithm = "random"'),
]


BAD_OBJECTIVES = [
    ("objectives = [", "objective = ["),
    (', { column = "Dead:mean", goal = "minimize" }', ""),
    (GOOD_OBJECTIVES, ""),
    (GOOD_OBJECTIVES, 'objective = { column = "Alive:max", goal = "maximize" }\n'),
    (GOOD_OBJECTIVES, GOOD_OBJECTIVES + 'objective = { column = "Alive:max", goal = "maximize" }\n'),
    ('"minimize"', '"minimise"'),
    ('"nsga2"', '"genetic"'),
    ("population = 40", "population = 1"),
    ("population = 40", "mutation_rate = 2"),
    ("population = 40", "crossover_index = 20"),
    ("[search.nsga2]", "[search.genetic]"),
]


@pytest.mark.parametrize(
    ("good", "right", "mistake"),
    [(GOOD_SEARCH, *each) for each in BAD_SEARCHES] + [(GOOD_NSGA2, *each) for each in BAD_OBJECTIVES],
)
def test_a_mistake_in_a_search_is_refused_by_the_schema_and_by_whoever_checks_it(
    good: str, right: str, mistake: str
) -> None:
    assert right in good
    assert is_valid(good)
    VALIDATOR.validate(json.loads(spec_to_json(parse_spec(good).spec)))
    text = good.replace(right, mistake, 1)
    assert not is_valid(text)
    with pytest.raises((SpecError, PlanError)):
        parse_spec(text).spec.plan(SCHEMA)


@pytest.mark.parametrize(("right", "mistake"), BAD)
def test_a_mistake_is_refused_by_the_schema_and_by_the_parser(right: str, mistake: str) -> None:
    assert right in GOOD
    text = GOOD.replace(right, mistake, 1)
    assert not is_valid(text)
    if mistake not in ("stats_every = 0", "step = 0"):
        with pytest.raises(SpecError):
            parse_spec(text)
