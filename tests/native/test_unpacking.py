"""A zip of results made a directory: what the page exported goes on natively, and what cannot be is left alone."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

import henad_web as hw
from henad_native.unpacking import default_directory, unpack_results
from henad_web.results.archive import pack
from henad_web.targets import PumpedTarget
from tests.shared.hosts import Host
from tests.shared.reference_folder import reference_files

SPEC = """
model = "sir"
set = { grid_width = 16, grid_height = 16 }
run = { steps = 20, replicates = 3 }
measure = { stats_every = 5 }
[[block]]
factors = [{ param = "infection_rate", values = [0.2, 0.4, 0.6] }]
"""


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name != ".lock"}


@pytest.mark.parametrize("runs", [0, 1, 4])
def test_a_sweep_exported_midway_from_the_page_resumes_to_the_bytes_of_a_native_one(tmp_path: Path, runs: int) -> None:
    sir, spec = hw.example_models()["sir"], hw.parse_spec(SPEC).spec
    page = Host(PumpedTarget())
    run = page.start(sir, spec)
    page.until(run, lambda: run.progress().runs_done >= runs)
    run.abort()
    exported = page.record(run).files
    assert exported is not None
    archive = tmp_path / "sir-sweep.zip"
    archive.write_bytes(pack(exported))
    folder = unpack_results(archive)
    assert folder == tmp_path / "sir-sweep"
    assert contents(folder) == exported
    hw.run_spec(sir, spec, output=hw.DirectoryOutput(folder), resume=True)
    hw.run_spec(sir, spec, output=hw.DirectoryOutput(tmp_path / "native"))
    assert hw.masked(contents(folder)) == hw.masked(contents(tmp_path / "native"))


def test_a_native_folder_goes_on_in_the_page(tmp_path: Path) -> None:
    sir, spec = hw.example_models()["sir"], hw.parse_spec(SPEC).spec
    hw.run_spec(sir, spec, output=hw.DirectoryOutput(tmp_path / "whole"))
    whole = contents(tmp_path / "whole")
    cut = {**whole, "runs.csv": b"".join(whole["runs.csv"].splitlines(keepends=True)[:5])}
    page = Host(PumpedTarget())
    run = hw.SweepRun.resume_files(sir, cut, target=page.target)
    files = page.record(run).files
    assert files is not None
    assert hw.masked(files) == hw.masked(whole)


def test_parts_get_their_usual_names_and_nothing_else_is_written(tmp_path: Path) -> None:
    archive = tmp_path / "a.zip"
    files = {f"study/{number}": content for number, content in enumerate(reference_files().values())}
    archive.write_bytes(pack({**files, "study/readme.txt": b"hello"}))
    assert contents(unpack_results(archive, tmp_path / "out")) == reference_files()


def test_a_folder_that_holds_results_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    archive, folder = tmp_path / "a.zip", tmp_path / "a"
    archive.write_bytes(pack(reference_files()))
    unpack_results(archive)
    before = contents(folder)
    with pytest.raises(hw.HoldsResultsError):
        unpack_results(archive)
    assert contents(folder) == before


def test_an_archive_without_results_or_with_a_wrong_name_writes_nothing(tmp_path: Path) -> None:
    archive = tmp_path / "a.zip"
    for files in ({"x.csv": b"a,b\n"}, {**reference_files(), "../x": b""}, {"manifest.json": b"{}"}):
        archive.write_bytes(pack(files))
        with pytest.raises((hw.ResultsError, hw.ManifestError)):
            unpack_results(archive)
        assert not (tmp_path / "a").exists()


def test_an_archive_damaged_inside_a_table_leaves_no_part_of_a_result_set(tmp_path: Path) -> None:
    archive = tmp_path / "a.zip"
    files = reference_files()
    # Longer than what is read to recognise a table, so that the damage shows while it is written.
    files["series.csv"] += b"".join(b"3,%d,0,0,256\n" % tick for tick in range(25, 150_000))
    with zipfile.ZipFile(archive, "w") as stored:
        for name, content in files.items():
            stored.writestr(name, content)
    whole = archive.read_bytes()
    place = whole.index(b"3,149999,0,0,256")
    archive.write_bytes(whole[:place] + b"9" + whole[place + 1 :])
    with pytest.raises(hw.ArchiveError, match="Bad CRC-32"):
        unpack_results(archive)
    assert contents(tmp_path / "a") == {}


def test_an_archive_without_an_ending_unpacks_beside_itself() -> None:
    assert default_directory("x/results.zip") == Path("x/results")
    assert default_directory("x/results") == Path("x/results-results")
