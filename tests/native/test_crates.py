"""Results described as RO-Crates pass the validator of the Process Run Crate profile, without a network."""

from __future__ import annotations

import json
import socket
import zipfile
from pathlib import Path

import pytest
import requests
import rocrate
from rocrate_validator import services
from rocrate_validator.utils.http import HttpRequester

import henad_web as hw
from henad_native.cli import main
from henad_native.staging import StagedTables
from henad_native.unpacking import unpack_results
from henad_web.output.crate import with_crate
from henad_web.output.manifest import Manifest
from henad_web.output.names import CRATE
from henad_web.results.archive import pack
from henad_web.targets import PumpedTarget
from tests.native.folders import DIVIDES, SMALL_SIR, files_in, masked_in, record_of, resume, sweep, toy_spec
from tests.native.test_search_lanes import SIR, SPECS
from tests.shared.hosts import Host, ManualClock
from tests.shared.table_models import HERD, herd_spec
from tests.shared.test_results_resume import interrupted

pytestmark = [
    pytest.mark.usefixtures("quick_disk"),
    pytest.mark.filterwarnings("ignore:.*deprecated:DeprecationWarning"),  # of libraries of the validator's
]

CONTEXT = Path(rocrate.__file__).parent / "data" / "ro-crate.jsonld"


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """Answer what the validator asks of the network from the package rocrate, and let nothing else through."""

    def answer(_: HttpRequester, url: str, **__: object) -> requests.Response:
        assert url == "https://w3id.org/ro/crate/1.1/context"
        response = requests.Response()
        response.status_code, response.url = 200, url
        response.headers["Content-Type"] = "application/ld+json"
        response._content = CONTEXT.read_bytes()
        return response

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the network is asked")

    monkeypatch.setattr(HttpRequester, "get", answer, raising=False)
    monkeypatch.setattr(socket.socket, "connect", refuse)


def problems(folder: Path) -> list[str]:
    """Return what keeps `folder` from being a Process Run Crate."""
    settings = {
        "rocrate_uri": str(folder),
        "profile_identifier": "process-run-crate",
        "requirement_severity": "REQUIRED",
        "no_cache": True,
    }
    return [str(issue.message) for issue in services.validate(settings).get_issues()]


def aborted(spec: hw.SweepSpec, entry: hw.ModelEntry) -> dict[str, bytes]:
    # On this clock a frame is too short for all runs.
    host = Host(PumpedTarget(clock=ManualClock(0.001), wall_clock=lambda: 1.75e9))
    files = interrupted(host, entry, spec, 2)
    assert Manifest.read(files["manifest.json"]).status == "aborted"
    return files


def written(folder: Path, files: dict[str, bytes]) -> None:
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)


def made(kind: str, folder: Path) -> None:
    """Make `folder` results of one `kind`, described."""
    if kind == "zip of a sweep with own tables, from memory":
        record = hw.run_spec(HERD, herd_spec())
        assert record.files is not None
        folder.with_suffix(".zip").write_bytes(pack(with_crate(record.files)))
        with zipfile.ZipFile(folder.with_suffix(".zip")) as archive:
            archive.extractall(folder)
        return
    if kind == "aborted":
        written(folder, aborted(SMALL_SIR, SIR))
    elif kind == "resumed, with failed runs":
        written(folder, aborted(toy_spec((0, 1, 0, 2)), DIVIDES))
        record_of(resume(DIVIDES, folder))
    elif kind == "search":
        hw.run_spec(SIR, hw.parse_spec(SPECS["genetic"]), output=hw.DirectoryOutput(folder))
        (folder / "best.csv").rename(folder / "best of all, 100%.csv")
    else:
        shards = [folder.with_name(f"shard-{index}") for index in range(2)]
        for index, shard in enumerate(shards):
            sweep(SIR, SMALL_SIR, shard, shard=hw.Shard(index, 2))
        hw.merge(shards, folder)
    assert main(["export", str(folder), "--ro-crate", "--license", "https://creativecommons.org/licenses/by/4.0/"]) == 0


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize(
    "kind",
    ["zip of a sweep with own tables, from memory", "aborted", "resumed, with failed runs", "search", "merged"],
)
def test_results_are_a_process_run_crate(kind: str, tmp_path: Path) -> None:
    made(kind, tmp_path / "study")
    assert problems(tmp_path / "study") == []
    assert json.loads((tmp_path / "study" / CRATE).read_bytes())["@graph"][0]["@id"] == CRATE


@pytest.mark.usefixtures("offline")
def test_one_without_its_software_is_none(tmp_path: Path) -> None:
    made("aborted", tmp_path / "study")
    path = tmp_path / "study" / CRATE
    path.write_bytes(path.read_bytes().replace(b'"instrument"', b'"object"'))
    assert problems(tmp_path / "study") == [
        "The Action MUST have an instrument property that references the executed tool"
    ]


def test_a_resume_and_an_overwriting_sweep_take_the_description_along(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    made("aborted", folder)
    assert (folder / CRATE).exists()
    record_of(resume(SIR, folder))
    assert not (folder / CRATE).exists()
    assert main(["export", str(folder), "--ro-crate"]) == 0
    sweep(DIVIDES, toy_spec((1,)), folder.with_name("other"))
    hw.run_spec(DIVIDES, toy_spec((1,)), output=hw.DirectoryOutput(folder, overwrite=True))
    assert not (folder / CRATE).exists()
    assert masked_in(folder) == masked_in(folder.with_name("other"))


def test_one_that_somebody_edited_stays(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    made("aborted", folder)
    edited = (folder / CRATE).read_bytes().replace(b"Parameter study", b"Our study")
    (folder / CRATE).write_bytes(edited)
    record_of(resume(SIR, folder))
    assert hw.ResultSet.open(folder).is_complete
    assert files_in(folder)[CRATE] == edited


def test_tables_of_other_results_take_the_description_along_at_once(tmp_path: Path) -> None:
    made("aborted", tmp_path / "study")
    staged = StagedTables(tmp_path / "study")
    for tables in ({"runs.csv": [b"rows"]}, {"runs.csv": [b"rows"], "manifest.json": [b"{}"]}):
        assert (tmp_path / "study" / CRATE).exists()
        for _ in staged.writing(tables):
            pass
        staged.finish()
    assert not (tmp_path / "study" / CRATE).exists()


def test_a_zip_goes_on_without_its_description(tmp_path: Path) -> None:
    sweep(SIR, SMALL_SIR, tmp_path / "whole")
    (tmp_path / "study.zip").write_bytes(pack(with_crate(aborted(SMALL_SIR, SIR))))
    folder = unpack_results(tmp_path / "study.zip")
    assert not (folder / CRATE).exists()
    record_of(resume(SIR, folder))
    assert masked_in(folder) == masked_in(tmp_path / "whole")
    assert hw.verify(tmp_path / "study.zip", runs=2).is_equal
