"""How tables of a model's own are declared and asked for: in Python, in both forms of a file, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

import msgspec
import numpy as np
import pytest

import henad_web as hw
from henad_web.explore.spec_form import MeasureForm, keys_of
from henad_web.targets import PumpedTarget
from tests.shared.table_models import AGENTS, HERD, herd_spec
from tests.shared.toy_models import Toy, entry_of

DECLARED = {
    "a column that every file has": ({"tick": "f64"}, "the column 'tick' is the name of a column that every table has"),
    "no column": ({}, "columns is {}; allowed: a mapping of names to kinds with at least one column"),
    "no mapping": (["wealth"], "columns is ['wealth']; allowed: a mapping of names to kinds"),
    "an empty name": ({"": "f64"}, "the column '' is empty"),
    "a number": ({3: "f64"}, "the column 3 is no text"),
    "a control character": ({"a\x00": "f64"}, "holds the character U+0000"),
    "a kind": ({"wealth": "f63"}, "is of the kind 'f63'; allowed: f64, f32, i64, bool, text; did you mean 'f64'?"),
}


@pytest.mark.parametrize("what", DECLARED)
def test_a_declaration_that_no_file_could_hold_is_refused(what: str) -> None:
    columns, wrong = DECLARED[what]
    with pytest.raises(hw.ModelDefinitionError) as caught:
        hw.Table("agents", columns)  # type: ignore[arg-type]
    assert str(caught.value).startswith("table 'agents': ")
    assert wrong in str(caught.value)


@pytest.mark.parametrize("id", ["rows", "Agents", "", "a/b", "../a", "a" * 201, 3])
def test_an_id_that_is_no_name_of_a_file_is_refused(id: Any) -> None:
    with pytest.raises(hw.ModelDefinitionError, match=r"table id .* is malformed: a lower-case letter"):
        hw.Table(id, {"wealth": "f64"})


def test_an_entry_holds_tables_alone_each_once() -> None:
    with pytest.raises(hw.ModelDefinitionError, match="model 'toy' declares the table 'agents' twice"):
        replace(entry_of(Toy), tables=(AGENTS, AGENTS))
    wrong: Any
    for wrong in ("agents", ("agents",), AGENTS):
        with pytest.raises(hw.ModelDefinitionError, match=r"tables holds .*; allowed: a tuple of tables such as"):
            replace(entry_of(Toy), tables=wrong)


def test_what_a_model_declares_stands_in_its_schema_and_in_no_hash() -> None:
    bare = entry_of(Toy).schema()
    assert HERD.schema().schema_hash == bare.schema_hash
    assert "tables" not in bare.document()
    assert HERD.schema().document()["tables"] == [
        {"id": "agents", "columns": {"id": "i64", "wealth": "f64", "age": "f32", "mood": "text", "alive": "bool"}},
        {"id": "edges", "columns": {"a": "i64", "b": "i64"}},
    ]
    assert repr(AGENTS) == "<Table 'agents': id i64, wealth f64, age f32, mood text, alive bool>"
    assert hash(AGENTS) == hash(hw.Table("agents", {"id": "i64"}))


@pytest.mark.parametrize("every", [None, 4])
def test_both_forms_of_a_file_say_it_and_give_it_back(every: int | None) -> None:
    spec = herd_spec(every=every)
    for text in (hw.spec_to_toml(spec), hw.spec_to_json(spec)):
        assert ("tables_every" in text) is (every is not None)
        again = hw.parse_spec(text).spec
        assert again.measure == spec.measure
        assert hw.spec_hash(again) == hw.spec_hash(spec)


def test_a_spec_without_tables_is_written_as_ever() -> None:
    spec = herd_spec(tables=(), every=None)
    assert "tables" not in hw.spec_to_toml(spec)
    assert "tables" not in hw.spec_to_json(spec)
    assert hw.spec_hash(spec) != hw.spec_hash(herd_spec())
    assert spec.plan(HERD.schema()).plan_hash == herd_spec().plan(HERD.schema()).plan_hash
    assert keys_of(MeasureForm)[-2:] == ("tables", "tables_every")


REFUSED = {
    'tables = ["agnts"]': (
        "[measure] tables: no such table, got 'agnts'; allowed: agents, edges; did you mean 'agents'?"
    ),
    'tables = ["agents", "agents"]': "[measure] tables: a table given twice, got 'agents'; remove one of them",
    'tables = "edges"': (
        "[measure] tables: not a list, got the text 'edges'; allowed: a list; write tables = " + '["edges"]'
    ),
    "tables = [3]": "[measure] tables: not a text, got the number 3; allowed: ids of the model's tables",
    "tables_every = 2": '[measure] tables_every: a cadence of no tables, got 2; add tables = ["agents", "edges"]',
    'tables = ["edges"]\ntables_every = 0': (
        "[measure] tables_every: not a cadence, got 0; allowed: 1 to 2^64 - 1; leave it out for the end of "
        "each run alone"
    ),
    'tables = ["edges"]\nstats_every = 2\ntables_every = 5': (
        "[measure] tables_every: not a multiple of stats_every, which is 2, got 5; allowed: a multiple such as 4; "
        "leave it out for the end of each run alone"
    ),
    'tables = ["edges"]\ntables_every = "2"': (
        "[measure] tables_every: not a whole number, got the text '2'; allowed: a whole number, 0 to 2^64 - 1; "
        "write tables_every = 2, without quotes"
    ),
    'table = ["edges"]': (
        "[measure] table: unknown key `table`; allowed: stats_every, series_every, default_reducers, reducers, tables, "
        "tables_every; did you mean 'tables'?"
    ),
}


@pytest.mark.parametrize("text", REFUSED)
def test_a_mistake_is_told_with_its_place(text: str) -> None:
    with pytest.raises(hw.SpecError) as caught:
        hw.parse_spec(f'model = "toy"\n[measure]\n{text}\n', models=HERD)
    told = str(caught.value)
    assert told[told.index("[measure]") :] == REFUSED[text]
    assert told.startswith("line ")


def test_a_model_without_tables_says_so() -> None:
    spec = msgspec.structs.replace(herd_spec(), model="toy")
    with pytest.raises(hw.PlanError, match="allowed: none, the model has no tables"):
        spec.plan(entry_of(Toy).schema())
    with pytest.raises(hw.PlanError, match="remove it, the model has no tables"):
        herd_spec(tables=(), every=2).plan(entry_of(Toy).schema())


class Crowd(hw.Model, id="crowd"):
    """Agents that grow rich, each by its number."""

    size = hw.u32(3, min=0, max=1000)

    def setup(self) -> None:
        self.wealth = np.zeros(self.size)

    def step_once(self) -> None:
        self.wealth += np.arange(self.size)

    @hw.stat
    def total(self) -> float:
        return float(self.wealth.sum())

    @hw.table({"Mean age": "f32"}, id="i64", wealth="f64")
    def agents(self) -> dict[str, Any]:
        return {"id": np.arange(self.size), "wealth": self.wealth, "Mean age": [1.5] * self.size}


class Richer(Crowd):
    """The same with one table more."""

    @hw.table(richest="i64")
    def best(self) -> dict[str, Any]:
        return {"richest": [int(self.wealth.argmax())]}


def test_a_class_declares_a_table_where_it_is_made() -> None:
    spec = hw.parse_spec('model = "crowd"\n[run]\nsteps = 2\n[measure]\ntables = ["agents"]', models=Crowd).spec
    assert Crowd.entry().tables == (hw.Table("agents", {"Mean age": "f32", "id": "i64", "wealth": "f64"}),)
    assert [table.id for table in Richer.entry().tables] == ["agents", "best"]
    run = hw.SweepRun.start(Crowd, spec, target=PumpedTarget())
    while not isinstance(event := run.try_recv(), hw.Finished):
        run.update(1.0)
    assert event.record.files is not None
    rows = b"0,2,1.5,0,0\n0,2,1.5,1,2\n0,2,1.5,2,4\n"
    assert event.record.files["tables/agents.csv"] == b"run_id,tick,Mean age,id,wealth\n" + rows
    crowd = Crowd({"size": 2})
    assert crowd.agents().keys() == crowd.table("agents").keys() == {"Mean age", "id", "wealth"}
    assert "tables of its parts: `agents` (Mean age, id, wealth)" in hw.describe_model(Crowd)


def body(**members: Any) -> dict[str, Any]:
    return {"step_once": lambda self: None, "n": hw.stat(), "__module__": __name__, **members}


def agents(self: object) -> dict[str, Any]:
    return {}


def late(self: object, tick: int) -> dict[str, Any]:
    return {}


REFUSED_BODIES: dict[str, tuple[dict[str, Any], str]] = {
    "a kind": ({"agents": hw.table(wealth="f63")(agents)}, "the column 'wealth' is of the kind 'f63'"),
    "an id": ({"Agents": hw.table(wealth="f64")(agents)}, "table id 'Agents' is malformed"),
    "a method that takes more": (
        {"agents": hw.table(wealth="f64")(cast("Any", late))},
        "agents(self: 'object', tick: 'int') -> 'dict[str, Any]' cannot be called as agents(self)",
    ),
    "the method of the protocol": (
        {"table": agents},
        'it has a method table, by which tables are asked for; put @hw.table(wealth="f64") over a method of its own',
    ),
    "the form of an entry": (
        {"agents": AGENTS},
        "'agents' is a Table, which belongs into an entry; a class declares it by @hw.table",
    ),
    "the name of a member": ({"stats": hw.table(wealth="f64")(agents)}, "the table 'stats' has the name of a member"),
}


@pytest.mark.parametrize("what", REFUSED_BODIES)
def test_a_class_with_a_wrong_table_is_refused_as_it_is_made(what: str) -> None:
    members, wrong = REFUSED_BODIES[what]
    with pytest.raises(hw.ModelDefinitionError) as caught:
        type("Wrong", (hw.Model,), body(**members))
    assert wrong in str(caught.value)


def test_a_table_without_its_columns_is_refused() -> None:
    with pytest.raises(hw.ModelDefinitionError, match=r"a table says its columns: @hw.table\(id=\"i64\""):
        hw.table(agents)  # type: ignore[arg-type]
