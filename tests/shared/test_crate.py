"""The description of results as an RO-Crate: what it says of a manifest and files, and who has changed it."""

from __future__ import annotations

import hashlib
from typing import Any

import msgspec
import pytest

import henad_web as hw
from henad_web.output.build import BuildRecord
from henad_web.output.crate import is_unedited_crate, with_crate
from henad_web.output.manifest import Manifest
from henad_web.output.names import CRATE
from henad_web.results.archive import pack, unpack
from henad_web.results.recognition import usual_names
from tests.shared.hosts import Host, ManualClock
from tests.shared.reference_folder import reference_files
from tests.shared.table_models import HERD, herd_spec
from tests.shared.test_results_resume import interrupted


def entities(files: dict[str, bytes]) -> dict[str, Any]:
    """Return what the description of `files` tells of, by id."""
    graph = msgspec.json.decode(with_crate(files)[CRATE])["@graph"]
    found = {entity["@id"]: entity for entity in graph}
    assert len(found) == len(graph)
    return found


def changed(files: dict[str, bytes], **fields: object) -> dict[str, bytes]:
    """Return `files` with other fields in their manifest."""
    manifest = msgspec.structs.replace(Manifest.read(files["manifest.json"]), **fields)
    return {**files, "manifest.json": manifest.to_bytes()}


def test_it_lists_every_file_with_size_hash_and_format(stepped: Host) -> None:
    files = stepped.files(HERD, herd_spec())
    found = entities(files)
    assert found["./"]["hasPart"] == [{"@id": name} for name in files]
    assert "tables/agents.csv" in files
    for name, content in files.items():
        entity = found[name]
        assert entity["@type"] == "File"
        assert entity["contentSize"] == str(len(content))
        assert entity["sha256"] == hashlib.sha256(content).hexdigest()
        assert entity["encodingFormat"] == ("application/json" if name.endswith(".json") else "text/csv")
    assert len({entity.get("description") for entity in map(found.get, files) if entity}) == len(files) - 1


def test_it_says_which_software_did_what_by_which_spec(
    stepped: Host, models: hw.ModelSet, small_sir: hw.SweepSpec
) -> None:
    files = stepped.files(models["sir"], small_sir)
    manifest = Manifest.read(files["manifest.json"])
    found = entities(files)
    root, session = found["./"], found["#session-1"]
    assert root["conformsTo"] == {"@id": "https://w3id.org/ro/wfrun/process/0.5"}
    assert root["mentions"] == {"@id": "#session-1"}
    assert root["name"] == "Parameter study of SIR Epidemic"
    assert root["description"].startswith("6 runs of the model 'sir', status complete: 6 ok, 0 with")
    assert root["datePublished"] == session["endTime"] == "2025-06-15T15:06:40.000+00:00"
    assert [found[each["@id"]]["name"] for each in session["instrument"]] == ["henad-web", "SIR Epidemic"]
    assert found["#software-1"]["version"] == manifest.engine.version
    assert found["#model-1"]["version"] == f"schema {manifest.model.schema_hash}"
    assert hw.parse_spec(found["#spec"]["text"]).spec == small_sir
    assert found["#spec"]["identifier"] == f"plan hash {manifest.plan.plan_hash}"
    assert session["object"] == {"@id": "#spec"}
    assert session["result"] == [{"@id": name} for name in files]
    assert session["actionStatus"] == "http://schema.org/CompletedActionStatus"
    assert found[CRATE]["about"] == {"@id": "./"}
    assert found[CRATE]["conformsTo"] == {"@id": "https://w3id.org/ro/crate/1.1"}


def test_every_reference_leads_to_what_is_told_of(stepped: Host) -> None:
    found = entities(stepped.files(HERD, herd_spec()))
    outside = {"https://w3id.org/ro/crate/1.1"}

    def references(value: object) -> set[str]:
        if isinstance(value, dict):
            return {value["@id"]}
        return set().union(*map(references, value)) if isinstance(value, list) else set()

    for entity in found.values():
        for field in entity.values():
            assert references(field) <= found.keys() | outside


