"""Searches in folders and zips: read while they are written, as tables of other libraries, verified by the command."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pandas
import pyarrow.parquet
import pytest

import henad_web as hw
from henad_native.cli import main
from henad_native.target import NativeTarget
from henad_native.unpacking import unpack_results
from henad_web.pumped import PumpedRunner
from henad_web.results.archive import pack
from henad_web.sweep import Sweep
from henad_web.targets import Runner
from tests.native.folders import files_in
from tests.native.test_search_lanes import SIR, SPECS

pytestmark = pytest.mark.usefixtures("quick_disk")


class OnePump(NativeTarget):
    """The native target with sweeps that do one piece of work when they are pumped."""

    def make_runner(self, sweep: Sweep) -> Runner:
        return PumpedRunner(sweep, self.surroundings().clock, frame_budget_s=0.0)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    base = tmp_path_factory.mktemp("searches")
    for kind, text in SPECS.items():
        hw.run_spec(SIR, hw.parse_spec(text), output=hw.DirectoryOutput(base / kind))
    return {kind: base / kind for kind in SPECS}


def test_a_folder_and_a_zip_of_it_are_read_alike(folders: dict[str, Path], tmp_path: Path) -> None:
    for kind, folder in folders.items():
        archive = tmp_path / f"{kind}.zip"
        archive.write_bytes(pack(files_in(folder)))
        unpacked = unpack_results(archive)
        assert hw.masked(files_in(unpacked)) == hw.masked(files_in(folder))
        here, there = hw.ResultSet.open(folder).search, hw.ResultSet.open(archive).search
        assert here is not None
        assert there is not None
        assert here.batches == there.batches
        assert (here.ranking, here.generations, here.archive) == (there.ranking, there.generations, there.archive)
        for name in here.table_names:
            assert all(
                np.array_equal(a, b, equal_nan=a.dtype.kind == "f")
                for (_, a), (_, b) in zip(here.table(name).items(), there.table(name).items(), strict=True)
            )
        assert hw.verify(archive, runs=2) == hw.verify(folder, runs=2)


def test_a_search_is_read_while_it_is_written(tmp_path: Path) -> None:
    target = OnePump()
    run = hw.SweepRun.start(SIR, hw.parse_spec(SPECS["genetic"]), hw.DirectoryOutput(tmp_path / "live"), target=target)
    told = []
    try:
        while not run.is_ended:
            event = run.try_recv()
            if event is None:
                run.update(0.0)
            elif isinstance(event, hw.SearchBatchTold):
                told.append(event.update)
                results = hw.ResultSet.open(tmp_path / "live", target=target)
                search = results.search
                assert results.status == "running"
                assert search is not None
                assert [standing.evaluations for standing in search.batches] == [each.evaluations for each in told]
                assert search.ranking[0] == event.update.best
                assert len(search.table("best")) == len(search.ranking)
    finally:
        run.close()
    assert len(told) > 4
    finished = hw.ResultSet.open(tmp_path / "live").search
    assert finished is not None
    assert finished.generations == tuple(each for update in told for each in update.generations)


@pytest.mark.parametrize("name", ["evaluations", "batches", "generations", "best"])
def test_frames_of_a_search_hold_every_cell(folders: dict[str, Path], name: str, tmp_path: Path) -> None:
    search = hw.ResultSet.open(folders["genetic"]).search
    assert search is not None
    table = search.table(name)
    frame = table.to_pandas()
    plain = pandas.read_csv(folders["genetic"] / f"{name}.csv")
    assert list(frame.columns) == list(plain.columns)
    for column in frame:
        left, right = frame[column], plain[column]
        assert left.isna().tolist() == right.isna().tolist()
        assert left.dropna().astype(object).tolist() == right.dropna().astype(object).tolist()
    assert frame.attrs["model"] == "sir"
    path = tmp_path / "table.parquet"
    table.to_parquet(path)
    read = pyarrow.parquet.read_table(path)
    assert read.equals(table.to_arrow())
    assert read.num_rows == len(plain)
    assert [column.null_count for column in read.columns] == [
        int(plain[column].isna().sum()) if plain[column].dtype != np.float64 or column.endswith("id") else 0
        for column in plain
    ]
    assert read.schema.metadata[b"henad.model"] == b"sir"


def test_frames_of_an_archive_and_of_the_runs_of_a_search(folders: dict[str, Path]) -> None:
    results = hw.ResultSet.open(folders["pse"])
    assert results.search is not None
    frame = results.search.evaluations.to_pandas()
    assert str(frame["outside"].dtype) == "boolean"
    assert str(frame["x_index"].dtype) == "Int64"
    assert frame["new_cell"].isna().tolist() == frame["x_index"].isna().tolist() == [True] * 5 + [False] * 19
    assert len(results.search.table("archive").to_pandas()) == len(results.search.archive)
    assert len(results.to_pandas()) == 24 * 3
    assert dict(results.to_xarray().sizes)["config"] == 24
    assert len(results.summary) == 24
    with pytest.raises(hw.UsageError, match=r"no table 'best'.*those of a search are results\.search\.table\(NAME\)"):
        results.to_arrow("best")


def test_the_command_verifies_a_search_and_exits_1_where_a_table_says_something_else(
    folders: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["verify", str(folders["pse"]), "--runs", "3"]) == 0
    assert capsys.readouterr().out.startswith("3 runs rerun, a search of 6 batches followed, ")
    folder = Path(shutil.copytree(folders["pse"], tmp_path / "changed"))
    table = folder / "batches.csv"
    content = table.read_bytes()
    table.write_bytes(content[:-2] + b"9\n" if not content.endswith(b"9\n") else content[:-2] + b"8\n")
    assert main(["verify", str(folder)]) == 1
    assert "batches.csv record 7, filled_cells: recorded " in capsys.readouterr().out
    assert main(["verify", str(folder), "--run", "5"]) == 0
    assert capsys.readouterr().out.startswith("1 run rerun, ")
