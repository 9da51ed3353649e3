"""`henad export`: every table as a Parquet file, and the folder described; nothing is replaced unasked."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pandas
import pyarrow.parquet
import pytest

import henad_web as hw
from henad_native.cli import main
from henad_native.lock import DirectoryLock
from henad_web.output.crate import is_unedited_crate
from henad_web.output.names import CRATE
from henad_web.results.archive import pack
from tests.native.folders import SIR, files_in, sweep
from tests.native.test_search_lanes import SPECS
from tests.shared.reference_folder import reference_files
from tests.shared.table_models import HERD, herd_spec

pytestmark = pytest.mark.usefixtures("quick_disk")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    folder.mkdir()
    for name, content in reference_files().items():
        (folder / name).write_bytes(content)
    return folder


def names_in(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_every_table_is_a_parquet_file_beside_the_folder(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = files_in(study)
    assert main(["export", str(study), "--parquet"]) == 0
    folder = study.with_name("study-parquet")
    assert names_in(folder) == ["runs.parquet", "series.parquet", "summary.parquet"]
    assert capsys.readouterr().out.split() == [
        str(folder / f"{name}.parquet") for name in ("runs", "summary", "series")
    ]
    results = hw.ResultSet.open(study)
    for table in ("runs", "summary", "series"):
        assert pyarrow.parquet.read_table(folder / f"{table}.parquet").equals(results.to_arrow(table))
    assert files_in(study) == before


def test_tables_of_the_model_s_own_and_of_a_search_come_along(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sweep(HERD, herd_spec(), tmp_path / "herd")
    assert (
        main(["export", str(tmp_path / "herd"), "--parquet", "--params", "--out", str(tmp_path / "new" / "out")]) == 0
    )
    assert names_in(tmp_path / "new" / "out") == [
        *("runs.parquet", "series.parquet", "summary.parquet", "tables/agents.parquet", "tables/edges.parquet")
    ]
    agents = hw.ResultSet.open(tmp_path / "herd", models=HERD).table("agents").to_pandas(params=True)
    assert pandas.read_parquet(tmp_path / "new" / "out" / "tables" / "agents.parquet").equals(agents)
    assert list(agents.columns)[:5] == ["run_id", "config_id", "rep", "tick", "value"]
    (tmp_path / "herd" / "tables" / "agents.csv").unlink()
    assert main(["export", str(tmp_path / "herd"), "--parquet", "--out", str(tmp_path / "rest")]) == 0
    assert "note: there is no tables/agents.csv" in capsys.readouterr().err
    assert "tables/edges.parquet" in names_in(tmp_path / "rest")
    assert "tables/agents.parquet" not in names_in(tmp_path / "rest")
    hw.run_spec(SIR, hw.parse_spec(SPECS["genetic"]), output=hw.DirectoryOutput(tmp_path / "search"))
    assert main(["export", str(tmp_path / "search"), "--parquet"]) == 0
    assert {"evaluations.parquet", "batches.parquet", "generations.parquet", "best.parquet"} < set(
        names_in(tmp_path / "search-parquet")
    )


def test_a_zip_is_exported_beside_itself_and_described_by_nobody(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    archive = tmp_path / "results.zip"
    archive.write_bytes(pack(reference_files()))
    assert main(["export", str(archive), "--parquet"]) == 0
    assert names_in(tmp_path / "results-parquet") == ["runs.parquet", "series.parquet", "summary.parquet"]
    assert main(["export", str(archive), "--ro-crate"]) == 2
    assert "results.zip is a zip, and the description stands in a folder" in capsys.readouterr().err


def test_files_that_are_there_stay_unless_it_is_said(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = study.with_name("study-parquet")
    folder.mkdir()
    (folder / "series.parquet").write_bytes(b"mine")
    assert main(["export", str(study), "--parquet", "--ro-crate"]) == 1
    assert "series.parquet is there already; --overwrite replaces such files" in capsys.readouterr().err
    assert files_in(folder) == {"series.parquet": b"mine"}
    assert not (study / CRATE).exists()
    assert main(["export", str(study), "--parquet", "--overwrite"]) == 0
    assert pandas.read_parquet(folder / "series.parquet").shape == (20, 7)


def test_a_description_is_made_anew_unless_somebody_edited_it(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["export", str(study), "--ro-crate"]) == 0
    plain = (study / CRATE).read_bytes()
    assert main(["export", str(study), "--ro-crate", "--license", "Ask Jo"]) == 0
    assert b"Ask Jo" in (study / CRATE).read_bytes()
    (study / CRATE).write_bytes(plain.replace(b"Parameter study", b"Our study"))
    assert main(["export", str(study), "--ro-crate"]) == 1
    assert f"{CRATE} is there already" in capsys.readouterr().err
    assert main(["export", str(study), "--ro-crate", "--overwrite"]) == 0
    assert (study / CRATE).read_bytes() == plain
    assert is_unedited_crate(plain)


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ([], "give --parquet, --ro-crate or both"),
        (["--ro-crate", "--out", "x"], "--out: it is where --parquet writes"),
        (["--ro-crate", "--params"], "--params: it is about the tables that --parquet writes"),
        (["--parquet", "--license", "x"], "--license: it stands in what --ro-crate writes"),
    ],
)
def test_options_that_mean_nothing_together_are_refused(
    study: Path, arguments: list[str], wrong: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = names_in(study.parent)
    assert main(["export", str(study), *arguments]) == 2
    assert wrong in capsys.readouterr().err
    assert names_in(study.parent) == before


def test_results_without_series_say_so_and_the_rest_is_written(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (study / "series.csv").unlink()
    assert main(["export", str(study), "--parquet"]) == 0
    assert "note: there is no series.csv" in capsys.readouterr().err
    assert names_in(study.with_name("study-parquet")) == ["runs.parquet", "summary.parquet"]


def test_what_cannot_be_written_is_told_and_leaves_nothing_behind(
    study: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (study.parent / "file").write_bytes(b"")
    assert main(["export", str(study), "--parquet", "--out", str(study.parent / "file")]) == 1
    told = "Not a directory; what was there is as before; --out FOLDER writes elsewhere"
    assert f"error: cannot write {study.parent / 'file' / 'runs.parquet'}: {told}" in capsys.readouterr().err
    (study / CRATE).mkdir()
    assert main(["export", str(study), "--ro-crate", "--overwrite"]) == 1
    assert f"{CRATE}: Is a directory; what was there is as before; describe a copy" in capsys.readouterr().err

    def torn(_: hw.ResultSet, path: Path, **__: object) -> None:
        path.write_bytes(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(hw.ResultSet, "to_parquet", torn)
    assert main(["export", str(study), "--parquet"]) == 1
    assert "runs.parquet: No space left on device; what was there is as before" in capsys.readouterr().err
    assert names_in(study.with_name("study-parquet")) == []


def test_a_library_that_is_missing_is_named_before_anything_is_made(
    study: Path, hide_library: Callable[[str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    hide_library("pyarrow")
    assert main(["export", str(study), "--parquet"]) == 1
    assert "to_parquet needs pyarrow" in capsys.readouterr().err
    assert not study.with_name("study-parquet").exists()


def test_a_folder_that_is_being_written_is_not_described(study: Path, capsys: pytest.CaptureFixture[str]) -> None:
    manifest = (study / "manifest.json").read_bytes().replace(b'"complete"', b'"running"')
    (study / "manifest.json").write_bytes(manifest)
    lock = DirectoryLock(study, time.time)
    lock.acquire()
    try:
        assert main(["export", str(study), "--ro-crate"]) == 1
        assert f"somebody writes into {study} now" in capsys.readouterr().err
    finally:
        lock.release()
    assert main(["export", str(study), "--ro-crate"]) == 0
