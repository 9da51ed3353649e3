"""Searches in folders: gone on with after kills and on other lanes, and what is refused with nothing touched."""

from __future__ import annotations

from pathlib import Path

import pytest

import henad_web as hw
from henad_native.cli import main
from henad_web.resume.errors import MergeError, MergeReason, ResumeError, ResumeReason
from tests.native.folders import files_in, hash_of, record_of, resume, start, sweep, toy_spec
from tests.native.search_fuzzer import ALGORITHMS, SearchFuzzer
from tests.native.search_kills import survived
from tests.native.test_search_lanes import SIR, SPECS
from tests.shared.plain_searches import HILLS, hills_spec
from tests.shared.test_search_resume import REFUSALS


def search_at(folder: Path, algorithm: str = "genetic") -> Path:
    """Do a search in `folder`."""
    sweep(HILLS, hills_spec(algorithm, evaluations=24), folder)
    return folder


def stopped_at(folder: Path, algorithm: str, runs: int) -> None:
    """Do the first runs of a search of an epidemic in `folder`."""
    with start(SIR, hw.parse_spec(SPECS[algorithm]).spec, folder) as run:
        while run.progress().runs_done < runs:
            run.update(0.0, budget_s=0.0)


@pytest.mark.parametrize(
    ("algorithm", "runs", "lanes"),
    [("genetic", 33, {"lanes": "process", "concurrency": 2}), ("pse", 2, {"lanes": "thread", "concurrency": 3})],
)
def test_a_search_goes_on_with_other_lanes(algorithm: str, runs: int, lanes: dict[str, object], tmp_path: Path) -> None:
    sweep(SIR, hw.parse_spec(SPECS[algorithm]).spec, tmp_path / "whole", lanes="in_caller")
    folder = tmp_path / "results"
    stopped_at(folder, algorithm, runs)
    assert len((folder / "runs.csv").read_bytes().splitlines()) < 60, "it was stopped before its end"
    hw.resume_sweep(SIR, folder, options=hw.SweepRunOptions(**lanes))  # type: ignore[arg-type]
    assert hw.masked(files_in(folder)) == hw.masked(files_in(tmp_path / "whole"))


def test_a_sample_of_kills_loses_nothing(tmp_path: Path) -> None:
    found = survived(tmp_path, kills=5, evaluations=45, seed=3)
    assert sum(report.kills for report in found.values()) == 5
    assert all(report.finished for report in found.values())


def test_a_sample_of_searches_made_by_chance_has_the_same_files_every_way(tmp_path: Path) -> None:
    """A sample of what ``poe fuzz-searches`` does at length."""
    fuzzer = SearchFuzzer(base=tmp_path, seed=0)
    assert {spec.search and spec.search.algorithm for spec in map(fuzzer.study, range(8))} == set(ALGORITHMS)
    fuzzer.run(8)


@pytest.mark.parametrize("case", REFUSALS)
def test_a_refusal_leaves_the_folder_as_it_is(tmp_path: Path, case: str) -> None:
    edit, spec, reason, _ = REFUSALS[case]
    folder = search_at(tmp_path / "results")
    if edit is not None:
        for name, content in edit(files_in(folder)).items():
            (folder / name).write_bytes(content)
    before = hash_of(tmp_path)
    with pytest.raises(ResumeError) as refused:
        resume(HILLS, folder, spec)
    assert refused.value.reason is reason
    assert hash_of(tmp_path) == before


def test_a_shard_and_failures_done_again_are_refused_with_nothing_touched(tmp_path: Path) -> None:
    folder = search_at(tmp_path / "results")
    before = hash_of(tmp_path)
    with pytest.raises(hw.UsageError, match="a search has no shards, came 1/2"):
        resume(HILLS, folder, shard=hw.Shard(1, 2))
    with pytest.raises(hw.UsageError, match="a search does no run again"):
        resume(HILLS, folder, retry_failed=True)
    assert hash_of(tmp_path) == before


def test_searches_are_neither_reused_nor_merged(tmp_path: Path) -> None:
    folder = search_at(tmp_path / "results")
    before = hash_of(folder)
    with pytest.raises(ResumeError) as refused:
        start(HILLS, toy_spec(), tmp_path / "new", reuse=folder)
    assert refused.value.reason is ResumeReason.MODE_CHANGED
    assert "recorded search, current sweep" in str(refused.value)
    with pytest.raises(hw.UsageError, match="a search reuses no rows of other results"):
        start(HILLS, hills_spec("random"), tmp_path / "new", reuse=folder)
    with pytest.raises(MergeError) as unmerged:
        hw.merge([folder], tmp_path / "new")
    assert unmerged.value.reason is MergeReason.NOT_A_SWEEP
    assert hash_of(folder) == before
    assert not (tmp_path / "new").exists()


def test_a_table_that_is_a_link_is_refused_with_nothing_touched(tmp_path: Path) -> None:
    folder = search_at(tmp_path / "results")
    (tmp_path / "mine.csv").write_bytes(b"somebody's own")
    (folder / "evaluations.csv").unlink()
    (folder / "evaluations.csv").symlink_to(tmp_path / "mine.csv")
    before = hash_of(tmp_path)
    with pytest.raises(hw.OutputError, match=r"evaluations\.csv is a link, which is never followed"):
        resume(HILLS, folder)
    assert hash_of(tmp_path) == before


def test_a_search_that_is_whole_is_only_written_again(tmp_path: Path) -> None:
    folder = search_at(tmp_path / "results")
    before = files_in(folder)
    (folder / "best.csv").unlink()
    (folder / "batches.csv").write_bytes(b"batch,evaluations\n7,7\n")
    assert record_of(resume(HILLS, folder)).report.counts.rows == 48
    assert hw.masked(files_in(folder)) == hw.masked(before)


def test_the_command_goes_on_with_a_search(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text(SPECS["pse"])
    stopped_at(tmp_path / "results", "pse", 20)
    assert main(["resume", str(tmp_path / "results")]) == 0
    assert main(["run", str(spec), "--out", str(tmp_path / "whole")]) == 0
    assert hw.masked(files_in(tmp_path / "results"))["runs.csv"] == hw.masked(files_in(tmp_path / "whole"))["runs.csv"]
    assert main(["run", str(spec), "--out", str(tmp_path / "whole"), "--resume"]) == 0
    assert "72 runs" in capsys.readouterr().out
