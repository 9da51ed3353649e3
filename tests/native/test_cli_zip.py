"""`henad resume results.zip`: unpacked beside the zip or where --out says, then gone on with."""

from __future__ import annotations

from pathlib import Path

import pytest

import henad_web as hw
from henad_native.cli import main
from henad_web.results.archive import pack
from tests.shared.reference_folder import reference_files


@pytest.fixture
def archive(tmp_path: Path) -> Path:
    files = reference_files()
    path = tmp_path / "results.zip"
    path.write_bytes(pack({**files, "runs.csv": b"".join(files["runs.csv"].splitlines(keepends=True)[:3])}))
    return path


def test_a_zip_is_unpacked_beside_itself_and_gone_on_with(archive: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = archive.read_bytes()
    assert main(["resume", str(archive), "--quiet"]) == 0
    assert "kept from before" in capsys.readouterr().out
    results = hw.ResultSet.open(archive.with_suffix(""))
    assert results.is_complete
    assert [(session.skipped, session.ran) for session in results.manifest.sessions] == [(0, 4), (2, 2)]
    assert archive.read_bytes() == before


def test_out_says_where_and_a_folder_with_results_is_refused(
    archive: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "elsewhere"
    assert main(["resume", str(archive), "--out", str(out), "--quiet"]) == 0
    assert hw.ResultSet.open(out).is_complete
    assert not archive.with_suffix("").exists()
    before = {path.name: path.read_bytes() for path in out.iterdir()}
    assert main(["resume", str(archive), "--out", str(out)]) == 1
    assert f"go on with them by `henad resume {out}`, or" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in out.iterdir()} == before


def test_out_is_for_a_zip_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["resume", str(tmp_path), "--out", str(tmp_path / "x")]) == 2
    assert "is no zip; a folder is gone on with where it is" in capsys.readouterr().err


def test_a_zip_without_series_says_so_and_its_runs_are_done_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "results.zip"
    path.write_bytes(pack({name: data for name, data in reference_files().items() if name != "series.csv"}))
    assert main(["resume", str(path), "--quiet"]) == 0
    assert f"{path}: there is no series.csv" in capsys.readouterr().err
    results = hw.ResultSet.open(tmp_path / "results")
    assert [(session.skipped, session.ran) for session in results.manifest.sessions] == [(0, 4), (0, 4)]
    assert results.missing_line is None
