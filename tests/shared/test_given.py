"""What stands for something else works or is refused in words: loaded specs, mappings, entries, factories."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

import henad_web as hw
from tests.shared.hosts import Host
from tests.shared.toy_models import Toy, entry_of, toy_spec

TOY = entry_of(Toy)
TEXT = """
model = "toy"
run = { steps = 4, replicates = 2 }
execution = { concurrent = 2, memory = 1000000 }
[[block]]
factors = [{ param = "value", values = [1, 2] }]
"""
LOADED = hw.parse_spec(TEXT)
DOCUMENT: dict[str, Any] = {
    "model": "toy",
    "run": {"steps": np.int64(4), "replicates": 2},
    "block": [{"factors": ({"param": "value", "values": np.array([1, 2])},)}],
}


def manifest_of(record: hw.SweepRecord) -> Any:
    assert record.files is not None
    return msgspec.json.decode(record.files["manifest.json"])


def test_a_loaded_spec_brings_its_source_and_its_settings(host: Host) -> None:
    record = host.record(hw.SweepRun.start(TOY, LOADED, target=host.target))
    manifest = manifest_of(record)
    assert manifest["spec_source"]["toml"] == TEXT
    assert (manifest["execution"]["concurrency"], manifest["execution"]["memory_budget"]) == (2, 1_000_000)
    bare = host.record(hw.SweepRun.start(TOY, LOADED.spec, target=host.target))
    assert manifest_of(bare)["spec_source"] is None
    assert record.files is not None
    assert bare.files is not None
    assert hw.masked(record.files)["runs.csv"] == hw.masked(bare.files)["runs.csv"]


def test_the_options_of_the_caller_win(host: Host) -> None:
    options = hw.SweepRunOptions(concurrency=1, memory_budget=5)
    manifest = manifest_of(host.record(hw.SweepRun.start(TOY, LOADED, options=options, target=host.target)))
    assert (manifest["execution"]["concurrency"], manifest["execution"]["memory_budget"]) == (1, 5)
    assert manifest["spec_source"]["toml"] == TEXT


def test_a_plan_is_made_of_a_loaded_spec_and_a_resume_takes_one(host: Host) -> None:
    assert hw.plan_spec(TOY, LOADED, target=host.target).runs == 4
    files = host.record(hw.SweepRun.start(TOY, LOADED, target=host.target)).files
    assert files is not None
    more = hw.parse_spec(TEXT.replace("replicates = 2", "replicates = 3"))
    record = host.record(hw.SweepRun.resume_files(TOY, files, spec=more, target=host.target))
    assert record.report.counts.rows == 6


def test_options_made_of_a_loaded_spec_are_complete(host: Host) -> None:
    options = hw.SweepRunOptions.from_loaded(LOADED, concurrency="auto", memory_budget=None)
    manifest = manifest_of(host.record(hw.SweepRun.start(TOY, LOADED, options=options, target=host.target)))
    assert manifest["execution"]["concurrency"] == "auto"
    assert manifest["execution"].get("memory_budget") is None


def test_a_loaded_spec_is_planned_once_for_its_model_alone(host: Host) -> None:
    loaded = hw.parse_spec(TEXT, models=TOY)
    other = entry_of(Toy, params=(hw.f64("share", "Share", 0, 0, 1),))
    longer = dataclasses.replace(loaded, spec=hw.parse_spec(TEXT.replace("steps = 4", "steps = 5")).spec)
    for entry, given, is_taken in ((TOY, loaded, True), (other, loaded, False), (TOY, longer, False)):
        with hw.SweepRun.start(entry, given, target=host.target) as run:
            assert (run.plan is loaded.plan) is is_taken
            assert run.plan.schema == entry.schema()
            assert run.plan.spec is given.spec


@pytest.mark.parametrize("given", [TEXT, DOCUMENT, Path("sweep.toml"), None, 3, TOY])
def test_what_is_no_spec_is_refused_in_words(given: Any) -> None:
    with pytest.raises(hw.UsageError, match=r"the spec is .*; allowed: a SweepSpec or what hw\.load_spec\(path\)"):
        hw.SweepRun.start(TOY, given)
    with pytest.raises(hw.UsageError, match="the spec is "):
        hw.plan_spec(TOY, given)


def test_a_mapping_is_parsed_as_the_file_of_the_same_content() -> None:
    assert hw.parse_spec(DOCUMENT).spec == LOADED.spec


def test_a_mapping_has_every_problem_of_a_file() -> None:
    with pytest.raises(hw.SpecError, match=r"\[run\] step: .*did you mean 'steps'\?"):
        hw.parse_spec({"model": "toy", "run": {"step": 3}})
    with pytest.raises(hw.SpecError, match="the mapping is no document: a value of the type object"):
        hw.parse_spec({"model": object()})


@pytest.mark.parametrize(("call", "given"), [(hw.parse_spec, Path("a.toml")), (hw.parse_spec, None)])
def test_what_is_no_text_is_refused_in_words(call: Any, given: Any) -> None:
    with pytest.raises(hw.UsageError, match=r"takes text or a mapping, got .*; hw\.load_spec\(path\) reads a file"):
        call(given)
    with pytest.raises(hw.UsageError, match=r"takes the path of a file, got .*; hw\.parse_spec takes text"):
        hw.load_spec({"model": "toy"})  # type: ignore[arg-type]


def test_a_spec_made_in_python_takes_mappings_lists_and_single_blocks() -> None:
    block = toy_spec(1, 2).blocks[0]
    made = [
        hw.SweepSpec(model="toy", fixed={"other": 3}, blocks=[block]),  # type: ignore[arg-type]
        hw.SweepSpec(model="toy", fixed=[["other", 3]], blocks=block),  # type: ignore[arg-type]
    ]
    whole = hw.SweepSpec(model="toy", fixed=(("other", 3),), blocks=(block,))
    assert made == [whole, whole]
    assert all(hash(spec) == hash(whole) for spec in made)


@pytest.mark.parametrize(
    ("name", "value", "allowed"),
    [
        ("run", {"steps": 3}, "RunSettings"),
        ("measure", None, "MeasureSettings"),
        ("seeds", 7, "SeedSettings"),
        ("blocks", [{"factors": []}], "BlockSpec"),
        ("blocks", "factorial", "BlockSpec"),
        ("actions", [3], "ActionSpec"),
    ],
)
def test_a_table_of_another_type_is_refused_in_words(name: str, value: Any, allowed: str) -> None:
    with pytest.raises(hw.SpecError, match=rf"{name}: another type, got .*; allowed: hw\.{allowed}\(…\)"):
        hw.SweepSpec(model="toy", **{name: value})


def test_an_entry_stands_for_the_set_of_it(host: Host) -> None:
    files = host.record(hw.SweepRun.start(TOY, LOADED, target=host.target)).files
    assert files is not None
    for models in (TOY, hw.ModelSet([TOY]), {"toy": TOY}):
        assert hw.ResultSet.from_files(files, models=models).plan.run_count == 4
        with pytest.raises(hw.SpecError, match=r"\[run\] step"):
            hw.parse_spec('model = "toy"\nrun = { step = 3 }', models=models)
    for wrong in ("toy", 3, [TOY, 3]):
        with pytest.raises(hw.UsageError, match=r"models is .*; allowed: a ModelSet, a ModelEntry"):
            hw.ResultSet.from_files(files, models=wrong)  # type: ignore[arg-type]
    with pytest.raises(hw.ModelDefinitionError, match="3 is no ModelEntry"):
        hw.ModelSet([3])  # type: ignore[list-item]


def no_seed(params: Mapping[str, object]) -> Toy:
    raise AssertionError


def needs_more(params: Mapping[str, object], seed: int | None, size: int) -> Toy:
    raise AssertionError


@pytest.mark.parametrize("factory", [no_seed, needs_more, lambda: None, Toy({"value": 1}, 0), None])
def test_a_factory_that_cannot_be_called_is_told_once_where_it_is_declared(factory: Any) -> None:
    with pytest.raises(hw.ModelDefinitionError, match=r"model 'toy': the factory .*factory\(params, seed\)"):
        entry_of(factory)


@pytest.mark.parametrize(
    "factory", [Toy, lambda *values: Toy(*values), lambda params, seed=None, *, size=3: Toy(params, seed), dict]
)
def test_any_callable_of_two_values_is_a_factory(factory: Any) -> None:
    assert entry_of(factory).id == "toy"


@pytest.mark.parametrize(
    ("files", "told"),
    [
        (
            "results",
            "are 'results'; allowed: a mapping of names to bytes, such as the `files` of a record; a folder or",
        ),
        (None, "are a NoneType; allowed: a mapping"),
        ([b""], "are a list; allowed: a mapping"),
        ({"runs.csv": "run_id"}, "the file 'runs.csv' of results holds 'run_id'; allowed: a mapping"),
        ({1: b""}, "of results holds a bytes; allowed: a mapping"),
    ],
)
@pytest.mark.parametrize(
    "read", [hw.ResultSet.from_files, hw.masked, lambda files: hw.SweepRun.resume_files(TOY, files)]
)
def test_files_that_are_none_are_refused_in_words(read: Any, files: Any, told: str) -> None:
    with pytest.raises(hw.UsageError) as refused:
        read(files)
    assert told in str(refused.value)


def test_a_folder_without_a_name_and_a_merge_of_one_path_are_refused_in_words() -> None:
    with pytest.raises(hw.UsageError, match=r"is empty; name a folder, '\.' for the one you are in"):
        hw.DirectoryOutput("")
    with pytest.raises(hw.UsageError, match=r"are 'shard'; allowed: a list of folders, such as \['shard', \.\.\.\]"):
        hw.merge("shard", "whole")


# -- what stands for nothing ---------------------------------------------------------------------------------------

LONG = 10**5000
"""A number of more digits than Python writes."""


@pytest.mark.parametrize(
    ("declare", "words"),
    [
        (lambda: hw.u32("a", "A", 0, 0, LONG), r"bounds 0 to about 2\^16609 are not within 0 to 4294967295"),
        (lambda: hw.u32("a", "A", LONG, 0, 1), r"default about 2\^16609 is not within 0 to 1"),
        (lambda: hw.i64("a", "A", -LONG, 0, 1), r"default about -2\^16609 is not within"),
        (lambda: hw.i64("a", "A", LONG, "x", 1), r"not all of about 2\^16609, 'x', 1 are whole numbers"),  # type: ignore[call-overload]
        (lambda: hw.f64("a", "A", 0, 0, 1, step=LONG), r"step is about 2\^16609; allowed: a finite number above 0"),
        (lambda: hw.f32("a", "A", 0, 0, 1, step=-1.0), r"step is -1\.0; allowed: a finite number above 0"),
        (lambda: hw.boolean("a", "A", LONG), r"default is about 2\^16609; allowed: True or False"),  # type: ignore[call-overload]
        (lambda: hw.choice("a", "A", ("x", "y"), LONG), r"default about 2\^16609 is not the index of one of 2"),
        (lambda: hw.choice("a", "A", ("x", LONG), 0), r"options are a tuple with a number of very many digits"),  # type: ignore[arg-type]
        (lambda: hw.choice("a", "A", LONG, 0), r"options are about 2\^16609; allowed: a tuple of texts"),  # type: ignore[call-overload]
        (lambda: hw.text("a", "A", LONG), r"default about 2\^16609 is not a text"),  # type: ignore[call-overload]
        (lambda: hw.text(LONG, "A", ""), r"parameter 'about 2\^16609': default '' is an empty text"),  # type: ignore[call-overload]
        (lambda: entry_of(Toy, params=(hw.u32(LONG, "A", 0, 0, 1),)), r"parameter id about 2\^16609 is malformed"),  # type: ignore[call-overload]
        (lambda: entry_of(Toy, params=(hw.u32("a", LONG, 0, 0, 1),)), r"label of parameter .a. about .* is no text"),  # type: ignore[call-overload]
        (lambda: hw.ModelSet([LONG]), r"about 2\^16609 is no ModelEntry"),  # type: ignore[list-item]
    ],
)  # fmt: skip
def test_a_declaration_is_refused_in_words_whatever_the_number(declare: Any, words: str) -> None:
    with pytest.raises(hw.ModelDefinitionError, match=words):
        declare()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: hw.load_spec(LONG), r"load_spec takes the path of a file, got about 2\^16609"),  # type: ignore[arg-type]
        (lambda: hw.parse_spec(LONG), r"parse_spec takes text or a mapping, got about 2\^16609"),  # type: ignore[arg-type]
        (lambda: hw.DirectoryOutput(LONG), r"path of DirectoryOutput is about 2\^16609; allowed: text"),  # type: ignore[arg-type]
        (lambda: hw.ResultSet.open(LONG), r"path of results is about 2\^16609; allowed: text"),  # type: ignore[arg-type]
        (lambda: hw.ResultSet.open(b"x"), r"path of results is b'x'; allowed: text"),  # type: ignore[arg-type]
        (lambda: hw.merge(LONG, "x"), r"inputs of a merge are about 2\^16609; allowed: a list"),  # type: ignore[arg-type]
        (lambda: hw.merge([LONG], "x"), r"an input of a merge is about 2\^16609; allowed: text"),  # type: ignore[list-item]
        (lambda: hw.merge(["x"], None), r"folder of a merge is None; allowed: text"),  # type: ignore[arg-type]
        (lambda: hw.merge(["x"], "y", progress=5), r"progress is 5; allowed: a function"),  # type: ignore[arg-type]
        (lambda: hw.run_spec(5, LOADED), r"the model is 5; allowed: a ModelEntry"),  # type: ignore[arg-type]
        (lambda: hw.run_spec(TOY, 5), r"the spec is 5; allowed: a SweepSpec"),  # type: ignore[arg-type]
        (lambda: hw.run_spec(TOY, LONG), r"the spec is about 2\^16609; allowed"),  # type: ignore[arg-type]
        (lambda: hw.run_spec(TOY, LOADED, options=5), r"options is 5; allowed: hw\.SweepRunOptions"),  # type: ignore[arg-type]
        (lambda: hw.run_spec(TOY, LOADED, output=LONG), r"output is about 2\^16609; allowed"),  # type: ignore[arg-type]
        (lambda: hw.run_spec(TOY, LOADED, progress=5), r"progress is 5; allowed: a function"),  # type: ignore[arg-type]
        (lambda: hw.plan_spec("toy", LOADED), r"the model is 'toy'; allowed: a ModelEntry"),  # type: ignore[arg-type]
        (lambda: hw.plan_spec(TOY, LOADED, options={}), r"options is \{\}; allowed"),  # type: ignore[arg-type]
        (lambda: hw.resume_sweep(5, "x"), r"the model is 5; allowed"),  # type: ignore[arg-type]
        (lambda: hw.resume_sweep(TOY, "x", options=5), r"options is 5; allowed"),  # type: ignore[arg-type]
        (lambda: hw.SweepRun.start(5, LOADED), r"the model is 5; allowed"),  # type: ignore[arg-type]
        (lambda: hw.SweepRun.start(TOY, LOADED, None, 5), r"options is 5; allowed"),  # type: ignore[arg-type]
        (lambda: hw.SweepRun.resume_directory(5, "x"), r"the model is 5; allowed"),  # type: ignore[arg-type]
        (lambda: hw.SweepRun.resume_files(5, {}), r"the model is 5; allowed"),  # type: ignore[arg-type]
        (lambda: hw.SweepRun.resume_files(TOY, {}, 5), r"options is 5; allowed"),  # type: ignore[arg-type]
        (lambda: hw.Plan.of(LOADED, TOY), r"the schema is <ModelEntry 'toy'.*allowed: that of a model, entry\.schema"),  # type: ignore[arg-type]
        (lambda: hw.Plan.of(5, TOY.schema()), r"the spec is 5; allowed"),  # type: ignore[arg-type]
        (lambda: hw.freeze(5, TOY.schema()), r"the spec is 5; allowed"),  # type: ignore[arg-type]
        (lambda: hw.spec_hash(5), r"the spec is 5; allowed"),  # type: ignore[arg-type]
        (lambda: hw.spec_to_toml(5), r"the spec is 5; allowed"),  # type: ignore[arg-type]
        (lambda: hw.verify_results(5), r"the results are 5; allowed: a ResultSet"),  # type: ignore[arg-type]
    ],
)  # fmt: skip
def test_a_call_refuses_in_words_what_is_of_another_kind(call: Any, words: str) -> None:
    with pytest.raises(hw.UsageError, match=words):
        call()


def test_a_run_of_thousands_of_digits_is_not_there(host: Host) -> None:
    files = host.record(hw.SweepRun.start(TOY, LOADED, target=host.target)).files
    assert files is not None
    with pytest.raises(hw.UnknownRunError, match=r"there is no run about 2\^16609; runs here: 0-3"):
        hw.ResultSet.from_files(files).runs.run(LONG)


def test_a_loaded_spec_is_written_hashed_frozen_and_planned_as_its_spec() -> None:
    spec, schema = LOADED.spec, TOY.schema()
    assert hw.spec_hash(LOADED) == hw.spec_hash(spec)
    assert hw.spec_to_toml(LOADED) == hw.spec_to_toml(spec)
    assert hw.spec_to_json(LOADED) == hw.spec_to_json(spec)
    assert hw.freeze(LOADED, schema) == hw.freeze(spec, schema)
    assert hw.Plan.of(LOADED, schema).plan_hash == hw.Plan.of(spec, schema).plan_hash
