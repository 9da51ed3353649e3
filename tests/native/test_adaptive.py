"""Adaptive replicates in folders and on lanes of every kind: shards and their merge, reuse, what the command says."""

from __future__ import annotations

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

import henad_web as hw
from henad_native.cli import main
from henad_web.output.manifest import ManifestStatus
from henad_web.resume.merging import MissingRuns
from tests.native.folders import (
    hash_of,
    manifest_of,
    masked_in,
    ran_ids,
    record_of,
    resume,
    start,
    sweep,
    with_run,
)
from tests.native.lane_kills import lane_processes
from tests.shared.adaptive_studies import CHANCE, HIT, SIZE, adaptive, chance_spec, naive_counts

pytestmark = pytest.mark.usefixtures("quick_disk")

SPEC = chance_spec()
COUNTS = naive_counts(SPEC)
RUNS = [config_id * 40 + rep for config_id, (count, _) in COUNTS.items() for rep in range(count)]


def epidemic() -> tuple[hw.ModelEntry, hw.SweepSpec]:
    """Return a study whose model steps replicates together."""
    factor = hw.FactorSpec(param="infection_rate", levels=hw.ValueLevels(values=(0.1, 0.3, 0.5)))
    peak = hw.Precision(column="Infected:max", relative=0.1)
    spec = hw.SweepSpec(
        model="sir",
        fixed=(("grid_width", 16), ("grid_height", 16)),
        run=hw.RunSettings(steps=12, replicates=hw.AdaptiveReplicates(min=4, max=30, until=peak)),  # type: ignore[arg-type]
        measure=hw.MeasureSettings(stats_every=2),
        blocks=(hw.BlockSpec(factors=(factor,)),),
    )
    return hw.example_models()["sir"], spec


def files(entry: hw.ModelEntry, spec: hw.SweepSpec, **options: Any) -> dict[str, bytes]:
    record = hw.run_spec(entry, spec, options=hw.SweepRunOptions(**options))
    assert record.files is not None
    return hw.masked(record.files)


def test_lanes_of_any_kind_and_number_leave_the_same_bytes() -> None:
    entry, spec = epidemic()
    alone = files(entry, spec, lanes="in_caller", batches=False)
    header, *rows = (line.split(b",") for line in alone["summary.csv"].splitlines())
    assert len({row[header.index(b"runs")] for row in rows}) > 1, "a study in which every config is the same"
    for count, kind, batches in ((3, "thread", True), (7, "thread", False), (2, "process", True)):
        assert files(entry, spec, concurrency=count, lanes=kind, batches=batches) == alone, (count, kind, batches)
    assert files(entry, spec, lanes="in_caller", batches=True) == alone
    assert lane_processes() == []
    assert hw.plan_spec(entry, spec, options=hw.SweepRunOptions(lanes="in_caller")).layout.batch_rows == 4


def test_an_executor_of_any_size_leaves_the_same_bytes() -> None:
    entry, spec = epidemic()
    alone = files(entry, spec, lanes="in_caller", batches=False)
    for workers in (1, 3):
        with ThreadPoolExecutor(workers) as pool:
            assert files(entry, spec, executor=pool, concurrency=workers) == alone


