"""A spec in JSON is the same spec: its meaning, its hash, and its problems with their lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import henad_web as hw
from henad_web.errors import Problem, SpecError
from henad_web.explore.spec import ExecutionSettings, RunSettings, SeedSettings, StopSpec, SweepSpec
from henad_web.explore.spec_document import canonical_text
from henad_web.explore.spec_file import load_spec, parse_spec, spec_hash, spec_to_json, spec_to_toml

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))

TOML = """\
model = "sir"

[set]
grid_width = 64

[run]
steps = 20
stop = { condition = "Infected <= 0", min_tick = 2 }

[measure]
stats_every = 5
reducers = [{ column = "Infected", kinds = ["argmax", "first<=10"] }]

[seeds]
root = 42

[[action]]
id = "seed_outbreak"
tick = 4

[[block]]
factors = [
  { param = "infection_rate", range = { min = 0.1, max = 0.5, step = 0.1 } },
  { action = "seed_outbreak", values = [2, 4] },
]

[execution]
concurrent = 2
"""

JSON = """\
{
  "model": "sir",
  "set": {"grid_width": 64},
  "run": {
    "steps": 20,
    "stop": {"condition": "Infected <= 0", "min_tick": 2}
  },
  "measure": {
    "stats_every": 5,
    "reducers": [
      {"column": "Infected", "kinds": ["argmax", "first<=10"]}
    ]
  },
  "seeds": {"root": 42},
  "action": [{"id": "seed_outbreak", "tick": 4}],
  "block": [
    {
      "factors": [
        {"param": "infection_rate", "range": {"min": 0.1, "max": 0.5, "step": 0.1}},
        {"action": "seed_outbreak", "values": [2, 4]}
      ]
    }
  ],
  "execution": {"concurrent": 2}
}
"""


def problems_in(text: str) -> tuple[Problem, ...]:
    try:
        parse_spec(text, name="sweep.json", format="json")
    except SpecError as error:
        return error.problems
    return ()


def hash_of(text: str) -> str:
    return spec_hash(parse_spec(text).spec)


def test_both_forms_say_the_same() -> None:
    toml, other = parse_spec(TOML), parse_spec(JSON)
    assert other.spec == toml.spec
    assert other.execution == toml.execution
    assert spec_hash(other.spec) == spec_hash(toml.spec)
    assert parse_spec(other.source.toml or "").spec == toml.spec


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_survives_json_with_its_hash(path: Path) -> None:
    spec = load_spec(path).spec
    again = parse_spec(spec_to_json(spec), format="json").spec
    assert again == spec
    assert spec_hash(again) == spec_hash(spec)


def test_a_name_says_the_form_and_without_one_the_text_does(tmp_path: Path) -> None:
    for name, text in (("a.json", JSON), ("b.JSON", "\ufeff" + JSON), ("c.toml", TOML), ("d", JSON), ("e.txt", TOML)):
        (tmp_path / name).write_text(text, encoding="utf-8")
        loaded = load_spec(tmp_path / name)
        assert loaded.spec == parse_spec(TOML).spec
        assert loaded.file == name
    (tmp_path / "f.json").write_text(TOML, encoding="utf-8")
    assert load_spec(tmp_path / "f.json", format="toml").spec == parse_spec(TOML).spec
    with pytest.raises(SpecError, match=r"f\.json, line 1.*not valid JSON: 'm' where a value should stand"):
        load_spec(tmp_path / "f.json")


def test_json_under_the_name_of_toml_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(JSON, encoding="utf-8")
    with pytest.raises(
        SpecError, match=r"not valid TOML.*this looks like JSON, give the file a name that ends in \.json"
    ):
        load_spec(tmp_path / "a.toml")


def test_a_form_that_does_not_exist_is_refused() -> None:
    with pytest.raises(SpecError, match='no such form of a spec, got \'jsn\'; allowed: "toml" or "json"; did you mean'):
        parse_spec(TOML, format="jsn")


def test_a_table_beside_a_json_spec_is_read(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("infection_rate\n0.1\n")
    (tmp_path / "a.json").write_text('{"model": "sir", "block": [{"design": "table", "file": "a.csv"}]}')
    loaded = load_spec(tmp_path / "a.json")
    assert loaded.spec.blocks[0].table_text == "infection_rate\n0.1\n"
    assert [table.path for table in loaded.source.tables] == ["a.csv"]


@pytest.mark.parametrize("root", [2**53, 2**53 + 1, 2**63 - 1, 2**64 - 1])
def test_seeds_above_what_a_double_holds_are_texts_in_json(root: int) -> None:
    spec = SweepSpec(model="a", seeds=SeedSettings(root=root), measure=hw.MeasureSettings(series_every=1))
    stored = json.loads(spec_to_json(spec))["seeds"]["root"]
    assert stored == (str(root) if root > 2**53 else root)
    assert parse_spec(spec_to_json(spec)).spec == spec
    assert parse_spec(f'{{"model": "a", "seeds": {{"root": {root}}}}}').spec.seeds.root == root


def test_execution_is_written_to_json_where_it_is_not_the_default() -> None:
    loaded = parse_spec(TOML)
    assert parse_spec(spec_to_json(loaded.spec, execution=loaded.execution)).execution == loaded.execution
    assert "execution" not in json.loads(spec_to_json(loaded.spec, execution=ExecutionSettings()))


def test_a_number_that_is_not_finite_is_not_written() -> None:
    spec = SweepSpec(model="a", run=RunSettings(timeout_s=float("inf")))
    with pytest.raises(SpecError, match="cannot be written as JSON; replace it by a finite one"):
        spec_to_json(spec)


# The canonical text is contract: other programs may compute the hash from it.
CANONICAL = (
    '{"action":[{"id":"seed_outbreak","name":"seed_outbreak","tick":4}],'
    '"block":[{"design":"factorial","factors":['
    '{"param":"infection_rate","range":{"max":0.5,"min":0.1,"step":0.1}},'
    '{"action":"seed_outbreak","values":[2,4]}]}],'
    '"measure":{"default_reducers":true,"reducers":[{"column":"Infected","kinds":["argmax","first<=10"]}],'
    '"series_every":5,"stats_every":5},"model":"sir",'
    '"run":{"replicates":1,"steps":20,"stop":{"condition":"Infected <= 0","min_tick":2},"warmup":0},'
    '"seeds":{"root":42,"scheme":"common"},"set":{"grid_width":64}}'
)


def test_the_canonical_text_and_its_hash() -> None:
    assert canonical_text(parse_spec(TOML).spec) == CANONICAL
    basis, prime = 0xCBF29CE484222325, 0x100000001B3
    for byte in b"".join(len(text).to_bytes(8, "little") + text for text in (b"henad.spec.1", CANONICAL.encode())):
        basis = (basis ^ byte) * prime % 2**64
    assert hash_of(TOML) == f"{basis:016x}" == "b1980b22d4598876"


SAME = [
    ("a byte-order mark", "\ufeff" + TOML),
    ("line ends", TOML.replace("\n", "\r\n")),
    ("both in JSON", "\ufeff" + JSON.replace("\n", "\r\n")),
    ("the order of keys", TOML.replace("steps = 20\n", "").replace("min_tick = 2 }\n", "min_tick = 2 }\nsteps = 20\n")),
    ("the order of JSON keys", json.dumps(json.loads(JSON), sort_keys=True)),
    ("a default written out", TOML.replace("stats_every = 5\n", "stats_every = 5\nseries_every = 5\n")),
    ("a comment", "# [run]\n" + TOML),
    ("the name of an action", TOML.replace("tick = 4\n", 'tick = 4\nname = "seed_outbreak"\n')),
    ("a point after a whole number", TOML.replace("= 64", "= 64.0")),
    ("blanks in a condition", TOML.replace("Infected <= 0", " Infected<=0.0 ")),
    ("reducers apart", TOML.replace('"argmax", ', '"argmax"] }, { column = "Infected", kinds = [')),
    ("speed", TOML.replace("concurrent = 2", "memory = 5")),
]  # fmt: skip


@pytest.mark.parametrize("text", [text for _, text in SAME], ids=[name for name, _ in SAME])
def test_what_does_not_count_leaves_the_hash(text: str) -> None:
    assert hash_of(text) == hash_of(TOML)


@pytest.mark.parametrize(
    ("right", "other"),
    [
        ('"sir"', '"game_of_life"'),
        ("= 64", "= 65"),
        ("steps = 20", "steps = 21"),
        ("steps = 20", "steps = 20\nreplicates = 2"),
        ("steps = 20", "steps = 20\ntimeout_s = 9"),
        ("min_tick = 2", "min_tick = 3"),
        ("<= 0", "< 0"),
        ('"argmax", "first<=10"', '"first<=10", "argmax"'),
        ("root = 42", "root = 43"),
        ("tick = 4", "tick = 5"),
        ("[2, 4]", "[4, 2]"),
        ("step = 0.1", "step = 0.2"),
    ],
)
def test_what_counts_changes_the_hash(right: str, other: str) -> None:
    assert right in TOML
    assert hash_of(TOML.replace(right, other, 1)) != hash_of(TOML)


def test_a_table_counts_by_its_text(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes("\ufeffinfection_rate\r\n0.1\r\n".encode())
    (tmp_path / "a.toml").write_text('model = "sir"\n[[block]]\ndesign = "table"\nfile = "a.csv"\n')
    loaded = spec_hash(load_spec(tmp_path / "a.toml").spec)
    assert loaded == hash_of('model = "sir"\n[[block]]\ndesign = "table"\ntable_text = "infection_rate\\n0.1\\n"\n')
    inside: dict[str, Any] = {"design": "table", "table_text": "infection_rate\r\n0.1\r\n"}
    assert loaded == hash_of(json.dumps({"model": "sir", "block": [inside]}))


@pytest.mark.parametrize(
    ("right", "mistake", "told"),
    [
        ('"steps": 20', '"step": 20', "line 5, [run] step: unknown key `step`; allowed: steps, warmup, "
         "replicates, stop, timeout_s, order; did you mean 'steps'?"),
        ('"steps": 20', '"steps": "20"', "line 5, [run] steps: not a whole number, got the text '20'; allowed: "
         "a whole number, 0 to 2^64 - 1; write steps = 20, without quotes"),
        ('"steps": 20', '"steps": 20, "steps": 30', "line 5, [run] steps: key given twice, got it twice in this line; "
         "remove one of them"),
        ('"min_tick": 2', '"min_tick": NaN', "line 6, [run.stop] min_tick: not a JSON number, got NaN; allowed: "
         "a finite number"),
        ('"max": 0.5', '"max": -Infinity', "line 19, [block 0.factors #1.range] max: not a JSON number, got "
         "-Infinity; allowed: a finite number"),
        ('"values": [2, 4]', '"values": [2, NaN]', "line 20, [block 0.factors #2] values: not a JSON number, got NaN; "
         "allowed: a finite number"),
        ('"stats_every": 5', '"stats_every": null', "line 9, [measure] stats_every: no value, got null; "
         "leave the key out to get its default"),
        ('"Infected <= 0"', '"\\ud800 <= 0"', "line 6, [run.stop] condition: half of a surrogate pair, which is no "
         "character; write the character itself, or both halves"),
    ],
)  # fmt: skip
def test_a_mistake_in_json_is_told_with_its_line(right: str, mistake: str, told: str) -> None:
    assert right in JSON
    (problem,) = problems_in(JSON.replace(right, mistake, 1))
    assert str(problem) == f"sweep.json, {told}"


def test_a_key_given_twice_names_both_lines() -> None:
    text = JSON.replace('  "model": "sir",\n', '  "model": "sir",\n  "model": "ants",\n')
    (problem,) = problems_in(text)
    assert (problem.place.key, problem.place.line, problem.came) == ("model", 2, "it again in line 3")


def test_every_problem_of_a_json_file_is_reported_at_once() -> None:
    text = JSON
    for right, mistake in (
        ('"steps": 20', '"step": 20'),
        ('"min_tick": 2', '"min_tick": 2, "min_tick": 3'),
        ('"root": 42', '"root": 4.2'),
        ('"tick": 4', '"tick": null'),
        ('"param"', '"parm"'),
    ):
        text = text.replace(right, mistake, 1)
    found = [(problem.place.line, problem.place.key) for problem in problems_in(text)]
    assert found == [(5, "step"), (6, "min_tick"), (14, "root"), (15, "tick"), (19, "parm")]


def test_problems_of_a_plan_have_their_lines() -> None:
    loaded = parse_spec(JSON.replace("infection_rate", "infection_rat"), name="sweep.json")
    with pytest.raises(hw.PlanError) as caught:
        loaded.spec.plan(hw.example_models()["sir"].schema())
    (problem,) = loaded.locate(caught.value.problems)
    assert (problem.place.file, problem.place.line, problem.place.key) == ("sweep.json", 19, "param")


@pytest.mark.parametrize(
    ("text", "line", "wrong", "hint"),
    [
        ('{"model": "a",\n}', 1, "a comma before a closing bracket at column 14", "remove the comma"),
        ('{"set": {"a": [1,\n  2,\n]}}', 2, "a comma before a closing bracket at column 4", "remove the comma"),
        ("{\n'model': 1}", 2, "a text in single quotes at column 1", 'write it in double quotes, "like this"'),
        ('{"model": "a" // b\n}', 1, "a comment at column 15", "JSON has none; remove it, or write the spec as TOML"),
        ('{"model": "a"\n', 1, "the text ends too early at column 14", "close what is open"),
        ("", 1, "the text ends too early at column 1", "close what is open"),
        ('{"model": "a"} x', 1, "'x' after the end of the document at column 16", None),
        ('{"a" 1}', 1, "'1' where a colon should stand at column 6", None),
        ("{a: 1}", 1, "'a' where a key in double quotes should stand at column 2", None),
        ('{"a": 1 "b": 2}', 1, "'\"' where a comma or a closing bracket should stand at column 9", None),
        ('{"a": tru}', 1, "'t' where a value should stand at column 7", None),
        ('{"a":\n "b}', 2, "'\"' where a text starts that never ends at column 2", None),
        ('{"a": 1' + "0" * 5000 + "}", 1, "a number has too many digits at column 7", None),
        ('{"b": 12, "a": 1' + "0" * 5000 + ', "c": 123}', 1, "a number has too many digits at column 16", None),
        ('\n{"a" 1}', 2, "'1' where a colon should stand at column 6", None),
        ('{"a": "' + '\\"' * 200_000, 1, "'\"' where a text starts that never ends at column 7", None),
        ("[" * 100_000, 1, "more than 64 brackets inside one another at column 65", None),
        ("[{}, [], " + "[" * 64, 1, "more than 64 brackets inside one another at column 73", None),
        ('{"a": [{}, [], ' + "[" * 62 + "}", 1, "'}' where a value should stand at column 78", None),
    ],
)  # fmt: skip
def test_a_json_syntax_error_has_its_line_and_what_to_write(text: str, line: int, wrong: str, hint: str | None) -> None:
    (problem,) = problems_in(text)
    assert problem.wrong == f"not valid JSON: {wrong}"
    assert (problem.place.file, problem.place.line, problem.hint) == ("sweep.json", line, hint)


def test_a_condition_without_a_least_tick_counts_from_the_first_sample() -> None:
    stop = parse_spec('model = "a"\nrun.stop = { condition = "Infected <= 0" }\n').spec.run.stop
    assert stop == StopSpec(column="Infected", comparison="<=", threshold=0.0, min_tick=0)


def test_a_condition_survives_both_forms() -> None:
    stop = StopSpec(column="a<b", comparison=">=", threshold=1e300, min_tick=2**64 - 1)
    spec = SweepSpec(model="a", run=RunSettings(stop=stop), measure=hw.MeasureSettings(series_every=1))
    assert parse_spec(spec_to_json(spec)).spec == parse_spec(spec_to_toml(spec)).spec == spec
