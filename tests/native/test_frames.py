"""Results as tables of pandas, Arrow, Parquet and xarray: every cell of the files, with units and provenance."""

from __future__ import annotations

import importlib
import os
from pathlib import Path

import msgspec
import numpy as np
import pandas
import pyarrow.parquet
import pytest
import xarray

import henad_web as hw
from tests.shared.reference_folder import reference_files
from tests.shared.table_forms import ODD_ENTRY, OPTIONS, odd_spec
from tests.shared.toy_models import Inverse, Toy, entry_of, toy_spec


@pytest.fixture
def results() -> hw.ResultSet:
    return hw.ResultSet.from_files(reference_files())


def test_pandas_runs_hold_every_column_typed_and_in_order(results: hw.ResultSet) -> None:
    frame = results.to_pandas()
    assert list(frame.columns) == list(results.runs.columns)
    assert len(frame) == 4
    assert frame["seed"].dtype == np.uint64
    assert frame["infection_rate"].dtype == np.float64
    assert frame["status"].dtype == "category"
    assert frame["Infected:final"].tolist() == [135, 156, 114, 126]
    assert frame.attrs["plan_hash"] == results.manifest.plan.plan_hash
    assert frame.attrs["non_finite_runs"] == "0"


def test_pandas_series_are_long_with_the_run_beside_each_sample(results: hw.ResultSet) -> None:
    frame = results.to_pandas("series")
    assert list(frame.columns) == ["run_id", "config_id", "rep", "tick", "Susceptible", "Infected", "Recovered"]
    assert len(frame) == 20
    rows = frame[(frame["config_id"] == 1) & (frame["rep"] == 0)]
    assert rows["Infected"].tolist() == [2, 107, 205, 164, 114]
    assert set(rows["run_id"]) == {2}


def test_arrow_and_parquet_carry_types_units_and_provenance(results: hw.ResultSet, tmp_path: Path) -> None:
    for table, rows in (("runs", 4), ("summary", 2), ("series", 20)):
        path = tmp_path / f"{table}.parquet"
        results.to_parquet(path, table=table)
        read = pyarrow.parquet.read_table(path)
        assert read.num_rows == rows
        assert read.equals(results.to_arrow(table))
        assert read.schema.metadata[b"henad.model"] == b"sir"
    runs = results.to_arrow()
    assert runs.schema.field("wall_ms").metadata == {b"units": b"ms"}
    assert runs.column("seed").to_pylist() == results.runs["seed"].tolist()
    assert pandas.read_parquet(tmp_path / "runs.parquet")["run_key"].tolist() == results.runs["run_key"].tolist()
    with pytest.raises(hw.UsageError, match=r"no table 'sumary'.*did you mean 'summary'"):
        results.to_arrow("sumary")


def test_the_summary_is_a_frame_with_the_cells_of_the_file(results: hw.ResultSet, tmp_path: Path) -> None:
    frame = results.to_pandas("summary")
    assert list(frame.columns) == list(results.summary.columns)
    for name in frame:
        np.testing.assert_array_equal(frame[name], results.summary[name])
    assert frame.attrs["model"] == "sir"
    results.to_parquet(tmp_path / "summary.parquet", table="summary")
    assert pandas.read_parquet(tmp_path / "summary.parquet").equals(frame)
    assert results.to_arrow("summary").schema.field("ticks:mean").metadata == {b"units": b"tick"}


def test_series_are_joined_with_the_parameters_of_their_runs(results: hw.ResultSet, tmp_path: Path) -> None:
    frame = results.to_pandas("series", params=True)
    merged = results.to_pandas("series").merge(results.to_pandas(), on=["run_id", "config_id", "rep"])
    params = [*results.runs.param_ids, "action.seed_outbreak"]
    assert list(frame.columns) == ["run_id", "config_id", "rep", "tick", *params, *results.stat_columns]
    for name in frame:
        assert frame[name].tolist() == merged[name].tolist()
    assert results.to_arrow("series", params=True).to_pydict() == frame.to_dict("list")
    results.to_parquet(tmp_path / "series.parquet", table="series", params=True)
    assert pandas.read_parquet(tmp_path / "series.parquet").equals(frame)


