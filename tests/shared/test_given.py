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
