"""Result sets on native: a folder somebody writes, and `henad verify`."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import henad_web as hw
from henad_native.cli import main
from henad_native.directory import DirectoryStore
from henad_web.results.archive import pack
from tests.shared.reference_folder import reference_files


def written(folder: Path) -> Path:
    folder.mkdir()
    for name, content in reference_files().items():
        (folder / name).write_bytes(content)
    return folder


def test_a_folder_is_running_while_its_writer_lives_and_interrupted_when_it_died(tmp_path: Path) -> None:
    folder = tmp_path / "results"
    begun = threading.Event()
    endless = hw.SweepSpec(model="game_of_life", run=hw.RunSettings(steps=10**9))
    life, options = hw.example_models()["game_of_life"], hw.SweepRunOptions(wake=begun.set)
    with hw.SweepRun.start(life, endless, hw.DirectoryOutput(folder), options) as run:
        assert begun.wait(60)
        while not isinstance(run.try_recv(), hw.Planned):
            pass
        results = hw.ResultSet.open(folder)
        assert (results.status, len(results.runs), results.is_complete) == ("running", 0, False)
        living = (folder / "manifest.json").read_bytes()
    assert hw.ResultSet.open(folder).status == "aborted"
    (folder / "manifest.json").write_bytes(living)
    assert hw.ResultSet.open(folder).status == "interrupted"


def test_looking_at_a_live_folder_leaves_its_lock_alone(tmp_path: Path) -> None:
    folder = written(tmp_path / "results")
    manifest = (folder / "manifest.json").read_bytes()
    for name in reference_files():
        (folder / name).unlink()
    store = DirectoryStore(folder)
    store.open()
    for name, content in reference_files().items():
        (folder / name).write_bytes(content)
    (folder / "manifest.json").write_bytes(manifest.replace(b'"complete"', b'"running"'))
    lock = (folder / ".lock").read_bytes()
    assert hw.ResultSet.open(folder).status == "running"
    assert (folder / ".lock").read_bytes() == lock
    with pytest.raises(hw.LockedError):
        DirectoryStore(folder).check_free()
    store.close()
    assert hw.ResultSet.open(folder).status == "interrupted"


def test_verify_prints_what_it_compared_and_exits_zero(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = written(tmp_path / "results")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert main(["verify", str(folder), "--runs", "3"]) == 0
    assert capsys.readouterr().out == "3 runs rerun, 102 results compared, 0 differ\n"
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_verify_lists_each_difference_and_exits_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = written(tmp_path / "results")
    runs = folder / "runs.csv"
    runs.write_bytes(runs.read_bytes().replace(b",255,156,", b",255,157,"))
    assert main(["verify", str(folder), "--run", "1"]) == 1
    assert capsys.readouterr().out == (
        "1 run rerun, 34 results compared, 1 differ\n  run 1, Infected:final: recorded 157, rerun 156\n"
        "  note: model 'sir' may depend on more than its parameters, seed, actions and steps: "
        "henad check, or henad_web.testing.check_model, tells\n"
    )
    assert main(["verify", str(folder), "--run", "0", "--run", "3"]) == 0


def test_verify_reads_a_zip_and_refuses_what_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    archive = tmp_path / "results.zip"
    archive.write_bytes(pack(reference_files()))
    assert main(["verify", str(archive)]) == 0
    assert main(["verify", str(tmp_path / "nowhere")]) == 1
    assert main(["verify", str(archive), "--run", "9"]) == 1
    told = capsys.readouterr().err
    assert "error: there is nothing at" in told
    assert "error: there is no run 9; runs here: 0-3" in told


def test_the_library_verifies_the_same_runs_each_time(tmp_path: Path) -> None:
    folder = written(tmp_path / "results")
    assert hw.verify(folder, runs=2) == hw.verify(str(folder), runs=2)
    assert len(hw.verify(folder, runs=2).run_ids) == 2