def test_series_are_written_block_by_block_and_read_back_the_same(
    results: hw.ResultSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("henad_web.results.series._BLOCK_BYTES", 1)
    results.to_parquet(tmp_path / "series.parquet", table="series")
    assert pyarrow.parquet.ParquetFile(tmp_path / "series.parquet").num_row_groups == 4
    assert pyarrow.parquet.read_table(tmp_path / "series.parquet").equals(results.to_arrow("series"))
    assert pandas.read_parquet(tmp_path / "series.parquet").equals(results.to_pandas("series"))


@pytest.fixture
def damaged(monkeypatch: pytest.MonkeyPatch) -> hw.ResultSet:
    """Return results whose last sample is none, found behind others that are written by then."""
    monkeypatch.setattr("henad_web.results.series._BLOCK_BYTES", 1)
    files = reference_files()
    return hw.ResultSet.from_files({**files, "series.csv": files["series.csv"][:-2] + b"x\n"})


@pytest.mark.parametrize("is_link", [False, True])
def test_a_parquet_file_that_was_cut_short_is_none(damaged: hw.ResultSet, tmp_path: Path, is_link: bool) -> None:
    path = place = tmp_path / "series.parquet"
    place.write_bytes(b"an earlier one")
    if is_link:
        path = tmp_path / "link.parquet"
        path.symlink_to(place)
    with pytest.raises(hw.ResultsError, match=r"series\.csv, record 21"):
        damaged.to_parquet(path, table="series")
    assert not place.exists()


def test_a_parquet_file_that_cannot_be_opened_stays(results: hw.ResultSet, tmp_path: Path) -> None:
    with pytest.raises(OSError, match="directory"):
        results.to_parquet(tmp_path)
    assert tmp_path.is_dir()


def test_a_disk_that_is_full_leaves_no_parquet_file(results: hw.ResultSet, tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    path = tmp_path / "series.parquet"
    results.to_parquet(path, table="series")
    for room in (0, path.stat().st_size - 1):
        resource.setrlimit(resource.RLIMIT_FSIZE, (room, hard))
        try:
            with pytest.raises(OSError, match="File too large"):
                results.to_parquet(path, table="series")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert not path.exists()


@pytest.mark.skipif(os.name == "nt", reason="a pipe has no name there")
def test_what_is_no_file_is_not_removed(damaged: hw.ResultSet) -> None:
    read, write = os.pipe()
    try:
        with pytest.raises(hw.ResultsError, match=r"series\.csv, record 21"):
            damaged.to_parquet(f"/dev/fd/{write}", table="series")
    finally:
        os.close(read)
        os.close(write)


@pytest.mark.skipif(os.name == "nt", reason="no name of a file has a colon there")
def test_a_colon_in_a_path_names_no_protocol(
    results: hw.ResultSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    results.to_parquet("study:1.parquet")
    assert (tmp_path / "study:1.parquet").exists()


def test_texts_are_texts_without_a_row_too() -> None:
    spec = odd_spec()
    quiet = msgspec.structs.replace(spec, measure=hw.MeasureSettings(stats_every=1, series_every=0))
    files = hw.run_spec(ODD_ENTRY, quiet).files
    assert files is not None
    frame = hw.ResultSet.from_files(files, models=hw.ModelSet([ODD_ENTRY])).to_pandas("series", params=True)
    assert len(frame) == 0
    assert frame["kind"].dtype == pandas.DataFrame({"kind": np.array(OPTIONS)})["kind"].dtype


def test_a_statistic_called_like_an_action_is_no_tick() -> None:
    class Seen(Toy):
        def stats(self) -> dict[str, float]:
            return {"action.seen": 1.0}

    firing = hw.ActionSpec(id="mark", tick=3)
    entry = entry_of(Seen, stats=("action.seen",), actions=("mark",))
    files = hw.run_spec(entry, toy_spec(1, 2, actions=(firing,))).files
    assert files is not None
    data = hw.ResultSet.from_files(files, models=hw.ModelSet([entry])).to_xarray()
    assert [data[name].attrs["units"] for name in ("action.mark", "action.seen")] == ["tick", "1"]


def test_what_is_written_into_a_frame_stays_out_of_the_results(results: hw.ResultSet) -> None:
    for table in ("runs", "summary"):
        frame = results.to_pandas(table)
        frame.loc[0, "infection_rate"] = 9.0
    assert results.runs["infection_rate"].tolist() == [0.2, 0.2, 0.4, 0.4]
    assert results.summary["infection_rate"].tolist() == [0.2, 0.4]


def test_xarray_has_the_factors_of_a_full_grid_as_dimensions(results: hw.ResultSet) -> None:
    data = results.to_xarray()
    assert isinstance(data, xarray.Dataset)
    assert dict(data.sizes) == {"infection_rate": 2, "replicate": 2, "tick": 5}
    assert data["Infected"].dims == ("infection_rate", "replicate", "tick")
    for run in results.runs:
        cell = data["Infected"].sel(infection_rate=run.params["infection_rate"], replicate=run.run.rep)
        assert cell.values.tolist() == results.series(run.run.run_id)["Infected"].tolist()
    assert data["infection_rate"].values.tolist() == [0.2, 0.4]
    assert data["config"].values.tolist() == [0, 1]
    assert (data["recovery_rate"].dims, data["recovery_rate"].item()) == ((), 0.05)
    assert data["Infected:final"].values.tolist() == [[135, 156], [114, 126]]
    assert (data["tick"].attrs["units"], data["wall_ms"].attrs["units"]) == ("tick", "ms")
    assert data["infection_rate"].attrs["long_name"] == "Infection Rate"
    assert data["grid_width"].attrs["long_name"] == "Grid Width"
    assert (data.attrs["layout"], data.attrs["factors"]) == ("factors", "infection_rate")
    assert data.attrs["schema_hash"] == "6ff1dc3971fd0a96"
    assert hw.parse_spec(data.attrs["spec"]).spec == results.spec


def test_xarray_lays_what_is_no_grid_out_by_config_replicate_and_tick() -> None:
    files = {name: content.replace(b"0.4", b"0.2") for name, content in reference_files().items()}
    results = hw.ResultSet.from_files(files)
    data = results.to_xarray()
    assert dict(data.sizes) == {"config": 2, "replicate": 2, "tick": 5}
    assert data["Infected"].dims == ("config", "replicate", "tick")
    for run in results.runs:
        cell = data["Infected"].sel(config=run.run.config_id, replicate=run.run.rep)
        assert cell.values.tolist() == results.series(run.run.run_id)["Infected"].tolist()
    assert data["infection_rate"].values.tolist() == [0.2, 0.2]
    assert data["infection_rate"].attrs["long_name"] == "Infection Rate"
    assert (data.attrs["layout"], data.attrs["factors"]) == ("configs", "")


def test_a_run_that_ended_early_and_one_without_a_row_are_nan() -> None:
    files = reference_files()
    series = b"".join(line for line in files["series.csv"].splitlines(keepends=True) if not line.startswith(b"1,2"))
    runs = b"".join(files["runs.csv"].splitlines(keepends=True)[:4])
    data = hw.ResultSet.from_files({**files, "series.csv": series, "runs.csv": runs}).to_xarray()
    assert np.isnan(data["Infected"].sel(infection_rate=0.2, replicate=1, tick=20))
    assert data["Infected"].sel(infection_rate=0.2, replicate=1, tick=15) == 198
    assert np.isnan(data["Infected"].sel(infection_rate=0.4, replicate=1)).all()
    assert data["run_id"].values.tolist() == [[0, 1], [2, -1]]
    assert data["status"].values.tolist() == [["ok", "ok"], ["ok", ""]]


def test_columns_of_one_name_are_kept_apart() -> None:
    entry = entry_of(Inverse, stats=("Inverse",))
    study = hw.SweepSpec(model="toy", run=hw.RunSettings(steps=3), measure=hw.MeasureSettings(stats_every=1))
    files = hw.run_spec(entry, study).files
    assert files is not None
    clash = {name: content.replace(b"Inverse", b"value") for name, content in files.items()}
    results = hw.ResultSet.from_files(clash, models=hw.ModelSet([entry]))
    data = results.to_xarray()
    assert data["value"].dims == ("config",)
    assert data["stat.value"].dims == ("config", "replicate", "tick")
    assert results.to_arrow("series").column_names == ["run_id", "config_id", "rep", "tick", "value"]


def test_a_missing_library_is_named_with_the_extra_that_brings_it(
    results: hw.ResultSet, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> object:
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(importlib, "import_module", missing)
    for call, library in (
        (results.to_pandas, "pandas"),
        (results.to_arrow, "pyarrow"),
        (results.to_xarray, "xarray"),
    ):
        with pytest.raises(hw.NeedsExtraError) as caught:
            call()
        how = "install it with: python -m pip install -e '.[data]' in a clone, 'henad-web[data]' elsewhere"
        assert str(caught.value).endswith(f" needs {library}; {how}")


def test_names_that_need_quotes_are_columns_of_every_frame(tmp_path: Path) -> None:
    hw.run_spec(ODD_ENTRY, odd_spec(), output=hw.DirectoryOutput(tmp_path / "odd"))
    odd = hw.ResultSet.open(tmp_path / "odd", models=hw.ModelSet([ODD_ENTRY]))
    stats = ["Infected, total", 'the "rest"', "two\nlines"]
    assert list(odd.to_pandas("series").columns) == ["run_id", "config_id", "rep", "tick", *stats]
    assert set(odd.to_pandas()["kind"]) == set(OPTIONS)
    assert odd.to_arrow("series").column_names[4:] == stats
    odd.to_parquet(tmp_path / "series.parquet", table="series", params=True)
    written = pandas.read_parquet(tmp_path / "series.parquet")
    assert written.equals(odd.to_pandas("series", params=True))
    assert set(written["kind"]) == set(OPTIONS)
    data = odd.to_xarray()
    assert data["Infected, total"].sel(tick=4).values.tolist() == [[4.5, 4.5]] * 4
