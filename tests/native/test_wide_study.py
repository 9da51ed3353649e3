"""The study with negative, wide, double and text parameters in folders, shards, frames and on the command line."""

from __future__ import annotations

import csv
import shutil
from pathlib import Path

import numpy as np
import pandas
import pytest

import henad_web as hw
from henad_native.cli import main
from tests.native.folders import files_in, masked_in, ran_ids, resume, sweep
from tests.shared.test_wide_study import MESA, NETLOGO, SPEC, STUDY
from tests.shared.wide_values import MODELS, SCHEMA, WIDE

pytestmark = pytest.mark.usefixtures("quick_disk")

MODELS_OPTION = ["--models", "tests.shared.wide_values:MODELS"]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wide") / "whole"
    sweep(WIDE, STUDY, folder)
    return folder


def test_shards_merge_and_a_resume_goes_on_to_the_bytes_of_the_whole(whole: Path, tmp_path: Path) -> None:
    for index in range(3):
        sweep(WIDE, STUDY, tmp_path / str(index), shard=hw.Shard(index, 3))
    hw.merge([tmp_path / str(index) for index in (2, 0, 1)], tmp_path / "merged")
    assert masked_in(tmp_path / "merged") == masked_in(whole)
    shutil.copytree(whole, tmp_path / "cut")
    rows = (whole / "runs.csv").read_bytes().splitlines(keepends=True)
    (tmp_path / "cut" / "runs.csv").write_bytes(b"".join(rows[:40]) + rows[40][:-5])
    assert ran_ids(resume(WIDE, tmp_path / "cut")) == list(range(39, len(rows) - 1))
    assert masked_in(tmp_path / "cut") == masked_in(whole)
    assert hw.verify(whole, runs=20, models=MODELS).differences == ()


def test_frames_filter_merge_and_pivot_by_the_values_as_they_are_written(whole: Path) -> None:
    results = hw.ResultSet.open(whole, models=MODELS)
    frame = results.to_pandas()
    assert [str(frame[name].dtype) for name in ("share", "level", "offset")] == ["float64", "float64", "int64"]
    assert pandas.api.types.is_string_dtype(frame["rule"])
    first = frame[frame["block"] == 0]
    assert len(first[(first["share"] == 0.4) & (first["level"] == 0.3) & (first["rule"] == 'a, "b"')]) == 3 * 2
    wanted = pandas.DataFrame({"share": [0.4], "level": [0.1], "offset": [-(2**53) - 1], "rule": ["8"]})
    assert len(frame.merge(wanted, on=["share", "level", "offset", "rule"])) == 2
    assert list(first.pivot_table("Sum:final", "level", "offset").index) == [-0.1, 0, 0.1, 0.2, 0.3]
    read = pandas.read_csv(whole / "runs.csv")
    for name in ("share", "level", "offset", "rule"):
        assert frame[name].tolist() == read[name].tolist()


def test_arrow_parquet_and_xarray_have_the_same_values(whole: Path, tmp_path: Path) -> None:
    results = hw.ResultSet.open(whole, models=MODELS)
    table = results.to_arrow()
    assert [str(table.schema.field(name).type) for name in ("share", "level", "offset", "rule")] == [
        "double", "double", "int64", "string",
    ]  # fmt: skip
    results.to_parquet(tmp_path / "runs.parquet")
    read = pandas.read_parquet(tmp_path / "runs.parquet")
    data = results.to_xarray()
    for name in ("share", "level", "offset", "rule"):
        assert read[name].tolist() == results.runs[name].tolist()
        assert data[name].values.tolist() == results.summary[name].tolist()
    assert np.count_nonzero(data["share"] == 0.4) == np.count_nonzero(results.summary["share"] == 0.4) > 0


def test_the_command_line_plans_runs_and_verifies_it(
    tmp_path: Path, whole: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text(SPEC.replace("[set]\nshare = 0.4\n", ""), encoding="utf-8")
    assert main(["plan", str(spec), *MODELS_OPTION, "--runs", "-", "--limit", "1"]) == 0
    header, row = csv.reader(capsys.readouterr().out.splitlines())
    assert [row[header.index(id)] for id in ("share", "level", "rule")] == ["0.4", "-0.1", "B3/S23"]
    assert main(["run", str(spec), *MODELS_OPTION, "--out", str(tmp_path / "out"), "--quiet"]) == 0
    tables = [hw.masked(files_in(folder))["runs.csv"] for folder in (tmp_path / "out", whole)]
    assert tables[0] == tables[1]
    assert main(["verify", str(tmp_path / "out"), *MODELS_OPTION]) == 0
    assert main(["models", "wide", *MODELS_OPTION]) == 0
    shown = capsys.readouterr().out
    assert "-9223372036854775808" in shown
    assert "B3/S23" in shown


@pytest.mark.parametrize("text", [NETLOGO, MESA])
def test_imports_of_it_run(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "experiment"
    file.write_text(text, encoding="utf-8")
    assert main(["import", str(file), "--model", "wide", *MODELS_OPTION]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    (tmp_path / "spec.toml").write_text(printed.out, encoding="utf-8")
    assert main(["run", str(tmp_path / "spec.toml"), *MODELS_OPTION, "--out", str(tmp_path / "out"), "--quiet"]) == 0
    runs = hw.ResultSet.open(tmp_path / "out").runs
    assert (len(runs), set(runs["rule"].tolist())) == (20, {"B36/S23"})
    assert set(runs["offset"].tolist()) == {-(2**53) - 1, -3}


def test_a_plan_warns_of_a_rounded_value_before_it_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text('model = "wide"\nset = { share = 123456789 }\nrun = { steps = 1 }\n', encoding="utf-8")
    (warning,) = hw.load_spec(spec).spec.plan(SCHEMA).warnings()
    assert main(["plan", str(spec), *MODELS_OPTION]) == 0
    printed = capsys.readouterr()
    assert str(warning) in " ".join((printed.out + printed.err).split())


def test_a_text_with_brackets_is_printed_as_it_is(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rules = ["[/x] [red]", "a :ant: b"]
    (tmp_path / "spec.toml").write_text(
        'model = "wide"\nrun = { steps = 1, replicates = 2 }\n[[block]]\n'
        f'factors = [{{ param = "rule", values = {rules} }}]\n',
        encoding="utf-8",
    )
    assert main(["run", str(tmp_path / "spec.toml"), *MODELS_OPTION, "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert all(rule in printed for rule in rules)
    assert hw.ResultSet.open(tmp_path / "out").runs["rule"].tolist() == [rule for rule in rules for _ in range(2)]