def test_shards_hold_whole_configs_and_merge_to_the_whole(tmp_path: Path) -> None:
    sweep(CHANCE, SPEC, tmp_path / "whole")
    for index in range(3):
        ran = ran_ids(start(CHANCE, SPEC, tmp_path / str(index), shard=hw.Shard(index, 3)))
        assert sorted(ran) == [run_id for run_id in RUNS if run_id // 40 % 3 == index]
        results = hw.ResultSet.open(tmp_path / str(index), models=CHANCE)
        assert (results.is_complete, results.expected_runs) == (True, len(ran))
        assert ran_ids(resume(CHANCE, tmp_path / str(index))) == []
    before = hash_of(tmp_path / "1")
    report = hw.merge([tmp_path / name for name in "201"], tmp_path / "merged")
    assert (report.counts.rows, report.missing, report.warnings) == (len(RUNS), 0, ())
    assert masked_in(tmp_path / "merged") == masked_in(tmp_path / "whole")
    assert hash_of(tmp_path / "1") == before
    assert ran_ids(resume(CHANCE, tmp_path / "merged")) == []


def test_a_merge_counts_what_the_rule_asks_for_next(tmp_path: Path) -> None:
    sweep(CHANCE, SPEC, tmp_path / "whole")
    for index in (0, 2):
        sweep(CHANCE, SPEC, tmp_path / str(index), shard=hw.Shard(index, 3))
    report = hw.merge([tmp_path / "0", tmp_path / "2"], tmp_path / "merged")
    first = tuple(config_id * 40 + rep for config_id in (1, 4) for rep in range(4))
    assert (report.missing, report.first_missing) == (8, first[:5])
    assert isinstance(report.warnings[0], MissingRuns)
    assert manifest_of(tmp_path / "merged").status is ManifestStatus.INCOMPLETE
    ran = ran_ids(resume(CHANCE, tmp_path / "merged"))
    assert sorted(ran) == [run_id for run_id in RUNS if run_id // 40 in (1, 4)]
    assert masked_in(tmp_path / "merged") == masked_in(tmp_path / "whole")


def cut_rows(folder: Path, *, keep: int) -> None:
    lines = (folder / "runs.csv").read_bytes().splitlines(keepends=True)
    (folder / "runs.csv").write_bytes(b"".join(lines[: 1 + keep]))


def test_a_merge_takes_no_row_behind_a_round_that_lacks_a_run(tmp_path: Path) -> None:
    for index in (0, 1):
        sweep(CHANCE, SPEC, tmp_path / str(index), shard=hw.Shard(index, 2))
    lines = (tmp_path / "0" / "runs.csv").read_bytes().splitlines(keepends=True)
    (tmp_path / "0" / "runs.csv").write_bytes(b"".join([*lines[:3], *lines[4:]]))
    report = hw.merge([tmp_path / "0", tmp_path / "1"], tmp_path / "merged")
    assert (report.missing, report.first_missing) == (1, (2,))
    assert report.counts.rows == len(RUNS) - 1 - (COUNTS[0][0] - 4)
    sweep(CHANCE, SPEC, tmp_path / "whole")
    record_of(resume(CHANCE, tmp_path / "merged"))
    assert masked_in(tmp_path / "merged") == masked_in(tmp_path / "whole")


def test_a_merge_refuses_rows_that_the_rule_would_not_have_made(tmp_path: Path) -> None:
    sweep(CHANCE, SPEC, tmp_path / "adaptive", shard=hw.Shard(0, 1))
    sweep(CHANCE, with_run(SPEC, replicates=40), tmp_path / "plain")
    for name in ("runs.csv", "series.csv"):
        shutil.copy(tmp_path / "plain" / name, tmp_path / "adaptive" / name)
    with pytest.raises(hw.MergeError, match=r"config 0, rep 24\) is behind the round") as caught:
        hw.merge([tmp_path / "adaptive"], tmp_path / "merged")
    assert caught.value.reason is hw.MergeReason.SUPERFLUOUS_RUN
    assert (caught.value.run_id, caught.value.config_id, caught.value.rep) == (24, 0, 24)
    assert not (tmp_path / "merged").exists()


def test_a_reuse_copies_what_was_narrow_enough_before(tmp_path: Path) -> None:
    sweep(CHANCE, SPEC, tmp_path / "old")
    narrower = with_run(SPEC, replicates=adaptive(replace(HIT, half_width=0.1), SIZE, most=60))
    run = start(CHANCE, narrower, tmp_path / "new", reuse=tmp_path / "old")
    ran = ran_ids(run)
    counts = naive_counts(narrower)
    new = {(config_id, rep) for config_id, (count, _) in counts.items() for rep in range(COUNTS[config_id][0], count)}
    assert {divmod(run_id, 60) for run_id in ran} == new
    sweep(CHANCE, narrower, tmp_path / "fresh")
    assert masked_in(tmp_path / "new") == masked_in(tmp_path / "fresh")


def test_replicates_of_a_plain_study_are_reused_as_far_as_the_rule_goes(tmp_path: Path) -> None:
    sweep(CHANCE, with_run(SPEC, replicates=40), tmp_path / "plain")
    assert ran_ids(start(CHANCE, SPEC, tmp_path / "new", reuse=tmp_path / "plain")) == []
    sweep(CHANCE, SPEC, tmp_path / "fresh")
    assert masked_in(tmp_path / "new") == masked_in(tmp_path / "fresh")


TOYS = "tests.shared.adaptive_studies:CHANCE"


def spec_at(folder: Path) -> str:
    path = folder / "study.toml"
    path.write_text(hw.spec_to_toml(SPEC), encoding="utf-8")
    return str(path)


def test_the_command_says_up_to_where_it_counts_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["plan", spec_at(tmp_path), "--models", TOYS]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "sweep of Toy (toy): 5 configs x 4 to 40 replicates = up to 200 runs" in lines
    assert "  series rows   up to 600" in lines
    assert main(["plan", spec_at(tmp_path), "--models", TOYS, "--shard", "1/2"]) == 0
    assert "  shard         1/2: up to 80 runs of them" in capsys.readouterr().out.splitlines()
    assert main(["plan", spec_at(tmp_path), "--models", TOYS, "--runs", "-"]) != 0
    assert "how many replicates a config has is decided as they come" in capsys.readouterr().err


def test_the_command_runs_resumes_and_shows_the_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert main(["run", spec_at(tmp_path), "--out", str(out), "--models", TOYS, "--quiet"]) == 3  # some runs failed
    assert len(hw.ResultSet.open(out, models=CHANCE).runs) == len(RUNS)
    cut_rows(out, keep=20)
    manifest = (out / "manifest.json").read_text(encoding="utf-8")
    (out / "manifest.json").write_text(manifest.replace('"complete"', '"running"'), encoding="utf-8")
    capsys.readouterr()
    outline = hw.plan_spec(CHANCE, SPEC, output=hw.DirectoryOutput(out), resume=True)
    assert (outline.skipped, outline.pending) == (20, 200 - 20 - (40 - COUNTS[0][0] if COUNTS[0][0] <= 20 else 0))
    assert main(["resume", str(out), "--models", TOYS, "--quiet"]) == 3
    sweep(CHANCE, SPEC, tmp_path / "whole")
    came, expected = masked_in(out), masked_in(tmp_path / "whole")
    assert [name for name in expected if came[name] != expected[name]] == ["manifest.json"]  # which has the file's text


def test_a_job_array_has_no_more_tasks_than_configs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["submit", "slurm", spec_at(tmp_path), "--out", str(tmp_path / "array"), "--models", TOYS, "--jobs=9"]
    assert main([*words, "--no-submit"]) == 0
    said = capsys.readouterr()
    assert "5 configs cannot be spread over 9 jobs; there will be 5" in said.err
    assert "up to 200 runs in 5 shards" in said.out