def test_each_session_is_an_action_with_what_is_known_of_its_end(
    stepped: Host, clock: ManualClock, models: hw.ModelSet, small_sir: hw.SweepSpec
) -> None:
    clock.tick_s = 0.001  # else a frame is long enough for all of it
    cut = interrupted(stepped, models["sir"], small_sir, 2)
    aborted = entities(cut)["#session-1"]
    assert aborted["actionStatus"] == "http://schema.org/FailedActionStatus"
    assert aborted["error"] == "It was aborted before all runs were written."
    run = hw.SweepRun.resume_files(models["sir"], with_crate(cut), target=stepped.target)
    files = stepped.record(run).files
    assert files is not None
    found = entities(files)
    assert found["./"]["mentions"] == [{"@id": "#session-1"}, {"@id": "#session-2"}]
    assert not {"actionStatus", "endTime"} & found["#session-1"].keys()
    assert found["#session-2"]["actionStatus"] == "http://schema.org/CompletedActionStatus"
    assert "endTime" in found["#session-2"]
    assert [found[f"#session-{number}"]["instrument"] for number in (1, 2)] == [
        [{"@id": "#software-1"}, {"@id": "#model-1"}]
    ] * 2
    kept = len(hw.ResultSet.from_files(cut).runs)
    assert f"{6 - kept} runs written, {kept} kept from earlier sessions" in found["#session-2"]["description"]


def test_builds_and_models_that_differ_are_told_apart_and_a_killed_session_failed(
    stepped: Host, models: hw.ModelSet, small_sir: hw.SweepSpec
) -> None:
    files = stepped.files(models["sir"], small_sir)
    (session,) = Manifest.read(files["manifest.json"]).sessions
    assert session.engine is not None
    other = msgspec.structs.replace(
        session,
        engine=msgspec.structs.replace(session.engine, version="0.0.9", commit="abcd", source_hash=None),
        model_source="sir.py 0123456789abcdef, maths.py fedcba9876543210",
        rows=None,
    )
    found = entities(changed(files, sessions=(other, session, other)))
    assert found["#software-1"] == {
        "@id": "#software-1",
        "@type": "SoftwareApplication",
        "name": "henad-web",
        "version": "0.0.9",
        "identifier": "commit abcd",
    }
    assert found["#model-1"]["identifier"] == ["sir.py 0123456789abcdef", "maths.py fedcba9876543210"]
    used = [[each["@id"] for each in found[f"#session-{number}"]["instrument"]] for number in (1, 2, 3)]
    assert used == [["#software-1", "#model-1"], ["#software-2", "#model-2"], ["#software-1", "#model-1"]]
    assert found["#session-1"]["error"] == "It ended before it could say which runs it wrote."
    assert found["#session-3"]["actionStatus"] == "http://schema.org/CompletedActionStatus"
    one = msgspec.structs.replace(session, model_source="sir.py 0123456789abcdef")
    assert entities(changed(files, sessions=(one,)))["#model-1"]["identifier"] == "sir.py 0123456789abcdef"
    assert "identifier" not in entities(files)["#model-1"]
    built = BuildRecord(name="pandemics", version="2.0")
    model = entities(changed(files, sessions=(msgspec.structs.replace(session, model_source=built),)))["#model-1"]
    assert (model["name"], model["version"]) == ("SIR Epidemic", "2.0")


@pytest.mark.parametrize(
    ("status", "ended", "error"),
    [
        ("complete", "Completed", None),
        ("incomplete", "Failed", "A device was lost before all runs were written."),
        ("aborted", "Failed", "It was aborted before all runs were written."),
        ("failed", "Failed", "An error outside every run ended it."),
        ("running", None, None),
    ],
)
def test_the_last_session_ended_as_the_results_did(status: str, ended: str | None, error: str | None) -> None:
    files = reference_files()
    action = entities({**files, "manifest.json": files["manifest.json"].replace(b'"complete"', f'"{status}"'.encode())})
    last = action["#session-1"]
    assert last.get("actionStatus") == (None if ended is None else f"http://schema.org/{ended}ActionStatus")
    assert last.get("error") == error


def test_of_merged_results_no_end_of_a_session_is_claimed() -> None:
    found = entities(changed(reference_files(), merged_shards=("a", "b")))
    assert found["./"]["description"].endswith("Merged from 2 shards.")
    assert not {"actionStatus", "endTime"} & found["#session-1"].keys()


def test_results_without_a_session_are_one_action_and_an_older_build_is_named_as_far_as_it_is_known() -> None:
    files = reference_files()
    assert entities(changed(files, sessions=()))["#session-1"]["description"].startswith("4 runs written")
    (session, *_) = Manifest.read(files["manifest.json"]).sessions
    other = msgspec.structs.replace(session, engine=None, commit="5555")
    found = entities(changed(files, sessions=(other, msgspec.structs.replace(other, commit="0123abcd"))))
    assert (found["#software-1"]["version"], found["#software-1"]["identifier"]) == ("unknown", "commit 5555")
    assert (found["#software-2"]["version"], found["#software-2"]["identifier"]) == ("0.2.0", "commit 0123abcd")


def test_a_license_is_an_entity_words_or_said_to_be_missing() -> None:
    results = hw.ResultSet.from_files(reference_files())

    def root(**given: str) -> tuple[Any, dict[str, Any]]:
        graph = msgspec.json.decode(results.to_ro_crate(**given))["@graph"]
        return graph[1]["license"], {entity["@id"]: entity for entity in graph}

    assert root()[0].startswith("No license is stated.")
    for words in ("Ask Jo", "https://example.org/by or ask Jo", "https://example.org/<by>", "https://"):
        assert root(license=words)[0] == words
    address = "https://creativecommons.org/licenses/by/4.0/"
    reference, found = root(license=address)
    assert reference == {"@id": address}
    assert found[address]["@type"] == "CreativeWork"


def test_equal_results_have_an_equal_description_whatever_their_order_and_names() -> None:
    files = reference_files()
    crate = hw.ResultSet.from_files(files).to_ro_crate()
    assert with_crate(files)[CRATE] == crate
    assert hw.ResultSet.from_files(dict(reversed(files.items()))).to_ro_crate() == crate
    assert with_crate(with_crate(files)) == with_crate(files)
    renamed = hw.ResultSet.from_files({f"my {name}": content for name, content in files.items()}).to_ro_crate()
    graph = msgspec.json.decode(renamed)["@graph"]
    assert graph[1]["hasPart"][0] == {"@id": "my%20runs.csv"}
    assert graph[2]["name"] == "my runs.csv"
    assert graph[2]["description"].startswith("One row a run")


def test_a_file_whose_name_is_no_text_is_listed_by_its_bytes() -> None:
    files = {"runs\udcff.csv" if name == "runs.csv" else name: data for name, data in reference_files().items()}
    graph = msgspec.json.decode(hw.ResultSet.from_files(files).to_ro_crate())["@graph"]
    assert (graph[2]["@id"], graph[2]["name"]) == ("runs%FF.csv", "runs\\udcff.csv")


@pytest.mark.parametrize("license", ["", " ", "two\nlines", "\udcff", 3])
def test_a_license_that_says_nothing_is_refused(license: Any) -> None:
    with pytest.raises(hw.UsageError, match=r"^license is .*; allowed: the address of a license, or words"):
        hw.ResultSet.from_files(reference_files()).to_ro_crate(license=license)


def test_one_that_is_unedited_is_known() -> None:
    crate = with_crate(reference_files())[CRATE]
    assert is_unedited_crate(crate)
    assert not is_unedited_crate(crate.replace(b"Parameter study", b"Big study"))
    assert not is_unedited_crate(crate + b"\n")
    assert not is_unedited_crate(b"{}")
    assert not is_unedited_crate(b"")


def test_files_that_nothing_describes_come_alone() -> None:
    files = {"runs.csv": b"run_id", "manifest.json": b"{"}
    assert with_crate(files) == files
    assert with_crate({"runs.csv": b"", CRATE: b"of others"}) == {"runs.csv": b""}


def test_results_with_a_description_are_the_results(
    stepped: Host, models: hw.ModelSet, small_sir: hw.SweepSpec
) -> None:
    files = stepped.files(models["sir"], small_sir)
    described = unpack(pack(with_crate(files)))
    assert CRATE in described
    assert usual_names(described) == files
    assert hw.masked(described) == hw.masked(files)
    results = hw.ResultSet.from_files(described)
    assert results.ignored == (CRATE,)
    assert results.is_complete
    assert results.to_ro_crate() == described[CRATE]
